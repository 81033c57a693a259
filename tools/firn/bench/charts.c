/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The charts of a report: throughput against threads, latency percentiles, lead over time, IDs per tick. */
#include "bench.h"

#include <string.h>

#include "../chart.h"
#include "../page.h"

static double
real_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

/* What stands in a chart of throughput: lanes with a clock, and the bare operations; or what others do, without one. */
static int
belongs(const json_t *one, const char *clock)
{
	const char *lane = text_of(one, "lane");
	int is_bare = strncmp(lane, "bare ", 5) == 0;

	if (json_object_get(one, "invalid") != NULL || strcmp(lane, "clock") == 0 || strcmp(lane, "counter") == 0)
		return 0;
	return is_bare || strcmp(text_of(one, "clock"), clock) == 0;
}

static struct chart_series *
series_of(struct chart *chart, const char *lane)
{
	for (size_t i = 0; i < chart->count; i++)
		if (strcmp(chart->series[i]->name, lane) == 0)
			return chart->series[i];
	return chart_add(chart, lane, CHART_LINE);
}

static void
put_throughput(FILE *file, const json_t *cases, const char *clock)
{
	char id[64];
	char title[96];
	struct chart chart = {
		.id = id,
		.title = title,
		.says = "IDs of all threads together; each of them on a processor of its own as far as there are any. Dashed: the "
		        "bare atomic operation, without a clock.",
		.x = {"threads", CHART_TWOS, NULL},
		.y = {"IDs a second", CHART_LOG, NULL},
	};
	size_t index;
	json_t *one;
	int is_new = 0;

	(void)snprintf(id, sizeof(id), "throughput-%s", clock[0] == '\0' ? "others" : clock);
	if (clock[0] == '\0')
		(void)snprintf(title, sizeof(title), "Throughput against threads: what others do");
	else
		(void)snprintf(title, sizeof(title), "Throughput against threads: firn's lanes, %s clock", clock);
	json_array_foreach(cases, index, one) {
		if (!belongs(one, clock))
			continue;
		struct chart_series *series = series_of(&chart, text_of(one, "lane"));
		int is_bare = strncmp(text_of(one, "lane"), "bare ", 5) == 0;

		is_new |= !is_bare;
		if (series != NULL)
			series->is_reference = is_bare;
		chart_point(series, real_of(one, "threads"), 1e9 / real_of(one, "median_ns"));
	}
	if (is_new)
		chart_write(file, &chart);
	chart_clear(&chart);
}

/* A chart for each clock, in the order of the cases, then one of those that have none. */
static void
put_throughputs(FILE *file, const json_t *cases)
{
	const char *seen[16];
	size_t count = 0;
	size_t index;
	json_t *one;

	json_array_foreach(cases, index, one) {
		const char *clock = text_of(one, "clock");
		size_t i = 0;

		while (i < count && strcmp(seen[i], clock) != 0)
			i++;
		if (i == count && count < 16 && clock[0] != '\0') {
			seen[count++] = clock;
			put_throughput(file, cases, clock);
		}
	}
	put_throughput(file, cases, "");
}

static void
put_latency(FILE *file, const json_t *latency)
{
	static const char *const keys[] = {"firn", "empty"};
	static const char *const names[] = {"firn_gen_next", "an empty call"};
	char says[512];
	struct chart chart = {
		.id = "latency",
		.title = "Latency percentiles",
		.says = says,
		.x = {"part of the calls, by number of nines", CHART_NINES, NULL},
		.y = {"latency from the intended moment, ns", CHART_LOG, NULL},
	};

	(void)snprintf(says, sizeof(says),
	               "%s arrivals at %.0f a second by %.0f threads for %g s, %s clock, layout %s. Open loop: a stall is charged "
	               "to every call that it delays. Calls: %.0f, refused: %.0f, the slowest: %.0f ns (an empty one: %.0f ns).",
	               text_of(latency, "arrival"), real_of(latency, "rate"), real_of(latency, "threads"),
	               real_of(latency, "seconds"), text_of(latency, "clock"), text_of(json_object_get(latency, "layout"), "text"),
	               real_of(json_object_get(latency, "firn"), "calls"), real_of(json_object_get(latency, "firn"), "refused"),
	               json_number_value(json_array_get(
			       json_array_get(json_object_get(json_object_get(latency, "firn"), "percentiles_ns"), 6), 1)),
	               json_number_value(json_array_get(
			       json_array_get(json_object_get(json_object_get(latency, "empty"), "percentiles_ns"), 6), 1)));
	for (unsigned i = 0; i < 2; i++) {
		struct chart_series *series = chart_add(&chart, names[i], CHART_LINE);
		size_t index;
		json_t *point;

		json_array_foreach(json_object_get(json_object_get(latency, keys[i]), "curve_ns"), index, point)
			chart_point(series, json_number_value(json_array_get(point, 0)), json_number_value(json_array_get(point, 1)));
		if (series != NULL)
			series->is_reference = i == 1;
	}
	chart_write(file, &chart);
	chart_clear(&chart);
}

