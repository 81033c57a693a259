// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// One cache line: who owns it, who has a copy, who waits for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "machine.h"

namespace coherence {

class line {
public:
	struct request {
		unsigned core;
		bool exclusive;
		picos there = 0; // when it has reached the owner
	};

	// What a request that is served costs and sees.
	struct grant {
		request to;
		picos span;      // until the core has it, before jitter
		bool far;
		std::uint64_t seen; // the value a reader gets, whoever writes meanwhile
		unsigned epoch;
	};

	line(const machine &m, unsigned first) : all(m), copies(m.cores, false), owner(first)
	{
		copies[first] = true;
	}

	bool owned_by(unsigned core) const
	{
		return !moving && exclusive && owner == core;
	}

	bool copy_at(unsigned core) const
	{
		return owned_by(core) || copies[core];
	}

	bool waiting() const
	{
		return !queue.empty();
	}

	bool busy() const
	{
		return moving;
	}

	void ask(request r, picos now)
	{
		r.there = now + span(r) * all.request / 100;
		queue.push_back(r);
	}

	// The owner has had its time: a request that has reached it comes before its next access. The access for which
	// the line was fetched is always made.
	bool due(picos now) const
	{
		return waiting() && !fresh && now >= ready();
	}

	// The locked instruction is not interrupted: a request waits for its end.
	void lock_until(picos end)
	{
		fresh = false;
		free_at = std::max(free_at, end);
	}

	// The moment from which the owner answers the oldest request.
	picos ready() const
	{
		return queue.empty() ? free_at : std::max(free_at, queue.front().there);
	}

	grant serve(picos now);
	void arrive(const grant &g, picos now, picos hold);

	std::uint64_t value = 0;
	bool locked = false; // the mutex that lies on the line

private:
	std::size_t choose();
	picos span(const request &r) const;

	const machine &all;
	std::vector<bool> copies;
	std::deque<request> queue;
	unsigned owner;
	bool exclusive = true, moving = false, fresh = false;
	picos free_at = 0;
	unsigned epoch = 0, passed = 0;
};

} // namespace coherence
