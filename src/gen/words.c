/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Times as words: where ticks begin and end, how far spans reach. */
#include "gen/words.h"

#include <firn/error.h>

uint64_t
firni_words_all(const struct firn_layout *layout)
{
	return UINT64_C(1) << (layout->time_bits + layout->seq_bits);
}

uint64_t
firni_words_at(const struct firn_layout *layout, uint64_t tick)
{
	return tick >> layout->time_bits != 0 ? firni_words_all(layout) : tick << layout->seq_bits;
}

uint64_t
firni_words_after(const struct firn_layout *layout, int64_t unix_ms)
{
	uint64_t tick;

	switch (firn_layout_tick(layout, unix_ms, &tick)) {
	case FIRN_OK:
		return firni_words_at(layout, tick + 1);
	case FIRN_E_BEFORE_EPOCH:
		return 0;
	default:
		return firni_words_all(layout);
	}
}

uint64_t
firni_words_lead(const struct firn_layout *layout, uint32_t lead_ms_max)
{
	return firni_words_at(layout, (uint64_t)lead_ms_max / layout->tick_ms + 1);
}

uint64_t
firni_words_tick(const struct firn_layout *layout, int64_t unix_ms)
{
	if (unix_ms < layout->epoch_ms)
		return 0;
	return ((uint64_t)unix_ms - (uint64_t)layout->epoch_ms) / layout->tick_ms;
}

uint64_t
firni_words_ticks(const struct firn_layout *layout, uint64_t ms)
{
	return (ms + layout->tick_ms - 1) / layout->tick_ms;
}
