/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The generator on a scripted clock: the rule, its bounds, seal, observe, counters, and field cases of each kind. */
#include <criterion/criterion.h>

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include <firn.h>
#include <firn/inline.h>

/* The field cases' standard fixture: 41/10/12, 1 ms, epoch 2024-01-01. */
#define F_EPOCH INT64_C(1704067200000)
#define F_TEXT "time:41 node:10 sequence:12 epoch=2024-01-01T00:00:00Z tick=1ms"
#define ID(tick, node, sequence) ((uint64_t)(tick)*4194304u + (uint64_t)(node)*4096u + (uint64_t)(sequence))

static struct firn_layout layout;
static struct firn_clock *clock_;
static struct firn_gen *gen;
static int64_t waited_ns;
static int64_t script[16];
static size_t script_size;

static int
wall(void *context, int64_t *unix_ms)
{
	size_t at = (size_t)(waited_ns / 1000000);

	(void)context;
	*unix_ms = script[at < script_size ? at : script_size - 1];
	return 0;
}

static int64_t
elapsed(void *context)
{
	(void)context;
	return waited_ns;
}

static void
sleep_(void *context, int64_t ns)
{
	(void)context;
	waited_ns += ns;
}

static int
failing_wall(void *context, int64_t *unix_ms)
{
	(void)context;
	(void)unix_ms;
	return -1;
}

/* The readings that a call sees, as ticks; one for each ms waited. */
static void
readings(size_t count, const int64_t ticks[])
{
	for (size_t i = 0; i < count; i++)
		script[i] = layout.epoch_ms + ticks[i] * layout.tick_ms;
	script_size = count;
	waited_ns = 0;
}

static void
at(int64_t tick)
{
	readings(1, &tick);
}

static struct firn_gen_config
config_of(const char *text, uint64_t node, uint32_t lead_ms_max)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_OK);
	clock_config.kind = FIRN_CLOCK_CUSTOM;
	clock_config.source.wall_ms = wall;
	clock_config.source.elapsed_ns = elapsed;
	clock_config.source.sleep_ns = sleep_;
	at(0);
	cr_assert_eq(firn_clock_open(&clock_config, &clock_), FIRN_OK);
	config.layout = &layout;
	config.node = node;
	config.lead_ms_max = lead_ms_max;
	config.clock = clock_;
	return config;
}

static void
open_f(uint64_t node, uint32_t lead_ms_max)
{
	struct firn_gen_config config = config_of(F_TEXT, node, lead_ms_max);

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
}

static void
close_all(void)
{
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	firn_clock_close(clock_);
	gen = NULL;
}

static uint64_t
next(void)
{
	uint64_t id = 77;
	int error = firn_gen_next(gen, &id);

	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	return id;
}

static void
refused(int expected)
{
	uint64_t id = 77;
	int error = firn_gen_next(gen, &id);

	cr_assert_eq(error, expected, "%s instead of %s", firn_error_code(error), firn_error_code(expected));
	cr_assert_eq(id, 77, "a refusal must leave the output untouched");
}

static void
take(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		(void)next();
}

Test(gen, R01_a_refusal_does_not_reset_the_sequence)
{
	open_f(1, 0);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	cr_assert_eq(next(), UINT64_C(4194308097));
	cr_assert_eq(next(), UINT64_C(4194308098));
	at(999);
	refused(FIRN_E_CLOCK_BACK);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308099));
	close_all();
}

Test(gen, R03_a_small_step_back_after_a_burst_never_reissues_old_ticks)
{
	open_f(1, 2000);
	at(1000);
	take(4095);
	cr_assert_eq(next(), UINT64_C(4194312191));
	at(950);
	cr_assert_eq(next(), UINT64_C(4198502400));
	close_all();
}

Test(gen, R05_a_step_of_2_ms_is_no_error_under_hold_and_waited_out_under_wait)
{
	int64_t back[] = {998, 1003};
	uint64_t id;

	open_f(1, 5);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	at(998);
	cr_assert_eq(next(), UINT64_C(4194308097));
	at(1003);
	cr_assert_eq(next(), UINT64_C(4206891008));
	close_all();

	open_f(1, 0);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	readings(2, back);
	cr_assert_eq(firn_gen_next_wait(gen, 5, &id), FIRN_OK);
	cr_assert_eq(id, UINT64_C(4206891008));
	close_all();
}

