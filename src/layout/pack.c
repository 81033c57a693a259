/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Values to IDs and back. Nothing is masked: a value that does not fit is refused. */
#include <firn/layout.h>

#include <stddef.h>

#include <firn/error.h>

static int
is_time(const struct firn_layout *layout, const struct firn_field *field)
{
	return field == &layout->field[0];
}

/* By place and width: a sequence of 0 bits shares its shift with the wider field above it. */
static int
is_sequence(const struct firn_layout *layout, const struct firn_field *field)
{
	return field->shift == layout->seq_shift && field->bits == layout->seq_bits;
}

static int
is_node(const struct firn_layout *layout, const struct firn_field *field)
{
	return !is_time(layout, field) && !is_sequence(layout, field);
}

static int
fits(uint64_t value, unsigned bits)
{
	return value >> bits == 0; /* bits is at most 63 */
}

int
firn_layout_pack(const struct firn_layout *layout, const uint64_t value[], uint64_t *id)
{
	uint64_t packed = 0;

	if (layout == NULL || value == NULL || id == NULL)
		return FIRN_E_INVALID;
	for (unsigned i = 0; i < layout->field_count; i++) {
		const struct firn_field *field = &layout->field[i];

		if (!fits(value[i], field->bits))
			return is_time(layout, field)       ? FIRN_E_TIME_OVER
			       : is_sequence(layout, field) ? FIRN_E_INVALID
			                                    : FIRN_E_NODE;
		packed |= value[i] << field->shift;
	}
	*id = packed;
	return FIRN_OK;
}

int
firn_layout_node_join(const struct firn_layout *layout, const uint64_t value[], uint64_t *node)
{
	uint64_t joined = 0;
	unsigned next = 0;

	if (layout == NULL || node == NULL)
		return FIRN_E_INVALID;
	for (unsigned i = 0; i < layout->field_count; i++) {
		const struct firn_field *field = &layout->field[i];

		if (!is_node(layout, field))
			continue;
		if (!fits(value[next], field->bits))
			return FIRN_E_NODE;
		joined = joined << field->bits | value[next++];
	}
	*node = joined;
	return FIRN_OK;
}

int
firn_layout_node_split(const struct firn_layout *layout, uint64_t node, uint64_t value[])
{
	unsigned left;
	unsigned next = 0;

	if (layout == NULL || value == NULL)
		return FIRN_E_INVALID;
	left = layout->node_bits;
	if (!fits(node, left))
		return FIRN_E_NODE;
	for (unsigned i = 0; i < layout->field_count; i++) {
		const struct firn_field *field = &layout->field[i];

		if (!is_node(layout, field))
			continue;
		left -= field->bits;
		value[next++] = node >> left & ((UINT64_C(1) << field->bits) - 1);
	}
	return FIRN_OK;
}

int
firn_layout_compose(const struct firn_layout *layout, uint64_t tick, uint64_t node,
                    uint64_t sequence, uint64_t *id)
{
	uint64_t part[FIRN_LAYOUT_FIELDS_MAX];
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX];
	unsigned next = 0;

	if (layout == NULL || id == NULL)
		return FIRN_E_INVALID;
	int error = firn_layout_node_split(layout, node, part);

	if (error != FIRN_OK)
		return error;
	for (unsigned i = 0; i < layout->field_count; i++) {
		const struct firn_field *field = &layout->field[i];

		value[i] = is_time(layout, field)       ? tick
		           : is_sequence(layout, field) ? sequence
		                                        : part[next++];
	}
	return firn_layout_pack(layout, value, id);
}

int
firn_layout_node_place(const struct firn_layout *layout, uint64_t node, uint64_t *image)
{
	return firn_layout_compose(layout, 0, node, 0, image);
}

int
firn_layout_split(const struct firn_layout *layout, uint64_t id, struct firn_parts *parts)
{
	uint64_t part[FIRN_LAYOUT_FIELDS_MAX];
	struct firn_parts split = {0};
	unsigned next = 0;

	if (layout == NULL || parts == NULL)
		return FIRN_E_INVALID;
	if (!fits(id, layout->total_bits))
		return FIRN_E_RANGE;
	for (unsigned i = 0; i < layout->field_count; i++) {
		const struct firn_field *field = &layout->field[i];
		uint64_t value = id >> field->shift & ((UINT64_C(1) << field->bits) - 1);

		split.value[i] = value;
		if (is_time(layout, field))
			split.tick = value;
		else if (is_sequence(layout, field))
			split.sequence = value;
		else
			part[next++] = value;
	}
	int error = firn_layout_node_join(layout, part, &split.node);

	if (error != FIRN_OK)
		return error;
	/* Saturated: a layout may have ticks that no 64-bit millisecond reaches. */
	uint64_t room = (uint64_t)INT64_MAX - (uint64_t)layout->epoch_ms;

	split.time_ms = split.tick <= room / layout->tick_ms
	                    ? (int64_t)((uint64_t)layout->epoch_ms + split.tick * layout->tick_ms)
	                    : INT64_MAX;
	*parts = split;
	return FIRN_OK;
}
