/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes on one state file, killed, stopped, forked, under clocks that step and freeze,
 * each by itself: no ID twice, each process's rising, real-time order kept.
 *
 * usage: processes_stress [processes] [seconds] [IDs in millions at most]
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <firn.h>

#include "id_check.h"

#define LIVES 4000       /* incarnations in all */
#define BLOCK 2000000    /* IDs of one incarnation */
#define SLOTS 64

struct life {
	uint64_t count;
	uint64_t refused;
	int32_t fault;      /* the first error that is not a refusal, negated; 1: order broken */
	uint64_t fault_id;
};

struct shared {
	uint64_t returned;  /* the largest ID whose call has returned, in any process */
	uint64_t total;
	int stop;
	int next_life;
	uint64_t forks;
	struct life life[LIVES];
};

static struct shared *shared;
static uint64_t *ids; /* LIVES blocks, reserved and not yet there */
static uint64_t wanted;
static struct firn_layout layout;
static char dir[] = "/tmp/firn-stress-XXXXXX";
static char path[64];

/* A clock of the process's own: real time, a step away from it, at times frozen. */
static int64_t step_ms;
static int64_t frozen_ms;

static int
wall(void *context, int64_t *unix_ms)
{
	struct timespec now;

	(void)context;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	*unix_ms = frozen_ms != 0 ? frozen_ms : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + step_ms;
	return 0;
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
disturb_clock(uint64_t *random)
{
	uint64_t dice = random_of(random) % 100;
	int64_t now;

	if (dice < 30) {
		frozen_ms = 0;
		step_ms = (int64_t)(random_of(random) % 1400) - 700;
	} else if (dice < 50 && frozen_ms == 0 && wall(NULL, &now) == 0) {
		frozen_ms = now;
	} else {
		frozen_ms = 0;
	}
}

static void
raise_returned(uint64_t id)
{
	uint64_t seen = __atomic_load_n(&shared->returned, __ATOMIC_ACQUIRE);

	while (seen < id &&
	       !__atomic_compare_exchange_n(&shared->returned, &seen, id, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static int
new_life(void)
{
	return __atomic_fetch_add(&shared->next_life, 1, __ATOMIC_RELAXED);
}

static void
issue(struct firn_gen *gen, int number, uint64_t seed)
{
	struct life *life = &shared->life[number];
	uint64_t *block = ids + (size_t)number * BLOCK;
	uint64_t random = seed * 2654435761u + 88172645463325252u;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED) && life->count < BLOCK) {
		uint64_t before = __atomic_load_n(&shared->returned, __ATOMIC_ACQUIRE);
		uint64_t id;
		int error = firn_gen_next_wait(gen, 20, &id);

		if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK || error == FIRN_E_FENCED) {
			life->refused++;
			disturb_clock(&random);
			continue;
		}
		/* Everybody is told apart by an exact fault: sealed here would be a lost word. */
		if (error != FIRN_OK || id <= before) {
			life->fault = error != FIRN_OK ? -error : 1;
			life->fault_id = id;
			return;
		}
		block[life->count] = id;
		__atomic_store_n(&life->count, life->count + 1, __ATOMIC_RELEASE);
		raise_returned(id);
		if (random_of(&random) % 20000 == 0)
			disturb_clock(&random);
		if (life->count % 4096 == 0 && __atomic_add_fetch(&shared->total, 4096, __ATOMIC_RELAXED) > wanted)
			__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	}
}

static void
live(int number)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_clock *clock = NULL;
	struct firn_gen *gen = NULL;
	uint64_t random = (uint64_t)number * 7919 + 3;

	clock_config.kind = FIRN_CLOCK_CUSTOM;
	clock_config.source.wall_ms = wall;
	disturb_clock(&random);
	config.layout = &layout;
	config.sharing = FIRN_GEN_FILE;
	config.state_path = path;
	config.lock_wait_ms = 20000; /* a stopped process may hold the lock for a while */
	int error = firn_clock_open(&clock_config, &clock);

	config.clock = clock;
	if (error == FIRN_OK)
		error = firn_gen_open(&config, &gen);
	if (error != FIRN_OK) {
		shared->life[number].fault = -error;
		_exit(1);
	}
	/* Some go on as parent and child on one open state. */
	if (random_of(&random) % 4 == 0) {
		int child_life = new_life();

		if (child_life < LIVES) {
			pid_t child = fork();

			if (child == 0) {
				issue(gen, child_life, (uint64_t)child_life);
				_exit(0);
			}
			__atomic_fetch_add(&shared->forks, 1, __ATOMIC_RELAXED);
		}
	}
	issue(gen, number, (uint64_t)number);
	(void)firn_gen_close(gen);
	_exit(0);
}

