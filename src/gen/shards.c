/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Shards: generators of one node that share its sequence, one for each processor and one over. */
#include <firn/shards.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <firn/detail/shards.h>
#include <firn/error.h>
#include <firn/inline.h>

#include "gen/state.h"

/* How often a thread that is interrupted tries before it takes the last shard. */
#define TRIES 16

/* From linux/membarrier.h, which a libc's headers need not bring. */
#define MEMBARRIER_RSEQ (1 << 7)
#define MEMBARRIER_REGISTER_RSEQ (1 << 8)

static uint32_t
default_count(const struct firn_layout *layout)
{
	uint32_t wanted = (uint32_t)get_nprocs_conf() + 1;
	uint32_t count = 1;

	while (count < wanted && count < FIRNI_SHARDS_MAX && count >> layout->seq_bits == 0)
		count *= 2;
	return count >> layout->seq_bits > 1 ? count / 2 : count;
}

/* The layout of a shard: the same bits, of which the sequence's lowest belong to the node. */
static int
shard_layout(const struct firn_layout *whole, uint8_t shard_bits, struct firn_layout *layout)
{
	struct firn_field field[FIRN_LAYOUT_FIELDS_MAX];
	unsigned count = 0;

	if (shard_bits == 0) {
		*layout = *whole;
		return FIRN_OK;
	}
	if (whole->field_count == FIRN_LAYOUT_FIELDS_MAX)
		return FIRN_E_LAYOUT;
	for (unsigned i = 0; i < whole->field_count; i++) {
		field[count] = whole->field[i];
		if (strcmp(field[count++].name, "sequence") != 0)
			continue;
		field[count - 1].bits = (uint8_t)(whole->seq_bits - shard_bits);
		memset(&field[count], 0, sizeof(field[count]));
		memcpy(field[count].name, "firn_shard", sizeof("firn_shard"));
		field[count++].bits = shard_bits;
	}
	return firn_layout_make(whole->epoch_ms, whole->tick_ms, field, count, layout, NULL);
}

/* The node number with the shard's bits where shard_layout has put them. */
static uint64_t
shard_node(const struct firn_layout *whole, uint8_t shard_bits, uint64_t node, uint32_t shard)
{
	unsigned below = whole->seq_shift; /* all bits under the sequence are the node's */
	uint64_t low = node & ((UINT64_C(1) << below) - 1);

	return (node >> below << shard_bits | shard) << below | low;
}

static int
open_all(const struct firn_gen_config *config, uint8_t shard_bits, struct firn_shards *shards)
{
	struct firn_gen_config own = *config;
	struct firn_layout layout;
	uint64_t image;
	int error = firn_layout_node_place(config->layout, config->node, &image);

	if (error == FIRN_OK)
		error = shard_layout(config->layout, shard_bits, &layout);
	own.layout = &layout;
	/* A processor's word is never added to: its sequence looks first. */
	if (shards->own_count != 0)
		own.lane = FIRN_GEN_CAS;
	for (uint32_t i = 0; error == FIRN_OK && i < shards->count; i++) {
		own.node = shard_node(config->layout, shard_bits, config->node, i);
		error = firn_gen_open(&own, &shards->gen[i]);
	}
	return error;
}

/* Has libc registered us, and can other processors' sequences be ended? */
static int
can_restart(void)
{
#ifdef FIRNI_PERCPU
	return __rseq_size != 0 && firni_rseq_cpu() >= 0 && syscall(SYS_membarrier, MEMBARRIER_REGISTER_RSEQ, 0, 0) == 0;
#else
	return 0;
#endif
}

int
firn_shards_open(const struct firn_gen_config *config, uint32_t count, struct firn_shards **shards)
{
	if (config == NULL || config->size != sizeof(*config) || config->layout == NULL || shards == NULL)
		return FIRN_E_INVALID;
	if (config->sharing != FIRN_GEN_PRIVATE)
		return FIRN_E_UNSUPPORTED;
	if (count == 0)
		count = default_count(config->layout);
	uint8_t shard_bits = (uint8_t)__builtin_ctz(count);

	if (count > FIRNI_SHARDS_MAX || count != UINT32_C(1) << shard_bits || shard_bits > config->layout->seq_bits)
		return FIRN_E_INVALID;
	struct firn_shards *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return FIRN_E_NO_MEMORY;
	made->count = count;
	made->clock = config->clock != NULL ? config->clock : firn_clock_default();
	made->own_count = can_restart() ? count - 1 : 0;
	int error = open_all(config, shard_bits, made);

	if (error != FIRN_OK) {
		firn_shards_close(made);
		return error;
	}
	*shards = made;
	return FIRN_OK;
}

void
firn_shards_close(struct firn_shards *shards)
{
	if (shards == NULL)
		return;
	for (uint32_t i = 0; i < shards->count; i++)
		(void)firn_gen_close(shards->gen[i]);
	free(shards);
}

