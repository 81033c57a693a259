/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text (RFC 3339), without the host's zone or its locale. */
#ifndef FIRNI_LAYOUT_TIME_H
#define FIRNI_LAYOUT_TIME_H

#include <stddef.h>
#include <stdint.h>

#define FIRNI_TIME_TEXT_MAX 40

/* The years 0000 to 9999, which is what RFC 3339 can say. */
#define FIRNI_TIME_MIN_MS (-INT64_C(62167219200000))
#define FIRNI_TIME_MAX_MS INT64_C(253402300799999)

/*
 * Write unix_ms in UTC, such as 2026-01-01T00:00:00Z; milliseconds always, or only if they
 * are not 0. Years past 9999 are written with more digits, years before 0000 with a minus;
 * those two are for reading by people, firni_time_read takes neither. Returns the length.
 */
int firni_time_write(int64_t unix_ms, int always_ms, char text[FIRNI_TIME_TEXT_MAX]);

/*
 * Read length bytes: a date, T or a blank, a time with up to three digits of fraction, and
 * a zone, Z or an offset. A time without a zone means different instants on different hosts
 * and is refused. 0, or -1 with *offset at the offending character and *why set.
 */
int firni_time_read(const char *text, size_t length, int64_t *unix_ms, size_t *offset,
                    const char **why);

#endif
