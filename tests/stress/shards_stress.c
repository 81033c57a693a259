/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads on shards that are moved from processor to processor, interrupted by signals whose
 * handlers issue as well, and sealed in the middle: no ID twice, none after the seal, none lost.
 *
 * usage: shards_stress [threads] [seconds] [restartable|atomic]
 * With GLIBC_TUNABLES=glibc.pthread.rseq=0 all shards are atomic. Named modes are demanded.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <firn.h>

#include "id_check.h"

#define ROOM 20000000
#define HANDLER_ROOM 200000
#define SEALS 80

struct worker {
	pthread_t thread;
	uint64_t *ids;
	size_t count;
	uint64_t *handler_ids;
	size_t handler_count;
	uint64_t moves; /* seen by the worker itself */
	int late;       /* issued although the seal had returned before the call */
	int error;
};

struct totals {
	uint64_t ids;
	uint64_t moves;
	uint64_t signals;
};

static struct firn_shards *shards;
static int sealed;
static int ready;
static __thread struct worker *self;

static void
on_signal(int number)
{
	struct worker *w = self;
	uint64_t id;

	(void)number;
	if (w == NULL || w->handler_count == HANDLER_ROOM)
		return;
	int after = __atomic_load_n(&sealed, __ATOMIC_SEQ_CST);

	if (firn_shards_next(shards, &id) == FIRN_OK) {
		w->handler_ids[w->handler_count++] = id;
		w->late |= after;
	}
}

static void *
work(void *argument)
{
	struct worker *w = argument;
	int cpu = -1;

	self = w;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		uint64_t id[3];
		size_t count = w->count % 16 == 0 ? 3 : 1;
		int after = __atomic_load_n(&sealed, __ATOMIC_SEQ_CST);

		/* Full: only the end is still of interest. */
		if (w->count + 3 > ROOM && !after) {
			(void)usleep(1000);
			continue;
		}
		int error = count == 1 ? firn_shards_next(shards, id) : firn_shards_next_n(shards, id, count);

		if (error == FIRN_E_SEALED)
			return NULL;
		w->late |= after;
		if (error != FIRN_OK || w->late) {
			w->error = error;
			return NULL;
		}
		memcpy(w->ids + w->count, id, count * sizeof(*id));
		w->count += count;
		if (w->count % 64 < 3 && sched_getcpu() != cpu) {
			cpu = sched_getcpu();
			w->moves++;
		}
	}
}

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Move and interrupt the workers as fast as it goes. */
static uint64_t
shake(struct worker *workers, unsigned count, double seconds)
{
	cpu_set_t allowed;
	uint64_t signals = 0;
	double end = now_s() + seconds;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (unsigned turn = 0; now_s() < end; turn++) {
		struct worker *w = &workers[turn % count];
		int cpu = (int)(turn / count % (unsigned)CPU_SETSIZE);

		if (CPU_ISSET(cpu, &allowed)) {
			cpu_set_t one;

			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			(void)pthread_setaffinity_np(w->thread, sizeof(one), &one);
		} else {
			turn = 0;
		}
		signals += pthread_kill(w->thread, SIGUSR1) == 0;
	}
	for (unsigned i = 0; i < count; i++)
		(void)pthread_setaffinity_np(workers[i].thread, sizeof(allowed), &allowed);
	return signals;
}

/* All IDs in one array; 0 if out of memory. */
static size_t
gather(const struct worker *workers, unsigned threads, uint64_t **all)
{
	size_t total = 0;
	size_t at = 0;

	for (unsigned i = 0; i < threads; i++)
		total += workers[i].count + workers[i].handler_count;
	*all = malloc((total + 1) * sizeof(**all));
	for (unsigned i = 0; *all != NULL && i < threads; i++) {
		memcpy(*all + at, workers[i].ids, workers[i].count * sizeof(**all));
		at += workers[i].count;
		memcpy(*all + at, workers[i].handler_ids, workers[i].handler_count * sizeof(**all));
		at += workers[i].handler_count;
	}
	return *all == NULL ? 0 : total;
}

/* One life of shards: issue, shake for so long, seal while all are at it, check. 0 if all is well. */
static int
live(const struct firn_gen_config *config, struct worker *workers, unsigned threads, double seconds,
     struct totals *totals)
{
	struct firn_gen_stats stats;
	uint64_t *all = NULL;
	uint64_t example = 0;
	int failed = 0;

