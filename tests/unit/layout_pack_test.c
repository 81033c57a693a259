/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Values to IDs and back: round trips over all splits, order, and refusal in place of masking. */
#include <criterion/criterion.h>

#include <string.h>

#include <firn/error.h>
#include <firn/layout.h>

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

static struct firn_layout
made(const struct firn_field field[], size_t count)
{
	struct firn_layout layout;
	struct firn_layout_error error = {0};

	cr_assert_eq(firn_layout_make(0, 1, field, count, &layout, &error), FIRN_OK, "%s",
	             error.message);
	return layout;
}

static uint64_t
mask(unsigned bits)
{
	return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* Spreads a counter over all bits, so that every bit of a field is 0 and 1 in some case. */
static uint64_t
mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Compose, split, pack, join: they agree on one ID. */
static uint64_t
round_trip(const struct firn_layout *layout, uint64_t tick, uint64_t node, uint64_t sequence)
{
	struct firn_parts parts;
	uint64_t id = UNTOUCHED;
	uint64_t again = UNTOUCHED;
	uint64_t image = UNTOUCHED;
	uint64_t number = UNTOUCHED;
	uint64_t piece[FIRN_LAYOUT_FIELDS_MAX] = {0};

	cr_assert_eq(firn_layout_compose(layout, tick, node, sequence, &id), FIRN_OK);
	cr_assert_eq(id & ~mask(layout->total_bits), 0);
	cr_assert_eq(firn_layout_split(layout, id, &parts), FIRN_OK);
	cr_assert_eq(parts.tick, tick);
	cr_assert_eq(parts.node, node);
	cr_assert_eq(parts.sequence, sequence);
	cr_assert_eq(firn_layout_pack(layout, parts.value, &again), FIRN_OK);
	cr_assert_eq(again, id);
	cr_assert_eq(firn_layout_node_place(layout, node, &image), FIRN_OK);
	cr_assert_eq(image | tick << layout->time_shift | sequence << layout->seq_shift, id);
	cr_assert_eq(firn_layout_node_split(layout, node, piece), FIRN_OK);
	cr_assert_eq(firn_layout_node_join(layout, piece, &number), FIRN_OK);
	cr_assert_eq(number, node);
	return id;
}

/* Round trips at the edges and in between, order of the IDs, refusal one past each edge. */
static void
check_layout(const struct firn_layout *layout)
{
	uint64_t ticks = mask(layout->time_bits);
	uint64_t nodes = mask(layout->node_bits);
	uint64_t sequences = mask(layout->seq_bits);
	uint64_t id = UNTOUCHED;

	cr_assert_eq(round_trip(layout, 0, 0, 0), 0);
	cr_assert_eq(round_trip(layout, ticks, nodes, sequences), mask(layout->total_bits));
	for (uint64_t i = 0; i < 16; i++)
		(void)round_trip(layout, mixed(3 * i) & ticks, mixed(3 * i + 1) & nodes,
		                 mixed(3 * i + 2) & sequences);
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t words = mask(layout->time_bits + layout->seq_bits);
		uint64_t word = mixed(i) % words;
		uint64_t node = mixed(i + 100) & nodes;
		uint64_t other = mixed(i + 200) & nodes;
		uint64_t tick = word >> layout->seq_bits;
		uint64_t next = word + 1;
		uint64_t a = round_trip(layout, tick, node, word & sequences);
		uint64_t b = round_trip(layout, next >> layout->seq_bits, node, next & sequences);

		cr_assert_lt(a, b, "one node's IDs rise with its word");
		if (tick < ticks)
			cr_assert_lt(round_trip(layout, tick, node, sequences),
			             round_trip(layout, tick + 1, other, 0),
			             "any node's ID of a later tick is larger");
	}
	cr_assert_eq(firn_layout_compose(layout, ticks + 1, 0, 0, &id), FIRN_E_TIME_OVER);
	cr_assert_eq(firn_layout_compose(layout, UINT64_MAX, 0, 0, &id), FIRN_E_TIME_OVER);
	cr_assert_eq(firn_layout_compose(layout, 0, nodes + 1, 0, &id), FIRN_E_NODE);
	cr_assert_eq(firn_layout_compose(layout, 0, UINT64_MAX, 0, &id), FIRN_E_NODE);
	cr_assert_eq(firn_layout_compose(layout, 0, 0, sequences + 1, &id), FIRN_E_INVALID);
	cr_assert_eq(firn_layout_compose(layout, 0, 0, UINT64_MAX, &id), FIRN_E_INVALID);
	cr_assert_eq(id, UNTOUCHED);
}

