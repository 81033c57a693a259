/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The ticker: one thread of the process renews the reading of every ticker clock. */
#include "clock/cold.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <firn/error.h>

/*
 * The list, and whether its thread runs, under one lock, which a fork takes too: a child
 * finds the list whole. The thread is not copied by a fork; the child's clocks say
 * "uncached", which sends their readers to firni_clock_ticker, where it starts again.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* the list has changed */
	pthread_t thread;
	int running;
	uintptr_t epoch; /* counts threads and their ends: a thread runs while it is its own */
	struct firn_clock *first;
} ticker = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t ticker_once = PTHREAD_ONCE_INIT;

static void
before_fork(void)
{
	(void)pthread_mutex_lock(&ticker.lock);
}

static void
in_parent(void)
{
	(void)pthread_mutex_unlock(&ticker.lock);
}

static void
make_wake(void)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&ticker.wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static void
in_child(void)
{
	for (struct firn_clock *c = ticker.first; c != NULL; c = c->cold->next_ticker)
		firni_atomic64_store(&c->cached_ms, FIRNI_CLOCK_UNCACHED);
	ticker.running = 0;
	ticker.epoch++;
	make_wake(); /* the parent's thread may have been waiting on the copy */
	(void)pthread_mutex_unlock(&ticker.lock);
}

static void
init(void)
{
	make_wake();
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

static int64_t
steady_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Renew all; returns the shortest period. late: how many such periods were missed before. */
static int64_t
renew_all(uint64_t late)
{
	int64_t shortest = 1000000;

	for (struct firn_clock *c = ticker.first; c != NULL; c = c->cold->next_ticker) {
		int64_t now;

		/* A reading that fails is counted there; the clock goes on with what it said last. */
		if (firni_clock_guard(c, &now) == FIRN_OK)
			firni_atomic64_store(&c->cached_ms, (uint64_t)now);
		if (late != 0)
			firni_atomic64_fetch_add(&c->cold->ticks_late, late);
		if (c->cold->config.ticker_us < shortest)
			shortest = c->cold->config.ticker_us;
	}
	return shortest * 1000;
}

static void *
run(void *epoch)
{
	int64_t due = steady_ns();
	uint64_t late = 0;

	(void)pthread_mutex_lock(&ticker.lock);
	while (ticker.epoch == (uintptr_t)epoch) {
		int64_t period = renew_all(late);

		due += period;
		struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};

		(void)pthread_cond_timedwait(&ticker.wake, &ticker.lock, &until);
		int64_t behind = steady_ns() - due;

		/* A thread that was held up does not make up for it by ticking in a row. */
		late = 0;
		if (behind > period) {
			late = (uint64_t)(behind / period);
			due += behind;
		}
	}
	(void)pthread_mutex_unlock(&ticker.lock);
	return NULL;
}

/* With the lock held. The thread takes no signals: they are for the program's own threads. */
static int
start_thread(void)
{
	sigset_t all;
	sigset_t before;

	if (ticker.running)
		return FIRN_OK;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	ticker.running = pthread_create(&ticker.thread, NULL, run, (void *)++ticker.epoch) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ticker.running ? FIRN_OK : FIRN_E_SYSTEM;
}

int
firni_clock_ticker_start(struct firn_clock *clock, int64_t wall_ms)
{
	(void)pthread_once(&ticker_once, init);
	(void)pthread_mutex_lock(&ticker.lock);
	firni_atomic64_store(&clock->cached_ms, (uint64_t)wall_ms);
	clock->cold->next_ticker = ticker.first;
	ticker.first = clock;
	int error = start_thread();

	if (error != FIRN_OK)
		ticker.first = clock->cold->next_ticker;
	(void)pthread_cond_signal(&ticker.wake);
	(void)pthread_mutex_unlock(&ticker.lock);
	return error;
}

void
firni_clock_ticker_stop(struct firn_clock *clock)
{
	(void)pthread_mutex_lock(&ticker.lock);
	struct firn_clock **at = &ticker.first;

	while (*at != NULL && *at != clock)
		at = &(*at)->cold->next_ticker;
	if (*at != NULL)
		*at = clock->cold->next_ticker;
	/* The last one's closing waits for the thread, so that an unloaded library leaves none behind. */
	int last = ticker.first == NULL && ticker.running;
	pthread_t thread = ticker.thread;

	if (last) {
		ticker.running = 0;
		ticker.epoch++;
	}
	(void)pthread_cond_signal(&ticker.wake);
	(void)pthread_mutex_unlock(&ticker.lock);
	if (last)
		(void)pthread_join(thread, NULL);
}

int
firni_clock_ticker(struct firn_clock *clock, int64_t *unix_ms)
{
	int error = firni_clock_guard(clock, unix_ms);

	if (error != FIRN_OK)
		return error;
	(void)pthread_mutex_lock(&ticker.lock);
	error = start_thread();
	if (error == FIRN_OK)
		firni_atomic64_store(&clock->cached_ms, (uint64_t)*unix_ms);
	(void)pthread_mutex_unlock(&ticker.lock);
	/* Without a thread each reading is one of the wall clock: slower, and as good. */
	return FIRN_OK;
}
