// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// The simulator of one cache line: what must hold whatever the costs are.
#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "simulate.h"

using namespace coherence;

namespace {

int failed;

void
check(bool holds, const char *what, int line)
{
	if (holds)
		return;
	std::printf("line %d: %s\n", line, what);
	failed++;
}

#define CHECK(condition) check((condition), #condition, __LINE__)

machine
of(unsigned cores, unsigned sockets)
{
	machine m;

	m.cores = cores;
	m.sockets = sockets;
	m.slice = 20000000;
	m.turn = 1000000;
	return m;
}

options
with(unsigned threads)
{
	options o;

	o.threads = threads;
	o.length = 200000000;
	o.record = true;
	return o;
}

lane
by(kind k, unsigned take = 1)
{
	lane l;

	l.kind = k;
	l.take = take;
	l.own = 300;
	return l;
}

const lane lanes[] = {by(kind::add), by(kind::cas), by(kind::mutex), by(kind::add, 64), by(kind::cas, 64)};

bool
same(const result &a, const result &b)
{
	return a.begun == b.begun && a.done == b.done && a.ids == b.ids && a.retries == b.retries && a.near == b.near &&
		a.far == b.far && a.by_thread == b.by_thread && a.spans == b.spans && a.values == b.values;
}

void
a_seed_repeats_its_run()
{
	for (const auto &l : lanes) {
		auto o = with(8);
		const auto first = simulate(of(8, 2), l, o);

		CHECK(same(first, simulate(of(8, 2), l, o)));
		o.seed = 2;
		CHECK(!same(first, simulate(of(8, 2), l, o)));
	}
}

void
conserved(const result &r, const lane &l, const options &o)
{
	CHECK(r.begun == r.done && r.done == r.spans.size());
	std::uint64_t by_threads = 0;

	for (auto n : r.by_thread)
		by_threads += n;
	CHECK(by_threads == r.ids);
	// What ended late is at most one operation of each thread.
	const std::uint64_t all = r.done * (l.together ? l.take : 1);

	CHECK(all >= r.ids && all - r.ids <= static_cast<std::uint64_t>(o.threads) * (l.together ? l.take : 1));
	const std::set<std::uint64_t> distinct(r.values.begin(), r.values.end());

	CHECK(distinct.size() == r.values.size());
	CHECK(r.values.size() * l.take >= all);
	CHECK(r.accesses >= r.values.size());
}

void
each_operation_ends_once_and_no_value_comes_twice()
{
	for (auto l : lanes)
		for (unsigned threads : {1u, 2u, 7u, 16u, 64u})
			for (bool sharded : {false, true})
				for (bool together : {false, true}) {
					l.sharded = sharded && l.kind != kind::mutex;
					l.together = together;
					const auto r = simulate(of(16, 2), l, with(threads));

					conserved(r, l, with(threads));
					if (l.sharded)
						continue;
					// One line: its values follow each other without a gap, in the order of the accesses.
					for (std::size_t i = 0; i < r.values.size(); i++)
						CHECK(r.values[i] == i * l.take);
				}
}

void
one_core_costs_what_it_costs_alone()
{
	const auto m = of(1, 1);

	for (auto k : {kind::add, kind::cas}) {
		const picos cost = (k == kind::add ? m.add : m.load + m.cas) + 300;
		const auto r = simulate(m, by(k), with(1));

		CHECK(r.spans.front() == cost && r.spans.back() == cost);
		CHECK(r.ids == static_cast<std::uint64_t>(r.length / cost));
		CHECK(r.retries == 0 && r.near == 0 && r.far == 0);
	}
	auto batch = by(kind::add, 100);

	batch.together = true;
	CHECK(simulate(m, batch, with(1)).spans.back() == m.add + 100 * 300);
}

void
only_a_swap_has_retries()
{
	for (unsigned threads : {2u, 8u, 64u}) {
		const auto cas = simulate(of(64, 2), by(kind::cas), with(threads));
		const auto add = simulate(of(64, 2), by(kind::add), with(threads));

		CHECK(cas.retries > 0 && add.retries == 0);
	}
}

void
a_preempted_swap_retries()
{
	auto m = of(1, 1);

	m.slice = 1234567;
	m.turn = 100000;
	const auto alone = simulate(m, by(kind::cas), with(1));
	const auto two = simulate(m, by(kind::cas), with(2));

	CHECK(alone.retries == 0 && two.retries > 0);
	// And the thread that is not running waits a slice.
	CHECK(two.spans.back() >= m.slice / 2 && alone.spans.back() < m.slice);
}

void
shards_scale_with_the_cores()
{
	auto l = by(kind::add);

	l.sharded = true;
	const auto one = simulate(of(1, 1), l, with(1));

	for (unsigned cores : {2u, 16u, 256u}) {
		const auto r = simulate(of(cores, 2), l, with(cores));

		CHECK(r.ids == cores * one.ids);
		CHECK(r.near + r.far == 0 && r.jain() > 0.999999);
	}
}

void
blocks_and_batches_ask_less_often()
{
	const auto one = simulate(of(16, 1), by(kind::add), with(16));
	const auto block = simulate(of(16, 1), by(kind::add, 64), with(16));

	CHECK(block.ids > 4 * one.ids);
}

void
far_costs_more_and_near_first_is_less_fair()
{
	auto m = of(64, 2);
	const auto near = simulate(of(64, 1), by(kind::add), with(64));
	const auto oldest = simulate(m, by(kind::add), with(64));

	CHECK(near.far == 0 && oldest.far > 0 && near.ids > oldest.ids);
	m.overtakes = 64;
	const auto nearest = simulate(m, by(kind::add), with(64));

	CHECK(nearest.ids > oldest.ids && nearest.far < oldest.far);
	CHECK(nearest.span_ns(1) > oldest.span_ns(1));
}

// A thread that does nothing but ask must not keep the line. (Swaps where a core gives the line away after each
// access are another matter: a loser has an old value when the line comes, so the last winner wins again.)
void
nobody_starves()
{
	for (unsigned upgrade : {0u, 100u})
		for (picos hold : {picos{0}, picos{90000}})
			for (auto k : {kind::add, kind::cas}) {
				auto m = of(8, 1);
				auto l = by(k);

				m.upgrade = upgrade;
				m.hold = hold;
				l.own = 0;
				const auto r = simulate(m, l, with(8));

				if (hold > 0 || k == kind::add)
					CHECK(r.jain() > 0.9);
				else
					CHECK(r.retries_per_id() > 1);
			}
}

// A lost swap for each time that the line is fetched: so it was measured, too.
void
a_run_has_one_retry()
{
	auto m = of(8, 1);

	m.upgrade = 0;
	const auto r = simulate(m, by(kind::cas), with(8));

	CHECK(r.retries_per_id() > 0.5 / r.run() && r.retries_per_id() < 2 / r.run());
}

// The closed form of the simplest case: two cores, no jitter, one transfer for each run.
void
two_cores_follow_the_arithmetic()
{
	machine m = of(2, 1);

	auto o = with(2);

	o.length = 2000000000; // so long that the first run, which is longer, does not count
	m.jitter = 0;
	m.request = 0;
	m.hold = 4 * m.add;
	const auto r = simulate(m, by(kind::add), o);
	// Own work of 0.3 ns after each add: an add begins while the line is still held, and a fifth does not.
	const double cycle = static_cast<double>(m.near + 4 * m.add) / 1e3;

	CHECK(r.run() > 3.99 && r.run() < 4.01);
	CHECK(r.ns_per_id() > cycle / 4.01 && r.ns_per_id() < (cycle + 1.5) / 3.99);
	// A request that is on its way while the owner holds costs only its answer.
	m.near = 50000;
	m.request = 30;
	const double shorter = static_cast<double>(m.near - m.near * 30 / 100 + 4 * m.add) / 1e3;
	const auto overlapped = simulate(m, by(kind::add), o);

	CHECK(overlapped.ns_per_id() > shorter / 4.01 && overlapped.ns_per_id() < (shorter + 1.5) / 3.99);
}

void
machines_that_cannot_be_are_refused()
{
	unsigned refused = 0;
	const auto refuse = [&](machine m, lane l, options o) {
		try {
			(void)simulate(m, l, o);
		} catch (const std::invalid_argument &) {
			refused++;
		}
	};
	machine m = of(2, 3);

	refuse(m, by(kind::add), with(1));
	m = of(0, 1);
	refuse(m, by(kind::add), with(1));
	m = of(2, 1);
	m.far = m.near - 1;
	refuse(m, by(kind::add), with(1));
	refuse(of(2, 1), by(kind::add, 0), with(1));
	refuse(of(2, 1), by(kind::add), with(0));
	CHECK(refused == 5);
}

} // namespace

int
main()
{
	a_seed_repeats_its_run();
	each_operation_ends_once_and_no_value_comes_twice();
	one_core_costs_what_it_costs_alone();
	only_a_swap_has_retries();
	a_preempted_swap_retries();
	shards_scale_with_the_cores();
	blocks_and_batches_ask_less_often();
	far_costs_more_and_near_first_is_less_fair();
	nobody_starves();
	a_run_has_one_retry();
	two_cores_follow_the_arithmetic();
	machines_that_cannot_be_are_refused();
	std::printf("%d failed\n", failed);
	return failed != 0;
}
