// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Measures what the simulator of one cache line's traffic must know of this host, and the cases it is held to.
//
// usage: coherence_fit [--repeat N] [--window-us N]     JSON to stdout
//
// A virtual machine is noisy: every figure is a median with its quartiles. A window of the cases with a
// core for each thread counts only if the kernel preempted none of them; how many did not is in the output.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

namespace {

using word = std::atomic<std::uint64_t>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr unsigned block_size = 64;
constexpr unsigned batch_size = 100;
constexpr double least_granted = 0.9; // of the cores' time, for a window with more threads than cores

// Two lines apart, because some processors fetch lines in pairs.
struct alignas(128) line {
	word value{0};
};

std::vector<int> cpus;
int repeat = 15;
std::int64_t window_ns = 500000;

std::int64_t
now()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

void
keep(std::uint64_t value)
{
	asm volatile("" : : "r"(value) : "memory");
}

void
relax()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("isb" : : : "memory");
#endif
}

// A chain that the processor cannot shorten: work between two operations.
void
work(unsigned steps)
{
	std::uint64_t x = steps;

	for (unsigned i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + 1;
		asm volatile("" : "+r"(x));
	}
	keep(x);
}

void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(static_cast<std::size_t>(cpu), &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0) {
		std::perror("coherence_fit: sched_setaffinity");
		std::exit(1);
	}
}

long
preemptions()
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

std::int64_t
cpu_time()
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return static_cast<std::int64_t>(at.tv_sec) * 1000000000 + at.tv_nsec;
}

double
quantile(std::vector<double> values, double q)
{
	if (values.empty())
		return NAN;
	std::sort(values.begin(), values.end());
	return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

// --- one line, two cores, nothing else under way ---

bool first_row = true;

void
row(const char *name, const std::vector<double> &values)
{
	std::printf("%s\n    \"%s\": ", first_row ? "" : ",", name);
	first_row = false;
	if (values.empty())
		std::printf("null");
	else
		std::printf("{\"median\": %.3f, \"p25\": %.3f, \"p75\": %.3f}", quantile(values, 0.5),
			quantile(values, 0.25), quantile(values, 0.75));
}

// ns per call on one thread. Quantiles of many short runs: a preempted one is far outside.
template <class Call>
std::vector<double>
alone(Call call)
{
	constexpr int calls = 20000;
	std::vector<double> values;

	pin(cpus[0]);
	for (int i = 0; i < 3 * repeat; i++) {
		const auto start = now();

		for (int k = 0; k < calls; k++)
			call();
		values.push_back(static_cast<double>(now() - start) / calls);
	}
	return values;
}

// A ring of lines in an order that no prefetcher knows: each holds the number of the next in its upper half.
struct ring {
	static constexpr std::size_t size = 128;
	std::vector<line> lines = std::vector<line>(size);

	ring()
	{
		std::vector<std::uint64_t> order(size);
		std::uint64_t x = 1;

		std::iota(order.begin(), order.end(), 0);
		for (std::size_t i = size - 1; i > 0; i--) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			std::swap(order[i], order[(x >> 33) % (i + 1)]);
		}
		for (std::size_t i = 0; i < size; i++)
			lines[order[i]].value = order[(i + 1) % size] << 32;
	}

	// Each step needs the value the last one fetched, so the misses do not overlap.
	template <class Step>
	void walk(Step step)
	{
		std::uint64_t at = 0;

		for (std::size_t i = 0; i < size; i++)
			at = step(lines[at].value) >> 32;
		keep(at);
	}
};

// ns per line of `step` over lines that another core has just written.
template <class Step>
std::vector<double>
fetched(Step step)
{
	std::vector<double> values;
	ring all;
	line turn;
	const int rounds = 40 * repeat;

	if (cpus.size() < 2)
		return values;
	std::thread writer([&] {
		pin(cpus[1]);
		for (int i = 0; i < rounds; i++) {
			while (turn.value.load(std::memory_order_acquire) != 2 * static_cast<std::uint64_t>(i))
				relax();
			all.walk([](word &w) { return w.fetch_add(1, relaxed); });
			turn.value.store(2 * static_cast<std::uint64_t>(i) + 1, std::memory_order_release);
		}
	});
	pin(cpus[0]);
	for (int i = 0; i < rounds; i++) {
		while (turn.value.load(std::memory_order_acquire) != 2 * static_cast<std::uint64_t>(i) + 1)
			relax();
		const auto start = now();

		all.walk(step);
		values.push_back(static_cast<double>(now() - start) / ring::size);
		turn.value.store(2 * static_cast<std::uint64_t>(i) + 2, std::memory_order_release);
	}
	writer.join();
	return values;
}

// ns one way of a ball thrown between two cores; `take(word, from, to)` tries once.
template <class Take>
std::vector<double>
thrown(Take take)
{
	constexpr std::uint64_t throws = 2000;
	std::vector<double> values;
	line ball;

	if (cpus.size() < 2)
		return values;
	const auto rounds = static_cast<std::uint64_t>(repeat) * throws;
	std::thread other([&] {
		pin(cpus[1]);
		for (std::uint64_t i = 0; i < rounds; i++)
			while (!take(ball.value, 2 * i + 1, 2 * i + 2))
				;
	});
	pin(cpus[0]);
	for (int r = 0; r < repeat; r++) {
		const auto start = now();
		const auto base = static_cast<std::uint64_t>(r) * throws;

		for (std::uint64_t i = base; i < base + throws; i++)
			while (!take(ball.value, 2 * i, 2 * i + 1))
				;
		values.push_back(static_cast<double>(now() - start) / (2 * throws));
	}
	other.join();
	return values;
}

