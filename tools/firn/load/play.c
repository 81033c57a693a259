/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals played in real time to a real generator, its shards or its blocks. */
#include "load.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is asked for IDs: shards, or blocks in turn, or the generator itself. */
struct subject {
	struct firn_gen *gen;
	struct firn_shards *shards;
	struct firn_block *blocks;
	size_t block_count;
	size_t turn;
};

/* One run: with a lead that may refuse, or with callers that wait. */
struct play {
	const struct play_wish *wish;
	struct subject subject;
	int waits;
	uint64_t *delays;      /* waits: IDs by ticks from the one they were due in */
	uint64_t asked;
	uint64_t refused;
	uint64_t lead_most;    /* ticks */
	uint64_t first_tick;
	uint64_t last_tick;    /* of the IDs so far */
	/*
	 * Where the clock would stand if nobody had waited: what the calls themselves take is the
	 * machine's doing, and only what an ID is later than this was added by the layout.
	 */
	int64_t idle_ns;
	int64_t call_ns;       /* when the last call ended */
	struct timeline *timeline;
};

static int64_t
wall_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t
wall_ms(void)
{
	return wall_ns() / 1000000;
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

static int
subject_open(const struct play_wish *wish, int waits, struct subject *subject)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

	config.layout = wish->layout;
	config.lead_ms_max = waits ? 0 : wish->lead_ms;
	if (wish->shards > 1)
		return firn_shards_open(&config, wish->shards, &subject->shards);
	int error = firn_gen_open(&config, &subject->gen);

	if (error != FIRN_OK || wish->blocks == 0)
		return error;
	subject->blocks = calloc(wish->threads, sizeof(*subject->blocks));
	if (subject->blocks == NULL)
		return FIRN_E_NO_MEMORY;
	for (; error == FIRN_OK && subject->block_count < wish->threads; subject->block_count++)
		error = firn_block_init(&subject->blocks[subject->block_count], subject->gen, wish->blocks);
	return error;
}

static void
subject_close(struct subject *subject)
{
	for (size_t i = 0; i < subject->block_count; i++)
		firn_block_drop(&subject->blocks[i]);
	free(subject->blocks);
	firn_shards_close(subject->shards);
	(void)firn_gen_close(subject->gen);
}

static int
subject_next(struct subject *subject, uint64_t *id)
{
	if (subject->shards != NULL)
		return firn_shards_next(subject->shards, id);
	if (subject->block_count == 0)
		return firn_gen_next(subject->gen, id);
	subject->turn = (subject->turn + 1) % subject->block_count;
	return firn_block_next(&subject->blocks[subject->turn], id);
}

static uint64_t
ahead(uint64_t tick, uint64_t of)
{
	return tick > of ? tick - of : 0;
}

/* The next ID, waited for if that is the policy: shards and blocks have no call that waits. Keeps idle_ns. */
static int
next(struct play *play, uint64_t *id)
{
	int64_t waited_ns = 0;
	int error;

	while ((error = subject_next(&play->subject, id)) == FIRN_E_EXHAUSTED && play->waits) {
		struct timespec pause = {0, 50000};
		int64_t from_ns = wall_ns();

		(void)nanosleep(&pause, NULL);
		waited_ns += wall_ns() - from_ns;
	}
	int64_t now_ns = wall_ns();

	play->idle_ns += now_ns - play->call_ns - waited_ns;
	play->call_ns = now_ns;
	return error;
}

/* One ID. FIRN_OK or an error; a refusal is counted and no error. */
static int
play_one(struct play *play)
{
	const struct firn_layout *layout = play->wish->layout;
	struct firn_parts parts;
	uint64_t now_tick = 0;
	uint64_t idle_tick = 0;
	uint64_t id;
	int error = next(play, &id);

	play->asked++;
	if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK) {
		play->refused++;
		return FIRN_OK;
	}
	/* Clocks are read after the call: a tick that began within it is not taken for a lead. */
	if (error == FIRN_OK)
		error = firn_layout_split(layout, id, &parts);
	if (error == FIRN_OK)
		error = firn_layout_tick(layout, play->call_ns / 1000000, &now_tick);
	if (error == FIRN_OK)
		error = firn_layout_tick(layout, play->idle_ns / 1000000, &idle_tick);
	if (error != FIRN_OK)
		return error;
	uint64_t delay = ahead(parts.tick, idle_tick);
	uint64_t lead = ahead(parts.tick, now_tick);

	play->delays[delay < DELAYS ? delay : DELAYS - 1]++;
	play->lead_most = lead > play->lead_most ? lead : play->lead_most;
	play->last_tick = parts.tick > play->last_tick ? parts.tick : play->last_tick;
	if (parts.tick >= play->first_tick)
		timeline_add(play->timeline, parts.tick - play->first_tick, 1);
	return FIRN_OK;
}

