/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One repetition of a case: threads pinned, started together, stopped together, counted. */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* So many IDs between two looks at the flag that ends a run. */
#define CHUNK 2000

struct worker {
	pthread_t thread;
	const struct bench_case *what;
	struct bench_subject *subject;
	uint64_t made;
	int failed;
	struct gate *gate;
} __attribute__((aligned(128)));

struct gate {
	pthread_barrier_t start;
	int stop;
};

static void *
work(void *argument)
{
	struct worker *w = argument;
	void *local = NULL;

	w->failed = w->what->begin != NULL && w->what->begin(w->subject, &local) != FIRN_OK;
	/* Warm: pages, caches, the branch predictor. */
	if (!w->failed && w->what->loop(w->subject, local, CHUNK) == 0)
		w->failed = 1;
	(void)pthread_barrier_wait(&w->gate->start);
	while (!w->failed && !__atomic_load_n(&w->gate->stop, __ATOMIC_RELAXED)) {
		uint64_t made = w->what->loop(w->subject, local, CHUNK);

		w->failed = made == 0;
		w->made += made;
	}
	if (w->what->end != NULL && local != NULL)
		w->what->end(w->subject, local);
	return NULL;
}

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Thread i on the i-th processor that we may use, round and round. */
static void
pin(pthread_t thread, unsigned index)
{
	cpu_set_t allowed;
	cpu_set_t one;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	unsigned wanted = index % (unsigned)CPU_COUNT(&allowed);

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			(void)pthread_setaffinity_np(thread, sizeof(one), &one);
			return;
		}
}

static int
run_threads(struct bench_result *result, struct bench_subject *subject, double seconds, double *ns)
{
	static struct worker workers[BENCH_THREADS_MAX];
	struct timespec span = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
	struct gate gate = {.stop = 0};
	uint64_t made = 0;
	int failed = 0;

	if (pthread_barrier_init(&gate.start, NULL, result->threads + 1) != 0)
		return FIRN_E_SYSTEM;
	for (unsigned i = 0; i < result->threads; i++) {
		memset(&workers[i], 0, sizeof(workers[i]));
		workers[i].what = result->what;
		workers[i].subject = subject;
		workers[i].gate = &gate;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			complain("thread %u cannot be started", i);
			exit(EXIT_REFUSED);
		}
		pin(workers[i].thread, i);
	}
	(void)pthread_barrier_wait(&gate.start);
	double start = now_s();

	(void)nanosleep(&span, NULL);
	__atomic_store_n(&gate.stop, 1, __ATOMIC_RELAXED);
	double took = now_s() - start;

	for (unsigned i = 0; i < result->threads; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		made += workers[i].made;
		failed |= workers[i].failed;
	}
	(void)pthread_barrier_destroy(&gate.start);
	if (failed)
		result->invalid = "IDs were refused: this would measure the layout's ceiling";
	*ns = made == 0 ? 0 : took * 1e9 / (double)made;
	return FIRN_OK;
}

static void
add_counts(struct bench_result *result, const struct bench_subject *subject)
{
	struct firn_gen_stats stats;

	memset(&stats, 0, sizeof(stats));
	if (subject->gen != NULL)
		firn_gen_stats(subject->gen, &stats);
	else if (subject->shards != NULL)
		firn_shards_stats(subject->shards, &stats);
	result->refused += stats.refused_exhausted + stats.refused_clock_back + stats.refused_time_over;
	result->retries += stats.cas_retries;
	result->burnt += stats.words_burnt;
	if (result->refused != 0)
		result->invalid = "IDs were refused: this would measure the layout's ceiling";
}

int
bench_run(struct bench_result *result, const struct firn_layout *layout, uint32_t lead_ms, double seconds, double *ns)
{
	struct bench_subject *subject = aligned_alloc(128, (sizeof(*subject) + 127) / 128 * 128);

	if (subject == NULL)
		return FIRN_E_NO_MEMORY;
	memset(subject, 0, sizeof(*subject));
	subject->clock_kind = result->clock_kind;
	subject->layout = layout;
	subject->lead_ms = lead_ms;
	int error = result->what->make(subject);

	if (error == FIRN_OK) {
		error = run_threads(result, subject, seconds, ns);
		add_counts(result, subject);
	}
	result->what->drop(subject);
	free(subject);
	return error;
}

double
bench_ceiling_ns(const struct firn_layout *layout)
{
	return (double)layout->tick_ms * 1e6 / (double)(UINT64_C(1) << layout->seq_bits);
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double
bench_median(const double values[], unsigned count)
{
	double sorted[BENCH_REPETITIONS_MAX];

	if (count == 0)
		return 0;
	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	return count % 2 != 0 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double
bench_spread(const double values[], unsigned count)
{
	double distance[BENCH_REPETITIONS_MAX];
	double median = bench_median(values, count);

	for (unsigned i = 0; i < count; i++)
		distance[i] = fabs(values[i] - median);
	return bench_median(distance, count);
}
