/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real firn/detail/word.h under every interleaving and every stale value that relaxed
 * order allows, with shrunken widths: 2 sequence bits, a few ticks, 2 or 3 threads.
 */
#include <cstdio>
#include <cstring>
#include <sstream>

#define FIRNI_ATOMIC_HEADER "relacy_atomic.h"
#include <firn/detail/word.h>

/* Scheduling is cooperative: what follows an operation runs with it, so plain members are exact witnesses. */
struct witness {
	bool owned[64];
	uint64_t durable;  /* nobody else may issue below it */
	bool sealed;       /* the seal has returned */
	uint64_t highest;

	void clear(uint64_t limit)
	{
		std::memset(owned, 0, sizeof(owned));
		durable = limit;
		sealed = false;
		highest = 0;
	}

	void own(uint64_t first, uint64_t count)
	{
		for (uint64_t w = first; w < first + count; w++) {
			RL_ASSERT(w < 64);
			RL_ASSERT(!owned[w]);
			RL_ASSERT(w < durable);
			owned[w] = true;
		}
		if (first + count > highest)
			highest = first + count;
	}
};

template <class Test, int Threads>
struct model : rl::test_suite<Test, Threads> {
	firni_atomic64 word;
	firni_atomic64 limit;
	witness seen;
	uint64_t last[Threads];
	uint64_t counted; /* what a generator's counters make of it: issued, skipped, burnt */

	void begin(uint64_t start, uint64_t limit_)
	{
		firni_atomic64_store(&word, start);
		firni_atomic64_store(&limit, limit_);
		seen.clear(limit_);
		counted = start;
		for (int i = 0; i < Threads; i++)
			last[i] = 0;
	}

	/* What a generator does: limit, then the take; the floor is what the clock said or what was observed. */
	bool take(unsigned thread, uint64_t floor, uint64_t count, bool add_first = false)
	{
		bool was_sealed = seen.sealed;
		uint64_t bound = firni_atomic64_load(&limit);
		firni_take t;

		t.loss.retries = t.loss.burnt = 0;
		bool taken = (add_first && firni_word_add(&word, floor, bound, count, &t)) ||
		             firni_word_take(&word, floor, bound, count, &t);

		counted += t.loss.burnt;
		if (!taken)
			return false;
		counted += t.first - t.seen + count;
		RL_ASSERT(!was_sealed);
		RL_ASSERT(t.first >= floor);
		RL_ASSERT(t.first + 1 > last[thread]);
		RL_ASSERT(t.first >= t.seen);
		last[thread] = t.first + count;
		seen.own(t.first, count);
		return true;
	}

	bool add(unsigned thread, uint64_t floor, uint64_t count) { return take(thread, floor, count, true); }
};

/* Two threads, clocks of different age, single takes and a batch across a tick. */
struct takes : model<takes, 2> {
	void before() { begin(3, 64); }
	void thread(unsigned i)
	{
		take(i, i == 0 ? 4 : 0, 1);
		take(i, i == 0 ? 0 : 8, i == 0 ? 3 : 1);
	}
	void after()
	{
		RL_ASSERT(firni_atomic64_load(&word) == seen.highest);
		RL_ASSERT(firni_atomic64_load(&word) == counted);
	}
};

/* Three threads, one take each: every pair meets. */
struct three : model<three, 3> {
	void before() { begin(1, 64); }
	void thread(unsigned i) { take(i, i * 2, i == 2 ? 2 : 1); }
	void after()
	{
		RL_ASSERT(firni_atomic64_load(&word) == seen.highest);
		RL_ASSERT(firni_atomic64_load(&word) == counted);
	}
};

/* One raises the limit when more is durable; takers meet the limit with their last word, not their first. */
struct limit_rise : model<limit_rise, 3> {
	void before() { begin(2, 4); }
	void thread(unsigned i)
	{
		if (i == 0) {
			seen.durable = 8; /* fdatasync has returned */
			firni_limit_raise(&limit, 8);
			firni_limit_raise(&limit, 6); /* an older mark, late: changes nothing */
		} else {
			take(i, 0, i == 1 ? 3 : 1);
		}
	}
	void after() { RL_ASSERT(firni_atomic64_load(&limit) == 8); }
};

/* A seal races with takers that may be past their tests. */
struct seal : model<seal, 3> {
	uint64_t end;
	void before() { begin(0, 64); }
	void thread(unsigned i)
	{
		if (i == 0) {
			end = firni_word_seal(&word);
			seen.sealed = true;
			seen.durable = end; /* whoever follows starts here: nothing at or above may be owned */
			for (uint64_t w = end; w < 64; w++)
				RL_ASSERT(!seen.owned[w]);
		} else {
			take(i, i, 1);
			take(i, 4, 1);
		}
	}
	void after()
	{
		RL_ASSERT(seen.highest <= end);
		RL_ASSERT(firni_atomic64_load(&word) == FIRNI_WORD_SEALED);
		RL_ASSERT(firni_word_seal(&word) == FIRNI_WORD_SEALED);
	}
};

