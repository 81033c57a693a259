/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals played to a real generator in real time. */
#include "tune.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEADS 100000

static int64_t
wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait for a millisecond to begin; returns the one that has. */
static int64_t
await(int64_t wanted_ms)
{
	int64_t now_ms;

	while ((now_ms = wall_ms()) < wanted_ms) {
		struct timespec pause = {0, 100000};

		(void)nanosleep(&pause, NULL);
	}
	return now_ms;
}

/* One millisecond's IDs, counted by how far their ticks lie ahead of the clock. FIRN_OK or an error. */
static int
play(struct firn_gen *gen, const struct firn_layout *layout, uint32_t count, uint64_t leads[], uint64_t *refused)
{
	for (uint32_t i = 0; i < count; i++) {
		struct firn_parts parts;
		uint64_t now_tick = 0;
		uint64_t id;
		int error = firn_layout_tick(layout, wall_ms(), &now_tick);

		if (error == FIRN_OK)
			error = firn_gen_next(gen, &id);

		if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK) {
			*refused += 1;
			continue;
		}
		if (error == FIRN_OK)
			error = firn_layout_split(layout, id, &parts);
		if (error != FIRN_OK)
			return error;
		uint64_t lead = parts.tick > now_tick ? parts.tick - now_tick : 0;

		leads[lead < LEADS ? lead : LEADS - 1]++;
	}
	return FIRN_OK;
}

static void
sum_up(const uint64_t leads[], uint64_t refused, const struct firn_layout *layout, struct outcome *outcome)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < LEADS; i++) {
		outcome->ids += leads[i];
		if (leads[i] != 0)
			outcome->most_ms = (double)i * layout->tick_ms;
	}
	outcome->ids += refused;
	if (outcome->ids == 0)
		return;
	outcome->stalled = 1 - (double)leads[0] / (double)outcome->ids;
	outcome->refused = (double)refused / (double)outcome->ids;
	for (unsigned i = 0; i < LEADS; i++) {
		seen += leads[i];
		if ((double)seen >= 0.99 * (double)outcome->ids) {
			outcome->p99_ms = (double)i * layout->tick_ms;
			return;
		}
	}
	outcome->p99_ms = outcome->most_ms;
}

int
measure_run(const struct firn_layout *layout, const struct arrivals *arrivals, double seconds, uint32_t lead_ms,
            struct outcome *outcome, double *late)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	uint64_t *leads = calloc(LEADS, sizeof(*leads));
	struct firn_gen *gen = NULL;
	uint64_t refused = 0;
	size_t behind = 0;
	size_t played = 0;

	memset(outcome, 0, sizeof(*outcome));
	if (leads == NULL)
		return FIRN_E_NO_MEMORY;
	config.layout = layout;
	config.lead_ms_max = lead_ms;
	int error = firn_gen_open(&config, &gen);
	/* From the beginning of a tick, so that ticks and arrivals lie as they did in the simulation. */
	int64_t start_ms = wall_ms() + 20;

	start_ms += (int64_t)(layout->tick_ms - ((uint64_t)(start_ms - layout->epoch_ms)) % layout->tick_ms);
	while (error == FIRN_OK && played < arrivals->ms && (double)played < seconds * 1000) {
		int64_t due_ms = start_ms + (int64_t)played;

		behind += await(due_ms) > due_ms + 1;
		error = play(gen, layout, arrivals->count[played], leads, &refused);
		played++;
	}
	if (error == FIRN_OK)
		sum_up(leads, refused, layout, outcome);
	*late = played == 0 ? 0 : (double)behind / (double)played;
	(void)firn_gen_close(gen);
	free(leads);
	return error;
}
