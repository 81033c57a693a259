/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Shards: they share one node's sequence, keep every bound, end together. */
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <firn.h>
#include <firn/detail/shards.h>

#include "emulator.h"

#define EPOCH INT64_C(1704067200000)
#define TEXT "time:41 node:10 sequence:12 epoch=2024-01-01T00:00:00Z"

static struct firn_layout layout;
static struct firn_clock *clock_;
static struct firn_gen_config config;
static struct firn_shards *shards;

static void
at(int64_t ms)
{
	cr_assert_eq(firn_clock_set(clock_, EPOCH + ms), FIRN_OK);
}

static void
configure(const char *text, uint64_t node, uint32_t lead_ms_max)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config standard = FIRN_GEN_CONFIG_INIT;

	clock_config.kind = FIRN_CLOCK_MANUAL;
	cr_assert_eq(firn_clock_open(&clock_config, &clock_), FIRN_OK);
	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_OK);
	at(1000);
	config = standard;
	config.layout = &layout;
	config.clock = clock_;
	config.node = node;
	config.lead_ms_max = lead_ms_max;
}

static void
close_all(void)
{
	firn_shards_close(shards);
	firn_clock_close(clock_);
}

static uint64_t
next(void)
{
	uint64_t id = 0;
	int error = firn_shards_next(shards, &id);

	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	return id;
}

/* Run on one processor from now on; 0 if there is none of that number for us. */
static int
go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

Test(shards, decode_under_the_whole_layout_as_one_node)
{
	struct firn_parts parts;

	configure("time:41 region:3 sequence:12 worker:7 epoch=2024-01-01T00:00:00Z", 5 << 7 | 77, 1000);
	cr_assert_eq(firn_shards_open(&config, 8, &shards), FIRN_OK);
	cr_assert_eq(firn_shards_count(shards), 8);
	uint64_t shard = UINT64_MAX;

	for (unsigned i = 0; i < 600; i++) {
		cr_assert_eq(firn_layout_split(&layout, next(), &parts), FIRN_OK);
		cr_assert_eq(parts.node, 5 << 7 | 77);
		cr_assert_eq(parts.value[1], 5);
		cr_assert_eq(parts.value[3], 77);
		shard = parts.sequence % 8;
	}
	cr_assert_lt(shard, 8);
	close_all();
}

Test(shards, one_processor_advances_one_shard_and_meets_its_bound)
{
	struct firn_gen_stats stats;
	struct firn_parts parts;
	uint64_t id = 77;
	uint64_t last = 0;

	configure(TEXT, 3, 0);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	cr_assert(go_to(0));
	for (unsigned i = 0; i < 1024; i++) {
		id = next();
		cr_assert_gt(id, last);
		last = id;
		cr_assert_eq(firn_layout_split(&layout, id, &parts), FIRN_OK);
		cr_assert_eq(parts.sequence % 4, 0);
		cr_assert_eq(parts.sequence / 4, i);
	}
	id = 77;
	cr_assert_eq(firn_shards_next(shards, &id), FIRN_E_EXHAUSTED);
	cr_assert_eq(id, 77);
	firn_shards_stats(shards, &stats);
	cr_assert_eq(stats.ids_made, 1024);
	cr_assert_eq(stats.refused_exhausted, 1);
	at(999);
	cr_assert_eq(firn_shards_next(shards, &id), FIRN_E_CLOCK_BACK);
	at(1001);
	cr_assert_eq(next() & 4095, 0);
	close_all();
}

Test(shards, a_batch_is_one_shards_and_all_or_none)
{
	uint64_t ids[1024];

	configure(TEXT, 3, 0);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	cr_assert(go_to(0));
	cr_assert_eq(firn_shards_next_n(shards, ids, 1000), FIRN_OK);
	for (unsigned i = 1; i < 1000; i++)
		cr_assert_eq(ids[i], ids[i - 1] + 4);
	cr_assert_eq(firn_shards_next_n(shards, ids, 25), FIRN_E_EXHAUSTED);
	cr_assert_eq(firn_shards_next_n(shards, ids, 24), FIRN_OK);
	close_all();
}

Test(shards, limit_and_observed_ids_hold_for_all)
{
	uint64_t id;

	configure(TEXT, 3, 1000);
	config.limit_ms = EPOCH + 1000;
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	int error = firn_shards_observe(shards, UINT64_C(1000) << 22 | 2 << 12 | 500);

	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	for (int cpu = 0; cpu < 2; cpu++)
		if (go_to(cpu))
			cr_assert_gt(id = next(), UINT64_C(1000) << 22 | 2 << 12 | 500);
	at(1001);
	cr_assert_eq(firn_shards_next(shards, &id), FIRN_E_FENCED);
	cr_assert_eq(firn_shards_raise_limit(shards, EPOCH + 1001), FIRN_OK);
	(void)next();
	close_all();
}

