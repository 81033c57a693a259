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

/* What cached_ms says where there is nothing cached: the clock must be read. */
#define FIRNI_CLOCK_UNCACHED ((uint64_t)INT64_MIN)

struct firn_clock {
	/* The head: read on every reading, written a few times a second (by a ticker: at every tick). */
	struct firni_atomic64 cached_ms; /* MANUAL, TICKER: what readings say, as int64_t */
	struct firni_atomic64 good_ms;   /* last good reading (all but MANUAL), as int64_t */
	int32_t kind;               /* enum firn_clock_kind; written once */
	int32_t clock_id;           /* of clock_gettime, for REALTIME and COARSE with the kernel's source */
	uint32_t direct;            /* 1: the fast path may call clock_gettime itself */
	uint32_t reserved;
	/* TSC, see src/clock/tsc.c: a reading is (counter - base) * rate + offset, in 1/1024 ms. */
	uint64_t tsc_base;
	uint64_t tsc_rate;               /* times 2^-64 */
	uint64_t tsc_span;               /* in counts: older than this the offset must be renewed */
	struct firni_atomic64 tsc_offset;
	struct firni_atomic64 tsc_renewed; /* the counter when it was */
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

/* The processor's counter, without a fence: a reading may be early by what the processor reorders. */
FIRNI_INLINE uint64_t
firni_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t counter;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
	return counter;
#else
	return 0;
#endif
}

/* The wall clock's time at a counter, in 1/1024 ms, as int64_t. */
FIRNI_INLINE uint64_t
firni_clock_at_counter(const struct firn_clock *clock, uint64_t counter)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)(counter - clock->tsc_base) * clock->tsc_rate >> 64) +
	       firni_atomic64_load(&clock->tsc_offset);
}

/* A reading without a call: 1, or 0 if this clock must be read in full. */
FIRNI_INLINE int
firni_clock_at_hand(const struct firn_clock *clock, int64_t *unix_ms)
{
	uint64_t cached = firni_atomic64_load(&clock->cached_ms);

	if (FIRNI_LIKELY(cached != FIRNI_CLOCK_UNCACHED)) {
		*unix_ms = (int64_t)cached;
		return 1;
	}
	if (clock->kind == FIRN_CLOCK_TSC) {
		uint64_t counter = firni_counter();

		if (FIRNI_LIKELY(counter - firni_atomic64_load(&clock->tsc_renewed) < clock->tsc_span)) {
			*unix_ms = (int64_t)firni_clock_at_counter(clock, counter) >> 10;
			return 1;
		}
	}
	return 0;
}

/*
 * One reading. Any thread, any signal handler. The good reading is a hint that is read and
 * written relaxed: an old one sends a caller to the cold path too often, never lets a wild
 * reading by that the newer one would have stopped by more than FIRNI_CLOCK_FRESH_MS.
 */
FIRNI_INLINE int
firni_clock_read(struct firn_clock *clock, int64_t *unix_ms)
{
	if (firni_clock_at_hand(clock, unix_ms))
		return 0;
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
	return firni_clock_read_cold(clock, unix_ms);
}

#endif
