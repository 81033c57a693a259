/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Every macro of the public headers in use, in the common part of C11 and C++11. Compiled, not run. */
#include <firn.h>
#include <firn/inline.h>

static const struct firn_shape shape = FIRN_INLINE_SHAPE(1767225600000, 1, 41, 10, 12);
static const struct firn_shape longest = FIRN_INLINE_SHAPE(0, 10, 62, 0, 1);
static const struct firn_clock_config clock_config = FIRN_CLOCK_CONFIG_INIT;
static const struct firn_gen_config gen_config = FIRN_GEN_CONFIG_INIT;

#define NAME(name, number, cls, code, text) code,
static const char *const codes[] = {FIRN_ERRORS(NAME)};
#undef NAME

int headers_use(struct firn_gen *gen, uint64_t id[8]);

int
headers_use(struct firn_gen *gen, uint64_t id[8])
{
	char text[FIRN_TEXT_MAX];
	char layout[FIRN_LAYOUT_TEXT_MAX];

	if (firn_inline_check(gen, &shape) != FIRN_OK || firn_inline_check(gen, &longest) != FIRN_OK)
		return FIRN_E_LAYOUT;
	if (firn_layout_print(firn_gen_layout(gen), layout, sizeof(layout)) != FIRN_OK)
		return FIRN_E_INVALID;
	if (clock_config.kind != FIRN_CLOCK_REALTIME || gen_config.start_after_ms != FIRN_NO_TIME)
		return FIRN_E_INVALID;
	if (codes[0] != firn_error_code(FIRN_E_INVALID) || firn_inline_next(gen, &shape, id) != FIRN_OK)
		return FIRN_E_LAST;
	if (firn_text_write(FIRN_TEXT_DECIMAL, id[0], text) < 0)
		return FIRN_E_RANGE;
	return firn_inline_next_n(gen, &shape, id, 8);
}