Test(shards, a_seal_ends_every_shard)
{
	int64_t end = 0;
	uint64_t id = 77;
	struct firn_gen_stats stats;

	configure(TEXT, 3, 1000);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	(void)next();
	firn_shards_seal(shards, &end);
	cr_assert_eq(end, EPOCH + 1001);
	for (int cpu = 0; cpu < 2; cpu++)
		if (go_to(cpu))
			cr_assert_eq(firn_shards_next(shards, &id), FIRN_E_SEALED);
	cr_assert_eq(id, 77);
	firn_shards_stats(shards, &stats);
	cr_assert_eq(stats.ids_made, 1);
	close_all();
}

#ifdef FIRNI_PERCPU
/* So it is in an emulator, and with glibc.pthread.rseq=0. */
Test(shards, without_a_registration_all_shards_are_atomic)
{
	configure(TEXT, 3, 1000);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	if (__rseq_size == 0) {
		cr_assert_lt(firni_rseq_cpu(), 0);
		cr_assert_not(firn_shards_restartable(shards));
	} else {
		cr_assert_not(in_emulator(), "it has learnt to restart sequences: run the restartable tests in it");
	}
	(void)next();
	close_all();
}

Test(shards, a_sequence_stores_only_on_the_processor_it_was_meant_for)
{
	struct firni_atomic64 word = {5};
	struct firni_atomic64 closed = {0};
	struct firni_take take;
	int tries = 0;

	if (__rseq_size == 0)
		cr_skip_test("libc has not registered restartable sequences");
	/* Whatever processor we run on, it is not the one after it: unless we are moved in between. */
	while (firni_percpu_take(firni_rseq_cpu() + 1, &word, &closed, 0, 100, 1, &take) != FIRNI_PERCPU_AGAIN)
		cr_assert_lt(tries++, 3);
	cr_assert_leq(word.value, 5 + (uint64_t)tries);
	uint64_t before = word.value;

	while (firni_percpu_take(firni_rseq_cpu(), &word, &closed, 0, 100, 3, &take) == FIRNI_PERCPU_AGAIN)
		;
	cr_assert_eq(take.first, before);
	cr_assert_eq(word.value, before + 3);
	while (firni_percpu_take(firni_rseq_cpu(), &word, &closed, 50, 52, 3, &take) == FIRNI_PERCPU_AGAIN)
		;
	cr_assert_eq(word.value, before + 3, "refused by its last word");
}

/* What stood when the processors were made to leave their sequences. */
static int barriers;
static uint64_t closed_then;
static uint64_t word_then;

/* In place of libc's, to see the call that no outcome can be relied on to show. */
long
syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list arguments;
	long a[6];

	va_start(arguments, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_membarrier && a[0] == 1 << 7) {
		barriers++;
		closed_then = firni_atomic64_load(&shards->closed);
		word_then = firni_atomic64_load(&shards->gen[0]->state->word);
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

Test(shards, the_seal_ends_running_sequences_between_closing_and_sealing)
{
	configure(TEXT, 3, 1000);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	if (!firn_shards_restartable(shards))
		cr_skip_test("no restartable sequences here");
	firn_shards_seal(shards, NULL);
	cr_assert_eq(barriers, 1);
	cr_assert_eq(closed_then, 1);
	cr_assert_lt(word_then, FIRNI_WORD_SEALED);
	cr_assert_geq(firni_atomic64_load(&shards->gen[0]->state->word), FIRNI_WORD_SEALED);
	close_all();
}
#endif

Test(shards, a_child_is_refused)
{
	int status = 0;
	uint64_t id;

	configure(TEXT, 3, 1000);
	cr_assert_eq(firn_shards_open(&config, 0, &shards), FIRN_OK);
	(void)next();
	pid_t child = fork();

	if (child == 0)
		_exit(firn_shards_next(shards, &id) == FIRN_E_FORKED ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	close_all();
}

Test(shards, bad_counts_and_sharings_are_refused)
{
	configure(TEXT, 3, 1000);
	cr_assert_eq(firn_shards_open(&config, 3, &shards), FIRN_E_INVALID);
	cr_assert_eq(firn_shards_open(&config, 2048, &shards), FIRN_E_INVALID);
	config.node = 1024;
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_E_NODE);
	config.node = 3;
	config.sharing = FIRN_GEN_SHARED;
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_E_UNSUPPORTED);
	config.sharing = FIRN_GEN_PRIVATE;
	cr_assert_eq(firn_layout_parse("time:41 node:18 sequence:4 epoch=2024-01-01T00:00:00Z", &layout, NULL), FIRN_OK);
	cr_assert_eq(firn_shards_open(&config, 32, &shards), FIRN_E_INVALID);
	cr_assert_eq(firn_shards_open(&config, 16, &shards), FIRN_OK);
	firn_shards_close(shards);
	cr_assert_eq(firn_shards_open(&config, 1, &shards), FIRN_OK);
	(void)next();
	close_all();
	firn_shards_close(NULL);
}
