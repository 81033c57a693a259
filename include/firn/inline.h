/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The inline lane: the same path with the layout known at compile time. Opt in by including this file. */
#ifndef FIRN_INLINE_H
#define FIRN_INLINE_H

#include <firn/detail/block.h>
#include <firn/detail/gen.h>
#include <firn/detail/shards.h>
#include <firn/gen.h>

/*
 * This lane trades the stable ABI for speed: a program that uses it must be compiled against
 * the headers of the very libfirn it runs with (firn_inline_check refuses another).
 *
 *     static const struct firn_shape shape = FIRN_INLINE_SHAPE(1767225600000, 1, 41, 10, 12);
 *     ...
 *     if (firn_inline_check(gen, &shape) != 0) ...      once, after opening
 *     if (firn_inline_next(gen, &shape, &id) != 0) ...  on the path
 *
 * In a strict ISO mode (-std=c11) define _POSIX_C_SOURCE as 200809L before the first include:
 * else the kernel's clock is hidden and each reading is a call into the library.
 */

/*
 * Time on top, the node below it, the sequence at the bottom: epoch in Unix ms, tick in ms,
 * bits. The node may be several fields; node_bits is their sum.
 */
#define FIRN_INLINE_SHAPE(epoch_ms, tick_ms, time_bits, node_bits, seq_bits) \
	{ (epoch_ms), FIRNI_INLINE_SPAN(time_bits, tick_ms), (UINT64_C(1) << (seq_bits)) - 1, (tick_ms), \
	  (seq_bits), 0, (node_bits), 0 }

/* Milliseconds of 2^time_bits ticks, at most 2^62. */
#define FIRNI_INLINE_SPAN(time_bits, tick_ms) \
	((UINT64_C(1) << (time_bits)) > (UINT64_C(1) << 62) / (tick_ms) \
	         ? UINT64_C(1) << 62 \
	         : (UINT64_C(1) << (time_bits)) * (tick_ms))

#ifdef __cplusplus
extern "C" {
#endif

/* The size of this lane's structures in the library that runs. */
FIRN_API FIRN_MUST_USE int firni_inline_check(const struct firn_gen *gen, const struct firn_shape *shape,
                                              size_t gen_size, size_t clock_size);
FIRN_API FIRN_MUST_USE int firni_inline_shards_check(const struct firn_shards *shards,
                                                     const struct firn_shape *shape, size_t shards_size,
                                                     size_t gen_size, size_t clock_size);

#ifdef __cplusplus
}
#endif

/*
 * 0 if shape is the generator's own and the headers fit the library; FIRN_E_INVALID for
 * other headers or a spread (which this lane leaves to the stable one), FIRN_E_LAYOUT for
 * another layout.
 */
static inline FIRN_MUST_USE int
firn_inline_check(const struct firn_gen *gen, const struct firn_shape *shape)
{
	return firni_inline_check(gen, shape, sizeof(struct firn_gen), sizeof(struct firn_clock));
}

/* firn_gen_next, inlined. shape is a constant that firn_inline_check accepted; gen is not NULL. */
FIRNI_INLINE FIRN_MUST_USE int
firn_inline_next(struct firn_gen *gen, const struct firn_shape *shape, uint64_t *id)
{
	int64_t now_ms;

	if (!firni_clock_at_hand(gen->clock, &now_ms)) {
		int error = firni_gen_read_clock(gen, &now_ms);

		if (FIRNI_UNLIKELY(error != FIRN_OK))
			return error;
	}
	return firni_gen_next_at(gen, shape, now_ms, id);
}

/* firn_block_next, inlined. shape is the generator's, as above. */
FIRNI_INLINE FIRN_MUST_USE int
firn_inline_block_next(struct firn_block *block, const struct firn_shape *shape, uint64_t *id)
{
	return firni_block_next(block, shape, id);
}

/*
 * The shape of 2^shard_bits shards of such a layout: their number lies where the sequence's
 * lowest bits were. firn_inline_shards_check as firn_inline_check.
 */
#define FIRN_INLINE_SHARDS_SHAPE(epoch_ms, tick_ms, time_bits, node_bits, seq_bits, shard_bits) \
	{ (epoch_ms), FIRNI_INLINE_SPAN(time_bits, tick_ms), (UINT64_C(1) << ((seq_bits) - (shard_bits))) - 1, \
	  (tick_ms), (seq_bits) - (shard_bits), (shard_bits), (node_bits) + (shard_bits), 0 }

static inline FIRN_MUST_USE int
firn_inline_shards_check(const struct firn_shards *shards, const struct firn_shape *shape)
{
	return firni_inline_shards_check(shards, shape, sizeof(struct firn_shards), sizeof(struct firn_gen),
	                                 sizeof(struct firn_clock));
}

/* firn_shards_next, inlined. shape is a constant that firn_inline_shards_check accepted. */
FIRNI_INLINE FIRN_MUST_USE int
firn_inline_shards_next(struct firn_shards *shards, const struct firn_shape *shape, uint64_t *id)
{
	return firni_shards_next(shards, shape, id);
}

/* firn_gen_next_n, inlined. count is at least 1. */
FIRNI_INLINE FIRN_MUST_USE int
firn_inline_next_n(struct firn_gen *gen, const struct firn_shape *shape, uint64_t id[], size_t count)
{
	int64_t now_ms;

	if (!firni_clock_at_hand(gen->clock, &now_ms)) {
		int error = firni_gen_read_clock(gen, &now_ms);

		if (FIRNI_UNLIKELY(error != FIRN_OK))
			return error;
	}
	return firni_gen_next_n_at(gen, shape, now_ms, id, count);
}

#endif
