/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The fork guard: one page for the process that the kernel wipes in children. */
#include "gen/fork.h"

#include <firn/detail/atomic.h>
#include <firn/error.h>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* An advice that no kernel knows: who accepts it does not look at advice. */
#define MADV_UNKNOWN 0x7fff

static const uint64_t always = 1;

/*
 * The page's address, 0 before first use. A child finds the address but a wiped page; it
 * writes a new 1 there only through a page of its own: see firni_fork_guard.
 */
static struct firni_atomic64 guard_page;

static void
wipe_in_child(void)
{
	volatile uint64_t *page = (volatile uint64_t *)(uintptr_t)firni_atomic64_load(&guard_page);

	if (page != NULL)
		*page = 0;
}

/*
 * Emulators of single programs (QEMU's) accept every advice and follow none. There libc's fork
 * wipes the page; a bare clone is not seen.
 */
static void
wipe_by_hand(void)
{
	(void)pthread_atfork(NULL, NULL, wipe_in_child);
}

static volatile uint64_t *
make_page(int *error)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		*error = FIRN_E_NO_MEMORY;
		return NULL;
	}
	if (madvise(page, size, MADV_WIPEONFORK) != 0) {
		(void)munmap(page, size);
		*error = FIRN_E_UNSUPPORTED;
		return NULL;
	}
	if (madvise(page, size, MADV_UNKNOWN) == 0) {
		static pthread_once_t once = PTHREAD_ONCE_INIT;

		(void)pthread_once(&once, wipe_by_hand);
	}
	*(volatile uint64_t *)page = 1;
	return page;
}

int
firni_fork_guard(const volatile uint64_t **alive)
{
	for (;;) {
		uint64_t seen = firni_atomic64_load(&guard_page);
		const volatile uint64_t *page = (const volatile uint64_t *)(uintptr_t)seen;

		if (page != NULL && *page != 0) {
			*alive = page;
			return FIRN_OK;
		}
		/*
		 * First use, or a child's first use. The old page stays wiped for ever: setting it
		 * again would revive the parent's generators in this process.
		 */
		int error = FIRN_OK;
		volatile uint64_t *fresh = make_page(&error);

		if (fresh == NULL)
			return error;
		uint64_t desired = (uint64_t)(uintptr_t)fresh;

		if (firni_atomic64_cas_weak(&guard_page, &seen, desired)) {
			*alive = fresh;
			return FIRN_OK;
		}
		(void)munmap((void *)(uintptr_t)desired, (size_t)sysconf(_SC_PAGESIZE));
	}
}

const volatile uint64_t *
firni_fork_no_guard(void)
{
	return &always;
}
