/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The process's open generators whose words lie in memory: no two that could make the same ID. */
#ifndef FIRNI_GEN_OPEN_LIST_H
#define FIRNI_GEN_OPEN_LIST_H

struct firn_gen;

/* Put it on the list. 0, FIRN_E_NODE_OPEN or FIRN_E_NO_MEMORY. Takes a lock for a moment, as leaving does. */
int firni_open_list_enter(struct firn_gen *gen);

/* It is closed. Nothing for one that is not on the list. */
void firni_open_list_leave(struct firn_gen *gen);

/* It is sealed and will repeat nobody: its node may be opened anew. Takes no lock. */
void firni_open_list_seal(struct firn_gen *gen);

#endif
