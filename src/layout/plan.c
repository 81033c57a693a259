/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What planners ask of a layout: when it ends, how much it makes, what looks wrong with it. */
#include <firn/layout.h>

#include <stddef.h>

#include <firn/error.h>

int
firn_layout_tick(const struct firn_layout *layout, int64_t unix_ms, uint64_t *tick)
{
	if (layout == NULL || tick == NULL)
		return FIRN_E_INVALID;
	if (unix_ms < layout->epoch_ms)
		return FIRN_E_BEFORE_EPOCH;
	uint64_t at = ((uint64_t)unix_ms - (uint64_t)layout->epoch_ms) / layout->tick_ms;

	if (at >> layout->time_bits != 0)
		return FIRN_E_TIME_OVER;
	*tick = at;
	return FIRN_OK;
}

/* Milliseconds from the epoch to the end of the last tick, saturated. */
static uint64_t
span_ms(const struct firn_layout *layout)
{
	uint64_t ticks = UINT64_C(1) << layout->time_bits;

	return ticks > UINT64_MAX / layout->tick_ms ? UINT64_MAX : ticks * layout->tick_ms;
}

int64_t
firn_layout_last_ms(const struct firn_layout *layout)
{
	uint64_t span = span_ms(layout) - 1;
	uint64_t room = (uint64_t)INT64_MAX - (uint64_t)layout->epoch_ms;

	/* With an epoch before 1970 the room itself is past INT64_MAX: the sum below still fits. */
	if (span > room)
		return INT64_MAX;
	return (int64_t)((uint64_t)layout->epoch_ms + span);
}

uint64_t
firn_layout_life_ms(const struct firn_layout *layout, int64_t unix_ms)
{
	uint64_t span = span_ms(layout);

	if (unix_ms < layout->epoch_ms)
		return span;
	uint64_t since = (uint64_t)unix_ms - (uint64_t)layout->epoch_ms;

	return since < span ? span - since : 0;
}

uint64_t
firn_layout_ids_per_tick(const struct firn_layout *layout)
{
	return UINT64_C(1) << layout->seq_bits;
}

double
firn_layout_ids_per_second(const struct firn_layout *layout)
{
	return (double)firn_layout_ids_per_tick(layout) * 1000.0 / layout->tick_ms;
}

uint64_t
firn_layout_nodes(const struct firn_layout *layout)
{
	return UINT64_C(1) << layout->node_bits;
}

const char *
firn_layout_warning(const struct firn_layout *layout, int64_t unix_ms, size_t index)
{
	const uint64_t year_ms = UINT64_C(31556952000);
	uint64_t life = firn_layout_life_ms(layout, unix_ms);
	const char *found[5];
	size_t count = 0;

	if (layout->epoch_ms > 0 && layout->epoch_ms < INT64_C(31) * 86400000)
		found[count++] =
			"the epoch lies in January 1970 but is not 0: were seconds given for milliseconds?";
	if (unix_ms < layout->epoch_ms)
		found[count++] = "the epoch lies in the future: no ID can be made before it";
	if (life == 0)
		found[count++] = "the layout's time is over: no ID can be made any more";
	else if (life < 10 * year_ms)
		found[count++] = "the layout lasts less than ten years from now";
	if (layout->node_bits == 0)
		found[count++] = "the layout has no node field: only one generator in all may use it";
	return index < count ? found[index] : NULL;
}
