/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a state file's slots: refused, or bounded and the same when written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <firn.h>

#include "gen/mark_slot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A right checksum, as a hostile writer would make: else nothing past it is ever reached. */
static void
mend(unsigned char bytes[FIRNI_SLOT_SIZE])
{
	uint64_t crc = UINT64_MAX;

	memcpy(bytes, "firnmark\1\0\0", 12);
	for (size_t i = 0; i < FIRNI_SLOT_SIZE - 8; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ UINT64_C(0xC96C5795D7870F42) : crc >> 1;
	}
	crc = ~crc;
	for (int i = 0; i < 8; i++)
		bytes[FIRNI_SLOT_SIZE - 8 + i] = (unsigned char)(crc >> 8 * i);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char layout[] = "time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms";
	unsigned char bytes[FIRNI_SLOTS][FIRNI_SLOT_SIZE];
	unsigned char again[FIRNI_SLOT_SIZE];
	struct firni_slot slot;
	struct firni_slot twin;
	int valid = 0;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
	if (size > 0 && data[0] % 2 == 1)
		for (int i = 0; i < FIRNI_SLOTS; i++) {
			if (data[0] % 4 == 1) {
				memset(bytes[i] + 104, 0, FIRN_LAYOUT_TEXT_MAX);
				memcpy(bytes[i] + 104, layout, sizeof(layout));
			}
			mend(bytes[i]);
		}
	if (firni_slot_choose((const unsigned char(*)[FIRNI_SLOT_SIZE])bytes, &slot, &valid) != FIRN_OK)
		return 0;
	if (valid < 1 || valid > FIRNI_SLOTS || slot.node >= firn_layout_nodes(&slot.layout))
		abort();
	firni_slot_encode(&slot, again);
	if (firni_slot_decode(again, &twin) != FIRN_OK || twin.mark != slot.mark || twin.node != slot.node ||
	    twin.sequence != slot.sequence || !firn_layout_equal(&twin.layout, &slot.layout))
		abort();
	return 0;
}
