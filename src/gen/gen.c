/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The generator's life: opening from a configuration, bounds, seal, closing. */
#include <firn/gen.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <firn/detail/gen.h>
#include <firn/error.h>
#include <firn/inline.h>

#include "gen/fork.h"
#include "gen/mark.h"
#include "gen/open_list.h"
#include "gen/state.h"
#include "gen/words.h"

size_t
firn_gen_size(void)
{
	return sizeof(struct firn_gen);
}

size_t
firn_gen_align(void)
{
	return _Alignof(struct firn_gen);
}

static int
check_config(const struct firn_gen_config *config)
{
	uint64_t image;

	if (config == NULL || config->size != sizeof(*config) || config->layout == NULL)
		return FIRN_E_INVALID;
	const struct firn_layout *layout = config->layout;
	struct firn_layout made;

	/* A layout filled by hand passes the same validator as one that was parsed. */
	if (layout->field_count > FIRN_LAYOUT_FIELDS_MAX ||
	    firn_layout_make(layout->epoch_ms, layout->tick_ms, layout->field, layout->field_count, &made,
	                     NULL) != FIRN_OK ||
	    made.seq_bits != layout->seq_bits || made.seq_shift != layout->seq_shift ||
	    made.time_bits != layout->time_bits || made.time_shift != layout->time_shift ||
	    made.node_bits != layout->node_bits)
		return FIRN_E_LAYOUT;
	if (firn_layout_node_place(layout, config->node, &image) != FIRN_OK)
		return FIRN_E_NODE;
	if (config->spread_bits > layout->seq_bits)
		return FIRN_E_INVALID;
	if (config->lane != FIRN_GEN_ADD && config->lane != FIRN_GEN_CAS)
		return FIRN_E_INVALID;
	switch (config->sharing) {
	case FIRN_GEN_PRIVATE:
	case FIRN_GEN_SHARED:
		return config->state_path == NULL ? FIRN_OK : FIRN_E_INVALID;
	case FIRN_GEN_FILE:
		/* A mark that is not ahead of the clock would be due all the time. */
		return config->state_path != NULL && config->limit_ms == FIRN_NO_TIME &&
		                       config->horizon_ms >= 10 && config->horizon_ms <= 86400000
		               ? FIRN_OK
		               : FIRN_E_INVALID;
	}
	return FIRN_E_INVALID;
}

static void
fill_shape(const struct firn_layout *layout, uint8_t spread_bits, struct firn_shape *shape)
{
	uint64_t ticks = UINT64_C(1) << layout->time_bits;
	uint64_t span_max = UINT64_C(1) << 62;

	shape->epoch_ms = layout->epoch_ms;
	shape->span_ms = ticks > span_max / layout->tick_ms ? span_max : ticks * layout->tick_ms;
	shape->tick_ms = layout->tick_ms;
	shape->seq_bits = layout->seq_bits;
	shape->seq_shift = layout->seq_shift;
	shape->time_rise = (uint8_t)(layout->time_shift - layout->seq_bits);
	shape->seq_mask = (UINT64_C(1) << layout->seq_bits) - 1;
	shape->spread_bits = spread_bits;
}

static int
open_memory_state(struct firn_gen *gen, const struct firn_gen_config *config)
{
	const struct firn_layout *layout = &gen->layout;
	uint64_t limit = firni_words_all(layout);
	uint64_t start = 0;

	if (config->limit_ms != FIRN_NO_TIME)
		limit = firni_words_after(layout, config->limit_ms);
	if (config->start_after_ms != FIRN_NO_TIME)
		start = firni_words_after(layout, config->start_after_ms);
	if (gen->sharing == FIRN_GEN_SHARED) {
		void *memory = mmap(NULL, sizeof(struct firni_state), PROT_READ | PROT_WRITE,
		                    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED)
			return FIRN_E_NO_MEMORY;
		gen->state = memory;
		gen->alive = firni_fork_no_guard();
	} else {
		gen->state = &gen->own;
		gen->alive = gen->range_alive;
	}
	firni_state_init(gen->state, layout, gen->node, start, limit, gen->gate);
	return FIRN_OK;
}

