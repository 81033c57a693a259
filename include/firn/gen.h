/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The generator: open, next, batches, waiting, limits, seal, counters. The stable lane: the handle is opaque. */
#ifndef FIRN_GEN_H
#define FIRN_GEN_H

#include <stddef.h>
#include <stdint.h>

#include <firn/clock.h>
#include <firn/detail/attributes.h>
#include <firn/layout.h>

/*
 * Issues the IDs of one node. Any number of threads may use one at once; calls that are not
 * said to block never do, take no lock, make no system call per ID and may be made from
 * signal handlers. The rule of every issue, by one atomic step (docs/spec.md):
 *
 *     first = max(word, tick(now) << seq_bits)        the IDs first .. first + n - 1
 *     word  = first + n
 *
 * A call that fails changes nothing and leaves its out-pointers untouched.
 */
struct firn_gen;

/* Where the word lives. */
enum firn_gen_sharing {
	FIRN_GEN_PRIVATE = 0, /* in the handle; after fork the child is refused (FIRN_E_FORKED); in an
	                         emulator that wipes no page (QEMU's) a child of a bare clone is not */
	FIRN_GEN_SHARED = 1,  /* in anonymous shared memory; children of fork issue from the same word */
	FIRN_GEN_FILE = 2     /* in memory that all processes with the same state file share, as one
	                         node; the file keeps the mark that outlives them (docs/state-file.md) */
};

#define FIRN_NO_TIME INT64_MIN /* "not set" for a time in Unix milliseconds; 0 is a time */

/* How the word is advanced. The IDs are the same; only the cost under contention differs. */
enum firn_gen_lane {
	FIRN_GEN_ADD = 0, /* fetch-add first, and the rule where that missed: one transfer of the line */
	FIRN_GEN_CAS = 1  /* the rule by compare-and-swap alone: the word never holds a value to be given back */
};

struct firn_gen_config {
	size_t size; /* sizeof(struct firn_gen_config): lets later versions add members */
	const struct firn_layout *layout; /* copied; required */
	uint64_t node;                    /* see struct firn_layout */
	uint32_t lead_ms_max;             /* how far an ID's tick may lead the clock; default 1000 */
	uint8_t spread_bits;              /* 0 to seq_bits: where in the sequence a fresh tick starts,
	                                     so that id mod N is even at low rates; default 0. A tick
	                                     that starts at s has room for 2^seq_bits - s IDs before
	                                     the next is borrowed */
	enum firn_gen_sharing sharing;
	struct firn_clock *clock;         /* borrowed; NULL: firn_clock_default() */
	int64_t start_after_ms;           /* every tick up to this time counts as used; or FIRN_NO_TIME */
	int64_t limit_ms;                 /* no ID has a tick past this time, until raised; or
	                                     FIRN_NO_TIME. Not with FIRN_GEN_FILE, whose mark is the limit */
	const char *state_path;           /* FIRN_GEN_FILE only */
	uint32_t horizon_ms;              /* FIRN_GEN_FILE: how far ahead of now the mark is written;
	                                     default 1000. After a kill the next start lies up to this
	                                     far ahead of the clock (a tick more where a tick is a third
	                                     of it or longer); keep it at or below lead_ms_max */
	uint32_t lock_wait_ms;            /* FIRN_GEN_FILE: how long open, renew and close may wait for
	                                     the file's lock; default 5000 */
	enum firn_gen_lane lane;          /* default FIRN_GEN_ADD. Who makes a state's memory decides for
	                                     all that share it */
};
#define FIRN_GEN_CONFIG_INIT \
	{ sizeof(struct firn_gen_config), NULL, 0, 1000u, 0, FIRN_GEN_PRIVATE, NULL, \
	  FIRN_NO_TIME, FIRN_NO_TIME, NULL, 1000u, 5000u, FIRN_GEN_ADD }

/*
 * Exact counts, kept off the path of an ID that stays in its tick. Per state: all threads
 * and processes that share the word count together. Exact whenever no call is under way;
 * a process killed inside a call may leave ids_made too high by the words it skipped.
 */