Test(gen, R07_status_and_value_travel_apart)
{
	uint64_t id = 0;

	open_f(1, 0);
	at(1000);
	cr_assert_eq(firn_gen_next(gen, &id), FIRN_OK);
	at(700);
	cr_assert_eq(firn_gen_next(gen, &id), FIRN_E_CLOCK_BACK);
	cr_assert_eq(firn_gen_next(gen, &id), FIRN_E_CLOCK_BACK);
	cr_assert_eq(id, UINT64_C(4194308096));
	close_all();
}

Test(gen, R18_borrowed_time_shrinks_to_nothing_when_the_clock_overtakes)
{
	open_f(1, 1000);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	cr_assert_eq(next(), UINT64_C(4194308097));
	at(2000);
	cr_assert_eq(next(), UINT64_C(8388612096));
	at(3000);
	cr_assert_eq(next(), ID(3000, 1, 0));
	close_all();
}

Test(gen, R20_the_lead_bound_holds_and_order_never_breaks)
{
	struct firn_gen_config config =
		config_of("time:41 node:20 sequence:2 epoch=2024-01-01T00:00:00Z", 1, 3);
	uint64_t last = 0;

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(1000);
	for (int i = 0; i < 16; i++) {
		uint64_t id = next();

		cr_assert(i == 0 ? id == UINT64_C(4194304004) : id > last);
		last = id;
	}
	cr_assert_eq(last, UINT64_C(4206886919));
	refused(FIRN_E_EXHAUSTED);
	at(1001);
	cr_assert_gt(next(), last);
	close_all();
}

/* The timeout is for the mutant that waits for ever. */
Test(gen, R22_a_clock_that_stands_still_never_makes_a_call_spin, .timeout = 20)
{
	uint64_t id = 77;
	uint64_t available;

	open_f(1, 0);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	take(4094);
	cr_assert_eq(next(), UINT64_C(4194312191));
	refused(FIRN_E_EXHAUSTED);
	cr_assert_eq(firn_gen_available(gen, &available), FIRN_OK);
	cr_assert_eq(available, 0);
	cr_assert_eq(firn_gen_next_wait(gen, 50, &id), FIRN_E_EXHAUSTED);
	cr_assert_eq(id, 77);
	cr_assert_leq(waited_ns, INT64_C(50000000), "the deadline covers the whole call");
	close_all();

	open_f(1, 1000);
	at(1000);
	take(4096);
	cr_assert_eq(next(), UINT64_C(4198502400));
	close_all();
}

Test(gen, R24_exhaustion_sleeps_until_the_next_tick)
{
	struct firn_gen_config config = config_of("time:35 node:14 sequence:14 epoch=2024-01-01T00:00:00Z tick=1s", 1, 0);
	uint64_t id = 0;

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(100);
	take(16383);
	cr_assert_eq(next(), UINT64_C(26843578367));
	/* Refused at once where the wait is longer than what is left. */
	cr_assert_eq(firn_gen_next_wait(gen, 999, &id), FIRN_E_EXHAUSTED);
	cr_assert_eq(waited_ns, 0);
	int64_t ticks[] = {100, 100, 101};

	readings(3, ticks);
	cr_assert_eq(firn_gen_next_wait(gen, 2000, &id), FIRN_OK);
	cr_assert_eq(id, UINT64_C(27111997440));
	close_all();
}

Test(gen, R36_nothing_is_issued_or_borrowed_past_the_limit)
{
	struct firn_gen_config config = config_of(F_TEXT, 1, 1000);

	config.limit_ms = F_EPOCH + 9999;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(9999);
	cr_assert_eq(next(), UINT64_C(41938849792));
	at(10000);
	refused(FIRN_E_FENCED);
	at(9999);
	take(4095);
	refused(FIRN_E_FENCED);
	cr_assert_eq(firn_gen_raise_limit(gen, F_EPOCH + 10000), FIRN_OK);
	cr_assert_eq(next(), UINT64_C(41943044096));
	close_all();
}

