/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Times as words: where ticks begin and end, how far spans reach. Pure; nothing wraps. */
#ifndef FIRNI_GEN_WORDS_H
#define FIRNI_GEN_WORDS_H

#include <stdint.h>

#include <firn/layout.h>

/* One past the layout's last word: the limit of limits. */
uint64_t firni_words_all(const struct firn_layout *layout);

/* The word at which a tick begins, at most one past the layout's last. */
uint64_t firni_words_at(const struct firn_layout *layout, uint64_t tick);

/* One past the last word of the tick that a time lies in; 0 before the epoch, all words past the end. */
uint64_t firni_words_after(const struct firn_layout *layout, int64_t unix_ms);

/* First word past the lead bound, counted from the clock's own tick; never more than all words. */
uint64_t firni_words_lead(const struct firn_layout *layout, uint32_t lead_ms_max);

/* The tick of a time, however late; 0 before the epoch. */
uint64_t firni_words_tick(const struct firn_layout *layout, int64_t unix_ms);

/* How many ticks cover a span. */
uint64_t firni_words_ticks(const struct firn_layout *layout, uint64_t ms);

#endif
