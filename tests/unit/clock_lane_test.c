/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the fast lanes, on the real counter and a real thread: bounds, steps, forks, ends. */
#include <criterion/criterion.h>

#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <firn.h>

#include "emulator.h"

#define SPAN_MS FIRN_CLOCK_TSC_SPAN_MS

static volatile int64_t step_ms; /* the wall clock is so far from the true one */
static volatile int stall;       /* the next wall reading takes a second */

static int64_t
true_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
sleep_ms(long ms)
{
	struct timespec span = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&span, NULL);
}

static int
wall(void *context, int64_t *unix_ms)
{
	(void)context;
	if (stall) {
		stall = 0;
		sleep_ms(1000);
	}
	*unix_ms = true_ns() / 1000000 + step_ms;
	return 0;
}

/* NULL, and the test is over by name, where this machine's counter will not do. */
static struct firn_clock *
open_kind(enum firn_clock_kind kind)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_clock *clock = NULL;

	config.kind = kind;
	config.hold_ms = 0;
	config.source.wall_ms = wall;
	int error = firn_clock_open(&config, &clock);

	if (error == FIRN_E_UNSUPPORTED && kind == FIRN_CLOCK_TSC)
		cr_skip_test("this machine's counter is not invariant, or its kernel does not keep time by it");
	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	return clock;
}

static int64_t
reading(struct firn_clock *clock)
{
	int64_t ms = 0;

	cr_assert_eq(firn_clock_read(clock, &ms), FIRN_OK);
	return ms;
}

static unsigned
threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned count = 0;
	struct dirent *entry;

	cr_assert_not_null(tasks);
	while ((entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(tasks);
	return count;
}

/* A thread that was joined may be seen for a moment yet. */
static int
are_threads(unsigned count)
{
	for (int i = 0; i < 10000 && threads() != count; i++)
		sleep_ms(1);
	return threads() == count;
}

/* A reading between two true ones is at most 2 ms outside of them: the scheduler cannot spoil that. */
static int
within(struct firn_clock *clock, int64_t bound_ms)
{
	int64_t before = true_ns() / 1000000 + step_ms;
	int64_t ms = reading(clock);
	int64_t after = true_ns() / 1000000 + step_ms;

	return ms >= before - bound_ms && ms <= after + bound_ms;
}

Test(clock_lane, the_counter_stays_within_2_ms_of_the_wall)
{
	struct firn_clock *clock = open_kind(FIRN_CLOCK_TSC);
	int64_t end = true_ns() + 4 * SPAN_MS * INT64_C(1000000);

	for (unsigned i = 0; true_ns() < end; i++) {
		cr_assert(within(clock, 2));
		if (i % 1000 == 0)
			sleep_ms(i % 7);
	}
	firn_clock_close(clock);
}

Test(clock_lane, a_step_of_the_wall_reaches_the_counter_within_a_span)
{
	struct firn_clock *clock = open_kind(FIRN_CLOCK_TSC);
	static const int64_t steps[] = {700, -5000, 0};

	for (unsigned i = 0; i < 3; i++) {
		cr_assert(within(clock, 2));
		step_ms = steps[i];
		sleep_ms(SPAN_MS + 5);
		cr_assert(within(clock, 2), "after a step to %lld", (long long)steps[i]);
	}
	/* After a long idle the first reading is right at once: it renews before it answers. */
	sleep_ms(3 * SPAN_MS);
	cr_assert(within(clock, 2));
	firn_clock_close(clock);
}

Test(clock_lane, an_operators_word_reaches_the_counter_at_once)
{
	struct firn_clock *clock = open_kind(FIRN_CLOCK_TSC);

	(void)reading(clock);
	step_ms = 60000;
	cr_assert_eq(firn_clock_accept(clock), FIRN_OK);
	cr_assert(within(clock, 2));
	firn_clock_close(clock);
}

/* The ticker's reading may be as old as its thread was held up: so wait for it, for long. */
static int
follows(struct firn_clock *clock)
{
	int64_t from = true_ns() / 1000000 + step_ms;

	for (int i = 0; i < 10000 && reading(clock) <= from; i++)
		sleep_ms(1);
	return reading(clock) > from;
}

Test(clock_lane, the_ticker_follows_the_wall_and_ends_with_its_last_clock)
{
	unsigned before = threads();
	struct firn_clock *one = open_kind(FIRN_CLOCK_TICKER);
	struct firn_clock *two = open_kind(FIRN_CLOCK_TICKER);

	cr_assert_eq(threads(), before + 1, "one thread serves them all");
	cr_assert(follows(one) && follows(two));
	step_ms = 500;
	cr_assert(follows(one));
	firn_clock_close(two);
	cr_assert(follows(one));
	firn_clock_close(one);
	cr_assert(are_threads(before));
	one = open_kind(FIRN_CLOCK_TICKER);
	cr_assert(follows(one));
	firn_clock_close(one);
	cr_assert(are_threads(before));
}

Test(clock_lane, a_ticker_that_was_stopped_for_a_second_is_late_and_repeats_nothing)
{
	struct firn_clock *clock = open_kind(FIRN_CLOCK_TICKER);
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_clock_stats stats;
	struct firn_layout layout;
	struct firn_gen *gen;
	uint64_t last = 0;
	uint64_t id;

	cr_assert_eq(firn_layout_parse("default", &layout, NULL), FIRN_OK);
	config.layout = &layout;
	config.clock = clock;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	stall = 1;
	while (stall)
		sleep_ms(1);
	int64_t stood = reading(clock);

	for (int i = 0; i < 100; i++) {
		cr_assert_eq(firn_gen_next(gen, &id), FIRN_OK);
		cr_assert_gt(id, last);
		last = id;
		sleep_ms(1);
	}
	cr_assert_eq(reading(clock), stood, "it stands while its thread does");
	cr_assert(follows(clock));
	sleep_ms(20);
	firn_clock_stats(clock, &stats);
	cr_assert_geq(stats.ticks_late, 1000);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	firn_clock_close(clock);
}

Test(clock_lane, a_child_restarts_the_ticker_for_a_shared_word_and_not_for_a_private_one)
{
	struct firn_clock *clock = open_kind(FIRN_CLOCK_TICKER);
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_layout layout;
	struct firn_gen *private;
	struct firn_gen *shared;
	uint64_t id;
	int status = 0;

	if (in_emulator())
		cr_skip_test("the emulator ends itself when a forked child starts a thread");
	cr_assert_eq(firn_layout_parse("default", &layout, NULL), FIRN_OK);
	config.layout = &layout;
	config.clock = clock;
	cr_assert_eq(firn_gen_open(&config, &private), FIRN_OK);
	config.sharing = FIRN_GEN_SHARED;
	config.node = 1;
	cr_assert_eq(firn_gen_open(&config, &shared), FIRN_OK);
	pid_t child = fork();

	if (child == 0) {
		unsigned alone = threads(); /* an emulator has one of its own */

		if (firn_gen_next(private, &id) != FIRN_E_FORKED || threads() != alone)
			_exit(1);
		if (firn_gen_next(shared, &id) != FIRN_OK || threads() != alone + 1)
			_exit(2);
		_exit(follows(clock) ? 0 : 3);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "child: %d", WEXITSTATUS(status));
	cr_assert(follows(clock), "the parent's goes on");
	cr_assert_eq(firn_gen_close(private), FIRN_OK);
	cr_assert_eq(firn_gen_close(shared), FIRN_OK);
	firn_clock_close(clock);
}
