/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The rule as a queue: what a layout makes of arrivals, without a clock, a generator or a machine. */
#include "load.h"

#include <math.h>
#include <string.h>

/* One policy's queue. */
struct queue {
	uint64_t word;               /* the next one */
	uint64_t served;             /* in a tick */
	uint64_t *delays;            /* or NULL */
	struct timeline *timeline;
};

/* Hand out count IDs, tick by tick. Returns how many ticks ahead of now the last one lies, at least 0. */
static uint64_t
hand_out(struct queue *queue, uint64_t count, uint64_t now)
{
	while (count > 0) {
		uint64_t tick = queue->word / queue->served;
		uint64_t here = (tick + 1) * queue->served - queue->word;
		uint64_t ahead = tick - now;

		if (here > count)
			here = count;
		if (queue->delays != NULL)
			queue->delays[ahead < DELAYS ? ahead : DELAYS - 1] += here;
		timeline_add(queue->timeline, tick, here);
		queue->word += here;
		count -= here;
	}
	uint64_t last = queue->word == 0 ? 0 : (queue->word - 1) / queue->served;

	return last > now ? last - now : 0;
}

static void
enter_tick(struct queue *queue, uint64_t now)
{
	if (queue->word < now * queue->served)
		queue->word = now * queue->served;
}

void
queue_run(const struct arrivals *arrivals, uint64_t per_tick, uint32_t tick_ms, double waste, uint32_t lead_ms,
          struct outcome *outcome, struct timeline *timeline)
{
	static uint64_t delays[DELAYS];
	double usable = (double)per_tick - waste;
	uint64_t served = usable < 1 ? 1 : (uint64_t)usable;
	struct queue waiting = {0, served, delays, NULL};
	struct queue leading = {0, served, NULL, timeline};
	uint64_t refused = 0;

	memset(delays, 0, sizeof(delays));
	memset(outcome, 0, sizeof(*outcome));
	for (size_t ms = 0; ms < arrivals->ms; ms++) {
		uint64_t now = ms / tick_ms;
		uint64_t given = arrivals->count[ms];
		uint64_t bound = (now + lead_ms / tick_ms + 1) * served;

		enter_tick(&waiting, now);
		(void)hand_out(&waiting, given, now);
		enter_tick(&leading, now);
		/* What the lead does not cover is refused, and a refusal moves nothing. */
		if (given > bound - leading.word)
			given = bound - leading.word;
		refused += arrivals->count[ms] - given;
		double lead_now = (double)hand_out(&leading, given, now) * tick_ms;

		outcome->lead_most_ms = fmax(outcome->lead_most_ms, lead_now);
		timeline_lead(timeline, ms, lead_now);
	}
	outcome_delays(outcome, delays, tick_ms);
	outcome->refused = outcome->ids == 0 ? 0 : (double)refused / (double)outcome->ids;
}