/* A shard belongs to a processor: one thread's share is measured by staying on one. */
static void
stay(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(*before), before) == 0 && cpu >= 0) {
		CPU_SET((unsigned)cpu, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
	}
}

/* Wait for a millisecond. 1 if it began more than one too late. */
static size_t
begin_ms(struct play *play, int64_t due_ms)
{
	int is_behind = wall_ms() >= due_ms;
	int64_t began_ms = await(due_ms);

	play->call_ns = wall_ns();
	/* Late by what was waited for: not idle later than it was due. Else by the machine. */
	if (!is_behind)
		play->idle_ns = play->call_ns;
	else if (play->idle_ns < due_ms * 1000000)
		play->idle_ns = due_ms * 1000000;
	return began_ms > due_ms + 1;
}

static int
play_all(struct play *play, const struct arrivals *arrivals, double *late)
{
	const struct firn_layout *layout = play->wish->layout;
	double played_ms = play->wish->seconds * 1000;
	/* From the beginning of a tick, so that ticks and arrivals lie as they did in the simulation. */
	int64_t start_ms = wall_ms() + 20;
	size_t behind = 0;
	size_t ms = 0;

	start_ms += (int64_t)(layout->tick_ms - ((uint64_t)(start_ms - layout->epoch_ms)) % layout->tick_ms);
	int error = firn_layout_tick(layout, start_ms, &play->first_tick);

	play->last_tick = play->first_tick;
	/* Callers that wait for what a layout cannot give are not waited for beyond twice the time. */
	for (; error == FIRN_OK && ms < arrivals->ms && (double)ms < played_ms &&
	       (double)(wall_ms() - start_ms) < 2 * played_ms;
	     ms++) {
		behind += begin_ms(play, start_ms + (int64_t)ms);
		for (uint32_t i = 0; i < arrivals->count[ms] && error == FIRN_OK; i++)
			error = play_one(play);
		uint64_t now_tick = play->last_tick;

		if (error == FIRN_OK)
			error = firn_layout_tick(layout, wall_ms(), &now_tick);
		timeline_lead(play->timeline, ms, (double)ahead(play->last_tick, now_tick) * layout->tick_ms);
	}
	*late = ms == 0 ? 0 : (double)behind / (double)ms;
	return error;
}

static int
play_policy(struct play *play, const struct arrivals *arrivals, double *late)
{
	cpu_set_t before;

	play->delays = calloc(DELAYS, sizeof(*play->delays));
	if (play->delays == NULL)
		return FIRN_E_NO_MEMORY;
	stay(&before);
	int error = subject_open(play->wish, play->waits, &play->subject);

	if (error == FIRN_OK)
		error = play_all(play, arrivals, late);
	subject_close(&play->subject);
	(void)sched_setaffinity(0, sizeof(before), &before);
	return error;
}

int
play_run(const struct play_wish *wish, const struct arrivals *arrivals, struct outcome *outcome, double *late,
         struct timeline *timeline)
{
	struct play leading = {.wish = wish, .timeline = timeline};
	struct play waiting = {.wish = wish, .waits = 1};
	double late_waiting;

	memset(outcome, 0, sizeof(*outcome));
	int error = play_policy(&leading, arrivals, late);

	if (error == FIRN_OK && !wish->leading_only)
		error = play_policy(&waiting, arrivals, &late_waiting);
	if (error == FIRN_OK && !wish->leading_only)
		outcome_delays(outcome, waiting.delays, wish->layout->tick_ms);
	outcome->ids = leading.asked;
	outcome->lead_most_ms = (double)leading.lead_most * wish->layout->tick_ms;
	outcome->refused = leading.asked == 0 ? 0 : (double)leading.refused / (double)leading.asked;
	free(leading.delays);
	free(waiting.delays);
	return error;
}
