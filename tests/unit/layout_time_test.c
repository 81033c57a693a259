/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text: read, written, refused with the place and the reason. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layout/time.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct golden {
	const char *text;
	int64_t unix_ms;
};

static int64_t
read_whole(const char *text)
{
	int64_t unix_ms = INT64_MIN;
	size_t offset = 0;
	const char *why = NULL;

	cr_assert_eq(firni_time_read(text, strlen(text), &unix_ms, &offset, &why), 0, "%s: %s at %zu",
	             text, why, offset);
	return unix_ms;
}

Test(layout_time, writes_and_reads_the_same_moments)
{
	static const struct golden golden[] = {
		{"1970-01-01T00:00:00.000Z", 0},
		{"1970-01-01T00:00:01.000Z", 1000},
		{"1969-12-31T23:59:59.999Z", -1},
		{"2024-01-01T00:00:00.000Z", INT64_C(1704067200000)},
		{"2026-01-01T00:00:00.000Z", INT64_C(1767225600000)},
		{"2010-11-04T01:42:54.657Z", INT64_C(1288834974657)},
		{"2000-02-29T00:00:00.000Z", INT64_C(951782400000)},
		{"1900-02-28T23:59:59.000Z", -INT64_C(2203891201000)},
		{"1900-03-01T00:00:00.000Z", -INT64_C(2203891200000)},
		{"2038-01-19T03:14:08.000Z", INT64_C(2147483648000)},
		{"0000-01-01T00:00:00.000Z", FIRNI_TIME_MIN_MS},
		{"9999-12-31T23:59:59.999Z", FIRNI_TIME_MAX_MS},
	};

	for (size_t i = 0; i < LENGTH(golden); i++) {
		char text[FIRNI_TIME_TEXT_MAX];

		cr_assert_eq(firni_time_write(golden[i].unix_ms, 1, text), (int)strlen(golden[i].text));
		cr_assert_str_eq(text, golden[i].text);
		cr_assert_eq(read_whole(golden[i].text), golden[i].unix_ms, "%s", golden[i].text);
	}
}

Test(layout_time, leaves_out_milliseconds_that_are_0_when_asked)
{
	char text[FIRNI_TIME_TEXT_MAX];

	(void)firni_time_write(INT64_C(1767225600000), 0, text);
	cr_assert_str_eq(text, "2026-01-01T00:00:00Z");
	(void)firni_time_write(INT64_C(1767225600007), 0, text);
	cr_assert_str_eq(text, "2026-01-01T00:00:00.007Z");
}

Test(layout_time, R103_years_of_five_digits_and_more_are_written)
{
	static const struct golden golden[] = {
		{"10889-08-02T05:31:50.655Z", INT64_C(281474976710655)},
		{"10000-01-01T00:00:00.000Z", FIRNI_TIME_MAX_MS + 1},
		{"292278994-08-17T07:12:55.807Z", INT64_MAX},
		{"-0001-12-31T23:59:59.999Z", FIRNI_TIME_MIN_MS - 1},
		/* Both sides of a seam of 400 years, counted from March. */
		{"-0400-03-01T00:00:00.000Z", -INT64_C(865565) * 86400000},
		{"-0400-02-29T23:59:59.999Z", -INT64_C(865565) * 86400000 - 1},
		{"-292275055-05-16T16:47:04.192Z", INT64_MIN},
	};

	for (size_t i = 0; i < LENGTH(golden); i++) {
		char text[FIRNI_TIME_TEXT_MAX];

		cr_assert_eq(firni_time_write(golden[i].unix_ms, 1, text), (int)strlen(golden[i].text));
		cr_assert_str_eq(text, golden[i].text);
	}
}

/* The C library's calendar is the second opinion. */
Test(layout_time, agrees_with_the_libc_calendar_over_ten_thousand_years)
{
	const int64_t step = INT64_C(11) * 86400000 + 12345678;

	for (int64_t ms = FIRNI_TIME_MIN_MS; ms <= FIRNI_TIME_MAX_MS; ms += step) {
		int64_t floor_s = ms / 1000 - (ms % 1000 < 0);
		time_t seconds = (time_t)floor_s;
		struct tm tm;
		char want[2 * FIRNI_TIME_TEXT_MAX];
		char got[FIRNI_TIME_TEXT_MAX];

		cr_assert_not_null(gmtime_r(&seconds, &tm));
		(void)snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
		               tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		               (int)(ms - floor_s * 1000));
		(void)firni_time_write(ms, 1, got);
		if (strcmp(got, want) != 0 || read_whole(got) != ms)
			cr_assert_fail("%lld: %s, libc %s", (long long)ms, got, want);
	}
}