static pid_t
spawn(void)
{
	int number = new_life();

	if (number >= LIVES)
		return 0;
	pid_t child = fork();

	if (child == 0)
		live(number);
	return child;
}

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	unsigned processes = argc > 1 ? (unsigned)atoi(argv[1]) : 6;
	double seconds = argc > 2 ? atof(argv[2]) : 15;
	pid_t pid[SLOTS] = {0};
	double stopped[SLOTS] = {0};
	uint64_t random = 987654321;
	unsigned kills = 0;
	unsigned stops = 0;
	int failed = id_check_selftest();

	wanted = (uint64_t)((argc > 3 ? atof(argv[3]) : 100) * 1e6);
	if (processes > SLOTS || mkdtemp(dir) == NULL || firn_layout_parse("default", &layout, NULL) != FIRN_OK)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/ids.state", dir);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ids = mmap(NULL, (size_t)LIVES * BLOCK * sizeof(*ids), PROT_READ | PROT_WRITE,
	           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED || ids == MAP_FAILED)
		return 1;

	double end = now_s() + seconds;

	while (now_s() < end && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		struct timespec pause = {0, 2000000};

		for (unsigned i = 0; i < processes; i++) {
			if (pid[i] > 0 && waitpid(pid[i], NULL, WNOHANG) == pid[i])
				pid[i] = 0;
			if (pid[i] == 0)
				pid[i] = spawn();
			uint64_t dice = random_of(&random) % 1000;

			if (stopped[i] != 0 && now_s() > stopped[i]) {
				(void)kill(pid[i], SIGCONT);
				stopped[i] = 0;
			} else if (pid[i] > 0 && dice < 12) {
				(void)kill(pid[i], SIGKILL);
				(void)waitpid(pid[i], NULL, 0);
				pid[i] = 0;
				stopped[i] = 0;
				kills++;
			} else if (pid[i] > 0 && dice < 20 && stopped[i] == 0) {
				(void)kill(pid[i], SIGSTOP);
				stopped[i] = now_s() + (double)(random_of(&random) % 1500) / 1000;
				stops++;
			}
		}
		(void)nanosleep(&pause, NULL);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	/* All of them before the first is waited for: one that is stopped may hold the lock that it waits for. */
	for (unsigned i = 0; i < processes; i++)
		if (pid[i] > 0)
			(void)kill(pid[i], SIGCONT);
	for (unsigned i = 0; i < processes; i++)
		if (pid[i] > 0)
			(void)waitpid(pid[i], NULL, 0);
	/* Children of killed parents see the flag within a call. */
	(void)usleep(300000);

	size_t total = 0;
	uint64_t refused = 0;
	int lives = shared->next_life < LIVES ? shared->next_life : LIVES;

	for (int i = 0; i < lives; i++) {
		struct life *life = &shared->life[i];
		uint64_t *block = ids + (size_t)i * BLOCK;

		if (life->fault != 0) {
			printf("life %d: %s, ID %" PRIu64 "\n", i,
			       life->fault == 1 ? "below an ID that was returned before the call began"
			                        : firn_error_code(-life->fault),
			       life->fault_id);
			failed = 1;
		}
		if (id_first_not_rising(block, life->count) != life->count) {
			printf("life %d: IDs do not rise\n", i);
			failed = 1;
		}
		refused += life->refused;
		total += life->count;
	}
	uint64_t *all = malloc((total + 1) * sizeof(*all));
	uint64_t example = 0;
	size_t at = 0;

	if (all == NULL)
		return 1;
	for (int i = 0; i < lives; i++) {
		memcpy(all + at, ids + (size_t)i * BLOCK, shared->life[i].count * sizeof(*all));
		at += shared->life[i].count;
	}
	size_t twice = id_duplicates(all, total, &example);

	if (twice != 0) {
		printf("%zu IDs twice, such as %" PRIu64 "\n", twice, example);
		failed = 1;
	}
	if (kills == 0 || stops == 0) {
		printf("nothing was killed or stopped: the faults did not occur\n");
		failed = 1;
	}
	printf("%u processes at once, %d lives, %u killed, %u stopped, %" PRIu64 " forked on an open state; %zu IDs, %" PRIu64
	       " refused: %s\n",
	       processes, lives, kills, stops, shared->forks, total, refused,
	       failed ? "FAILED" : "unique, rising, in real-time order");
	free(all);
	(void)unlink(path);
	(void)rmdir(dir);
	return failed || total < 1000;
}
