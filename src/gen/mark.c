/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The mark: opening, renewing and closing a state file that processes share. */
#include "gen/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "gen/fork.h"
#include "gen/host.h"
#include "gen/mark_file.h"
#include "gen/mark_memory.h"
#include "gen/state.h"
#include "gen/words.h"

struct firni_mark_file {
	struct firni_file file;
	struct firni_memory memory;
	/*
	 * Which process these descriptors were opened in: the fork guard's address, which no
	 * two processes with a copy of this structure share. 0 in *guard: we are a child that
	 * has inherited locks it does not own.
	 */
	const volatile uint64_t *guard;
	/*
	 * Held by the process named: 0 free; another process's name is a lock that a fork copied.
	 * edge MARK-1: leave releases, enter acquires; what it guards is this structure.
	 */
	uint64_t busy;
};

/*
 * One thread of a process at a time: the file's locks tell descriptions apart, not threads.
 * Not a mutex, because a fork in another thread would copy it locked: here the child sees a
 * name that is not its own and takes it over.
 */
static int
enter(struct firn_gen *gen, uint64_t me)
{
	struct firni_mark_file *mark = gen->mark;
	int64_t waited_ns = 0;

	for (;;) {
		uint64_t seen = __atomic_load_n(&mark->busy, __ATOMIC_RELAXED);
		struct timespec pause = {0, 500000};

		/* edge MARK-1 acquire */
		if (seen != me && __atomic_compare_exchange_n(&mark->busy, &seen, me, 0, __ATOMIC_ACQUIRE,
		                                              __ATOMIC_RELAXED))
			return FIRN_OK;
		if (waited_ns >= (int64_t)gen->lock_wait_ms * 1000000)
			return FIRN_E_STATE_BUSY;
		(void)nanosleep(&pause, NULL);
		waited_ns += pause.tv_nsec;
	}
}

static void
leave(struct firni_mark_file *mark)
{
	/* edge MARK-1 release */
	__atomic_store_n(&mark->busy, UINT64_C(0), __ATOMIC_RELEASE);
}

static int
random_identity(uint64_t identity[2])
{
	if (getrandom(identity, 16, 0) != 16)
		return FIRN_E_SYSTEM;
	identity[0] |= 1; /* never all zero */
	return FIRN_OK;
}

/* Where the ticks stand that a mark is counted from: the clock, or the word where it leads, at most by its bound. */
static uint64_t
base_tick(const struct firn_gen *gen, int64_t now_ms, uint64_t word)
{
	uint64_t now = firni_words_tick(&gen->layout, now_ms);
	uint64_t ahead = word >> gen->layout.seq_bits;
	uint64_t furthest = now + gen->lead_ms_max / gen->layout.tick_ms;

	if (ahead > furthest)
		ahead = furthest;
	return ahead > now ? ahead : now;
}

static uint64_t
wanted_mark(const struct firn_gen *gen, int64_t now_ms, uint64_t word)
{
	const struct firn_layout *layout = &gen->layout;

	return firni_words_at(layout, base_tick(gen, now_ms, word) + firni_words_ticks(layout, gen->horizon_ms));
}

static void
fill_slot(const struct firn_gen *gen, int64_t now_ms, struct firni_slot *slot)
{
	memset(slot, 0, sizeof(*slot));
	slot->layout = gen->layout;
	slot->node = gen->node;
	slot->written_ms = now_ms;
	slot->horizon_ms = gen->horizon_ms + gen->lead_ms_max;
	firni_host_machine(slot->machine);
	firni_host_boot(slot->boot);
}

/* The final failure: nobody issues from this memory again, and everybody is told why. */
static int
fail(struct firn_gen *gen, int error)
{
	(void)firni_state_seal(gen->state);
	firni_atomic64_store(&gen->state->failure, (uint64_t)-error);
	return error;
}

/* Raise the limit to a mark that is durable: the only place where FILE's limit moves. M1 */
static void
publish(struct firn_gen *gen, const struct firni_slot *slot)
{
	firni_atomic64_store(&gen->state->synced, slot->sequence);
	(void)firni_limit_raise(&gen->state->limit, slot->mark);
}

