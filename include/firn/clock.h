/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: where readings come from, how a wild one is kept out, and what the kernel says of its clock. */
#ifndef FIRN_CLOCK_H
#define FIRN_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <firn/detail/attributes.h>

enum firn_clock_kind {
	FIRN_CLOCK_REALTIME = 0, /* CLOCK_REALTIME through the vDSO, guarded; the default */
	FIRN_CLOCK_COARSE = 1,   /* CLOCK_REALTIME_COARSE: cheaper, as old as a kernel tick; guarded */
	FIRN_CLOCK_MONOTONIC = 2,/* anchored to the wall clock, runs with the boot-time clock, slewed
	                            back towards the wall clock: never steps back, never drifts away */
	FIRN_CLOCK_MANUAL = 3,   /* says what firn_clock_set said last; for tests and simulation */
	FIRN_CLOCK_CUSTOM = 4,   /* the caller's own function, unguarded unless asked for */
	FIRN_CLOCK_TSC = 5,      /* the processor's counter (x86-64: the time-stamp counter; aarch64: the
	                            generic timer's virtual one), held to the guarded wall clock every
	                            FIRN_CLOCK_TSC_SPAN_MS: at most 2 ms from it, except within one
	                            span after the wall clock was stepped or the machine slept */
	FIRN_CLOCK_TICKER = 6    /* a reading that one thread of the process renews every ticker_us: one
	                            load, as old as that plus the thread's delay; guarded */
};
#define FIRN_CLOCK_TSC_SPAN_MS 100

/*
 * A clock handle. Any number of threads may read one at once, from signal handlers too
 * (but for a ticker's first reading in a child of fork, which starts a thread).
 * Readings make IDs fresh, never unique: no clock fault can repeat an ID.
 */
struct firn_clock;

/* Where a clock's raw readings come from; tests and CUSTOM replace them. NULL members mean the kernel's. */
struct firn_clock_source {
	/* Unix milliseconds into *unix_ms; 0, or nonzero if the reading failed. Must not block. */
	int (*wall_ms)(void *context, int64_t *unix_ms);
	/* Nanoseconds that only rise and run through suspend (CLOCK_BOOTTIME). Negative: failed. */
	int64_t (*elapsed_ns)(void *context);
	/* Sleep about that long on the clock of elapsed_ns; may return early. */
	void (*sleep_ns)(void *context, int64_t ns);
	void *context;
};

struct firn_clock_config {
	enum firn_clock_kind kind;
	/*
	 * The guard of REALTIME and COARSE (of CUSTOM if guard_custom is set). A reading more
	 * than jump_ms_max above the last good one is read again and held against the
	 * boot-time clock; a spike is dropped and counted. A step that both readings show and
	 * the boot-time clock denies is held back (readings go on at the old time plus elapsed
	 * time) until it has lasted hold_ms, then taken as the new time and counted.
	 */
	uint32_t jump_ms_max; /* default 1000 */
	int64_t hold_ms;      /* default 10000; 0 takes a confirmed step at once; negative: only by firn_clock_accept */
	/* MONOTONIC: by how much per elapsed time it is slewed towards the wall clock. */
	uint32_t slew_ppm;    /* default 500, at most 100000 */
	/* TICKER: how often it is renewed. The process's shortest period serves all its tickers. */
	uint32_t ticker_us;   /* default 500, at least 50, at most 1000000 */
	int guard_custom;
	struct firn_clock_source source;
};
#define FIRN_CLOCK_CONFIG_INIT \
	{ FIRN_CLOCK_REALTIME, 1000u, 10000, 500u, 500u, 0, { NULL, NULL, NULL, NULL } }

