/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The one validator of layouts: every layout comes through here. */
#include <firn/layout.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <firn/error.h>

#include "layout/complain.h"
#include "layout/time.h"

int
firni_layout_complain(struct firn_layout_error *error, size_t offset, size_t length,
                      const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return FIRN_E_LAYOUT;
	error->offset = offset;
	error->length = length;
	va_start(arguments, format);
	(void)vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return FIRN_E_LAYOUT;
}

size_t
firni_layout_name_span(const char *name, size_t length)
{
	size_t i = 0;

	while (i < length && ((name[i] >= 'a' && name[i] <= 'z') ||
	                      (i > 0 && ((name[i] >= '0' && name[i] <= '9') || name[i] == '_'))))
		i++;
	return i;
}

static int
is_name(const char *name)
{
	size_t length = strnlen(name, FIRN_LAYOUT_NAME_MAX + 1);

	return length > 0 && length <= FIRN_LAYOUT_NAME_MAX &&
	       firni_layout_name_span(name, length) == length;
}

/* As a field, "tick:10" would cost ten bits of node where a tick of 10 ms was meant. */
static int
is_setting(const char *name)
{
	return strcmp(name, "epoch") == 0 || strcmp(name, "tick") == 0;
}

static int
check_field(const struct firn_field field[], size_t index, struct firn_layout_error *error)
{
	const struct firn_field *f = &field[index];
	int is_sequence;

	/* Offsets count fields here; the parser turns them into characters. */
	if (!is_name(f->name))
		return firni_layout_complain(error, index, 1,
		                             "a field's name is 1 to %d of a-z, 0-9 and _, a letter first",
		                             FIRN_LAYOUT_NAME_MAX);
	if (is_setting(f->name))
		return firni_layout_complain(error, index, 1,
		                             "'%s' is a setting, not a field: write %s=", f->name, f->name);
	for (size_t i = 0; i < index; i++)
		if (strcmp(field[i].name, f->name) == 0)
			return firni_layout_complain(error, index, 1, "field '%s' stands twice", f->name);
	is_sequence = strcmp(f->name, "sequence") == 0;
	if ((strcmp(f->name, "time") == 0) != (index == 0))
		return firni_layout_complain(error, index, 1,
		                             "'time' must be the first field: only then IDs sort by time");
	if (f->bits > FIRN_LAYOUT_BITS_MAX || (f->bits == 0 && !is_sequence))
		return firni_layout_complain(
			error, index, 1, is_sequence ? "'%s' needs 0 to %d bits" : "'%s' needs 1 to %d bits",
			f->name, FIRN_LAYOUT_BITS_MAX);
	return FIRN_OK;
}

int
firn_layout_make(int64_t epoch_ms, uint32_t tick_ms, const struct firn_field field[],
                 size_t field_count, struct firn_layout *layout, struct firn_layout_error *error)
{
	struct firn_layout made;
	unsigned total = 0;
	int sequences = 0;

	memset(&made, 0, sizeof(made));
	if (layout == NULL || field == NULL || field_count == 0)
		return firni_layout_complain(error, 0, 1, "a layout needs a time field and a sequence");
	if (field_count > FIRN_LAYOUT_FIELDS_MAX)
		return firni_layout_complain(error, FIRN_LAYOUT_FIELDS_MAX, 1,
		                             "a layout has at most %d fields", FIRN_LAYOUT_FIELDS_MAX);
	if (tick_ms < 1 || tick_ms > FIRN_LAYOUT_TICK_MS_MAX)
		return firni_layout_complain(error, field_count, 0, "a tick lasts 1 to %u ms",
		                             FIRN_LAYOUT_TICK_MS_MAX);
	if (epoch_ms < FIRNI_TIME_MIN_MS || epoch_ms > FIRNI_TIME_MAX_MS)
		return firni_layout_complain(error, field_count, 0,
		                             "the epoch must lie in the years 0000 to 9999");
	for (size_t i = 0; i < field_count; i++) {
		int refused = check_field(field, i, error);

		if (refused != FIRN_OK)
			return refused;
		total += field[i].bits;
		if (total > FIRN_LAYOUT_BITS_MAX)
			return firni_layout_complain(error, i, 1, "the fields need %u bits; an ID has %d",
			                             total, FIRN_LAYOUT_BITS_MAX);
		(void)strcpy(made.field[i].name, field[i].name);
		made.field[i].bits = field[i].bits;
	}
	made.epoch_ms = epoch_ms;
	made.tick_ms = tick_ms;
	made.field_count = (uint8_t)field_count;
	made.total_bits = (uint8_t)total;
	for (size_t i = 0; i < field_count; i++) {
		struct firn_field *f = &made.field[i];

		total -= f->bits;
		f->shift = (uint8_t)total;
		if (i == 0) {
			made.time_bits = f->bits;
			made.time_shift = f->shift;
		} else if (strcmp(f->name, "sequence") == 0) {
			sequences++;
			made.seq_bits = f->bits;
			made.seq_shift = f->shift;
		} else {
			made.node_bits = (uint8_t)(made.node_bits + f->bits);
		}
	}
	if (sequences != 1)
		return firni_layout_complain(
			error, field_count, 0,
			"a layout needs a 'sequence' field (of 0 bits if IDs are one a tick)");
	*layout = made;
	return FIRN_OK;
}
