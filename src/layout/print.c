/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a layout's canonical text, and what follows from it: equality and the fingerprint. */
#include <firn/layout.h>

#include <stdio.h>
#include <string.h>

#include <firn/error.h>

#include "layout/time.h"

_Static_assert(FIRN_LAYOUT_FIELDS_MAX * (FIRN_LAYOUT_NAME_MAX + 4) + FIRNI_TIME_TEXT_MAX + 32 <=
                       FIRN_LAYOUT_TEXT_MAX,
               "every layout's text fits");

int
firn_layout_print(const struct firn_layout *layout, char *text, size_t size)
{
	char line[FIRN_LAYOUT_TEXT_MAX];
	char epoch[FIRNI_TIME_TEXT_MAX];
	size_t at = 0;

	if (layout == NULL || text == NULL || layout->field_count > FIRN_LAYOUT_FIELDS_MAX)
		return FIRN_E_INVALID;
	for (unsigned i = 0; i < layout->field_count; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%.*s:%u ", FIRN_LAYOUT_NAME_MAX,
		                       layout->field[i].name, layout->field[i].bits);
	(void)firni_time_write(layout->epoch_ms, 0, epoch);
	int whole_seconds = layout->tick_ms % 1000 == 0;

	at += (size_t)snprintf(line + at, sizeof(line) - at, "epoch=%s tick=%u%s", epoch,
	                       whole_seconds ? layout->tick_ms / 1000 : layout->tick_ms,
	                       whole_seconds ? "s" : "ms");
	if (at >= size)
		return FIRN_E_INVALID;
	memcpy(text, line, at + 1);
	return FIRN_OK;
}

int
firn_layout_equal(const struct firn_layout *a, const struct firn_layout *b)
{
	if (a->epoch_ms != b->epoch_ms || a->tick_ms != b->tick_ms || a->field_count != b->field_count)
		return 0;
	for (unsigned i = 0; i < a->field_count; i++)
		if (a->field[i].bits != b->field[i].bits || strcmp(a->field[i].name, b->field[i].name) != 0)
			return 0;
	return 1;
}

uint64_t
firn_layout_fingerprint(const struct firn_layout *layout)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};
	uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a, 64 bits (RFC 9923) */

	if (firn_layout_print(layout, text, sizeof(text)) != FIRN_OK)
		return 0;
	for (const char *c = text; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
	return hash;
}
