/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page with a plot, that opens without a network. */
#include "bench.h"

#include <math.h>
#include <string.h>

/* Text inside an element. */
static void
put_text(FILE *file, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '<':
			(void)fputs("&lt;", file);
			break;
		case '>':
			(void)fputs("&gt;", file);
			break;
		case '&':
			(void)fputs("&amp;", file);
			break;
		default:
			(void)fputc(*text, file);
		}
}

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\"><title>firn bench</title>\n"
	"<style>\n"
	":root{color-scheme:light dark;--ink:#1d2a35;--dim:#66747f;--line:#d5dce1;--bar:#2f7fb8;--base:#b9772c;--back:#fff}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf2;--dim:#93a2ad;--line:#36434d;--bar:#5db0e8;--base:#e0a054;"
	"--back:#12191f}}\n"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:var(--ink);"
	"background:var(--back)}\n"
	"h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}p.dim,td.dim{color:var(--dim)}\n"
	"table{border-collapse:collapse;width:100%}td,th{padding:.2rem .6rem;border-bottom:1px solid var(--line);"
	"text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"svg{width:100%;height:auto}svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .grid{stroke:var(--line)}\n"
	"svg .bar{fill:var(--bar)}svg .base{fill:var(--base)}svg .whisker{stroke:var(--ink)}\n"
	"</style>\n";

#define ROW 22
#define LEFT 230
#define WIDTH 900

/* Horizontal bars on a logarithmic scale, because the cases span three powers of ten. */
static void
put_plot(FILE *file, const json_t *cases, int threads)
{
	double most = 1;
	unsigned rows = 0;
	size_t index;
	json_t *one;

	json_array_foreach(cases, index, one) {
		if (json_integer_value(json_object_get(one, "threads")) != threads || json_object_get(one, "invalid") != NULL)
			continue;
		most = fmax(most, json_real_value(json_object_get(one, "median_ns")));
		rows++;
	}
	double top = ceil(log10(most * 1.3) * 4) / 4;
	double bottom = -1;
	double scale = (WIDTH - LEFT - 90) / (top - bottom);

	(void)fprintf(file, "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"ns per ID\">\n", WIDTH, rows * ROW + 30);
	for (int power = -1; power <= (int)top; power++) {
		double x = LEFT + (power - bottom) * scale;

		(void)fprintf(file, "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"0\" y2=\"%u\"/><text x=\"%.0f\" y=\"%u\" "
		                    "text-anchor=\"middle\">%g ns</text>\n",
		              x, x, rows * ROW + 8, x, rows * ROW + 24, pow(10, power));
	}
	unsigned row = 0;

	json_array_foreach(cases, index, one) {
		double ns = json_real_value(json_object_get(one, "median_ns"));
		double spread = json_real_value(json_object_get(one, "spread_ns"));
		const char *name = json_string_value(json_object_get(one, "case"));
		double end = LEFT + (log10(fmax(ns, 0.1)) - bottom) * scale;
		unsigned y = row * ROW;

		if (json_integer_value(json_object_get(one, "threads")) != threads || json_object_get(one, "invalid") != NULL)
			continue;
		(void)fprintf(file, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 16);
		put_text(file, name);
		(void)fprintf(file, "</text><rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
		              strncmp(name, "bare", 4) == 0 ? "base" : "bar", LEFT, y + 4, fmax(end - LEFT, 1), ROW - 8);
		if (spread < ns && spread > 0)
			(void)fprintf(file, "<line class=\"whisker\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\"/>",
			              LEFT + (log10(fmax(ns - spread, 0.1)) - bottom) * scale,
			              LEFT + (log10(ns + spread) - bottom) * scale, y + ROW / 2, y + ROW / 2);
		(void)fprintf(file, "<text x=\"%.1f\" y=\"%u\">%.3g</text>\n", end + 12, y + 16, ns);
		row++;
	}
	(void)fputs("</svg>\n", file);
}

static void
put_table(FILE *file, const json_t *cases, int threads)
{
	size_t index;
	json_t *one;

	(void)fputs("<table><tr><th>case<th>median, ns<th>spread<th>× bare CAS<th>what it is made of</tr>\n", file);
	json_array_foreach(cases, index, one) {
		if (json_integer_value(json_object_get(one, "threads")) != threads)
			continue;
		(void)fputs("<tr><td>", file);
		put_text(file, json_string_value(json_object_get(one, "case")));
		if (json_object_get(one, "invalid") != NULL) {
			(void)fputs("<td colspan=\"3\">", file);
			put_text(file, json_string_value(json_object_get(one, "invalid")));
		} else {
			(void)fprintf(file, "<td class=\"n\">%.2f<td class=\"n\">%.2f<td class=\"n\">%.2f",
			              json_real_value(json_object_get(one, "median_ns")),
			              json_real_value(json_object_get(one, "spread_ns")),
			              json_real_value(json_object_get(one, "ratio_to_bare_cas")));
		}
		(void)fputs("<td class=\"dim\">", file);
		put_text(file, json_string_value(json_object_get(one, "parts")));
		(void)fputs("</tr>\n", file);
	}
	(void)fputs("</table>\n", file);
}

int
bench_page_write(const json_t *report, const char *path)
{
	FILE *file = fopen(path, "we");
	const json_t *cases = json_object_get(report, "cases");
	const json_t *machine = json_object_get(report, "machine");
	int shown = 0;
	size_t index;
	json_t *one;

	if (file == NULL)
		return -1;
	(void)fputs(head, file);
	(void)fputs("<h1>What an ID costs</h1>\n<p>", file);
	put_text(file, json_string_value(json_object_get(machine, "processor")));
	(void)fprintf(file, ", %d processors, Linux ", (int)json_integer_value(json_object_get(machine, "processors")));
	put_text(file, json_string_value(json_object_get(machine, "kernel")));
	(void)fputs(", clock source ", file);
	put_text(file, json_string_value(json_object_get(machine, "clock_source")));
	(void)fputs(". Layout ", file);
	put_text(file, json_string_value(json_object_get(json_object_get(report, "layout"), "text")));
	(void)fprintf(file,
	              ".</p><p class=\"dim\">Code cost: wall time over all IDs of all threads, medians, with the median distance "
	              "from them. The layout's ceiling is %.4g ns an ID on one node; cases that met it have no figure.</p>\n",
	              json_real_value(json_object_get(report, "ceiling_ns")));
	/* Cases stand in order of threads. */
	json_array_foreach(cases, index, one) {
		int threads = (int)json_integer_value(json_object_get(one, "threads"));

		if (threads == shown)
			continue;
		shown = threads;
		(void)fprintf(file, "<h2>%d thread%s</h2>\n", threads, threads == 1 ? "" : "s");
		put_plot(file, cases, threads);
		put_table(file, cases, threads);
	}
	(void)fputs("</html>\n", file);
	return fclose(file) != 0 ? -1 : 0;
}
