/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The stable lane's path and the cold exits of both lanes: naming refusals, counting turns. */
#include <firn/detail/gen.h>
#include <firn/gen.h>

#include "gen/state.h"
#include "gen/words.h"

/* With a clock that takes a call to read: apart, so that the path without one needs no stack frame. */
static FIRNI_NOINLINE int
next_after_call(struct firn_gen *gen, uint64_t *id)
{
	int64_t now_ms;

	int error = firni_gen_read_clock(gen, &now_ms);

	return error != FIRN_OK ? error : firni_gen_next_at(gen, &gen->shape, now_ms, id);
}

int
firn_gen_next(struct firn_gen *gen, uint64_t *id)
{
	int64_t now_ms;

	if (FIRNI_UNLIKELY(gen == NULL || id == NULL))
		return FIRN_E_INVALID;
	if (!firni_clock_at_hand(gen->clock, &now_ms))
		return next_after_call(gen, id);
	return firni_gen_next_at(gen, &gen->shape, now_ms, id);
}

int
firn_gen_next_n(struct firn_gen *gen, uint64_t id[], size_t count)
{
	int64_t now_ms;

	if (FIRNI_UNLIKELY(gen == NULL || id == NULL || count == 0))
		return FIRN_E_INVALID;
	int error = firni_gen_read_clock(gen, &now_ms);

	return error != FIRN_OK ? error : firni_gen_next_n_at(gen, &gen->shape, now_ms, id, count);
}

int
firn_gen_reserve(struct firn_gen *gen, uint64_t count, struct firn_range *range)
{
	struct firni_take take;
	int64_t now_ms;

	if (FIRNI_UNLIKELY(gen == NULL || range == NULL || count == 0))
		return FIRN_E_INVALID;
	int error = firni_gen_read_clock(gen, &now_ms);

	if (error == FIRN_OK)
		error = firni_gen_take(gen, &gen->shape, now_ms, count, &take);
	if (FIRNI_UNLIKELY(error != FIRN_OK))
		return error;
	range->gen = gen;
	range->word = take.first;
	range->left = count;
	return firni_gen_settle(gen, &gen->shape, now_ms, count, &take);
}

int
firn_range_next(struct firn_range *range, uint64_t *id)
{
	if (FIRNI_UNLIKELY(range == NULL || id == NULL || range->gen == NULL))
		return FIRN_E_INVALID;
	if (FIRNI_UNLIKELY(range->left == 0))
		return FIRN_E_EXHAUSTED;
	uint64_t word = range->word++;

	range->left--;
	/*
	 * A shared word may be forked, a range of it not: both processes would hold the same
	 * words. Tested last, as in firni_gen_take.
	 */
	if (FIRNI_UNLIKELY(*range->gen->range_alive == 0))
		return FIRN_E_FORKED;
	*id = firni_shape_id(&range->gen->shape, range->gen->node_image, word);
	return FIRN_OK;
}

/* The tick of a reading that has one. */
static uint64_t
tick_of(const struct firn_shape *shape, int64_t now_ms)
{
	return firni_shape_tick(shape, (uint64_t)now_ms - (uint64_t)shape->epoch_ms);
}

static void
count_loss(struct firni_state *state, struct firni_loss loss)
{
	if (loss.retries != 0)
		firni_state_count(state, FIRNI_TALLY_RETRIES, loss.retries);
	if (loss.burnt != 0) {
		firni_state_count(state, FIRNI_TALLY_BURNT, loss.burnt);
		firni_state_count(state, FIRNI_TALLY_SKIPPED, loss.burnt);
	}
}

int
firni_gen_turn(struct firn_gen *gen, int64_t now_ms, uint64_t count, uint64_t seen, uint64_t first,
               struct firni_loss loss)
{
	struct firni_state *state = gen->state;
	uint64_t tick = tick_of(&gen->shape, now_ms);
	uint64_t last = (first + count - 1) >> gen->shape.seq_bits;
	/* The last tick that was entered before this take; a tick is borrowed when it is entered early. */
	uint64_t entered = seen == 0 ? 0 : (seen - 1) >> gen->shape.seq_bits;
	uint64_t reached = entered > tick ? entered : tick;