Test(gen, R55_a_stale_reading_is_no_clock_step)
{
	open_f(1, 1000);
	at(1001);
	cr_assert_eq(next(), UINT64_C(4198502400));
	at(1000); /* read before the other thread's, used after it */
	cr_assert_eq(next(), UINT64_C(4198502401));
	close_all();
}

Test(gen, R57_after_waiting_the_new_reading_is_used)
{
	int64_t ticks[] = {1000, 1001};
	uint64_t id;

	open_f(1, 0);
	at(1000);
	take(4096);
	readings(2, ticks);
	cr_assert_eq(firn_gen_next_wait(gen, 5, &id), FIRN_OK);
	cr_assert_eq(id, UINT64_C(4198502400));
	close_all();
}

Test(gen, R59_R67_the_end_of_time_is_no_wrap_and_no_clock_step)
{
	struct firn_gen_config config = config_of("time:32 worker:16 sequence:15 epoch=2022-01-01T00:00:00Z", 0, 1000);

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(INT64_C(4294967295));
	(void)next();
	at(INT64_C(4294967296));
	refused(FIRN_E_TIME_OVER);
	/* Over at the start: refused when it is opened. */
	struct firn_gen *other;

	cr_assert_eq(firn_gen_open(&config, &other), FIRN_E_TIME_OVER);
	close_all();
}

Test(gen, R61_R65_a_node_that_does_not_fit_is_refused_not_masked)
{
	struct firn_gen_config config = config_of(F_TEXT, 1024, 0);

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_NODE);
	firn_clock_close(clock_);
	config = config_of("time:48 node:15 sequence:0 epoch=2024-01-01T00:00:00Z", 32768, 0);
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_NODE);
	firn_clock_close(clock_);
}

Test(gen, R79_spread_covers_every_residue_at_a_low_rate)
{
	for (unsigned bits = 0; bits <= 4; bits += 4) {
		struct firn_gen_config config = config_of(F_TEXT, 1, 1000);
		unsigned seen = 0;

		config.spread_bits = (uint8_t)bits;
		cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
		for (int tick = 1000; tick < 1256; tick++) {
			at(tick);
			seen |= 1u << (next() % 16);
			seen |= 1u << (next() % 16);
		}
		cr_assert_eq(seen, bits == 0 ? 3u : 0xFFFFu, "%x", seen);
		close_all();
	}
}

Test(gen, R81_a_borrowed_tick_has_its_whole_capacity)
{
	open_f(1, 1000);
	at(1000);
	take(4096);
	cr_assert_eq(next(), UINT64_C(4198502400));
	take(4094);
	cr_assert_eq(next(), UINT64_C(4198506495));
	cr_assert_eq(next(), ID(1002, 1, 0));
	close_all();
}

Test(gen, R111_a_jump_forward_is_followed)
{
	open_f(1, 1000);
	at(1000);
	(void)next();
	at(1000 + 28800000);
	cr_assert_eq(next(), UINT64_C(120800149508096));
	close_all();
}

Test(gen, R113_before_the_epoch_nothing_is_stored)
{
	open_f(1, 1000);
	script[0] = 0; /* 1970 */
	refused(FIRN_E_BEFORE_EPOCH);
	script[0] = INT64_C(-9007199254740992);
	refused(FIRN_E_BEFORE_EPOCH);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	close_all();
}

Test(gen, readings_so_far_off_that_their_shift_would_wrap_are_refused)
{
	open_f(1, 1000);
	script[0] = F_EPOCH - (INT64_C(1) << 52); /* 2^52 ticks shifted by 12 bits are 0 again */
	refused(FIRN_E_BEFORE_EPOCH);
	script[0] = F_EPOCH + (INT64_C(1) << 52);
	refused(FIRN_E_TIME_OVER);
	at(0);
	cr_assert_eq(next(), ID(0, 1, 0));
	close_all();
}

