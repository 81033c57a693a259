// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// What single operations cost here: alone, on a line that another core has written, between two threads.
#include "fit.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fit {

namespace {

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

} // namespace

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

} // namespace fit
