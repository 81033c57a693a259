/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A run as it went on: the lead after each millisecond, the IDs of each tick. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

int
timeline_make(struct timeline *timeline, size_t ms, uint32_t tick_ms)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->room = ms;
	timeline->tick_ms = tick_ms;
	timeline->lead_ms = calloc(ms, sizeof(*timeline->lead_ms));
	timeline->ids = calloc(ms, sizeof(*timeline->ids));
	if (timeline->lead_ms != NULL && timeline->ids != NULL)
		return 0;
	timeline_free(timeline);
	return -1;
}

void
timeline_lead(struct timeline *timeline, size_t ms, double lead_ms)
{
	if (timeline == NULL || ms >= timeline->room)
		return;
	timeline->lead_ms[ms] = lead_ms;
	timeline->ms = ms + 1;
	timeline->ticks = (ms + timeline->tick_ms) / timeline->tick_ms;
}

void
timeline_add(struct timeline *timeline, uint64_t tick, uint64_t ids)
{
	/* Ticks past the end would be shown half full: the run did not go on to fill them. */
	if (timeline != NULL && tick < timeline->room)
		timeline->ids[tick] += ids;
}

void
timeline_free(struct timeline *timeline)
{
	free(timeline->lead_ms);
	free(timeline->ids);
	timeline->lead_ms = NULL;
	timeline->ids = NULL;
}

/* The largest of each slot: what is drawn must not lose a peak. */
json_t *
timeline_json(const struct timeline *timeline)
{
	json_t *leads = json_array();
	json_t *ids = json_array();
	size_t slot = (timeline->ms + TIMELINE_POINTS - 1) / TIMELINE_POINTS;

	for (size_t at = 0; at < timeline->ms; at += slot) {
		double most = 0;

		for (size_t i = at; i < timeline->ms && i < at + slot; i++)
			most = timeline->lead_ms[i] > most ? timeline->lead_ms[i] : most;
		(void)json_array_append_new(leads, json_pack("[I, f]", (json_int_t)at, most));
	}
	slot = (timeline->ticks + TIMELINE_POINTS - 1) / TIMELINE_POINTS;
	for (size_t at = 0; at < timeline->ticks; at += slot) {
		uint64_t most = 0;

		for (size_t i = at; i < timeline->ticks && i < at + slot; i++)
			most = timeline->ids[i] > most ? timeline->ids[i] : most;
		(void)json_array_append_new(ids, json_pack("[I, I]", (json_int_t)at, (json_int_t)most));
	}
	return json_pack("{s:o, s:o}", "lead_ms", leads, "ids_per_tick", ids);
}
