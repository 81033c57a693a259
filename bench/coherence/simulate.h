// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Threads that ask for IDs without pause, on a machine, by one lane: events in order of time, chance from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "machine.h"

namespace coherence {

struct options {
	unsigned threads = 1;
	picos length = 2000000000; // no operation begins later; those begun are ended
	std::uint64_t seed = 1;
	bool record = false; // keep the values
};

struct result {
	std::uint64_t begun = 0, done = 0;  // operations, those ended after the length included
	std::uint64_t ids = 0;              // by operations that ended within the length
	std::uint64_t accesses = 0, runs = 0; // of lines; a run is a row of accesses by one core
	std::uint64_t retries = 0, near = 0, far = 0;
	std::vector<std::uint64_t> by_thread; // IDs
	std::vector<picos> spans;             // of operations, sorted
	std::vector<std::uint64_t> values;    // if recorded: for each access the first, value * lines + line
	picos length = 0;

	double ns_per_id() const;
	double retries_per_id() const;
	double run() const;
	double jain() const;  // 1: all equal; 1/n: one has all
	double least() const; // of the largest thread's IDs
	double span_ns(double part) const;
};

result simulate(const machine &m, const lane &l, const options &o);

} // namespace coherence
