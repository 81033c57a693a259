/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the processes of one state file share: made as a sealed memfd, found through /proc. */
#include "gen/mark_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <firn/error.h>

#include "gen/state.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* One user: where its memfd is to be found. Little-endian as the host has it: the file is bound to it. */
struct entry {
	int32_t pid;
	int32_t fd;
};
#define ENTRIES ((int)(FIRNI_SLOT_STRIDE / sizeof(struct entry)))

size_t
firni_memory_size(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct firni_state) + page - 1) / page * page;
}

static int
map(int fd, struct firni_memory *memory)
{
	void *at = mmap(NULL, firni_memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	struct stat st;

	if (at == MAP_FAILED)
		return FIRN_E_NO_MEMORY;
	if (fstat(fd, &st) != 0) {
		(void)munmap(at, firni_memory_size());
		return FIRN_E_SYSTEM;
	}
	memory->fd = fd;
	memory->device = st.st_dev;
	memory->inode = st.st_ino;
	memory->state = at;
	return FIRN_OK;
}

int
firni_memory_make(struct firni_memory *memory)
{
	int fd = memfd_create("firn", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	if (fd < 0)
		return errno == ENOSYS ? FIRN_E_UNSUPPORTED : FIRN_E_SYSTEM;
	/* Real pages now: memory that runs out later would be a fault in the middle of a take. */
	if (ftruncate(fd, (off_t)firni_memory_size()) != 0 ||
	    posix_fallocate(fd, 0, (off_t)firni_memory_size()) != 0)
		error = FIRN_E_NO_MEMORY;
	else if (fcntl(fd, F_ADD_SEALS, SEALS) != 0)
		error = FIRN_E_UNSUPPORTED;
	else
		error = map(fd, memory);
	if (error != FIRN_OK)
		(void)close(fd);
	return error;
}

void
firni_memory_drop(struct firni_memory *memory)
{
	if (memory->state != NULL)
		(void)munmap(memory->state, firni_memory_size());
	firni_close_own(memory->fd, memory->device, memory->inode);
	memory->state = NULL;
	memory->fd = -1;
}

static int
read_table(const struct firni_file *file, struct entry table[])
{
	ssize_t size = (ssize_t)(ENTRIES * sizeof(struct entry));

	return pread(file->fd, table, (size_t)size, FIRNI_MARK_TABLE_AT) == size;
}

/* Open what an entry names, if it is firn's memory: process numbers are used again for other things. */
static int
open_entry(const struct entry *entry, const uint64_t identity[2], struct firni_memory *memory)
{
	static const char wanted[] = "/memfd:firn";
	char path[64];
	char target[32];
	struct stat st;
	int fd;
	int error = FIRN_E_STATE_UNREACHABLE;

	if (entry->pid <= 0 || entry->fd < 0)
		return error;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)entry->pid, (int)entry->fd);
	ssize_t size = readlink(path, target, sizeof(target));

	if (size < (ssize_t)sizeof(wanted) - 1 || memcmp(target, wanted, sizeof(wanted) - 1) != 0)
		return error;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)firni_memory_size() &&
	    (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS && map(fd, memory) == FIRN_OK) {
		if (memory->state->identity[0] == identity[0] && memory->state->identity[1] == identity[1])
			error = memory->state->magic == FIRNI_STATE_MAGIC ? FIRN_OK : FIRN_E_STATE_VERSION;
		if (error == FIRN_OK)
			return FIRN_OK;
		(void)munmap(memory->state, firni_memory_size());
	}
	(void)close(fd);
	memory->state = NULL;
	memory->fd = -1;
	return error;
}

int
firni_memory_find(const struct firni_file *file, const uint64_t identity[2], struct firni_memory *memory)
{
	struct entry table[ENTRIES];
	int error = FIRN_E_STATE_UNREACHABLE;

	if (!read_table(file, table))
		return FIRN_E_SYSTEM;
	for (int i = 0; i < ENTRIES; i++) {
		int this_one = open_entry(&table[i], identity, memory);

		if (this_one == FIRN_OK)
			return FIRN_OK;
		if (this_one == FIRN_E_STATE_VERSION)
			error = this_one;
	}
	return error;
}

uint32_t
firni_memory_users(const struct firni_file *file, const uint64_t identity[2])
{
	struct entry table[ENTRIES];
	uint32_t users = 0;

	if (!read_table(file, table))
		return 0;
	for (int i = 0; i < ENTRIES; i++) {
		struct firni_memory memory = {.fd = -1};

		if (open_entry(&table[i], identity, &memory) == FIRN_OK) {
			users++;
			firni_memory_drop(&memory);
		}
	}
	return users;
}

/* Write an entry over the first one for which it may. A full table is no error: it is a hint. */
static void
replace_entry(const struct firni_file *file, const struct entry *mine, const struct entry *with, int or_gone)
{
	struct entry table[ENTRIES];

	if (!read_table(file, table))
		return;
	for (int i = 0; i < ENTRIES; i++) {
		int same = table[i].pid == mine->pid && table[i].fd == mine->fd;
		int gone = or_gone && (table[i].pid <= 0 || (kill(table[i].pid, 0) != 0 && errno == ESRCH));

		/* The page cache is enough: the table means nothing once its processes are gone. */
		if ((same || gone) &&
		    pwrite(file->fd, with, sizeof(*with),
		           FIRNI_MARK_TABLE_AT + (off_t)((size_t)i * sizeof(*with))) == (ssize_t)sizeof(*with))
			return;
	}
}

void
firni_memory_register(const struct firni_file *file, int memory_fd)
{
	struct entry mine = {(int32_t)getpid(), memory_fd};

	replace_entry(file, &mine, &mine, 1);
}

void
firni_memory_unregister(const struct firni_file *file, int memory_fd)
{
	struct entry mine = {(int32_t)getpid(), memory_fd};
	struct entry none = {0, 0};

	replace_entry(file, &mine, &none, 0);
}
