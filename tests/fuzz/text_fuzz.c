/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ID's text: refused, or the same when written again. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <firn.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Crockford's own rule: case and look-alikes fold. */
static int
same(enum firn_text_form form, char written, char read)
{
	if (form != FIRN_TEXT_BASE32)
		return written == read;
	read = (char)toupper((unsigned char)read);
	return written == (read == 'O' ? '0' : read == 'I' || read == 'L' ? '1' : read);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly that size, so that a read beyond it is seen. */
	char *text = malloc(size + (size == 0));

	memcpy(text, data, size);
	for (int form = 0; form < FIRN_TEXT_FORMS; form++) {
		char written[FIRN_TEXT_MAX];
		uint64_t id = 77;
		int error = firn_text_read((enum firn_text_form)form, text, size, &id);

		if (error != FIRN_OK) {
			if (id != 77)
				abort();
			continue;
		}
		if (firn_text_write((enum firn_text_form)form, id, written) != (int)size)
			abort();
		for (size_t i = 0; i < size; i++)
			if (!same((enum firn_text_form)form, written[i], text[i]))
				abort();
	}
	free(text);
	return 0;
}
