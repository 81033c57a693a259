/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Who this machine is and which boot this is. */
#include "gen/host.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Reads 32 hexadecimal digits, hyphens allowed between; all zero if there are none. */
static void
read_id(const char *path, uint8_t id[16])
{
	char text[64] = {0};
	unsigned digits = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(id, 0, 16);
	if (fd < 0)
		return;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	for (ssize_t i = 0; i < size && digits < 32; i++) {
		unsigned value;

		if (text[i] >= '0' && text[i] <= '9')
			value = (unsigned)(text[i] - '0');
		else if (text[i] >= 'a' && text[i] <= 'f')
			value = (unsigned)(text[i] - 'a') + 10;
		else if (text[i] == '-')
			continue;
		else
			break;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
		digits++;
	}
	if (digits != 32)
		memset(id, 0, 16);
}

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	x ^= x >> 27;
	x *= UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static int
known(const uint8_t id[16])
{
	static const uint8_t none[16];

	return memcmp(id, none, 16) != 0;
}

void
firni_host_machine(uint8_t machine[16])
{
	uint64_t half[2];

	read_id("/etc/machine-id", machine);
	if (!known(machine))
		return;
	memcpy(half, machine, 16);
	/* Both results hang on both halves; one of them is given away, so it does not lead back. */
	uint64_t low = mix(half[0] + mix(half[1] ^ UINT64_C(0x6669726e206d6163)));
	uint64_t high = mix(half[1] + mix(low));

	half[0] = low ^ mix(high);
	half[1] = high | 1;
	memcpy(machine, half, 16);
}

void
firni_host_boot(uint8_t boot[16])
{
	read_id("/proc/sys/kernel/random/boot_id", boot);
}

int
firni_host_maybe_same(const uint8_t a[16], const uint8_t b[16])
{
	return !known(a) || !known(b) || memcmp(a, b, 16) == 0;
}
