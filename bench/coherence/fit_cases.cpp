// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Threads that ask without pause, by each primitive: the cases that the simulator is held to.
#include "fit.h"

#include <memory>

namespace fit {

namespace {

struct tally {
	std::uint64_t ids = 0, retries = 0, runs = 0, last = 0;
	std::int64_t span = 0, ran = 0;
	long preempted = 0;
	bool late = false;
	std::uint64_t stock = 0, left = 0; // of a block

	// A run is a row of operations by one thread with no other's between.
	void took(std::uint64_t value, std::uint64_t step = 1)
	{
		runs += value != last + step;
		last = value;
	}
};

struct shared {
	line one, tick, limit, gate;
	line own[16];

	shared()
	{
		limit.value = UINT64_MAX;
	}
};

void
fetch_add(shared &all, tally &mine, unsigned)
{
	mine.took(all.one.value.fetch_add(1, relaxed));
	mine.ids++;
}

void
cas(shared &all, tally &mine, unsigned)
{
	std::uint64_t seen = all.one.value.load(relaxed);

	while (!all.one.value.compare_exchange_weak(seen, seen + 1, relaxed))
		mine.retries++;
	mine.took(seen);
	mine.ids++;
}

// The lane that takes first and asks afterwards: three lines that nobody writes are read behind the add.
void
take_first(shared &all, tally &mine, unsigned)
{
	const std::uint64_t value = all.one.value.fetch_add(1, relaxed);

	if (value < all.tick.value.load(relaxed) || value >= all.limit.value.load(relaxed) ||
		all.gate.value.load(relaxed) != 0)
		std::abort();
	mine.took(value);
	mine.ids++;
}

void
shard(shared &all, tally &mine, unsigned thread)
{
	mine.took(all.own[thread].value.fetch_add(1, relaxed));
	mine.ids++;
}

void
block(shared &all, tally &mine, unsigned)
{
	if (mine.left == 0) {
		mine.stock = all.one.value.fetch_add(block_size, relaxed);
		mine.took(mine.stock, block_size);
		mine.left = block_size;
	}
	mine.left--;
	keep(mine.stock++);
	mine.ids++;
}

void
batch(shared &all, tally &mine, unsigned)
{
	std::uint64_t ids[batch_size];
	const std::uint64_t first = all.one.value.fetch_add(batch_size, relaxed);

	mine.took(first, batch_size);
	for (unsigned i = 0; i < batch_size; i++)
		ids[i] = first + i;
	asm volatile("" : : "r"(ids) : "memory");
	mine.ids += batch_size;
}

using operation = void (*)(shared &, tally &, unsigned);

// Threads that wait for each other and then start at one moment. One that comes late spoils the window.
class gate {
public:
	explicit gate(unsigned threads) : missing(threads)
	{
	}

	bool pass()
	{
		if (missing.fetch_sub(1) == 1)
			start = now() + 20000;
		while (start.load() == 0)
			relax();
		while (now() < start.load())
			relax();
		return now() < start.load() + 5000;
	}

private:
	std::atomic<unsigned> missing;
	std::atomic<std::int64_t> start{0};
};

template <operation op>
void
ask(shared &all, tally &mine, unsigned thread, gate &entry, std::int64_t length, unsigned steps)
{
	// Long enough that the clock's cost does not count, short against the window.
	const unsigned chunk = op == batch ? 16 : 256;
	std::int64_t at;

	mine.late = !entry.pass();
	const long before = preemptions();
	const auto ran = cpu_time(), began = now(), end = began + length;

	do {
		for (unsigned i = 0; i < chunk; i++) {
			op(all, mine, thread);
			if (steps > 0)
				work(steps);
		}
	} while ((at = now()) < end);
	mine.span = at - began;
	mine.ran = cpu_time() - ran;
	mine.preempted = preemptions() - before;
}

template <operation op>
std::vector<tally>
window(unsigned threads, unsigned cores, unsigned steps, std::int64_t length)
{
	auto all = std::make_unique<shared>();
	std::vector<tally> tallies(threads);
	std::vector<std::thread> team;
	gate entry(threads);

	for (unsigned t = 0; t < threads; t++)
		team.emplace_back([&, t] {
			pin(cpus[t % cores]);
			// On a stack line of its own, so that counting does not share one.
			alignas(128) tally mine;

			ask<op>(*all, mine, t, entry, length, steps);
			tallies[t] = mine;
		});
	for (auto &thread : team)
		thread.join();
	return tallies;
}

struct spread {
	std::vector<double> rate, retries, run, least, jain, granted, slice;

