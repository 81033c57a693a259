/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn bench: which cases, in which order, with progress; and its subcommands. */
#include "bench.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
	"firn bench [--case GLOB] [--threads 1,2,4] [--clock NAME,...] [--repetitions N] [--seconds S]\n"
	"           [--layout TEXT] [--lead MS] [--json] [--html FILE [--watch S] [--rate N]]\n"
	"firn bench latency|ceiling|compare|record --help\n"
	"\n"
	"What an ID costs, lane by lane, beside the bare atomic operation and what others do. Threads are pinned, every\n"
	"case is warmed up, and the repetitions of all cases alternate, so that a drift of the machine hits all alike.\n"
	"A case whose IDs were refused is no measure of the code and is shown as that, without a figure (exit code 1).\n"
	"\n"
	"  --case GLOB        such as 'inline*' or '* ticker'; the bare operations run always\n"
	"  --clock NAME,...   manual,ticker,tsc,coarse,realtime,monotonic (default: manual,ticker,tsc,realtime)\n"
	"  --repetitions N    of each case (default 9)\n"
	"  --seconds S        for each repetition (default 0.1)\n"
	"  --layout TEXT      default: 22 bits of sequence, so that no ceiling is in reach\n"
	"  --html FILE        a page with throughput against threads, latency percentiles, lead over time, IDs per tick;\n"
	"                     the last three from runs of --watch S seconds (default 1; 0: none) at --rate N IDs a second\n"
	"                     (default 1000000) on --layout, or the default preset. --json has them too then\n"
	"\n"
	"examples:\n"
	"  firn bench\n"
	"  firn bench --case 'inline*' --threads 1,2 --clock ticker --html report.html\n"
	"  firn bench --json > before.json\n";

#define RESULTS_MAX 512

int
bench_clock_read(const char *name, enum firn_clock_kind *kind)
{
	const char *known;

	for (int i = 0; (known = firn_clock_kind_name((enum firn_clock_kind)i)) != NULL; i++)
		if (strcmp(known, name) == 0 && i != FIRN_CLOCK_CUSTOM) {
			*kind = (enum firn_clock_kind)i;
			return EXIT_OK;
		}
	complain("no clock '%s'; there are manual, ticker, tsc, coarse, realtime and monotonic", name);
	return EXIT_USAGE;
}

