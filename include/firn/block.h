/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: a thread's own stock of words, handed out without an atomic operation while the tick stays. */
#ifndef FIRN_BLOCK_H
#define FIRN_BLOCK_H

#include <stdint.h>

#include <firn/detail/attributes.h>
#include <firn/gen.h>

/*
 * Belongs to one thread at a time. Takes some words from a generator by one operation and
 * hands them out one by one; when the clock enters another tick what is left is burnt and
 * more are taken. How many follows what a tick needed, up to a maximum. IDs of one block
 * rise; those of different blocks, or of a block and its generator, may be out of order by a
 * tick and the lead. What was taken before a seal is the taker's still, as with a batch.
 */
struct firn_block {
	struct firn_gen *gen;
	const volatile uint64_t *alive; /* 0 in a child: the words are the parent's */
	int64_t from_ms;                /* the words are fresh for readings from here */
	uint64_t tick_ms;               /* for so long */
	uint64_t word;                  /* the next one */
	uint64_t end;                   /* one past the last */
	uint32_t size;                  /* how many will be taken next */
	uint32_t size_max;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Make an empty block. size_max is 1 to 65536; 0 means 256. Each block may burn up to that
 * many sequence values a tick: choose it well below what the layout has in one, divided by
 * the number of blocks. 0 or FIRN_E_INVALID.
 */
FIRN_API FIRN_MUST_USE int firn_block_init(struct firn_block *block, struct firn_gen *gen, uint32_t size_max);

/*
 * The next ID. Never blocks. Errors as firn_gen_next. In a child of fork a private generator's
 * block is refused (FIRN_E_FORKED); a shared one's drops the parent's words and takes its own.
 */
FIRN_API FIRN_MUST_USE int firn_block_next(struct firn_block *block, uint64_t *id);

/* Burn what is left, so that the generator's counters are exact, and be empty. */
FIRN_API void firn_block_drop(struct firn_block *block);

/* The cold path of both lanes: burn, adapt, take. 0 with words in the block, or an error. */
FIRN_API int firni_block_refill(struct firn_block *block, int64_t now_ms);


#ifdef __cplusplus
}
#endif

#endif
