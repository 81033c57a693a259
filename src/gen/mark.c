/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The mark: opening, renewing and closing a state file that processes share. */
#include "gen/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "gen/host.h"
#include "gen/mark_file.h"
#include "gen/mark_memory.h"
#include "gen/state.h"
#include "gen/words.h"

struct firni_mark_file {
	struct firni_file file;
	struct firni_memory memory;
};

/*
 * A turn as the file's writer: ROLE, on a description of its own. So the lock keeps out
 * other processes and other threads of this one alike, and a child of fork does not inherit
 * it, which would keep it for as long as the child lives if the parent is killed.
 */
static int
begin_turn(struct firn_gen *gen, struct firni_file *turn)
{
	int error = firni_file_reopen(&gen->mark->file, turn);

	if (error != FIRN_OK)
		return error;
	error = firni_file_lock(turn, FIRNI_LOCK_ROLE, 1, gen->lock_wait_ms);
	if (error != FIRN_OK)
		firni_file_close(turn);
	return error;
}

static void
end_turn(struct firni_file *turn)
{
	/* Not left to the close: a child forked meanwhile has the description too. */
	firni_file_unlock(turn, FIRNI_LOCK_ROLE);
	firni_file_close(turn);
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
	uint64_t ticks = firni_words_ticks(layout, gen->horizon_ms);

	/*
	 * The first tick has begun already and does not count in left_ms. Where it is more than the
	 * third of the horizon that a renewal has time for, one more stands in for it.
	 */
	if (ticks < 4)
		ticks++;
	return firni_words_at(layout, base_tick(gen, now_ms, word) + ticks);
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
found(struct firn_gen *gen, const struct firni_file *turn, struct firni_slot *slot, int valid, uint64_t start,
      int64_t now_ms)
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
	error = firni_file_write(turn, slot);
	if (error == FIRN_OK)
		error = firni_file_write(turn, &next);
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
attach(struct firn_gen *gen, const struct firni_file *turn, uint64_t start, int64_t now_ms)
{
	struct firni_mark_file *mark = gen->mark;
	struct firni_slot slot;
	int valid;
	int error = firni_file_read(turn, &slot, &valid);

	if (error == FIRN_OK)
		error = check_slot(gen, &slot);
	if (error != FIRN_OK)
		return error;
	if (firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 1, 0) == FIRN_OK) {
		error = found(gen, turn, &slot, valid, start, now_ms);
		if (error == FIRN_OK)
			error = firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 0, 0);
		return error;
	}
	/* Somebody has it alone, and not as the file's writer: it is about to end. */
	if (firni_file_lock(&mark->file, FIRNI_LOCK_LIFE, 0, 0) != FIRN_OK)
		return FIRN_E_STATE_UNREACHABLE;
	error = join(gen, &slot, start);
	if (error != FIRN_OK)
		firni_file_unlock(&mark->file, FIRNI_LOCK_LIFE);
	return error;
}

/*
 * Attach, again while LIFE is held but nobody is seen to hold the memory: a process that is
 * exiting lets go of its descriptors a moment before it lets go of its locks.
 */
