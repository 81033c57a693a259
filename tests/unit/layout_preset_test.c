/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The presets against IDs that others published; there are none for default and regional. */
#include <criterion/criterion.h>

#include <string.h>

#include <firn/error.h>
#include <firn/layout.h>

#include "layout/time.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct firn_layout
parsed(const char *text)
{
	struct firn_layout layout;
	struct firn_layout_error error = {0};

	cr_assert_eq(firn_layout_parse(text, &layout, &error), FIRN_OK, "'%s': %s", text,
	             error.message);
	return layout;
}

/* The ID's time, and its fields after the time from the top down. */
static void
decodes(const char *layout_text, uint64_t id, const char *time, uint64_t first, uint64_t second,
		uint64_t third)
{
	struct firn_layout layout = parsed(layout_text);
	const uint64_t want[] = {first, second, third};
	struct firn_parts parts;
	char text[FIRNI_TIME_TEXT_MAX];
	uint64_t again;

	cr_assert_eq(firn_layout_split(&layout, id, &parts), FIRN_OK, "%s", layout_text);
	(void)firni_time_write(parts.time_ms, 1, text);
	cr_assert_str_eq(text, time);
	for (unsigned i = 1; i < layout.field_count; i++)
		cr_assert_eq(parts.value[i], want[i - 1], "%s: %s is %llu", layout_text,
		             layout.field[i].name, (unsigned long long)parts.value[i]);
	cr_assert_eq(firn_layout_compose(&layout, parts.tick, parts.node, parts.sequence, &again),
	             FIRN_OK);
	cr_assert_eq(again, id);
}

Test(layout_preset, each_is_listed_once_and_says_what_it_prints)
{
	static const char *const names[] = {"default",   "regional",  "twitter",  "discord",
	                                    "instagram", "sonyflake", "mastodon", "baidu"};

	for (size_t i = 0; i < LENGTH(names); i++) {
		const struct firn_preset *preset = firn_layout_preset_at(i);
		struct firn_layout by_name;
		struct firn_layout by_text;
		char text[FIRN_LAYOUT_TEXT_MAX];

		cr_assert_not_null(preset);
		cr_assert_str_eq(preset->name, names[i]);
		cr_assert_eq(firn_layout_preset(names[i]), preset);
		by_name = parsed(names[i]);
		by_text = parsed(preset->text);
		cr_assert(firn_layout_equal(&by_name, &by_text));
		cr_assert_eq(firn_layout_print(&by_text, text, sizeof(text)), FIRN_OK);
		cr_assert_str_eq(text, preset->text);
		cr_assert_gt(strlen(preset->summary), 0);
		cr_assert_gt(strlen(preset->source), 0);
	}
	cr_assert_null(firn_layout_preset_at(LENGTH(names)));
	cr_assert_null(firn_layout_preset_at(SIZE_MAX));
}

Test(layout_preset, other_names_are_none)
{
	static const char *const none[] = {"",         "Default",  "defaul",
	                                   "default ", "defaults", "sonyflake2"};

	for (size_t i = 0; i < LENGTH(none); i++)
		cr_assert_null(firn_layout_preset(none[i]), "'%s'", none[i]);
	cr_assert_null(firn_layout_preset(NULL));
}

Test(layout_preset, default_and_regional_share_epoch_and_ends)
{
	struct firn_layout plain = parsed("default");
	struct firn_layout regional = parsed("regional");
	uint64_t a;
	uint64_t b;

	cr_assert_eq(plain.epoch_ms, INT64_C(1767225600000));
	cr_assert_eq(regional.epoch_ms, plain.epoch_ms);
	cr_assert_eq(firn_layout_compose(&plain, 10000, 1 * 128 + 7, 0, &a), FIRN_OK);
	cr_assert_eq(firn_layout_compose(&regional, 10000, 1 * 128 + 7, 0, &b), FIRN_OK);
	cr_assert_eq(a, b);
	cr_assert_eq(b, UINT64_C(41943592960));
}

Test(layout_preset, R70_twitter_decodes_published_ids)
{
	decodes("twitter", UINT64_C(1541815603606036480), "2022-06-28T16:07:40.105Z", 11, 26, 0);
	/* Node 378 is datacenter 11, worker 26. */
	decodes("twitter", UINT64_C(1593572310593806338), "2022-11-18T11:50:20.644Z", 11, 26, 2);
	decodes("twitter", 20, "2010-11-04T01:42:54.657Z", 0, 0, 20);
}