Test(layout_pack, F116_every_split_of_63_bits_round_trips_and_keeps_order)
{
	unsigned splits = 0;

	for (unsigned node = 0; node <= 62; node++)
		for (unsigned sequence = 0; node + sequence <= 62; sequence++) {
			unsigned time = 63 - node - sequence;
			struct firn_field last[] = {{"time", (uint8_t)time, 0},
			                            {"node", (uint8_t)node, 0},
			                            {"sequence", (uint8_t)sequence, 0}};
			struct firn_field middle[] = {last[0], last[2], last[1]};
			struct firn_field none[] = {last[0], last[2]};
			struct firn_layout layout;

			if (time + sequence < 2)
				continue; /* one word only: nothing to order */
			if (node == 0) {
				layout = made(none, 2);
				check_layout(&layout);
			} else {
				layout = made(last, 3);
				check_layout(&layout);
				layout = made(middle, 3);
				check_layout(&layout);
			}
			splits++;
		}
	cr_assert_eq(splits, 2015);
}

Test(layout_pack, every_narrow_split_round_trips_and_keeps_order)
{
	for (unsigned time = 1; time <= 4; time++)
		for (unsigned node = 1; node <= 3; node++)
			for (unsigned sequence = 0; sequence <= 3; sequence++) {
				struct firn_field field[] = {{"time", (uint8_t)time, 0},
				                             {"sequence", (uint8_t)sequence, 0},
				                             {"node", (uint8_t)node, 0}};
				struct firn_layout layout = made(field, 3);

				for (uint64_t n = 0; n <= mask(node); n++) {
					uint64_t before = 0;

					for (uint64_t word = 0; word <= mask(time + sequence); word++) {
						uint64_t id =
							round_trip(&layout, word >> sequence, n, word & mask(sequence));

						cr_assert(word == 0 || id > before);
						before = id;
					}
				}
			}
}

Test(layout_pack, a_node_in_several_fields_around_the_sequence_is_one_number)
{
	struct firn_layout layout =
		parsed("time:30 region:3 sequence:8 rack:5 sequence2:2 worker:7 epoch=0");
	struct firn_parts parts;
	uint64_t id;

	check_layout(&layout);
	cr_assert_eq(layout.node_bits, 17);
	/* region 5, rack 19, sequence2 1, worker 100, in layout order: 101 10011 01 1100100 */
	cr_assert_eq(firn_layout_compose(&layout, 9, 0x166E4, 200, &id), FIRN_OK);
	cr_assert_eq(id, UINT64_C(9) << 25 | UINT64_C(5) << 22 | UINT64_C(200) << 14 | 19u << 9 |
	                     1u << 7 | 100u);
	cr_assert_eq(firn_layout_split(&layout, id, &parts), FIRN_OK);
	cr_assert_eq(parts.value[0], 9);
	cr_assert_eq(parts.value[1], 5);
	cr_assert_eq(parts.value[2], 200);
	cr_assert_eq(parts.value[3], 19);
	cr_assert_eq(parts.value[4], 1);
	cr_assert_eq(parts.value[5], 100);
	cr_assert_eq(parts.node, 0x166E4);
	cr_assert_eq(parts.time_ms, 9);
}

