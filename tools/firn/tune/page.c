/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner's answer as a page: what is gained and what is paid, predicted beside measured. */
#include "tune.h"

#include <string.h>

#include "../chart.h"
#include "../page.h"

static double
real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *
text_of(const json_t *candidate)
{
	return json_string_value(json_object_get(json_object_get(candidate, "layout"), "text"));
}

/* Which series of the trade-off a candidate stands in. */
static unsigned
kind_of(const json_t *c)
{
	double headroom = real_of(c, "node_headroom");

	if (real_of(c, "refused") > 0)
		return 4;
	return headroom < 2 ? 0 : headroom < 4 ? 1 : headroom < 8 ? 2 : 3;
}

static void
put_trade_off(FILE *file, const json_t *answer)
{
	static const char *const names[] = {"below 2 numbers a node", "2 to 4 a node", "4 to 8 a node", "8 and more a node",
	                                    "refuses some IDs"};
	struct chart chart = {
		.id = "trade-off",
		.title = "The trade-off: life, node numbers, lead",
		.says = "Every layout that was searched, simulated under the load. Further right lasts longer, lower borrows less "
		        "from the ticks to come, the shape tells the room for nodes; the three best are ringed.",
		.x = {"life, years", CHART_LOG, NULL},
		.y = {"largest lead, ms", CHART_LOG, NULL},
		.own_table = 1,
	};
	struct chart_series *series[5];
	size_t index;
	json_t *one;

	for (unsigned i = 0; i < 5; i++)
		series[i] = chart_add(&chart, names[i], CHART_POINTS);
	static const char *const ranks[TUNE_BEST] = {"1", "2", "3"};

	json_array_foreach(json_object_get(answer, "candidates"), index, one) {
		unsigned kind = kind_of(one);

		chart_point(series[kind], real_of(one, "life_years"), real_of(one, "lead_most_ms"));
		if (index < TUNE_BEST)
			chart_ring(&chart, series[kind], ranks[index]);
	}
	chart_write(file, &chart);
	chart_clear(&chart);
	(void)fputs("<details><summary>All candidates as a table</summary><div><table id=\"candidates\"><thead><tr>"
	            "<th class=\"n\">time bits</th><th class=\"n\">node bits</th><th class=\"n\">sequence bits</th>"
	            "<th class=\"n\">tick, ms</th><th class=\"n\">life, years</th><th class=\"n\">numbers a node</th>"
	            "<th class=\"n\">stalled, %</th><th class=\"n\">max delay, ms</th><th class=\"n\">max lead, ms</th>"
	            "<th class=\"n\">refused, %</th></tr></thead><tbody>\n",
	            file);
	json_array_foreach(json_object_get(answer, "candidates"), index, one)
		(void)fprintf(file,
		              "<tr><td class=\"n\">%.0f</td><td class=\"n\">%.0f</td><td class=\"n\">%.0f</td><td class=\"n\">%.0f</td>"
		              "<td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td>"
		              "<td class=\"n\">%.6g</td><td class=\"n\">%.6g</td></tr>\n",
		              real_of(one, "time_bits"), real_of(one, "node_bits"), real_of(one, "sequence_bits"),
		              real_of(one, "tick_ms"), real_of(one, "life_years"), real_of(one, "node_headroom"),
		              real_of(one, "stall_probability") * 100, real_of(one, "delay_most_ms"),
		              real_of(one, "lead_most_ms"), real_of(one, "refused") * 100);
	(void)fputs("</tbody></table></div></details>\n", file);
}

static void
put_outcome(FILE *file, const char *layout, const char *name, const json_t *o)
{
	if (o == NULL)
		return;
	(void)fputs("<tr><td>", file);
	page_text(file, layout);
	(void)fprintf(file,
	              "</td><td>%s</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td><td class=\"n\">%.6g</td>"
	              "<td class=\"n\">%.6g</td><td class=\"n\">%.6g</td></tr>\n",
	              name, real_of(o, "stall_probability") * 100, real_of(o, "delay_p99_ms"), real_of(o, "delay_most_ms"),
	              real_of(o, "lead_most_ms"), real_of(o, "refused") * 100);
}