static int
open_in(struct firn_gen *gen, const struct firn_gen_config *config)
{
	int64_t now_ms;

	memset(gen, 0, sizeof(*gen));
	gen->layout = *config->layout;
	gen->node = config->node;
	gen->sharing = config->sharing;
	gen->clock = config->clock != NULL ? config->clock : firn_clock_default();
	gen->lead_ms_max = config->lead_ms_max;
	gen->lead_words = firni_words_lead(&gen->layout, config->lead_ms_max);
	gen->horizon_ms = config->horizon_ms;
	gen->lock_wait_ms = config->lock_wait_ms;
	gen->state = &gen->own;
	gen->gate = config->lane == FIRN_GEN_CAS ? FIRNI_GATE_NEVER : FIRNI_GATE_OPEN;
	fill_shape(&gen->layout, config->spread_bits, &gen->shape);

	int error = firn_layout_node_place(&gen->layout, config->node, &gen->node_image);

	if (error == FIRN_OK)
		error = firni_fork_guard(&gen->range_alive);
	if (error == FIRN_OK)
		error = firn_clock_read(gen->clock, &now_ms);
	/* A layout whose time is over is a configuration error: say so at the start, not at the first ID. */
	if (error == FIRN_OK && firn_layout_life_ms(&gen->layout, now_ms) == 0)
		error = FIRN_E_TIME_OVER;
	if (error != FIRN_OK)
		return error;
	if (config->sharing != FIRN_GEN_FILE) {
		error = firni_open_list_enter(gen);
		if (error == FIRN_OK && (error = open_memory_state(gen, config)) != FIRN_OK)
			firni_open_list_leave(gen);
		return error;
	}
	gen->alive = firni_fork_no_guard();
	return firni_mark_open(gen, config, now_ms);
}

int
firn_gen_init(void *memory, size_t size, const struct firn_gen_config *config, struct firn_gen **gen)
{
	int error = check_config(config);

	if (gen == NULL || memory == NULL || size < sizeof(struct firn_gen) ||
	    (uintptr_t)memory % _Alignof(struct firn_gen) != 0)
		return FIRN_E_INVALID;
	if (error != FIRN_OK)
		return error;
	error = open_in(memory, config);
	if (error == FIRN_OK)
		*gen = memory;
	return error;
}

int
firn_gen_open(const struct firn_gen_config *config, struct firn_gen **gen)
{
	struct firn_gen *opened = NULL;
	void *memory = NULL;

	if (gen == NULL)
		return FIRN_E_INVALID;
	if (posix_memalign(&memory, _Alignof(struct firn_gen), sizeof(struct firn_gen)) != 0)
		return FIRN_E_NO_MEMORY;
	int error = firn_gen_init(memory, sizeof(struct firn_gen), config, &opened);

	if (error != FIRN_OK) {
		int saved = errno;

		free(memory);
		errno = saved;
		return error;
	}
	opened->allocated = 1;
	*gen = opened;
	return FIRN_OK;
}

static void
leave_memory_state(struct firn_gen *gen)
{
	if (gen->state != &gen->own)
		(void)munmap(gen->state, sizeof(struct firni_state));
	else
		/* A use after close meets a sealed word for as long as the memory is not used again. */
		(void)firni_state_seal(gen->state);
	firni_open_list_leave(gen);
}

int
firn_gen_close(struct firn_gen *gen)
{
	int error = FIRN_OK;

	if (gen == NULL)
		return FIRN_OK;
	if (gen->mark != NULL)
		error = firni_mark_close(gen);
	else
		leave_memory_state(gen);
	if (gen->allocated)
		free(gen);
	return error;
}

int
firn_gen_raise_limit(struct firn_gen *gen, int64_t limit_ms)
{
	if (gen == NULL || gen->mark != NULL || limit_ms == FIRN_NO_TIME)
		return FIRN_E_INVALID;
	if (*gen->alive == 0)
		return firni_gen_refuse_forked(gen);
	uint64_t limit = firni_words_after(&gen->layout, limit_ms);

	return firni_limit_raise(&gen->state->limit, limit) <= limit ? FIRN_OK : FIRN_E_INVALID;
}