Test(gen, R114_a_batch_is_all_or_none)
{
	uint64_t id[100] = {0};

	open_f(1, 0);
	at(1000);
	take(4095);
	cr_assert_eq(firn_gen_next_n(gen, id, 100), FIRN_E_EXHAUSTED);
	cr_assert_eq(id[0], 0);
	cr_assert_eq(firn_gen_next_n(gen, id, 1), FIRN_OK);
	cr_assert_eq(id[0], UINT64_C(4194312191));
	close_all();

	open_f(1, 1000);
	at(1000);
	take(4095);
	cr_assert_eq(firn_gen_next_n(gen, id, 100), FIRN_OK);
	cr_assert_eq(id[0], UINT64_C(4194312191));
	cr_assert_eq(id[1], UINT64_C(4198502400));
	cr_assert_eq(id[99], UINT64_C(4198502498));
	close_all();
}

Test(gen, a_range_hands_out_exactly_what_was_reserved)
{
	struct firn_range range;
	uint64_t id;

	open_f(1, 1000);
	at(1000);
	cr_assert_eq(firn_gen_reserve(gen, 3, &range), FIRN_OK);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(firn_range_next(&range, &id), FIRN_OK);
		cr_assert_eq(id, ID(1000, 1, i));
	}
	cr_assert_eq(firn_range_next(&range, &id), FIRN_E_EXHAUSTED);
	cr_assert_eq(next(), ID(1000, 1, 3));
	close_all();
}

Test(gen, batches_of_every_size_are_bounded)
{
	static const uint64_t sizes[] = {1, 4095, 4096, 4097, UINT64_C(1) << 32, INT64_MAX, UINT64_MAX};
	struct firn_range range;

	open_f(1, 1000);
	at(1000);
	cr_assert_eq(firn_gen_reserve(gen, 0, &range), FIRN_E_INVALID);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int error = firn_gen_reserve(gen, sizes[i], &range);

		if (i < 4)
			cr_assert_eq(error, FIRN_OK);
		else
			cr_assert(error == FIRN_E_EXHAUSTED || error == FIRN_E_TIME_OVER, "%d", error);
	}
	cr_assert_eq(firn_gen_next_n(gen, NULL, 1), FIRN_E_INVALID);
	cr_assert_eq(firn_gen_next(NULL, &range.word), FIRN_E_INVALID);
	close_all();
}

Test(gen, seal_is_final_and_has_its_own_error)
{
	int64_t end_ms = 0;
	uint64_t life = 1;

	open_f(1, 1000);
	at(1000);
	take(5);
	firn_gen_seal(gen, &end_ms);
	cr_assert_eq(end_ms, F_EPOCH + 1001);
	refused(FIRN_E_SEALED);
	at(500000);
	refused(FIRN_E_SEALED);
	cr_assert_eq(firn_gen_observe(gen, ID(500001, 2, 0)), FIRN_E_SEALED);
	cr_assert_eq(firn_gen_life(gen, &life), FIRN_OK);
	cr_assert_eq(life, 0);
	firn_gen_seal(gen, &end_ms);
	cr_assert_eq(end_ms, F_EPOCH + 1001, "sealing twice is the same as once");
	close_all();
}

Test(gen, observe_lifts_the_word_above_any_foreign_id)
{
	open_f(5, 1000);
	at(1000);
	uint64_t mine = next();

	/* A higher node in the same tick: only the next tick is above it. */
	cr_assert_eq(firn_gen_observe(gen, ID(1000, 9, 0)), FIRN_OK);
	cr_assert_gt(next(), ID(1000, 9, 0));
	/* A lower node in a later tick: the same sequence is above it. */
	cr_assert_eq(firn_gen_observe(gen, ID(1010, 2, 7)), FIRN_OK);
	cr_assert_eq(next(), ID(1010, 5, 7));
	/* What lies below changes nothing. */
	cr_assert_eq(firn_gen_observe(gen, mine), FIRN_OK);
	cr_assert_eq(next(), ID(1010, 5, 8));
	close_all();
}

