/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The file of marks: finding and making it safely, its two locks, reading and writing its slots. */
#include "gen/mark_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <firn/error.h>

/* Past any byte of the file. */
#define LOCK_AT (INT64_C(1) << 40)

/* File systems whose locks or caches another host may not see (linux/magic.h and the kernel's sources). */
static int
is_network(int fd)
{
	static const uint32_t types[] = {
		0x6969,     /* NFS */
		0x517B,     /* SMB */
		0xFF534D42, /* CIFS */
		0xFE534D42, /* SMB2 */
		0x564C,     /* NCP */
		0x5346414F, /* AFS */
		0x6B414653, /* kAFS */
		0x73757245, /* Coda */
		0x01021997, /* 9P */
		0x00C36400, /* Ceph */
		0x47504653, /* GPFS */
		0x0BD00BD0, /* Lustre */
		0x01161970, /* GFS2 */
		0x7461636F, /* OCFS2 */
		0x65735546, /* FUSE: sshfs, s3fs, GlusterFS */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)fs.f_type == types[i])
			return 1;
	return 0;
}

/* Everything about the open file that makes its content worth reading. */
static int
check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return FIRN_E_SYSTEM;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return FIRN_E_STATE_KIND;
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return FIRN_E_STATE_MODE;
	if (is_network(fd))
		return FIRN_E_STATE_NETWORK;
	if (st.st_size != FIRNI_MARK_FILE_SIZE)
		return FIRN_E_STATE_SIZE;
	return FIRN_OK;
}

/* Whoever may write the directory may put another file in the name's place. */
static int
check_directory(struct firni_file *file)
{
	struct stat st;

	if (fstat(file->dir_fd, &st) != 0)
		return FIRN_E_SYSTEM;
	file->dir_device = st.st_dev;
	file->dir_inode = st.st_ino;
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return FIRN_E_STATE_MODE;
	/* In a sticky directory such as /tmp only the owner may replace the file. */
	if ((st.st_mode & 022) != 0 && (st.st_mode & S_ISVTX) == 0)
		return FIRN_E_STATE_MODE;
	return FIRN_OK;
}

int
firni_fd_apart(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	int apart = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int saved = errno;

	(void)close(fd);
	errno = saved;
	return apart;
}