struct firn_gen_stats {
	uint64_t ids_made;
	uint64_t words_skipped;   /* sequence values passed over, most because the tick moved on */
	uint64_t words_burnt;     /* of these: added in vain, and not to be given back */
	uint64_t ticks_borrowed;  /* ticks entered before the clock had reached them */
	uint64_t cas_retries;
	uint64_t renewals;        /* marks written to the state file */
	uint64_t refused_exhausted;
	uint64_t refused_clock_back;
	uint64_t refused_fenced;
	uint64_t refused_time_over;
	uint64_t refused_before_epoch;
	uint64_t refused_sealed;
	uint64_t refused_forked;  /* counted in the child's own copy */
	uint64_t refused_clock;
	uint64_t observed_lifts;  /* firn_gen_observe calls that lifted the word */
};

/*
 * IDs set aside by firn_gen_reserve: take them with firn_range_next. Belongs to one thread
 * at a time; refuses in a forked child like the generator it came from.
 */
struct firn_range {
	const struct firn_gen *gen;
	uint64_t word; /* the next word to hand out */
	uint64_t left; /* how many remain */
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Open a generator in memory of the library. Returns 0 and *gen, or:
 * FIRN_E_INVALID, FIRN_E_LAYOUT, FIRN_E_NODE for a bad configuration; FIRN_E_TIME_OVER if
 * the layout's time is over at the clock's reading; FIRN_E_CLOCK; FIRN_E_NO_MEMORY;
 * FIRN_E_SYSTEM (errno); FIRN_E_UNSUPPORTED; for FIRN_GEN_FILE also FIRN_E_STATE_* and
 * FIRN_E_SYNC. FIRN_E_NODE_OPEN: a private or shared generator of this process, neither
 * closed nor sealed, could make the same IDs (state files see to themselves). What was
 * closed or sealed is forgotten: a successor of the same node needs start_after_ms, or a
 * state file, or it may begin in the tick in which the other ended.
 * Private and shared opening takes a lock for a moment; FIRN_GEN_FILE writes to disk.
 * A reading before the layout's epoch does not fail the opening, only the issuing.
 */
FIRN_API FIRN_MUST_USE int firn_gen_open(const struct firn_gen_config *config, struct firn_gen **gen);

/*
 * The same in the caller's memory of at least firn_gen_size() bytes at firn_gen_align().
 * Close it before the memory goes, else its node stays FIRN_E_NODE_OPEN.
 */
FIRN_API FIRN_MUST_USE int firn_gen_init(void *memory, size_t size, const struct firn_gen_config *config,
                                         struct firn_gen **gen);
FIRN_API size_t firn_gen_size(void);
FIRN_API size_t firn_gen_align(void);

/*
 * Close: no other thread may be in a call or make another. The last user of a state file
 * seals the word and writes it as the mark, so that the next start need not wait; this
 * blocks on the disk and returns FIRN_E_SYNC or FIRN_E_STATE_* if it failed (the file is
 * then as safe as after a kill). The handle is gone in every case. A child of fork closes
 * its copy without touching the file. NULL is allowed.
 */
FIRN_API int firn_gen_close(struct firn_gen *gen);

/*
 * The next ID. Never blocks. FIRN_E_EXHAUSTED, _CLOCK_BACK, _FENCED, _TIME_OVER,
 * _BEFORE_EPOCH, _SEALED, _FORKED, _CLOCK, or _INVALID for NULL.
 */
FIRN_API FIRN_MUST_USE int firn_gen_next(struct firn_gen *gen, uint64_t *id);

/*
 * The next count IDs, rising, by one compare-and-swap: all or none. count is at least 1.
 * After fork the array is the caller's: parent and child must not both use it.
 */
FIRN_API FIRN_MUST_USE int firn_gen_next_n(struct firn_gen *gen, uint64_t id[], size_t count);

/* The same as a range, without an array. */
FIRN_API FIRN_MUST_USE int firn_gen_reserve(struct firn_gen *gen, uint64_t count, struct firn_range *range);

/* The next ID of a range. FIRN_E_EXHAUSTED when none is left, FIRN_E_FORKED in a child. */
FIRN_API FIRN_MUST_USE int firn_range_next(struct firn_range *range, uint64_t *id);

/*
 * The next ID, waiting up to wait_ms of a clock that runs through suspend. Blocks: it
 * sleeps. It waits for EXHAUSTED and CLOCK_BACK, and gives up at once when the wait that
 * is needed is longer than what is left (a count that the lead or the horizon can never
 * hold is not told from one that needs time, and waits to the end). With FIRN_GEN_FILE it also renews the mark
 * itself when that is due, which writes to disk. A wait_ms of 0 is one try.
 */
FIRN_API FIRN_MUST_USE int firn_gen_next_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t *id);
FIRN_API FIRN_MUST_USE int firn_gen_next_n_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t id[],
                                                size_t count);
