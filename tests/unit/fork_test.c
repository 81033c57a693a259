/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Children: fork, raw clone, vfork, a fork from a signal handler; private words refuse, shared ones go on. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <firn.h>

#include "emulator.h"

static struct firn_layout layout;

static struct firn_gen *
open_gen(enum firn_gen_sharing sharing)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_gen *gen = NULL;

	cr_assert_eq(firn_layout_parse("default", &layout, NULL), FIRN_OK);
	config.layout = &layout;
	/* One that is read without a call: then nothing but the path itself can tell a child. */
	clock_config.kind = FIRN_CLOCK_MANUAL;
	cr_assert_eq(firn_clock_open(&clock_config, &config.clock), FIRN_OK);
	cr_assert_eq(firn_clock_set(config.clock, layout.epoch_ms + 1000), FIRN_OK);
	config.sharing = sharing;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	return gen;
}

static int
status_of(pid_t child)
{
	int status = -1;

	cr_assert_eq(waitpid(child, &status, __WALL), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int
everything_refuses(struct firn_gen *gen, struct firn_range *range)
{
	uint64_t id[3] = {77, 77, 77};
	uint64_t count;

	return firn_gen_next(gen, id) == FIRN_E_FORKED && firn_gen_next_n(gen, id, 3) == FIRN_E_FORKED &&
	       firn_gen_next_wait(gen, 10, id) == FIRN_E_FORKED && firn_range_next(range, id) == FIRN_E_FORKED &&
	       firn_gen_observe(gen, 1) == FIRN_E_FORKED && firn_gen_available(gen, &count) == FIRN_E_FORKED &&
	       id[0] == 77;
}

Test(fork, R49_a_private_generator_and_its_ranges_refuse_in_the_child)
{
	struct firn_gen *gen = open_gen(FIRN_GEN_PRIVATE);
	struct firn_range range;
	uint64_t id;

	cr_assert_eq(firn_gen_reserve(gen, 10, &range), FIRN_OK);
	pid_t child = fork();

	if (child == 0) {
		int good = everything_refuses(gen, &range);
		/* The child's own generator works, and the parent's still refuses beside it. */
		struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
		struct firn_gen *own = NULL;

		config.layout = &layout;
		config.node = 1;
		good = good && firn_gen_open(&config, &own) == FIRN_OK && firn_gen_next(own, &id) == FIRN_OK &&
		       everything_refuses(gen, &range);
		/* A grandchild refuses both. */
		pid_t grandchild = fork();

		if (grandchild == 0)
			_exit(firn_gen_next(own, &id) == FIRN_E_FORKED && firn_gen_next(gen, &id) == FIRN_E_FORKED ? 0 : 1);
		good = good && status_of(grandchild) == 0;
		_exit(good ? 0 : 1);
	}
	cr_assert_eq(status_of(child), 0);
	cr_assert_eq(firn_gen_next(gen, &id), FIRN_OK);
	cr_assert_eq(firn_range_next(&range, &id), FIRN_OK);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

Test(fork, raw_clone_is_seen_without_the_libc)
{
	struct firn_gen *gen = open_gen(FIRN_GEN_PRIVATE);
	struct firn_range range;

	if (in_emulator())
		cr_skip_test("the emulator wipes no page; only libc's fork is seen there");
	cr_assert_eq(firn_gen_reserve(gen, 10, &range), FIRN_OK);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(everything_refuses(gen, &range) ? 0 : 1);
	cr_assert_eq(status_of(child), 0);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

Test(fork, a_vfork_child_issues_from_the_parents_own_word)
{
	struct firn_gen *gen = open_gen(FIRN_GEN_PRIVATE);
	static volatile uint64_t in_child;
	static volatile int error;
	uint64_t id = 0;
	pid_t child = vfork();

	if (child == 0) {
		uint64_t mine = 0;

		error = firn_gen_next(gen, &mine);
		in_child = mine;
		_exit(0);
	}
	cr_assert_eq(status_of(child), 0);
	cr_assert_eq(error, FIRN_OK);
	cr_assert_eq(firn_gen_next(gen, &id), FIRN_OK);
	cr_assert_gt(id, in_child);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

Test(fork, a_shared_generator_issues_in_all_children_and_never_twice)
{
	enum { CHILDREN = 4, EACH = 20000 };
	struct firn_gen *gen = open_gen(FIRN_GEN_SHARED);
	size_t size = sizeof(uint64_t) * CHILDREN * EACH;
	uint64_t *ids = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct firn_range range;
	pid_t child[CHILDREN];

	cr_assert_eq(firn_gen_reserve(gen, 10, &range), FIRN_OK);
	for (int c = 0; c < CHILDREN; c++) {
		child[c] = fork();
		if (child[c] == 0) {
			uint64_t id;

			if (firn_range_next(&range, &id) != FIRN_E_FORKED)
				_exit(2);
			for (int i = 0; i < EACH; i++)
				if (firn_gen_next_wait(gen, 5000, &ids[c * EACH + i]) != FIRN_OK)
					_exit(1);
			_exit(0);
		}
	}
	for (int c = 0; c < CHILDREN; c++)
		cr_assert_eq(status_of(child[c]), 0);
	/* Each rises; so a merge that meets an equal pair has found a duplicate. */
	size_t at[CHILDREN] = {0};
	uint64_t last = 0;

	for (int n = 0; n < CHILDREN * EACH; n++) {
		int least = -1;

		for (int c = 0; c < CHILDREN; c++)
			if (at[c] < EACH && (least < 0 || ids[c * EACH + at[c]] < ids[least * EACH + at[least]]))
				least = c;
		uint64_t id = ids[least * EACH + at[least]++];

		cr_assert_gt(id, last);
		last = id;
	}
	struct firn_gen_stats stats;

	firn_gen_stats(gen, &stats);
	cr_assert_eq(stats.ids_made, CHILDREN * EACH + 10);
	cr_assert_eq(munmap(ids, size), 0);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

static struct firn_gen *in_handler;
static volatile sig_atomic_t handled;
static volatile int handler_error;
static volatile uint64_t handler_id;

static void
issue(int signal_number)
{
	uint64_t id = 0;

	(void)signal_number;
	handler_error = firn_gen_next(in_handler, &id);
	handler_id = id;
	handled++;
}

Test(fork, a_signal_handler_may_issue_in_the_middle_of_a_call)
{
	struct firn_gen *gen = in_handler = open_gen(FIRN_GEN_PRIVATE);
	struct sigaction action;
	uint64_t last = 0;
	timer_t timer;
	struct itimerspec often = {{0, 50000}, {0, 50000}};

	memset(&action, 0, sizeof(action));
	action.sa_handler = issue;
	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	cr_assert_eq(timer_settime(timer, 0, &often, NULL), 0);
	while (handled < 200) {
		uint64_t id;
		int error = firn_gen_next_wait(gen, 5000, &id);

		cr_assert_eq(error, FIRN_OK);
		cr_assert_gt(id, last);
		last = id;
	}
	cr_assert_eq(timer_delete(timer), 0);
	cr_assert(handler_error == FIRN_OK || handler_error == FIRN_E_EXHAUSTED);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

static void *
issue_for_ever(void *argument)
{
	uint64_t id;

	for (;;) {
		pthread_testcancel();
		if (firn_gen_next_wait(argument, 100, &id) != FIRN_OK)
			return NULL;
	}
}

Test(fork, cancelled_threads_leave_nothing_locked)
{
	struct firn_gen *gen = open_gen(FIRN_GEN_PRIVATE);
	uint64_t id;

	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, issue_for_ever, gen), 0);
		(void)usleep(500);
		cr_assert_eq(pthread_cancel(thread), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
		cr_assert_eq(firn_gen_next_wait(gen, 5000, &id), FIRN_OK);
	}
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}
