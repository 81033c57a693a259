/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A layout tick by tick: an even load with a burst in each second, the lead it builds up and pays back. */
#include "bench.h"

#include <math.h>

#include "../load/load.h"

/* A burst is worth so many ticks, and never more than half the lead or half a second of the load. */
#define BURST_TICKS 100

json_t *
bench_ticks_json(const struct firn_layout *layout, uint32_t lead_ms, double rate, double seconds, int *error)
{
	double per_tick = ldexp(1, layout->seq_bits);
	double even = fmin(rate, per_tick * 500 / layout->tick_ms); /* half the ceiling leaves room to pay back */
	double ticks = fmin(BURST_TICKS, (double)lead_ms / 2 / layout->tick_ms);
	struct arrival_wish wish = {.shape = ARRIVAL_CONSTANT, .rate = even, .burst = fmin(per_tick * ticks, even / 2)};
	struct play_wish play = {.layout = layout, .seconds = seconds, .lead_ms = lead_ms, .shards = 1, .leading_only = 1};
	struct arrivals arrivals = {0};
	struct timeline timeline = {0};
	struct outcome outcome;
	double late = 0;
	size_t ms = (size_t)ceil(seconds * 1000);

	*error = arrivals_make(&wish, ms, &arrivals) != 0 || timeline_make(&timeline, ms, layout->tick_ms) != 0
	                 ? FIRN_E_NO_MEMORY
	                 : play_run(&play, &arrivals, &outcome, &late, &timeline);
	json_t *report = NULL;

	if (*error == FIRN_OK)
		report = json_pack("{s:s, s:o, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:o}", "kind", "ticks", "layout",
		                   json_layout(layout), "rate", even, "burst", wish.burst, "ceiling_per_tick", per_tick, "seconds",
		                   seconds, "ids", (json_int_t)outcome.ids, "refused", outcome.refused, "lead_most_ms",
		                   outcome.lead_most_ms, "late_ms_share", late, "timeline", timeline_json(&timeline));
	arrivals_free(&arrivals);
	timeline_free(&timeline);
	return report;
}
