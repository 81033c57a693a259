/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The rule as a queue: what a layout makes of arrivals, without a clock, a generator or a machine. */
#include "tune.h"

#include <math.h>
#include <string.h>

/* How far ahead IDs lay, in ticks: enough for a lead of seconds, the last one holds the rest. */
#define LEADS 100000

static double
percentile(const uint64_t leads[], uint64_t total, double part)
{
	uint64_t seen = 0;
	uint64_t rank = (uint64_t)ceil(part * (double)total);

	for (unsigned i = 0; i < LEADS; i++) {
		seen += leads[i];
		if (seen >= rank)
			return i;
	}
	return LEADS;
}

/* Count IDs first to first + count - 1 by how far their tick lies ahead of now. */
static uint64_t
spread(uint64_t leads[], uint64_t first, uint64_t count, uint64_t per_tick, uint64_t now)
{
	uint64_t furthest = 0;

	while (count > 0) {
		uint64_t tick = first / per_tick;
		uint64_t here = (tick + 1) * per_tick - first;
		uint64_t lead = tick - now;

		if (here > count)
			here = count;
		leads[lead < LEADS ? lead : LEADS - 1] += here;
		furthest = lead;
		first += here;
		count -= here;
	}
	return furthest;
}

void
queue_run(const struct arrivals *arrivals, uint64_t per_tick, uint32_t tick_ms, double waste, uint32_t lead_ms,
          struct outcome *outcome)
{
	static uint64_t leads[LEADS];
	double usable = (double)per_tick - waste;
	uint64_t served = usable < 1 ? 1 : (uint64_t)usable;
	uint64_t word = 0;
	uint64_t furthest = 0;

	memset(leads, 0, sizeof(leads));
	memset(outcome, 0, sizeof(*outcome));
	for (size_t ms = 0; ms < arrivals->ms; ms++) {
		uint64_t now = ms / tick_ms;
		uint64_t first = word > now * served ? word : now * served;
		uint64_t reached = spread(leads, first, arrivals->count[ms], served, now);

		word = first + arrivals->count[ms];
		outcome->ids += arrivals->count[ms];
		if (arrivals->count[ms] != 0 && reached > furthest)
			furthest = reached;
	}
	uint64_t beyond = 0;

	for (uint64_t i = (uint64_t)lead_ms / tick_ms + 1; i < LEADS; i++)
		beyond += leads[i];
	if (outcome->ids == 0)
		return;
	outcome->stalled = 1 - (double)leads[0] / (double)outcome->ids;
	outcome->refused = (double)beyond / (double)outcome->ids;
	outcome->p99_ms = percentile(leads, outcome->ids, 0.99) * tick_ms;
	outcome->most_ms = (double)furthest * tick_ms;
}