/* The shard for a thread that no processor's word is for. */
static struct firn_gen *
shared_shard(struct firn_shards *shards)
{
	int cpu = shards->own_count != 0 ? -1 : sched_getcpu();

	/* A processor's word is stored to without regard for others: only the last one will do. */
	return shards->gen[cpu < 0 ? shards->count - 1 : (uint32_t)cpu % shards->count];
}

/* For any count, and for who was moved or interrupted: several tries, then the last shard. */
int
firni_shards_next_n_at(struct firn_shards *shards, int64_t now_ms, uint64_t id[], size_t count)
{
#ifdef FIRNI_PERCPU
	for (int i = 0; i < TRIES; i++) {
		int32_t cpu = firni_rseq_cpu();
		enum firni_percpu status;
		struct firni_take take;

		if (cpu < 0 || (uint32_t)cpu >= shards->own_count)
			break;
		int error = firni_shards_try(shards, &shards->gen[cpu]->shape, cpu, now_ms, count, &status, &take);

		if (error != FIRN_OK)
			return error;
		if (status == FIRNI_PERCPU_AGAIN)
			continue;
		const struct firn_gen *gen = shards->gen[cpu];

		for (size_t n = 0; n < count; n++)
			id[n] = firni_shape_id(&gen->shape, gen->node_image, take.first + n);
		return firni_gen_settle(shards->gen[cpu], &gen->shape, now_ms, count, &take);
	}
#endif
	struct firn_gen *gen = shared_shard(shards);

	return firni_gen_next_n_at(gen, &gen->shape, now_ms, id, count);
}

int
firn_shards_next_n(struct firn_shards *shards, uint64_t id[], size_t count)
{
	int64_t now_ms;

	if (FIRNI_UNLIKELY(shards == NULL || id == NULL || count == 0))
		return FIRN_E_INVALID;
	int error = firni_gen_read_clock(shards->gen[0], &now_ms);

	return error != FIRN_OK ? error : firni_shards_next_n_at(shards, now_ms, id, count);
}

int
firn_shards_next(struct firn_shards *shards, uint64_t *id)
{
	if (FIRNI_UNLIKELY(shards == NULL || id == NULL))
		return FIRN_E_INVALID;
	return firni_shards_next(shards, &shards->gen[0]->shape, id);
}

int
firn_shards_raise_limit(struct firn_shards *shards, int64_t limit_ms)
{
	int error = shards == NULL ? FIRN_E_INVALID : FIRN_OK;

	for (uint32_t i = 0; error == FIRN_OK && i < shards->count; i++)
		error = firn_gen_raise_limit(shards->gen[i], limit_ms);
	return error;
}

int
firn_shards_observe(struct firn_shards *shards, uint64_t id)
{
	int answer = shards == NULL ? FIRN_E_INVALID : FIRN_OK;

	/* An ID of this very node conflicts with one shard; the others are lifted all the same. */
	for (uint32_t i = 0; (answer == FIRN_OK || answer == FIRN_E_CONFLICT) && i < shards->count; i++) {
		int error = firn_gen_observe(shards->gen[i], id);

		answer = error != FIRN_OK ? error : answer;
	}
	return answer;
}

void
firn_shards_seal(struct firn_shards *shards, int64_t *end_ms)
{
	int64_t last = INT64_MIN;

	if (shards == NULL)
		return;
	/* See firni_percpu_take: nobody is inside, or will be, once this has returned. */
	firni_atomic64_store(&shards->closed, 1);
	if (shards->own_count != 0)
		(void)syscall(SYS_membarrier, MEMBARRIER_RSEQ, 0, 0);
	for (uint32_t i = 0; i < shards->count; i++) {
		int64_t end = INT64_MIN;

		firn_gen_seal(shards->gen[i], &end);
		last = end > last ? end : last;
	}
	if (end_ms != NULL)
		*end_ms = last;
}

void
firn_shards_stats(const struct firn_shards *shards, struct firn_gen_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	for (uint32_t i = 0; i < shards->count; i++) {
		struct firn_gen_stats one;
		uint64_t *sum = (uint64_t *)stats;

		/* A struct of counters and nothing else. */
		_Static_assert(sizeof(one) % sizeof(uint64_t) == 0, "counters only");
		firn_gen_stats(shards->gen[i], &one);
		for (size_t c = 0; c < sizeof(one) / sizeof(uint64_t); c++)
			sum[c] += ((const uint64_t *)&one)[c];
	}
}

int
firni_inline_shards_check(const struct firn_shards *shards, const struct firn_shape *shape, size_t shards_size,
                          size_t gen_size, size_t clock_size)
{
	if (shards == NULL || shards_size != sizeof(struct firn_shards))
		return FIRN_E_INVALID;
	return firni_inline_check(shards->gen[0], shape, gen_size, clock_size);
}

uint32_t
firn_shards_count(const struct firn_shards *shards)
{
	return shards->count;
}

int
firn_shards_restartable(const struct firn_shards *shards)
{
	return shards->own_count != 0;
}
