/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of cases found: a table for people, one object for programs. */
#include "bench.h"

#include <string.h>

/* The bare compare-and-swap at the same thread count, measured in the same run; 0 if it was not. */
static double
bare(const struct bench_result results[], size_t count, unsigned threads)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(results[i].name, "bare CAS") == 0 && results[i].threads == threads)
			return bench_median(results[i].ns, results[i].repetitions);
	return 0;
}

json_t *
bench_report_json(const struct bench_result results[], size_t count, const struct firn_layout *layout,
                  const char *command)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct bench_result *r = &results[i];
		json_t *ns = json_array();
		double base = bare(results, count, r->threads);
		double median = bench_median(r->ns, r->repetitions);

		for (unsigned n = 0; n < r->repetitions; n++)
			(void)json_array_append_new(ns, json_real(r->ns[n]));
		json_t *one = json_pack("{s:s, s:s, s:i, s:f, s:f, s:o, s:I, s:I, s:I}", "case", r->name, "parts", r->what->parts,
		                        "threads", (int)r->threads, "median_ns", median, "spread_ns",
		                        bench_spread(r->ns, r->repetitions), "ns", ns, "refused", (json_int_t)r->refused,
		                        "cas_retries", (json_int_t)r->retries, "burnt", (json_int_t)r->burnt);

		(void)json_object_set_new(one, "lane", json_string(r->what->name));
		if (r->what->takes_clock)
			(void)json_object_set_new(one, "clock", json_string(firn_clock_kind_name(r->clock_kind)));
		if (r->invalid != NULL)
			(void)json_object_set_new(one, "invalid", json_string(r->invalid));
		else if (base > 0)
			(void)json_object_set_new(one, "ratio_to_bare_cas", json_real(median / base));
		(void)json_array_append_new(cases, one);
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:f, s:o}", "kind", "code cost", "command", command, "machine",
	                 bench_machine(), "layout", json_layout(layout), "ceiling_ns", bench_ceiling_ns(layout), "cases",
	                 cases);
}

void
bench_report_print(const struct bench_result results[], size_t count, const struct firn_layout *layout)
{
	unsigned threads = 0;

	(void)printf("%sCode cost%s, ns per ID (wall time over all IDs of all threads): median, its spread, and as a multiple\n"
	             "of the bare CAS of the same thread count. The layout's ceiling is %.4g ns: no figure here meets it.\n",
	             bold(), plain(), bench_ceiling_ns(layout));
	for (size_t i = 0; i < count; i++) {
		const struct bench_result *r = &results[i];
		double base = bare(results, count, r->threads);
		double median = bench_median(r->ns, r->repetitions);

		if (r->threads != threads)
			(void)printf("\n%s%u thread%s%s\n", bold(), r->threads, r->threads == 1 ? "" : "s", plain());
		threads = r->threads;
		if (r->invalid != NULL) {
			(void)printf("  %-26s %s\n", r->name, r->invalid);
			continue;
		}
		(void)printf("  %-26s %8.2f ± %-6.2f", r->name, median, bench_spread(r->ns, r->repetitions));
		if (base > 0)
			(void)printf(" %6.2f ×", median / base);
		(void)printf("   %s%s%s\n", dim(), r->what->parts, plain());
	}
}
