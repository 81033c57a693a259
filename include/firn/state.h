/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The state file seen from outside: read it, check it, adopt it. Generators use it by FIRN_GEN_FILE. */
#ifndef FIRN_STATE_H
#define FIRN_STATE_H

#include <stdint.h>

#include <firn/detail/attributes.h>
#include <firn/layout.h>

struct firn_state_info {
	struct firn_layout layout;
	uint64_t node;
	uint64_t mark;          /* no word at or above this was ever issued from the file */
	int64_t mark_ms;        /* the Unix millisecond at which the mark's tick begins */
	uint64_t sequence;      /* how often the file was written */
	int64_t written_ms;     /* the writer's clock at the last write */
	int clean;              /* the last user closed it: the mark is exactly the next word */
	int slots_valid;        /* 2, or 1 after a write was cut off */
	int same_machine;       /* written on this machine */
	int same_boot;          /* written since this machine last booted */
	int in_use;             /* a live process has it open */
	uint32_t users;         /* how many that could be counted; 0 if not in use */
	uint8_t version;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Read a state file without changing it. Returns 0 or the error that opening would meet
 * (FIRN_E_STATE_*, FIRN_E_SYSTEM with errno); *info is filled as far as it could be read
 * whenever a slot was valid, also on FIRN_E_STATE_MACHINE and FIRN_E_STATE_MODE.
 */
FIRN_API FIRN_MUST_USE int firn_state_read(const char *path, struct firn_state_info *info);

/*
 * Bind a file from another machine to this one: an operator's word that the other machine
 * will not issue with this node number again. The start is at least margin_ms above both
 * the mark and this machine's clock. Refused while a process has the file open.
 */
FIRN_API FIRN_MUST_USE int firn_state_adopt(const char *path, uint32_t margin_ms);

#ifdef __cplusplus
}
#endif

#endif
