// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// What an ID costs, by lane and clock, beside the atomic operation alone in the same loop.
//
// Code cost, not the layout's ceiling: 22 sequence bits hold 2^22 IDs a millisecond, far more than any
// lane makes, and a manual clock that stands still has 2^22 ticks of lead, about 17 * 10^12 IDs.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <firn.h>
#include <firn/inline.h>

#include "baseline.h"

namespace {

using clock_kind = enum firn_clock_kind; // the function of that name hides it

constexpr std::int64_t epoch_ms = 1767225600000;
constexpr struct firn_shape shape = FIRN_INLINE_SHAPE(epoch_ms, 1, 39, 2, 22);
constexpr const char *notation = "time:39 worker:2 sequence:22 epoch=2026-01-01T00:00:00Z tick=1ms";
constexpr std::uint32_t lead_ms = UINT32_C(1) << 22;

void
must(int error, const char *what)
{
	if (error == FIRN_OK)
		return;
	std::fprintf(stderr, "gen_bench: %s: %s\n", what, firn_error_text(error));
	std::exit(1);
}

struct firn_clock *
clock_of(clock_kind kind)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
	struct firn_clock *clock = nullptr;

	config.kind = kind;
	must(firn_clock_open(&config, &clock), "clock");
	if (kind == FIRN_CLOCK_MANUAL)
		must(firn_clock_set(clock, epoch_ms + 1), "clock");
	return clock;
}

// One generator for all threads of a case, opened anew for each run of it.
struct subject {
	struct firn_clock *clock = nullptr;
	struct firn_gen *gen = nullptr;

	void open(clock_kind kind, firn_gen_lane lane)
	{
		struct firn_layout layout;
		struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

		must(firn_layout_parse(notation, &layout, nullptr), "layout");
		clock = clock_of(kind);
		config.layout = &layout;
		config.clock = clock;
		config.lead_ms_max = lead_ms;
		config.lane = lane;
		must(firn_gen_open(&config, &gen), "open");
		must(firn_inline_check(gen, &shape), "inline lane");
	}

	void close(benchmark::State &state)
	{
		struct firn_gen_stats stats;

		firn_gen_stats(gen, &stats);
		state.counters["retries"] = static_cast<double>(stats.cas_retries);
		state.counters["burnt"] = static_cast<double>(stats.words_burnt);
		state.counters["borrowed"] = static_cast<double>(stats.ticks_borrowed);
		must(firn_gen_close(gen), "close");
		firn_clock_close(clock);
	}
};

subject shared_subject;
alignas(FIRNI_LINE) std::atomic<std::uint64_t> bare_word;

void
bare_cas(benchmark::State &state)
{
	for (auto _ : state) {
		std::uint64_t seen = bare_word.load(std::memory_order_relaxed);

		while (!bare_word.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed))
			;
		benchmark::DoNotOptimize(seen);
	}
	state.SetItemsProcessed(state.iterations());
}

void
bare_fetch_add(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::DoNotOptimize(bare_word.fetch_add(1, std::memory_order_relaxed));
	state.SetItemsProcessed(state.iterations());
}

void
clock_alone(benchmark::State &state, clock_kind kind)
{
	struct firn_clock *clock = clock_of(kind);
	std::int64_t now = 0;

	for (auto _ : state) {
		if (firni_clock_read(clock, &now) != FIRN_OK) {
			state.SkipWithError("the clock failed");
			break;
		}
		benchmark::DoNotOptimize(now);
	}
	firn_clock_close(clock);
	state.SetItemsProcessed(state.iterations());
}

template <class Next>
void
run(benchmark::State &state, clock_kind kind, firn_gen_lane lane, std::size_t count, Next next)
{
	if (state.thread_index() == 0)
		shared_subject.open(kind, lane);
	for (auto _ : state)
		if (next(shared_subject.gen) != FIRN_OK) {
			state.SkipWithError("an ID was refused: this would time the layout, not the code");
			break;
		}
	state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
	if (state.thread_index() == 0)
		shared_subject.close(state);
}

void
stable(benchmark::State &state, clock_kind kind, firn_gen_lane lane)
{
	run(state, kind, lane, 1, [](struct firn_gen *gen) {
		std::uint64_t id = 0;
		int error = firn_gen_next(gen, &id);

		benchmark::DoNotOptimize(id);
		return error;
	});
}

void
inlined(benchmark::State &state, clock_kind kind, firn_gen_lane lane)
{
	run(state, kind, lane, 1, [](struct firn_gen *gen) {
		std::uint64_t id = 0;
		int error = firn_inline_next(gen, &shape, &id);

		benchmark::DoNotOptimize(id);
		return error;
	});
}

// Each thread has a block of its own; what is burnt at a tick's end is not counted as made.
template <bool in_line>
void
block(benchmark::State &state, clock_kind kind, firn_gen_lane lane)
{
	struct firn_block stock;
	bool ready = false;

	run(state, kind, lane, 1, [&](struct firn_gen *gen) {
		std::uint64_t id = 0;

		if (!ready) {
			must(firn_block_init(&stock, gen, 4096), "block");
			ready = true;
		}
		int error = in_line ? firn_inline_block_next(&stock, &shape, &id) : firn_block_next(&stock, &id);

		benchmark::DoNotOptimize(id);
		return error;
	});
}

// One word for each processor, all of them one node. On 2 processors: 4 shards.
constexpr struct firn_shape shard_shape = FIRN_INLINE_SHARDS_SHAPE(epoch_ms, 1, 39, 2, 22, 2);