/* Nobody has the old memory, LIFE is ours alone: make new memory above everything issued. M2 M3 */
static int
found(struct firn_gen *gen, struct firni_slot *slot, int valid, uint64_t start, int64_t now_ms)
{
	struct firni_mark_file *mark = gen->mark;
	struct firni_slot next;
	uint64_t identity[2];

	int error = random_identity(identity);

	if (error == FIRN_OK)
		error = firni_memory_make(identity, &mark->memory);
	if (error != FIRN_OK)
		return error;
	if (start < slot->mark)
		start = slot->mark;
	if (valid != FIRNI_SLOTS) {
		/*
		 * A cut-off write was never published, so the other slot's mark would do. But a slot
		 * that was durable and then damaged looks the same: so start above every mark that
		 * the last writer can have written by now.
		 */
		uint64_t reach = firni_words_at(&gen->layout, firni_words_tick(&gen->layout, now_ms) +
		                         firni_words_ticks(&gen->layout, slot->horizon_ms) + 2);

		if (start < reach)
			start = reach;
	}
	fill_slot(gen, now_ms, &next);
	next.sequence = slot->sequence + 1;
	next.identity[0] = identity[0];
	next.identity[1] = identity[1];
	next.mark = wanted_mark(gen, now_ms, start);
	if (next.mark < start)
		next.mark = start;

	gen->state = mark->memory.state;
	firni_state_init(gen->state, &gen->layout, gen->node, start, start, gen->gate);
	gen->state->identity[0] = identity[0];
	gen->state->identity[1] = identity[1];
	/* The newest slot may still be in flight from a writer that was killed: make it durable first. */
	error = firni_file_write(&mark->file, slot);
	if (error == FIRN_OK)
		error = firni_file_write(&mark->file, &next);
	if (error != FIRN_OK)
		return error;
	publish(gen, &next);
	return FIRN_OK;
}

static int
join(struct firn_gen *gen, const struct firni_slot *slot, uint64_t start)
{
	struct firni_mark_file *mark = gen->mark;
	int error = firni_memory_find(slot->identity, &mark->memory);

	if (error != FIRN_OK)
		return error;
	gen->state = mark->memory.state;
	if (gen->state->fingerprint != firn_layout_fingerprint(&gen->layout))
		return FIRN_E_STATE_LAYOUT;
	if (gen->state->node != gen->node)
		return FIRN_E_STATE_NODE;
	(void)firni_word_lift(&gen->state->floor, start);
	return FIRN_OK;
}

static int
check_slot(const struct firn_gen *gen, const struct firni_slot *slot)
{
	uint8_t machine[16];

	if (!firn_layout_equal(&slot->layout, &gen->layout))
		return FIRN_E_STATE_LAYOUT;
	if (slot->node != gen->node)
		return FIRN_E_STATE_NODE;
	firni_host_machine(machine);
	return firni_host_maybe_same(machine, slot->machine) ? FIRN_OK : FIRN_E_STATE_MACHINE;
}

/* With ROLE held: read, check, and make or join the memory. Leaves LIFE held shared. */
static int
attach(struct firn_gen *gen, uint64_t start, int64_t now_ms)
{
	struct firni_mark_file *mark = gen->mark;
	struct firni_slot slot;
	int valid;
	int error = firni_file_read(&mark->file, &slot, &valid);

	if (error == FIRN_OK)
		error = check_slot(gen, &slot);
	if (error != FIRN_OK)
		return error;
	if (firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 1, 0) == FIRN_OK) {
		error = found(gen, &slot, valid, start, now_ms);
		if (error == FIRN_OK)
			error = firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 0, 0);
		return error;
	}
	error = firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 0, gen->lock_wait_ms);
	if (error == FIRN_OK) {
		error = join(gen, &slot, start);
		if (error != FIRN_OK)
			firni_file_unlock(&mark->file, FIRNI_LOCK_LIFE);
	}
	return error;
}

/*
 * Attach, again while LIFE is held but nobody is seen to hold the memory: a process that is
 * exiting lets go of its descriptors a moment before it lets go of its locks.
 */
static int
attach_wait(struct firn_gen *gen, uint64_t start, int64_t now_ms)
{
	const struct firni_file *file = &gen->mark->file;

	for (uint32_t waited_ms = 0;; waited_ms++) {
		struct timespec pause = {0, 1000000};
		int error = firni_file_lock(file, FIRNI_LOCK_ROLE, 1, gen->lock_wait_ms);

		if (error == FIRN_OK) {
			error = attach(gen, start, now_ms);
			/* Not kept over the pause: live users must be able to renew. */
			firni_file_unlock(file, FIRNI_LOCK_ROLE);
		}
		if (error != FIRN_E_STATE_UNREACHABLE || waited_ms >= gen->lock_wait_ms)
			return error;
		(void)nanosleep(&pause, NULL);
	}
}

