/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The generator's memory and its straight path, shared by the stable and the inline lane. */
#ifndef FIRN_DETAIL_GEN_H
#define FIRN_DETAIL_GEN_H

#include <stddef.h>
#include <stdint.h>

#include <firn/detail/atomic.h>
#include <firn/detail/attributes.h>
#include <firn/detail/clock.h>
#include <firn/detail/word.h>
#include <firn/error.h>
#include <firn/layout.h>

/* What the path needs of a layout. Constant for a generator; a compile-time constant in the inline lane. */
struct firn_shape {
	int64_t epoch_ms;
	uint64_t span_ms;    /* readings in [epoch_ms, epoch_ms + span_ms) have a tick; at most 2^62 */
	uint64_t seq_mask;   /* the sequence's bits of a word */
	uint32_t tick_ms;
	uint8_t seq_bits;
	uint8_t seq_shift;
	uint8_t time_rise;   /* by how much the tick lies higher in an ID than in a word: the node's bits */
	uint8_t spread_bits;
};

/* Counters off the path. A stripe is shared by few threads; a sum over all is exact at rest. */
enum firni_tally {
	FIRNI_TALLY_SKIPPED,  /* words passed over by takes, or burnt */
	FIRNI_TALLY_BURNT,
	FIRNI_TALLY_BORROWED,
	FIRNI_TALLY_RETRIES,
	FIRNI_TALLY_LIFTS,
	FIRNI_TALLY_RENEWALS,
	FIRNI_TALLY_EXHAUSTED,
	FIRNI_TALLY_CLOCK_BACK,
	FIRNI_TALLY_FENCED,
	FIRNI_TALLY_TIME_OVER,
	FIRNI_TALLY_BEFORE_EPOCH,
	FIRNI_TALLY_SEALED,
	FIRNI_TALLY_FORKED,
	FIRNI_TALLY_CLOCK,
	FIRNI_TALLIES = 16
};
#define FIRNI_STRIPES 8

struct firni_stripe {
	struct firni_atomic64 tally[FIRNI_TALLIES];
} FIRNI_ALIGNED(FIRNI_LINE);

/* Whether takers may add first and ask afterwards. */
enum firni_gate {
	FIRNI_GATE_OPEN = 0,
	FIRNI_GATE_SHUT = 1,  /* since a refusal, until a take by the rule succeeds */
	FIRNI_GATE_NEVER = 2  /* the CAS lane */
};

/*
 * The shared part: pointer-free, so it may lie in the handle, in shared memory or in a
 * memfd. The word has a line for itself, because a taker that adds first never reads it;
 * what takers only read has another.
 */
struct firni_state {
	struct firni_atomic64 word;  /* writers: takers, seal */
	/* Read by takers, written a few times a second at most. */
	struct firni_atomic64 limit FIRNI_ALIGNED(FIRNI_LINE); /* writers: raise_limit, renew */
	struct firni_atomic64 floor; /* nothing below it is issued from now on; writers: observe, openers */
	struct firni_atomic64 gate;  /* enum firni_gate */
	/* Off the path. */
	struct firni_atomic64 end FIRNI_ALIGNED(FIRNI_LINE); /* the word that the first seal found */
	struct firni_atomic64 start;   /* the word before the first ID */
	struct firni_atomic64 synced;  /* FILE: sequence number of the newest slot known durable */
	struct firni_atomic64 failure; /* FILE: the final error, negated; 0 while healthy */
	uint64_t magic;                /* format tag; written once, before anybody else can see it */
	uint64_t identity[2];          /* random; ties this memory to the slots that were written for it */
	uint64_t fingerprint;          /* of the layout */
	uint64_t node;
	struct firni_stripe stripe[FIRNI_STRIPES];
} FIRNI_ALIGNED(FIRNI_LINE);

struct firni_mark_file;  /* src/gen/mark_file.h */
struct firni_open_entry; /* src/gen/open_list.c */

struct firn_gen {
	/* Read on every call, never written after opening. */
	struct firni_state *state;
	struct firn_clock *clock;
	const volatile uint64_t *alive; /* 0 in a child that must not issue: a page wiped by fork, or a constant 1 */
	uint64_t node_image;            /* the node's bits where they lie in an ID */
	uint64_t lead_words;            /* first word beyond the lead bound, counted from the clock's tick */
	struct firn_shape shape;
	/* Off the path. */
	const volatile uint64_t *range_alive; /* as alive, but always the wiped page: a range is never shared */
	uint64_t node;
	uint32_t lead_ms_max;
	uint32_t lock_wait_ms;
	uint32_t horizon_ms;
	int32_t sharing;                /* enum firn_gen_sharing */
	enum firni_gate gate;           /* what a state that we found begins with */
	int32_t owner_pid;              /* who opened it */
	int32_t allocated;              /* by us, rather than in the caller's memory */
	struct firni_mark_file *mark;   /* FILE only */
	struct firni_open_entry *open;  /* PRIVATE and SHARED: our entry among the process's generators */
	struct firn_layout layout;
	struct firni_state own;         /* PRIVATE: the state itself */
} FIRNI_ALIGNED(FIRNI_LINE);

