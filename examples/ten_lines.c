/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The README's example: a generator of node 7, one ID. */
#include <firn.h>
#include <stdio.h>

int
main(void)
{
	struct firn_layout layout;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_gen *gen;
	uint64_t id;
	int error = firn_layout_parse("default", &layout, NULL);

	config.layout = &layout;
	config.node = 7;
	if (error == FIRN_OK && (error = firn_gen_open(&config, &gen)) == FIRN_OK) {
		if ((error = firn_gen_next_wait(gen, 10, &id)) == FIRN_OK)
			printf("%llu\n", (unsigned long long)id);
		(void)firn_gen_close(gen);
	}
	if (error != FIRN_OK)
		fprintf(stderr, "%s\n", firn_error_text(error));
	return error != FIRN_OK;
}