void
futex(std::atomic<std::uint32_t> &cell, int op, std::uint32_t value)
{
	(void)syscall(SYS_futex, &cell, op, value, nullptr, nullptr, 0);
}

// ns from one thread's wake to the other's run, both asleep in between: what a blocking lock's handover costs.
std::vector<double>
woken()
{
	constexpr std::uint32_t throws = 400;
	std::vector<double> values;
	alignas(128) std::atomic<std::uint32_t> ball{0};
	auto play = [&](std::uint32_t from) {
		for (std::uint32_t seen; (seen = ball.load()) != from;)
			futex(ball, FUTEX_WAIT_PRIVATE, seen);
		ball.store(from + 1);
		futex(ball, FUTEX_WAKE_PRIVATE, 1);
	};

	if (cpus.size() < 2)
		return values;
	const auto rounds = static_cast<std::uint32_t>(repeat) * throws;
	std::thread other([&] {
		pin(cpus[1]);
		for (std::uint32_t i = 0; i < rounds; i++)
			play(2 * i + 1);
	});
	pin(cpus[0]);
	for (int r = 0; r < repeat; r++) {
		const auto start = now();
		const auto base = static_cast<std::uint32_t>(r) * throws;

		for (std::uint32_t i = base; i < base + throws; i++)
			play(2 * i);
		values.push_back(static_cast<double>(now() - start) / (2 * throws));
	}
	other.join();
	return values;
}

// --- threads that ask without pause ---

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

// --- the whole ---

std::string
line_of(const char *path, const char *key)
{
	std::ifstream file(path);
	std::string text;

	while (std::getline(file, text)) {
		const auto colon = text.find(':');

		if (key == nullptr)
			return text;
		if (text.compare(0, std::strlen(key), key) == 0 && colon != std::string::npos)
			return text.substr(text.find_first_not_of(" \t", colon + 1));
	}
	return "unknown";
}

void
describe()
{
	struct utsname system;
	const char *clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const char *governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

	uname(&system);
	std::printf("  \"format\": \"firn-coherence-fit/1\",\n  \"machine\": {\"cpu\": \"%s\", \"cpus\": %zu, \"arch\": \"%s\", "
		"\"system\": \"%s %s\", \"clock_source\": \"%s\", \"governor\": \"%s\", \"compiler\": \"%s\"},\n",
		line_of("/proc/cpuinfo", "model name").c_str(), cpus.size(), system.machine, system.sysname,
		system.release, line_of(clock, nullptr).c_str(), line_of(governor, nullptr).c_str(), __VERSION__);
	std::printf("  \"repeat\": %d, \"window_us\": %lld, \"block\": %u, \"batch\": %u,\n", repeat,
		static_cast<long long>(window_ns / 1000), block_size, batch_size);
}

void
costs()
{
	line mine;
	volatile std::uint64_t zero = 0;
	const std::uint64_t none = zero;
	auto load = [](word &w) { return w.load(relaxed); };
	auto add = [](word &w) { return w.fetch_add(1, relaxed); };

	std::printf("  \"costs_ns\": {");
	first_row = true;
	row("clock", alone([] { keep(static_cast<std::uint64_t>(now())); }));
	row("pause", alone(relax));
	row("load", alone([&] { keep(mine.value.load(relaxed)); }));
	row("fetch_add", alone([&] { keep(mine.value.fetch_add(1, relaxed)); }));
	row("cas", alone([&] {
		std::uint64_t seen = mine.value.load(relaxed);

		while (!mine.value.compare_exchange_weak(seen, seen + 1, relaxed))
			;
	}));
	row("remote_load", fetched(load));
	row("remote_fetch_add", fetched(add));
	row("remote_load_then_add", fetched([&](word &w) {
		// The add's place depends on the value loaded, so the second request cannot go out with the first.
		return (&w + (load(w) & none))->fetch_add(1, relaxed);
	}));
	row("remote_load_then_cas", fetched([&](word &w) {
		std::uint64_t seen = load(w);

		while (!w.compare_exchange_weak(seen, seen + 1, relaxed))
			;
		return seen;
	}));
	row("ball_cas", thrown([](word &w, std::uint64_t from, std::uint64_t to) {
		return w.compare_exchange_strong(from, to, relaxed);
	}));
	row("ball_load_cas", thrown([](word &w, std::uint64_t from, std::uint64_t to) {
		return w.load(relaxed) == from && w.compare_exchange_strong(from, to, relaxed);
	}));
	row("wake", woken());
	std::printf("\n  },\n");
}

template <operation op>
void
cases(const char *name)
{
	contend<op>(name, 1, 1, 0, 0);
	contend<op>(name, 2, 2, 0, 0);
	contend<op>(name, 4, 2, 0, 0);
}

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

} // namespace

int
main(int argc, char **argv)
{
	cpu_set_t set;

	for (int i = 1; i + 1 < argc; i += 2) {
		const long value = std::strtol(argv[i + 1], nullptr, 10);

		if (std::strcmp(argv[i], "--repeat") == 0 && value > 0 && value < 10000)
			repeat = static_cast<int>(value);
		else if (std::strcmp(argv[i], "--window-us") == 0 && value >= 100 && value <= 1000000)
			window_ns = value * 1000;
		else
			argc = 0;
	}
	if (argc == 0 || argc % 2 == 0) {
		std::fprintf(stderr, "usage: coherence_fit [--repeat N] [--window-us N]\n");
		return 2;
	}
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
			cpus.push_back(cpu);
	std::printf("{\n");
	describe();
	costs();
	contention();
	std::printf("}\n");
	return 0;
}
