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
 * so the values from here up lie above every limit and close the word by the ordinary test.
 * They are many, so that adds which meet a sealed word cannot carry it round to 0.
 */
#define FIRNI_WORD_SEALED (UINT64_C(3) << 62)

/* The most words that may be added at once: 2^42 adds of these, all under way, are out of reach. */
#define FIRNI_WORD_ADD_MAX (UINT64_C(1) << 20)

/* What contention cost one take. Eight bytes, so that it travels in a register. */
struct firni_loss {
	uint32_t retries; /* failed swaps */
	uint32_t burnt;   /* words added, not owned, and not given back */
};

/* One take, seen from outside. */
struct firni_take {
	uint64_t seen;  /* the word before, also when refused */
	uint64_t first; /* the words first .. first + count - 1 are the caller's */
	struct firni_loss loss;
};

/*
 * Take count words at or above floor, all of them below bound. Covers S-10 to S-14.
 * take->loss is the caller's to set before: this adds to it.
 *
 * Keeps     W1: no value is owned twice, and everything owned lies below the word.
 *           W2: everything owned is below bound, hence below the limit it was made from.
 * Because   a success swaps some seen for first + count > seen and owns only values in
 *           between: values at or above the word, which nobody owned, and which lie below
 *           it now (W1). first + count <= bound is tested on the very values that are
 *           swapped in, the last of the batch included, without an addition that could
 *           wrap (W2).
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
	uint64_t first;

	for (;;) {
		first = seen > floor ? seen : floor;
		if (FIRNI_UNLIKELY(first >= bound || bound - first < count)) {
			take->seen = seen;
			return 0;
		}
		uint64_t expected = seen;
		if (FIRNI_LIKELY(firni_atomic64_cas_weak(word, &expected, first + count)))
			break;
		seen = expected;
		take->loss.retries++;
	}
	take->seen = seen;
	take->first = first;
	return 1;
}

/*
 * The same, asking afterwards: add first, and own what the add returned if it lies where it
 * may. A lost race costs no second try, and the line is asked for once. 1 if owned; 0 if the
 * values are nobody's, and then the rule above decides.
 *
 * Keeps     W1 and W2.
 * Because   the add moves the word from first to first + count, so the values in between
 *           were at or above the word and are below it now; until the caller owns them
 *           nobody does. W2 is tested on the very values.
 *           Given back, they are at or above the word again: the swap succeeds only while
 *           the word is first + count, and then nobody owns or has under way a value from
 *           there up (W1), nor these (they are ours, and we do not own them). A word that
 *           went up and came back to first + count in between makes no difference: W1 is
 *           about the word as it is, not about how it came there.
 * So        the word may step back, but only over values that nobody was given. On one
 *           thread a refusal thus changes nothing.
 * Stale     as above.
 * Seal      an add to a sealed word leaves it sealed, see FIRNI_WORD_SEALED; giving back
 *           takes it to another sealed value. An add before the seal is below what the seal
 *           returned; its giving back fails.
 * Progress  wait-free. A storm of refusals is stopped by the caller's gate, not here.
 * Checked   as above.
 */
FIRNI_INLINE int
firni_word_add(struct firni_atomic64 *word, uint64_t floor, uint64_t bound, uint64_t count,
               struct firni_take *take)
{
	uint64_t first = firni_atomic64_fetch_add(word, count);
	uint64_t expected = first + count;

	take->seen = first;
	take->first = first;
	if (FIRNI_LIKELY(first >= floor && first < bound && bound - first >= count))
		return 1;
	while (!firni_atomic64_cas_weak(word, &expected, first))
		if (expected != first + count) {
			take->loss.burnt = (uint32_t)count;
			break;
		}
	return 0;
}

/*
 * Lift a word that only rises (a floor, a limit, a clock's highest reading) to at least
 * value. Returns what it was.
 *
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
 * Close the word for good. Returns what it was: FIRNI_WORD_SEALED or more if it was closed
 * already, else everything owned, now and ever, is below the returned value.
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