Test(layout_pack, node_fields_join_and_split_or_are_refused)
{
	struct firn_layout layout = parsed("regional");
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX] = {5, 100};
	uint64_t node = UNTOUCHED;

	cr_assert_eq(firn_layout_node_join(&layout, value, &node), FIRN_OK);
	cr_assert_eq(node, 5 * 128 + 100);
	value[0] = 8;
	node = UNTOUCHED;
	cr_assert_eq(firn_layout_node_join(&layout, value, &node), FIRN_E_NODE);
	value[0] = 5;
	value[1] = 128;
	cr_assert_eq(firn_layout_node_join(&layout, value, &node), FIRN_E_NODE);
	cr_assert_eq(node, UNTOUCHED);
	cr_assert_eq(firn_layout_node_split(&layout, 1023, value), FIRN_OK);
	cr_assert_eq(value[0], 7);
	cr_assert_eq(value[1], 127);
	cr_assert_eq(firn_layout_node_split(&layout, 1024, value), FIRN_E_NODE);
	cr_assert_eq(value[0], 7);
	cr_assert_eq(firn_layout_node_place(&layout, 1024, &node), FIRN_E_NODE);
	cr_assert_eq(node, UNTOUCHED);
	cr_assert_eq(firn_layout_node_place(&layout, 1023, &node), FIRN_OK);
	cr_assert_eq(node, UINT64_C(1023) << 12);
}

Test(layout_pack, a_layout_without_a_node_has_node_0_only)
{
	struct firn_layout layout = parsed("mastodon");
	uint64_t node = UNTOUCHED;
	uint64_t id = UNTOUCHED;

	cr_assert_eq(layout.node_bits, 0);
	cr_assert_eq(firn_layout_node_join(&layout, NULL, &node), FIRN_OK);
	cr_assert_eq(node, 0);
	cr_assert_eq(firn_layout_compose(&layout, 1, 1, 0, &id), FIRN_E_NODE);
	cr_assert_eq(firn_layout_compose(&layout, 1, 0, 0, &id), FIRN_OK);
	cr_assert_eq(id, 65536);
}