	if (first != seen)
		firni_state_count(state, FIRNI_TALLY_SKIPPED, first - seen);
	if (last > reached)
		firni_state_count(state, FIRNI_TALLY_BORROWED, last - reached);
	count_loss(state, loss);
	return FIRN_OK;
}

static int
refuse(struct firn_gen *gen, enum firni_tally tally, int error)
{
	firni_state_count(gen->state, tally, 1);
	return error;
}

int
firni_gen_refuse_forked(struct firn_gen *gen)
{
	return refuse(gen, FIRNI_TALLY_FORKED, FIRN_E_FORKED);
}

int
firni_gen_refuse_clock(struct firn_gen *gen)
{
	if (*gen->alive == 0)
		return firni_gen_refuse_forked(gen);
	return refuse(gen, FIRNI_TALLY_CLOCK, FIRN_E_CLOCK);
}

/*
 * The bounds were tested together on the path; here they are told apart, in the order of
 * the specification (S-20 to S-27), on the very values that were refused.
 */
int
firni_gen_refuse(struct firn_gen *gen, int64_t now_ms, uint64_t count, uint64_t limit, uint64_t seen,
                 struct firni_loss loss)
{
	const struct firn_shape *shape = &gen->shape;
	uint64_t open = FIRNI_GATE_OPEN;
	uint64_t words = firni_words_all(&gen->layout);

	if (*gen->alive == 0)
		return firni_gen_refuse_forked(gen);
	/* From now on look before adding: a storm of refused adds would drive the word. */
	(void)firni_atomic64_cas_weak(&gen->state->gate, &open, FIRNI_GATE_SHUT);
	count_loss(gen->state, loss);
	if (seen >= FIRNI_WORD_SEALED)
		return refuse(gen, FIRNI_TALLY_SEALED, FIRN_E_SEALED);
	if (now_ms < shape->epoch_ms)
		return refuse(gen, FIRNI_TALLY_BEFORE_EPOCH, FIRN_E_BEFORE_EPOCH);
	if ((uint64_t)now_ms - (uint64_t)shape->epoch_ms >= shape->span_ms)
		return refuse(gen, FIRNI_TALLY_TIME_OVER, FIRN_E_TIME_OVER);

	uint64_t tick = tick_of(shape, now_ms);
	uint64_t floor = firni_state_floor(gen->state, shape, tick);
	uint64_t first = seen > floor ? seen : floor;

	if (first >= words || words - first < count)
		return refuse(gen, FIRNI_TALLY_TIME_OVER, FIRN_E_TIME_OVER);
	/* A state file's limit follows the clock by itself: there a lead that is too large is the cause. */
	int fenced = first >= limit || limit - first < count;
	uint64_t lead_end = (tick << shape->seq_bits) + gen->lead_words;

	if (fenced && (gen->mark == NULL || (first < lead_end && lead_end - first >= count)))
		return refuse(gen, FIRNI_TALLY_FENCED, FIRN_E_FENCED);

	/* Only a clock that went back leaves the word's own last tick beyond the lead. */
	uint64_t observed = firni_atomic64_load(&gen->state->floor);
	uint64_t reached = seen > observed ? seen : observed;
	uint64_t last_tick = reached == 0 ? 0 : (reached - 1) >> shape->seq_bits;

	if (last_tick > tick && last_tick - tick > (gen->lead_words >> shape->seq_bits) - 1)
		return refuse(gen, FIRNI_TALLY_CLOCK_BACK, FIRN_E_CLOCK_BACK);
	return refuse(gen, FIRNI_TALLY_EXHAUSTED, FIRN_E_EXHAUSTED);
}
