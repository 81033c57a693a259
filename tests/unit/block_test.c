/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: fresh words only, what is left is burnt and counted, bounds hold, forks drop it. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <firn.h>
#include <firn/inline.h>

#define EPOCH INT64_C(1704067200000)
#define TEXT "time:41 node:10 sequence:12 epoch=2024-01-01T00:00:00Z"

static struct firn_layout layout;
static struct firn_clock *clock_;
static struct firn_gen *gen;

static void
at(int64_t ms)
{
	cr_assert_eq(firn_clock_set(clock_, EPOCH + ms), FIRN_OK);
}

static void
open_gen(const char *text, uint32_t lead_ms_max, enum firn_gen_sharing sharing)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

	clock_config.kind = FIRN_CLOCK_MANUAL;
	cr_assert_eq(firn_clock_open(&clock_config, &clock_), FIRN_OK);
	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_OK);
	at(1000);
	config.layout = &layout;
	config.clock = clock_;
	config.lead_ms_max = lead_ms_max;
	config.sharing = sharing;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
}

static void
close_all(void)
{
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	firn_clock_close(clock_);
}

static uint64_t
next(struct firn_block *block)
{
	uint64_t id = 0;
	int error = firn_block_next(block, &id);

	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	return id;
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

Test(block, two_blocks_and_their_generator_repeat_nothing_and_each_rises)
{
	static uint64_t ids[9000];
	struct firn_block one;
	struct firn_block two;
	uint64_t last[3] = {0};
	struct firn_gen_stats stats;

	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&one, gen, 0), FIRN_OK);
	cr_assert_eq(firn_block_init(&two, gen, 7), FIRN_OK);
	for (unsigned i = 0; i < 9000; i++) {
		if (i % 300 == 0)
			at(1000 + i / 100);
		if (i % 3 == 2)
			cr_assert_eq(firn_gen_next(gen, &ids[i]), FIRN_OK);
		else
			ids[i] = next(i % 3 == 0 ? &one : &two);
		cr_assert_gt(ids[i], last[i % 3]);
		last[i % 3] = ids[i];
	}
	firn_block_drop(&one);
	firn_block_drop(&two);
	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.ids_made, 9000);
	cr_assert_gt(stats.words_burnt, 0);
	qsort(ids, 9000, sizeof(ids[0]), by_value);
	for (unsigned i = 1; i < 9000; i++)
		cr_assert_neq(ids[i], ids[i - 1]);
	close_all();
}

Test(block, words_of_a_tick_that_is_over_are_not_handed_out)
{
	struct firn_block block;
	struct firn_parts parts;

	open_gen(TEXT, 0, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 64), FIRN_OK);
	(void)next(&block);
	cr_assert_gt(block.end, block.word);
	at(1001);
	cr_assert_eq(firn_layout_split(&layout, next(&block), &parts), FIRN_OK);
	cr_assert_eq(parts.tick, 1001);
	/* Nor after the clock went back: the word is higher than what it says. */
	at(1000);
	uint64_t id = 77;

	cr_assert_eq(firn_block_next(&block, &id), FIRN_E_CLOCK_BACK);
	cr_assert_eq(id, 77);
	close_all();
}

Test(block, a_tick_of_ten_ms_keeps_its_words_for_ten)
{
	struct firn_block block;

	open_gen("time:39 node:10 sequence:14 epoch=2024-01-01T00:00:00Z tick=10ms", 0, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 64), FIRN_OK);
	at(1003);
	uint64_t first = next(&block);

	at(1009);
	cr_assert_eq(next(&block), first + 1);
	at(1010);
	cr_assert_gt(next(&block), first + 2);
	close_all();
}

Test(block, bounds_hold_to_the_last_word)
{
	struct firn_block block;
	uint64_t id = 77;
	struct firn_gen_stats stats;

	open_gen(TEXT, 0, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 1000), FIRN_OK);
	for (unsigned i = 0; i < 4096; i++)
		cr_assert_eq(next(&block) & 4095, i, "all of the tick's words, though blocks do not divide it");
	cr_assert_eq(firn_block_next(&block, &id), FIRN_E_EXHAUSTED);
	cr_assert_eq(id, 77);
	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.refused_exhausted, 1);
	cr_assert_eq(stats.ids_made, 4096);
	close_all();
}