FIRN_API FIRN_MUST_USE int firn_gen_reserve_wait(struct firn_gen *gen, uint32_t wait_ms, uint64_t count,
                                                 struct firn_range *range);

/*
 * Order that follows cause: after 0, every later ID is above the given foreign one. FIRN_E_AHEAD
 * if that would lead the clock by more than lead_ms_max, FIRN_E_FENCED past the limit,
 * FIRN_E_RANGE for an ID of another layout. FIRN_E_CONFLICT: the ID is of this very node and
 * this generator never issued it (the word was lifted all the same).
 */
FIRN_API FIRN_MUST_USE int firn_gen_observe(struct firn_gen *gen, uint64_t id);

/*
 * Raise the limit: no ID has a tick past limit_ms. It never falls: a lower value changes
 * nothing and is FIRN_E_INVALID, as is any call on FIRN_GEN_FILE.
 */
FIRN_API FIRN_MUST_USE int firn_gen_raise_limit(struct firn_gen *gen, int64_t limit_ms);

/*
 * FIRN_GEN_FILE: write the mark ahead if due. Blocks on the disk. Call it from a
 * housekeeping thread about every horizon_ms / 3 and firn_gen_next never meets the limit;
 * or use the _wait calls, which renew by themselves. *due_ms (may be NULL) is how long the
 * next call may wait. FIRN_E_SYNC and FIRN_E_STATE_LOST are final: the word is sealed.
 * Other kinds: 0, nothing to do.
 */
FIRN_API FIRN_MUST_USE int firn_gen_renew(struct firn_gen *gen, uint32_t *due_ms);

/*
 * Close the word for good: no thread or process that shares it issues after this returns,
 * not even one that has passed its checks. Everything issued is below *end_ms (may be
 * NULL), a tick's beginning in Unix milliseconds. Sealing twice is the same as once.
 */
FIRN_API void firn_gen_seal(struct firn_gen *gen, int64_t *end_ms);

/* By how many ms the last ID's tick leads the clock; negative when it is behind. */
FIRN_API FIRN_MUST_USE int firn_gen_lead(struct firn_gen *gen, int64_t *lead_ms);

/* How many IDs could be had now without waiting: 0 at a bound. */
FIRN_API FIRN_MUST_USE int firn_gen_available(struct firn_gen *gen, uint64_t *count);

/* Milliseconds until the layout's time or the limit ends, whichever is first; 0 when over. */
FIRN_API FIRN_MUST_USE int firn_gen_life(struct firn_gen *gen, uint64_t *life_ms);

/* Of these three, none takes NULL. */
FIRN_API void firn_gen_stats(const struct firn_gen *gen, struct firn_gen_stats *stats);
FIRN_API const struct firn_layout *firn_gen_layout(const struct firn_gen *gen);
FIRN_API uint64_t firn_gen_node(const struct firn_gen *gen);

#ifdef __cplusplus
}
#endif

#endif
