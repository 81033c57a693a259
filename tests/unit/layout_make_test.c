/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The validator: every rule of a layout, as a caller without a text meets it. */
#include <criterion/criterion.h>

#include <stddef.h>
#include <string.h>

#include <firn/error.h>
#include <firn/layout.h>

#define EPOCH INT64_C(1767225600000)

static const struct firn_field plain[] = {{"time", 41, 0}, {"node", 10, 0}, {"sequence", 12, 0}};

/* Refused as stated, the layout untouched; also without an error to fill. */
static void
refuses(int64_t epoch_ms, uint32_t tick_ms, const struct firn_field field[], size_t count,
		size_t offset, size_t length, const char *part)
{
	struct firn_layout layout;
	struct firn_layout before;
	struct firn_layout_error error;

	memset(&layout, 0x5A, sizeof(layout));
	memcpy(&before, &layout, sizeof(before));
	memset(&error, 0xFF, sizeof(error));
	cr_assert_eq(firn_layout_make(epoch_ms, tick_ms, field, count, &layout, &error), FIRN_E_LAYOUT);
	cr_assert_eq(memcmp(&layout, &before, sizeof(layout)), 0, "a refusal wrote a layout");
	cr_assert_not_null(memchr(error.message, '\0', sizeof(error.message)));
	cr_assert_eq(error.offset, offset, "at %zu: %s", error.offset, error.message);
	cr_assert_eq(error.length, length, "length %zu: %s", error.length, error.message);
	cr_assert_not_null(strstr(error.message, part), "%s", error.message);
	cr_assert_eq(firn_layout_make(epoch_ms, tick_ms, field, count, &layout, NULL), FIRN_E_LAYOUT);
}

Test(layout_make, fills_the_derived_members)
{
	static const struct firn_field field[] = {
		{"time", 39, 99}, {"region", 3, 99}, {"sequence", 8, 99}, {"machine", 10, 99}};
	struct firn_layout made;

	cr_assert_eq(firn_layout_make(-5, 10, field, 4, &made, NULL), FIRN_OK);
	cr_assert_eq(made.epoch_ms, -5);
	cr_assert_eq(made.tick_ms, 10);
	cr_assert_eq(made.field_count, 4);
	cr_assert_eq(made.total_bits, 60);
	cr_assert_eq(made.time_bits, 39);
	cr_assert_eq(made.time_shift, 21);
	cr_assert_eq(made.seq_bits, 8);
	cr_assert_eq(made.seq_shift, 10);
	cr_assert_eq(made.node_bits, 13);
	cr_assert_eq(made.field[0].shift, 21);
	cr_assert_eq(made.field[1].shift, 18);
	cr_assert_eq(made.field[2].shift, 10);
	cr_assert_eq(made.field[3].shift, 0);
	cr_assert_str_eq(made.field[3].name, "machine");
}

Test(layout_make, equal_inputs_make_equal_bytes)
{
	struct firn_field dirty[3];
	struct firn_layout a;
	struct firn_layout b;

	memset(dirty, 0x77, sizeof(dirty));
	for (size_t i = 0; i < 3; i++) {
		strcpy(dirty[i].name, plain[i].name);
		dirty[i].bits = plain[i].bits;
	}
	memset(&a, 0x11, sizeof(a));
	memset(&b, 0x22, sizeof(b));
	cr_assert_eq(firn_layout_make(EPOCH, 1, plain, 3, &a, NULL), FIRN_OK);
	cr_assert_eq(firn_layout_make(EPOCH, 1, dirty, 3, &b, NULL), FIRN_OK);
	/* Up to the padding at the end. */
	cr_assert_eq(memcmp(&a, &b, offsetof(struct firn_layout, field) + sizeof(a.field)), 0);
}

Test(layout_make, refuses_too_few_and_too_many_fields)
{
	struct firn_field many[20] = {{"time", 1, 0}, {"sequence", 1, 0}};

	refuses(EPOCH, 1, plain, 0, 0, 1, "time");
	refuses(EPOCH, 1, NULL, 3, 0, 1, "time");
	for (int i = 2; i < 20; i++) {
		many[i].name[0] = (char)('a' + i);
		many[i].bits = 1;
	}
	struct firn_layout layout;

	cr_assert_eq(firn_layout_make(EPOCH, 1, many, FIRN_LAYOUT_FIELDS_MAX, &layout, NULL), FIRN_OK);
	refuses(EPOCH, 1, many, FIRN_LAYOUT_FIELDS_MAX + 1, FIRN_LAYOUT_FIELDS_MAX, 1, "at most 8");
	refuses(EPOCH, 1, many, 20, FIRN_LAYOUT_FIELDS_MAX, 1, "at most 8");
	refuses(EPOCH, 1, plain, SIZE_MAX, FIRN_LAYOUT_FIELDS_MAX, 1, "at most 8");
}

Test(layout_make, refuses_names_that_are_no_names)
{
	static const char *const bad[] = {"",      "Node",  "1node", "_node",      "no-de",
	                                  "no de", "no:de", "no=de", "n\xC3\xB6n", "node\n"};
	struct firn_field field[] = {{"time", 41, 0}, {"", 10, 0}, {"sequence", 12, 0}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(field[1].name, 0, sizeof(field[1].name));
		strcpy(field[1].name, bad[i]);
		refuses(EPOCH, 1, field, 3, 1, 1, "name");
	}
	/* Sixteen letters leave no room for the NUL. */
	memset(field[1].name, 'n', sizeof(field[1].name));
	refuses(EPOCH, 1, field, 3, 1, 1, "name");
	field[1].name[FIRN_LAYOUT_NAME_MAX] = '\0';
	struct firn_layout layout;

	cr_assert_eq(firn_layout_make(EPOCH, 1, field, 3, &layout, NULL), FIRN_OK);
}

