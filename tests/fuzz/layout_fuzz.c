/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a layout text parses and prints back to itself, or says where and why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <firn/error.h>
#include <firn/layout.h>

#define HOLDS(claim) \
	do { \
		if (!(claim)) \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
refused(const char *text, const struct firn_layout *layout, const struct firn_layout_error *error)
{
	static const struct firn_layout untouched;
	size_t length = strlen(text);

	HOLDS(memcmp(layout, &untouched, sizeof(untouched)) == 0);
	HOLDS(error->offset <= length);
	HOLDS(error->length <= length - error->offset);
	HOLDS(error->length > 0 || error->offset == length);
	HOLDS(memchr(error->message, '\0', sizeof(error->message)) != NULL);
	HOLDS(error->message[0] != '\0');
}

static void
accepted(const struct firn_layout *layout)
{
	struct firn_layout again;
	struct firn_parts parts;
	char text[FIRN_LAYOUT_TEXT_MAX];
	char same[FIRN_LAYOUT_TEXT_MAX];
	uint64_t all = UINT64_MAX >> (64 - layout->total_bits);
	uint64_t id = 0;

	HOLDS(firn_layout_print(layout, text, sizeof(text)) == FIRN_OK);
	HOLDS(firn_layout_parse(text, &again, NULL) == FIRN_OK);
	HOLDS(firn_layout_equal(layout, &again));
	HOLDS(firn_layout_print(&again, same, sizeof(same)) == FIRN_OK);
	HOLDS(strcmp(text, same) == 0);
	HOLDS(firn_layout_fingerprint(layout) == firn_layout_fingerprint(&again));
	HOLDS(firn_layout_make(layout->epoch_ms, layout->tick_ms, layout->field, layout->field_count,
	                       &again, NULL) == FIRN_OK);
	HOLDS(firn_layout_equal(layout, &again));

	HOLDS(layout->time_bits + layout->seq_bits + layout->node_bits == layout->total_bits);
	HOLDS(firn_layout_split(layout, all, &parts) == FIRN_OK);
	HOLDS(firn_layout_compose(layout, parts.tick, parts.node, parts.sequence, &id) == FIRN_OK &&
	      id == all);
	HOLDS(firn_layout_split(layout, all + 1, &parts) == FIRN_E_RANGE);
	HOLDS(parts.time_ms <= firn_layout_last_ms(layout));
	HOLDS(firn_layout_life_ms(layout, firn_layout_last_ms(layout)) > 0);
	for (size_t i = 0; firn_layout_warning(layout, layout->epoch_ms, i) != NULL; i++)
		HOLDS(i < 8);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct firn_layout layout;
	struct firn_layout_error error;
	/* A copy of its own size lets the sanitizer see a read past the NUL. */
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	memset(&layout, 0, sizeof(layout));
	memset(&error, 0xFF, sizeof(error));
	if (firn_layout_parse(text, &layout, &error) == FIRN_OK)
		accepted(&layout);
	else
		refused(text, &layout, &error);
	free(text);
	return 0;
}
