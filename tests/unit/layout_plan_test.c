/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What planners ask: ticks, the last moment, life, capacity, warnings. */
#include <criterion/criterion.h>

#include <string.h>

#include <firn/error.h>
#include <firn/layout.h>

#include "layout/time.h"

#define DAY_MS INT64_C(86400000)
#define UNTOUCHED UINT64_C(0xA5A5A5A5A5A5A5A5)

static struct firn_layout
parsed(const char *text)
{
	struct firn_layout layout;
	struct firn_layout_error error = {0};

	cr_assert_eq(firn_layout_parse(text, &layout, &error), FIRN_OK, "'%s': %s", text,
	             error.message);
	return layout;
}

static int64_t
moment(const char *text)
{
	int64_t unix_ms;
	size_t offset;
	const char *why;

	cr_assert_eq(firni_time_read(text, strlen(text), &unix_ms, &offset, &why), 0, "%s", text);
	return unix_ms;
}

static int
warns(const struct firn_layout *layout, int64_t unix_ms, const char *part)
{
	const char *warning;

	for (size_t i = 0; (warning = firn_layout_warning(layout, unix_ms, i)) != NULL; i++)
		if (strstr(warning, part) != NULL)
			return 1;
	return 0;
}

/* tick() and last_ms() agree on where the time ends, and life runs out there. */
static void
ends_after(const struct firn_layout *layout, int64_t last_ms)
{
	uint64_t tick = UNTOUCHED;

	cr_assert_eq(firn_layout_last_ms(layout), last_ms);
	cr_assert_eq(firn_layout_tick(layout, last_ms + 1, &tick), FIRN_E_TIME_OVER);
	cr_assert_eq(tick, UNTOUCHED);
	cr_assert_eq(firn_layout_tick(layout, last_ms, &tick), FIRN_OK);
	cr_assert_eq(tick, (UINT64_C(1) << layout->time_bits) - 1);
	cr_assert_eq(firn_layout_life_ms(layout, last_ms), 1);
	cr_assert_eq(firn_layout_life_ms(layout, last_ms + 1), 0);
	cr_assert_eq(firn_layout_life_ms(layout, INT64_MAX), 0);
}

Test(layout_plan, a_tick_covers_its_milliseconds_and_no_more)
{
	struct firn_layout layout = parsed("time:20 sequence:4 epoch=1000 tick=10ms");
	uint64_t tick = UNTOUCHED;

	cr_assert_eq(firn_layout_tick(&layout, 999, &tick), FIRN_E_BEFORE_EPOCH);
	cr_assert_eq(firn_layout_tick(&layout, -1, &tick), FIRN_E_BEFORE_EPOCH);
	cr_assert_eq(firn_layout_tick(&layout, INT64_MIN, &tick), FIRN_E_BEFORE_EPOCH);
	cr_assert_eq(tick, UNTOUCHED);
	cr_assert_eq(firn_layout_tick(&layout, 1000, &tick), FIRN_OK);
	cr_assert_eq(tick, 0);
	cr_assert_eq(firn_layout_tick(&layout, 1009, &tick), FIRN_OK);
	cr_assert_eq(tick, 0);
	cr_assert_eq(firn_layout_tick(&layout, 1010, &tick), FIRN_OK);
	cr_assert_eq(tick, 1);
	ends_after(&layout, 1000 + 10 * 1048576 - 1);
}

Test(layout_plan, an_epoch_before_1970_counts_from_there)
{
	struct firn_layout layout = parsed("time:42 sequence:12 epoch=1900-01-01T00:00:00Z");
	uint64_t tick;

	cr_assert_eq(firn_layout_tick(&layout, 0, &tick), FIRN_OK);
	cr_assert_eq(tick, UINT64_C(2208988800000));
	cr_assert_eq(firn_layout_tick(&layout, layout.epoch_ms - 1, &tick), FIRN_E_BEFORE_EPOCH);
	ends_after(&layout, INT64_C(4398046511103) - INT64_C(2208988800000));
}