Test(layout_pack, pack_names_the_field_that_does_not_fit)
{
	struct firn_layout layout = parsed("sonyflake"); /* time 39, sequence 8, machine 16 */
	static const struct {
		uint64_t value[3];
		int error;
	} cases[] = {
		{{UINT64_C(1) << 39, 0, 0}, FIRN_E_TIME_OVER},
		{{0, 256, 0}, FIRN_E_INVALID},
		{{0, 0, 65536}, FIRN_E_NODE},
		{{UINT64_MAX, UINT64_MAX, UINT64_MAX}, FIRN_E_TIME_OVER},
		{{(UINT64_C(1) << 39) - 1, 255, 65535}, FIRN_OK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t id = UNTOUCHED;

		cr_assert_eq(firn_layout_pack(&layout, cases[i].value, &id), cases[i].error, "case %zu", i);
		cr_assert_eq(id, cases[i].error == FIRN_OK ? (uint64_t)INT64_MAX : UNTOUCHED, "case %zu",
		             i);
	}
}

Test(layout_pack, bits_outside_the_layout_are_refused_on_decode)
{
	struct firn_layout layout = parsed("time:20 node:5 sequence:5 epoch=0");
	struct firn_layout widest = parsed("default");
	struct firn_parts parts;

	memset(&parts, 0x5A, sizeof(parts));
	cr_assert_eq(firn_layout_split(&layout, UINT64_C(1) << 30, &parts), FIRN_E_RANGE);
	cr_assert_eq(firn_layout_split(&layout, UINT64_MAX, &parts), FIRN_E_RANGE);
	cr_assert_eq(firn_layout_split(&widest, UINT64_C(1) << 63, &parts), FIRN_E_RANGE);
	for (size_t i = 0; i < sizeof(parts); i++)
		cr_assert_eq(((unsigned char *)&parts)[i], 0x5A);
	cr_assert_eq(firn_layout_split(&layout, (UINT64_C(1) << 30) - 1, &parts), FIRN_OK);
	cr_assert_eq(firn_layout_split(&widest, (uint64_t)INT64_MAX, &parts), FIRN_OK);
}

Test(layout_pack, a_tick_past_the_last_millisecond_splits_to_the_last_one)
{
	struct firn_layout layout = parsed("time:63 sequence:0 epoch=0 tick=1000ms");
	struct firn_layout early = parsed("time:63 sequence:0 epoch=0000-01-01T00:00:00Z tick=1ms");
	struct firn_layout late = parsed("time:63 sequence:0 epoch=9999-12-31T23:59:59.999Z tick=1ms");
	const int64_t late_epoch = INT64_C(253402300799999);
	struct firn_parts parts;

	cr_assert_eq(firn_layout_split(&layout, UINT64_C(9223372036854775), &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_C(9223372036854775000));
	cr_assert_eq(firn_layout_split(&layout, UINT64_C(9223372036854776), &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_MAX);
	cr_assert_eq(firn_layout_split(&layout, (uint64_t)INT64_MAX, &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_MAX);
	cr_assert_eq(firn_layout_split(&early, (uint64_t)INT64_MAX, &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_MAX - INT64_C(62167219200000));
	cr_assert_eq(firn_layout_split(&late, (uint64_t)(INT64_MAX - late_epoch), &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_MAX);
	cr_assert_eq(firn_layout_split(&late, (uint64_t)(INT64_MAX - late_epoch) - 1, &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_MAX - 1);
}

Test(layout_pack, R61_a_node_that_would_spill_into_the_time_is_refused)
{
	struct firn_layout layout = parsed("time:41 node:10 sequence:12 epoch=2024-01-01T00:00:00Z");
	uint64_t id = UNTOUCHED;

	cr_assert_eq(firn_layout_compose(&layout, 1, 1024, 0, &id), FIRN_E_NODE);
	cr_assert_eq(firn_layout_compose(&layout, 2, 1024, 0, &id), FIRN_E_NODE);
	cr_assert_eq(id, UNTOUCHED);
	cr_assert_eq(firn_layout_compose(&layout, 1, 1023, 0, &id), FIRN_OK);
	cr_assert_eq(id, 4194304 + 1023 * 4096);
}

Test(layout_pack, R65_an_instance_number_of_16_bits_is_refused_by_a_field_of_15)
{
	struct firn_layout layout = parsed("time:48 node:15 sequence:0 epoch=0");
	uint64_t id = UNTOUCHED;

	cr_assert_eq(firn_layout_compose(&layout, 3, 32769, 0, &id), FIRN_E_NODE);
	cr_assert_eq(firn_layout_compose(&layout, 3, 32768, 0, &id), FIRN_E_NODE);
	cr_assert_eq(id, UNTOUCHED);
	cr_assert_eq(firn_layout_compose(&layout, 2, 1, 0, &id), FIRN_OK);
	cr_assert_eq(id, 65537);
	cr_assert_eq(firn_layout_compose(&layout, 3, 32767, 0, &id), FIRN_OK);
	cr_assert_eq(firn_layout_compose(&layout, 2, 1, 1, &id), FIRN_E_INVALID);
}

Test(layout_pack, the_fixture_composes_as_its_formula_says)
{
	struct firn_layout layout = parsed("time:41 node:10 sequence:12 epoch=2024-01-01T00:00:00Z");
	struct firn_parts parts;
	uint64_t id;

	cr_assert_eq(firn_layout_compose(&layout, 1000, 1, 0, &id), FIRN_OK);
	cr_assert_eq(id, 4194308096);
	cr_assert_eq(firn_layout_compose(&layout, 123, 42, 7, &id), FIRN_OK);
	cr_assert_eq(id, 516071431);
	cr_assert_eq(firn_layout_split(&layout, UINT64_C(141264821508263936), &parts), FIRN_OK);
	cr_assert_eq(parts.time_ms, INT64_C(1737747358021));
	cr_assert_eq(parts.node, 37);
	cr_assert_eq(parts.sequence, 0);
}
