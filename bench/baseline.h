/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What others do: the same rule, max(last, now), under a lock of each kind, and two loops without one. For gen_bench. */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <stdint.h>

#include <firn/clock.h>

#ifdef __cplusplus
extern "C" {
#endif

struct baseline {
	const char *name;
	uint64_t (*next)(struct firn_clock *clock); /* a word; any thread */
	int reads_clock;                            /* the one it is given, as firn's lanes do; else its own or none */
	int queues;                                 /* in turn: when the next in line is not running, all wait for it */
};

extern const struct baseline baselines[];
extern const unsigned baseline_count;

#ifdef __cplusplus
}
#endif

#endif
