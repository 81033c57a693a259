/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The mark: how a state file keeps a node's word above everything issued, whoever dies when. */
#ifndef FIRNI_GEN_MARK_H
#define FIRNI_GEN_MARK_H

#include <stdint.h>

#include <firn/detail/gen.h>
#include <firn/gen.h>

/*
 * The protocol (docs/state-file.md has it with its proof; tests/model/state_file.pml checks it).
 *
 *  M1  An ID is issued only below the limit, and the limit rises to a mark only after a slot
 *      with that mark is durable.
 *  M2  New memory starts at the newest mark, and only while nobody has the old memory (LIFE).
 *  M3  A slot is overwritten only when the other slot is durable.
 *  M4  A mark is written only by one writer at a time (ROLE), over the slot that was written
 *      for the very memory that the writer has (identity): a chain, so that a process which
 *      lost its locks is found out and seals itself.
 *  M5  A mark falls only in the slot that says clean, after the word is sealed.
 */

/* Open or make the file, join or make its memory. Fills gen->state, gen->mark; config is checked. */
int firni_mark_open(struct firn_gen *gen, const struct firn_gen_config *config, int64_t now_ms);

/* Write the mark ahead if due. Blocks. *due_ms is how long the next call may wait. */
int firni_mark_renew(struct firn_gen *gen, uint32_t *due_ms);

/* Leave: the last user writes the clean mark. Frees gen->mark in every case. */
int firni_mark_close(struct firn_gen *gen);

#endif
