/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that the processes of one state file share: made as a sealed memfd, found through /proc. */
#include "gen/mark_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <firn/error.h>

#include "gen/state.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/*
 * The memfd is named after its identity, so that those who hold it are found by looking at
 * links, and an operator can do the same: ls -l /proc/[0-9]*\/fd | grep memfd:firn.
 */
#define NAME_SIZE sizeof("firn-0123456789abcdef0123456789abcdef")

static void
name_of(const uint64_t identity[2], char name[NAME_SIZE])
{
	(void)snprintf(name, NAME_SIZE, "firn-%016" PRIx64 "%016" PRIx64, identity[0], identity[1]);
}

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
firni_memory_make(const uint64_t identity[2], struct firni_memory *memory)
{
	char name[NAME_SIZE];

	name_of(identity, name);
	int fd = firni_fd_apart(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
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

/* Open what a link in /proc names, if it is the memory wanted: between two looks it may be another. */
static int
open_link(const char *path, const uint64_t identity[2], struct firni_memory *memory)
{
	struct stat st;
	int fd = firni_fd_apart(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	int error = FIRN_E_STATE_UNREACHABLE;

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

/*
 * Does the process hold a descriptor of that name? Its path is left in path. Processes of
 * other users are skipped: the kernel does not let us look.
 */
static int
find_link(const char *pid, const char *name, char *path, size_t path_size)
{
	char target[NAME_SIZE + 32];
	struct dirent *entry;
	int found = 0;

	(void)snprintf(path, path_size, "/proc/%s/fd", pid);
	DIR *fds = opendir(path);

	if (fds == NULL)
		return 0;
	while (!found && (entry = readdir(fds)) != NULL) {
		ssize_t size = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target));

		/* The kernel writes "/memfd:NAME (deleted)". */
		found = size > 7 && (size_t)size > 7 + strlen(name) && memcmp(target, "/memfd:", 7) == 0 &&
		        memcmp(target + 7, name, strlen(name)) == 0;
		if (found)
			(void)snprintf(path, path_size, "/proc/%s/fd/%s", pid, entry->d_name);
	}
	(void)closedir(fds);
	return found;
}

/* All processes that hold the memory; with memory given, only until one could be mapped. */
static int
search(const uint64_t identity[2], struct firni_memory *memory, uint32_t *users)
{
	char name[NAME_SIZE];
	char path[sizeof("/proc//fd/") + 2 * NAME_MAX];
	struct dirent *entry;
	int error = FIRN_E_STATE_UNREACHABLE;
	DIR *proc = opendir("/proc");

	*users = 0;
	if (proc == NULL)
		return error;
	name_of(identity, name);
	while (error != FIRN_OK && (entry = readdir(proc)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !find_link(entry->d_name, name, path, sizeof(path)))
			continue;
		++*users;
		if (memory == NULL)
			continue;
		int opened = open_link(path, identity, memory);

		if (opened == FIRN_OK || opened == FIRN_E_STATE_VERSION)
			error = opened;
	}
	(void)closedir(proc);
	return error;
}

int
firni_memory_find(const uint64_t identity[2], struct firni_memory *memory)
{
	uint32_t users;

	return search(identity, memory, &users);
}

uint32_t
firni_memory_users(const uint64_t identity[2])
{
	uint32_t users;

	(void)search(identity, NULL, &users);
	return users;
}
