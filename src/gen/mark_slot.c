/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One slot of a state file: what it says, and its bytes. Little-endian, fixed offsets, CRC-64. */
#include "gen/mark_slot.h"

#include <string.h>

#include <firn/error.h>

/* Offsets; docs/state-file.md has the same table. */
enum {
	AT_MAGIC = 0,
	AT_VERSION = 8,
	AT_FLAGS = 12,
	AT_SEQUENCE = 16,
	AT_MARK = 24,
	AT_NODE = 32,
	AT_WRITTEN = 40,
	AT_IDENTITY = 48,
	AT_MACHINE = 64,
	AT_BOOT = 80,
	AT_HORIZON = 96,
	AT_LAYOUT = 104,
	AT_CHECK = FIRNI_SLOT_SIZE - 8
};

static const unsigned char magic[8] = {'f', 'i', 'r', 'n', 'm', 'a', 'r', 'k'};

#define FLAG_CLEAN 1u

_Static_assert(AT_LAYOUT + FIRN_LAYOUT_TEXT_MAX <= AT_CHECK, "a layout's text fits a slot");

static void
put(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t
get(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/*
 * CRC-64/XZ (ECMA-182 polynomial, reflected): finds every burst up to 64 bits, which is what
 * torn 8-byte writes leave. A few hundred bytes a few times a second need no table.
 */
static uint64_t
check(const unsigned char *bytes, size_t size)
{
	uint64_t crc = UINT64_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (UINT64_C(0xC96C5795D7870F42) & (0 - (crc & 1)));
	}
	return ~crc;
}

void
firni_slot_encode(const struct firni_slot *slot, unsigned char bytes[FIRNI_SLOT_SIZE])
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};

	memset(bytes, 0, FIRNI_SLOT_SIZE);
	/* A layout that was opened prints: the buffer has room for any. */
	if (firn_layout_print(&slot->layout, text, sizeof(text)) != FIRN_OK)
		return;
	memcpy(bytes + AT_MAGIC, magic, sizeof(magic));
	put(bytes + AT_VERSION, FIRNI_SLOT_VERSION, 4);
	put(bytes + AT_FLAGS, slot->clean ? FLAG_CLEAN : 0, 4);
	put(bytes + AT_SEQUENCE, slot->sequence, 8);
	put(bytes + AT_MARK, slot->mark, 8);
	put(bytes + AT_NODE, slot->node, 8);
	put(bytes + AT_WRITTEN, (uint64_t)slot->written_ms, 8);
	put(bytes + AT_IDENTITY, slot->identity[0], 8);
	put(bytes + AT_IDENTITY + 8, slot->identity[1], 8);
	memcpy(bytes + AT_MACHINE, slot->machine, sizeof(slot->machine));
	memcpy(bytes + AT_BOOT, slot->boot, sizeof(slot->boot));
	put(bytes + AT_HORIZON, slot->horizon_ms, 4);
	memcpy(bytes + AT_LAYOUT, text, sizeof(text));
	put(bytes + AT_CHECK, check(bytes, AT_CHECK), 8);
}

int
firni_slot_decode(const unsigned char bytes[FIRNI_SLOT_SIZE], struct firni_slot *slot)
{
	struct firni_slot read = {0};
	char text[FIRN_LAYOUT_TEXT_MAX];

	if (memcmp(bytes + AT_MAGIC, magic, sizeof(magic)) != 0)
		return FIRN_E_STATE_DAMAGED;
	/* The check covers the version too: its place and kind are the same in every version. */
	if (get(bytes + AT_CHECK, 8) != check(bytes, AT_CHECK))
		return FIRN_E_STATE_DAMAGED;
	if (get(bytes + AT_VERSION, 4) != FIRNI_SLOT_VERSION)
		return FIRN_E_STATE_VERSION;
	memcpy(text, bytes + AT_LAYOUT, sizeof(text));
	if (text[sizeof(text) - 1] != '\0' || firn_layout_parse(text, &read.layout, NULL) != FIRN_OK)
		return FIRN_E_STATE_DAMAGED;
	read.sequence = get(bytes + AT_SEQUENCE, 8);
	read.mark = get(bytes + AT_MARK, 8);
	read.node = get(bytes + AT_NODE, 8);
	read.written_ms = (int64_t)get(bytes + AT_WRITTEN, 8);
	read.identity[0] = get(bytes + AT_IDENTITY, 8);
	read.identity[1] = get(bytes + AT_IDENTITY + 8, 8);
	memcpy(read.machine, bytes + AT_MACHINE, sizeof(read.machine));
	memcpy(read.boot, bytes + AT_BOOT, sizeof(read.boot));
	read.horizon_ms = (uint32_t)get(bytes + AT_HORIZON, 4);
	read.clean = (get(bytes + AT_FLAGS, 4) & FLAG_CLEAN) != 0;
	/* Hostile bytes with a right check: bound everything that is used in arithmetic. */
	uint64_t image;

	if (firn_layout_node_place(&read.layout, read.node, &image) != FIRN_OK ||
	    read.mark > UINT64_C(1) << (read.layout.time_bits + read.layout.seq_bits) ||
	    read.sequence == 0 || read.sequence >= UINT64_MAX / 2)
		return FIRN_E_STATE_DAMAGED;
	*slot = read;
	return FIRN_OK;
}

int
firni_slot_choose(const unsigned char bytes[FIRNI_SLOTS][FIRNI_SLOT_SIZE], struct firni_slot *slot,
                  int *valid)
{
	struct firni_slot read[FIRNI_SLOTS];
	int error[FIRNI_SLOTS];
	int count = 0;
	int newest = -1;

	for (int i = 0; i < FIRNI_SLOTS; i++) {
		error[i] = firni_slot_decode(bytes[i], &read[i]);
		if (error[i] == FIRN_E_STATE_VERSION)
			return FIRN_E_STATE_VERSION;
		if (error[i] != FIRN_OK)
			continue;
		/* A slot lies where its sequence says: a copy of one over the other is damage. */
		if (read[i].sequence % FIRNI_SLOTS != (uint64_t)i)
			return FIRN_E_STATE_DAMAGED;
		count++;
		if (newest < 0 || read[i].sequence > read[newest].sequence)
			newest = i;
	}
	if (newest < 0)
		return FIRN_E_STATE_DAMAGED;
	if (count == FIRNI_SLOTS) {
		const struct firni_slot *older = &read[1 - newest];

		if (older->node != read[newest].node ||
		    older->sequence + 1 != read[newest].sequence ||
		    !firn_layout_equal(&older->layout, &read[newest].layout))
			return FIRN_E_STATE_DAMAGED;
	}
	*slot = read[newest];
	*valid = count;
	return FIRN_OK;
}
