/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The clock's fast path: one reading, one comparison with the last good one. For the inline lane. */
#ifndef FIRN_DETAIL_CLOCK_H
#define FIRN_DETAIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <firn/clock.h>
#include <firn/detail/atomic.h>
#include <firn/detail/attributes.h>

/*
 * Within this many milliseconds above the last good reading a reading is taken as it is;
 * outside, the cold path compares clocks and moves the good reading along. So the good
 * reading is written a few times a second, not once per ID.
 */
#define FIRNI_CLOCK_FRESH_MS 250u

struct firn_clock {
	/* The head: read on every reading, written a few times a second. */
	int32_t kind;               /* enum firn_clock_kind; written once */
	int32_t clock_id;           /* of clock_gettime, for REALTIME and COARSE with the kernel's source */
	uint32_t direct;            /* 1: the fast path may call clock_gettime itself */
	uint32_t reserved;
	struct firni_atomic64 good_ms;   /* last good reading (REALTIME, COARSE, CUSTOM), as int64_t */
	struct firni_atomic64 manual_ms; /* MANUAL: what readings say, as int64_t */
	/* Behind the head, at the cold path's pleasure; src/clock/ says what is in it. */
	struct firni_clock_cold *cold;
} FIRNI_ALIGNED(FIRNI_LINE);

#ifdef __cplusplus
extern "C" {
#endif

/* A reading by the book: guard, step detection, slewing, the caller's function. 0 or FIRN_E_CLOCK. */
FIRN_API int firni_clock_read_cold(struct firn_clock *clock, int64_t *unix_ms);

#ifdef __cplusplus
}
#endif

/* A reading that is one load: 1 if this clock has that, else 0 and it must be read in full. */
FIRNI_INLINE int
firni_clock_cached(const struct firn_clock *clock, int64_t *unix_ms)
{
	if (FIRNI_UNLIKELY(clock->kind != FIRN_CLOCK_MANUAL))
		return 0;
	*unix_ms = (int64_t)firni_atomic64_load(&clock->manual_ms);
	return 1;
}

/*
 * One reading. Any thread, any signal handler. The good reading is a hint that is read and
 * written relaxed: an old one sends a caller to the cold path too often, never lets a wild
 * reading by that the newer one would have stopped by more than FIRNI_CLOCK_FRESH_MS.
 */
FIRNI_INLINE int
firni_clock_read(struct firn_clock *clock, int64_t *unix_ms)
{
	/* Strict ISO modes hide clock_gettime: there the library reads it, at the price of a call. */
#ifdef CLOCK_REALTIME
	if (clock->direct) {
		struct timespec now;

		if (FIRNI_LIKELY(clock_gettime(clock->clock_id, &now) == 0 &&
		                 (unsigned long)now.tv_nsec < 1000000000ul)) {
			int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
			uint64_t ahead = (uint64_t)ms - firni_atomic64_load(&clock->good_ms);

			if (FIRNI_LIKELY(ahead < FIRNI_CLOCK_FRESH_MS)) {
				*unix_ms = ms;
				return 0;
			}
		}
	}
#endif
	if (firni_clock_cached(clock, unix_ms))
		return 0;
	return firni_clock_read_cold(clock, unix_ms);
}

#endif
