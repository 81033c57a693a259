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
 * through /proc/PID/fd; the table in the state file says where to look. The table is only a
 * hint: the LIFE lock decides whether anybody is there, and identity whether it is the one.
 */
struct firni_memory {
	int fd;
	dev_t device;
	ino_t inode;
	struct firni_state *state;
};

/* New zeroed memory. 0, FIRN_E_UNSUPPORTED, FIRN_E_NO_MEMORY or FIRN_E_SYSTEM. */
int firni_memory_make(struct firni_memory *memory);

/* Map the memory of the given identity that a live user of the file holds; FIRN_E_STATE_UNREACHABLE. */
int firni_memory_find(const struct firni_file *file, const uint64_t identity[2], struct firni_memory *memory);

/* Enter this process in the table, where newcomers look. ROLE is held. A full table is no error. */
void firni_memory_register(const struct firni_file *file, int memory_fd);

void firni_memory_unregister(const struct firni_file *file, int memory_fd);

/* How many entries of the table can be reached and hold that identity. */
uint32_t firni_memory_users(const struct firni_file *file, const uint64_t identity[2]);

void firni_memory_drop(struct firni_memory *memory);

/* Where the memory lies inside its file: whole pages. */
size_t firni_memory_size(void);

#endif
