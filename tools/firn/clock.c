/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn clock: the host's clocks, what a reading costs, what the kernel says of them. */
#include "firn_tool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
	"firn clock [--require MS] [--json]\n"
	"\n"
	"Clocks of this host: resolution, step seen, cost of one reading, distance from the wall clock;\n"
	"and what the kernel says of its time.\n"
	"\n"
	"  --require MS   exit 3 unless the kernel's maximum error is at most MS\n"
	"\n"
	"examples:\n"
	"  firn clock\n"
	"  firn clock --require 10 && start-my-server\n";

struct row {
	enum firn_clock_kind kind;
	double cost_ns;     /* median of several runs */
	double resolution_ms;
	int64_t step_ms;    /* the smallest change between two readings that differ */
	int64_t offset_ms;  /* against CLOCK_REALTIME */
};

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
elapsed_ns(const struct timespec *from)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) * 1e9 + (double)(now.tv_nsec - from->tv_nsec);
}

static int
measure(enum firn_clock_kind kind, struct row *row)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_clock *clock;
	struct timespec from;
	double cost[9];
	int64_t ms = 0;
	int64_t last;

	config.kind = kind;
	int error = firn_clock_open(&config, &clock);

	for (unsigned run = 0; error == FIRN_OK && run < 9; run++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &from);
		for (unsigned i = 0; error == FIRN_OK && i < 20000; i++)
			error = firn_clock_read(clock, &ms);
		cost[run] = elapsed_ns(&from) / 20000;
	}
	if (error != FIRN_OK)
		return error;
	qsort(cost, 9, sizeof(cost[0]), compare);
	row->kind = kind;
	row->cost_ns = cost[4];
	row->step_ms = 0;
	last = ms;
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	/* Bounded: a clock that does not move in 50 ms is shown with no step. */
	while (error == FIRN_OK && elapsed_ns(&from) < 5e7) {
		error = firn_clock_read(clock, &ms);
		if (ms != last) {
			if (row->step_ms == 0 || (ms > last && ms - last < row->step_ms))
				row->step_ms = ms - last;
			last = ms;
		}
	}
	if (error == FIRN_OK)
		error = firn_clock_read(clock, &ms);
	row->offset_ms = ms - now_unix_ms();
	struct timespec resolution = {0, 0};

	(void)clock_getres(kind == FIRN_CLOCK_COARSE ? CLOCK_REALTIME_COARSE : CLOCK_REALTIME, &resolution);
	row->resolution_ms = (double)resolution.tv_nsec / 1e6;
	firn_clock_close(clock);
	return error;
}

static json_t *
json_of(const struct row rows[], size_t count, const struct firn_clock_health *health, const char *source)
{
	json_t *clocks = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(
			clocks, json_pack("{s:s, s:f, s:f, s:I, s:I}", "kind", firn_clock_kind_name(rows[i].kind), "cost_ns",
		                          rows[i].cost_ns, "resolution_ms", rows[i].resolution_ms, "step_ms",
		                          (json_int_t)rows[i].step_ms, "offset_ms", (json_int_t)rows[i].offset_ms));
	return json_pack("{s:o, s:s, s:{s:b, s:I, s:I, s:I, s:f, s:i, s:i}}", "clocks", clocks, "clock_source", source,
	                 "health", "synchronised", health->synchronised, "error_max_us",
	                 (json_int_t)health->error_max_us, "error_estimated_us",
	                 (json_int_t)health->error_estimated_us, "offset_us", (json_int_t)health->offset_us,
	                 "frequency_ppm", health->frequency_ppm, "tai_offset_s", (int)health->tai_offset_s,
	                 "leap_pending", health->leap_pending);
}

static void
print_rows(const struct row rows[], size_t count, const struct firn_clock_health *health, const char *source)
{
	(void)printf("%sclock       cost/reading  kernel resolution  step seen  from the wall clock%s\n", bold(),
	             plain());
	for (size_t i = 0; i < count; i++)
		(void)printf("%-10s  %9.1f ns  %14.6f ms  %6lld ms  %+6lld ms\n", firn_clock_kind_name(rows[i].kind),
		             rows[i].cost_ns, rows[i].resolution_ms, (long long)rows[i].step_ms,
		             (long long)rows[i].offset_ms);
	(void)printf("\nclock source  %s\n", source);
	(void)printf("kernel says   %s; maximum error %.3f ms, estimated %.3f ms, frequency %+.3f ppm%s\n",
	             health->synchronised ? "synchronised" : "not synchronised", (double)health->error_max_us / 1000,
	             (double)health->error_estimated_us / 1000, health->frequency_ppm,
	             health->leap_pending > 0   ? "; a leap second is due"
	             : health->leap_pending < 0 ? "; a second will be left out"
	                                        : "");
	if (!health->synchronised)
		(void)printf("%s              many hosts with a good clock never tell their kernel so%s\n", dim(), plain());
}

int
cmd_clock(int argc, char **argv)
{
	const char *json = NULL, *require = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},
		{"--require", NULL, &require, 0},
		{"--help", "-h", &want_help, 1},
	};
	static const enum firn_clock_kind kinds[] = {FIRN_CLOCK_REALTIME, FIRN_CLOCK_COARSE, FIRN_CLOCK_MONOTONIC,
	                                             FIRN_CLOCK_TSC, FIRN_CLOCK_TICKER};
	struct row rows[sizeof(kinds) / sizeof(kinds[0])];
	size_t count = 0;
	struct firn_clock_health health;
	char source[64] = "unknown";
	uint64_t bound = 0;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (argc != 0 || (require != NULL && !number_read(require, 0, 1000000, &bound))) {
		complain("%s", argc != 0 ? "takes no operands" : "--require takes milliseconds");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int error = measure(kinds[i], &rows[count]);

		if (error == FIRN_OK)
			count++;
		else if (error == FIRN_E_UNSUPPORTED)
			complain("the %s clock cannot be had here: its counter does not run at one rate, or the kernel keeps "
			         "time by something else",
			         firn_clock_kind_name(kinds[i]));
		else
			return refuse(json != NULL, firn_clock_kind_name(kinds[i]), error);
	}
	int error = firn_clock_health(&health);

	if (error != FIRN_OK)
		return refuse(json != NULL, "adjtimex", error);
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");

	if (file != NULL) {
		if (fgets(source, sizeof(source), file) != NULL)
			source[strcspn(source, "\n")] = '\0';
		(void)fclose(file);
	}
	if (json != NULL)
		(void)json_print(json_of(rows, count, &health, source));
	else
		print_rows(rows, count, &health, source);
	if (require != NULL && (error = firn_clock_require((uint32_t)bound)) != FIRN_OK)
		return refuse(0, "kernel", error);
	return EXIT_OK;
}