static void
free_mark(struct firn_gen *gen)
{
	int saved = errno;

	firni_memory_drop(&gen->mark->memory);
	/* A descriptor that was closed behind our back and used again is not ours to close. */
	firni_file_close(&gen->mark->file);
	free(gen->mark);
	gen->mark = NULL;
	gen->state = &gen->own;
	errno = saved;
}

int
firni_mark_open(struct firn_gen *gen, const struct firn_gen_config *config, int64_t now_ms)
{
	struct firni_mark_file *mark = calloc(1, sizeof(*mark));
	struct firni_slot fresh;
	uint64_t start = 0;

	if (mark == NULL)
		return FIRN_E_NO_MEMORY;
	mark->file.fd = -1;
	mark->file.dir_fd = -1;
	mark->memory.fd = -1;
	gen->mark = mark;
	if (config->start_after_ms != FIRN_NO_TIME && config->start_after_ms >= gen->layout.epoch_ms)
		start = firni_words_at(&gen->layout, firni_words_tick(&gen->layout, config->start_after_ms) + 1);

	int error = firni_fork_guard(&mark->guard);

	fill_slot(gen, now_ms, &fresh);
	fresh.sequence = 1;
	fresh.clean = 1;
	if (error == FIRN_OK)
		error = firni_file_open(config->state_path, &fresh, 1, &mark->file);
	if (error == FIRN_OK)
		error = attach_wait(gen, start, now_ms);
	if (error != FIRN_OK)
		free_mark(gen);
	return error;
}

/* A child of fork: descriptors of its own, so that its locks are its own. The word it shares already. */
static int
rebind(struct firn_gen *gen, const volatile uint64_t *guard)
{
	struct firni_mark_file *mark = gen->mark;
	struct firni_file copy;
	int error = firni_file_reopen(&mark->file, &copy);

	if (error != FIRN_OK)
		return error;
	/* The inherited description keeps LIFE until this one has it: there is no gap. */
	error = firni_file_lock(&copy, FIRNI_LOCK_LIFE, 0, gen->lock_wait_ms);
	if (error != FIRN_OK) {
		firni_file_close(&copy);
		return error;
	}
	firni_file_close(&mark->file);
	mark->file = copy;
	mark->guard = guard;
	gen->fork_count = firni_fork_count();
	return FIRN_OK;
}

/* With ROLE held: read the chain's end and make sure that it is ours. M4 */
static int
read_chain(struct firn_gen *gen, struct firni_slot *slot)
{
	struct firni_state *state = gen->state;
	int valid;
	int error = firni_file_read(&gen->mark->file, slot, &valid);

	if (error != FIRN_OK)
		return error == FIRN_E_SYSTEM ? error : FIRN_E_STATE_LOST;
	if (slot->identity[0] != state->identity[0] || slot->identity[1] != state->identity[1] ||
	    slot->sequence < firni_atomic64_load(&state->synced))
		return FIRN_E_STATE_LOST;
	return FIRN_OK;
}

/* Milliseconds of clock until the limit, counted from where the mark is counted from. */
static uint64_t
left_ms(const struct firn_gen *gen, int64_t now_ms, uint64_t limit)
{
	uint64_t base = base_tick(gen, now_ms, firni_state_word(gen->state));
	uint64_t end = limit >> gen->layout.seq_bits;

	return end > base ? (end - base) * gen->layout.tick_ms : 0;
}

static int
extend(struct firn_gen *gen, int64_t now_ms)
{
	struct firni_state *state = gen->state;
	struct firni_mark_file *mark = gen->mark;
	struct firni_slot slot;
	struct firni_slot next;
	int error = read_chain(gen, &slot);

	if (error == FIRN_E_STATE_LOST)
		return fail(gen, error);
	if (error != FIRN_OK)
		return error;
	/* A writer that was killed may have left a slot that is written but not durable. M3 */
	if (slot.sequence != firni_atomic64_load(&state->synced)) {
		error = firni_file_write(&mark->file, &slot);
		if (error != FIRN_OK)
			return fail(gen, error);
	}
	publish(gen, &slot);
	if (left_ms(gen, now_ms, slot.mark) > gen->horizon_ms - gen->horizon_ms / 3)
		return FIRN_OK;
	fill_slot(gen, now_ms, &next);
	next.sequence = slot.sequence + 1;
	next.identity[0] = slot.identity[0];
	next.identity[1] = slot.identity[1];
	next.mark = wanted_mark(gen, now_ms, firni_state_word(state));
	if (next.mark <= slot.mark)
		return FIRN_OK;
	error = firni_file_write(&mark->file, &next);
	if (error != FIRN_OK)
		return fail(gen, error);
	publish(gen, &next);
	firni_state_count(state, FIRNI_TALLY_RENEWALS, 1);
	return FIRN_OK;
}

