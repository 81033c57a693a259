/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of firn bench share: cases, runs, results. */
#ifndef FIRN_BENCH_H
#define FIRN_BENCH_H

#include <stdint.h>

#include "../firn_tool.h"

#define BENCH_REPETITIONS_MAX 99
#define BENCH_THREADS_MAX 256

/* What is asked of one run of a case. */
struct bench_subject {
	enum firn_clock_kind clock_kind;
	const struct firn_layout *layout;
	struct firn_clock *clock;
	struct firn_gen *gen;
	struct firn_shards *shards;
	uint64_t word[32];        /* for bare operations, in a line of its own: word[16] */
	void *lock;               /* for the baselines with one */
	uint32_t lead_ms;
};

/*
 * One case: what is called in the loop. make opens what the loop needs, loop issues about
 * count IDs and returns how many (0: an ID was refused, the run is no measure of the code).
 */
struct bench_case {
	const char *name;
	const char *parts;        /* what an ID costs here, for the table */
	int takes_clock;          /* run once for each clock */
	int only_one_thread;
	int only_bench_layout;    /* the inline lane knows no other */
	int queues;               /* stands still for a time slice at every turn with more threads than processors */
	int (*make)(struct bench_subject *subject);
	uint64_t (*loop)(struct bench_subject *subject, void *local, uint64_t count);
	void (*drop)(struct bench_subject *subject);
	/* A thread's own part, or NULL. */
	int (*begin)(struct bench_subject *subject, void **local);
	void (*end)(struct bench_subject *subject, void *local);
};

/* A case at a clock and a thread count, with what was measured. */
struct bench_result {
	const struct bench_case *what;
	char name[64];
	enum firn_clock_kind clock_kind;
	unsigned threads;
	unsigned repetitions;
	double ns[BENCH_REPETITIONS_MAX]; /* wall time over all IDs */
	uint64_t refused;
	uint64_t retries;
	uint64_t burnt;
	const char *invalid;              /* why this is no code cost; NULL if it is */
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

/* The layout of code cost: no ceiling in reach. */
#define BENCH_LAYOUT "time:39 worker:2 sequence:22 epoch=2026-01-01T00:00:00Z tick=1ms"
#define BENCH_LEAD_MS (UINT32_C(1) << 22)

/* One repetition: ns per ID into *ns. FIRN_OK, or why the case cannot be run here. */
int bench_run(struct bench_result *result, const struct firn_layout *layout, uint32_t lead_ms, double seconds,
              double *ns);

/* ns per ID that the layout allows for long, on one node. */
double bench_ceiling_ns(const struct firn_layout *layout);

double bench_median(const double values[], unsigned count);
/* Median of the distances from the median. */
double bench_spread(const double values[], unsigned count);

/* This machine: processor, kernel, clock source, and so on. */
json_t *bench_machine(void);
void bench_machine_print(const json_t *machine);

json_t *bench_report_json(const struct bench_result results[], size_t count, const struct firn_layout *layout,
                          const char *command);
void bench_report_print(const struct bench_result results[], size_t count, const struct firn_layout *layout);

/* A self-contained page of a report made by bench_report_json, with what latency and ceiling runs it holds. */
int bench_page_write(const json_t *report, const char *path);

/* Throughput, latency and ticks of a report as charts: what it holds of them. */
void bench_charts_write(FILE *file, const json_t *report);

/* What a latency run is asked for. */
struct bench_latency_wish {
	const struct firn_layout *layout;
	enum firn_clock_kind clock_kind;
	uint32_t lead_ms;
	double rate;          /* all threads together */
	double seconds;
	unsigned threads;
	int poisson;
};

/* An open-loop run beside one of empty calls; NULL after *error was set. */
json_t *bench_latency_json(const struct bench_latency_wish *wish, int *error);

/* Lead and IDs per tick under an even load with a burst in each second; NULL after *error was set. */
json_t *bench_ticks_json(const struct firn_layout *layout, uint32_t lead_ms, double rate, double seconds, int *error);

/* A clock by name. EXIT_USAGE after a message. */
int bench_clock_read(const char *name, enum firn_clock_kind *kind);

int cmd_bench_compare(int argc, char **argv);
int cmd_bench_latency(int argc, char **argv);
int cmd_bench_ceiling(int argc, char **argv);
int cmd_bench_record(int argc, char **argv);

/* A list of numbers such as 1,2,4. Their number, 0 after a message. */
unsigned bench_numbers_read(const char *text, unsigned most, unsigned *numbers, unsigned room);

/* Two-sided probability that two samples of one distribution lie so far apart (Mann-Whitney U). */
double bench_mann_whitney(const double a[], unsigned na, const double b[], unsigned nb);

#endif
