/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn bench latency: an open-loop schedule, and how late after its intended time each ID was there. */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <firn/detail/clock.h>

#include "histogram.h"
#include "latency.h"

static const char help[] =
	"firn bench latency [--rate N] [--threads N] [--seconds S] [--arrival constant|poisson] [--clock NAME]\n"
	"                   [--layout TEXT] [--lead MS] [--hdr FILE] [--html FILE] [--json]\n"
	"\n"
	"Asks for IDs at moments that are fixed beforehand, whether or not the call before has returned, and counts\n"
	"each ID's latency from its moment: a stall is charged to every request it delays, none is left out. The same\n"
	"schedule with an empty call runs beside it, for what this machine adds by itself.\n"
	"\n"
	"  --rate N        IDs a second on the node, all threads together (default 4000000)\n"
	"  --hdr FILE      an HdrHistogram log, one interval for each of the two runs\n"
	"  --html FILE     a page with the percentiles by number of nines\n"
	"\n"
	"examples:\n"
	"  firn bench latency --rate 4000000 --threads 2 --seconds 10\n"
	"  firn bench latency --rate 1000000 --arrival poisson --json\n";

/* xorshift64*: any stream will do, the same one each time. */
static double
uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)(*state * UINT64_C(2685821657736338717) >> 11) + 0.5) / 9007199254740992.0;
}

double
latency_next(struct latency_schedule *schedule)
{
	double gap = schedule->gap_ns;

	if (schedule->poisson)
		gap *= -log(uniform(&schedule->random));
	schedule->at_ns += gap;
	return schedule->at_ns;
}

static double
monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of a count; measured over 20 ms, 0 where the counter is not to be had. */
static double
count_ns(void)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_clock *clock;

	config.kind = FIRN_CLOCK_TSC;
	if (firn_clock_open(&config, &clock) != FIRN_OK)
		return 0;
	firn_clock_close(clock);
	double from = monotonic_ns();
	uint64_t counter = firni_counter();

	while (monotonic_ns() - from < 20e6)
		;
	return (monotonic_ns() - from) / (double)(firni_counter() - counter);
}

void
latency_run(const struct latency_run *run, struct latency_schedule *schedule, struct latency_result *result)
{
	double scale = run->count_ns;
	double start = scale > 0 ? (double)firni_counter() * scale : monotonic_ns();

	histogram_clear(&result->histogram);
	while (schedule->at_ns < run->seconds * 1e9) {
		double due = start + latency_next(schedule);
		double now;

		do
			now = scale > 0 ? (double)firni_counter() * scale : monotonic_ns();
		while (now < due);
		if (now - due > result->worst_backlog_ns)
			result->worst_backlog_ns = now - due;
		result->refused += (uint64_t)(run->call(run->context) != 0);
		now = scale > 0 ? (double)firni_counter() * scale : monotonic_ns();
		histogram_record(&result->histogram, now > due ? (uint64_t)(now - due) : 0);
	}
}

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	struct latency_run run;
	struct latency_schedule schedule;
	struct latency_result result;
};

static void *
work(void *argument)
{
	struct worker *w = argument;

	(void)pthread_barrier_wait(w->start);
	latency_run(&w->run, &w->schedule, &w->result);
	return NULL;
}

static int
call_next(void *gen)
{
	uint64_t id;

	return firn_gen_next(gen, &id);
}

static int
call_nothing(void *context)
{
	__asm__ volatile("" : : "r"(context) : "memory");
	return 0;
}

static int
run_all(const struct bench_latency_wish *wanted, double ns_of_count, int (*call)(void *), void *context, struct latency_result *sum)
{
	struct worker *workers = calloc(wanted->threads, sizeof(*workers));
	pthread_barrier_t start;

	memset(sum, 0, sizeof(*sum));
	histogram_clear(&sum->histogram);
	if (workers == NULL || pthread_barrier_init(&start, NULL, wanted->threads) != 0)
		return FIRN_E_NO_MEMORY;
	for (unsigned i = 0; i < wanted->threads; i++) {
		double gap = 1e9 / wanted->rate * wanted->threads;

		workers[i].start = &start;
		workers[i].run = (struct latency_run){wanted->seconds, ns_of_count, call, context};
		/* Threads take turns: their moments lie between each other's. */
		workers[i].schedule = (struct latency_schedule){gap * i / wanted->threads, gap, wanted->poisson, 88172645463325252u + i};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			complain("thread %u cannot be started", i);
			exit(EXIT_REFUSED);
		}
	}
	for (unsigned i = 0; i < wanted->threads; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		histogram_add(&sum->histogram, &workers[i].result.histogram);
		sum->refused += workers[i].result.refused;
		if (workers[i].result.worst_backlog_ns > sum->worst_backlog_ns)
			sum->worst_backlog_ns = workers[i].result.worst_backlog_ns;
	}
	(void)pthread_barrier_destroy(&start);
	free(workers);
	return FIRN_OK;
}

