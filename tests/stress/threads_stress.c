/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads on one generator under a clock that steps and freezes: unique, each thread's
 * rising, real-time order kept, lead bounded.
 *
 * usage: threads_stress [threads] [IDs in millions] [seconds at most] [add|cas]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <firn.h>

#include "id_check.h"

#define LEAD_MS 1000
#define BATCH 37

struct worker {
	pthread_t thread;
	unsigned number;
	uint64_t *ids;
	size_t room;
	size_t count;
	uint64_t refused;
	const char *fault;
	uint64_t fault_id;
};

static struct firn_layout layout;
static struct firn_clock *clock_;
static struct firn_gen *gen;
/* The largest ID whose call has returned: every call that begins afterwards must return more. */
static uint64_t returned;
/* The highest reading that the clock has shown, for the lead bound. */
static uint64_t highest_ms;
static int stop;

static int64_t
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static uint64_t
random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void
raise_returned(uint64_t id)
{
	uint64_t seen = __atomic_load_n(&returned, __ATOMIC_ACQUIRE);

	while (seen < id &&
	       !__atomic_compare_exchange_n(&returned, &seen, id, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static int
check(struct worker *worker, uint64_t before, uint64_t id)
{
	uint64_t top_ms = __atomic_load_n(&highest_ms, __ATOMIC_ACQUIRE);
	uint64_t ms = (uint64_t)layout.epoch_ms + (id >> 22);

	if (id <= before)
		worker->fault = "below an ID that was returned before the call began";
	else if (ms > top_ms + LEAD_MS)
		worker->fault = "further ahead of every reading than lead_ms_max";
	else
		return 1;
	worker->fault_id = id;
	return 0;
}

static void *
work(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = 88172645463325252u + worker->number * 7919u;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && worker->count + BATCH < worker->room) {
		uint64_t before = __atomic_load_n(&returned, __ATOMIC_ACQUIRE);
		uint64_t *id = worker->ids + worker->count;
		size_t count = random_of(&random) % 16 == 0 ? BATCH : 1;
		int error = count == 1 ? firn_gen_next(gen, id) : firn_gen_next_n(gen, id, count);

		if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK) {
			worker->refused++;
			continue;
		}
		if (error != FIRN_OK) {
			worker->fault = firn_error_code(error);
			return NULL;
		}
		if (!check(worker, before, id[0]) || !check(worker, before, id[count - 1]))
			return NULL;
		raise_returned(id[count - 1]);
		worker->count += count;
	}
	return NULL;
}

static void
show(int64_t ms)
{
	uint64_t top = __atomic_load_n(&highest_ms, __ATOMIC_RELAXED);

	/* First the bound, then the reading: no ID may be judged by a bound older than its reading. */
	if ((uint64_t)ms > top)
		__atomic_store_n(&highest_ms, (uint64_t)ms, __ATOMIC_RELEASE);
	if (firn_clock_set(clock_, ms) != FIRN_OK)
		abort();
}

/* Runs far faster than real time, so that the layout's ceiling does not bound the test; steps, freezes, spikes. */
static void
drive_clock(int64_t seconds)
{
	uint64_t random = 1234567;
	int64_t ms = layout.epoch_ms + 100000;
	int64_t end = now_s() + seconds;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && now_s() < end) {
		struct timespec pause = {0, 200000};
		uint64_t dice = random_of(&random) % 1000;

		(void)nanosleep(&pause, NULL);
		if (dice < 20)
			show(ms - (int64_t)(random_of(&random) % 3000)); /* back, further than the lead at times */
		else if (dice < 30)
			show(ms += (int64_t)(random_of(&random) % 5000)); /* a step forward */
		else if (dice >= 60)
			show(ms += 8); /* otherwise it stands still */
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
}

static void *
watch(void *argument)
{
	struct worker **workers = argument;

	/* Stop the clock when every worker has ended by itself. */
	for (unsigned i = 0; workers[i] != NULL; i++)
		(void)pthread_join(workers[i]->thread, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return NULL;
}

int
main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	size_t wanted = (size_t)(argc > 2 ? atof(argv[2]) * 1e6 : 20e6);
	int64_t seconds = argc > 3 ? atoi(argv[3]) : 20;
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_gen_stats stats;
	uint64_t *ids = malloc((wanted + (size_t)threads * 2 * BATCH) * sizeof(*ids));
	struct worker *workers = calloc(threads, sizeof(*workers));
	struct worker **list = calloc(threads + 1, sizeof(*list));
	pthread_t watcher;
	size_t total = 0;
	uint64_t refused = 0;
	uint64_t example = 0;
	int failed = id_check_selftest();

	clock_config.kind = FIRN_CLOCK_MANUAL;
	if (ids == NULL || workers == NULL || list == NULL || firn_layout_parse("default", &layout, NULL) != FIRN_OK ||
	    firn_clock_open(&clock_config, &clock_) != FIRN_OK)
		return 1;
	show(layout.epoch_ms + 100000);
	config.layout = &layout;
	config.clock = clock_;
	config.lead_ms_max = LEAD_MS;
	config.lane = argc > 4 && strcmp(argv[4], "cas") == 0 ? FIRN_GEN_CAS : FIRN_GEN_ADD;
	if (firn_gen_open(&config, &gen) != FIRN_OK)
		return 1;
	for (unsigned i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].room = wanted / threads + 2 * BATCH;
		workers[i].ids = ids + (size_t)i * workers[i].room;
		list[i] = &workers[i];
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	if (pthread_create(&watcher, NULL, watch, list) != 0)
		return 1;
	drive_clock(seconds);
	(void)pthread_join(watcher, NULL);
	for (unsigned i = 0; i < threads; i++) {
		if (workers[i].fault != NULL) {
			printf("thread %u: ID %" PRIu64 ": %s\n", i, workers[i].fault_id, workers[i].fault);
			failed = 1;
		}
		if (id_first_not_rising(workers[i].ids, workers[i].count) != workers[i].count) {
			printf("thread %u: IDs do not rise\n", i);
			failed = 1;
		}
		memmove(ids + total, workers[i].ids, workers[i].count * sizeof(*ids));
		total += workers[i].count;
		refused += workers[i].refused;
	}
	size_t twice = id_duplicates(ids, total, &example);

	if (twice != 0) {
		printf("%zu IDs twice, such as %" PRIu64 "\n", twice, example);
		failed = 1;
	}
	firn_gen_stats(gen, &stats);
	if (stats.ids_made != total) {
		printf("the counter says %" PRIu64 " IDs, there are %zu\n", stats.ids_made, total);
		failed = 1;
	}
	if (refused != stats.refused_exhausted + stats.refused_clock_back || stats.refused_clock_back == 0) {
		printf("refusals are miscounted, or the clock never went back\n");
		failed = 1;
	}
	printf("%u threads, %zu IDs, %" PRIu64 " refused (%" PRIu64 " clock_back), %" PRIu64 " CAS retries, %" PRIu64
	       " burnt, %" PRIu64
	       " ticks borrowed: %s\n",
	       threads, total, refused, stats.refused_clock_back, stats.cas_retries, stats.words_burnt,
	       stats.ticks_borrowed,
	       failed ? "FAILED" : "unique, rising, in real-time order, within the lead");
	(void)firn_gen_close(gen);
	firn_clock_close(clock_);
	free(ids);
	free(workers);
	free(list);
	return failed || total < 1000;
}
