/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The text notation: what it reads, what it writes, and where it points when it refuses. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <firn/error.h>
#include <firn/layout.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct firn_layout
parsed(const char *text)
{
	struct firn_layout layout;
	struct firn_layout_error error = {0};

	cr_assert_eq(firn_layout_parse(text, &layout, &error), FIRN_OK, "'%s': %s at %zu", text,
	             error.message, error.offset);
	return layout;
}

Test(layout_text, canonical_text_comes_back_as_it_was)
{
	static const char *const canonical[] = {
		"time:41 region:3 worker:7 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:39 sequence:8 machine:16 epoch=2014-09-01T00:00:00Z tick=10ms",
		"time:28 worker:22 sequence:13 epoch=2016-05-19T16:00:00Z tick=1s",
		"time:41 node:10 sequence:12 epoch=2010-11-04T01:42:54.657Z tick=1ms",
		"time:1 sequence:0 epoch=1970-01-01T00:00:00Z tick=86400s",
		"time:63 sequence:0 epoch=0000-01-01T00:00:00Z tick=86399999ms",
		"time:48 node:15 sequence:0 epoch=1969-12-31T23:59:59.999Z tick=1500ms",
		"time:5 sequence:1 a:1 b2:1 c_:1 d:1 e:1 abcdefghijklmno:1 epoch=9999-12-31T23:59:59Z tick=59s",
	};

	for (size_t i = 0; i < LENGTH(canonical); i++) {
		struct firn_layout layout = parsed(canonical[i]);
		char text[FIRN_LAYOUT_TEXT_MAX];

		cr_assert_eq(firn_layout_print(&layout, text, sizeof(text)), FIRN_OK);
		cr_assert_str_eq(text, canonical[i]);
	}
}

Test(layout_text, other_spellings_become_canonical)
{
	static const struct {
		const char *text;
		const char *canonical;
	} spellings[] = {
		{"time:41 node:10 sequence:12 epoch=1767225600000",
	     "time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms"},
		{"  tick=1000ms\tepoch=2016-05-20T00:00:00+08:00\n time:28 worker:22\r\nsequence:13 ",
	     "time:28 worker:22 sequence:13 epoch=2016-05-19T16:00:00Z tick=1s"},
		{"time:41 epoch=0 sequence:12", "time:41 sequence:12 epoch=1970-01-01T00:00:00Z tick=1ms"},
		/* A number is milliseconds, also one that looks like a year. */
		{"time:41 epoch=2026 sequence:12",
	     "time:41 sequence:12 epoch=1970-01-01T00:00:02.026Z tick=1ms"},
		{"time:41 epoch=-1 sequence:12",
	     "time:41 sequence:12 epoch=1969-12-31T23:59:59.999Z tick=1ms"},
		{"time:41 epoch=2026-01-01t00:00:00.5z sequence:12",
	     "time:41 sequence:12 epoch=2026-01-01T00:00:00.500Z tick=1ms"},
		{"sonyflake", "time:39 sequence:8 machine:16 epoch=2014-09-01T00:00:00Z tick=10ms"},
		{" default\n", "time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms"},
	};

	for (size_t i = 0; i < LENGTH(spellings); i++) {
		struct firn_layout layout = parsed(spellings[i].text);
		char text[FIRN_LAYOUT_TEXT_MAX];

		cr_assert_eq(firn_layout_print(&layout, text, sizeof(text)), FIRN_OK);
		cr_assert_str_eq(text, spellings[i].canonical);
	}
}

#define E " epoch=2026-01-01T00:00:00Z"

