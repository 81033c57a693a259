/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of firn layout tune share: arrivals, what a layout makes of them, what was measured. */
#ifndef FIRN_TUNE_H
#define FIRN_TUNE_H

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
	double burst;         /* and so many at once, once a second */
	uint64_t seed;
};

/* ms milliseconds of what is wished; the same for the same wish. 0, or -1 without memory. */
int arrivals_make(const struct arrival_wish *wish, size_t ms, struct arrivals *arrivals);

/* Counts a millisecond from a file: one number a line, '#' comments. EXIT_OK or an exit code after a message. */
int arrivals_read(const char *path, struct arrivals *arrivals);
void arrivals_free(struct arrivals *arrivals);

/* What a layout makes of arrivals on one node. */
struct outcome {
	uint64_t ids;
	double stalled;       /* part of IDs whose tick lies ahead of the clock: without a lead they wait */
	double p99_ms;        /* how far ahead: what such an ID waits without a lead */
	double most_ms;
	double refused;       /* part that a lead of lead_ms does not cover */
};

/*
 * Run the rule over the arrivals: first = max(word, tick << seq_bits), so a queue that is
 * served per_tick IDs a tick. waste: sequence values a tick that blocks and shards leave
 * unused. Pure.
 */
void queue_run(const struct arrivals *arrivals, uint64_t per_tick, uint32_t tick_ms, double waste, uint32_t lead_ms,
               struct outcome *outcome);

/*
 * The same by playing the arrivals to a real generator of the layout on this machine, each at
 * its own millisecond, for at most so long. FIRN_OK or an error. *late: part of milliseconds
 * that this machine began more than one too late: their IDs came in a heap, which is not the
 * layout's doing.
 */
int measure_run(const struct firn_layout *layout, const struct arrivals *arrivals, double seconds, uint32_t lead_ms,
                struct outcome *outcome, double *late);

#endif