static void
put_timeline(const json_t *points, struct chart *chart, const char *name, enum chart_mark mark, double scale)
{
	struct chart_series *series = chart_add(chart, name, mark);
	size_t index;
	json_t *point;

	json_array_foreach(points, index, point)
		chart_point(series, json_number_value(json_array_get(point, 0)) * scale, json_number_value(json_array_get(point, 1)));
}

static void
put_ticks(FILE *file, const json_t *ticks)
{
	char says[512];
	const json_t *timeline = json_object_get(ticks, "timeline");
	double tick_ms = real_of(json_object_get(ticks, "layout"), "tick_ms");
	double end = real_of(ticks, "seconds") * 1000;
	struct chart lead = {
		.id = "lead",
		.title = "Lead over time",
		.says = says,
		.x = {"time, ms", CHART_LINEAR, NULL},
		.y = {"lead of the last ID, ms", CHART_LINEAR, NULL},
	};
	struct chart ids = {
		.id = "ids-per-tick",
		.title = "IDs per tick",
		.says = "How many IDs carry each tick. What a burst asks for beyond a tick fills the ticks that follow, up to the "
		        "layout's ceiling.",
		.x = {"beginning of the tick, ms", CHART_LINEAR, NULL},
		.y = {"IDs of the tick", CHART_LINEAR, NULL},
	};

	(void)snprintf(says, sizeof(says),
	               "%.0f IDs a second and %.0f at once in the middle of each second, layout %s. The lead is what the burst "
	               "borrowed; it is paid back while the load is below the ceiling. Refused: %.4g %%.",
	               real_of(ticks, "rate"), real_of(ticks, "burst"), text_of(json_object_get(ticks, "layout"), "text"),
	               real_of(ticks, "refused") * 100);
	put_timeline(json_object_get(timeline, "lead_ms"), &lead, "lead", CHART_LINE, 1);
	chart_write(file, &lead);
	chart_clear(&lead);
	put_timeline(json_object_get(timeline, "ids_per_tick"), &ids, "IDs", CHART_STEPS, tick_ms);
	/* A ceiling far above the load would press the load onto the axis: it is drawn where the load comes near it. */
	if (real_of(ticks, "ceiling_per_tick") <= 8 * real_of(ticks, "rate") / 1000 * tick_ms) {
		struct chart_series *ceiling = chart_add(&ids, "the ceiling", CHART_LINE);

		chart_point(ceiling, 0, real_of(ticks, "ceiling_per_tick"));
		chart_point(ceiling, end, real_of(ticks, "ceiling_per_tick"));
		if (ceiling != NULL)
			ceiling->is_reference = 1;
	}
	chart_write(file, &ids);
	chart_clear(&ids);
}

void
bench_charts_write(FILE *file, const json_t *report)
{
	const json_t *cases = json_object_get(report, "cases");
	const json_t *latency = json_object_get(report, "latency");
	const json_t *ticks = json_object_get(report, "ticks");

	if (strcmp(text_of(report, "kind"), "latency") == 0)
		latency = report;
	if (cases != NULL)
		put_throughputs(file, cases);
	if (latency != NULL)
		put_latency(file, latency);
	if (ticks != NULL)
		put_ticks(file, ticks);
}