Test(block, it_takes_as_many_as_ticks_need)
{
	struct firn_block block;

	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 128), FIRN_OK);
	for (unsigned i = 0; i < 2000; i++)
		(void)next(&block);
	cr_assert_eq(block.size, 128);
	for (unsigned i = 0; i < 20; i++) {
		at(2000 + i);
		(void)next(&block);
	}
	cr_assert_leq(block.size, 2);
	close_all();
}

Test(block, R116_what_a_refill_drops_is_bounded_and_counted_and_never_comes_back)
{
	struct firn_block block;
	struct firn_gen_stats stats;
	uint64_t last = 0;
	uint64_t issued = 0;

	/* A stock of 5000 over ticks of 4096, of which each tick draws 100. */
	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 5000), FIRN_OK);
	block.size = 5000;
	for (unsigned tick = 0; tick < 8; tick++) {
		at(1000 + tick);
		for (unsigned i = 0; i < 100; i++, issued++) {
			uint64_t id = next(&block);

			cr_assert_gt(id, last);
			last = id;
		}
		firn_gen_stats(gen, &stats);
		cr_assert_leq(stats.words_burnt, tick * 5000, "at most what one refill takes");
	}
	firn_block_drop(&block);
	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.ids_made, issued, "issued");
	uint64_t passed = firni_atomic64_load(&gen->state->word) - firni_atomic64_load(&gen->state->start);

	cr_assert_eq(stats.words_skipped, passed - issued, "and lost: together all that was passed");
	close_all();
}

Test(block, the_inline_lane_hands_out_the_same)
{
	static const struct firn_shape shape = FIRN_INLINE_SHAPE(1704067200000, 1, 41, 10, 12);
	struct firn_block block;
	uint64_t one = 0;
	uint64_t two;

	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_inline_check(gen, &shape), FIRN_OK);
	cr_assert_eq(firn_block_init(&block, gen, 0), FIRN_OK);
	cr_assert_eq(firn_inline_block_next(&block, &shape, &one), FIRN_OK);
	two = next(&block);
	cr_assert_eq(two, one + 1);
	close_all();
}

/* 0 if the child does as it should. */
static int
in_child(struct firn_block *block, int expected, uint64_t not_from, uint64_t not_to)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		uint64_t id = 0;
		int error = firn_block_next(block, &id);

		_exit(error != expected || (error == FIRN_OK && id >= not_from && id < not_to));
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

Test(block, a_childs_words_are_not_the_parents)
{
	struct firn_block block;
	uint64_t id;

	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(&block, gen, 0), FIRN_OK);
	id = next(&block);
	cr_assert_eq(in_child(&block, FIRN_E_FORKED, 0, 0), 0);
	cr_assert_eq(next(&block), id + 1);
	close_all();

	open_gen(TEXT, 1000, FIRN_GEN_SHARED);
	cr_assert_eq(firn_block_init(&block, gen, 0), FIRN_OK);
	id = next(&block);
	uint64_t end = id + 1 + (block.end - block.word);

	cr_assert_eq(in_child(&block, FIRN_OK, id, end), 0);
	cr_assert_eq(next(&block), id + 1);
	close_all();
}

Test(block, bad_arguments_are_refused)
{
	struct firn_block block = {0};
	uint64_t id;

	open_gen(TEXT, 1000, FIRN_GEN_PRIVATE);
	cr_assert_eq(firn_block_init(NULL, gen, 0), FIRN_E_INVALID);
	cr_assert_eq(firn_block_init(&block, NULL, 0), FIRN_E_INVALID);
	cr_assert_eq(firn_block_init(&block, gen, 65537), FIRN_E_INVALID);
	cr_assert_eq(firn_block_next(&block, &id), FIRN_E_INVALID);
	cr_assert_eq(firn_block_next(NULL, &id), FIRN_E_INVALID);
	firn_block_drop(&block);
	firn_block_drop(NULL);
	close_all();
}
