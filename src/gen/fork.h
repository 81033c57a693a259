/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The fork guard: a word that reads 0 in every child that has a copy of this process's memory. */
#ifndef FIRNI_GEN_FORK_H
#define FIRNI_GEN_FORK_H

#include <stdint.h>

/*
 * A word that is nonzero here and 0 in a child: it lies in a page that the kernel wipes on
 * fork (MADV_WIPEONFORK, Linux 4.14), whichever call made the child: fork, raw clone, or a
 * libc that skips its atfork handlers. A vfork child shares the parent's memory and so its
 * words: it issues from the parent's and nothing is doubled. One page a process, made at
 * first use, never freed. Returns 0, FIRN_E_UNSUPPORTED or FIRN_E_NO_MEMORY.
 */
int firni_fork_guard(const volatile uint64_t **alive);

/* A guard that never trips, for words that a child shares for real. */
const volatile uint64_t *firni_fork_no_guard(void);

#endif
