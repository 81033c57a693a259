/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The word: the one rule of issuing and the few moves on it. Every lane and the model include this file. */
#ifndef FIRN_DETAIL_WORD_H
#define FIRN_DETAIL_WORD_H

#include <stdint.h>

#include <firn/detail/atomic.h>
#include <firn/detail/attributes.h>

/*
 * The word is the lowest value not yet handed out: tick << seq_bits | sequence. Words are
 * dense; an ID is a word with the node's bits put in. A layout has words [0, 2^63 or less),
 * so the value below lies above every limit and closes the word by the ordinary test.
 */
#define FIRNI_WORD_SEALED UINT64_MAX

/* One take, seen from outside. */
struct firni_take {
	uint64_t seen;    /* the word before, also when refused */
	uint64_t first;   /* the words first .. first + count - 1 are the caller's */
	uint64_t retries; /* failed swaps */
};

/*
 * Take count words at or above floor, all of them below bound. Covers S-10 to S-14.
 *
 * Keeps     W1: the word only grows, and no value is owned twice.
 *           W2: everything owned is below bound, hence below the limit it was made from.
 * Because   a success swaps some seen for first + count > seen and owns only values in
 *           between; the successes on one object form one order, and each starts where
 *           the one before it ended or above (W1). first + count <= bound is tested on
 *           the very values that are swapped in, the last of the batch included, without
 *           an addition that could wrap (W2).
 * Order     relaxed throughout. The word publishes nothing but itself, so there is no
 *           edge; coherence of a single object is all W1 uses.
 * Stale     floor and bound are made by the caller from one clock reading and one reading
 *           of the limit. An old clock lowers one side of a max; an old limit is lower
 *           than the true one, because it only rises, so it refuses early and never owns
 *           too much. A retry needs no new reading of either.
 * Seal      a sealed word is above every bound, so the test refuses it; a take that was
 *           past its test when the seal landed fails its swap and meets the seal.
 * Progress  lock-free. A failure means another caller advanced, or the weak form failed
 *           by itself on an LL/SC machine.
 * Breaks if a second location must agree with the word. Then success releases, the reader
 *           acquires, and the pair gets an edge label.
 * Checked   tests/model/word_model.cpp  tests/stress/  tests/golden/  tests/mutants/
 */
FIRNI_INLINE int
firni_word_take(struct firni_atomic64 *word, uint64_t floor, uint64_t bound, uint64_t count,
                struct firni_take *take)
{
	uint64_t seen = firni_atomic64_load(word);
	uint64_t retries = 0;
	uint64_t first;

	for (;;) {
		first = seen > floor ? seen : floor;
		if (FIRNI_UNLIKELY(first >= bound || bound - first < count)) {
			take->seen = seen;
			take->retries = retries;
			return 0;
		}
		uint64_t expected = seen;
		if (FIRNI_LIKELY(firni_atomic64_cas_weak(word, &expected, first + count)))
			break;
		seen = expected;
		retries++;
	}
	take->seen = seen;
	take->first = first;
	take->retries = retries;
	return 1;
}

/*
 * Lift the word to at least value, unless it is sealed. Returns what it was.
 *
 * Keeps     W1. Owns nothing: the values passed over are lost, never given twice.
 * Because   the swap goes from a smaller value to a larger one, or does not happen.
 * Order     relaxed, as above.
 */
FIRNI_INLINE uint64_t
firni_word_lift(struct firni_atomic64 *word, uint64_t value)
{
	uint64_t seen = firni_atomic64_load(word);

	while (seen < value && !firni_atomic64_cas_weak(word, &seen, value))
		;
	return seen;
}

/*
 * Close the word for good. Returns what it was: FIRNI_WORD_SEALED if it was closed already,
 * else everything owned, now and ever, is below the returned value.
 *
 * Because   the exchange takes its place in the one order of the word: takes before it own
 *           values below what it returns, takes after it read the sealed value and refuse.
 */
FIRNI_INLINE uint64_t
firni_word_seal(struct firni_atomic64 *word)
{
	return firni_atomic64_exchange(word, FIRNI_WORD_SEALED);
}

/*
 * Raise the limit to value if it is below it. Whoever calls this has made sure that nobody
 * else may issue below value: the mark is durable, or the lease says so. Returns what it was.
 * The limit never falls, which is what firni_word_take's stale reading rests on.
 */
FIRNI_INLINE uint64_t
firni_limit_raise(struct firni_atomic64 *limit, uint64_t value)
{
	return firni_word_lift(limit, value);
}

#endif
