// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Measuring on this host: what the two halves of the fit tool share.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

namespace fit {

using word = std::atomic<std::uint64_t>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr unsigned block_size = 64;
constexpr unsigned batch_size = 100;
constexpr double least_granted = 0.9; // of the cores' time, for a window with more threads than cores

// Two lines apart, because some processors fetch lines in pairs.
struct alignas(128) line {
	word value{0};
};

extern std::vector<int> cpus;
extern int repeat;
extern std::int64_t window_ns;
extern bool first_row;

inline std::int64_t
now()
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(
		std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

inline void
keep(std::uint64_t value)
{
	asm volatile("" : : "r"(value) : "memory");
}

inline void
relax()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("isb" : : : "memory");
#endif
}

// A chain that the processor cannot shorten: work between two operations.
inline void
work(unsigned steps)
{
	std::uint64_t x = steps;

	for (unsigned i = 0; i < steps; i++) {
		x = x * 6364136223846793005u + 1;
		asm volatile("" : "+r"(x));
	}
	keep(x);
}

inline void
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

inline long
preemptions()
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

inline std::int64_t
cpu_time()
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return static_cast<std::int64_t>(at.tv_sec) * 1000000000 + at.tv_nsec;
}

inline double
quantile(std::vector<double> values, double q)
{
	if (values.empty())
		return NAN;
	std::sort(values.begin(), values.end());
	return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

inline void
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

void costs();
void contention();

} // namespace fit