#ifdef __cplusplus
extern "C" {
#endif

/* Count a take that entered a tick, skipped words or lost a swap. Lock-free, any thread. FIRN_OK. */
FIRN_API int firni_gen_turn(struct firn_gen *gen, int64_t now_ms, uint64_t count, uint64_t seen,
                            uint64_t first, struct firni_loss loss);

/* Name and count a refusal: which bound it was that the values seen did not meet. */
FIRN_API int firni_gen_refuse(struct firn_gen *gen, int64_t now_ms, uint64_t count, uint64_t limit,
                              uint64_t seen, struct firni_loss loss);

/* The cold exit of a failed reading: counted, FIRN_E_FORKED or FIRN_E_CLOCK. */
FIRN_API int firni_gen_refuse_clock(struct firn_gen *gen);

/* The cold exit of a child: counted, FIRN_E_FORKED. */
FIRN_API int firni_gen_refuse_forked(struct firn_gen *gen);

#ifdef __cplusplus
}
#endif

FIRNI_INLINE uint64_t
firni_shape_id(const struct firn_shape *shape, uint64_t node_image, uint64_t word)
{
	return (word & ~shape->seq_mask) << shape->time_rise | (word & shape->seq_mask) << shape->seq_shift |
	       node_image;
}

/* Where in a fresh tick the sequence starts: Fibonacci hashing, so that neighbouring ticks lie far apart. */
FIRNI_INLINE uint64_t
firni_shape_offset(const struct firn_shape *shape, uint64_t tick)
{
	if (shape->spread_bits == 0)
		return 0;
	return tick * UINT64_C(0x9E3779B97F4A7C15) >> (64 - shape->spread_bits);
}

/* The tick of a reading, counted from the epoch in ms. */
FIRNI_INLINE uint64_t
firni_shape_tick(const struct firn_shape *shape, uint64_t since_ms)
{
	/* Not "!= 1": GCC then folds the test away and divides every time. */
	return FIRNI_UNLIKELY(shape->tick_ms > 1) ? since_ms / shape->tick_ms : since_ms;
}

/* The error of a cold exit, which the compiler may take to be one: the call then stands in tail position. */
FIRNI_INLINE int
firni_gen_refused(int error)
{
	if (error == FIRN_OK)
		__builtin_unreachable();
	return error;
}

/* Nothing below it may be issued at that tick: whichever is highest of the clock and what was observed. */
FIRNI_INLINE uint64_t
firni_state_floor(const struct firni_state *state, const struct firn_shape *shape, uint64_t tick)
{
	uint64_t observed = firni_atomic64_load(&state->floor);
	uint64_t now_word = (tick << shape->seq_bits) + firni_shape_offset(shape, tick);

	return now_word > observed ? now_word : observed;
}

/* Between what a take must lie at one reading. */
struct firni_bounds {
	uint64_t floor;
	uint64_t bound; /* the lower of the lead's and the limit's */
	uint64_t limit;
};

/* The bounds for a reading: loads of the limit and the floor, no branch but for readings that have no tick. */
FIRNI_INLINE int
firni_gen_bounds(struct firn_gen *gen, const struct firn_shape *shape, int64_t now_ms, uint64_t count,
                 struct firni_bounds *bounds)
{
	struct firni_state *state = gen->state;
	struct firni_loss none = {0, 0};
	uint64_t since_ms = (uint64_t)now_ms - (uint64_t)shape->epoch_ms;

	bounds->limit = firni_atomic64_load(&state->limit);
	/* One test for both ends: a reading below the epoch wraps to far above any span. */
	if (FIRNI_UNLIKELY(since_ms >= shape->span_ms))
		return firni_gen_refused(
			firni_gen_refuse(gen, now_ms, count, bounds->limit, firni_atomic64_load(&state->word), none));

	uint64_t tick = firni_shape_tick(shape, since_ms);
	uint64_t lead_end = (tick << shape->seq_bits) + gen->lead_words; /* both at most 2^63: no wrap */

