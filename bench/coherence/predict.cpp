// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Predicts what IDs cost on a machine that is described: a table, or JSON.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulate.h"

using namespace coherence;

namespace {

const char *usage =
	"usage: coherence_predict [--NAME VALUE]... [--threads N,N...] [--lanes NAME,NAME...] [--json]\n"
	"  machine: cores sockets overtakes, request upgrade jitter (per cent), and in ns: add load cas near far hold ahead\n"
	"           slice turn futex wake\n"
	"  lanes:   add cas shards blocks batches mutex (default: all but mutex)\n"
	"  work:    own, shard-own, block-own, batch-own (ns for each ID), shard (ns, an access to a shard), block, batch\n"
	"           (IDs at once)\n"
	"  run:     ms (simulated), seed\n";

struct request {
	machine on;
	double own = 0, shard = 0, shard_own = 0, block_own = 1.18, batch_own = 0.86, ms = 2, seed = 1;
	double block = 64, batch = 100;
	std::vector<std::string> threads{"1", "2", "4", "8", "16", "32", "64", "128", "256"};
	std::vector<std::string> lanes{"add", "cas", "shards", "blocks", "batches"};
	bool json = false;
};

double
number(const std::string &text)
{
	char *end;
	const double value = std::strtod(text.c_str(), &end);

	if (text.empty() || *end != '\0' || !(value >= 0 && value <= 1e9))
		throw std::invalid_argument("'" + text + "' is not a number from 0 to 1e9");
	return value;
}

unsigned
whole(const std::string &text)
{
	const double value = number(text);

	if (value != static_cast<unsigned>(value))
		throw std::invalid_argument("'" + text + "' is not a whole number");
	return static_cast<unsigned>(value);
}

std::vector<std::string>
parts(const std::string &text)
{
	std::vector<std::string> all{""};

	for (char c : text) {
		if (c == ',')
			all.emplace_back();
		else
			all.back() += c;
	}
	return all;
}

picos
ps(double ns)
{
	return static_cast<picos>(ns * 1e3 + 0.5);
}

request
parse(int argc, char **argv)
{
	request r;
	machine &m = r.on;
	std::map<std::string, unsigned *> counts{{"cores", &m.cores}, {"sockets", &m.sockets}, {"overtakes", &m.overtakes},
		{"request", &m.request}, {"upgrade", &m.upgrade}, {"jitter", &m.jitter}};
	std::map<std::string, picos *> spans{{"add", &m.add}, {"load", &m.load}, {"cas", &m.cas}, {"near", &m.near},
		{"far", &m.far}, {"hold", &m.hold}, {"ahead", &m.ahead}, {"slice", &m.slice}, {"turn", &m.turn}, {"futex", &m.futex}, {"wake", &m.wake}};
	std::map<std::string, double *> numbers{{"own", &r.own}, {"shard", &r.shard}, {"shard-own", &r.shard_own},
		{"block-own", &r.block_own}, {"batch-own", &r.batch_own}, {"block", &r.block}, {"batch", &r.batch}, {"ms", &r.ms},
		{"seed", &r.seed}};

	for (int i = 1; i < argc; i++) {
		const std::string option = argv[i];

		if (option == "--json") {
			r.json = true;
			continue;
		}
		if (option.compare(0, 2, "--") != 0 || i + 1 == argc)
			throw std::invalid_argument("'" + option + "' is not an option with a value");
		const std::string name = option.substr(2), value = argv[++i];

		if (counts.count(name) != 0)
			*counts[name] = whole(value);
		else if (spans.count(name) != 0)
			*spans[name] = ps(number(value));
		else if (numbers.count(name) != 0)
			*numbers[name] = number(value);
		else if (name == "threads")
			r.threads = parts(value);
		else if (name == "lanes")
			r.lanes = parts(value);
		else
			throw std::invalid_argument("no option '" + option + "'");
	}
	if (ps(r.ms * 1e6) < 1)
		throw std::invalid_argument("--ms must be above 0");
	return r;
}

// Shards need not lock the bus where a restartable sequence does their work: their access has a cost of its own.
result
predict(const request &r, const std::string &name, unsigned threads)
{
	machine m = r.on;
	lane l;
	options o;

	l.own = ps(r.own);
	if (name == "cas") {
		l.kind = kind::cas;
	} else if (name == "mutex") {
		l.kind = kind::mutex;
	} else if (name == "shards") {
		l.sharded = true;
		l.own = ps(r.shard_own);
		m.add = r.shard > 0 ? ps(r.shard) : m.add;
	} else if (name == "blocks") {
		l.take = static_cast<unsigned>(r.block);
		l.own = ps(r.block_own);
	} else if (name == "batches") {
		l.take = static_cast<unsigned>(r.batch);
		l.together = true;
		l.own = ps(r.batch_own);
	} else if (name != "add") {
		throw std::invalid_argument("no lane '" + name + "'; there are add, cas, shards, blocks, batches, mutex");
	}
	o.threads = threads;
	o.length = ps(r.ms * 1e6);
	o.seed = static_cast<std::uint64_t>(r.seed);
	return simulate(m, l, o);
}

void
print(const request &r, const std::string &name, unsigned threads, const result &one, bool first)
{
	const double rate = 1e3 / one.ns_per_id();
	const double far = static_cast<double>(one.far) / static_cast<double>(one.near + one.far > 0 ? one.near + one.far : 1);

	if (r.json)
		std::printf("%s\n    {\"lane\": \"%s\", \"threads\": %u, \"ns_per_id\": %.4f, \"mids_per_s\": %.4f, "
			"\"retries_per_id\": %.5f, \"run\": %.3f, \"far_share\": %.4f, \"jain\": %.5f, \"least_share\": %.5f, "
			"\"p50_ns\": %.2f, \"p99_ns\": %.2f, \"p999_ns\": %.2f, \"max_ns\": %.2f}", first ? "" : ",", name.c_str(),
			threads, one.ns_per_id(), rate, one.retries_per_id(), one.run(), far, one.jain(), one.least(),
			one.span_ns(0.5), one.span_ns(0.99), one.span_ns(0.999), one.span_ns(1));
	else
		std::printf("%-8s %8u %10.2f %10.1f %10.3f %8.2f %6.2f %8.3f %10.0f %10.0f %12.0f\n", name.c_str(), threads,
			one.ns_per_id(), rate, one.retries_per_id(), one.run(), far, one.jain(), one.span_ns(0.5), one.span_ns(0.99),
			one.span_ns(1));
}

void
describe(const machine &m)
{
	const auto ns = [](picos span) { return static_cast<double>(span) / 1e3; };

	std::printf("{\n  \"format\": \"firn-coherence-prediction/1\",\n  \"machine\": {\"cores\": %u, \"sockets\": %u, "
		"\"add_ns\": %.3f, \"load_ns\": %.3f, \"cas_ns\": %.3f, \"near_ns\": %.3f, \"far_ns\": %.3f, \"hold_ns\": %.3f, "
		"\"request\": %u, \"upgrade\": %u, \"jitter\": %u, \"overtakes\": %u},\n  \"cases\": [", m.cores, m.sockets, ns(m.add), ns(m.load),
		ns(m.cas), ns(m.near), ns(m.far), ns(m.hold), m.request, m.upgrade, m.jitter, m.overtakes);
}

} // namespace

int
main(int argc, char **argv)
{
	try {
		const auto r = parse(argc, argv);
		bool first = true;

		// All threads are read before any figure is printed.
		for (const auto &threads : r.threads)
			(void)whole(threads);
		r.on.check();
		if (r.json)
			describe(r.on);
		else
			std::printf("%-8s %8s %10s %10s %10s %8s %6s %8s %10s %10s %12s\n", "lane", "threads", "ns/ID", "M ID/s",
				"retries", "run", "far", "jain", "p50 ns", "p99 ns", "max ns");
		for (const auto &name : r.lanes)
			for (const auto &threads : r.threads) {
				print(r, name, whole(threads), predict(r, name, whole(threads)), first);
				first = false;
			}
		if (r.json)
			std::printf("\n  ]\n}\n");
		return 0;
	} catch (const std::invalid_argument &error) {
		std::fprintf(stderr, "coherence_predict: %s\n%s", error.what(), usage);
		return 2;
	}
}