int
firn_gen_renew(struct firn_gen *gen, uint32_t *due_ms)
{
	if (gen == NULL)
		return FIRN_E_INVALID;
	if (gen->mark == NULL) {
		if (due_ms != NULL)
			*due_ms = UINT32_MAX;
		return FIRN_OK;
	}
	return firni_mark_renew(gen, due_ms);
}

void
firn_gen_seal(struct firn_gen *gen, int64_t *end_ms)
{
	if (gen == NULL)
		return;
	uint64_t end = firni_state_seal(gen->state);

	firni_open_list_seal(gen);
	uint64_t tick = (end + (UINT64_C(1) << gen->layout.seq_bits) - 1) >> gen->layout.seq_bits;

	if (end_ms != NULL)
		*end_ms = (int64_t)((uint64_t)gen->layout.epoch_ms + tick * gen->layout.tick_ms);
}

/*
 * The lowest word whose ID with our node's bits is above id. Within id's own tick our node
 * may lie below the other's in the bits above the sequence: then only the next tick will do.
 */
static uint64_t
word_above(const struct firn_gen *gen, uint64_t id, const struct firn_parts *parts)
{
	uint64_t word = parts->tick << gen->layout.seq_bits | parts->sequence;

	if (firni_shape_id(&gen->shape, gen->node_image, word) > id)
		return word;
	if (parts->sequence + 1 < UINT64_C(1) << gen->layout.seq_bits &&
	    firni_shape_id(&gen->shape, gen->node_image, word + 1) > id)
		return word + 1;
	return (parts->tick + 1) << gen->layout.seq_bits;
}

int
firn_gen_observe(struct firn_gen *gen, uint64_t id)
{
	struct firn_parts parts;
	int64_t now_ms;

	if (gen == NULL)
		return FIRN_E_INVALID;
	int error = firn_layout_split(&gen->layout, id, &parts);

	if (error != FIRN_OK)
		return error;
	if (*gen->alive == 0)
		return firni_gen_refuse_forked(gen);
	struct firni_state *state = gen->state;
	uint64_t word = word_above(gen, id, &parts);
	uint64_t seen = firni_atomic64_load(&state->word);

	if (seen >= FIRNI_WORD_SEALED)
		return FIRN_E_SEALED;
	if (word > seen && word > firni_atomic64_load(&state->floor)) {
		uint64_t tick = 0;

		if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
			return firni_gen_refuse_clock(gen);
		error = firn_layout_tick(&gen->layout, now_ms, &tick);
		if (error != FIRN_OK)
			return error;
		if (word >= (tick << gen->layout.seq_bits) + gen->lead_words)
			return FIRN_E_AHEAD;
		if (word >= firni_atomic64_load(&state->limit))
			return FIRN_E_FENCED;
		firni_state_count(state, FIRNI_TALLY_LIFTS, 1);
	} else if (word > firni_atomic64_load(&state->limit)) {
		return FIRN_E_FENCED; /* an add in vain went past the limit */
	}
	/*
	 * Also where the word is higher already: it may be an add that is about to be given back.
	 * The floor is a word of its own because giving back would undo a lift of the word.
	 */
	(void)firni_word_lift(&state->floor, word);
	if (*gen->alive == 0)
		return firni_gen_refuse_forked(gen);
	/* Of our own node and never issued by us: everything we issued lies below seen. */
	return parts.node == gen->node && word > seen ? FIRN_E_CONFLICT : FIRN_OK;
}

int
firni_inline_check(const struct firn_gen *gen, const struct firn_shape *shape, size_t gen_size,
                   size_t clock_size)
{
	if (gen == NULL || shape == NULL || gen_size != sizeof(struct firn_gen) ||
	    clock_size != sizeof(struct firn_clock) || gen->shape.spread_bits != 0 || shape->spread_bits != 0)
		return FIRN_E_INVALID;
	if (shape->epoch_ms != gen->shape.epoch_ms || shape->span_ms != gen->shape.span_ms ||
	    shape->tick_ms != gen->shape.tick_ms || shape->seq_bits != gen->shape.seq_bits ||
	    shape->seq_shift != gen->shape.seq_shift || shape->seq_mask != gen->shape.seq_mask ||
	    shape->time_rise != gen->shape.time_rise)
		return FIRN_E_LAYOUT;
	return FIRN_OK;
}