Test(layout_text, refusals_point_at_the_place_and_say_why)
{
	static const struct {
		const char *text;
		size_t offset;
		size_t length;
		const char *part;
	} refused[] = {
		/* nothing, or not enough */
		{"", 0, 0, "expected fields"},
		{"   ", 3, 0, "expected fields"},
		{"epoch=0", 7, 0, "expected fields"},
		{"time:41 node:10 sequence:12", 27, 0, "epoch="},
		{"time:41 node:10" E, 42, 0, "'sequence'"},
		/* words */
		{"time:41 node sequence:12" E, 8, 4, "NAME:BITS"},
		{"twiter", 0, 6, "preset"},
		{"Twitter", 0, 7, "preset"},
		{"twitter tick=1ms", 0, 7, "stands alone"},
		{"time:41 default", 8, 7, "stands alone"},
		{"time:41 start=2026-01-01T00:00:00Z", 8, 6, "epoch= and tick="},
		{"time=41 sequence:12" E, 0, 5, "epoch= and tick="},
		{"time:41 =5 sequence:12" E, 8, 1, "epoch= and tick="},
		{"Epoch=0 time:41 sequence:12", 0, 6, "epoch= and tick="},
		/* names */
		{"time:41 :10 sequence:12" E, 8, 1, "name"},
		{"Time:41 sequence:12" E, 0, 1, "name"},
		{"time:41 noDe:10 sequence:12" E, 10, 1, "name"},
		{"time:41 1node:10 sequence:12" E, 8, 1, "name"},
		{"time:41 no-de:10 sequence:12" E, 10, 1, "name"},
		{"time:41 n\xC3\xB6"
	     "de:10 sequence:12" E,
	     9, 1, "name"},
		{"time:41 abcdefghijklmnop:10 sequence:12" E, 8, 16, "15"},
		{"time:41 node:5 node:5 sequence:12" E, 15, 6, "twice"},
		{"time:41 sequence:6 sequence:6" E, 19, 10, "twice"},
		{"node:10 time:41 sequence:12" E, 0, 7, "'time'"},
		{"time:41 tick:10 sequence:12" E, 8, 7, "tick="},
		{"time:41 epoch:10 sequence:12" E, 8, 8, "epoch="},
		/* bits */
		{"time: sequence:12" E, 5, 1, "bits"},
		{"time:41 sequence:", 17, 0, "bits"},
		{"time:4x sequence:12" E, 6, 1, "bits"},
		{"time:-1 sequence:12" E, 5, 1, "bits"},
		{"time:+41 sequence:12" E, 5, 1, "bits"},
		{"time:41: sequence:12" E, 7, 1, "bits"},
		{"time:041 sequence:12" E, 5, 3, "leading zeros"},
		{"time:41 sequence:00" E, 17, 2, "leading zeros"},
		{"time:99999999999999999999999 sequence:12" E, 5, 23, "63"},
		{"time:64 sequence:12" E, 0, 7, "63"},
		{"time:0 sequence:12" E, 0, 6, "1 to 63"},
		{"time:41 node:0 sequence:12" E, 8, 6, "1 to 63"},
		{"time:42 node:10 sequence:12" E, 16, 11, "64 bits"},
		{"time:5 a:1 b:1 c:1 d:1 e:1 f:1 g:1 sequence:1" E, 35, 10, "at most 8"},
		/* epoch */
		{"time:41 sequence:12 epoch=", 26, 0, "time"},
		{"time:41 epoch= sequence:12", 14, 1, "time"},
		{"time:41 sequence:12 epoch=01", 26, 2, "zero"},
		{"time:41 sequence:12 epoch=-0", 26, 2, "zero"},
		{"time:41 sequence:12 epoch=+5", 26, 1, "year"},
		{"time:41 sequence:12 epoch=-", 26, 1, "year"},
		{"time:41 sequence:12 epoch=2026-01-01", 36, 0, "'T'"},
		{"time:41 sequence:12 epoch=2026-13-01T00:00:00Z", 31, 1, "month"},
		{"time:41 sequence:12 epoch=2026-01-01T00:00:00", 45, 0, "zone"},
		{"time:41 epoch=2026-01-01T00:00:00 sequence:12", 33, 1, "zone"},
		{"time:41 epoch=2026-01-01 00:00:00 sequence:12", 24, 1, "'T'"},
		{"time:41 sequence:12 epoch=253402300800000", 26, 15, "9999"},
		{"time:41 sequence:12 epoch=-62167219200001", 26, 15, "0000"},
		{"time:41 sequence:12 epoch=0000-01-01T00:00:00+00:01", 26, 25, "0000"},
		{"time:41 sequence:12 epoch=9223372036854775808", 26, 19, "9999"},
		{"time:41 sequence:12 epoch=-99999999999999999999999", 26, 24, "0000"},
		{"time:41 sequence:12 epoch=0 epoch=0", 28, 7, "twice"},
		/* tick */
		{"time:41 sequence:12 tick=", 25, 0, "whole number"},
		{"time:41 tick= sequence:12", 13, 1, "whole number"},
		{"time:41 sequence:12 tick=ms", 25, 1, "whole number"},
		{"time:41 sequence:12 tick=0ms", 25, 1, "1 or more"},
		{"time:41 sequence:12 tick=01ms", 25, 2, "whole number"},
		{"time:41 sequence:12 tick=-1ms", 25, 1, "whole number"},
		{"time:41 sequence:12 tick=1", 26, 0, "unit"},
		{"time:41 tick=1 sequence:12", 14, 1, "unit"},
		{"time:41 sequence:12 tick=1.5s", 26, 3, "unit"},
		{"time:41 sequence:12 tick=1us", 26, 2, "unit"},
		{"time:41 sequence:12 tick=1MS", 26, 2, "unit"},
		{"time:41 sequence:12 tick=86400001ms", 25, 10, "a day"},
		{"time:41 sequence:12 tick=86401s", 25, 6, "a day"},
		{"time:41 sequence:12 tick=99999999s", 25, 9, "a day"},
		{"time:41 sequence:12 tick=4294967297ms", 25, 10, "whole number"},
		{"time:41 sequence:12 tick=1ms tick=1ms", 29, 8, "twice"},
	};

	for (size_t i = 0; i < LENGTH(refused); i++) {
		struct firn_layout layout;
		struct firn_layout before;
		struct firn_layout_error error;
		const char *text = refused[i].text;
		int got;

		memset(&layout, 0x5A, sizeof(layout));
		memcpy(&before, &layout, sizeof(before));
		memset(&error, 0xFF, sizeof(error));
		got = firn_layout_parse(text, &layout, &error);
		cr_assert_eq(got, FIRN_E_LAYOUT, "'%s' was accepted", text);
		cr_assert_eq(memcmp(&layout, &before, sizeof(layout)), 0, "'%s' wrote a layout", text);
		cr_assert_not_null(memchr(error.message, '\0', sizeof(error.message)), "'%s'", text);
		cr_assert_eq(error.offset, refused[i].offset, "'%s': at %zu: %s", text, error.offset,
		             error.message);
		cr_assert_eq(error.length, refused[i].length, "'%s': length %zu: %s", text, error.length,
		             error.message);
		cr_assert_not_null(strstr(error.message, refused[i].part), "'%s': %s", text, error.message);
		cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_E_LAYOUT);
	}
}