/* Exact counts since the clock was opened. */
struct firn_clock_stats {
	uint64_t steps_back;     /* steps of the wall clock against the boot-time clock, backwards */
	uint64_t steps_forward;  /* the same, forwards, once accepted */
	uint64_t spikes;         /* single wild readings dropped */
	uint64_t held;           /* readings answered with held time */
	uint64_t failures;       /* readings that failed or were garbage */
	int64_t last_step_ms;    /* size of the last step, signed; 0 if none */
	int64_t gap_ms;          /* MONOTONIC, TSC: wall minus this clock when last compared */
	uint64_t ticks_late;     /* TICKER: periods that passed without a renewal */
};

/* What the kernel says of its clock (adjtimex). */
struct firn_clock_health {
	int synchronised;           /* STA_UNSYNC is clear and adjtimex is not TIME_ERROR */
	int leap_pending;           /* +1 insert, -1 delete, 0 none */
	int64_t error_max_us;       /* maximum error; about 16,000,000 where no daemon runs */
	int64_t error_estimated_us;
	int64_t offset_us;          /* what the kernel is still slewing */
	double frequency_ppm;
	int32_t tai_offset_s;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Open a clock. config NULL means FIRN_CLOCK_CONFIG_INIT. Returns 0, FIRN_E_INVALID,
 * FIRN_E_CLOCK if the first reading fails, FIRN_E_NO_MEMORY, or for TSC FIRN_E_UNSUPPORTED
 * where the counter does not run at one rate or the kernel itself does not keep time by it.
 * TSC takes some 4 ms to measure the counter's rate. Close it after every generator that
 * uses it; the last TICKER's closing ends the thread. In a child of fork a ticker starts a
 * thread again when it is first read by who may use it.
 */
FIRN_API FIRN_MUST_USE int firn_clock_open(const struct firn_clock_config *config,
                                           struct firn_clock **clock);
FIRN_API void firn_clock_close(struct firn_clock *clock); /* NULL is allowed */

/* The process's own guarded realtime clock, never closed: what a generator takes if it is given none. */
FIRN_API struct firn_clock *firn_clock_default(void);

/* One reading, in Unix milliseconds. 0 or FIRN_E_CLOCK; never blocks. */
FIRN_API FIRN_MUST_USE int firn_clock_read(struct firn_clock *clock, int64_t *unix_ms);

/* Nanoseconds on a clock that only rises and runs through suspend. Negative if it cannot be read. */
FIRN_API int64_t firn_clock_elapsed_ns(struct firn_clock *clock);

/* Sleep about that long on the same clock; blocks; may return early (a signal). */
FIRN_API void firn_clock_sleep_ns(struct firn_clock *clock, int64_t ns);

/* MANUAL only: what readings say from now on. FIRN_E_INVALID for another kind. */
FIRN_API FIRN_MUST_USE int firn_clock_set(struct firn_clock *clock, int64_t unix_ms);

/* Take the wall clock as it is now for true, ending a hold at once: an operator's second opinion. */
FIRN_API FIRN_MUST_USE int firn_clock_accept(struct firn_clock *clock);

FIRN_API void firn_clock_stats(struct firn_clock *clock, struct firn_clock_stats *stats);
FIRN_API enum firn_clock_kind firn_clock_kind(const struct firn_clock *clock);
FIRN_API const char *firn_clock_kind_name(enum firn_clock_kind kind); /* "realtime", ...; NULL if none */

/* Ask the kernel. One system call. 0 or FIRN_E_SYSTEM. */
FIRN_API FIRN_MUST_USE int firn_clock_health(struct firn_clock_health *health);

/*
 * Refuse a start on a clock that may be wrong: FIRN_E_UNSYNCHRONISED unless the kernel's
 * maximum error is at most error_max_ms. Judged by the error, not by the flag, which a
 * healthy host may leave set. Off unless called: many virtual machines with a good clock
 * never tell their kernel so. 10 ms is a sensible bound.
 */
FIRN_API FIRN_MUST_USE int firn_clock_require(uint32_t error_max_ms);

#ifdef __cplusplus
}
#endif

#endif
