/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Open-loop runs: moments fixed beforehand, latencies counted from them. */
#ifndef FIRN_BENCH_LATENCY_H
#define FIRN_BENCH_LATENCY_H

#include <stdint.h>

#include "histogram.h"

struct latency_schedule {
	double at_ns;   /* the last moment given */
	double gap_ns;  /* the mean distance */
	int poisson;
	uint64_t random;
};

/* The next moment, in ns from the start. */
double latency_next(struct latency_schedule *schedule);

struct latency_run {
	double seconds;
	double count_ns;              /* ns of one count of the counter; 0: the kernel's clock is read */
	int (*call)(void *context);   /* nonzero: refused */
	void *context;
};

struct latency_result {
	struct histogram histogram;
	uint64_t refused;
	double worst_backlog_ns;      /* how late a call began */
};

/* Call at each moment of the schedule, or at once if it is past. */
void latency_run(const struct latency_run *run, struct latency_schedule *schedule, struct latency_result *result);

#endif