Test(layout_plan, a_life_past_all_milliseconds_does_not_wrap)
{
	struct firn_layout layout = parsed("time:63 sequence:0 epoch=0 tick=86400s");
	struct firn_layout late = parsed("time:63 sequence:0 epoch=9999-12-31T23:59:59.999Z");
	struct firn_layout exact = parsed("time:63 sequence:0 epoch=0");
	struct firn_layout early = parsed("time:63 sequence:0 epoch=-1");
	uint64_t tick;

	cr_assert_eq(firn_layout_last_ms(&layout), INT64_MAX);
	cr_assert_gt(firn_layout_life_ms(&layout, INT64_MAX), UINT64_C(1) << 62);
	cr_assert_gt(firn_layout_life_ms(&layout, INT64_MIN), UINT64_C(1) << 63);
	cr_assert_eq(firn_layout_last_ms(&late), INT64_MAX);
	cr_assert_eq(firn_layout_tick(&late, INT64_MAX, &tick), FIRN_OK);
	cr_assert_eq(firn_layout_last_ms(&exact), INT64_MAX);
	cr_assert_eq(firn_layout_life_ms(&exact, INT64_MAX), 1);
	cr_assert_eq(firn_layout_last_ms(&early), INT64_MAX - 1);
	cr_assert_eq(firn_layout_tick(&early, INT64_MAX, &tick), FIRN_E_TIME_OVER);
}

Test(layout_plan, life_is_whole_before_the_epoch_and_falls_by_the_clock)
{
	struct firn_layout layout = parsed("default");
	const uint64_t whole = UINT64_C(1) << 41;

	cr_assert_eq(firn_layout_life_ms(&layout, 0), whole);
	cr_assert_eq(firn_layout_life_ms(&layout, INT64_MIN), whole);
	cr_assert_eq(firn_layout_life_ms(&layout, layout.epoch_ms), whole);
	cr_assert_eq(firn_layout_life_ms(&layout, layout.epoch_ms + 1), whole - 1);
	ends_after(&layout, moment("2095-09-07T15:47:35.551Z"));
}

Test(layout_plan, capacity_is_what_the_bits_say)
{
	struct firn_layout layout = parsed("default");
	struct firn_layout sony = parsed("sonyflake");
	struct firn_layout none = parsed("time:48 node:15 sequence:0 epoch=0 tick=10s");
	struct firn_layout wide = parsed("time:1 sequence:62 epoch=0");
	struct firn_layout nodes = parsed("time:1 node:62 sequence:0 epoch=0");

	cr_assert_eq(firn_layout_ids_per_tick(&layout), 4096);
	cr_assert_eq(firn_layout_ids_per_second(&layout), 4096000.0);
	cr_assert_eq(firn_layout_nodes(&layout), 1024);
	cr_assert_eq(firn_layout_ids_per_tick(&sony), 256);
	cr_assert_eq(firn_layout_ids_per_second(&sony), 25600.0);
	cr_assert_eq(firn_layout_nodes(&sony), 65536);
	cr_assert_eq(firn_layout_ids_per_tick(&none), 1);
	cr_assert_eq(firn_layout_ids_per_second(&none), 0.1);
	cr_assert_eq(firn_layout_ids_per_tick(&wide), UINT64_C(1) << 62);
	cr_assert_eq(firn_layout_nodes(&wide), 1);
	cr_assert_eq(firn_layout_nodes(&nodes), UINT64_C(1) << 62);
}

Test(layout_plan, a_sound_layout_has_no_warning)
{
	struct firn_layout layout = parsed("default");
	struct firn_layout twitter = parsed("twitter");

	cr_assert_null(firn_layout_warning(&layout, layout.epoch_ms, 0));
	cr_assert_null(firn_layout_warning(&layout, layout.epoch_ms, SIZE_MAX));
	cr_assert_null(firn_layout_warning(&twitter, moment("2026-01-01T00:00:00Z"), 0));
}

