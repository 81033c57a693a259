// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Owner, copies and queue of a line.
#include "line.h"

namespace coherence {

// Oldest first, or the oldest of the owner's socket as long as the oldest of all has not been passed too often.
std::size_t
line::choose()
{
	if (all.overtakes == 0 || passed >= all.overtakes) {
		passed = 0;
		return 0;
	}
	for (std::size_t i = 0; i < queue.size(); i++)
		if (all.socket(queue[i].core) == all.socket(owner)) {
			passed = i == 0 ? 0 : passed + 1;
			return i;
		}
	passed = 0;
	return 0;
}

// Request and answer together.
picos
line::span(const request &r) const
{
	if (r.core == owner && (exclusive || !r.exclusive))
		return 0;
	const picos whole = all.socket(r.core) != all.socket(owner) ? all.far : all.near;

	return r.exclusive && copies[r.core] ? whole * all.upgrade / 100 : whole;
}

line::grant
line::serve(picos now)
{
	const auto at = choose();
	const request r = queue[at];
	const bool far = all.socket(r.core) != all.socket(owner);
	const picos whole = span(r);
	// One that overtakes may still be under way.
	const picos rest = std::max<picos>(r.there - now, 0) + whole - whole * all.request / 100;

	queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
	if (r.exclusive) {
		// From here on nobody else reads an old value out of its cache.
		std::fill(copies.begin(), copies.end(), false);
		moving = true;
		epoch++;
	} else {
		exclusive = false;
	}
	return {r, rest, far && whole > 0, value, epoch};
}

void
line::arrive(const grant &g, picos now, picos hold)
{
	if (g.to.exclusive) {
		owner = g.to.core;
		exclusive = true;
		moving = false;
		fresh = true;
		free_at = now + hold;
		copies[owner] = true;
	} else if (g.epoch == epoch) {
		copies[g.to.core] = true;
	}
}

} // namespace coherence
