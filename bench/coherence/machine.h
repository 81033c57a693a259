// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// What the simulator knows of a machine and of a way to make IDs. Spans are whole picoseconds, so that a
// run repeats to the bit.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace coherence {

using picos = std::int64_t;

// A socket is whatever is far from the others: on a desktop part with two dies, a die.
struct machine {
	unsigned cores = 2;
	unsigned sockets = 1;
	picos add = 5700;       // a fetch-add on a line that this core owns, with the loop around it
	picos load = 700;       // the load before a CAS, line at hand
	picos cas = 5000;       // the CAS itself, line owned
	picos near = 140000;    // the line from a core of this socket
	picos far = 300000;     // the line from another socket
	unsigned request = 50;  // per cent of a transfer that the request takes: they pass while the owner still holds
	unsigned upgrade = 0;   // per cent of a transfer that a core with a copy pays to own the line; 0: a load fetches it owned
	picos hold = 90000;     // how long a core keeps the line before it answers a request
	picos ahead = 50000;    // own work that the load of the next operation can pass
	unsigned jitter = 20;   // a transfer, a hold or a slice takes up to so many per cent more or less
	unsigned overtakes = 0; // how often in a row a near request may pass an older far one; 0: oldest first
	picos slice = 3000000000;
	picos turn = 2000000;  // from one thread to another on one core
	picos futex = 300000;  // a system call that sleeps or wakes, to its caller
	picos wake = 3000000;  // from the wake until the woken thread runs

	unsigned socket(unsigned core) const
	{
		return core / ((cores + sockets - 1) / sockets);
	}

	void check() const
	{
		if (cores < 1 || cores > 1024 || sockets < 1 || sockets > cores)
			throw std::invalid_argument("a machine has 1 to 1024 cores and 1 to that many sockets");
		if (add < 1 || load < 0 || cas < 1 || near < 0 || far < near || hold < 0 || ahead < 0 || slice < 1 || turn < 0 || futex < 0 ||
		    wake < 0)
			throw std::invalid_argument("costs are 0 or more, those of add, CAS and slice more than 0, far not below near");
		if (request > 100 || upgrade > 100 || jitter > 100)
			throw std::invalid_argument("request, upgrade and jitter are per cents, 0 to 100");
	}
};

enum class kind { add, cas, mutex };

// One access to a line yields `take` IDs: one by one (a block) or in one call (a batch).
struct lane {
	enum kind kind = kind::add;
	unsigned take = 1;
	bool together = false; // all IDs of one access are one operation
	bool sharded = false;  // a line for each core
	picos own = 0;         // work for each ID that needs no line

	void check() const
	{
		if (take < 1 || take > 65536 || own < 0)
			throw std::invalid_argument("a lane takes 1 to 65536 IDs at once, its own work is 0 or more");
	}
};

} // namespace coherence
