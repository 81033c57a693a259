/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn layout: presets listed, a layout drawn and checked. */
#include "firn_tool.h"

#include <math.h>
#include <string.h>

#include "layout/time.h"

static const char help[] =
	"firn layout list                         the presets\n"
	"firn layout show LAYOUT                  a picture of the bits, capacity, last moment\n"
	"firn layout check LAYOUT [--at TIME]     exit 0 if it is sound, 1 with warnings, 2 if malformed\n"
	"firn layout plan --nodes N --rate R [--burst B] [--years Y] [--regions N]\n"
	"                                         propose layouts and say what each costs\n"
	"firn layout tune --nodes N --rate R ...  the same, simulated, and the best tried on this machine\n"
	"\n"
	"LAYOUT is a preset's name or a text:\n"
	"  time:41 region:3 worker:7 sequence:12 epoch=2026-01-01T00:00:00Z tick=1ms\n"
	"from the top bit down; time first, one sequence, every other field is part of the node.\n"
	"\n"
	"plan:  --nodes how many generators run at once; --rate IDs a second over all of them;\n"
	"       --burst IDs asked for within one millisecond over all of them (N or N/ms);\n"
	"       --years of life (50); --regions with node numbers of their own (1)\n"
	"\n"
	"  --at TIME   the moment that 'check' and 'show' ask about, RFC 3339 (default: now)\n"
	"  --json\n"
	"\n"
	"examples:\n"
	"  firn layout show sonyflake\n"
	"  firn layout check 'time:32 worker:16 sequence:15 epoch=2022-01-01T00:00:00Z'\n"
	"  firn layout plan --nodes 400 --rate 30000 --burst 100000 --years 50\n";

static int
list(int json)
{
	json_t *all = json_array();
	const struct firn_preset *preset;
	struct firn_layout layout;

	for (size_t i = 0; (preset = firn_layout_preset_at(i)) != NULL; i++) {
		if (firn_layout_parse(preset->text, &layout, NULL) != FIRN_OK)
			continue;
		if (json)
			(void)json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "name", preset->name, "summary",
			                                           preset->summary, "source", preset->source, "layout",
			                                           json_layout(&layout)));
		else
			(void)printf("%s%-10s%s  %s\n            %s%s%s\n", bold(), preset->name, plain(), preset->text, dim(),
			             preset->summary, plain());
	}
	int code = json ? json_print(json_incref(all)) : EXIT_OK;

	json_decref(all);
	return code;
}

/* One character a bit, in the order of the ID: which field is where, at a glance. */
static void
draw(const struct firn_layout *layout)
{
	unsigned unused = 64u - layout->total_bits;

	(void)printf("  bit 63%*s0\n  ", 57, "");
	for (unsigned i = 0; i < unused; i++)
		(void)fputc('.', stdout);
	for (unsigned i = 0; i < layout->field_count; i++)
		for (unsigned bit = 0; bit < layout->field[i].bits; bit++)
			(void)fputc(bit == 0 ? layout->field[i].name[0] - 'a' + 'A' : layout->field[i].name[0], stdout);
	(void)fputc('\n', stdout);
	for (unsigned i = 0; i < layout->field_count; i++)
		(void)printf("  %-15s %2u bits at %2u   0 to %llu\n", layout->field[i].name, layout->field[i].bits,
		             layout->field[i].shift,
		             (unsigned long long)((UINT64_C(1) << layout->field[i].bits) - 1));
}

static int
warnings(const struct firn_layout *layout, int64_t at_ms, json_t *into)
{
	const char *warning;
	size_t count = 0;

	while ((warning = firn_layout_warning(layout, at_ms, count)) != NULL) {
		(void)json_array_append_new(into, json_string(warning));
		count++;
	}
	return count != 0;
}

static int
show(const struct firn_layout *layout, int64_t at_ms, int json, int check)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};
	char last[FIRNI_TIME_TEXT_MAX];
	char life[32];
	char span[32];
	json_t *warned = json_array();
	int doubtful = warnings(layout, at_ms, warned);
	double life_ms = (double)firn_layout_life_ms(layout, at_ms);
	double span_ms = ldexp(1.0, layout->time_bits) * layout->tick_ms;
	size_t i;
	json_t *one;
	int code = check && doubtful ? EXIT_DIFFERS : EXIT_OK;

	if (firn_layout_print(layout, text, sizeof(text)) != FIRN_OK)
		text[0] = '\0';
	(void)firni_time_write(firn_layout_last_ms(layout), 1, last);
	if (json) {
		int printed = json_print(json_pack(
			"{s:o, s:o, s:o, s:f, s:f, s:o, s:f, s:o, s:O}", "layout", json_layout(layout), "last", json_time(
			firn_layout_last_ms(layout)), "ids_per_tick", json_u64(firn_layout_ids_per_tick(layout)),
			"ids_per_second", firn_layout_ids_per_second(layout), "ns_per_id_at_the_ceiling",
			1e9 / firn_layout_ids_per_second(layout), "nodes", json_u64(firn_layout_nodes(layout)), "life_ms",
			life_ms, "fingerprint", json_u64(firn_layout_fingerprint(layout)), "warnings", warned));

		json_decref(warned);
		return printed != EXIT_OK ? printed : code;
	}
	(void)printf("%s%s%s\n", bold(), text, plain());
	if (!check)
		draw(layout);
	(void)printf("  last moment     %s (%s left of %s)\n", last, span_text(life_ms, life, sizeof(life)),
	             span_text(span_ms, span, sizeof(span)));
	(void)printf("  one node        %llu IDs a tick of %u ms, %.0f a second: one in %.2f ns at the ceiling\n",
	             (unsigned long long)firn_layout_ids_per_tick(layout), layout->tick_ms,
	             firn_layout_ids_per_second(layout), 1e9 / firn_layout_ids_per_second(layout));
	(void)printf("  nodes           %llu\n", (unsigned long long)firn_layout_nodes(layout));
	json_array_foreach(warned, i, one)
		(void)printf("  warning: %s\n", json_string_value(one));
	json_decref(warned);
	return code;
}

int
cmd_layout(int argc, char **argv)
{
	const char *json = NULL, *at = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},
		{"--at", NULL, &at, 0},
		{"--help", "-h", &want_help, 1},
	};
	struct firn_layout layout;
	int64_t at_ms = now_unix_ms();
	const char *why;
	size_t offset;

	if (argc > 1 && strcmp(argv[1], "plan") == 0)
		return cmd_layout_plan(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "tune") == 0)
		return cmd_layout_tune(argc - 1, argv + 1);
	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (at != NULL && firni_time_read(at, strlen(at), &at_ms, &offset, &why) != 0) {
		complain("--at '%s': %s", at, why);
		return EXIT_USAGE;
	}
	const char *verb = argc > 0 ? argv[0] : "";

	if (strcmp(verb, "list") == 0 && argc == 1)
		return list(json != NULL);
	if ((strcmp(verb, "show") != 0 && strcmp(verb, "check") != 0) || argc != 2) {
		complain("say list, show LAYOUT, check LAYOUT, plan or tune; 'firn layout --help' explains");
		return EXIT_USAGE;
	}
	if (layout_read(argv[1], &layout) != EXIT_OK)
		return EXIT_USAGE;
	return show(&layout, at_ms, json != NULL, strcmp(verb, "check") == 0);
}
