/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A block's straight path, shared by the stable and the inline lane. */
#ifndef FIRN_DETAIL_BLOCK_H
#define FIRN_DETAIL_BLOCK_H

#include <firn/block.h>
#include <firn/detail/gen.h>

/*
 * One word out of the block. The child test stands after the word was taken out, as in
 * firni_gen_take: a fork in the middle of a call then hands the word to the parent alone.
 */
FIRNI_INLINE int
firni_block_next(struct firn_block *block, const struct firn_shape *shape, uint64_t *id)
{
	struct firn_gen *gen = block->gen;
	int64_t now_ms;

	for (;;) {
		if (FIRNI_UNLIKELY(!firni_clock_at_hand(gen->clock, &now_ms) &&
		                   firni_clock_read(gen->clock, &now_ms) != FIRN_OK))
			return firni_gen_refuse_clock(gen);
		uint64_t word = block->word;

		if (FIRNI_LIKELY(word != block->end && (uint64_t)now_ms - (uint64_t)block->from_ms < block->tick_ms)) {
			block->word = word + 1;
			if (FIRNI_LIKELY(*block->alive != 0)) {
				*id = firni_shape_id(shape, gen->node_image, word);
				return FIRN_OK;
			}
			block->end = block->word;
		}
		int error = firni_block_refill(block, now_ms);

		if (FIRNI_UNLIKELY(error != FIRN_OK))
			return error;
	}
}

#endif
