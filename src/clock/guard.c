/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: holds a reading that looks wrong against a second one and against elapsed time. */
#include "clock/cold.h"

#include <firn/error.h>

/* Wall and elapsed time are read one after the other, in whole ms, by a thread that may be preempted between. */
#define STEP_MIN_MS 20

static int64_t
get(const struct firni_atomic64 *word)
{
	return (int64_t)firni_atomic64_load(word);
}

static void
put(struct firni_atomic64 *word, int64_t value)
{
	firni_atomic64_store(word, (uint64_t)value);
}

void
firni_clock_count_step(struct firni_clock_cold *cold, int64_t step_ms)
{
	firni_atomic64_fetch_add(step_ms < 0 ? &cold->steps_back : &cold->steps_forward, 1);
	put(&cold->last_step_ms, step_ms);
}

/*
 * Take a reading as good. Of several threads that move the good reading from the same value
 * one wins, and only the winner counts the step, so that a step is counted once. The good
 * reading may go down: after a step back the fast path must accept the new time.
 */
static void
accept(struct firn_clock *clock, int64_t wall_ms, int64_t elapsed_ms, int64_t seen_good_ms, int64_t step_ms)
{
	struct firni_clock_cold *cold = clock->cold;
	uint64_t expected = (uint64_t)seen_good_ms;

	while (expected == (uint64_t)seen_good_ms) {
		if (!firni_atomic64_cas_weak(&clock->good_ms, &expected, (uint64_t)wall_ms))
			continue;
		if (elapsed_ms >= 0) {
			put(&cold->offset_ms, wall_ms - elapsed_ms);
			put(&cold->anchored, 1);
		}
		put(&cold->step_ms, 0);
		if (step_ms > STEP_MIN_MS || step_ms < -STEP_MIN_MS)
			firni_clock_count_step(cold, step_ms);
		return;
	}
}

/*
 * A step forward that the elapsed time denies: has it stayed the same step for hold_ms? The
 * two words of a hold are written by whichever thread sees the step first; a torn pair only
 * lengthens or shortens one hold, which no ID's uniqueness hangs on.
 */
static int
hold_is_over(struct firni_clock_cold *cold, int64_t step_ms, int64_t elapsed_ms)
{
	int64_t hold_ms = cold->config.hold_ms;
	int64_t held_step = get(&cold->step_ms);
	int64_t change = step_ms - held_step;
	int64_t same = (int64_t)cold->config.jump_ms_max;

	if (hold_ms == 0)
		return 1;
	if (held_step == 0 || change > same || change < -same) {
		put(&cold->held_at_ms, elapsed_ms);
		put(&cold->step_ms, step_ms);
		return 0;
	}
	return hold_ms > 0 && elapsed_ms - get(&cold->held_at_ms) >= hold_ms;
}

int
firni_clock_guard(struct firn_clock *clock, int64_t *unix_ms)
{
	struct firni_clock_cold *cold = clock->cold;
	int64_t good = get(&clock->good_ms);
	int64_t jump = (int64_t)cold->config.jump_ms_max;
	int64_t first;
	int64_t wall;

	if (firni_clock_wall(cold, &first) != FIRN_OK)
		return FIRN_E_CLOCK;
	if ((uint64_t)first - (uint64_t)good < FIRNI_CLOCK_FRESH_MS) {
		*unix_ms = first;
		return FIRN_OK;
	}
	if (firni_clock_wall(cold, &wall) != FIRN_OK)
		return FIRN_E_CLOCK;
	if (first - wall > jump || wall - first > jump)
		firni_atomic64_fetch_add(&cold->spikes, 1);
	good = get(&clock->good_ms);

	int64_t elapsed = firni_clock_elapsed_ms(cold);

	/* Without elapsed time two readings that agree are all the evidence there is. */
	if (elapsed < 0 || get(&cold->anchored) == 0) {
		if (first - wall > jump || wall - first > jump) {
			/* Two that disagree: the lower one cannot push the word ahead. */
			*unix_ms = first < wall ? first : wall;
			return FIRN_OK;
		}
		accept(clock, wall, elapsed, good, 0);
		*unix_ms = wall;
		return FIRN_OK;
	}

	int64_t expected = elapsed + get(&cold->offset_ms);
	int64_t step = wall - expected;
	/* Slewing moves the wall against elapsed time, by far less than 1 % of it. */
	int64_t since = expected > good ? expected - good : 0;

	if (step <= jump + since / 100) {
		/* Within what slewing explains it is no step, however long the process was idle. */
		int64_t slewed = since / 100 > STEP_MIN_MS ? since / 100 : STEP_MIN_MS;

		accept(clock, wall, elapsed, good, step > slewed || step < -slewed ? step : 0);
		*unix_ms = wall;
		return FIRN_OK;
	}
	if (hold_is_over(cold, step, elapsed)) {
		accept(clock, wall, elapsed, good, step);
		*unix_ms = wall;
		return FIRN_OK;
	}
	firni_atomic64_fetch_add(&cold->held, 1);
	*unix_ms = expected;
	return FIRN_OK;
}

int
firn_clock_accept(struct firn_clock *clock)
{
	int64_t wall;

	if (clock == NULL || clock->kind == FIRN_CLOCK_MANUAL)
		return FIRN_E_INVALID;
	struct firni_clock_cold *cold = clock->cold;

	if (firni_clock_wall(cold, &wall) != FIRN_OK)
		return FIRN_E_CLOCK;
	int64_t elapsed = firni_clock_elapsed_ms(cold);
	int64_t step = elapsed < 0 ? 0 : wall - elapsed - get(&cold->offset_ms);

	accept(clock, wall, elapsed, get(&clock->good_ms), step);
	if (clock->kind == FIRN_CLOCK_MONOTONIC)
		put(&cold->slewed, 0);
	if (clock->kind == FIRN_CLOCK_TSC) /* due at once */
		firni_atomic64_store(&clock->tsc_renewed, firni_counter() - clock->tsc_span);
	return FIRN_OK;
}
