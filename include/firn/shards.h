/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Shards: one word per processor that together look like one node. */
#ifndef FIRN_SHARDS_H
#define FIRN_SHARDS_H

#include <stdint.h>

#include <firn/detail/attributes.h>
#include <firn/gen.h>

/*
 * Shard i of N owns the sequence values that are i modulo N. It is a generator of its own:
 * its node has log2 N bits more, which lie where the sequence's lowest were. So every rule of
 * a generator is a shard's too, and decoders need not know.
 *
 * Where the kernel lets us (restartable sequences, Linux 4.18 and a libc that registers them;
 * x86-64 and little-endian aarch64), a shard that belongs to one processor is advanced without
 * an atomic operation. The last shard is for everybody else: threads without a registration,
 * processors beyond the shards, and whoever is interrupted too often. It is advanced
 * atomically, as all of them are where restartable sequences cannot be had.
 *
 * Order: IDs of one shard rise. Across shards, and so for a thread that is moved from one
 * processor to another, they may be out of order by a tick and the lead. A shard has
 * 2^seq_bits / N values a tick: one busy thread can use only those before it borrows.
 *
 * Any number of threads may use it at once.
 */
struct firn_shards;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Open count shards (a power of two, at most 2^seq_bits and 1024; 0: one for each processor
 * and one over, rounded up) of one private node. config as for firn_gen_open. 0, the errors
 * of firn_gen_open, FIRN_E_UNSUPPORTED for another sharing than FIRN_GEN_PRIVATE,
 * FIRN_E_LAYOUT where the layout has no field to spare (FIRN_LAYOUT_FIELDS_MAX).
 */
FIRN_API FIRN_MUST_USE int firn_shards_open(const struct firn_gen_config *config, uint32_t count,
                                            struct firn_shards **shards);

/* Close: no other thread may be in a call or make another. NULL is allowed. */
FIRN_API void firn_shards_close(struct firn_shards *shards);

/* The next ID from the shard of the processor we run on. Never blocks. Errors as firn_gen_next. */
FIRN_API FIRN_MUST_USE int firn_shards_next(struct firn_shards *shards, uint64_t *id);

/* The next count IDs, rising, all from one shard: all or none. */
FIRN_API FIRN_MUST_USE int firn_shards_next_n(struct firn_shards *shards, uint64_t id[], size_t count);

/* As for a generator, for all shards. The first error ends it: what was raised stays raised. */
FIRN_API FIRN_MUST_USE int firn_shards_raise_limit(struct firn_shards *shards, int64_t limit_ms);
FIRN_API FIRN_MUST_USE int firn_shards_observe(struct firn_shards *shards, uint64_t id);

/*
 * Close all words for good: after this returns no thread issues, not even one that was past
 * its checks. Interrupts the process's running threads once (membarrier). *end_ms as in
 * firn_gen_seal.
 */
FIRN_API void firn_shards_seal(struct firn_shards *shards, int64_t *end_ms);

/* Sums over all shards. */
FIRN_API void firn_shards_stats(const struct firn_shards *shards, struct firn_gen_stats *stats);

FIRN_API uint32_t firn_shards_count(const struct firn_shards *shards);

/* 1 if processors advance their shards without atomic operations. */
FIRN_API int firn_shards_restartable(const struct firn_shards *shards);

#ifdef __cplusplus
}
#endif

#endif
