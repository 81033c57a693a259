/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The load of one node, what the rule makes of it, and what a generator on this machine makes of it. */
#ifndef FIRN_LOAD_H
#define FIRN_LOAD_H

#include <stdint.h>

#include "../firn_tool.h"

/* How many IDs one node is asked for in each millisecond. */
struct arrivals {
	uint32_t *count;
	size_t ms;
	double mean; /* a millisecond */
	uint32_t most;
};

enum arrival_shape { ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_BURSTS };

struct arrival_wish {
	enum arrival_shape shape;
	double rate;          /* IDs a second of one node */
	uint32_t on_ms;       /* BURSTS: all of the rate falls into on_ms, then nothing for off_ms */
	uint32_t off_ms;
	double burst;         /* and so many at once, every burst_ms (0: a second) */
	uint32_t burst_ms;
	uint64_t seed;
};

/* ms milliseconds of what is wished; the same for the same wish. 0, or -1 without memory. */
int arrivals_make(const struct arrival_wish *wish, size_t ms, struct arrivals *arrivals);

/*
 * Counts a millisecond from a file ("-": standard input): one number a line, '#' comments.
 * EXIT_OK or an exit code after a message.
 */
int arrivals_read(const char *path, struct arrivals *arrivals);
void arrivals_free(struct arrivals *arrivals);

/* What a layout makes of arrivals on one node, under both policies of a caller. */
struct outcome {
	uint64_t ids;         /* asked for */
	/* Where callers wait for the clock (next_wait, no lead): */
	double stalled;       /* part of IDs that wait */
	double p99_ms;        /* how long 99 in 100 wait at most: from their tick to the ID's */
	double most_ms;
	/* Where they do not (next, a lead of lead_ms): */
	double lead_most_ms;  /* how far ahead of the clock an ID's tick lies */
	double refused;       /* part that the lead does not cover */
};

/* IDs counted by ticks of delay: enough for minutes, the last one holds the rest. */
#define DELAYS 100000
/* stalled, p99_ms and most_ms of such counts, and their number as ids. */
void outcome_delays(struct outcome *outcome, const uint64_t delays[DELAYS], uint32_t tick_ms);

/* The second policy as it went on. NULL is taken wherever a timeline is: nothing is kept then. */
struct timeline {
	size_t room;          /* ms, and ticks */
	size_t ms;            /* of lead_ms so far */
	double *lead_ms;      /* after each millisecond's calls */
	size_t ticks;         /* begun so far */
	uint64_t *ids;        /* of each tick, from the first */
	uint32_t tick_ms;
};

/* A drawn line has so many points at most. */
#define TIMELINE_POINTS 1000

/* 0, or -1 without memory. */
int timeline_make(struct timeline *timeline, size_t ms, uint32_t tick_ms);
void timeline_lead(struct timeline *timeline, size_t ms, double lead_ms);
void timeline_add(struct timeline *timeline, uint64_t tick, uint64_t ids);
void timeline_free(struct timeline *timeline);

/* {"lead_ms": [[ms, lead], ...], "ids_per_tick": [[tick, IDs], ...]}: at most TIMELINE_POINTS each, peaks kept. */
json_t *timeline_json(const struct timeline *timeline);

/*
 * Run the rule over the arrivals: first = max(word, tick << seq_bits), so a queue that is
 * served per_tick IDs a tick; a refused call changes nothing. waste: sequence values a tick
 * that blocks leave unused. Pure.
 */
void queue_run(const struct arrivals *arrivals, uint64_t per_tick, uint32_t tick_ms, double waste, uint32_t lead_ms,
               struct outcome *outcome, struct timeline *timeline);

struct play_wish {
	const struct firn_layout *layout;
	double seconds;       /* of the arrivals, at most */
	uint32_t lead_ms;
	uint32_t shards;      /* a power of two; 1: none */
	uint32_t blocks;      /* the size of a block; 0: none */
	uint32_t threads;     /* how many have a block; they are asked in turn */
	int leading_only;     /* leave the callers that wait out: stalled, p99_ms and most_ms stay 0 */
};

/*
 * The same by playing the arrivals to real generators on this machine, each at its own
 * millisecond, from one thread that stays on one processor: to one with the lead, then to one
 * without a lead whose callers wait. FIRN_OK or an error. *late: part of milliseconds that
 * this machine began more than one too late while nothing waited: their IDs came in a heap,
 * which is not the layout's doing.
 */
int play_run(const struct play_wish *wish, const struct arrivals *arrivals, struct outcome *outcome, double *late,
             struct timeline *timeline);

#endif
