/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The slewed clock: runs with elapsed time, is pulled towards the wall clock, never steps back. */
#include "clock/cold.h"

#include <firn/detail/word.h>
#include <firn/error.h>

/*
 * The clock is  elapsed + offset.  offset_ms moves towards wall - elapsed:
 *
 *   - by at most slew_ppm of the elapsed time while the gap is within jump_ms_max, so that
 *     readings neither step nor drift away;
 *   - at once, if the wall is ahead by more than that and a second reading says so too
 *     (elapsed time stood still while the world did not);
 *   - and if the wall is behind by more than that, offset falls freely but readings do not:
 *     they stand at the highest one given (good_ms) until the wall has caught up.
 *
 * One thread in FIRNI_CLOCK_FRESH_MS adjusts, whoever wins the swap on `slewed`, the elapsed
 * time of the last adjustment; all others only add two words. Invariant: readings of one
 * thread never fall, since each is the maximum with good_ms, which only rises.
 */
static int64_t
get(const struct firni_atomic64 *word)
{
	return (int64_t)firni_atomic64_load(word);
}

static void
adjust(struct firn_clock *clock, int64_t elapsed, int64_t last)
{
	struct firni_clock_cold *cold = clock->cold;
	int64_t jump = (int64_t)cold->config.jump_ms_max;
	int64_t first;
	int64_t wall;

	if (firni_clock_wall(cold, &first) != FIRN_OK || firni_clock_wall(cold, &wall) != FIRN_OK)
		return; /* go on with elapsed time; the failure is counted */
	int64_t offset = get(&cold->offset_ms);
	int64_t gap = wall - (elapsed + offset);

	firni_atomic64_store(&cold->gap_ms, (uint64_t)gap);
	if (first - wall > jump || wall - first > jump) {
		firni_atomic64_fetch_add(&cold->spikes, 1);
		return;
	}
	if (gap > jump || gap < -jump) {
		firni_clock_count_step(cold, gap);
		firni_atomic64_store(&cold->offset_ms, (uint64_t)(offset + gap));
		return;
	}
	int64_t most = (elapsed - last) * (int64_t)cold->config.slew_ppm / 1000000;

	if (gap > most)
		gap = most;
	else if (gap < -most)
		gap = -most;
	firni_atomic64_store(&cold->offset_ms, (uint64_t)(offset + gap));
}

int
firni_clock_monotonic(struct firn_clock *clock, int64_t *unix_ms)
{
	struct firni_clock_cold *cold = clock->cold;
	int64_t elapsed = firni_clock_elapsed_ms(cold);

	if (elapsed < 0) {
		firni_atomic64_fetch_add(&cold->failures, 1);
		return FIRN_E_CLOCK;
	}
	uint64_t last = firni_atomic64_load(&cold->slewed);
	/* Long enough that slew_ppm of it is a whole millisecond: else nothing would ever be slewed. */
	int64_t ppm = cold->config.slew_ppm != 0 ? (int64_t)cold->config.slew_ppm : 1;
	int64_t span = 1000000 / ppm > FIRNI_CLOCK_FRESH_MS ? 1000000 / ppm : FIRNI_CLOCK_FRESH_MS;
	int64_t wall;
	int due = elapsed - (int64_t)last >= span;

	/* Elapsed time may have stood still through a suspend that only the wall clock shows. */
	if (!due && cold->config.source.wall_ms(cold->config.source.context, &wall) == 0)
		due = wall - (elapsed + get(&cold->offset_ms)) > (int64_t)cold->config.jump_ms_max;
	if (due && firni_atomic64_cas_weak(&cold->slewed, &last, (uint64_t)elapsed))
		adjust(clock, elapsed, (int64_t)last);

	uint64_t now = (uint64_t)(elapsed + get(&cold->offset_ms));
	/* Times after 1970 compare alike as signed and unsigned; this kind reads no earlier ones. */
	uint64_t good = firni_word_lift(&clock->good_ms, now);

	*unix_ms = (int64_t)(good > now ? good : now);
	return FIRN_OK;
}
