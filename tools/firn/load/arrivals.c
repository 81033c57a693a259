/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals: made from a shape and a seed, or read from a trace. */
#include "load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64, after Steele, Lea and Flood 2014. */
static uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static double
uniform(uint64_t *state)
{
	return ((double)(draw(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Poisson: by counting exponential gaps while the mean is small, by the normal law above. */
static uint32_t
poisson(double mean, uint64_t *state)
{
	if (mean > 500) {
		double normal = sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979323846 * uniform(state));
		double value = floor(mean + sqrt(mean) * normal + 0.5);

		return value < 0 ? 0 : (uint32_t)value;
	}
	uint32_t count = 0;

	for (double left = mean + log(uniform(state)); left > 0; left += log(uniform(state)))
		count++;
	return count;
}

/* The mean in millisecond ms, of a shape. */
static double
mean_at(const struct arrival_wish *wish, size_t ms)
{
	double mean = wish->rate / 1000;

	if (wish->shape != ARRIVAL_BURSTS)
		return mean;
	size_t period = (size_t)wish->on_ms + wish->off_ms;

	return ms % period < wish->on_ms ? mean * (double)period / wish->on_ms : 0;
}

static void
sum_up(struct arrivals *arrivals)
{
	double sum = 0;

	arrivals->most = 0;
	for (size_t i = 0; i < arrivals->ms; i++) {
		sum += arrivals->count[i];
		if (arrivals->count[i] > arrivals->most)
			arrivals->most = arrivals->count[i];
	}
	arrivals->mean = arrivals->ms == 0 ? 0 : sum / (double)arrivals->ms;
}

int
arrivals_make(const struct arrival_wish *wish, size_t ms, struct arrivals *arrivals)
{
	uint64_t state = wish->seed;
	double owed = 0;
	size_t every = wish->burst_ms == 0 ? 1000 : wish->burst_ms;

	arrivals->ms = ms;
	arrivals->count = calloc(ms, sizeof(*arrivals->count));
	if (arrivals->count == NULL)
		return -1;
	for (size_t i = 0; i < ms; i++) {
		double mean = mean_at(wish, i);

		if (wish->shape == ARRIVAL_POISSON) {
			arrivals->count[i] = poisson(mean, &state);
		} else {
			/* Whole IDs, and none lost to rounding. */
			owed += mean;
			arrivals->count[i] = (uint32_t)owed;
			owed -= floor(owed);
		}
		if (wish->burst > 0 && i % every == every / 2)
			arrivals->count[i] += (uint32_t)ceil(wish->burst);
	}
	sum_up(arrivals);
	return 0;
}

int
arrivals_read(const char *path, struct arrivals *arrivals)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	size_t room = 0;
	char line[256];
	unsigned number = 0;

	memset(arrivals, 0, sizeof(*arrivals));
	if (file == NULL) {
		complain("%s cannot be read", path);
		return EXIT_USAGE;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t value;

		number++;
		line[strcspn(line, "#\r\n")] = '\0';
		line[strcspn(line, " \t")] = '\0';
		if (line[0] == '\0')
			continue;
		if (arrivals->ms == room) {
			room = room == 0 ? 4096 : room * 2;
			uint32_t *grown = realloc(arrivals->count, room * sizeof(*grown));

			if (grown == NULL)
				break;
			arrivals->count = grown;
		}
		if (!number_read(line, 0, UINT32_MAX, &value)) {
			complain("%s, line %u: '%s' is no count of IDs in a millisecond", path, number, line);
			(void)fclose(file);
			return EXIT_USAGE;
		}
		arrivals->count[arrivals->ms++] = (uint32_t)value;
	}
	(void)fclose(file);
	sum_up(arrivals);
	if (arrivals->ms != 0)
		return EXIT_OK;
	complain("%s holds no counts: one number a line, one line a millisecond", path);
	return EXIT_USAGE;
}

void
arrivals_free(struct arrivals *arrivals)
{
	free(arrivals->count);
	arrivals->count = NULL;
}
