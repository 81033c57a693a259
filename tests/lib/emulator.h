/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an emulator of single programs runs us: some tests ask the kernel for what none of these does. */
#ifndef FIRN_TESTS_EMULATOR_H
#define FIRN_TESTS_EMULATOR_H

#include <sys/mman.h>
#include <unistd.h>

/* QEMU accepts every advice, also one that no kernel knows. */
static inline int
in_emulator(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int accepted = page != MAP_FAILED && madvise(page, size, 0x7fff) == 0;

	if (page != MAP_FAILED)
		(void)munmap(page, size);
	return accepted;
}

#endif