/* What the three best cost and give, and under it predicted beside measured. */
static void
put_best(FILE *file, const json_t *answer)
{
	size_t index;
	json_t *c;

	(void)fputs("<h2>The three best</h2>\n<div class=\"wide\"><table id=\"best\"><thead><tr><th></th><th>layout</th>"
	            "<th class=\"n\">life, years</th><th class=\"n\">node numbers</th><th class=\"n\">for each node</th>"
	            "<th class=\"n\">random ones clash, %</th><th class=\"n\">IDs a second a node</th></tr></thead><tbody>\n",
	            file);
	json_array_foreach(json_object_get(answer, "layouts"), index, c) {
		(void)fprintf(file, "<tr><td>%zu</td><td>", index + 1);
		page_text(file, text_of(c));
		(void)fprintf(file,
		              "</td><td class=\"n\">%.6g</td><td class=\"n\">%.0f</td><td class=\"n\">%.3g</td><td class=\"n\">%.3g</td>"
		              "<td class=\"n\">%.0f</td></tr>\n",
		              real_of(c, "life_years"), real_of(c, "node_numbers"), real_of(c, "node_headroom"),
		              real_of(c, "clash_chance_random_nodes") * 100, real_of(c, "ceiling_per_node_per_second"));
	}
	(void)fputs("</tbody></table></div>\n<h2>Predicted beside measured</h2>\n<p class=\"dim\">Stalled and delay: where callers "
	            "wait for the clock. Lead and refused: where they do not.</p>\n<div class=\"wide\"><table id=\"outcomes\"><thead>"
	            "<tr><th>layout</th><th></th><th class=\"n\">stalled, %</th><th class=\"n\">p99 delay, ms</th>"
	            "<th class=\"n\">max delay, ms</th><th class=\"n\">max lead, ms</th><th class=\"n\">refused, %</th></tr></thead>"
	            "<tbody>\n",
	            file);
	json_array_foreach(json_object_get(answer, "layouts"), index, c) {
		char number[24];

		(void)snprintf(number, sizeof(number), "%zu", index + 1);
		put_outcome(file, number, "predicted, all", json_object_get(c, "predicted"));
		put_outcome(file, number, "predicted, the part played", json_object_get(c, "predicted_of_the_played"));
		put_outcome(file, number, "measured, the part played", json_object_get(c, "measured"));
	}
	(void)fputs("</tbody></table></div>\n", file);
}

static void
put_beside(FILE *file, const json_t *answer)
{
	static const char *const layouts[] = {"1", "2", "3", NULL};
	static const struct {
		const char *name;
		const char *of;
		const char *key;
	} rows[] = {
		{"p99 delay, predicted", "predicted_of_the_played", "delay_p99_ms"},
		{"p99 delay, measured", "measured", "delay_p99_ms"},
		{"max delay, predicted", "predicted_of_the_played", "delay_most_ms"},
		{"max delay, measured", "measured", "delay_most_ms"},
		{"max lead, predicted", "predicted_of_the_played", "lead_most_ms"},
		{"max lead, measured", "measured", "lead_most_ms"},
	};
	struct chart chart = {
		.id = "beside",
		.title = "Predicted beside measured",
		.says = "The same part of the load, simulated and played to a real generator of each of the three best. A machine "
		        "that begins milliseconds late adds to what was measured.",
		.x = {"layout, by rank", CHART_LINEAR, layouts},
		.y = {"delay or lead, ms", CHART_LINEAR, NULL},
	};
	size_t index;
	json_t *c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct chart_series *series = chart_add(&chart, rows[i].name, CHART_POINTS);

		json_array_foreach(json_object_get(answer, "layouts"), index, c)
			if (json_object_get(c, "measured") != NULL)
				chart_point(series, (double)index + 1, real_of(json_object_get(c, rows[i].of), rows[i].key));
	}
	chart_write(file, &chart);
	chart_clear(&chart);
}

/* The lead of the best, as simulated and as measured. */
static void
put_lead(FILE *file, const json_t *answer)
{
	static const struct {
		const char *key;
		const char *name[TUNE_BEST];
	} lines[] = {
		{"simulated_timeline", {"layout 1, simulated", "layout 2, simulated", "layout 3, simulated"}},
		{"measured_timeline", {"layout 1, measured", "layout 2, measured", "layout 3, measured"}},
	};
	struct chart chart = {
		.id = "lead",
		.title = "Lead over time",
		.says = "How far the last ID lies ahead of the clock: it grows with a burst and is paid back while the load is below "
		        "the ceiling. Dashed: simulated.",
		.x = {"time, ms", CHART_LINEAR, NULL},
		.y = {"lead, ms", CHART_LINEAR, NULL},
	};
	size_t rank;
	json_t *c;

	json_array_foreach(json_object_get(answer, "layouts"), rank, c)
		for (unsigned i = 0; i < 2; i++) {
			struct chart_series *series = chart_add(&chart, lines[i].name[rank], CHART_LINE);
			size_t index;
			json_t *point;

			json_array_foreach(json_object_get(json_object_get(c, lines[i].key), "lead_ms"), index, point)
				chart_point(series, json_number_value(json_array_get(point, 0)),
				            json_number_value(json_array_get(point, 1)));
			if (series != NULL)
				series->is_reference = i == 0;
		}
	chart_write(file, &chart);
	chart_clear(&chart);
}

int
tune_page_write(const json_t *answer, const char *path)
{
	FILE *file = page_open(path, "Which layout");

	if (file == NULL)
		return -1;
	(void)fprintf(file,
	              "<p>One node is asked for %.4g IDs a millisecond on average, %.0f at most. %zu layouts were simulated over "
	              "%.0f ms.</p>\n",
	              real_of(answer, "mean_per_ms_of_a_node"), real_of(answer, "most_per_ms_of_a_node"),
	              json_array_size(json_object_get(answer, "candidates")), real_of(answer, "simulated_ms"));
	put_trade_off(file, answer);
	put_best(file, answer);
	put_beside(file, answer);
	put_lead(file, answer);
	return page_close(file);
}
