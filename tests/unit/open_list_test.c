/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Two generators of one process that would make the same IDs: the second is refused. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <firn.h>
#include <firn/error.h>

#define THREADS 8

static struct firn_layout layout;

static struct firn_gen_config
config_of(const char *text, uint64_t node)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_OK);
	config.layout = &layout;
	config.node = node;
	return config;
}

/* The answer, with what was opened closed again. */
static int
can_open(const struct firn_gen_config *config)
{
	struct firn_gen *gen = NULL;
	int error = firn_gen_open(config, &gen);

	cr_assert_eq(gen != NULL, error == FIRN_OK);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	return error;
}

Test(open_list, R53_the_same_node_created_twice_in_a_process_is_refused)
{
	struct firn_gen_config config = config_of("default", 1);
	struct firn_gen *gen;

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	config.sharing = FIRN_GEN_SHARED;
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	config.sharing = FIRN_GEN_PRIVATE;
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	cr_assert_eq(can_open(&config), FIRN_OK);
}

Test(open_list, another_node_or_epoch_is_no_business_of_ours)
{
	struct firn_gen_config config = config_of("default", 1);
	struct firn_gen *gen;

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	config.node = 2;
	cr_assert_eq(can_open(&config), FIRN_OK);
	config = config_of("time:41 node:10 sequence:12 epoch=2025-01-01T00:00:00Z tick=1ms", 1);
	cr_assert_eq(can_open(&config), FIRN_OK);
	/* The same bits under other names are the same IDs. */
	config = config_of("time:41 region:3 worker:7 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms", 1);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	/* Number 0 of 9 bits owns the IDs of 0 and 1 of 10 bits. */
	config = config_of("time:41 node:9 sequence:13 epoch=2026-01-01T00:00:00Z tick=1ms", 0);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	config.node = 1;
	cr_assert_eq(can_open(&config), FIRN_OK);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

Test(open_list, shards_are_one_node)
{
	struct firn_gen_config config = config_of("default", 1);
	struct firn_shards *shards;
	struct firn_shards *others;
	struct firn_gen *gen;

	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
	cr_assert_eq(firn_shards_open(&config, 8, &others), FIRN_E_NODE_OPEN);
	firn_shards_close(shards);
	/* What of the refused ones had been opened is closed. */
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_E_NODE_OPEN);
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
	cr_assert_eq(firn_shards_open(&config, 4, &shards), FIRN_OK);
	firn_shards_close(shards);
}

Test(open_list, a_sealed_generator_has_a_successor)
{
	struct firn_gen_config config = config_of("default", 1);
	struct firn_gen *old;
	struct firn_gen *gen;
	int64_t end_ms;
	uint64_t before;
	uint64_t after;

	cr_assert_eq(firn_gen_open(&config, &old), FIRN_OK);
	cr_assert_eq(firn_gen_next(old, &before), FIRN_OK);
	firn_gen_seal(old, &end_ms);
	config.start_after_ms = end_ms - 1;
	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	cr_assert_eq(firn_gen_next(gen, &after), FIRN_OK);
	cr_assert_gt(after, before);
	cr_assert_eq(firn_gen_close(old), FIRN_OK);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN, "closing the old one leaves the new one on the list");
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

Test(open_list, one_thrown_away_unclosed_is_refused_and_not_followed)
{
	struct firn_gen_config config = config_of("default", 1);
	size_t size = (firn_gen_size() + firn_gen_align() - 1) / firn_gen_align() * firn_gen_align();
	void *memory = aligned_alloc(firn_gen_align(), size);
	struct firn_gen *gen;

	cr_assert_eq(firn_gen_init(memory, size, &config, &gen), FIRN_OK);
	free(memory);
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN);
}

Test(open_list, a_child_is_refused_what_its_parent_holds_until_it_closes_its_copy)
{
	struct firn_gen_config config = config_of("default", 1);
	struct firn_gen *gen;
	int status = 0;

	cr_assert_eq(firn_gen_open(&config, &gen), FIRN_OK);
	pid_t child = fork();

	if (child == 0) {
		if (can_open(&config) != FIRN_E_NODE_OPEN)
			_exit(1);
		if (firn_gen_close(gen) != FIRN_OK || can_open(&config) != FIRN_OK)
			_exit(2);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "child: %d", WEXITSTATUS(status));
	cr_assert_eq(can_open(&config), FIRN_E_NODE_OPEN, "the child closed its copy, not ours");
	cr_assert_eq(firn_gen_close(gen), FIRN_OK);
}

static pthread_barrier_t barrier;
static struct firn_gen_config shared_config;

static void *
race(void *opened)
{
	(void)pthread_barrier_wait(&barrier);
	return firn_gen_open(&shared_config, opened) == FIRN_OK ? opened : NULL;
}

Test(open_list, of_threads_that_open_at_once_one_succeeds)
{
	shared_config = config_of("default", 1);
	cr_assert_eq(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (int round = 0; round < 200; round++) {
		pthread_t thread[THREADS];
		struct firn_gen *opened[THREADS] = {NULL};
		int count = 0;

		for (int i = 0; i < THREADS; i++)
			cr_assert_eq(pthread_create(&thread[i], NULL, race, &opened[i]), 0);
		for (int i = 0; i < THREADS; i++) {
			void *won;

			cr_assert_eq(pthread_join(thread[i], &won), 0);
			count += won != NULL;
		}
		cr_assert_eq(count, 1);
		for (int i = 0; i < THREADS; i++)
			cr_assert_eq(firn_gen_close(opened[i]), FIRN_OK);
	}
}
