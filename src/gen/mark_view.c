/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* State files from outside: read one without changing it, adopt one from another machine. */
#include <firn/state.h>

#include <stddef.h>
#include <string.h>

#include <firn/clock.h>
#include <firn/error.h>

#include "gen/host.h"
#include "gen/mark_file.h"
#include "gen/mark_memory.h"

static void
fill_info(const struct firni_file *file, const struct firni_slot *slot, int valid, struct firn_state_info *info)
{
	uint8_t here[16];

	memset(info, 0, sizeof(*info));
	info->layout = slot->layout;
	info->node = slot->node;
	info->mark = slot->mark;
	info->mark_ms = (int64_t)((uint64_t)slot->layout.epoch_ms +
	                          (slot->mark >> slot->layout.seq_bits) * slot->layout.tick_ms);
	info->sequence = slot->sequence;
	info->written_ms = slot->written_ms;
	info->slots_valid = valid;
	info->version = FIRNI_SLOT_VERSION;
	firni_host_machine(here);
	info->same_machine = firni_host_maybe_same(here, slot->machine);
	firni_host_boot(here);
	info->same_boot = firni_host_maybe_same(here, slot->boot);
	info->in_use = firni_file_is_locked(file, FIRNI_LOCK_LIFE);
	info->users = info->in_use ? firni_memory_users(slot->identity) : 0;
	info->clean = slot->clean && !info->in_use;
}

int
firn_state_read(const char *path, struct firn_state_info *info)
{
	struct firni_file file;
	struct firni_slot slot;
	int valid;

	if (path == NULL || info == NULL)
		return FIRN_E_INVALID;
	int error = firni_file_open(path, NULL, 0, &file);

	if (error != FIRN_OK)
		return error;
	error = firni_file_read(&file, &slot, &valid);
	if (error == FIRN_OK) {
		fill_info(&file, &slot, valid, info);
		if (!info->same_machine)
			error = FIRN_E_STATE_MACHINE;
	}
	firni_file_close(&file);
	return error;
}

static int
adopt(const struct firni_file *file, uint32_t margin_ms)
{
	struct firni_slot slot;
	struct firni_slot next;
	int64_t now_ms;
	uint64_t tick = 0;
	int valid;
	int error = firni_file_read(file, &slot, &valid);

	if (error != FIRN_OK)
		return error;
	if (firn_clock_read(firn_clock_default(), &now_ms) != FIRN_OK)
		return FIRN_E_CLOCK;
	if (firn_layout_tick(&slot.layout, now_ms, &tick) == FIRN_E_TIME_OVER)
		return FIRN_E_TIME_OVER;
	uint64_t margin = ((uint64_t)margin_ms + slot.layout.tick_ms - 1) / slot.layout.tick_ms;
	uint64_t words = UINT64_C(1) << (slot.layout.time_bits + slot.layout.seq_bits);
	uint64_t mark_tick = (slot.mark + (UINT64_C(1) << slot.layout.seq_bits) - 1) >> slot.layout.seq_bits;
	uint64_t start = (mark_tick > tick ? mark_tick : tick) + margin + 1;

	next = slot;
	next.sequence++;
	next.clean = 0;
	next.written_ms = now_ms;
	next.mark = start >= words >> slot.layout.seq_bits ? words : start << slot.layout.seq_bits;
	firni_host_machine(next.machine);
	firni_host_boot(next.boot);
	error = firni_file_write(file, &slot);
	return error != FIRN_OK ? error : firni_file_write(file, &next);
}

int
firn_state_adopt(const char *path, uint32_t margin_ms)
{
	struct firni_file file;

	if (path == NULL)
		return FIRN_E_INVALID;
	int error = firni_file_open(path, NULL, 1, &file);

	if (error != FIRN_OK)
		return error;
	error = firni_file_lock(&file, FIRNI_LOCK_ROLE, 1, 5000);
	if (error == FIRN_OK)
		error = firni_file_lock(&file, FIRNI_LOCK_LIFE, 1, 0);
	if (error == FIRN_OK)
		error = adopt(&file, margin_ms);
	firni_file_close(&file);
	return error;
}
