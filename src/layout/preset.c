/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts known by name; tests/unit/layout_preset_test.c holds each against published IDs. */
#include <firn/layout.h>

#include <stddef.h>
#include <string.h>

static const struct firn_preset presets[] = {
	/* The first two are our own: nobody else has published IDs in them. */
	{"default", "time:41 node:10 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
	 "1024 nodes, 4096 IDs a millisecond each, until 2095", "firn"},
	{"regional", "time:41 region:3 worker:7 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms",
	 "8 regions of 128 workers, 4096 IDs a millisecond each, until 2095", "firn"},
	{"twitter", "time:41 datacenter:5 worker:5 sequence:12 epoch=2010-11-04T01:42:54.657Z tick=1ms",
	 "Twitter's Snowflake", "github.com/twitter-archive/snowflake, tag snowflake-2010"},
	{"discord", "time:41 worker:5 process:5 sequence:12 epoch=2015-01-01T00:00:00Z tick=1ms",
	 "Discord", "Discord's developer documentation, Snowflakes"},
	/* Published as 41/13/10 in a signed 64-bit column: of the 41 the top bit is the sign. */
	{"instagram", "time:40 shard:13 sequence:10 epoch=2011-08-24T21:07:01.721Z tick=1ms",
	 "Instagram's sharded IDs, as far as they are positive: until 2046",
	 "Instagram Engineering, Sharding & IDs at Instagram, 2012"},
	{"sonyflake", "time:39 sequence:8 machine:16 epoch=2014-09-01T00:00:00Z tick=10ms",
	 "Sony's Sonyflake: 65536 machines, 256 IDs in 10 ms, until 2188", "github.com/sony/sonyflake"},
	/* Published as 48/16: the top bit of the 48 is clear until the year 6429. */
	{"mastodon", "time:47 sequence:16 epoch=1970-01-01T00:00:00Z tick=1ms",
	 "Mastodon's status IDs; the low 16 bits are a hash and a counter",
	 "github.com/mastodon/mastodon, lib/mastodon/snowflake.rb"},
	/*
	 * The class's default epoch is a number, midnight in China; set as text it would be read
	 * in the host's zone. The example in its documentation is of other settings: 29/21/13.
	 */
	{"baidu", "time:28 worker:22 sequence:13 epoch=2016-05-19T16:00:00Z tick=1s",
	 "Baidu's uid-generator with its defaults: until 2024", "github.com/baidu/uid-generator"},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const struct firn_preset *
firn_layout_preset(const char *name)
{
	for (size_t i = 0; name != NULL && i < PRESETS; i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

const struct firn_preset *
firn_layout_preset_at(size_t index)
{
	return index < PRESETS ? &presets[index] : NULL;
}