	void add(const std::vector<tally> &tallies, unsigned cores)
	{
		double sum = 0, squares = 0, low = INFINITY, high = 0, ids = 0, tries = 0, runs = 0, ran = 0;
		double switches = 0, span = 0;

		for (const auto &t : tallies) {
			const auto share = static_cast<double>(t.ids) / static_cast<double>(t.span);

			sum += share;
			squares += share * share;
			low = std::min(low, share);
			high = std::max(high, share);
			ids += static_cast<double>(t.ids);
			tries += static_cast<double>(t.retries);
			runs += static_cast<double>(t.runs);
			ran += static_cast<double>(t.ran);
			switches += static_cast<double>(t.preempted);
			span += static_cast<double>(t.span) / static_cast<double>(tallies.size());
		}
		rate.push_back(sum * 1e3);
		retries.push_back(tries / ids);
		run.push_back(ids / std::max(runs, 1.0));
		least.push_back(low / high);
		jain.push_back(sum * sum / (static_cast<double>(tallies.size()) * squares));
		granted.push_back(ran / (span * cores));
		if (switches > 0)
			slice.push_back(ran / switches);
	}
};

void
print(const char *name, const std::vector<double> &values)
{
	std::printf(", \"%s\": {\"median\": %.5g, \"p25\": %.5g, \"p75\": %.5g}", name, quantile(values, 0.5),
		quantile(values, 0.25), quantile(values, 0.75));
}

template <operation op>
void
contend(const char *name, unsigned threads, unsigned cores, unsigned steps, double work_ns)
{
	// Oversubscribed windows hold many time slices and are kept if these threads had the cores to themselves.
	const bool over = threads > cores;
	const auto length = over ? std::max<std::int64_t>(window_ns, 100000000) : window_ns;
	const int wanted = over ? (repeat + 2) / 3 : repeat;
	spread kept;
	int dropped = 0;

	if (cores > cpus.size())
		return;
	while (static_cast<int>(kept.rate.size()) < wanted && dropped < 20 * wanted) {
		const auto tallies = window<op>(threads, cores, steps, length);
		spread one;

		one.add(tallies, cores);
		const bool quiet = over ? one.granted[0] >= least_granted
			: std::all_of(tallies.begin(), tallies.end(), [](const tally &t) { return t.preempted == 0 && !t.late; });
		if (quiet)
			kept.add(tallies, cores);
		else
			dropped++;
	}
	if (kept.rate.empty()) {
		std::fprintf(stderr, "coherence_fit: no quiet window for %s on %u threads\n", name, threads);
		return;
	}
	std::printf("%s\n    {\"primitive\": \"%s\", \"threads\": %u, \"cores\": %u, \"work_ns\": %.2f", first_row ? "" : ",",
		name, threads, cores, work_ns);
	first_row = false;
	print("mids_per_s", kept.rate);
	print("retries_per_id", kept.retries);
	print("run", kept.run);
	print("least_share", kept.least);
	print("jain", kept.jain);
	print("granted", kept.granted);
	if (over)
		print("slice_ns", kept.slice);
	std::printf(", \"windows\": %zu, \"dropped\": %d}", kept.rate.size(), dropped);
}

// --- how long one operation takes ---

template <operation op>
void
timed(const char *name, unsigned threads)
{
	constexpr std::size_t count = 4000;
	auto all = std::make_unique<shared>();
	std::vector<double> p50, p99, p999;
	int dropped = 0;

	if (threads > cpus.size())
		return;
	while (static_cast<int>(p50.size()) < repeat && dropped < 20 * repeat) {
		std::vector<std::vector<double>> took(threads, std::vector<double>(count));
		std::vector<std::thread> team;
		std::atomic<long> preempted{0};
		gate entry(threads);

		for (unsigned t = 0; t < threads; t++)
			team.emplace_back([&, t] {
				alignas(128) tally mine;

				pin(cpus[t]);
				preempted += !entry.pass();
				const long before = preemptions();
				auto last = now();

				for (auto &slot : took[t]) {
					op(*all, mine, t);
					const auto at = now();

					slot = static_cast<double>(at - last);
					last = at;
				}
				preempted += preemptions() - before;
			});
		for (auto &thread : team)
			thread.join();
		if (preempted != 0) {
			dropped++;
			continue;
		}
		for (unsigned t = 1; t < threads; t++)
			took[0].insert(took[0].end(), took[t].begin(), took[t].end());
		p50.push_back(quantile(took[0], 0.5));
		p99.push_back(quantile(took[0], 0.99));
		p999.push_back(quantile(took[0], 0.999));
	}
	std::printf("%s\n    {\"primitive\": \"%s\", \"threads\": %u", first_row ? "" : ",", name, threads);
	first_row = false;
	print("p50_ns", p50);
	print("p99_ns", p99);
	print("p999_ns", p999);
	std::printf(", \"windows\": %zu, \"dropped\": %d}", p50.size(), dropped);
}

void
nothing(shared &, tally &, unsigned)
{
}

template <operation op>
void
cases(const char *name)
{
	contend<op>(name, 1, 1, 0, 0);
	contend<op>(name, 2, 2, 0, 0);
	contend<op>(name, 4, 2, 0, 0);
}

} // namespace

void
contention()
{
	std::printf("  \"cases\": [");
	first_row = true;
	cases<fetch_add>("fetch_add");
	cases<cas>("cas");
	cases<take_first>("take_first");
	cases<shard>("shards");
	cases<block>("blocks");
	cases<batch>("batch");
	for (unsigned steps : {10u, 40u, 160u}) {
		const double ns = quantile(alone([&] { work(steps); }), 0.5);

		contend<fetch_add>("fetch_add", 1, 1, steps, ns);
		contend<fetch_add>("fetch_add", 2, 2, steps, ns);
		contend<cas>("cas", 1, 1, steps, ns);
		contend<cas>("cas", 2, 2, steps, ns);
	}
	std::printf("\n  ],\n  \"timed\": [");
	first_row = true;
	timed<nothing>("nothing", 1);
	timed<nothing>("nothing", 2);
	timed<fetch_add>("fetch_add", 1);
	timed<fetch_add>("fetch_add", 2);
	timed<cas>("cas", 1);
	timed<cas>("cas", 2);
	std::printf("\n  ]\n");
}

} // namespace fit
