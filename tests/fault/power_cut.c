/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state file's user is killed at every system call that touches the file, and the power is
 * cut at every such moment: whatever of the unsynced writes reached the disk, whole, in part
 * or not at all, the file comes back at or above everything issued.
 *
 * pwrite, fdatasync and fsync are replaced here, so the shipped code runs unchanged.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <firn.h>

#include "gen/mark_file.h"
#include "gen/mark_slot.h"

#define PENDING_MAX 16

struct write_ {
	off_t at;
	size_t size;
	unsigned char bytes[FIRNI_MARK_FILE_SIZE];
};

/* In shared memory: what the disk surely has, what it may have, and the highest word issued. */
struct disk {
	unsigned char durable[FIRNI_MARK_FILE_SIZE];
	struct write_ pending[PENDING_MAX];
	unsigned writes;
	uint64_t end;       /* everything issued is below */
	uint64_t calls;     /* system calls so far */
	uint64_t die_at;    /* 0: never */
	int fail_sync_at;   /* this fdatasync fails, counted from 1; 0: none */
	int syncs;
	uint64_t images;    /* checked */
	int violated;
};

static struct disk *disk;
static char dir[] = "/tmp/firn-power-XXXXXX";
static char path[64];
static struct firn_layout layout;
static struct firn_clock *clock_;
static int tracking;

/* The file as it would be found after a cut. A file that does not exist yet is all zeros and starts afresh. */
static void
check_image(const unsigned char image[FIRNI_MARK_FILE_SIZE])
{
	unsigned char slots[FIRNI_SLOTS][FIRNI_SLOT_SIZE];
	struct firni_slot slot;
	int valid;

	for (int i = 0; i < FIRNI_SLOTS; i++)
		memcpy(slots[i], image + i * FIRNI_SLOT_STRIDE, FIRNI_SLOT_SIZE);
	disk->images++;
	int error = firni_slot_choose((const unsigned char(*)[FIRNI_SLOT_SIZE])slots, &slot, &valid);

	if (error == FIRN_OK ? slot.mark < disk->end : disk->end != 0) {
		if (!disk->violated)
			printf("call %llu: a power cut leaves a mark of %llu, issued up to %llu (%s)\n",
			       (unsigned long long)disk->calls, (unsigned long long)(error == FIRN_OK ? slot.mark : 0),
			       (unsigned long long)disk->end, firn_error_code(error));
		disk->violated = 1;
	}
}

/* Every legal outcome: each pending write is lost, whole, or torn at an 8-byte boundary. */
static void
check_images(unsigned next, const unsigned char image[FIRNI_MARK_FILE_SIZE])
{
	static const size_t torn[] = {0, 8, 24, 32, 64, 104, 256, 504, FIRNI_SLOT_SIZE};
	unsigned char after[FIRNI_MARK_FILE_SIZE];

	if (disk->violated)
		return; /* one is enough, and what is never synced has images without end */
	if (next == disk->writes) {
		check_image(image);
		return;
	}
	const struct write_ *write = &disk->pending[next];

	for (size_t t = 0; t < sizeof(torn) / sizeof(torn[0]); t++) {
		if (torn[t] > write->size)
			continue;
		memcpy(after, image, sizeof(after));
		memcpy(after + write->at, write->bytes, torn[t]);
		check_images(next + 1, after);
		/* And the other end first. */
		memcpy(after, image, sizeof(after));
		memcpy(after + write->at + torn[t], write->bytes + torn[t], write->size - torn[t]);
		check_images(next + 1, after);
	}
}

static void
cut(void)
{
	if (tracking)
		check_images(0, disk->durable);
}

static void
count_call(void)
{
	disk->calls++;
	if (disk->die_at != 0 && disk->calls == disk->die_at)
		_exit(9); /* as by kill -9: nothing is cleaned up, locks go with the descriptors */
}

ssize_t
pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	/* Slots are all that is written in place. */
	int slot = tracking && size == FIRNI_SLOT_SIZE;

	if (tracking)
		count_call();
	if (slot && disk->writes < PENDING_MAX) {
		struct write_ *write = &disk->pending[disk->writes++];

		write->at = at;
		write->size = size;
		memcpy(write->bytes, bytes, size);
	}
	ssize_t written = syscall(SYS_pwrite64, fd, bytes, size, at);

	if (slot)
		cut();
	if (tracking)
		count_call();
	return written;
}

static void
made_durable(void)
{
	for (unsigned i = 0; i < disk->writes; i++)
		memcpy(disk->durable + disk->pending[i].at, disk->pending[i].bytes, disk->pending[i].size);
	disk->writes = 0;
}

int
fdatasync(int fd)
{
	if (tracking) {
		count_call();
		if (++disk->syncs == disk->fail_sync_at) {
			errno = EIO;
			return -1; /* what was written may or may not be there, and never will be known */
		}
	}
	int error = (int)syscall(SYS_fdatasync, fd);

	if (tracking) {
		made_durable();
		cut();
		count_call();
	}
	return error;
}

int
fsync(int fd)
{
	return tracking ? fdatasync(fd) : (int)syscall(SYS_fsync, fd);
}

static int
open_gen(struct firn_gen **gen)
{
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;

	config.layout = &layout;
	config.clock = clock_;
	config.sharing = FIRN_GEN_FILE;
	config.state_path = path;
	return firn_gen_open(&config, gen);
}

static void
set_clock(int64_t ms)
{
	if (firn_clock_set(clock_, layout.epoch_ms + ms) != FIRN_OK)
		abort();
}

