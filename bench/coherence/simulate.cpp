// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// The events: a thread's next step, a line that may be given away, a line that arrives, a thread that is woken.
#include "simulate.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "line.h"

namespace coherence {

namespace {

constexpr unsigned nobody = std::numeric_limits<unsigned>::max();

enum class phase { begin, load, swap, add, lock, unlock, end };

struct thread {
	enum phase phase = phase::begin;
	unsigned core = 0;
	picos began = 0, asleep = 0;
	std::uint64_t seen = 0;
	unsigned left = 0;  // of a block
	bool ahead = false; // `seen` is the load of the operation to come
};

struct core {
	unsigned running = nobody;
	std::deque<unsigned> ready;
	picos slice_end = 0;
};

struct event {
	enum kind { step, offer, arrive, wake } what;
	unsigned who; // core, line, or thread that is woken
	line::grant grant;
};

struct later {
	picos at;
	std::uint64_t order; // equal moments keep the order in which they were planned
	event e;

	bool operator<(const later &other) const
	{
		return std::tie(at, order) > std::tie(other.at, other.order);
	}
};

class simulation {
public:
	simulation(const machine &m, const lane &l, const options &o) : m(m), l(l), o(o), random(o.seed)
	{
		const unsigned lines = l.sharded ? m.cores : 1;

		for (unsigned i = 0; i < lines; i++) {
			all.emplace_back(m, i);
			last.push_back(nobody);
		}
		cores.resize(m.cores);
		threads.resize(o.threads);
		out.by_thread.resize(o.threads);
		out.length = o.length;
	}

	result run();

private:
	std::uint64_t chance()
	{
		// SplitMix64.
		std::uint64_t z = (random += 0x9e3779b97f4a7c15u);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		return z ^ (z >> 31);
	}

	picos spread(picos span)
	{
		const auto width = static_cast<std::uint64_t>(span / 100) * m.jitter;

		return width > 0 ? span + static_cast<picos>(chance() % (2 * width + 1)) - static_cast<picos>(width) : span;
	}

	void plan(picos at, event e)
	{
		events.push({at, count++, e});
	}

	unsigned line_of(unsigned at) const
	{
		return l.sharded ? at : 0;
	}

	void step(unsigned at);
	void offer(unsigned which);
	void arrive(const event &e);
	void wake(unsigned who);
	bool have(unsigned at, bool exclusive);
	void access(unsigned at, picos cost);
	void take(unsigned at, thread &t, picos cost);
	bool preempted(unsigned at);
	void sleep(unsigned at, unsigned who);
	void next_thread(unsigned at);
	void finish(unsigned at, unsigned who);