Test(layout_text, a_text_of_a_million_characters_is_refused_unread)
{
	static const char fill[] = "a1: =t\n";
	const size_t size = 1000000;
	char *text = malloc(size + 1);

	cr_assert_not_null(text);
	for (size_t i = 0; i < sizeof(fill) - 1; i++) {
		struct firn_layout layout;
		struct firn_layout_error error;

		memset(text, fill[i], size);
		text[size] = '\0';
		memcpy(text, "time:41 ", 8);
		cr_assert_eq(firn_layout_parse(text, &layout, &error), FIRN_E_LAYOUT);
		cr_assert_eq(error.offset, 4096);
		cr_assert_eq(error.length, 1);
		cr_assert_not_null(strstr(error.message, "4096"));
	}
	free(text);
}

Test(layout_text, the_longest_text_that_is_read_is_4096_characters)
{
	char text[4096 + 2];
	struct firn_layout layout;

	memset(text, ' ', sizeof(text));
	memcpy(text, "default", 7);
	text[4096] = '\0';
	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_OK);
	text[4096] = ' ';
	text[4097] = '\0';
	cr_assert_eq(firn_layout_parse(text, &layout, NULL), FIRN_E_LAYOUT);
}

Test(layout_text, R68_an_epoch_means_the_same_in_every_zone)
{
	static const char *const zones[] = {"UTC", "Asia/Shanghai", "America/New_York", "XYZ-8"};
	static const char with_zone[] = "time:41 node:10 sequence:12 epoch=2016-11-01T00:00:00Z";
	static const char without[] = "time:41 node:10 sequence:12 epoch=2016-11-01T00:00:00";
	static const char as_reported[] = "time:41 node:10 sequence:12 epoch=2016-11-01 00:00:00";

	for (size_t i = 0; i < LENGTH(zones); i++) {
		struct firn_layout layout;
		struct firn_layout_error error;
		char text[FIRN_LAYOUT_TEXT_MAX];

		cr_assert_eq(setenv("TZ", zones[i], 1), 0);
		tzset();
		layout = parsed(with_zone);
		cr_assert_eq(layout.epoch_ms, INT64_C(1477958400000), "%s", zones[i]);
		cr_assert_eq(firn_layout_print(&layout, text, sizeof(text)), FIRN_OK);
		cr_assert_str_eq(text, "time:41 node:10 sequence:12 epoch=2016-11-01T00:00:00Z tick=1ms");
		cr_assert_eq(firn_layout_parse(without, &layout, &error), FIRN_E_LAYOUT);
		cr_assert_not_null(strstr(error.message, "zone"));
		cr_assert_eq(firn_layout_parse(as_reported, &layout, &error), FIRN_E_LAYOUT);
	}
}