static int
split_path(const char *path, struct firni_file *file)
{
	char dir[4096];
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t dir_size = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);

	if (name[0] == '\0' || strlen(name) >= sizeof(file->name) || dir_size >= sizeof(dir) ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return FIRN_E_INVALID;
	(void)strcpy(file->name, name);
	memcpy(dir, slash == NULL ? "." : path, dir_size);
	dir[dir_size] = '\0';
	file->dir_fd = firni_fd_apart(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return file->dir_fd < 0 ? FIRN_E_SYSTEM : FIRN_OK;
}

static int
write_slot(int fd, const struct firni_slot *slot)
{
	unsigned char bytes[FIRNI_SLOT_SIZE];
	off_t at = (off_t)(slot->sequence % FIRNI_SLOTS) * FIRNI_SLOT_STRIDE;

	firni_slot_encode(slot, bytes);
	errno = 0;
	return pwrite(fd, bytes, sizeof(bytes), at) == (ssize_t)sizeof(bytes) ? FIRN_OK : FIRN_E_SYNC;
}

/*
 * Make the file under a name that nobody looks at, and give it its name only when its
 * content is durable: there is no moment at which a half-made file can be found. Zeros are
 * written, not left as a hole, so that a full disk is met here and not at a later mark.
 */
static int
make_file(const struct firni_file *file, const struct firni_slot *fresh)
{
	static const unsigned char zeros[FIRNI_MARK_FILE_SIZE];
	struct firni_slot second = *fresh;
	char temporary[64];
	int error = FIRN_OK;
	int fd = -1;

	for (unsigned try = 0; fd < 0 && try < 100; try++) {
		struct timespec now = {0, 0};

		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		(void)snprintf(temporary, sizeof(temporary), ".firn-new-%ld-%ld-%u", (long)getpid(),
		               now.tv_nsec, try);
		fd = firni_fd_apart(
			openat(file->dir_fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
		if (fd < 0 && errno != EEXIST)
			return FIRN_E_SYSTEM;
	}
	if (fd < 0)
		return FIRN_E_SYSTEM;
	second.sequence++;
	if (fchmod(fd, 0600) != 0 || pwrite(fd, zeros, sizeof(zeros), 0) != (ssize_t)sizeof(zeros))
		error = FIRN_E_SYSTEM;
	if (error == FIRN_OK && (write_slot(fd, fresh) != FIRN_OK || write_slot(fd, &second) != FIRN_OK))
		error = FIRN_E_SYSTEM;
	if (error == FIRN_OK && fsync(fd) != 0)
		error = FIRN_E_SYNC;
	/* Refuses an existing name: of several makers one wins, the others use its file. */
	if (error == FIRN_OK && renameat2(file->dir_fd, temporary, file->dir_fd, file->name,
	                                  RENAME_NOREPLACE) != 0 && errno != EEXIST)
		error = FIRN_E_SYSTEM;
	int saved = errno;

	(void)unlinkat(file->dir_fd, temporary, 0);
	(void)close(fd);
	errno = saved;
	if (error == FIRN_OK && fsync(file->dir_fd) != 0)
		error = FIRN_E_SYNC;
	return error;
}

int
firni_file_open(const char *path, const struct firni_slot *fresh, int writable, struct firni_file *file)
{
	int flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	file->fd = -1;
	file->dir_fd = -1;
	int error = split_path(path, file);

	if (error == FIRN_OK)
		error = check_directory(file);
	if (error == FIRN_OK) {
		file->fd = firni_fd_apart(openat(file->dir_fd, file->name, flags));
		if (file->fd < 0 && errno == ENOENT && fresh != NULL) {
			if (is_network(file->dir_fd))
				error = FIRN_E_STATE_NETWORK;
			else
				error = make_file(file, fresh);
			if (error == FIRN_OK)
				file->fd = firni_fd_apart(openat(file->dir_fd, file->name, flags));
		}
		if (error == FIRN_OK && file->fd < 0)
			/* ELOOP: a symbolic link. ENXIO: a socket, or a FIFO without a reader. EISDIR: a directory. */
			error = errno == ELOOP || errno == ENXIO || errno == EISDIR ? FIRN_E_STATE_KIND
			        : errno == EACCES || errno == EPERM                 ? FIRN_E_STATE_MODE
			                                                            : FIRN_E_SYSTEM;
	}
	if (file->fd >= 0 && fstat(file->fd, &st) == 0) {
		file->device = st.st_dev;
		file->inode = st.st_ino;
	}
	if (error == FIRN_OK)
		error = check_file(file->fd);
	if (error != FIRN_OK) {
		int saved = errno;

		firni_file_close(file);
		errno = saved;
	}
	return error;
}

void
firni_close_own(int fd, dev_t device, ino_t inode)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode)
		(void)close(fd);
}

void
firni_file_close(struct firni_file *file)
{
	firni_close_own(file->fd, file->device, file->inode);
	firni_close_own(file->dir_fd, file->dir_device, file->dir_inode);
	file->fd = -1;
	file->dir_fd = -1;
}

int
firni_file_reopen(const struct firni_file *file, struct firni_file *copy)
{
	struct stat st;

	*copy = *file;
	copy->dir_fd = fcntl(file->dir_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (copy->dir_fd < 0)
		return errno == EBADF ? FIRN_E_STATE_LOST : FIRN_E_SYSTEM;
	copy->fd = firni_fd_apart(
		openat(copy->dir_fd, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	int error = FIRN_OK;

	if (copy->fd < 0)
		error = errno == ENOENT || errno == ELOOP || errno == ENOTDIR ? FIRN_E_STATE_LOST : FIRN_E_SYSTEM;
	else if (fstat(copy->fd, &st) != 0 || st.st_dev != file->device || st.st_ino != file->inode)
		error = FIRN_E_STATE_LOST;
	if (error != FIRN_OK) {
		if (copy->fd >= 0)
			(void)close(copy->fd);
		(void)close(copy->dir_fd);
		return error;
	}
	return FIRN_OK;
}

static struct flock
range(enum firni_mark_lock lock, short type)
{
	struct flock range = {0};

	range.l_type = type;
	range.l_whence = SEEK_SET;
	range.l_start = LOCK_AT + lock;
	range.l_len = 1;
	return range;
}

int
firni_file_lock(const struct firni_file *file, enum firni_mark_lock lock, int exclusive, uint32_t wait_ms)
{
	int64_t waited_ns = 0;
	int64_t pause_ns = 200000;

	/*
	 * Asked again and again rather than waited for in the kernel: a holder may be stopped
	 * for hours, and this call promises an end. Holders keep it for one disk write.
	 */
	for (;;) {
		struct flock ask = range(lock, exclusive ? F_WRLCK : F_RDLCK);
		struct timespec pause;

		if (fcntl(file->fd, F_OFD_SETLK, &ask) == 0)
			return FIRN_OK;
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return FIRN_E_SYSTEM;
		if (waited_ns >= (int64_t)wait_ms * 1000000)
			return FIRN_E_STATE_BUSY;
		pause.tv_sec = 0;
		pause.tv_nsec = pause_ns;
		(void)nanosleep(&pause, NULL);
		waited_ns += pause_ns;
		if (pause_ns < 5000000)
			pause_ns *= 2;
	}
}

void
firni_file_unlock(const struct firni_file *file, enum firni_mark_lock lock)
{
	struct flock ask = range(lock, F_UNLCK);

	(void)fcntl(file->fd, F_OFD_SETLK, &ask);
}

int
firni_file_is_locked(const struct firni_file *file, enum firni_mark_lock lock)
{
	struct flock ask = range(lock, F_WRLCK);

	return fcntl(file->fd, F_OFD_GETLK, &ask) == 0 && ask.l_type != F_UNLCK;
}

int
firni_file_read(const struct firni_file *file, struct firni_slot *slot, int *valid)
{
	unsigned char bytes[FIRNI_SLOTS][FIRNI_SLOT_SIZE];

	for (int i = 0; i < FIRNI_SLOTS; i++) {
		ssize_t size = pread(file->fd, bytes[i], FIRNI_SLOT_SIZE, (off_t)i * FIRNI_SLOT_STRIDE);

		if (size < 0)
			return FIRN_E_SYSTEM;
		if (size != FIRNI_SLOT_SIZE)
			return FIRN_E_STATE_SIZE;
	}
	return firni_slot_choose((const unsigned char(*)[FIRNI_SLOT_SIZE])bytes, slot, valid);
}

int
firni_file_sync(const struct firni_file *file)
{
	return fdatasync(file->fd) == 0 ? FIRN_OK : FIRN_E_SYNC;
}

int
firni_file_write(const struct firni_file *file, const struct firni_slot *slot)
{
	int error = write_slot(file->fd, slot);

	return error != FIRN_OK ? error : firni_file_sync(file);
}