template <bool in_line>
void
shards(benchmark::State &state, clock_kind kind)
{
	static struct firn_clock *clock;
	static struct firn_shards *all;

	if (state.thread_index() == 0) {
		struct firn_layout layout;
		struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

		must(firn_layout_parse(notation, &layout, nullptr), "layout");
		clock = clock_of(kind);
		config.layout = &layout;
		config.clock = clock;
		config.lead_ms_max = lead_ms;
		must(firn_shards_open(&config, 4, &all), "shards");
		must(firn_inline_shards_check(all, &shard_shape), "shards, inline lane");
	}
	for (auto _ : state) {
		std::uint64_t id = 0;

		if ((in_line ? firn_inline_shards_next(all, &shard_shape, &id) : firn_shards_next(all, &id)) != FIRN_OK) {
			state.SkipWithError("an ID was refused: this would time the layout, not the code");
			break;
		}
		benchmark::DoNotOptimize(id);
	}
	state.SetItemsProcessed(state.iterations());
	if (state.thread_index() == 0) {
		state.counters["restartable"] = firn_shards_restartable(all);
		firn_shards_close(all);
		firn_clock_close(clock);
	}
}

void
batch(benchmark::State &state, clock_kind kind, firn_gen_lane lane)
{
	constexpr std::size_t count = 100;

	run(state, kind, lane, count, [](struct firn_gen *gen) {
		std::uint64_t ids[count];
		int error = firn_gen_next_n(gen, ids, count);

		benchmark::DoNotOptimize(ids);
		benchmark::ClobberMemory();
		return error;
	});
}

// What others do, in the same loop.
void
baseline_case(benchmark::State &state, clock_kind kind, const struct baseline *base)
{
	static struct firn_clock *clock;

	if (state.thread_index() == 0)
		clock = clock_of(kind);
	for (auto _ : state)
		benchmark::DoNotOptimize(base->next(clock));
	state.SetItemsProcessed(state.iterations());
	if (state.thread_index() == 0)
		firn_clock_close(clock);
}

void
register_baselines(int threads, const std::vector<clock_kind> &clocks)
{
	for (unsigned i = 0; i < baseline_count; i++) {
		// With more threads than processors a queue stands still for a time slice at every turn.
		if (baselines[i].queues && (unsigned)threads > std::thread::hardware_concurrency())
			continue;
		for (auto kind : clocks) {
			const std::string name = std::string("baseline/") + baselines[i].name;

			// The fastest clock and the commonest: with these the lanes above are held against it.
			if (kind != FIRN_CLOCK_TICKER && kind != FIRN_CLOCK_REALTIME)
				continue;
			benchmark::RegisterBenchmark(
				(baselines[i].reads_clock ? name + "/" + firn_clock_kind_name(kind) : name).c_str(), baseline_case,
				kind, &baselines[i])
				->Threads(threads)
				->UseRealTime();
			if (!baselines[i].reads_clock)
				break;
		}
	}
}

// The clocks that can be had here: the counter only where it keeps time.
std::vector<clock_kind>
kinds()
{
	std::vector<clock_kind> all;

	for (auto kind : {FIRN_CLOCK_MANUAL, FIRN_CLOCK_TICKER, FIRN_CLOCK_TSC, FIRN_CLOCK_COARSE, FIRN_CLOCK_REALTIME,
	                  FIRN_CLOCK_MONOTONIC}) {
		struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
		struct firn_clock *clock = nullptr;

		config.kind = kind;
		if (firn_clock_open(&config, &clock) != FIRN_OK) {
			std::fprintf(stderr, "gen_bench: skipped: %s clock\n", firn_clock_kind_name(kind));
			continue;
		}
		firn_clock_close(clock);
		all.push_back(kind);
	}
	return all;
}

} // namespace

int
main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 1;
	const auto clocks = kinds();

	for (int threads : {1, 2, 4}) {
		register_baselines(threads, clocks);
		benchmark::RegisterBenchmark("bare/cas", bare_cas)->Threads(threads)->UseRealTime();
		benchmark::RegisterBenchmark("bare/fetch_add", bare_fetch_add)->Threads(threads)->UseRealTime();
		for (auto kind : clocks) {
			const std::string clock = firn_clock_kind_name(kind);

			if (threads == 1)
				benchmark::RegisterBenchmark(("clock/" + clock).c_str(), clock_alone, kind);
			benchmark::RegisterBenchmark(("stable/shards/" + clock).c_str(), shards<false>, kind)
				->Threads(threads)
				->UseRealTime();
			benchmark::RegisterBenchmark(("inline/shards/" + clock).c_str(), shards<true>, kind)
				->Threads(threads)
				->UseRealTime();
			benchmark::RegisterBenchmark(("stable/block/" + clock).c_str(), block<false>, kind, FIRN_GEN_ADD)
				->Threads(threads)
				->UseRealTime();
			benchmark::RegisterBenchmark(("inline/block/" + clock).c_str(), block<true>, kind, FIRN_GEN_ADD)
				->Threads(threads)
				->UseRealTime();
			for (auto lane : {FIRN_GEN_ADD, FIRN_GEN_CAS}) {
				const std::string tail = (lane == FIRN_GEN_ADD ? "/add/" : "/cas/") + clock;

				benchmark::RegisterBenchmark(("stable" + tail).c_str(), stable, kind, lane)
					->Threads(threads)
					->UseRealTime();
				benchmark::RegisterBenchmark(("inline" + tail).c_str(), inlined, kind, lane)
					->Threads(threads)
					->UseRealTime();
				benchmark::RegisterBenchmark(("batch100" + tail).c_str(), batch, kind, lane)
					->Threads(threads)
					->UseRealTime();
			}
		}
	}
	benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
	return 0;
}