static int
attach_wait(struct firn_gen *gen, uint64_t start, int64_t now_ms)
{
	for (uint32_t waited_ms = 0;; waited_ms++) {
		struct timespec pause = {0, 1000000};
		struct firni_file turn = {.fd = -1, .dir_fd = -1};
		int error = begin_turn(gen, &turn);

		if (error == FIRN_OK) {
			error = attach(gen, &turn, start, now_ms);
			/* Not kept over the pause: live users must be able to renew. */
			end_turn(&turn);
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

	fill_slot(gen, now_ms, &fresh);
	fresh.sequence = 1;
	fresh.clean = 1;
	int error = firni_file_open(config->state_path, &fresh, 1, &mark->file);

	if (error == FIRN_OK)
		error = attach_wait(gen, start, now_ms);
	if (error != FIRN_OK)
		free_mark(gen);
	return error;
}

/* With ROLE held: read the chain's end and make sure that it is ours. M4 */
static int
read_chain(struct firn_gen *gen, const struct firni_file *turn, struct firni_slot *slot)
{
	struct firni_state *state = gen->state;
	int valid;
	int error = firni_file_read(turn, slot, &valid);

	if (error != FIRN_OK)
		return error == FIRN_E_SYSTEM ? error : FIRN_E_STATE_LOST;
	if (slot->identity[0] != state->identity[0] || slot->identity[1] != state->identity[1] ||
	    slot->sequence < firni_atomic64_load(&state->synced))
		return FIRN_E_STATE_LOST;
	return FIRN_OK;
}

/* Milliseconds of clock that are left for certain until the limit: whole ticks after that which the mark is counted from. */
static uint64_t
left_ms(const struct firn_gen *gen, int64_t now_ms, uint64_t limit)
{
	uint64_t base = base_tick(gen, now_ms, firni_state_word(gen->state));
	uint64_t end = limit >> gen->layout.seq_bits;

	return end > base ? (end - base - 1) * gen->layout.tick_ms : 0;
}

static int
extend(struct firn_gen *gen, const struct firni_file *turn, int64_t now_ms)
{
	struct firni_state *state = gen->state;
	struct firni_slot slot;
	struct firni_slot next;
	int error = read_chain(gen, turn, &slot);

	if (error == FIRN_E_STATE_LOST)
		return fail(gen, error);
	if (error != FIRN_OK)
		return error;
	/* A writer that was killed may have left a slot that is written but not durable. M3 */
	if (slot.sequence != firni_atomic64_load(&state->synced)) {
		error = firni_file_write(turn, &slot);
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
	error = firni_file_write(turn, &next);
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
	struct firni_file turn = {.fd = -1, .dir_fd = -1};
	int64_t now_ms;
	int error = final_error(gen);

	if (error != FIRN_OK)
		return error;
	if (firn_clock_read(gen->clock, &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	uint64_t left = left_ms(gen, now_ms, firni_atomic64_load(&gen->state->limit));
	uint64_t due_at = gen->horizon_ms - gen->horizon_ms / 3;

	if (left <= due_at) {
		error = begin_turn(gen, &turn);
		if (error == FIRN_E_STATE_LOST)
			error = fail(gen, error);
		if (error != FIRN_OK)
			return error;
		error = extend(gen, &turn, now_ms);
		end_turn(&turn);
		if (error != FIRN_OK)
			return error;
		left = left_ms(gen, now_ms, firni_atomic64_load(&gen->state->limit));
	}
	if (due_ms != NULL)
		*due_ms = left > due_at ? (uint32_t)(left - due_at) : 1;
	return FIRN_OK;
}

/*
 * With ROLE held: is this the last handle on the memory? LIFE tells other openers apart, but
 * not children of fork, who have it from us: those show up as processes. They are looked for
 * first, because they would keep our LIFE for themselves alone if we were killed. If this is
 * the last, LIFE is ours alone until it is closed, so that no newcomer joins memory that is
 * about to be sealed.
 */
static int
is_last(struct firn_gen *gen)
{
	return firni_memory_users(gen->state->identity) <= 1 &&
	       firni_file_lock(&gen->mark->file, FIRNI_LOCK_LIFE, 1, 0) == FIRN_OK;
}

/* With ROLE held: if nobody else has the memory, close the word and write down where it ended. M5 */
static int
finish(struct firn_gen *gen, const struct firni_file *turn)
{
	struct firni_slot slot;
	struct firni_slot next;
	int64_t now_ms = 0;
	int error = read_chain(gen, turn, &slot);

	if (error != FIRN_OK || !is_last(gen))
		return error;
	if (slot.sequence != firni_atomic64_load(&gen->state->synced)) {
		error = firni_file_write(turn, &slot);
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
	return firni_file_write(turn, &next);
}

int
firni_mark_close(struct firn_gen *gen)
{
	uint64_t failure = firni_atomic64_load(&gen->state->failure);
	struct firni_file turn = {.fd = -1, .dir_fd = -1};
	int error = failure != 0 ? -(int)failure : begin_turn(gen, &turn);

	/* A file that failed is not written again. */
	if (error == FIRN_OK) {
		error = finish(gen, &turn);
		end_turn(&turn);
	}
	free_mark(gen);
	return error;
}