/* What a sealed word's owner is told by the slow path: the failure that sealed it, if one did. */
static int
final_error(const struct firn_gen *gen)
{
	uint64_t failure = firni_atomic64_load(&gen->state->failure);

	if (failure != 0)
		return -(int)failure;
	return firni_state_is_sealed(gen->state) ? FIRN_E_SEALED : FIRN_OK;
}

int
firni_mark_renew(struct firn_gen *gen, uint32_t *due_ms)
{
	struct firni_mark_file *mark = gen->mark;
	const volatile uint64_t *guard;
	int64_t now_ms;
	int error = final_error(gen);

	if (error != FIRN_OK)
		return error;
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	uint64_t left = left_ms(gen, now_ms, firni_atomic64_load(&gen->state->limit));
	uint64_t due_at = gen->horizon_ms - gen->horizon_ms / 3;

	if (left <= due_at) {
		error = firni_fork_guard(&guard);
		if (error == FIRN_OK)
			error = enter(gen, (uint64_t)(uintptr_t)guard);
		if (error != FIRN_OK)
			return error;
		if (*mark->guard == 0)
			error = rebind(gen, guard);
		if (error == FIRN_OK)
			error = firni_file_still_there(&mark->file);
		if (error == FIRN_E_STATE_LOST)
			error = fail(gen, error);
		if (error == FIRN_OK)
			error = firni_file_lock(&mark->file, FIRNI_LOCK_ROLE, 1, gen->lock_wait_ms);
		if (error == FIRN_OK) {
			error = extend(gen, now_ms);
			firni_file_unlock(&mark->file, FIRNI_LOCK_ROLE);
		}
		leave(mark);
		if (error != FIRN_OK)
			return error;
		left = left_ms(gen, now_ms, firni_atomic64_load(&gen->state->limit));
	}
	if (due_ms != NULL)
		*due_ms = left > due_at ? (uint32_t)(left - due_at) : 1;
	return FIRN_OK;
}

/* With ROLE held: if nobody else has the memory, close the word and write down where it ended. M5 */
static int
finish(struct firn_gen *gen)
{
	struct firni_mark_file *mark = gen->mark;
	struct firni_slot slot;
	struct firni_slot next;
	int64_t now_ms = 0;
	int error = read_chain(gen, &slot);

	if (error != FIRN_OK)
		return error;
	/* Children that were forked since share our description, so LIFE cannot tell them from us. */
	if (gen->fork_count != firni_fork_count() ||
	    firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 1, 0) != FIRN_OK)
		return FIRN_OK;
	if (slot.sequence != firni_atomic64_load(&gen->state->synced)) {
		error = firni_file_write(&mark->file, &slot);
		if (error != FIRN_OK)
			return fail(gen, error);
	}
	/* The time is for people: without it the mark is as good. */
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		now_ms = 0;
	fill_slot(gen, now_ms, &next);
	next.sequence = slot.sequence + 1;
	next.identity[0] = slot.identity[0];
	next.identity[1] = slot.identity[1];
	next.mark = firni_state_seal(gen->state);
	next.clean = 1;
	return firni_file_write(&mark->file, &next);
}

int
firni_mark_close(struct firn_gen *gen)
{
	struct firni_mark_file *mark = gen->mark;
	uint64_t failure = firni_atomic64_load(&gen->state->failure);
	int error = failure != 0 ? -(int)failure : FIRN_OK;

	/* A child that never renewed owns nothing here; a file that failed is not written again. */
	if (*mark->guard != 0 && error == FIRN_OK) {
		error = firni_file_still_there(&mark->file);
		if (error == FIRN_OK)
			error = firni_file_lock(&mark->file, FIRNI_LOCK_ROLE, 1, gen->lock_wait_ms);
		if (error == FIRN_OK) {
			error = finish(gen);
			firni_file_unlock(&mark->file, FIRNI_LOCK_ROLE);
		}
	}
	free_mark(gen);
	return error;
}
