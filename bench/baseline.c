/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The baselines. Locks are Concurrency Kit's where it was found; the clock is read before the lock is taken. */
#include "baseline.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/time.h>

#include <firn/detail/clock.h>
#include <firn/error.h>

#ifdef BENCH_CK
#include <ck_backoff.h>
#include <ck_pr.h>
#include <ck_spinlock.h>
#endif

#define SEQ_BITS 22
#define LINE __attribute__((aligned(128)))

/* The word of every baseline under a lock, on a line that it shares with its lock, as a careful author would lay it out. */
static uint64_t
advance(uint64_t *word, int64_t now_ms)
{
	uint64_t now = (uint64_t)now_ms << SEQ_BITS;

	*word = *word > now ? *word : now;
	return (*word)++;
}

/* 0 for a failed reading: then the word counts on. */
static int64_t
reading(struct firn_clock *clock)
{
	int64_t now_ms = 0;

	return firni_clock_read(clock, &now_ms) == FIRN_OK ? now_ms : 0;
}

static uint64_t
mutex_next(struct firn_clock *clock)
{
	static struct {
		pthread_mutex_t lock;
		uint64_t word;
	} LINE all = {PTHREAD_MUTEX_INITIALIZER, 0};
	int64_t now_ms = reading(clock);

	(void)pthread_mutex_lock(&all.lock);
	uint64_t word = advance(&all.word, now_ms);

	(void)pthread_mutex_unlock(&all.lock);
	return word;
}

/* No lock, but a system clock through libc and division, as the generators of many projects have it. */
static uint64_t
gettimeofday_cas_next(struct firn_clock *clock)
{
	static uint64_t word LINE;
	struct timeval now;
	uint64_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
	uint64_t first;

	(void)clock;
	(void)gettimeofday(&now, NULL);
	uint64_t now_word = ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000) << SEQ_BITS;

	do
		first = seen > now_word ? seen : now_word;
	while (!__atomic_compare_exchange_n(&word, &seen, first + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return first;
}

/* No clock at all: what an ID without time costs. */
static uint64_t
fetch_add_next(struct firn_clock *clock)
{
	static uint64_t word LINE;

	(void)clock;
	return __atomic_fetch_add(&word, 1, __ATOMIC_RELAXED);
}

/* The rule by compare-and-swap, no bounds: what firn's CAS lane is without its promises. */
static uint64_t
cas_next(struct firn_clock *clock)
{
	static uint64_t word LINE;
	uint64_t now_word = (uint64_t)reading(clock) << SEQ_BITS;
	uint64_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
	uint64_t first;

	do
		first = seen > now_word ? seen : now_word;
	while (!__atomic_compare_exchange_n(&word, &seen, first + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return first;
}

#ifdef BENCH_CK
/* The same, with exponential back-off after a lost swap; ceilings of 2^9 (Concurrency Kit's start) and of 2^4 turns. */
#define BACKOFF_NEXT(name, begin) \
	static uint64_t name(struct firn_clock *clock) \
	{ \
		static uint64_t word LINE; \
		uint64_t now_word = (uint64_t)reading(clock) << SEQ_BITS; \
		uint64_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED); \
		unsigned backoff = (begin); \
		uint64_t first; \
\
		for (;;) { \
			first = seen > now_word ? seen : now_word; \
			if (__atomic_compare_exchange_n(&word, &seen, first + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) \
				return first; \
			ck_backoff_eb(&backoff); \
			seen = __atomic_load_n(&word, __ATOMIC_RELAXED); \
		} \
	}
BACKOFF_NEXT(cas_backoff_next, CK_BACKOFF_INITIALIZER)
BACKOFF_NEXT(cas_short_backoff_next, 1u << 4)

#define SPINLOCK_NEXT(kind, initializer) \
	static uint64_t spin_##kind##_next(struct firn_clock *clock) \
	{ \
		static struct { \
			ck_spinlock_##kind##_t lock; \
			uint64_t word; \
		} LINE all = {initializer, 0}; \
		int64_t now_ms = reading(clock); \
\
		ck_spinlock_##kind##_lock(&all.lock); \
		uint64_t word = advance(&all.word, now_ms); \
\
		ck_spinlock_##kind##_unlock(&all.lock); \
		return word; \
	}
SPINLOCK_NEXT(cas, CK_SPINLOCK_CAS_INITIALIZER)
SPINLOCK_NEXT(dec, CK_SPINLOCK_DEC_INITIALIZER)
SPINLOCK_NEXT(fas, CK_SPINLOCK_FAS_INITIALIZER)
SPINLOCK_NEXT(ticket, CK_SPINLOCK_TICKET_INITIALIZER)

static uint64_t
mcs_next(struct firn_clock *clock)
{
	static struct {
		ck_spinlock_mcs_t lock;
		uint64_t word;
	} LINE all = {CK_SPINLOCK_MCS_INITIALIZER, 0};
	struct ck_spinlock_mcs node;
	int64_t now_ms = reading(clock);

	ck_spinlock_mcs_lock(&all.lock, &node);
	uint64_t word = advance(&all.word, now_ms);

	ck_spinlock_mcs_unlock(&all.lock, &node);
	return word;
}
#endif

const struct baseline baselines[] = {
	{"fetch_add_without_clock", fetch_add_next, 0, 0},
	{"gettimeofday_cas", gettimeofday_cas_next, 0, 0},
	{"cas_rule", cas_next, 1, 0},
	{"mutex", mutex_next, 1, 0},
#ifdef BENCH_CK
	{"cas_rule_backoff_512", cas_backoff_next, 1, 0},
	{"cas_rule_backoff_16", cas_short_backoff_next, 1, 0},
	{"ck_spinlock_cas", spin_cas_next, 1, 0},
	{"ck_spinlock_dec", spin_dec_next, 1, 0},
	{"ck_spinlock_fas", spin_fas_next, 1, 0},
	{"ck_spinlock_ticket", spin_ticket_next, 1, 1},
	{"ck_spinlock_mcs", mcs_next, 1, 1},
#endif
};
const unsigned baseline_count = sizeof(baselines) / sizeof(baselines[0]);
