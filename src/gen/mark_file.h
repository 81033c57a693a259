/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The file of marks: finding and making it safely, its two locks, reading and writing its slots. */
#ifndef FIRNI_GEN_MARK_FILE_H
#define FIRNI_GEN_MARK_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "gen/mark_slot.h"

/* The file is two slots, each in a block of its own. */
#define FIRNI_MARK_FILE_SIZE (FIRNI_SLOTS * FIRNI_SLOT_STRIDE)

/*
 * Open-file-description locks on bytes past the end: they die with the last copy of the
 * descriptor, so a kill leaves nothing locked.
 *
 * ROLE  exclusive while the file is opened, written or closed: one writer at a time.
 * LIFE  shared while the memory is mapped. Who gets it exclusively knows that nobody else
 *       has the memory, and may make a new one or close the word for all.
 */
enum firni_mark_lock { FIRNI_LOCK_ROLE, FIRNI_LOCK_LIFE };

struct firni_file {
	int fd;
	int dir_fd;         /* of the directory, so that a later chdir does not matter */
	char name[256];     /* in that directory */
	dev_t device;
	ino_t inode;
	dev_t dir_device;
	ino_t dir_inode;
};

/*
 * Open the file at path, making it if it is not there and fresh is given: its slots then
 * are fresh's, durable together with the name. Returns 0, FIRN_E_INVALID for a path with no
 * file name, FIRN_E_STATE_* if it is not a file that this process may trust, FIRN_E_SYNC,
 * FIRN_E_SYSTEM with errno. writable 0 opens for reading only and checks the same.
 */
int firni_file_open(const char *path, const struct firni_slot *fresh, int writable,
                    struct firni_file *file);
void firni_file_close(struct firni_file *file);

/*
 * The same description under a number above standard error's; -1 stays -1. Of a process that
 * runs with 0, 1 or 2 closed, what it prints would else go over the marks.
 */
int firni_fd_apart(int fd);

/* Close a descriptor if it still is that file: one closed behind our back may be somebody else's now. */
void firni_close_own(int fd, dev_t device, ino_t inode);

/*
 * Another description of the same file, by its name: locks of its own. 0, or FIRN_E_STATE_LOST if
 * the name or the directory do not mean what was opened any more, or FIRN_E_SYSTEM.
 */
int firni_file_reopen(const struct firni_file *file, struct firni_file *copy);

/* Lock, waiting up to wait_ms. 0, FIRN_E_STATE_BUSY or FIRN_E_SYSTEM. */
int firni_file_lock(const struct firni_file *file, enum firni_mark_lock lock, int exclusive,
                    uint32_t wait_ms);
void firni_file_unlock(const struct firni_file *file, enum firni_mark_lock lock);

/* 1 if somebody else holds the lock, 0 if nobody does. */
int firni_file_is_locked(const struct firni_file *file, enum firni_mark_lock lock);

/* Read both slots and choose. Errors as firni_slot_choose, FIRN_E_STATE_SIZE, FIRN_E_SYSTEM. */
int firni_file_read(const struct firni_file *file, struct firni_slot *slot, int *valid);

/* Write a slot where its sequence says, and make it durable. 0 or FIRN_E_SYNC: then nothing is known. */
int firni_file_write(const struct firni_file *file, const struct firni_slot *slot);

/* Make durable what was written. 0 or FIRN_E_SYNC. */
int firni_file_sync(const struct firni_file *file);

#endif