static const double parts[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* So fine that a line through them bends where the distribution does: five points for each halving of the rest. */
static json_t *
curve_of(const struct histogram *histogram)
{
	json_t *points = json_array();

	for (unsigned i = 0; i < 400; i++) {
		double rest = exp2(-(double)(i / 5)) * (1 - (double)(i % 5) / 10);

		if (rest * (double)histogram->total < 1)
			break;
		(void)json_array_append_new(points, json_pack("[f, I]", 1 - rest, (json_int_t)histogram_at(histogram, 1 - rest)));
	}
	return points;
}

static json_t *
json_of(const struct latency_result *result)
{
	json_t *points = json_array();

	for (size_t i = 0; i < PARTS; i++)
		(void)json_array_append_new(points, json_pack("[f, I]", parts[i],
		                                              (json_int_t)histogram_at(&result->histogram, parts[i])));
	return json_pack("{s:I, s:I, s:f, s:f, s:o, s:o}", "calls", (json_int_t)result->histogram.total, "refused",
	                 (json_int_t)result->refused, "mean_ns", histogram_mean(&result->histogram), "worst_backlog_ns",
	                 result->worst_backlog_ns, "percentiles_ns", points, "curve_ns", curve_of(&result->histogram));
}

/* Both runs. FIRN_OK or an error. */
static int
measure(const struct bench_latency_wish *wish, struct latency_result *ours, struct latency_result *empty)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_clock *clock;
	struct firn_gen *gen;
	double ns_of_count = count_ns();

	clock_config.kind = wish->clock_kind;
	int error = firn_clock_open(&clock_config, &clock);

	if (error != FIRN_OK)
		return error;
	config.layout = wish->layout;
	config.clock = clock;
	config.lead_ms_max = wish->lead_ms;
	error = firn_gen_open(&config, &gen);
	if (error == FIRN_OK) {
		error = run_all(wish, ns_of_count, call_nothing, gen, empty);
		if (error == FIRN_OK)
			error = run_all(wish, ns_of_count, call_next, gen, ours);
		(void)firn_gen_close(gen);
	}
	firn_clock_close(clock);
	return error;
}

static json_t *
report_of(const struct bench_latency_wish *wish, const struct latency_result *ours, const struct latency_result *empty)
{
	return json_pack("{s:s, s:o, s:o, s:f, s:i, s:s, s:s, s:f, s:o, s:o}", "kind", "latency", "machine", bench_machine(),
	                 "layout", json_layout(wish->layout), "rate", wish->rate, "threads", (int)wish->threads, "arrival",
	                 wish->poisson ? "poisson" : "constant", "clock", firn_clock_kind_name(wish->clock_kind), "seconds",
	                 wish->seconds, "firn", json_of(ours), "empty", json_of(empty));
}

json_t *
bench_latency_json(const struct bench_latency_wish *wish, int *error)
{
	static struct latency_result ours;
	static struct latency_result empty;

	*error = measure(wish, &ours, &empty);
	return *error == FIRN_OK ? report_of(wish, &ours, &empty) : NULL;
}

static void
print(const struct latency_result *ours, const struct latency_result *empty)
{
	(void)printf("%llu calls, %llu refused, longest backlog %.1f us\n\n", (unsigned long long)ours->histogram.total,
	             (unsigned long long)ours->refused, ours->worst_backlog_ns / 1000);
	(void)printf("%spart of calls   from the intended time   an empty call   added%s\n", bold(), plain());
	for (size_t i = 0; i < PARTS; i++) {
		uint64_t a = histogram_at(&ours->histogram, parts[i]);
		uint64_t b = histogram_at(&empty->histogram, parts[i]);

		(void)printf("  %8.3f %%  %18llu ns  %11llu ns  %+8lld ns\n", parts[i] * 100, (unsigned long long)a,
		             (unsigned long long)b, (long long)(a - b));
	}
}

