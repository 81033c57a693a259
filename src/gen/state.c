/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The shared part of a generator: laying it out in memory, sealing it, counting in it. */
#include "gen/state.h"

#include <errno.h>

#include "gen/words.h"

/* Fits a memfd's first page together with room to spare, and is the same in every process. */
_Static_assert(sizeof(struct firni_state) <= 4096, "the state must fit one page");
_Static_assert(FIRNI_TALLY_CLOCK < FIRNI_TALLIES, "a stripe has room for every tally");

void
firni_state_init(struct firni_state *state, const struct firn_layout *layout, uint64_t node,
                 uint64_t start, uint64_t limit, enum firni_gate gate)
{
	uint64_t words = firni_words_all(layout);

	state->magic = FIRNI_STATE_MAGIC;
	state->fingerprint = firn_layout_fingerprint(layout);
	state->node = node;
	firni_atomic64_store(&state->start, start);
	firni_atomic64_store(&state->end, FIRNI_WORD_SEALED);
	firni_atomic64_store(&state->limit, limit < words ? limit : words);
	firni_atomic64_store(&state->floor, 0);
	firni_atomic64_store(&state->gate, gate);
	firni_atomic64_store(&state->word, start);
}

uint64_t
firni_state_seal(struct firni_state *state)
{
	uint64_t word = firni_word_seal(&state->word);

	/*
	 * Only the first seal finds a word. A reader between the exchange and this store sees
	 * "sealed, end not yet known" and waits for no one: it takes the limit, which is above.
	 */
	if (word < FIRNI_WORD_SEALED)
		firni_atomic64_store(&state->end, word);
	return firni_state_word(state);
}

int
firni_state_is_sealed(const struct firni_state *state)
{
	return firni_atomic64_load(&state->word) >= FIRNI_WORD_SEALED;
}

uint64_t
firni_state_end(const struct firni_state *state)
{
	uint64_t word = firni_atomic64_load(&state->word);

	if (word >= FIRNI_WORD_SEALED)
		word = firni_atomic64_load(&state->end);
	if (word >= FIRNI_WORD_SEALED)
		word = firni_atomic64_load(&state->limit);
	return word;
}

uint64_t
firni_state_word(const struct firni_state *state)
{
	uint64_t end = firni_state_end(state);
	uint64_t floor = firni_atomic64_load(&state->floor);
	uint64_t limit = firni_atomic64_load(&state->limit);
	uint64_t word = end > floor ? end : floor;

	/* What was added in vain may lie past the limit, but nothing issued does. */
	return word < limit ? word : limit;
}

void
firni_state_count(struct firni_state *state, enum firni_tally tally, uint64_t amount)
{
	/* Where errno lies tells threads apart without thread-local storage of our own. */
	uintptr_t thread = (uintptr_t)&errno;
	uint64_t stripe = (uint64_t)thread * UINT64_C(0x9E3779B97F4A7C15) >> 61;

	firni_atomic64_fetch_add(&state->stripe[stripe % FIRNI_STRIPES].tally[tally], amount);
}

uint64_t
firni_state_total(const struct firni_state *state, enum firni_tally tally)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < FIRNI_STRIPES; i++)
		total += firni_atomic64_load(&state->stripe[i].tally[tally]);
	return total;
}