unsigned
bench_numbers_read(const char *text, unsigned most, unsigned *numbers, unsigned room)
{
	char copy[256];
	unsigned count = 0;
	char *rest = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	for (char *one = strtok_r(copy, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
		uint64_t number;

		if (!number_read(one, 1, most, &number) || count == room) {
			complain("'%s' is not a list of numbers from 1 to %u, such as 1,2,4", text, most);
			return 0;
		}
		numbers[count++] = (unsigned)number;
	}
	if (count == 0)
		complain("'%s' is an empty list", text);
	return count;
}

/* Clocks by name. Their number, 0 after a message. */
static unsigned
clocks_read(const char *text, enum firn_clock_kind *kinds, unsigned room)
{
	char copy[256];
	unsigned count = 0;
	char *rest = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	for (char *one = strtok_r(copy, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
		if (count == room || bench_clock_read(one, &kinds[count]) != EXIT_OK)
			return 0;
		count++;
	}
	return count;
}

/* Is it wanted? The bare operations are: everything is held against them. */
static int
is_wanted(const char *name, const char *glob)
{
	return glob == NULL || strncmp(name, "bare ", 5) == 0 || fnmatch(glob, name, 0) == 0;
}

static void
add(struct bench_result *results, size_t *count, const struct bench_case *what, enum firn_clock_kind kind,
    unsigned threads, const char *glob)
{
	struct bench_result *r = &results[*count];

	if (*count == RESULTS_MAX || (what->only_one_thread && threads != 1) ||
	    (what->queues && (long)threads > sysconf(_SC_NPROCESSORS_ONLN)))
		return;
	memset(r, 0, sizeof(*r));
	r->what = what;
	r->clock_kind = kind;
	r->threads = threads;
	if (what->takes_clock)
		(void)snprintf(r->name, sizeof(r->name), "%s, %s", what->name, firn_clock_kind_name(kind));
	else
		(void)snprintf(r->name, sizeof(r->name), "%s", what->name);
	*count += (size_t)is_wanted(r->name, glob);
}

static void
progress(unsigned repetition, unsigned repetitions, size_t at, size_t count)
{
	if (!isatty(STDERR_FILENO))
		return;
	(void)fprintf(stderr, "\r\033[Kround %u of %u, case %zu of %zu", repetition + 1, repetitions, at + 1, count);
	if (repetition + 1 == repetitions && at + 1 == count)
		(void)fprintf(stderr, "\r\033[K");
}

/* All repetitions of all cases, alternating. Cases that this machine cannot run are taken out, by name. */
static int
run_all(struct bench_result *results, size_t *count, unsigned repetitions, const struct firn_layout *layout,
        uint32_t lead_ms, double seconds)
{
	for (unsigned n = 0; n < repetitions; n++)
		for (size_t i = 0; i < *count; i++) {
			struct bench_result *r = &results[i];
			double ns = 0;

			progress(n, repetitions, i, *count);
			int error = bench_run(r, layout, lead_ms, seconds, &ns);

			if (error == FIRN_E_UNSUPPORTED && n == 0) {
				complain("skipped: %s (%s)", r->name, firn_error_text(error));
				memmove(r, r + 1, (*count - i - 1) * sizeof(*r));
				--*count;
				i--;
				continue;
			}
			if (error != FIRN_OK)
				return error;
			r->ns[r->repetitions++] = ns;
		}
	return FIRN_OK;
}

/* What was asked for on the command line. */
struct wanted {
	struct firn_layout layout;
	unsigned threads[16];
	unsigned thread_count;
	enum firn_clock_kind clocks[8];
	unsigned clock_count;
	uint64_t repetitions;
	uint64_t lead_ms;
	double seconds;
	int own_layout; /* not the bench's */
	/* The runs that a page shows beside code cost. */
	const char *html;
	double watch_s;
	uint64_t rate;
};

static size_t
choose(const struct wanted *wanted, const char *glob, struct bench_result *results)
{
	size_t count = 0;

	for (unsigned t = 0; t < wanted->thread_count; t++)
		for (size_t c = 0; c < bench_case_count; c++) {
			const struct bench_case *what = &bench_cases[c];

			if (what->only_bench_layout && wanted->own_layout)
				continue;
			for (unsigned k = 0; k < (what->takes_clock ? wanted->clock_count : 1); k++)
				add(results, &count, what, wanted->clocks[k], wanted->threads[t], glob);
		}
	return count;
}

static int
read_wanted(struct wanted *wanted, const char *threads, const char *clocks, const char *repetitions,
            const char *seconds, const char *layout, const char *lead)
{
	char *end;

	wanted->own_layout = layout != NULL;
	wanted->seconds = strtod(seconds, &end);
	wanted->thread_count = bench_numbers_read(threads, BENCH_THREADS_MAX, wanted->threads, 16);
	wanted->clock_count = clocks_read(clocks, wanted->clocks, 8);
	if (wanted->thread_count == 0 || wanted->clock_count == 0)
		return EXIT_USAGE;
	if (!number_read(repetitions, 1, BENCH_REPETITIONS_MAX, &wanted->repetitions) || *end != '\0' ||
	    !(wanted->seconds > 0 && wanted->seconds <= 60) || !number_read(lead, 0, UINT32_MAX, &wanted->lead_ms)) {
		complain("--repetitions takes 1 to %d, --seconds more than 0 and at most 60, --lead milliseconds",
		         BENCH_REPETITIONS_MAX);
		return EXIT_USAGE;
	}
	return layout_read(layout != NULL ? layout : BENCH_LAYOUT, &wanted->layout);
}

/* Latency and ticks, on a layout that people use: with the bench's own there would be no ceiling to see. */
static int
watch(const struct wanted *wanted, json_t *report)
{
	struct firn_layout layout = wanted->layout;
	uint32_t lead_ms = wanted->own_layout ? (uint32_t)wanted->lead_ms : 1000;
	struct bench_latency_wish wish = {&layout, wanted->clocks[wanted->clock_count - 1], lead_ms, (double)wanted->rate,
	                                  wanted->watch_s, 1, 0};
	int error = FIRN_OK;

	if (!wanted->own_layout && layout_read(NULL, &layout) != EXIT_OK)
		return FIRN_E_LAYOUT;
	for (unsigned i = 0; i < wanted->thread_count; i++)
		if (wanted->threads[i] == 2)
			wish.threads = 2;
	/* A manual clock stands still: it has no latency of its own and soon no IDs. */
	if (wish.clock_kind == FIRN_CLOCK_MANUAL)
		wish.clock_kind = FIRN_CLOCK_REALTIME;
	json_t *latency = bench_latency_json(&wish, &error);

	if (error == FIRN_OK)
		(void)json_object_set_new(report, "latency", latency);
	json_t *ticks = error == FIRN_OK ? bench_ticks_json(&layout, lead_ms, (double)wanted->rate, wanted->watch_s, &error) : NULL;

	if (error == FIRN_OK)
		(void)json_object_set_new(report, "ticks", ticks);
	return error;
}

static int
finish(const struct wanted *wanted, const struct bench_result *results, size_t count, int json)
{
	json_t *report = bench_report_json(results, count, &wanted->layout, "firn bench");
	const char *html = wanted->html;
	int invalid = 0;
	int error = html != NULL && wanted->watch_s > 0 ? watch(wanted, report) : FIRN_OK;

	if (error != FIRN_OK) {
		json_decref(report);
		return refuse(json, "latency and ticks", error);
	}
	for (size_t i = 0; i < count; i++)
		invalid |= results[i].invalid != NULL;
	if (html != NULL && bench_page_write(report, html) != 0) {
		complain("%s cannot be written", html);
		json_decref(report);
		return EXIT_OUTPUT;
	}
	if (json) {
		if (json_print(report) != EXIT_OK)
			return EXIT_OUTPUT;
	} else {
		bench_machine_print(json_object_get(report, "machine"));
		json_decref(report);
		bench_report_print(results, count, &wanted->layout);
	}
	return invalid ? EXIT_DIFFERS : EXIT_OK;
}

int
cmd_bench(int argc, char **argv)
{
	static struct bench_result results[RESULTS_MAX];
	const char *json = NULL, *glob = NULL, *threads = "1,2,4", *clocks = "manual,ticker,tsc,realtime";
	const char *repetitions = "9", *seconds = "0.1", *layout = NULL, *lead = "4194304", *html = NULL;
	const char *watch_text = "1", *rate = "1000000";
	const char *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},         {"--case", NULL, &glob, 0},       {"--threads", NULL, &threads, 0},
		{"--clock", NULL, &clocks, 0},      {"--repetitions", NULL, &repetitions, 0},
		{"--seconds", NULL, &seconds, 0},   {"--layout", NULL, &layout, 0},   {"--lead", NULL, &lead, 0},
		{"--html", NULL, &html, 0},         {"--watch", NULL, &watch_text, 0}, {"--rate", NULL, &rate, 0},
		{"--help", "-h", &want_help, 1},
	};
	struct wanted wanted;

	if (argc > 1 && strcmp(argv[1], "compare") == 0)
		return cmd_bench_compare(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "latency") == 0)
		return cmd_bench_latency(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "ceiling") == 0)
		return cmd_bench_ceiling(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "record") == 0)
		return cmd_bench_record(argc - 1, argv + 1);
	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (argc != 0) {
		complain("no subcommand '%s'; there are latency, ceiling, compare and record", argv[0]);
		return EXIT_USAGE;
	}
	char *end;

	wanted.html = html;
	wanted.watch_s = strtod(watch_text, &end);
	if (*end != '\0' || !(wanted.watch_s >= 0 && wanted.watch_s <= 60) || !number_read(rate, 1, 1000000000, &wanted.rate)) {
		complain("--watch takes 0 to 60 seconds, --rate 1 to 1000000000 IDs a second");
		return EXIT_USAGE;
	}
	int code = read_wanted(&wanted, threads, clocks, repetitions, seconds, layout, lead);

	if (code != EXIT_OK)
		return code;
	size_t count = choose(&wanted, glob, results);
	int error = run_all(results, &count, (unsigned)wanted.repetitions, &wanted.layout, (uint32_t)wanted.lead_ms,
	                    wanted.seconds);

	if (error != FIRN_OK)
		return refuse(json != NULL, "bench", error);
	return finish(&wanted, results, count, json != NULL);
}
