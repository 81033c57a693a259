/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: taking a stock of words, adapting its size, burning what is left of it. */
#include <firn/block.h>

#include <firn/detail/block.h>
#include <firn/error.h>

#include "gen/fork.h"
#include "gen/state.h"

#define SIZE_DEFAULT 256
#define SIZE_FIRST 16
#define SIZE_MAX_MAX 65536

int
firn_block_init(struct firn_block *block, struct firn_gen *gen, uint32_t size_max)
{
	if (block == NULL || gen == NULL || size_max > SIZE_MAX_MAX)
		return FIRN_E_INVALID;
	block->gen = gen;
	block->alive = gen->range_alive;
	block->from_ms = 0;
	block->tick_ms = gen->shape.tick_ms;
	block->word = 0;
	block->end = 0;
	block->size_max = size_max == 0 ? SIZE_DEFAULT : size_max;
	block->size = block->size_max < SIZE_FIRST ? block->size_max : SIZE_FIRST;
	return FIRN_OK;
}

int
firn_block_next(struct firn_block *block, uint64_t *id)
{
	if (FIRNI_UNLIKELY(block == NULL || id == NULL || block->gen == NULL))
		return FIRN_E_INVALID;
	return firni_block_next(block, &block->gen->shape, id);
}

void
firn_block_drop(struct firn_block *block)
{
	if (block == NULL || block->gen == NULL)
		return;
	/* In a child the words are the parent's to burn. */
	uint64_t left = block->end - block->word;

	if (left != 0 && *block->alive != 0) {
		firni_state_count(block->gen->state, FIRNI_TALLY_SKIPPED, left);
		firni_state_count(block->gen->state, FIRNI_TALLY_BURNT, left);
	}
	block->end = block->word;
}

/* A tick used it up: twice as many next time. Half of it went to waste: half as many. */
static void
adapt(struct firn_block *block)
{
	uint64_t left = block->end - block->word;

	if (left == 0 && block->size < block->size_max)
		block->size = block->size > block->size_max / 2 ? block->size_max : block->size * 2;
	else if (left > block->size / 2 && block->size > 1)
		block->size /= 2;
}

int
firni_block_refill(struct firn_block *block, int64_t now_ms)
{
	struct firn_gen *gen = block->gen;
	struct firni_take take;
	uint64_t available = 0;

	adapt(block);
	firn_block_drop(block);
	/* Before the words are taken: a child that is made in between must find its page wiped. */
	int error = firni_fork_guard(&block->alive);

	if (error != FIRN_OK)
		return error;
	/* Near a bound fewer will do. That is a guess: others take as well. */
	uint64_t count = block->size;

	if (firn_gen_available(gen, &available) == FIRN_OK && available < count)
		count = available;
	if (count == 0)
		count = 1;
	error = firni_gen_take(gen, &gen->shape, now_ms, count, &take);
	if (error != FIRN_OK && count > 1) {
		count = 1;
		error = firni_gen_take(gen, &gen->shape, now_ms, count, &take);
	}
	if (error != FIRN_OK)
		return error;
	uint64_t since_ms = (uint64_t)now_ms - (uint64_t)gen->shape.epoch_ms;

	block->from_ms = (int64_t)((uint64_t)now_ms - since_ms % gen->shape.tick_ms);
	block->word = take.first;
	block->end = take.first + count;
	return firni_gen_settle(gen, &gen->shape, now_ms, count, &take);
}
