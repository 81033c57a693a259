/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Exact checks over many IDs: rising, unique, and that the checks themselves can fail. */
#ifndef FIRN_TESTS_ID_CHECK_H
#define FIRN_TESTS_ID_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* Index of the first ID that is not above the one before it, or count if all rise. */
size_t id_first_not_rising(const uint64_t id[], size_t count);

/*
 * The number of IDs that stand more than once, by an exact sort; *example is one of them.
 * Reorders id[]. SIZE_MAX if there is no memory for it.
 */
size_t id_duplicates(uint64_t id[], size_t count, uint64_t *example);

/* 0 if planted faults (a repeat, a swap) are found and a sound list passes; else 1 after a message. */
int id_check_selftest(void);

#endif
