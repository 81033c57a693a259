/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One slot of a state file: what it says, and its bytes. Pure. docs/state-file.md is the format. */
#ifndef FIRNI_GEN_MARK_SLOT_H
#define FIRNI_GEN_MARK_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include <firn/layout.h>

/* The file: two slots, each in a block of its own so that no torn write can touch both. */
#define FIRNI_SLOT_STRIDE 4096
#define FIRNI_SLOT_SIZE 512
#define FIRNI_SLOTS 2
#define FIRNI_SLOT_VERSION 1

struct firni_slot {
	uint64_t sequence;    /* counts writes; the higher of two valid slots is the newer */
	uint64_t mark;        /* no word at or above it was issued before this slot was durable */
	uint64_t node;
	int64_t written_ms;
	uint64_t identity[2]; /* of the memory that the slot was written for */
	uint8_t machine[16];  /* all zero: not known */
	uint8_t boot[16];     /* all zero: not known */
	uint32_t horizon_ms;
	int clean;            /* the word was sealed at mark: nothing at or above it was issued */
	struct firn_layout layout;
};

/* Write the slot's FIRNI_SLOT_SIZE bytes. */
void firni_slot_encode(const struct firni_slot *slot, unsigned char bytes[FIRNI_SLOT_SIZE]);

/*
 * Read them. 0; FIRN_E_STATE_VERSION for an intact slot of a later format; FIRN_E_STATE_DAMAGED
 * for anything else, however it is broken.
 */
int firni_slot_decode(const unsigned char bytes[FIRNI_SLOT_SIZE], struct firni_slot *slot);

/*
 * Choose between the two slots of a file. 0, *slot and how many were valid; where one is
 * not, its write may have been cut off, or it may have been damaged after it was durable.
 * FIRN_E_STATE_DAMAGED if none is valid or the two contradict each other,
 * FIRN_E_STATE_VERSION if either is of a later format.
 */
int firni_slot_choose(const unsigned char bytes[FIRNI_SLOTS][FIRNI_SLOT_SIZE], struct firni_slot *slot,
                      int *valid);

#endif