/* Adds that own, that are given back, and that are burnt, beside a taker by the rule. */
struct adds : model<adds, 2> {
	void before() { begin(3, 8); }
	void thread(unsigned i)
	{
		if (i == 0) {
			add(0, 0, 2);
			add(0, 5, 3);
		} else {
			add(1, 4, 1);
		}
	}
	void after()
	{
		RL_ASSERT(firni_atomic64_load(&word) >= seen.highest);
		RL_ASSERT(firni_atomic64_load(&word) == counted);
	}
};

/* Three adds around the limit: what is given back may lie under what others have under way. */
struct adds_three : model<adds_three, 3> {
	void before() { begin(1, 4); }
	void thread(unsigned i) { add(i, 0, i == 2 ? 3 : i + 1); }
	void after()
	{
		RL_ASSERT(firni_atomic64_load(&word) >= seen.highest);
		RL_ASSERT(firni_atomic64_load(&word) == counted);
	}
};

/* The limit rises under an add that was refused by the old one. */
struct adds_limit : model<adds_limit, 3> {
	void before() { begin(2, 4); }
	void thread(unsigned i)
	{
		if (i == 0) {
			seen.durable = 8;
			firni_limit_raise(&limit, 8);
		} else {
			add(i, 0, i == 1 ? 3 : 1);
		}
	}
	void after()
	{
		RL_ASSERT(firni_atomic64_load(&word) >= seen.highest);
		RL_ASSERT(firni_atomic64_load(&word) == counted);
	}
};

/* A seal races with adds that may be past it or about to be given back. */
struct adds_seal : model<adds_seal, 3> {
	uint64_t end;
	void before() { begin(0, 3); }
	void thread(unsigned i)
	{
		if (i == 0) {
			end = firni_word_seal(&word);
			seen.sealed = true;
			for (uint64_t w = end; w < 64; w++)
				RL_ASSERT(!seen.owned[w]);
		} else {
			add(i, i - 1, 2);
		}
	}
	void after()
	{
		RL_ASSERT(seen.highest <= end);
		RL_ASSERT(firni_atomic64_load(&word) >= FIRNI_WORD_SEALED);
		RL_ASSERT(firni_word_seal(&word) >= FIRNI_WORD_SEALED);
	}
};

/*
 * observe raises the floor while others add: whoever is told of it afterwards, however it is
 * told, takes nothing below. The flag is what tells; it brings the order that the words lack.
 */
struct observe : model<observe, 2> {
	firni_atomic64 floor;
	rl::atomic<int> told;
	void before()
	{
		begin(2, 12);
		firni_atomic64_store(&floor, 0);
		told(RL_INFO).store(0, rl::mo_relaxed);
	}
	void thread(unsigned i)
	{
		if (i == 0) {
			firni_word_lift(&floor, 9);
			told(RL_INFO).store(1, rl::mo_release);
			add(0, firni_atomic64_load(&floor), 1);
			RL_ASSERT(last[0] > 9);
		} else {
			bool was = told(RL_INFO).load(rl::mo_acquire) == 1;

			uint64_t observed = firni_atomic64_load(&floor);

			add(1, observed > 4 ? observed : 4, 2);
			RL_ASSERT(!was || last[1] > 9);
		}
	}
	void after() { RL_ASSERT(firni_atomic64_load(&floor) == 9); }
};

/* A search that shrinks has lost interleavings: it then fails, though nothing was found. */
template <class Test>
static bool
search(const char *name, unsigned long long least)
{
	rl::test_params params;
	std::ostringstream out;

	params.search_type = rl::sched_full;
	params.output_stream = &out;
	params.progress_stream = &out;
	bool good = rl::simulate<Test>(params);
	unsigned long long explored = params.stop_iteration;

	std::printf("%-12s %llu executions explored: %s\n", name, explored, good ? "sound" : "VIOLATED");
	std::fflush(stdout);
	if (!good)
		std::printf("%s\n", out.str().substr(0, 1500).c_str());
	if (good && explored < least)
		std::printf("%s: at least %llu were expected\n", name, least);
	return good && explored >= least;
}

int
main()
{
	/* Small ones first, and no further than the first violation: mutants are caught sooner. */
	return search<takes>("takes", LEAST_TAKES) && search<adds>("adds", LEAST_ADDS) &&
	                       search<adds_three>("adds_three", LEAST_ADDS_THREE) &&
	                       search<adds_seal>("adds_seal", LEAST_ADDS_SEAL) &&
	                       search<limit_rise>("limit_rise", LEAST_LIMIT) &&
	                       search<adds_limit>("adds_limit", LEAST_ADDS_LIMIT) &&
	                       search<three>("three", LEAST_THREE) && search<observe>("observe", LEAST_OBSERVE) &&
	                       search<seal>("seal", LEAST_SEAL)
	               ? 0
	               : 1;
}