Test(layout_preset, R72_the_epoch_decides_the_year)
{
	decodes("time:41 node:10 sequence:12 epoch=0", UINT64_C(7202794905796608000),
	        "2024-06-01T22:15:27.000Z", 0, 0, 0);
	decodes("twitter", UINT64_C(7202794905796608000), "2065-04-04T23:58:21.657Z", 0, 0, 0);
}

/* From Discord's developer documentation, with its decoding. */
Test(layout_preset, discord_decodes_a_published_id)
{
	decodes("discord", UINT64_C(175928847299117063), "2016-04-30T11:18:25.796Z", 1, 0, 7);
}

/*
 * Two media IDs and when they were posted, 2020-08-26T13:43:27Z and 2020-08-25T13:52:46Z, as
 * reported by a user; and the worked example of the engineers' own text: shard 1341, the
 * 5001st row, 1387263000 ms after the epoch.
 */
Test(layout_preset, instagram_decodes_published_ids)
{
	struct firn_layout layout = parsed("instagram");
	uint64_t id;

	decodes("instagram", UINT64_C(2384288897814875714), "2020-08-26T13:43:27.313Z", 2675, 578, 0);
	decodes("instagram", UINT64_C(2383568809444681765), "2020-08-25T13:52:46.090Z", 2474, 37, 0);
	cr_assert_eq(firn_layout_compose(&layout, 1387263000, 1341, 5001 % 1024, &id), FIRN_OK);
	cr_assert_eq(id, (UINT64_C(1387263000) << 23) | (1341u << 10) | (5001u % 1024u));
}

/*
 * The ID stands as an example in a widely copied comparison of ID libraries of June 2017, without
 * its decoding: the month and a machine number from a private address (.1.8) must come out. The
 * tick is from a question to the authors asked on the day that it decodes to.
 */
Test(layout_preset, sonyflake_decodes_published_ids)
{
	struct firn_layout layout = parsed("sonyflake");
	struct firn_parts parts;
	char text[FIRNI_TIME_TEXT_MAX];
	uint64_t id;

	decodes("sonyflake", UINT64_C(0x20F8707D6000108), "2017-06-21T08:33:41.980Z", 0, 0x0108, 0);
	cr_assert_eq(firn_layout_compose(&layout, UINT64_C(24869724975), 0, 0, &id), FIRN_OK);
	cr_assert_eq(firn_layout_split(&layout, id, &parts), FIRN_OK);
	(void)firni_time_write(parts.time_ms, 1, text);
	cr_assert_str_eq(text, "2022-07-19T10:34:09.750Z");
}

/*
 * From Mastodon's API documentation, where the statuses were created at 03:48:33.901 and
 * 11:34:47.196: the database takes the ID a few milliseconds before the server takes created_at.
 */
Test(layout_preset, mastodon_decodes_published_ids)
{
	decodes("mastodon", UINT64_C(103270115826048975), "2019-12-08T03:48:33.849Z", 40911, 0, 0);
	decodes("mastodon", UINT64_C(103254962155278888), "2019-12-05T11:34:47.183Z", 53800, 0, 0);
}

/*
 * An ID of the default settings, published with its decoding: 2019-05-02 23:26:39 in China,
 * worker 21, sequence 1. The example in Baidu's own documentation is of other settings, decoded
 * to 2017-01-19 12:15:46 in the host's zone, worker 4, sequence 9. And the class says that its
 * defaults reach to 2024-11-20 21:24:16, in China again.
 */
Test(layout_preset, baidu_decodes_published_ids)
{
	struct firn_layout layout = parsed("baidu");
	char text[FIRNI_TIME_TEXT_MAX];

	decodes("baidu", UINT64_C(3200169789968523265), "2019-05-02T15:26:39.000Z", 21, 1, 0);
	decodes("time:29 worker:21 sequence:13 epoch=2016-09-20T00:00:00Z tick=1s",
	        UINT64_C(180363646902239241), "2017-01-19T12:15:46.000Z", 4, 9, 0);
	(void)firni_time_write(firn_layout_last_ms(&layout) + 1, 0, text);
	cr_assert_str_eq(text, "2024-11-20T13:24:16Z");
}