Test(layout_make, refuses_settings_as_fields)
{
	static const struct firn_field tick[] = {{"time", 41, 0}, {"tick", 10, 0}, {"sequence", 12, 0}};
	static const struct firn_field epoch[] = {
		{"time", 41, 0}, {"sequence", 12, 0}, {"epoch", 10, 0}};

	refuses(EPOCH, 1, tick, 3, 1, 1, "tick=");
	refuses(EPOCH, 1, epoch, 3, 2, 1, "epoch=");
}

Test(layout_make, refuses_a_name_that_stands_twice)
{
	static const struct firn_field node[] = {
		{"time", 41, 0}, {"node", 5, 0}, {"sequence", 12, 0}, {"node", 5, 0}};
	static const struct firn_field sequence[] = {
		{"time", 41, 0}, {"sequence", 6, 0}, {"sequence", 6, 0}};

	refuses(EPOCH, 1, node, 4, 3, 1, "twice");
	refuses(EPOCH, 1, sequence, 3, 2, 1, "twice");
}

Test(layout_make, refuses_time_that_is_not_on_top)
{
	static const struct firn_field below[] = {
		{"node", 10, 0}, {"time", 41, 0}, {"sequence", 12, 0}};
	static const struct firn_field without[] = {{"sequence", 12, 0}};

	refuses(EPOCH, 1, below, 3, 0, 1, "'time'");
	refuses(EPOCH, 1, without, 1, 0, 1, "'time'");
}

Test(layout_make, refuses_a_layout_without_a_sequence)
{
	static const struct firn_field without[] = {{"time", 41, 0}, {"node", 10, 0}};

	refuses(EPOCH, 1, without, 2, 2, 0, "'sequence'");
	refuses(EPOCH, 1, plain, 1, 1, 0, "'sequence'");
}

Test(layout_make, refuses_a_zero_width_field_except_the_sequence)
{
	static const struct firn_field time[] = {{"time", 0, 0}, {"node", 10, 0}, {"sequence", 12, 0}};
	static const struct firn_field node[] = {{"time", 41, 0}, {"node", 0, 0}, {"sequence", 12, 0}};
	static const struct firn_field sequence[] = {
		{"time", 41, 0}, {"node", 10, 0}, {"sequence", 0, 0}};
	struct firn_layout layout;

	refuses(EPOCH, 1, time, 3, 0, 1, "1 to 63");
	refuses(EPOCH, 1, node, 3, 1, 1, "1 to 63");
	cr_assert_eq(firn_layout_make(EPOCH, 1, sequence, 3, &layout, NULL), FIRN_OK);
	cr_assert_eq(layout.seq_bits, 0);
}

Test(layout_make, refuses_more_than_63_bits_at_the_field_that_exceeds_them)
{
	static const struct firn_field wide[] = {{"time", 42, 0}, {"node", 10, 0}, {"sequence", 12, 0}};
	static const struct firn_field huge[] = {
		{"time", 255, 0}, {"node", 10, 0}, {"sequence", 12, 0}};
	static const struct firn_field most[] = {{"time", 63, 0}, {"sequence", 0, 0}};
	static const struct firn_field over[] = {{"time", 63, 0}, {"sequence", 1, 0}};
	struct firn_layout layout;

	refuses(EPOCH, 1, wide, 3, 2, 1, "64 bits");
	refuses(EPOCH, 1, huge, 3, 0, 1, "1 to 63");
	refuses(EPOCH, 1, over, 2, 1, 1, "64 bits");
	cr_assert_eq(firn_layout_make(EPOCH, 1, most, 2, &layout, NULL), FIRN_OK);
	cr_assert_eq(layout.total_bits, 63);
	cr_assert_eq(layout.time_shift, 0);
}

Test(layout_make, accepts_fewer_than_63_bits_and_no_node)
{
	static const struct firn_field small[] = {{"time", 1, 0}, {"sequence", 0, 0}};
	struct firn_layout layout;

	cr_assert_eq(firn_layout_make(0, 1, small, 2, &layout, NULL), FIRN_OK);
	cr_assert_eq(layout.total_bits, 1);
	cr_assert_eq(layout.node_bits, 0);
}

Test(layout_make, refuses_ticks_outside_1_ms_to_a_day)
{
	struct firn_layout layout;

	refuses(EPOCH, 0, plain, 3, 3, 0, "tick");
	refuses(EPOCH, FIRN_LAYOUT_TICK_MS_MAX + 1, plain, 3, 3, 0, "tick");
	refuses(EPOCH, UINT32_MAX, plain, 3, 3, 0, "tick");
	cr_assert_eq(firn_layout_make(EPOCH, FIRN_LAYOUT_TICK_MS_MAX, plain, 3, &layout, NULL),
	             FIRN_OK);
}

Test(layout_make, refuses_epochs_that_cannot_be_printed)
{
	struct firn_layout layout;

	refuses(INT64_C(253402300800000), 1, plain, 3, 3, 0, "9999");
	refuses(-INT64_C(62167219200001), 1, plain, 3, 3, 0, "0000");
	refuses(INT64_MAX, 1, plain, 3, 3, 0, "9999");
	refuses(INT64_MIN, 1, plain, 3, 3, 0, "0000");
	cr_assert_eq(firn_layout_make(INT64_C(253402300799999), 1, plain, 3, &layout, NULL), FIRN_OK);
	cr_assert_eq(firn_layout_make(-INT64_C(62167219200000), 1, plain, 3, &layout, NULL), FIRN_OK);
	cr_assert_eq(firn_layout_make(0, 1, plain, 3, &layout, NULL), FIRN_OK);
	cr_assert_eq(layout.epoch_ms, 0);
}