	ready = 0;
	sealed = 0;
	if (firn_shards_open(config, 0, &shards) != FIRN_OK)
		return 1;
	for (unsigned i = 0; i < threads; i++) {
		workers[i].count = workers[i].handler_count = 0;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < (int)threads)
		(void)sched_yield();
	if (seconds > 0)
		totals->signals += shake(workers, threads, seconds);
	else
		(void)usleep(300);
	firn_shards_seal(shards, NULL);
	__atomic_store_n(&sealed, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < threads; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		totals->moves += workers[i].moves;
		if (workers[i].late || workers[i].error != 0) {
			printf("thread %u: %s\n", i, workers[i].late ? "issued after the seal" : firn_error_code(workers[i].error));
			failed = 1;
		}
	}
	size_t total = gather(workers, threads, &all);
	size_t twice = id_duplicates(all, total, &example);

	if (twice != 0) {
		printf("%zu IDs twice, such as %" PRIu64 "\n", twice, example);
		failed = 1;
	}
	firn_shards_stats(shards, &stats);
	if (stats.ids_made != total) {
		printf("the counters say %" PRIu64 " IDs, there are %zu\n", stats.ids_made, total);
		failed = 1;
	}
	totals->ids += total;
	free(all);
	firn_shards_close(shards);
	return failed;
}

int
main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	double seconds = argc > 2 ? atof(argv[2]) : 5;
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct worker *workers = calloc(threads, sizeof(*workers));
	struct sigaction action = {.sa_handler = on_signal};
	struct totals totals = {0};
	struct firn_layout layout;
	struct firn_clock *clock;
	int failed = id_check_selftest();

	clock_config.kind = FIRN_CLOCK_MANUAL;
	if (workers == NULL ||
	    firn_layout_parse("time:39 node:2 sequence:22 epoch=2024-01-01T00:00:00Z", &layout, NULL) != FIRN_OK ||
	    firn_clock_open(&clock_config, &clock) != FIRN_OK ||
	    firn_clock_set(clock, layout.epoch_ms + 1000) != FIRN_OK || sigaction(SIGUSR1, &action, NULL) != 0)
		return 1;
	config.layout = &layout;
	config.clock = clock;
	config.lead_ms_max = 1000000;
	if (firn_shards_open(&config, 0, &shards) != FIRN_OK)
		return 1;
	int restartable = firn_shards_restartable(shards);
	uint32_t count = firn_shards_count(shards);

	firn_shards_close(shards);
	if (argc > 3 && restartable != (strcmp(argv[3], "restartable") == 0)) {
		printf("skipped: these shards are %s\n", restartable ? "restartable" : "atomic: no restartable sequences here");
		return 77;
	}
	for (unsigned i = 0; i < threads; i++) {
		workers[i].ids = malloc(ROOM * sizeof(uint64_t));
		workers[i].handler_ids = malloc(HANDLER_ROOM * sizeof(uint64_t));
		if (workers[i].ids == NULL || workers[i].handler_ids == NULL)
			return 1;
	}
	/* A seal races with what runs at that moment: so many of them. */
	for (unsigned i = 0; i < SEALS && !failed; i++)
		failed = live(&config, workers, threads, 0, &totals);
	totals.moves = 0;
	if (!failed)
		failed = live(&config, workers, threads, seconds, &totals);
	if (!failed && (totals.moves < 100 || totals.signals < 1000)) {
		printf("the threads were hardly moved or interrupted: the faults did not occur\n");
		failed = 1;
	}
	printf("%u shards (%s), %u threads, %" PRIu64 " IDs, %" PRIu64 " moves seen, %" PRIu64 " signals, %u seals: %s\n", count,
	       restartable ? "restartable" : "atomic", threads, totals.ids, totals.moves, totals.signals, SEALS + 1,
	       failed ? "FAILED" : "unique, counted, none after the seal");
	firn_clock_close(clock);
	for (unsigned i = 0; i < threads; i++) {
		free(workers[i].ids);
		free(workers[i].handler_ids);
	}
	free(workers);
	return failed;
}
