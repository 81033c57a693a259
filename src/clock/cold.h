/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A clock behind its fast path: sources, guard, slewing, counters. */
#ifndef FIRNI_CLOCK_COLD_H
#define FIRNI_CLOCK_COLD_H

#include <stdint.h>
#include <sys/timex.h>

#include <firn/clock.h>
#include <firn/detail/clock.h>

/*
 * Words shared by readers, all relaxed: no two of them need to agree. The one that matters
 * to the guard is a difference of two clocks, so that an anchor is one word, not a pair.
 */
struct firni_clock_cold {
	struct firn_clock_config config; /* written once; sources filled in */
	struct firni_atomic64 offset_ms; /* wall minus elapsed when they were last found to agree */
	struct firni_atomic64 anchored;  /* 1 once offset_ms is known: elapsed time could be read */
	struct firni_atomic64 step_ms;   /* the size of the step that is being held; 0: none */
	struct firni_atomic64 held_at_ms;/* elapsed time at which it was first seen */
	struct firni_atomic64 slewed;    /* MONOTONIC: see monotonic.c */
	struct firni_atomic64 steps_back;
	struct firni_atomic64 steps_forward;
	struct firni_atomic64 spikes;
	struct firni_atomic64 held;
	struct firni_atomic64 failures;
	struct firni_atomic64 last_step_ms;
	struct firni_atomic64 gap_ms;
	struct firni_atomic64 ticks_late;
	struct firn_clock *next_ticker;  /* TICKER: the process's list; under its lock */
};

/* One raw wall reading, checked for garbage. 0, or FIRN_E_CLOCK and counted. */
int firni_clock_wall(struct firni_clock_cold *cold, int64_t *unix_ms);

/* Elapsed milliseconds; negative if they cannot be read. */
int64_t firni_clock_elapsed_ms(struct firni_clock_cold *cold);

/*
 * Sleep for least_ns or, where the kernel does the sleeping, for a span between the two that
 * differs from caller to caller. A caller's own sleep is asked for least_ns exactly.
 */
void firni_clock_rest(struct firn_clock *clock, int64_t least_ns, int64_t most_ns);

/* A reading through the guard. */
int firni_clock_guard(struct firn_clock *clock, int64_t *unix_ms);

/* A reading of the slewed clock. */
int firni_clock_monotonic(struct firn_clock *clock, int64_t *unix_ms);

/* Measure the counter's rate and set the clock by it. 0 or FIRN_E_UNSUPPORTED. */
int firni_clock_tsc_start(struct firn_clock *clock, int64_t wall_ms);

/* A reading that renews the offset. */
int firni_clock_tsc(struct firn_clock *clock, int64_t *unix_ms);

/* Have the process's ticker thread renew this clock. 0 or FIRN_E_SYSTEM. */
int firni_clock_ticker_start(struct firn_clock *clock, int64_t wall_ms);
void firni_clock_ticker_stop(struct firn_clock *clock);

/* A reading where nothing is cached: in a child, whose thread is started on the way. */
int firni_clock_ticker(struct firn_clock *clock, int64_t *unix_ms);

/* Count a step of the wall clock, signed. */
void firni_clock_count_step(struct firni_clock_cold *cold, int64_t step_ms);

/* What the kernel's answer means. Pure. */
void firni_clock_health_from(const struct timex *answer, int state, struct firn_clock_health *health);

/* The judgement of firn_clock_require on it. Pure. */
int firni_clock_health_judge(const struct firn_clock_health *health, uint32_t error_max_ms);

#endif
