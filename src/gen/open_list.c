/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The process's open generators whose words lie in memory: no two that could make the same ID. */
#include "gen/open_list.h"

#include <pthread.h>
#include <stdlib.h>

#include <firn/detail/gen.h>
#include <firn/error.h>

/*
 * What can be compared of a generator, in memory of the list's own: a generator in the
 * caller's memory that was thrown away unclosed is refused to the next, not followed.
 */
struct firni_open_entry {
	struct firni_open_entry *next;
	int64_t epoch_ms;
	uint64_t node_mask; /* every bit of an ID that is neither time nor sequence */
	uint64_t node_image;
	uint32_t tick_ms;
	uint8_t time_shift;
	struct firni_atomic64 sealed;
};

/* A fork takes the lock too, so that a child finds the list whole; what its parent holds is not the child's. */
static struct {
	pthread_mutex_t lock;
	struct firni_open_entry *first;
} open_list = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t open_list_once = PTHREAD_ONCE_INIT;

static void
take_lock(void)
{
	(void)pthread_mutex_lock(&open_list.lock);
}

static void
give_lock(void)
{
	(void)pthread_mutex_unlock(&open_list.lock);
}

static void
watch_forks(void)
{
	(void)pthread_atfork(take_lock, give_lock, give_lock);
}

/*
 * Two IDs of one epoch, tick and place of the time differ for certain where their nodes have
 * a bit in common and differ in it: shards, whose nodes have more bits, among themselves,
 * but not from a generator of the whole node.
 */
static int
could_repeat(const struct firni_open_entry *a, const struct firni_open_entry *b)
{
	return a->epoch_ms == b->epoch_ms && a->tick_ms == b->tick_ms && a->time_shift == b->time_shift &&
	       ((a->node_image ^ b->node_image) & a->node_mask & b->node_mask) == 0;
}

int
firni_open_list_enter(struct firn_gen *gen)
{
	const struct firn_layout *layout = &gen->layout;
	struct firni_open_entry *entry = calloc(1, sizeof(*entry));
	int error = FIRN_OK;

	if (entry == NULL)
		return FIRN_E_NO_MEMORY;
	uint64_t all = (UINT64_C(1) << (layout->time_shift + layout->time_bits)) - 1;
	uint64_t time = all & ~((UINT64_C(1) << layout->time_shift) - 1);

	entry->epoch_ms = layout->epoch_ms;
	entry->tick_ms = layout->tick_ms;
	entry->time_shift = layout->time_shift;
	entry->node_mask = all & ~time & ~(gen->shape.seq_mask << gen->shape.seq_shift);
	entry->node_image = gen->node_image;
	(void)pthread_once(&open_list_once, watch_forks);
	take_lock();
	for (const struct firni_open_entry *e = open_list.first; e != NULL && error == FIRN_OK; e = e->next) {
		if (firni_atomic64_load(&e->sealed) == 0 && could_repeat(e, entry))
			error = FIRN_E_NODE_OPEN;
	}
	if (error == FIRN_OK) {
		entry->next = open_list.first;
		open_list.first = entry;
		gen->open = entry;
	}
	give_lock();
	if (error != FIRN_OK)
		free(entry);
	return error;
}

void
firni_open_list_leave(struct firn_gen *gen)
{
	struct firni_open_entry **at = &open_list.first;

	if (gen->open == NULL)
		return;
	take_lock();
	while (*at != gen->open)
		at = &(*at)->next;
	*at = gen->open->next;
	give_lock();
	free(gen->open);
	gen->open = NULL;
}

void
firni_open_list_seal(struct firn_gen *gen)
{
	if (gen->open != NULL)
		firni_atomic64_store(&gen->open->sealed, 1);
}
