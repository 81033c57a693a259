/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of firn bench: firn's lanes, the parts they are made of, and what others do. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <firn/inline.h>

/* What DoNotOptimize is elsewhere: the value is taken to be used. */
#define USED(value) __asm__ volatile("" : : "r"(value) : "memory")

static const struct firn_shape shape = FIRN_INLINE_SHAPE(1767225600000, 1, 39, 2, 22);

static int
make_nothing(struct bench_subject *s)
{
	s->word[16] = 0;
	return FIRN_OK;
}

static int
make_clock(struct bench_subject *s)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;

	config.kind = s->clock_kind;
	int error = firn_clock_open(&config, &s->clock);

	if (error == FIRN_OK && s->clock_kind == FIRN_CLOCK_MANUAL)
		error = firn_clock_set(s->clock, now_unix_ms());
	return error;
}

static int
make_gen_of(struct bench_subject *s, enum firn_gen_lane lane)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	int error = make_clock(s);

	config.layout = s->layout;
	config.clock = s->clock;
	config.lead_ms_max = s->lead_ms;
	config.lane = lane;
	return error != FIRN_OK ? error : firn_gen_open(&config, &s->gen);
}

static int
make_gen(struct bench_subject *s)
{
	return make_gen_of(s, FIRN_GEN_ADD);
}

static int
make_cas(struct bench_subject *s)
{
	return make_gen_of(s, FIRN_GEN_CAS);
}

static int
make_shards(struct bench_subject *s)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	int error = make_clock(s);

	config.layout = s->layout;
	config.clock = s->clock;
	config.lead_ms_max = s->lead_ms;
	return error != FIRN_OK ? error : firn_shards_open(&config, 0, &s->shards);
}

static void
drop(struct bench_subject *s)
{
	firn_shards_close(s->shards);
	(void)firn_gen_close(s->gen);
	firn_clock_close(s->clock);
	free(s->lock);
}

static uint64_t
bare_cas(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t seen = __atomic_load_n(&s->word[16], __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(&s->word[16], &seen, seen + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		USED(seen);
	}
	return count;
}

static uint64_t
bare_add(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++)
		USED(__atomic_fetch_add(&s->word[16], 1, __ATOMIC_RELAXED));
	return count;
}

static uint64_t
clock_alone(struct bench_subject *s, void *local, uint64_t count)
{
	int64_t ms;

	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		if (firni_clock_read(s->clock, &ms) != FIRN_OK)
			return 0;
		USED(ms);
	}
	return count;
}

static uint64_t
counter_alone(struct bench_subject *s, void *local, uint64_t count)
{
	(void)s;
	(void)local;
	for (uint64_t i = 0; i < count; i++)
		USED(firni_counter());
	return count;
}

static uint64_t
stable(struct bench_subject *s, void *local, uint64_t count)
{
	uint64_t id = 0;

	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		if (firn_gen_next(s->gen, &id) != FIRN_OK)
			return 0;
		USED(id);
	}
	return count;
}

static uint64_t
inlined(struct bench_subject *s, void *local, uint64_t count)
{
	uint64_t id = 0;

	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		if (firn_inline_next(s->gen, &shape, &id) != FIRN_OK)
			return 0;
		USED(id);
	}
	return count;
}

static uint64_t
batch(struct bench_subject *s, void *local, uint64_t count)
{
	uint64_t ids[100];

	(void)local;
	for (uint64_t i = 0; i < count; i += 100) {
		if (firn_gen_next_n(s->gen, ids, 100) != FIRN_OK)
			return 0;
		USED(ids);
	}
	return (count + 99) / 100 * 100;
}

static uint64_t
sharded(struct bench_subject *s, void *local, uint64_t count)
{
	uint64_t id = 0;

	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		if (firn_shards_next(s->shards, &id) != FIRN_OK)
			return 0;
		USED(id);
	}
	return count;
}

static int
begin_block(struct bench_subject *s, void **local)
{
	struct firn_block *block = malloc(sizeof(*block));

	*local = block;
	return block == NULL ? FIRN_E_NO_MEMORY : firn_block_init(block, s->gen, 0);
}

static void
end_block(struct bench_subject *s, void *local)
{
	(void)s;
	firn_block_drop(local);
	free(local);
}

static uint64_t
blocks(struct bench_subject *s, void *local, uint64_t count)
{
	struct firn_block *block = local;
	uint64_t id = 0;

	(void)s;
	for (uint64_t i = 0; i < count; i++) {
		if (firn_inline_block_next(block, &shape, &id) != FIRN_OK)
			return 0;
		USED(id);
	}
	return count;
}