static int
write_hdr(const char *path, const struct latency_result *ours, const struct latency_result *empty, double seconds)
{
	FILE *file = fopen(path, "we");

	if (file == NULL) {
		complain("%s cannot be written", path);
		return EXIT_OUTPUT;
	}
	histogram_log_begin(file, now_unix_ms());
	int failed = histogram_log_write(file, "firn", &ours->histogram, 0, seconds) != 0 ||
	             histogram_log_write(file, "empty", &empty->histogram, seconds, seconds) != 0;

	if (failed)
		complain("%s: this firn was built without zlib", path);
	return fclose(file) != 0 || failed ? EXIT_OUTPUT : EXIT_OK;
}

/* Exit code, or EXIT_OK with everything filled in. */
static int
read_wanted(const char *rate, const char *threads, const char *seconds, const char *arrival, const char *lead,
            struct bench_latency_wish *wanted)
{
	uint64_t n;
	uint64_t t;
	uint64_t lead_ms;
	char *end;

	wanted->seconds = strtod(seconds, &end);
	if (!number_read(rate, 1, 1000000000, &n) || !number_read(threads, 1, BENCH_THREADS_MAX, &t) || *end != '\0' ||
	    !(wanted->seconds > 0 && wanted->seconds <= 3600) || !number_read(lead, 0, UINT32_MAX, &lead_ms)) {
		complain("--rate takes 1 to 1000000000, --threads 1 to %d, --seconds more than 0 and at most 3600, --lead "
		         "milliseconds",
		         BENCH_THREADS_MAX);
		return EXIT_USAGE;
	}
	wanted->rate = (double)n;
	wanted->threads = (unsigned)t;
	wanted->lead_ms = (uint32_t)lead_ms;
	wanted->poisson = strcmp(arrival, "poisson") == 0;
	if (!wanted->poisson && strcmp(arrival, "constant") != 0) {
		complain("--arrival is constant or poisson, not '%s'", arrival);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

/* The two runs in every form that was asked for. */
static int
tell(const struct bench_latency_wish *wish, const struct latency_result *ours, const struct latency_result *empty,
     const char *hdr, const char *html, int json)
{
	json_t *report = report_of(wish, ours, empty);
	int code = hdr != NULL ? write_hdr(hdr, ours, empty, wish->seconds) : EXIT_OK;

	if (html != NULL && bench_page_write(report, html) != 0) {
		complain("%s cannot be written", html);
		code = EXIT_OUTPUT;
	}
	if (json) {
		int printed = json_print(report);

		return code != EXIT_OK ? code : printed;
	}
	bench_machine_print(json_object_get(report, "machine"));
	json_decref(report);
	(void)printf("%s arrivals, %.0f a second by %u threads for %g s, %s clock\n", wish->poisson ? "poisson" : "constant",
	             wish->rate, wish->threads, wish->seconds, firn_clock_kind_name(wish->clock_kind));
	print(ours, empty);
	return code;
}

int
cmd_bench_latency(int argc, char **argv)
{
	const char *json = NULL, *rate = "4000000", *threads = "2", *seconds = "10", *arrival = "constant";
	const char *clock_name = "tsc", *layout_text = NULL, *lead = "1000", *hdr = NULL, *html = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},           {"--rate", NULL, &rate, 0},     {"--threads", NULL, &threads, 0},
		{"--seconds", NULL, &seconds, 0},     {"--arrival", NULL, &arrival, 0}, {"--clock", NULL, &clock_name, 0},
		{"--layout", NULL, &layout_text, 0},  {"--lead", NULL, &lead, 0},     {"--hdr", NULL, &hdr, 0},
		{"--html", NULL, &html, 0},           {"--help", "-h", &want_help, 1},
	};
	static struct latency_result ours;
	static struct latency_result empty;
	struct bench_latency_wish wanted;
	struct firn_layout layout;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (argc != 0) {
		complain("takes no operands");
		return EXIT_USAGE;
	}
	wanted.layout = &layout;
	if (read_wanted(rate, threads, seconds, arrival, lead, &wanted) != EXIT_OK ||
	    layout_read(layout_text, &layout) != EXIT_OK || bench_clock_read(clock_name, &wanted.clock_kind) != EXIT_OK)
		return EXIT_USAGE;
	int error = measure(&wanted, &ours, &empty);

	if (error != FIRN_OK)
		return refuse(json != NULL, "latency", error);
	return tell(&wanted, &ours, &empty, hdr, html, json != NULL);
}
