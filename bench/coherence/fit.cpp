// SPDX-FileCopyrightText: The firn authors
// SPDX-License-Identifier: Apache-2.0
// Measures what the simulator of one cache line's traffic must know of this host, and the cases it is held to.
//
// usage: coherence_fit [--repeat N] [--window-us N]     JSON to stdout
//
// A virtual machine is noisy: every figure is a median with its quartiles. A window of the cases with a
// core for each thread counts only if the kernel preempted none of them; how many did not is in the output.
#include "fit.h"

#include <cstring>
#include <fstream>

#include <sys/utsname.h>

namespace fit {

std::vector<int> cpus;
int repeat = 15;
std::int64_t window_ns = 500000;
bool first_row = true;

namespace {

std::string
line_of(const char *path, const char *key)
{
	std::ifstream file(path);
	std::string text;

	while (std::getline(file, text)) {
		const auto colon = text.find(':');

		if (key == nullptr)
			return text;
		if (text.compare(0, std::strlen(key), key) == 0 && colon != std::string::npos)
			return text.substr(text.find_first_not_of(" \t", colon + 1));
	}
	return "unknown";
}

void
describe()
{
	struct utsname system;
	const char *clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const char *governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

	uname(&system);
	std::printf("  \"format\": \"firn-coherence-fit/1\",\n  \"machine\": {\"cpu\": \"%s\", \"cpus\": %zu, \"arch\": \"%s\", "
		"\"system\": \"%s %s\", \"clock_source\": \"%s\", \"governor\": \"%s\", \"compiler\": \"%s\"},\n",
		line_of("/proc/cpuinfo", "model name").c_str(), cpus.size(), system.machine, system.sysname,
		system.release, line_of(clock, nullptr).c_str(), line_of(governor, nullptr).c_str(), __VERSION__);
	std::printf("  \"repeat\": %d, \"window_us\": %lld, \"block\": %u, \"batch\": %u,\n", repeat,
		static_cast<long long>(window_ns / 1000), block_size, batch_size);
}

} // namespace

} // namespace fit

using namespace fit;

int
main(int argc, char **argv)
{
	cpu_set_t set;

	for (int i = 1; i + 1 < argc; i += 2) {
		const long value = std::strtol(argv[i + 1], nullptr, 10);

		if (std::strcmp(argv[i], "--repeat") == 0 && value > 0 && value < 10000)
			repeat = static_cast<int>(value);
		else if (std::strcmp(argv[i], "--window-us") == 0 && value >= 100 && value <= 1000000)
			window_ns = value * 1000;
		else
			argc = 0;
	}
	if (argc == 0 || argc % 2 == 0) {
		std::fprintf(stderr, "usage: coherence_fit [--repeat N] [--window-us N]\n");
		return 2;
	}
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
			cpus.push_back(cpu);
	std::printf("{\n");
	describe();
	costs();
	contention();
	std::printf("}\n");
	return 0;
}