/* What a generator with a lock does: the clock, then last and sequence under it. Unix ms on 12 bits of sequence. */
static uint64_t
locked_next(uint64_t *last, int64_t now_ms)
{
	uint64_t now = (uint64_t)now_ms << 12;

	*last = *last + 1 > now ? *last + 1 : now;
	return *last;
}

static int
make_mutex(struct bench_subject *s)
{
	s->lock = malloc(sizeof(pthread_mutex_t));
	s->word[16] = 0;
	return s->lock != NULL && pthread_mutex_init(s->lock, NULL) == 0 ? FIRN_OK : FIRN_E_NO_MEMORY;
}

static int64_t
wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t
mutexed(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		(void)pthread_mutex_lock(s->lock);
		USED(locked_next(&s->word[16], wall_ms()));
		(void)pthread_mutex_unlock(s->lock);
	}
	return count;
}

static int
make_spin(struct bench_subject *s)
{
	s->lock = malloc(sizeof(pthread_spinlock_t));
	s->word[16] = 0;
	return s->lock != NULL && pthread_spin_init(s->lock, PTHREAD_PROCESS_PRIVATE) == 0 ? FIRN_OK
	                                                                                   : FIRN_E_NO_MEMORY;
}

static uint64_t
spinning(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		(void)pthread_spin_lock(s->lock);
		USED(locked_next(&s->word[16], wall_ms()));
		(void)pthread_spin_unlock(s->lock);
	}
	return count;
}

/* Two counters in one word: who is served, who came last. */
static uint64_t
ticketed(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t mine = __atomic_fetch_add(&s->word[0], 1, __ATOMIC_RELAXED);

		while (__atomic_load_n(&s->word[1], __ATOMIC_ACQUIRE) != mine)
			__asm__ volatile("" : : : "memory");
		USED(locked_next(&s->word[16], wall_ms()));
		__atomic_store_n(&s->word[1], mine + 1, __ATOMIC_RELEASE);
	}
	return count;
}

static uint64_t
gettimeofday_cas(struct bench_subject *s, void *local, uint64_t count)
{
	(void)local;
	for (uint64_t i = 0; i < count; i++) {
		struct timeval now;
		uint64_t seen = __atomic_load_n(&s->word[16], __ATOMIC_RELAXED);
		uint64_t next;

		(void)gettimeofday(&now, NULL);
		do {
			next = seen;
			(void)locked_next(&next, (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000);
		} while (!__atomic_compare_exchange_n(&s->word[16], &seen, next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
		USED(next);
	}
	return count;
}

const struct bench_case bench_cases[] = {
	{"bare CAS", "load, compare-and-swap", 0, 0, 0, 0, make_nothing, bare_cas, drop, NULL, NULL},
	{"bare fetch-add", "fetch-add", 0, 0, 0, 0, make_nothing, bare_add, drop, NULL, NULL},
	{"counter", "time-stamp counter", 0, 1, 0, 0, make_nothing, counter_alone, drop, NULL, NULL},
	{"clock", "clock reading", 1, 1, 0, 0, make_clock, clock_alone, drop, NULL, NULL},
	{"next", "call, clock, fetch-add", 1, 0, 0, 0, make_gen, stable, drop, NULL, NULL},
	{"inline", "clock, fetch-add", 1, 0, 1, 0, make_gen, inlined, drop, NULL, NULL},
	{"inline CAS", "clock, compare-and-swap", 1, 0, 1, 0, make_cas, inlined, drop, NULL, NULL},
	{"batch 100", "a hundredth of: call, clock, fetch-add", 1, 0, 0, 0, make_gen, batch, drop, NULL, NULL},
	{"shards", "call, clock, store to the processor's word", 1, 0, 0, 0, make_shards, sharded, drop, NULL, NULL},
	{"blocks", "clock, own memory", 1, 0, 1, 0, make_gen, blocks, drop, begin_block, end_block},
	{"mutex", "clock_gettime under a pthread mutex", 0, 0, 0, 0, make_mutex, mutexed, drop, NULL, NULL},
	{"spinlock", "clock_gettime under a pthread spinlock", 0, 0, 0, 0, make_spin, spinning, drop, NULL, NULL},
	{"ticket lock", "clock_gettime under a ticket lock", 0, 0, 0, 1, make_nothing, ticketed, drop, NULL, NULL},
	{"gettimeofday CAS", "gettimeofday, compare-and-swap", 0, 0, 0, 0, make_nothing, gettimeofday_cas, drop, NULL, NULL},
};
const size_t bench_case_count = sizeof(bench_cases) / sizeof(bench_cases[0]);
