// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// What each text form costs to write and to read, beside the loop alone and the C++ library's decimal.
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include <firn/error.h>
#include <firn/text.h>

namespace {

// So many different IDs that branch prediction cannot learn one, so few that they fit the first cache.
constexpr std::size_t sample_count = 1024;

struct written {
	char text[FIRN_TEXT_MAX];
	std::uint32_t length;
};

// All 63 bits in use, as far into a layout's life as an ID can be: decimal has its 18 or 19 digits.
const std::array<std::uint64_t, sample_count> ids = [] {
	std::array<std::uint64_t, sample_count> all{};
	std::uint64_t state = 1;

	for (std::uint64_t &id : all) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		id = state >> 1;
	}
	return all;
}();

std::array<written, sample_count>
texts(firn_text_form form)
{
	std::array<written, sample_count> all{};

	for (std::size_t i = 0; i < sample_count; i++)
		all[i].length = static_cast<std::uint32_t>(firn_text_write(form, ids[i], all[i].text));
	return all;
}

void
count(benchmark::State &state)
{
	state.SetItemsProcessed(state.iterations());
}

void
reference_loop(benchmark::State &state)
{
	std::size_t i = 0;

	for (auto _ : state)
		benchmark::DoNotOptimize(ids[i++ % sample_count]);
	count(state);
}

void
reference_to_chars(benchmark::State &state)
{
	std::size_t i = 0;
	char text[FIRN_TEXT_MAX];

	for (auto _ : state) {
		benchmark::DoNotOptimize(std::to_chars(text, text + sizeof(text), ids[i++ % sample_count]));
		benchmark::ClobberMemory();
	}
	count(state);
}

void
reference_from_chars(benchmark::State &state)
{
	const auto all = texts(FIRN_TEXT_DECIMAL);
	std::size_t i = 0;

	for (auto _ : state) {
		const written &one = all[i++ % sample_count];
		std::uint64_t id = 0;

		benchmark::DoNotOptimize(std::from_chars(one.text, one.text + one.length, id));
		benchmark::DoNotOptimize(id);
	}
	count(state);
}

void
text_write(benchmark::State &state, firn_text_form form)
{
	std::size_t i = 0;
	char text[FIRN_TEXT_MAX];

	for (auto _ : state) {
		if (firn_text_write(form, ids[i++ % sample_count], text) < 0) {
			state.SkipWithError("an ID was refused");
			break;
		}
		benchmark::ClobberMemory();
	}
	count(state);
}

void
text_read(benchmark::State &state, firn_text_form form)
{
	const auto all = texts(form);
	std::size_t i = 0;
	std::uint64_t id = 0;

	for (auto _ : state) {
		const written &one = all[i++ % sample_count];

		if (firn_text_read(form, one.text, one.length, &id) != FIRN_OK) {
			state.SkipWithError("a text was refused");
			break;
		}
		benchmark::DoNotOptimize(id);
	}
	count(state);
}

// Each text is chosen by the ID before it: what one read costs when nothing else can overlap it.
void
text_read_alone(benchmark::State &state, firn_text_form form)
{
	const auto all = texts(form);
	std::uint64_t id = 0;

	for (auto _ : state) {
		const written &one = all[id % sample_count];

		if (firn_text_read(form, one.text, one.length, &id) != FIRN_OK) {
			state.SkipWithError("a text was refused");
			break;
		}
	}
	benchmark::DoNotOptimize(id);
	count(state);
}

} // namespace

int
main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 1;
	benchmark::RegisterBenchmark("reference/loop", reference_loop);
	benchmark::RegisterBenchmark("reference/to_chars_decimal", reference_to_chars);
	benchmark::RegisterBenchmark("reference/from_chars_decimal", reference_from_chars);
	for (int i = 0; i < FIRN_TEXT_FORMS; i++) {
		const auto form = static_cast<firn_text_form>(i);
		const std::string name = firn_text_form_name(form);

		benchmark::RegisterBenchmark(("text_write/" + name).c_str(), text_write, form);
		benchmark::RegisterBenchmark(("text_read/" + name).c_str(), text_read, form);
		benchmark::RegisterBenchmark(("text_read_alone/" + name).c_str(), text_read_alone, form);
	}
	benchmark::RunSpecifiedBenchmarks();
	benchmark::Shutdown();
	return 0;
}