Test(gen, observe_is_bounded_by_lead_and_limit_and_tells_a_doubled_node)
{
	struct firn_gen_config config = config_of(F_TEXT, 5, 1000);

	config.limit_ms = F_EPOCH + 1800;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(1000);
	(void)next();
	cr_assert_eq(firn_gen_observe(gen, ID(2001, 6, 0)), FIRN_E_AHEAD);
	cr_assert_eq(firn_gen_observe(gen, ID(1900, 6, 0)), FIRN_E_FENCED);
	cr_assert_eq(firn_gen_observe(gen, UINT64_C(1) << 63), FIRN_E_RANGE);
	cr_assert_eq(next(), ID(1000, 5, 1), "a refused observation changes nothing");
	cr_assert_eq(firn_gen_observe(gen, ID(1100, 5, 3)), FIRN_E_CONFLICT);
	cr_assert_gt(next(), ID(1100, 5, 3));
	close_all();
}

Test(gen, every_order_of_fields_observes_right)
{
	static const char *const texts[] = {
		"time:20 a:3 sequence:4 b:3 epoch=2024-01-01T00:00:00Z", "time:20 sequence:4 a:6 epoch=2024-01-01T00:00:00Z",
		"time:20 a:6 sequence:4 epoch=2024-01-01T00:00:00Z"};

	for (unsigned t = 0; t < 3; t++)
		for (uint64_t node = 0; node < 64; node += 21)
			for (uint64_t low = 0; low < 1024; low += 13) {
				struct firn_gen_config config = config_of(texts[t], node, 1000);
				uint64_t foreign = (UINT64_C(50) << 10) | low;

				cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
				at(50);
				int error = firn_gen_observe(gen, foreign);

				cr_assert(error == FIRN_OK || error == FIRN_E_CONFLICT);
				cr_assert_gt(next(), foreign, "%s node %d low %d", texts[t], (int)node, (int)low);
				close_all();
			}
}

Test(gen, start_after_counts_the_tick_as_used)
{
	struct firn_gen_config config = config_of(F_TEXT, 1, 1000);

	config.start_after_ms = F_EPOCH + 1005;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	at(1000);
	cr_assert_eq(next(), ID(1006, 1, 0));
	at(5);
	refused(FIRN_E_CLOCK_BACK);
	close_all();
}

Test(gen, the_limit_never_falls)
{
	struct firn_gen_config config = config_of(F_TEXT, 1, 1000);

	config.limit_ms = F_EPOCH + 2000;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	cr_assert_eq(firn_gen_raise_limit(gen, F_EPOCH + 1000), FIRN_E_INVALID);
	cr_assert_eq(firn_gen_raise_limit(gen, F_EPOCH + 2000), FIRN_OK);
	at(2000);
	(void)next();
	close_all();
}

Test(gen, counters_are_exact)
{
	struct firn_gen_stats stats;

	open_f(1, 3);
	at(1000);
	take(4096 * 2); /* one tick borrowed */
	at(2000);
	take(10);
	at(1990);
	refused(FIRN_E_CLOCK_BACK);
	script[0] = 0;
	refused(FIRN_E_BEFORE_EPOCH);
	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.ids_made, 4096 * 2 + 10);
	cr_assert_eq(stats.ticks_borrowed, 1);
	cr_assert_eq(stats.words_skipped, UINT64_C(2000) * 4096 - UINT64_C(1002) * 4096 + UINT64_C(1000) * 4096);
	cr_assert_eq(stats.refused_clock_back, 1);
	cr_assert_eq(stats.refused_before_epoch, 1);
	cr_assert_eq(stats.refused_exhausted, 0);
	cr_assert_eq(stats.cas_retries, 0);
	firn_gen_seal(gen, NULL);
	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.ids_made, 4096 * 2 + 10, "sealing changes no count");
	close_all();
}