/* Issue, and check every cut after every ID. Returns the first error that is final. */
static int
issue(struct firn_gen *gen, unsigned count, int64_t from_ms, int64_t step_ms)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t id;

		set_clock(from_ms + (int64_t)i * step_ms);
		int error = firn_gen_next_wait(gen, 0, &id);

		if (error == FIRN_E_EXHAUSTED || error == FIRN_E_CLOCK_BACK || error == FIRN_E_FENCED)
			continue;
		if (error != FIRN_OK)
			return error;
		uint64_t word = (id >> 22) << 12 | (id & 4095);

		if (word < disk->end && !disk->violated) {
			printf("call %llu: word %llu is issued again\n", (unsigned long long)disk->calls,
			       (unsigned long long)word);
			disk->violated = 1;
		}
		disk->end = word + 1;
		cut();
	}
	return FIRN_OK;
}

/* One life: open, issue over several renewals, close. */
static int
live(int64_t from_ms)
{
	struct firn_gen *gen;
	int error = open_gen(&gen);

	if (error != FIRN_OK)
		return error;
	error = issue(gen, 24, from_ms, 150);
	int closed = firn_gen_close(gen);

	return error != FIRN_OK ? error : closed;
}

static int
in_child(int64_t from_ms, uint64_t die_at, int fail_sync_at)
{
	pid_t child;
	int status = 0;

	disk->calls = 0;
	disk->syncs = 0;
	disk->die_at = die_at;
	disk->fail_sync_at = fail_sync_at;
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		tracking = 1;
		int error = live(from_ms);

		(void)fflush(stdout);
		_exit(error == FIRN_OK ? 0 : error == FIRN_E_SYNC ? 2 : 3);
	}
	(void)waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void
fresh_file(void)
{
	struct firn_gen *gen;
	int fd;

	(void)unlink(path);
	memset(disk, 0, sizeof(*disk));
	set_clock(1000);
	if (open_gen(&gen) != FIRN_OK || firn_gen_close(gen) != FIRN_OK)
		abort();
	fd = open(path, O_RDONLY);
	if (fd < 0 || pread(fd, disk->durable, sizeof(disk->durable), 0) != (ssize_t)sizeof(disk->durable))
		abort();
	(void)close(fd);
}

static int
killed_at_every_call(uint64_t *images)
{
	uint64_t calls;

	fresh_file();
	if (in_child(2000, 0, 0) != 0 || disk->violated)
		return 0;
	calls = disk->calls;
	*images += disk->images;
	for (uint64_t k = 1; k <= calls; k++) {
		fresh_file();
		if (in_child(2000, k, 0) != 9)
			return 0;
		/* The next life finds what is in the page cache, and is itself cut at every moment. */
		int second = in_child(2500 + (int64_t)k * 10, 0, 0);

		*images += disk->images;
		if (second != 0 || disk->violated) {
			printf("killed at call %llu of %llu: the next life ends with %d\n", (unsigned long long)k,
			       (unsigned long long)calls, second);
			return 0;
		}
	}
	printf("killed at each of %llu calls, restarted: every image sound\n", (unsigned long long)calls);
	return calls > 20;
}

/* A sync that fails is final, whichever it is; the next life must not trust what it finds cached. */
static int
failed_at_every_sync(uint64_t *images)
{
	int syncs;

	fresh_file();
	if (in_child(2000, 0, 0) != 0)
		return 0;
	syncs = disk->syncs;
	for (int k = 1; k <= syncs; k++) {
		fresh_file();
		int first = in_child(2000, 0, k);
		int second = in_child(9000, 0, 0);

		*images += disk->images;
		if (first != 2 || second != 0 || disk->violated) {
			printf("sync %d of %d failed: this life ends with %d, the next with %d\n", k, syncs, first, second);
			return 0;
		}
	}
	printf("each of %d syncs failed once: final each time, every image sound\n", syncs);
	return syncs > 5;
}

/*
 * A child that has closed every descriptor cannot be seen to share the word, but still maps it:
 * closing must end it before the clean mark stands. One that can be seen goes on.
 */
static int
closing_ends_only_a_hidden_child(int hidden)
{
	struct firn_gen *gen;
	int ready[2];
	int go[2];
	char byte = 0;
	int status = 0;
	uint64_t id;

	fresh_file();
	if (open_gen(&gen) != FIRN_OK || firn_gen_next(gen, &id) != FIRN_OK || pipe(go) != 0 || pipe(ready) != 0)
		return 0;
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0) {
		for (int fd = 3; hidden && fd < 64; fd++)
			if (fd != go[0] && fd != ready[1])
				(void)close(fd);
		if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(firn_gen_next(gen, &id) == (hidden ? FIRN_E_SEALED : FIRN_OK) ? 0 : 2);
	}
	if (read(ready[0], &byte, 1) != 1 || firn_gen_close(gen) != FIRN_OK || write(go[1], &byte, 1) != 1)
		return 0;
	(void)waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		printf("%s\n", hidden ? "a child issued after the clean mark was written"
		                      : "a child was sealed though it could be seen");
		return 0;
	}
	printf("closing %s\n", hidden ? "ends a child that cannot be seen" : "leaves a child be that can be seen");
	return 1;
}

int
main(void)
{
	struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
	uint64_t images = 0;
	char command[64];

	disk = mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	clock_config.kind = FIRN_CLOCK_MANUAL;
	if (disk == MAP_FAILED || mkdtemp(dir) == NULL || firn_layout_parse("default", &layout, NULL) != FIRN_OK ||
	    firn_clock_open(&clock_config, &clock_) != FIRN_OK)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/ids.state", dir);
	int good = killed_at_every_call(&images);

	good = good && failed_at_every_sync(&images);
	good = good && closing_ends_only_a_hidden_child(1) && closing_ends_only_a_hidden_child(0);
	printf("%llu images of the disk checked: %s\n", (unsigned long long)images, good ? "sound" : "FAILED");
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) != 0 || !good;
}