	bounds->floor = firni_state_floor(state, shape, tick);
	bounds->bound = lead_end < bounds->limit ? lead_end : bounds->limit;
	return FIRN_OK;
}

/*
 * The straight path, from a clock reading to owned words, with one cold exit for each way
 * to refuse. [S-10..S-14]
 *
 * The child test stands after the swap, so that a fork from a signal handler in the middle
 * of a call is seen too: the swap then went into the child's own copy of the word, and
 * nothing is handed out.
 *
 * Every exit, here and in firni_gen_settle, is a call in tail position: a caller that ends
 * with them needs no stack frame on its way to an ID.
 */
FIRNI_INLINE int
firni_gen_take(struct firn_gen *gen, const struct firn_shape *shape, int64_t now_ms, uint64_t count,
               struct firni_take *take)
{
	struct firni_state *state = gen->state;
	uint64_t gate = firni_atomic64_load(&state->gate);
	struct firni_bounds at;
	int error = firni_gen_bounds(gen, shape, now_ms, count, &at);

	if (FIRNI_UNLIKELY(error != FIRN_OK))
		return error;
	take->loss.retries = 0;
	take->loss.burnt = 0;
	if (FIRNI_UNLIKELY(gate != FIRNI_GATE_OPEN || count > FIRNI_WORD_ADD_MAX ||
	                   !firni_word_add(&state->word, at.floor, at.bound, count, take))) {
		if (FIRNI_UNLIKELY(!firni_word_take(&state->word, at.floor, at.bound, count, take)))
			return firni_gen_refused(
				firni_gen_refuse(gen, now_ms, count, at.limit, take->seen, take->loss));
		if (FIRNI_UNLIKELY(gate == FIRNI_GATE_SHUT))
			firni_atomic64_store(&state->gate, FIRNI_GATE_OPEN);
	}
	if (FIRNI_UNLIKELY(*gen->alive == 0))
		return firni_gen_refused(firni_gen_refuse_forked(gen));
	return FIRN_OK;
}

/*
 * A reading for a generator, by a call. A child that may not issue is told before: a ticker
 * would start a thread there only to refuse.
 */
FIRNI_INLINE int
firni_gen_read_clock(struct firn_gen *gen, int64_t *now_ms)
{
	if (FIRNI_UNLIKELY(*gen->alive == 0))
		return firni_gen_refused(firni_gen_refuse_forked(gen));
	if (FIRNI_UNLIKELY(firni_clock_read(gen->clock, now_ms) != FIRN_OK))
		return firni_gen_refused(firni_gen_refuse_clock(gen));
	return FIRN_OK;
}

/* The end of a call that took words and has handed them out: FIRN_OK, counted if there is what to count. */
FIRNI_INLINE int
firni_gen_settle(struct firn_gen *gen, const struct firn_shape *shape, int64_t now_ms, uint64_t count,
                 const struct firni_take *take)
{
	/* For one word it is the same test, and shorter: it hangs on what the add returned. */
	int entered = count == 1 ? (take->first & shape->seq_mask) == 0
	                         : ((take->seen - 1) ^ (take->first + count - 1)) > shape->seq_mask;

	/* Still in the tick of the last word, nothing skipped, no swap lost: nothing to count. */
	if (FIRNI_UNLIKELY(entered ||
	                   take->first != take->seen || (take->loss.retries | take->loss.burnt) != 0))
		return firni_gen_turn(gen, now_ms, count, take->seen, take->first, take->loss);
	return FIRN_OK;
}

/* One ID for a reading. */
FIRNI_INLINE int
firni_gen_next_at(struct firn_gen *gen, const struct firn_shape *shape, int64_t now_ms, uint64_t *id)
{
	struct firni_take take;
	int error = firni_gen_take(gen, shape, now_ms, 1, &take);

	if (FIRNI_UNLIKELY(error != FIRN_OK))
		return error;
	*id = firni_shape_id(shape, gen->node_image, take.first);
	return firni_gen_settle(gen, shape, now_ms, 1, &take);
}

/* count of them. */
FIRNI_INLINE int
firni_gen_next_n_at(struct firn_gen *gen, const struct firn_shape *shape, int64_t now_ms, uint64_t id[],
                    uint64_t count)
{
	struct firni_take take;
	int error = firni_gen_take(gen, shape, now_ms, count, &take);

	if (FIRNI_UNLIKELY(error != FIRN_OK))
		return error;
	for (uint64_t i = 0; i < count; i++)
		id[i] = firni_shape_id(shape, gen->node_image, take.first + i);
	return firni_gen_settle(gen, shape, now_ms, count, &take);
}

#endif
