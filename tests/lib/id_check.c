/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Exact checks over many IDs. */
#include "id_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t
id_first_not_rising(const uint64_t id[], size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (id[i] <= id[i - 1])
			return i;
	return count;
}

/* Radix sort, 11 bits a pass: 10^8 IDs in seconds. */
static int
sort(uint64_t id[], size_t count)
{
	uint64_t *other = malloc((count + 1) * sizeof(*other));
	uint64_t *from = id;
	uint64_t *to = other;

	if (other == NULL)
		return 0;
	for (unsigned shift = 0; shift < 66; shift += 11) {
		size_t start[2049] = {0};

		for (size_t i = 0; i < count; i++)
			start[(from[i] >> shift & 2047) + 1]++;
		for (unsigned i = 1; i < 2049; i++)
			start[i] += start[i - 1];
		for (size_t i = 0; i < count; i++)
			to[start[from[i] >> shift & 2047]++] = from[i];
		uint64_t *swap = from;

		from = to;
		to = swap;
	}
	if (from != id)
		memcpy(id, from, count * sizeof(*id));
	free(other);
	return 1;
}

size_t
id_duplicates(uint64_t id[], size_t count, uint64_t *example)
{
	size_t found = 0;

	if (!sort(id, count))
		return SIZE_MAX;
	for (size_t i = 1; i < count; i++)
		if (id[i] == id[i - 1]) {
			*example = id[i];
			found++;
		}
	return found;
}

int
id_check_selftest(void)
{
	enum { COUNT = 100000 };
	static uint64_t id[COUNT];
	uint64_t example = 0;

	for (size_t i = 0; i < COUNT; i++)
		id[i] = (uint64_t)i * 4194304 + (uint64_t)i % 7;
	if (id_first_not_rising(id, COUNT) != COUNT || id_duplicates(id, COUNT, &example) != 0)
		goto broken;
	id[77777] = id[12345];
	if (id_first_not_rising(id, COUNT) != 77777 || id_duplicates(id, COUNT, &example) != 1 ||
	    example != id[12345])
		goto broken;
	return 0;
broken:
	(void)fprintf(stderr, "the checker itself is broken\n");
	return 1;
}
