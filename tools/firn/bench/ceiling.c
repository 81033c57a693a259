/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn bench ceiling: a layout asked for all it has, by threads that wait; what it gives and what waiting costs. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char help[] =
	"firn bench ceiling [--threads 1,2,4,16] [--seconds S] [--batch N] [--layout TEXT] [--clock NAME] [--json]\n"
	"\n"
	"Threads ask without pause through firn_gen_next_n_wait. Shows how much of the layout's ceiling they get, and\n"
	"how much of one processor all of them use. This is the layout's figure, not the code's: see firn bench.\n"
	"\n"
	"examples:\n"
	"  firn bench ceiling\n"
	"  firn bench ceiling --layout 'time:41 node:12 sequence:10 epoch=2026-01-01T00:00:00Z' --threads 4\n";

#define WAIT_MS 10000

struct worker {
	pthread_t thread;
	struct firn_gen *gen;
	size_t batch;
	const int *stop;
	uint64_t made;
	int error;
} __attribute__((aligned(128)));

static void *
work(void *argument)
{
	struct worker *w = argument;
	uint64_t ids[1024];

	while (w->error == FIRN_OK && !__atomic_load_n(w->stop, __ATOMIC_RELAXED)) {
		w->error = firn_gen_next_n_wait(w->gen, WAIT_MS, ids, w->batch);
		if (w->error == FIRN_OK)
			w->made += w->batch;
	}
	return NULL;
}

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double
used_s(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct row {
	unsigned threads;
	double rate;
	double processors; /* used, of one */
	uint64_t lead_ms;  /* at the end */
};

/* The lead is used up before it counts: it would add to the rate what was saved before. */
static int
run(struct firn_gen *gen, unsigned threads, size_t batch, double seconds, struct row *row)
{
	struct worker *workers = aligned_alloc(128, threads * sizeof(*workers));
	struct timespec warm = {0, 300000000};
	struct timespec span = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	int stop = 0;
	int error = FIRN_OK;

	if (workers == NULL)
		return FIRN_E_NO_MEMORY;
	memset(workers, 0, threads * sizeof(*workers));
	for (unsigned i = 0; i < threads; i++) {
		workers[i].gen = gen;
		workers[i].batch = batch;
		workers[i].stop = &stop;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			complain("thread %u cannot be started", i);
			exit(EXIT_REFUSED);
		}
	}
	(void)nanosleep(&warm, NULL);
	struct firn_gen_stats before;
	struct firn_gen_stats after;

	firn_gen_stats(gen, &before);
	double from = now_s();
	double used = used_s();

	(void)nanosleep(&span, NULL);
	firn_gen_stats(gen, &after);
	double took = now_s() - from;

	row->processors = (used_s() - used) / took;
	row->rate = (double)(after.ids_made - before.ids_made) / took;
	row->threads = threads;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < threads; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		error = workers[i].error != FIRN_OK ? workers[i].error : error;
	}
	int64_t lead = 0;

	if (firn_gen_lead(gen, &lead) != FIRN_OK)
		lead = 0;
	row->lead_ms = lead < 0 ? 0 : (uint64_t)lead;
	free(workers);
	return error;
}

static int
measure(const struct firn_layout *layout, enum firn_clock_kind kind, unsigned threads, size_t batch, double seconds,
        struct row *row)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_clock *clock;
	struct firn_gen *gen;

	clock_config.kind = kind;
	int error = firn_clock_open(&clock_config, &clock);

	if (error != FIRN_OK)
		return error;
	config.layout = layout;
	config.clock = clock;
	/* A small lead: it is used up at once, and then the clock alone decides. */
	config.lead_ms_max = layout->tick_ms * 10;
	error = firn_gen_open(&config, &gen);
	if (error == FIRN_OK) {
		error = run(gen, threads, batch, seconds, row);
		(void)firn_gen_close(gen);
	}
	firn_clock_close(clock);
	return error;
}

int
cmd_bench_ceiling(int argc, char **argv)
{
	const char *json = NULL, *threads_text = "1,2,4,16", *seconds_text = "3", *batch_text = "1", *layout_text = NULL;
	const char *clock_name = "realtime", *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},          {"--threads", NULL, &threads_text, 0}, {"--seconds", NULL, &seconds_text, 0},
		{"--batch", NULL, &batch_text, 0},   {"--layout", NULL, &layout_text, 0},   {"--clock", NULL, &clock_name, 0},
		{"--help", "-h", &want_help, 1},
	};
	unsigned threads[16];
	struct row rows[16];
	struct firn_layout layout;
	enum firn_clock_kind kind;
	uint64_t batch;
	char *end;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	double seconds = strtod(seconds_text, &end);
	unsigned count = bench_numbers_read(threads_text, BENCH_THREADS_MAX, threads, 16);

	if (count == 0)
		return EXIT_USAGE;
	if (argc != 0 || *end != '\0' || !(seconds > 0 && seconds <= 3600) || !number_read(batch_text, 1, 1024, &batch)) {
		complain("takes no operands; --seconds is more than 0 and at most 3600, --batch 1 to 1024");
		return EXIT_USAGE;
	}
	if (layout_read(layout_text, &layout) != EXIT_OK || bench_clock_read(clock_name, &kind) != EXIT_OK)
		return EXIT_USAGE;
	double ceiling = 1e9 / bench_ceiling_ns(&layout);
	json_t *list = json_array();

	for (unsigned i = 0; i < count; i++) {
		int error = measure(&layout, kind, threads[i], batch, seconds, &rows[i]);

		if (error != FIRN_OK) {
			json_decref(list);
			return refuse(json != NULL, "ceiling", error);
		}
		(void)json_array_append_new(list, json_pack("{s:i, s:f, s:f, s:f, s:I}", "threads", (int)threads[i], "rate",
		                                            rows[i].rate, "share_of_ceiling", rows[i].rate / ceiling,
		                                            "processors_used", rows[i].processors, "lead_ms",
		                                            (json_int_t)rows[i].lead_ms));
	}
	if (json != NULL)
		return json_print(json_pack("{s:s, s:o, s:o, s:f, s:o}", "kind", "ceiling", "machine", bench_machine(), "layout",
		                            json_layout(&layout), "ceiling_rate", ceiling, "rows", list));
	json_decref(list);
	(void)printf("%sThe layout's ceiling%s: %.0f IDs a second on one node, %.4g ns each\n\n", bold(), plain(), ceiling,
	             bench_ceiling_ns(&layout));
	(void)printf("%sthreads      IDs a second   of the ceiling   of one processor%s\n", bold(), plain());
	for (unsigned i = 0; i < count; i++)
		(void)printf("%7u  %16.0f  %14.2f %%  %16.1f %%\n", rows[i].threads, rows[i].rate, rows[i].rate / ceiling * 100,
		             rows[i].processors * 100);
	return EXIT_OK;
}