Test(gen, a_refusal_shuts_the_gate_and_the_next_success_opens_it)
{
	static const enum firn_gen_lane lanes[] = {FIRN_GEN_ADD, FIRN_GEN_CAS};

	for (unsigned i = 0; i < 2; i++) {
		struct firn_gen_config config = config_of(F_TEXT, 1, 0);
		uint64_t open = lanes[i] == FIRN_GEN_ADD ? FIRNI_GATE_OPEN : FIRNI_GATE_NEVER;
		uint64_t shut = lanes[i] == FIRN_GEN_ADD ? FIRNI_GATE_SHUT : FIRNI_GATE_NEVER;

		config.lane = lanes[i];
		cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
		at(1000);
		take(4096);
		uint64_t word = firni_atomic64_load(&gen->state->word);

		cr_assert_eq(firni_atomic64_load(&gen->state->gate), open);
		for (unsigned n = 0; n < 3; n++) {
			refused(FIRN_E_EXHAUSTED);
			cr_assert_eq(firni_atomic64_load(&gen->state->word), word, "a refusal changes nothing");
			cr_assert_eq(firni_atomic64_load(&gen->state->gate), shut);
		}
		at(1001);
		(void)next();
		cr_assert_eq(firni_atomic64_load(&gen->state->gate), open);
		close_all();
	}
}

Test(gen, adds_that_meet_a_seal_leave_it_sealed)
{
	uint64_t ids[100];

	open_f(1, 1000);
	at(1000);
	(void)next();
	firn_gen_seal(gen, NULL);
	for (unsigned i = 0; i < 100; i++) {
		/* As of threads that had read the gate before the refusals. */
		firni_atomic64_store(&gen->state->gate, FIRNI_GATE_OPEN);
		cr_assert_eq(firn_gen_next_n(gen, ids, 100), FIRN_E_SEALED);
	}
	cr_assert_geq(firni_atomic64_load(&gen->state->word), FIRNI_WORD_SEALED);
	close_all();
}

Test(gen, what_was_observed_holds_though_an_add_is_given_back)
{
	uint64_t seen;

	open_f(1, 0);
	at(1000);
	take(4090);
	/* Another thread's add of 10, past the bound, about to be given back. */
	uint64_t under_way = firni_atomic64_fetch_add(&gen->state->word, 10);

	seen = UINT64_C(1000) << 22 | 0 << 12 | 4094; /* of node 0 */
	cr_assert_eq(firn_gen_observe(gen, seen), FIRN_OK);
	firni_atomic64_store(&gen->state->word, under_way);
	cr_assert_gt(next(), seen);
	close_all();
}

Test(gen, an_unknown_lane_is_refused)
{
	struct firn_gen_config config = config_of(F_TEXT, 1, 0);

	config.lane = (enum firn_gen_lane)2;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	firn_clock_close(clock_);
}

Test(gen, lead_life_and_available_say_where_it_stands)
{
	int64_t lead;
	uint64_t available;
	uint64_t life;

	open_f(1, 10);
	at(1000);
	take(4096 + 1);
	cr_assert_eq(firn_gen_lead(gen, &lead), FIRN_OK);
	cr_assert_eq(lead, 1);
	cr_assert_eq(firn_gen_available(gen, &available), FIRN_OK);
	cr_assert_eq(available, 4096 * 10 - 1);
	at(5000);
	cr_assert_eq(firn_gen_lead(gen, &lead), FIRN_OK);
	cr_assert_eq(lead, -3999);
	cr_assert_eq(firn_gen_life(gen, &life), FIRN_OK);
	cr_assert_eq(life, (UINT64_C(1) << 41) - 5000);
	close_all();
}

Test(gen, a_failing_clock_is_an_error_and_makes_no_id)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_clock *broken;
	struct firn_gen_config config = config_of(F_TEXT, 1, 1000);

	clock_config.kind = FIRN_CLOCK_CUSTOM;
	clock_config.source.wall_ms = failing_wall;
	cr_assert_eq(firn_clock_open(&clock_config, &broken), FIRN_E_CLOCK);
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	script[0] = INT64_MAX; /* garbage */
	refused(FIRN_E_CLOCK);
	struct firn_gen_stats stats;

	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.refused_clock, 1);
	cr_assert_eq(stats.ids_made, 0);
	close_all();
}