	const machine m;
	const lane l;
	const options o;
	std::uint64_t random;
	picos now = 0;
	std::uint64_t count = 0;
	std::priority_queue<later> events;
	std::vector<line> all;
	std::vector<unsigned> last; // core that accessed the line last
	std::vector<core> cores;
	std::vector<thread> threads;
	std::deque<unsigned> sleepers;
	result out;
};

// True if the line is here; if not, it is asked for, and the step is done anew when it comes.
bool
simulation::have(unsigned at, bool exclusive)
{
	const unsigned which = line_of(at);
	line &mine = all[which];

	if (exclusive ? mine.owned_by(at) && !mine.due(now) : mine.copy_at(at))
		return true;
	// Where owning costs a reader nothing more, a load of a line that others write takes it whole.
	exclusive = exclusive || m.upgrade == 0;
	mine.ask({at, exclusive}, now);
	if (!mine.busy())
		plan(std::max(now, mine.ready()), {event::offer, which, {}});
	return false;
}

void
simulation::offer(unsigned which)
{
	line &one = all[which];

	if (one.busy() || !one.waiting())
		return;
	if (one.ready() > now) {
		plan(one.ready(), {event::offer, which, {}});
		return;
	}
	const auto g = one.serve(now);

	if (g.span > 0)
		(g.far ? out.far : out.near)++;
	plan(now + spread(g.span), {event::arrive, which, g});
	// Readers are served side by side.
	if (one.waiting() && !one.busy())
		plan(now, {event::offer, which, {}});
}

void
simulation::arrive(const event &e)
{
	line &one = all[e.who];
	const unsigned at = e.grant.to.core;

	one.arrive(e.grant, now, spread(m.hold));
	if (!e.grant.to.exclusive) {
		// The value that was fetched is good for the load even if the copy is stale by now.
		thread &t = threads[cores[at].running];

		t.seen = e.grant.seen;
		t.phase = phase::swap;
		plan(now + m.load, {event::step, at, {}});
		return;
	}
	step(at);
	if (one.waiting())
		plan(std::max(now, one.ready()), {event::offer, e.who, {}});
}

// A locked instruction on the line, which is owned here.
void
simulation::access(unsigned at, picos cost)
{
	const unsigned which = line_of(at);

	all[which].lock_until(now + cost);
	out.accesses++;
	out.runs += last[which] != at;
	last[which] = at;
}

// The access yields its IDs.
void
simulation::take(unsigned at, thread &t, picos cost)
{
	line &mine = all[line_of(at)];

	if (o.record)
		out.values.push_back(mine.value * all.size() + line_of(at));
	mine.value += l.take;
	t.left = l.together ? 0 : l.take - 1;
	t.phase = phase::end;
	plan(now + cost + l.own * (l.together ? l.take : 1), {event::step, at, {}});
}

void
simulation::next_thread(unsigned at)
{
	core &c = cores[at];

	c.running = nobody;
	if (c.ready.empty())
		return;
	c.running = c.ready.front();
	c.ready.pop_front();
	c.slice_end = now + m.turn + spread(m.slice);
	plan(now + m.turn, {event::step, at, {}});
}

// The slice is over and another thread of this core can run: it does, and the step is done anew afterwards.
bool
simulation::preempted(unsigned at)
{
	core &c = cores[at];

	if (now < c.slice_end || c.ready.empty())
		return false;
	c.ready.push_back(c.running);
	next_thread(at);
	return true;
}

void
simulation::finish(unsigned at, unsigned who)
{
	thread &t = threads[who];
	const unsigned ids = l.together ? l.take : 1;

	out.done++;
	out.spans.push_back(now - t.began);
	if (now <= o.length) {
		out.ids += ids;
		out.by_thread[who] += ids;
	}
	t.phase = phase::begin;
	if (now >= o.length) {
		next_thread(at);
	} else {
		step(at);
	}
}

void
simulation::sleep(unsigned at, unsigned who)
{
	threads[who].asleep = now + m.add + m.futex;
	sleepers.push_back(who);
	next_thread(at);
}

void
simulation::wake(unsigned who)
{
	core &c = cores[threads[who].core];

	c.ready.push_back(who);
	if (c.running == nobody)
		next_thread(threads[who].core);
}

void
simulation::step(unsigned at)
{
	const unsigned who = cores[at].running;
	thread &t = threads[who];
	line &mine = all[line_of(at)];

	switch (t.phase) {
	case phase::begin:
		if (now >= o.length) {
			next_thread(at);
			return;
		}
		t.began = now;
		out.begun++;
		if (t.left > 0) {
			t.left--;
			t.phase = phase::end;
			plan(now + l.own, {event::step, at, {}});
			return;
		}
		t.phase = l.kind == kind::add ? phase::add : l.kind == kind::cas ? phase::load : phase::lock;
		step(at);
		return;
	case phase::add:
		if (!have(at, true))
			return;
		access(at, m.add);
		take(at, t, m.add);
		return;
	case phase::load:
		// The processor has loaded ahead, before its own work was done and the line was lost.
		if (mine.copy_at(at) || !t.ahead || l.own > m.ahead) {
			if (!have(at, false))
				return;
			t.seen = mine.value;
		}
		t.ahead = false;
		t.phase = phase::swap;
		plan(now + m.load, {event::step, at, {}});
		return;
	case phase::swap:
		// Preempted here, a thread comes back with an old value.
		if (preempted(at) || !have(at, true))
			return;
		access(at, m.cas);
		if (t.seen == mine.value) {
			take(at, t, m.cas);
			t.seen = mine.value;
			t.ahead = t.left == 0;
			return;
		}
		// A failed CAS has fetched the line and tells the value.
		out.retries++;
		t.seen = mine.value;
		plan(now + m.cas, {event::step, at, {}});
		return;
	case phase::lock:
		if (!have(at, true))
			return;
		access(at, m.add);
		if (mine.locked) {
			out.retries++;
			sleep(at, who);
			return;
		}
		mine.locked = true;
		t.phase = phase::unlock;
		plan(now + m.add, {event::step, at, {}});
		return;
	case phase::unlock:
		if (preempted(at) || !have(at, true))
			return;
		access(at, m.add);
		mine.locked = false;
		if (sleepers.empty()) {
			take(at, t, m.add);
			return;
		}
		plan(std::max(now + m.add + m.futex, threads[sleepers.front()].asleep) + m.wake,
			{event::wake, sleepers.front(), {}});
		sleepers.pop_front();
		take(at, t, m.add + m.futex);
		return;
	case phase::end:
		// The wait for the core belongs to the operation that it falls into.
		if (preempted(at))
			return;
		finish(at, who);
		return;
	}
}

result
simulation::run()
{
	std::vector<unsigned> order(o.threads);

	std::iota(order.begin(), order.end(), 0u);
	// Who asks first is chance; the first thread of a core is not.
	for (unsigned t = 0; t < o.threads; t++) {
		threads[t].core = t % m.cores;
		cores[t % m.cores].ready.push_back(t);
	}
	order.resize(std::min(o.threads, m.cores));
	for (std::size_t i = order.size(); i > 1; i--)
		std::swap(order[i - 1], order[chance() % i]);
	for (unsigned at : order) {
		cores[at].running = cores[at].ready.front();
		cores[at].ready.pop_front();
		cores[at].slice_end = spread(m.slice);
		plan(0, {event::step, at, {}});
	}
	while (!events.empty()) {
		const later one = events.top();

		events.pop();
		now = one.at;
		switch (one.e.what) {
		case event::step:
			step(one.e.who);
			break;
		case event::offer:
			offer(one.e.who);
			break;
		case event::arrive:
			arrive(one.e);
			break;
		case event::wake:
			wake(one.e.who);
			break;
		}
	}
	std::sort(out.spans.begin(), out.spans.end());
	return std::move(out);
}

} // namespace

double
result::ns_per_id() const
{
	return static_cast<double>(length) / 1e3 / static_cast<double>(std::max<std::uint64_t>(ids, 1));
}

double
result::retries_per_id() const
{
	return static_cast<double>(retries) / static_cast<double>(std::max<std::uint64_t>(ids, 1));
}

double
result::run() const
{
	return static_cast<double>(accesses) / static_cast<double>(std::max<std::uint64_t>(runs, 1));
}

double
result::jain() const
{
	double sum = 0, squares = 0;

	for (auto n : by_thread) {
		sum += static_cast<double>(n);
		squares += static_cast<double>(n) * static_cast<double>(n);
	}
	return squares > 0 ? sum * sum / (static_cast<double>(by_thread.size()) * squares) : 1;
}

double
result::least() const
{
	const auto ends = std::minmax_element(by_thread.begin(), by_thread.end());

	return *ends.second > 0 ? static_cast<double>(*ends.first) / static_cast<double>(*ends.second) : 1;
}

double
result::span_ns(double part) const
{
	if (spans.empty())
		return 0;
	return static_cast<double>(spans[static_cast<std::size_t>(part * static_cast<double>(spans.size() - 1))]) / 1e3;
}

result
simulate(const machine &m, const lane &l, const options &o)
{
	m.check();
	l.check();
	if (o.threads < 1 || o.threads > 4096 || o.length < 1)
		throw std::invalid_argument("1 to 4096 threads, and a length above 0");
	return simulation(m, l, o).run();
}

} // namespace coherence
