/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Shards' straight path, shared by the stable and the inline lane. */
#ifndef FIRN_DETAIL_SHARDS_H
#define FIRN_DETAIL_SHARDS_H

#include <firn/detail/gen.h>
#include <firn/detail/percpu.h>
#include <firn/shards.h>

#define FIRNI_SHARDS_MAX 1024

struct firn_shards {
	uint32_t count;
	uint32_t own_count; /* processors 0 and up to it have a word of their own; 0: none has */
	struct firn_clock *clock;
	/* Set before processors' words are touched by others, never unset. Read inside the sequence. */
	struct firni_atomic64 closed;
	struct firn_gen *gen[FIRNI_SHARDS_MAX];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Any count, and who was moved or interrupted: several tries, then the last shard. */
FIRN_API int firni_shards_next_n_at(struct firn_shards *shards, int64_t now_ms, uint64_t id[], size_t count);

#ifdef __cplusplus
}
#endif

#ifdef FIRNI_PERCPU
/* One try of firni_gen_take on the word of a processor: FIRN_OK and *status, or why it was refused. */
FIRNI_INLINE int
firni_shards_try(struct firn_shards *shards, const struct firn_shape *shape, int32_t cpu, int64_t now_ms,
                 uint64_t count, enum firni_percpu *status, struct firni_take *take)
{
	struct firn_gen *gen = shards->gen[cpu];
	struct firni_bounds at;
	int error = firni_gen_bounds(gen, shape, now_ms, count, &at);

	if (FIRNI_UNLIKELY(error != FIRN_OK))
		return error;
	take->loss.retries = 0;
	take->loss.burnt = 0;
	*status = firni_percpu_take(cpu, &gen->state->word, &shards->closed, at.floor, at.bound, count, take);
	if (FIRNI_LIKELY(*status == FIRNI_PERCPU_OK)) {
		if (FIRNI_UNLIKELY(*gen->alive == 0))
			return firni_gen_refused(firni_gen_refuse_forked(gen));
		return FIRN_OK;
	}
	if (*status == FIRNI_PERCPU_AGAIN)
		return FIRN_OK;
	uint64_t seen = *status == FIRNI_PERCPU_CLOSED ? FIRNI_WORD_SEALED : take->seen;

	return firni_gen_refused(firni_gen_refuse(gen, now_ms, count, at.limit, seen, take->loss));
}
#endif

/* shape is a shard's: all have the same. */
FIRNI_INLINE int
firni_shards_next(struct firn_shards *shards, const struct firn_shape *shape, uint64_t *id)
{
	int64_t now_ms;

	if (!firni_clock_at_hand(shards->clock, &now_ms))
		return firn_shards_next_n(shards, id, 1);
#ifdef FIRNI_PERCPU
	int32_t cpu = firni_rseq_cpu();

	if (FIRNI_LIKELY((uint32_t)cpu < shards->own_count)) {
		enum firni_percpu status = FIRNI_PERCPU_AGAIN;
		struct firni_take take;
		int error = firni_shards_try(shards, shape, cpu, now_ms, 1, &status, &take);

		if (FIRNI_UNLIKELY(error != FIRN_OK))
			return error;
		if (FIRNI_LIKELY(status == FIRNI_PERCPU_OK)) {
			struct firn_gen *gen = shards->gen[cpu];

			*id = firni_shape_id(shape, gen->node_image, take.first);
			return firni_gen_settle(gen, shape, now_ms, 1, &take);
		}
	}
#else
	(void)shape;
#endif
	return firni_shards_next_n_at(shards, now_ms, id, 1);
}

#endif