Test(gen, bad_configurations_are_refused)
{
	struct firn_gen_config good = config_of(F_TEXT, 1, 1000);
	struct firn_gen_config config = good;

	cr_assert_eq(firn_gen_open(NULL, &gen), FIRN_E_INVALID);
	cr_assert_eq(firn_gen_open(&good, NULL), FIRN_E_INVALID);
	config.size = 1;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	config = good;
	config.layout = NULL;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	config = good;
	config.spread_bits = 13;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	config = good;
	config.state_path = "/nowhere";
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	config = good;
	config.sharing = FIRN_GEN_FILE;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_INVALID);
	struct firn_layout forged = layout;

	forged.seq_bits = 20;
	config = good;
	config.layout = &forged;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_E_LAYOUT);
	firn_clock_close(clock_);
}

Test(gen, lives_in_caller_memory_of_the_exported_size)
{
	struct firn_gen_config config = config_of(F_TEXT, 1, 1000);
	void *memory = NULL;

	cr_assert_eq(posix_memalign(&memory, firn_gen_align(), firn_gen_size()), 0);
	cr_assert_eq(firn_gen_init(memory, firn_gen_size() - 1, &config, &gen), FIRN_E_INVALID);
	cr_assert_eq(firn_gen_init((char *)memory + 1, firn_gen_size(), &config, &gen), FIRN_E_INVALID);
	cr_assert_eq(firn_gen_init(memory, firn_gen_size(), &config, &gen), FIRN_OK);
	at(1000);
	cr_assert_eq(next(), UINT64_C(4194308096));
	close_all();
	free(memory);
}

Test(gen, the_inline_lane_makes_the_same_ids)
{
	static const struct firn_shape shape = FIRN_INLINE_SHAPE(INT64_C(1704067200000), 1, 41, 10, 12);
	static const struct firn_shape other = FIRN_INLINE_SHAPE(INT64_C(1704067200000), 1, 41, 11, 11);
	uint64_t id;
	uint64_t few[3];

	open_f(1, 1000);
	at(1000);
	cr_assert_eq(firn_inline_check(gen, &other), FIRN_E_LAYOUT);
	cr_assert_eq(firn_inline_check(gen, &shape), FIRN_OK);
	cr_assert_eq(firn_inline_next(gen, &shape, &id), FIRN_OK);
	cr_assert_eq(id, ID(1000, 1, 0));
	cr_assert_eq(firn_inline_next_n(gen, &shape, few, 3), FIRN_OK);
	cr_assert_eq(few[2], ID(1000, 1, 3));
	cr_assert_eq(next(), ID(1000, 1, 4));
	close_all();
}

/* Every triple of a small layout against the rule written out plainly. */
Test(gen, F115_every_word_reading_and_limit_of_a_small_layout_agrees_with_the_rule)
{
	struct firn_gen_config config = config_of("time:4 node:1 sequence:2 epoch=2024-01-01T00:00:00Z", 1, 2);

	for (int start = -1; start < 16; start++)
		for (int limit = 0; limit < 16; limit++)
			for (int now = 0; now < 17; now++)
				for (uint64_t count = 1; count < 10; count++) {
					struct firn_range range;
					uint64_t word = start < 0 ? 0 : (uint64_t)(start + 1) * 4;
					uint64_t first = word > (uint64_t)now * 4 ? word : (uint64_t)now * 4;
					uint64_t top = (first + count - 1) / 4;
					int expected = now > 15 || top > 15                ? FIRN_E_TIME_OVER
					               : top > (uint64_t)limit             ? FIRN_E_FENCED
					               : top <= (uint64_t)now + 2          ? FIRN_OK
					               : start >= 0 && start > now + 2     ? FIRN_E_CLOCK_BACK
					                                                   : FIRN_E_EXHAUSTED;

					at(0);
					config.start_after_ms = start < 0 ? FIRN_NO_TIME : F_EPOCH + start;
					config.limit_ms = F_EPOCH + limit;
					cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
					at(now);
					int error = firn_gen_reserve(gen, count, &range);

					cr_assert_eq(error, expected, "start %d limit %d now %d count %d: %s, not %s", start, limit, now,
					             (int)count, firn_error_code(error), firn_error_code(expected));
					if (error == FIRN_OK)
						cr_assert_eq(range.word, first);
					cr_assert_eq(firn_gen_close(gen), FIRN_OK);
				}
	firn_clock_close(clock_);
}