Test(layout_time, reads_offsets_fractions_and_the_spellings_of_the_standard)
{
	const int64_t noon = INT64_C(1767268800000); /* 2026-01-01T12:00:00Z */

	cr_assert_eq(read_whole("2026-01-01T12:00:00Z"), noon);
	cr_assert_eq(read_whole("2026-01-01t12:00:00z"), noon);
	cr_assert_eq(read_whole("2026-01-01 12:00:00Z"), noon);
	cr_assert_eq(read_whole("2026-01-01T20:00:00+08:00"), noon);
	cr_assert_eq(read_whole("2026-01-01T06:30:00-05:30"), noon);
	cr_assert_eq(read_whole("2026-01-01T12:00:00-00:00"), noon);
	cr_assert_eq(read_whole("2025-12-31T12:01:00-23:59"), noon);
	cr_assert_eq(read_whole("2026-01-01T12:00:00.1Z"), noon + 100);
	cr_assert_eq(read_whole("2026-01-01T12:00:00.12Z"), noon + 120);
	cr_assert_eq(read_whole("2026-01-01T12:00:00.123Z"), noon + 123);
	cr_assert_eq(read_whole("1969-12-31T23:59:59.999Z"), -1);
}

Test(layout_time, refuses_with_the_place_and_the_reason)
{
	static const struct {
		const char *text;
		size_t offset;
		const char *why;
	} refused[] = {
		{"", 0, "year"},
		{"2026", 4, "'-'"},
		{"226-01-01T00:00:00Z", 3, "year"},
		{"02026-01-01T00:00:00Z", 4, "'-'"},
		{"-2026-01-01T00:00:00Z", 0, "year"},
		{"2026-13-01T00:00:00Z", 5, "month"},
		{"2026-00-01T00:00:00Z", 5, "month"},
		{"2026-1-01T00:00:00Z", 6, "month"},
		{"2026-01-00T00:00:00Z", 8, "day"},
		{"2026-01-32T00:00:00Z", 8, "day"},
		{"2026-04-31T00:00:00Z", 8, "day"},
		{"2026-02-29T00:00:00Z", 8, "day"},
		{"1900-02-29T00:00:00Z", 8, "day"},
		{"2026-01-01", 10, "'T'"},
		{"2026-01-01_00:00:00Z", 10, "'T'"},
		{"2026-01-01T24:00:00Z", 11, "hour"},
		{"2026-01-01T00:60:00Z", 14, "minutes"},
		{"2026-01-01T00:00Z", 16, "':'"},
		{"2016-12-31T23:59:60Z", 17, "leap second"},
		{"2026-01-01T00:00:00.Z", 20, "digits"},
		{"2026-01-01T00:00:00.1234Z", 23, "three digits"},
		{"2026-01-01T00:00:00", 19, "zone"},
		{"2026-01-01T00:00:00.5", 21, "zone"},
		{"2026-01-01T00:00:00 Z", 19, "zone"},
		{"2026-01-01T00:00:00+0800", 22, "':'"},
		{"2026-01-01T00:00:00+24:00", 20, "offset"},
		{"2026-01-01T00:00:00+08:60", 23, "offset"},
		{"2026-01-01T00:00:00ZZ", 20, "after the zone"},
		{"2026-01-01T00:00:00Z ", 20, "after the zone"},
	};

	for (size_t i = 0; i < LENGTH(refused); i++) {
		int64_t unix_ms = 42;
		size_t offset = 999;
		const char *why = NULL;

		cr_assert_neq(
			firni_time_read(refused[i].text, strlen(refused[i].text), &unix_ms, &offset, &why), 0,
			"'%s' was read", refused[i].text);
		cr_assert_eq(unix_ms, 42, "'%s' wrote through its out-pointer", refused[i].text);
		cr_assert_eq(offset, refused[i].offset, "'%s': at %zu", refused[i].text, offset);
		cr_assert_not_null(strstr(why, refused[i].why), "'%s': %s", refused[i].text, why);
	}
}

Test(layout_time, reads_no_byte_past_the_length)
{
	static const char whole[] = "2026-01-01T00:00:00.123+08:00";

	for (size_t length = 0; length < sizeof(whole) - 1; length++) {
		char *copy = malloc(length + 1);
		int64_t unix_ms;
		size_t offset = SIZE_MAX;
		const char *why;

		cr_assert_not_null(copy);
		memcpy(copy, whole, length);
		cr_assert_neq(firni_time_read(copy, length, &unix_ms, &offset, &why), 0);
		cr_assert_leq(offset, length);
		free(copy);
	}
}
