/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for an ID: one deadline for the whole call, sleeping, renewing the mark on the way. */
#include <firn/gen.h>

#include <firn/detail/gen.h>
#include <firn/error.h>

#include "clock/cold.h"
#include "gen/state.h"
#include "gen/words.h"

#define REST_NS 1000000 /* one wait of S-30 */
#define REST_NS_MAX (8 * REST_NS)

/*
 * How many ms the clock must move before count words fit under the lead bound (S-30); 0 if
 * they fit now, -1 if no wait helps. Asked only after a refusal: the path knows nothing of it.
 */
static int64_t
over_ms(struct firn_gen *gen, uint64_t count)
{
	uint64_t seen = firni_atomic64_load(&gen->state->word);
	uint64_t words = firni_words_all(&gen->layout);
	uint64_t tick;
	int64_t now_ms;

	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK ||
	    firn_layout_tick(&gen->layout, now_ms, &tick) != FIRN_OK)
		return -1;
	uint64_t floor = firni_state_floor(gen->state, &gen->shape, tick);
	uint64_t first = seen > floor ? seen : floor;

	if (first >= words || words - first < count)
		return -1;
	uint64_t top = (first + count - 1) >> gen->shape.seq_bits;

	if (top <= tick)
		return 0;
	uint64_t lead = (top - tick) * gen->layout.tick_ms;

	return lead <= gen->lead_ms_max ? 0 : (int64_t)(lead - gen->lead_ms_max);
}

/*
 * What a call waits for: one of the plain calls, on whose answer the loop decides. The
 * deadline is the whole call's.
 */
struct wish {
	uint64_t count;
	uint64_t *id;
	struct firn_range *range; /* if not NULL: a range is wanted, not an array */
};

static int
try_now(struct firn_gen *gen, const struct wish *wish)
{
	return wish->range != NULL ? firn_gen_reserve(gen, wish->count, wish->range)
	                           : firn_gen_next_n(gen, wish->id, wish->count);
}

/* The path, again and again until it succeeds, cannot, or the time is up. */
static int
take_wait(struct firn_gen *gen, uint32_t wait_ms, const struct wish *wish)
{
	/* The first try takes no time worth counting, and mostly it is the only one: the deadline starts after it. */
	int error = try_now(gen, wish);

	if (FIRNI_LIKELY(error == FIRN_OK || gen == NULL))
		return error;
	int64_t start_ns = firn_clock_elapsed_ns(gen->clock);
	int64_t rest_ns = 2 * REST_NS;

	for (;; error = try_now(gen, wish)) {
		int64_t over = 1;

		if (error == FIRN_OK)
			return FIRN_OK;
		if (error == FIRN_E_FENCED && gen->mark != NULL) {
			uint64_t limit = firni_atomic64_load(&gen->state->limit);
			int renewed = firn_gen_renew(gen, NULL);

			if (renewed != FIRN_OK)
				return renewed;
			/* Unchanged: the batch reaches further than the mark, until the clock has moved. */
			if (firni_atomic64_load(&gen->state->limit) != limit)
				continue;
		} else if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK) {
			over = over_ms(gen, wish->count);
		} else {
			return error;
		}

		int64_t now_ns = firn_clock_elapsed_ns(gen->clock);
		int64_t left_ns = (int64_t)wait_ms * 1000000 - (now_ns - start_ns);

		if (start_ns < 0 || now_ns < 0 || over < 0 || over > wait_ms || left_ns < over * 1000000 ||
		    left_ns <= 0)
			return error;
		/* 0: the clock moved between the refusal and the question. */
		if (over > 0)
			firni_clock_rest(gen->clock, REST_NS, left_ns < rest_ns ? left_ns : rest_ns);
		/* Refused again, it came in vain: others take all there is, and it may come less often. */
		if (rest_ns < REST_NS_MAX)
			rest_ns *= 2;
	}
}

int
firn_gen_next_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t *id)
{
	return take_wait(gen, wait_ms, &(struct wish){1, id, NULL});
}

int
firn_gen_next_n_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t id[], size_t count)
{
	return take_wait(gen, wait_ms, &(struct wish){count, id, NULL});
}

int
firn_gen_reserve_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t count, struct firn_range *range)
{
	/* Without a range the wish would be for an array. */
	return range == NULL ? FIRN_E_INVALID : take_wait(gen, wait_ms, &(struct wish){count, NULL, range});
}