Test(layout_plan, warnings_name_what_looks_wrong_and_end)
{
	struct firn_layout baidu = parsed("baidu");
	struct firn_layout mastodon = parsed("mastodon");
	struct firn_layout layout = parsed("default");
	struct firn_layout all = parsed("time:30 sequence:12 epoch=1577203");
	const int64_t now = moment("2026-06-01T00:00:00Z");

	cr_assert(warns(&baidu, now, "is over"));
	cr_assert(warns(&baidu, moment("2024-11-20T13:24:15.999Z"), "less than ten years"));
	cr_assert_not(warns(&baidu, now, "less than ten years"));
	cr_assert(warns(&mastodon, now, "no node"));
	cr_assert_not(warns(&mastodon, now, "1970"));
	cr_assert(warns(&layout, layout.epoch_ms - 1, "future"));
	cr_assert_not(warns(&layout, layout.epoch_ms, "future"));
	cr_assert_not_null(firn_layout_warning(&all, now, 2));
	cr_assert_null(firn_layout_warning(&all, now, 3));
	cr_assert_null(firn_layout_warning(&all, now, SIZE_MAX));
}

Test(layout_plan, R59_a_field_of_32_bits_ends_it_does_not_wrap)
{
	struct firn_layout layout = parsed("time:32 node:16 sequence:15 epoch=2022-01-01T00:00:00Z");
	uint64_t tick;

	ends_after(&layout, moment("2022-02-19T17:02:47.295Z"));
	cr_assert_eq(firn_layout_tick(&layout, layout.epoch_ms + INT64_C(4294967295), &tick), FIRN_OK);
	cr_assert_eq(tick, UINT64_C(4294967295));
	cr_assert_eq(firn_layout_tick(&layout, layout.epoch_ms + INT64_C(4294967296), &tick),
	             FIRN_E_TIME_OVER);
	cr_assert_eq(firn_layout_life_ms(&layout, layout.epoch_ms) / 10 * 1000 / (uint64_t)DAY_MS,
	             4971);
	cr_assert(warns(&layout, layout.epoch_ms, "less than ten years"));
}

Test(layout_plan, R63_a_layout_of_38_time_bits_is_over_in_2020)
{
	struct firn_layout layout = parsed("time:38 node:18 sequence:7 epoch=1288834974657");
	const int64_t now = moment("2020-05-28T00:00:00Z");
	uint64_t tick;

	ends_after(&layout, moment("2019-07-21T12:41:21.600Z"));
	cr_assert_eq(firn_layout_tick(&layout, now, &tick), FIRN_E_TIME_OVER);
	cr_assert_eq(firn_layout_life_ms(&layout, now), 0);
	cr_assert(warns(&layout, now, "is over"));
}

Test(layout_plan, R67_36_bits_from_1970_ended_in_1972)
{
	struct firn_layout layout = parsed("time:36 sequence:12 epoch=0");
	uint64_t tick;

	ends_after(&layout, moment("1972-03-06T08:44:36.735Z"));
	cr_assert_eq(firn_layout_tick(&layout, INT64_C(1786706395136), &tick), FIRN_E_TIME_OVER);
	cr_assert_eq(firn_layout_life_ms(&layout, INT64_C(1786706395136)), 0);
	cr_assert_eq(firn_layout_life_ms(&layout, 0) * 10 / (uint64_t)DAY_MS, 7953);
	/* 795.36 days: the plan that says 795.4 has rounded. */
	cr_assert(warns(&layout, INT64_C(1786706395136), "is over"));
}

Test(layout_plan, R74_an_epoch_in_seconds_is_seen)
{
	struct firn_layout seconds = parsed("time:41 node:10 sequence:12 epoch=1577203200");
	struct firn_layout millis = parsed("time:41 node:10 sequence:12 epoch=1577203200000");
	struct firn_layout zero = parsed("time:41 node:10 sequence:12 epoch=0");
	struct firn_layout last = parsed("time:41 node:10 sequence:12 epoch=2678399999");
	struct firn_layout february = parsed("time:41 node:10 sequence:12 epoch=2678400000");
	struct firn_layout before = parsed("time:41 node:10 sequence:12 epoch=-1");
	const int64_t now = moment("2020-01-01T00:00:00Z");

	ends_after(&seconds, moment("2039-09-25T21:54:18.751Z"));
	ends_after(&millis, moment("2089-08-30T07:47:35.551Z"));
	cr_assert(warns(&seconds, now, "seconds given for milliseconds"));
	cr_assert(warns(&last, now, "seconds given for milliseconds"));
	cr_assert_not(warns(&millis, now, "seconds"));
	cr_assert_not(warns(&zero, now, "seconds"));
	cr_assert_not(warns(&february, now, "seconds"));
	cr_assert_not(warns(&before, now, "seconds"));
}
