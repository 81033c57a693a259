/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the processes of one state file share: made as a sealed memfd, found through /proc. */
#ifndef FIRNI_GEN_MARK_MEMORY_H
#define FIRNI_GEN_MARK_MEMORY_H

#include <firn/detail/gen.h>

#include "gen/mark_file.h"

/*
 * A memfd that is sealed against shrinking cannot be truncated under its users, so that no
 * access faults, and lives exactly as long as somebody maps it or keeps it open: there is no
 * name that a cleaner could remove while it is in use. It is handed from process to process
 * through /proc/PID/fd, where every holder shows up: openers, and children of theirs that
 * never called us. The LIFE lock decides whether anybody is there, the identity in the
 * memory whether it is the one.
 */
struct firni_memory {
	int fd;
	dev_t device;
	ino_t inode;
	struct firni_state *state;
};

/* New zeroed memory, to be found under the identity. 0, FIRN_E_UNSUPPORTED, FIRN_E_NO_MEMORY or FIRN_E_SYSTEM. */
int firni_memory_make(const uint64_t identity[2], struct firni_memory *memory);

/*
 * Map the memory of the given identity that a live process holds. FIRN_E_STATE_UNREACHABLE if
 * none is seen: its last holder may be about to exit, so try again while LIFE is held.
 */
int firni_memory_find(const uint64_t identity[2], struct firni_memory *memory);

/* How many processes that may be looked into hold the memory of that identity. */
uint32_t firni_memory_users(const uint64_t identity[2]);

void firni_memory_drop(struct firni_memory *memory);

/* Where the memory lies inside its file: whole pages. */
size_t firni_memory_size(void);

#endif