Test(layout_text, R76_epoch_0_is_an_epoch_and_absence_is_told_apart)
{
	struct firn_layout layout = parsed("time:41 node:10 sequence:12 epoch=0");
	struct firn_layout_error error;
	struct firn_parts parts;

	cr_assert_eq(layout.epoch_ms, 0);
	cr_assert_eq(firn_layout_split(&layout, UINT64_C(4194308096), &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, 1000);
	cr_assert_eq(parts.node, 1);
	cr_assert_eq(parts.sequence, 0);
	cr_assert_eq(firn_layout_parse("time:41 node:10 sequence:12", &layout, &error), FIRN_E_LAYOUT);
}

Test(layout_text, print_refuses_a_buffer_that_is_too_small_and_leaves_it_alone)
{
	struct firn_layout layout = parsed("default");
	char want[FIRN_LAYOUT_TEXT_MAX];
	size_t length;

	cr_assert_eq(firn_layout_print(&layout, want, sizeof(want)), FIRN_OK);
	length = strlen(want);
	for (size_t size = 0; size <= length; size++) {
		char text[FIRN_LAYOUT_TEXT_MAX];

		memset(text, '?', sizeof(text));
		cr_assert_eq(firn_layout_print(&layout, text, size), FIRN_E_INVALID);
		for (size_t i = 0; i < sizeof(text); i++)
			cr_assert_eq(text[i], '?', "size %zu wrote at %zu", size, i);
	}
	char exact[FIRN_LAYOUT_TEXT_MAX];

	cr_assert_eq(firn_layout_print(&layout, exact, length + 1), FIRN_OK);
	cr_assert_str_eq(exact, want);
}

Test(layout_text, equality_and_fingerprint_see_every_difference)
{
	static const char *const texts[] = {
		"time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00.001Z tick=1ms",
		"time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=2ms",
		"time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=2s",
		"time:41 sequence:12 node:10 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 nodf:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 node:11 sequence:11 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:40 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 a:5 b:5 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 node:9 sequence:12 z:1 epoch=2026-01-01T00:00:00Z tick=1ms",
		"time:41 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
	};

	for (size_t i = 0; i < LENGTH(texts); i++)
		for (size_t j = 0; j < LENGTH(texts); j++) {
			struct firn_layout a = parsed(texts[i]);
			struct firn_layout b = parsed(texts[j]);

			cr_assert_eq(firn_layout_equal(&a, &b), i == j, "%zu %zu", i, j);
			cr_assert_eq(firn_layout_fingerprint(&a) == firn_layout_fingerprint(&b), i == j,
			             "%zu %zu", i, j);
		}
}

/* State files carry it: it must never change. */
Test(layout_text, the_fingerprint_of_the_default_layout_is_fixed)
{
	struct firn_layout layout = parsed("default");

	cr_assert_eq(firn_layout_fingerprint(&layout), UINT64_C(0x0CDB1BB7C42FB7BF));
}
