/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page that opens without a network: charts, then what an ID costs case by case. */
#include "bench.h"

#include <math.h>
#include <string.h>

#include "../page.h"

#define ROW 22
#define LEFT 230
#define WIDTH 900

static int
is_shown(const json_t *one, int threads)
{
	return json_integer_value(json_object_get(one, "threads")) == threads && json_object_get(one, "invalid") == NULL;
}

/* The scale of a bar chart: logarithmic, because the cases span three powers of ten. */
struct scale {
	double bottom; /* powers of ten */
	double top;
};

static double
at(const struct scale *scale, double ns)
{
	return LEFT + (log10(fmax(ns, 0.1)) - scale->bottom) * (WIDTH - LEFT - 90) / (scale->top - scale->bottom);
}

static void
put_bar(FILE *file, const struct scale *scale, const json_t *one, unsigned row)
{
	double ns = json_real_value(json_object_get(one, "median_ns"));
	double spread = json_real_value(json_object_get(one, "spread_ns"));
	const char *name = json_string_value(json_object_get(one, "case"));
	double end = at(scale, ns);
	double after = end;
	unsigned y = row * ROW;

	(void)fprintf(file, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 16);
	page_text(file, name);
	(void)fprintf(file, "</text><rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
	              strncmp(name, "bare", 4) == 0 ? "base" : "bar", LEFT, y + 4, fmax(end - LEFT, 1), ROW - 8);
	if (spread < ns && spread > 0) {
		after = at(scale, ns + spread);
		(void)fprintf(file, "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\"/>", at(scale, ns - spread),
		              after, y + ROW / 2, y + ROW / 2);
	}
	(void)fprintf(file, "<text x=\"%.1f\" y=\"%u\">%.3g</text>\n", after + 8, y + 16, ns);
}

static void
put_bars(FILE *file, const json_t *cases, int threads)
{
	double most = 1;
	unsigned rows = 0;
	size_t index;
	json_t *one;

	json_array_foreach(cases, index, one)
		if (is_shown(one, threads)) {
			most = fmax(most, json_real_value(json_object_get(one, "median_ns")));
			rows++;
		}
	struct scale scale = {-1, ceil(log10(most * 1.3) * 4) / 4};

	(void)fprintf(file, "<figure id=\"cost-%d\"><figcaption id=\"cost-%d-title\">What an ID costs, %d thread%s"
	                    "<span>Medians, with the median distance from them as whiskers.</span></figcaption>\n"
	                    "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-labelledby=\"cost-%d-title\">\n",
	              threads, threads, threads, threads == 1 ? "" : "s", WIDTH, rows * ROW + 50, threads);
	for (int power = -1; power <= (int)scale.top; power++) {
		double x = at(&scale, pow(10, power));

		(void)fprintf(file, "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"0\" y2=\"%u\"/><text x=\"%.0f\" y=\"%u\" "
		                    "text-anchor=\"middle\">%g</text>\n",
		              x, x, rows * ROW + 8, x, rows * ROW + 24, pow(10, power));
	}
	(void)fprintf(file, "<text x=\"%d\" y=\"%u\" text-anchor=\"middle\">wall time over all IDs of all threads, ns</text>\n",
	              (LEFT + WIDTH - 90) / 2, rows * ROW + 44);
	unsigned row = 0;

	json_array_foreach(cases, index, one)
		if (is_shown(one, threads))
			put_bar(file, &scale, one, row++);
	(void)fputs("</svg></figure>\n", file);
}

static void
put_table(FILE *file, const json_t *cases, int threads)
{
	size_t index;
	json_t *one;

	(void)fprintf(file, "<div class=\"wide\"><table id=\"cases-%d\"><thead><tr><th>case</th><th class=\"n\">median, ns</th>"
	                    "<th class=\"n\">spread, ns</th><th class=\"n\">× bare CAS</th><th>what it is made of</th></tr>"
	                    "</thead><tbody>\n", threads);
	json_array_foreach(cases, index, one) {
		if (json_integer_value(json_object_get(one, "threads")) != threads)
			continue;
		(void)fputs("<tr><td>", file);
		page_text(file, json_string_value(json_object_get(one, "case")));
		if (json_object_get(one, "invalid") != NULL) {
			(void)fputs("</td><td colspan=\"3\">", file);
			page_text(file, json_string_value(json_object_get(one, "invalid")));
		} else {
			(void)fprintf(file, "</td><td class=\"n\">%.2f</td><td class=\"n\">%.2f</td><td class=\"n\">%.2f",
			              json_real_value(json_object_get(one, "median_ns")),
			              json_real_value(json_object_get(one, "spread_ns")),
			              json_real_value(json_object_get(one, "ratio_to_bare_cas")));
		}
		(void)fputs("</td><td class=\"dim\">", file);
		page_text(file, json_string_value(json_object_get(one, "parts")));
		(void)fputs("</td></tr>\n", file);
	}
	(void)fputs("</tbody></table></div>\n", file);
}

static void
put_machine(FILE *file, const json_t *machine)
{
	(void)fputs("<p>", file);
	page_text(file, json_string_value(json_object_get(machine, "processor")));
	(void)fprintf(file, ", %d processors%s, Linux ", (int)json_integer_value(json_object_get(machine, "processors")),
	              json_is_true(json_object_get(machine, "hypervisor")) ? " (virtual)" : "");
	page_text(file, json_string_value(json_object_get(machine, "kernel")));
	(void)fputs(", clock source ", file);
	page_text(file, json_string_value(json_object_get(machine, "clock_source")));
	(void)fputs(", governor ", file);
	page_text(file, json_string_value(json_object_get(machine, "governor")));
	(void)fputs(".</p>\n", file);
}

static void
put_cases(FILE *file, const json_t *report)
{
	const json_t *cases = json_object_get(report, "cases");
	int shown = 0;
	size_t index;
	json_t *one;

	if (cases == NULL)
		return;
	(void)fputs("<h2>Code cost, case by case</h2>\n<p class=\"dim\">Layout ", file);
	page_text(file, json_string_value(json_object_get(json_object_get(report, "layout"), "text")));
	(void)fprintf(file, ". Its ceiling is %.4g ns an ID on one node; cases that met it have no figure.</p>\n",
	              json_real_value(json_object_get(report, "ceiling_ns")));
	/* Cases stand in order of threads. */
	json_array_foreach(cases, index, one) {
		int threads = (int)json_integer_value(json_object_get(one, "threads"));

		if (threads == shown)
			continue;
		shown = threads;
		put_bars(file, cases, threads);
		put_table(file, cases, threads);
	}
}

int
bench_page_write(const json_t *report, const char *path)
{
	FILE *file = page_open(path, json_object_get(report, "cases") != NULL ? "What an ID costs" : "How long an ID takes");

	if (file == NULL)
		return -1;
	put_machine(file, json_object_get(report, "machine"));
	bench_charts_write(file, report);
	put_cases(file, report);
	return page_close(file);
}
