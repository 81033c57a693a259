/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The shared part of a generator: laying it out in memory, sealing it, counting in it. */
#ifndef FIRNI_GEN_STATE_H
#define FIRNI_GEN_STATE_H

#include <stdint.h>

#include <firn/detail/gen.h>

/* The format tag: its low byte is the version. Bumped when struct firni_state changes. */
#define FIRNI_STATE_MAGIC UINT64_C(0x6669726e73743032)

/* Fill zeroed memory: nothing at or above limit can be issued, nothing below start. */
void firni_state_init(struct firni_state *state, const struct firn_layout *layout, uint64_t node,
                      uint64_t start, uint64_t limit, enum firni_gate gate);

/* Seal the word and keep where it ended. Returns firni_state_word as it is from now on. */
uint64_t firni_state_seal(struct firni_state *state);

/* Everything issued or burnt is below it: the word, or where it ended if it is sealed. */
uint64_t firni_state_end(const struct firni_state *state);

/* Everything issued is below it, and nothing below it will be: the end, or what was observed. At most the limit. */
uint64_t firni_state_word(const struct firni_state *state);

int firni_state_is_sealed(const struct firni_state *state);

/* Add to a counter. Any thread, any signal handler. */
void firni_state_count(struct firni_state *state, enum firni_tally tally, uint64_t amount);

uint64_t firni_state_total(const struct firni_state *state, enum firni_tally tally);

#endif
