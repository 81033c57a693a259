/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a vector file: refused with a message, or usable. */
#include <stdint.h>
#include <stdio.h>

#include "conform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int quiet;

	if (!quiet) {
		quiet = 1;
		if (freopen("/dev/null", "w", stderr) == NULL)
			return 0;
	}
	json_decref(vectors_parse((const char *)data, size, "input"));
	return 0;
}
