/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a generator: lead, what is available, life, counters. */
#include <firn/gen.h>

#include <stddef.h>

#include <firn/detail/gen.h>
#include <firn/error.h>

#include "gen/state.h"
#include "gen/words.h"

int
firn_gen_lead(struct firn_gen *gen, int64_t *lead_ms)
{
	int64_t now_ms;

	if (gen == NULL || lead_ms == NULL)
		return FIRN_E_INVALID;
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	uint64_t word = firni_state_word(gen->state);
	uint64_t tick = word == 0 ? 0 : (word - 1) >> gen->shape.seq_bits;
	int64_t since = now_ms - gen->layout.epoch_ms;
	int64_t now_tick = since / gen->layout.tick_ms - (since % gen->layout.tick_ms < 0);

	*lead_ms = ((int64_t)tick - now_tick) * gen->layout.tick_ms;
	return FIRN_OK;
}

int
firn_gen_available(struct firn_gen *gen, uint64_t *count)
{
	int64_t now_ms;
	uint64_t tick;

	if (gen == NULL || count == NULL)
		return FIRN_E_INVALID;
	if (*gen->alive == 0)
		return FIRN_E_FORKED;
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	int error = firn_layout_tick(&gen->layout, now_ms, &tick);

	if (error != FIRN_OK)
		return error;
	uint64_t seen = firni_atomic64_load(&gen->state->word);
	uint64_t now_word = tick << gen->shape.seq_bits;
	uint64_t floor = firni_state_floor(gen->state, &gen->shape, tick);
	uint64_t first = seen > floor ? seen : floor;
	uint64_t bound = firni_atomic64_load(&gen->state->limit);

	if (bound > now_word + gen->lead_words)
		bound = now_word + gen->lead_words;
	*count = first < bound ? bound - first : 0;
	return FIRN_OK;
}

int
firn_gen_life(struct firn_gen *gen, uint64_t *life_ms)
{
	int64_t now_ms;

	if (gen == NULL || life_ms == NULL)
		return FIRN_E_INVALID;
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	uint64_t life = firn_layout_life_ms(&gen->layout, now_ms);
	uint64_t limit = firni_atomic64_load(&gen->state->limit);

	/* A state file's limit moves on by itself; the layout's end is what is left of it. */
	if (gen->mark == NULL && limit < firni_words_all(&gen->layout)) {
		uint64_t since = now_ms > gen->layout.epoch_ms
		                         ? (uint64_t)now_ms - (uint64_t)gen->layout.epoch_ms
		                         : 0;
		uint64_t end = (limit >> gen->shape.seq_bits) * gen->layout.tick_ms;
		uint64_t left = end > since ? end - since : 0;

		if (left < life)
			life = left;
	}
	*life_ms = firni_state_is_sealed(gen->state) ? 0 : life;
	return FIRN_OK;
}

void
firn_gen_stats(const struct firn_gen *gen, struct firn_gen_stats *stats)
{
	const struct firni_state *state = gen->state;
	uint64_t skipped = firni_state_total(state, FIRNI_TALLY_SKIPPED);
	uint64_t passed = firni_state_end(state) - firni_atomic64_load(&state->start);

	/* Words are dense: what was passed and not skipped was issued. A count under way may be ahead. */
	stats->ids_made = passed > skipped ? passed - skipped : 0;
	stats->words_skipped = skipped;
	stats->words_burnt = firni_state_total(state, FIRNI_TALLY_BURNT);
	stats->ticks_borrowed = firni_state_total(state, FIRNI_TALLY_BORROWED);
	stats->cas_retries = firni_state_total(state, FIRNI_TALLY_RETRIES);
	stats->renewals = firni_state_total(state, FIRNI_TALLY_RENEWALS);
	stats->refused_exhausted = firni_state_total(state, FIRNI_TALLY_EXHAUSTED);
	stats->refused_clock_back = firni_state_total(state, FIRNI_TALLY_CLOCK_BACK);
	stats->refused_fenced = firni_state_total(state, FIRNI_TALLY_FENCED);
	stats->refused_time_over = firni_state_total(state, FIRNI_TALLY_TIME_OVER);
	stats->refused_before_epoch = firni_state_total(state, FIRNI_TALLY_BEFORE_EPOCH);
	stats->refused_sealed = firni_state_total(state, FIRNI_TALLY_SEALED);
	stats->refused_forked = firni_state_total(state, FIRNI_TALLY_FORKED);
	stats->refused_clock = firni_state_total(state, FIRNI_TALLY_CLOCK);
	stats->observed_lifts = firni_state_total(state, FIRNI_TALLY_LIFTS);
}

const struct firn_layout *
firn_gen_layout(const struct firn_gen *gen)
{
	return &gen->layout;
}

uint64_t
firn_gen_node(const struct firn_gen *gen)
{
	return gen->node;
}
