/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a figure was measured on. Nothing of it names the host or its user. */
#include "bench.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A file's first line, or "unknown". */
static const char *
first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	(void)snprintf(line, size, "unknown");
	if (file == NULL)
		return line;
	if (fgets(line, (int)size, file) != NULL)
		line[strcspn(line, "\n")] = '\0';
	(void)fclose(file);
	return line;
}

/* The value of the first line of /proc/cpuinfo with that key. */
static const char *
cpuinfo(const char *key, char *value, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[4096];

	(void)snprintf(value, size, "unknown");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 && strchr(line, ':') != NULL) {
			const char *text = strchr(line, ':') + 1;

			(void)snprintf(value, size, "%s", text + strspn(text, " \t"));
			value[strcspn(value, "\n")] = '\0';
			break;
		}
	if (file != NULL)
		(void)fclose(file);
	return value;
}

json_t *
bench_machine(void)
{
	char model[256];
	char flags[4096];
	char source[64];
	char governor[64];
	struct utsname kernel = {0};

	(void)uname(&kernel);
	(void)cpuinfo("flags", flags, sizeof(flags));
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:b, s:b}", "processor", cpuinfo("model name", model, sizeof(model)),
	                 "processors", (int)sysconf(_SC_NPROCESSORS_ONLN), "kernel", kernel.release, "architecture",
	                 kernel.machine, "clock_source",
	                 first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source)),
	                 "governor",
	                 first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof(governor)),
	                 "hypervisor", strstr(flags, " hypervisor") != NULL, "constant_counter",
	                 strstr(flags, " constant_tsc") != NULL);
}

void
bench_machine_print(const json_t *machine)
{
	(void)printf("%s, %d processors%s, Linux %s %s, clock source %s, governor %s\n",
	             json_string_value(json_object_get(machine, "processor")),
	             (int)json_integer_value(json_object_get(machine, "processors")),
	             json_is_true(json_object_get(machine, "hypervisor")) ? " (virtual)" : "",
	             json_string_value(json_object_get(machine, "kernel")),
	             json_string_value(json_object_get(machine, "architecture")),
	             json_string_value(json_object_get(machine, "clock_source")),
	             json_string_value(json_object_get(machine, "governor")));
}
