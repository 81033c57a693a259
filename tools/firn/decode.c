/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn decode: IDs taken apart, in any text form, against one layout or the plausible ones. */
#include "firn_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/time.h"

static const char help[] =
	"firn decode [ID ...] [options]        (firn inspect is the same)\n"
	"\n"
	"Take IDs apart: time, fields, age. Without IDs they are read from standard input, one a line.\n"
	"\n"
	"  --layout LAYOUT   a preset or a text; without it every preset under which the ID is\n"
	"                    plausible is shown\n"
	"  --form FORM       decimal, hex, base32, base58, base62; default: told by length and\n"
	"                    digits (16: hex or decimal, 13: base32, 11: base58 or base62). Letter\n"
	"                    case is never folded in base58 and base62\n"
	"  --json            one object a line\n"
	"\n"
	"examples:\n"
	"  firn decode 1541815603606036480 --layout twitter\n"
	"  firn next -n 3 | firn decode --layout default\n"
	"  firn decode 1593572310593806338\n";

/* Before this no system of the presets ran; an ID a day in the future is a clock error or a wrong layout. */
#define DAY_MS 86400000

struct view {
	int json;
	int forced;
	enum firn_text_form form;
	const struct firn_layout *layout; /* NULL: all presets */
	int64_t now_ms;
};

/* Why a decoded time looks wrong, or NULL. */
static const char *
doubt(const struct firn_layout *layout, const struct firn_parts *parts, int64_t now_ms)
{
	if (parts->time_ms > now_ms + DAY_MS)
		return "in the future: made with another epoch or layout?";
	if (parts->time_ms - layout->epoch_ms < DAY_MS)
		return "within a day of the epoch: probably not made with this layout";
	return NULL;
}

/* All forms in which the text reads. A run of digits is decimal first: that is how IDs are shown. */
static unsigned
readings(const struct view *view, const char *text, size_t size, uint64_t id[FIRN_TEXT_FORMS],
         enum firn_text_form form[FIRN_TEXT_FORMS], int *error)
{
	static const enum firn_text_form order[] = {FIRN_TEXT_DECIMAL, FIRN_TEXT_HEX, FIRN_TEXT_BASE32,
	                                            FIRN_TEXT_BASE58, FIRN_TEXT_BASE62};
	unsigned count = 0;

	*error = FIRN_E_TEXT_LENGTH;
	for (unsigned i = 0; i < FIRN_TEXT_FORMS; i++) {
		if (view->forced && order[i] != view->form)
			continue;
		int this_one = firn_text_read(order[i], text, size, &id[count]);

		if (this_one == FIRN_OK)
			form[count++] = order[i];
		else if (this_one != FIRN_E_TEXT_LENGTH && *error != FIRN_E_TEXT_RANGE)
			*error = this_one;
	}
	return count;
}

static json_t *
json_of(const struct firn_layout *layout, const char *name, const struct firn_parts *parts, int64_t now_ms)
{
	json_t *fields = json_object();
	const char *why = doubt(layout, parts, now_ms);

	for (unsigned i = 1; i < layout->field_count; i++)
		(void)json_object_set_new(fields, layout->field[i].name, json_u64(parts->value[i]));
	return json_pack("{s:s*, s:o, s:I, s:o, s:o, s:o, s:o, s:I, s:s*}", "preset", name, "layout",
	                 json_layout(layout), "time_ms", (json_int_t)parts->time_ms, "time",
	                 json_time(parts->time_ms), "tick", json_u64(parts->tick), "node", json_u64(parts->node),
	                 "fields", fields, "age_ms", (json_int_t)(now_ms - parts->time_ms), "doubt", why);
}

static void
print_of(const struct firn_layout *layout, const char *name, const struct firn_parts *parts, int64_t now_ms)
{
	char time[FIRNI_TIME_TEXT_MAX];
	char epoch[FIRNI_TIME_TEXT_MAX];
	char age[32];
	const char *why = doubt(layout, parts, now_ms);
	int64_t age_ms = now_ms - parts->time_ms;

	(void)firni_time_write(parts->time_ms, 1, time);
	(void)firni_time_write(layout->epoch_ms, 0, epoch);
	(void)printf("  %s%s%s  %s %s", bold(), time, plain(), span_text((double)llabs(age_ms), age, sizeof(age)),
	             age_ms >= 0 ? "ago" : "ahead");
	for (unsigned i = 1; i < layout->field_count; i++)
		(void)printf("  %s %llu", layout->field[i].name, (unsigned long long)parts->value[i]);
	(void)printf("  %s(%s%sepoch %s)%s\n", dim(), name != NULL ? name : "", name != NULL ? ", " : "", epoch,
	             plain());
	if (why != NULL)
		(void)printf("  %s%s%s\n", dim(), why, plain());
}

/* Which presets make sense of an ID: split, and no doubt about the time. */
static unsigned
plausible(uint64_t id, int64_t now_ms, const struct firn_preset *found[16])
{
	unsigned count = 0;
	const struct firn_preset *preset;

	for (size_t i = 0; (preset = firn_layout_preset_at(i)) != NULL && count < 16; i++) {
		struct firn_layout layout;
		struct firn_parts parts;

		if (firn_layout_parse(preset->text, &layout, NULL) == FIRN_OK &&
		    firn_layout_split(&layout, id, &parts) == FIRN_OK && doubt(&layout, &parts, now_ms) == NULL)
			found[count++] = preset;
	}
	return count;
}

static json_t *
show_preset(const struct view *view, const struct firn_preset *preset, uint64_t id)
{
	struct firn_layout layout;
	struct firn_parts parts;

	if (firn_layout_parse(preset->text, &layout, NULL) != FIRN_OK ||
	    firn_layout_split(&layout, id, &parts) != FIRN_OK)
		return json_null();
	if (view->json)
		return json_of(&layout, preset->name, &parts, view->now_ms);
	print_of(&layout, preset->name, &parts, view->now_ms);
	return NULL;
}

static int
decode_one(const struct view *view, const char *text, size_t size)
{
	uint64_t id[FIRN_TEXT_FORMS];
	enum firn_text_form form[FIRN_TEXT_FORMS];
	struct firn_parts parts;
	int error;
	unsigned count = readings(view, text, size, id, form, &error);
	int code = EXIT_OK;

	if (count == 0) {
		if (view->json)
			(void)json_print(json_pack("{s:o, s:s, s:s}", "input", json_bytes(text, size), "error", firn_error_code(error),
			                           "message", firn_error_text(error)));
		complain("'%.64s': %s", text, firn_error_text(error));
		return EXIT_DIFFERS;
	}
	for (unsigned i = 0; i < count; i++) {
		json_t *layouts = json_array();

		error = FIRN_OK;
		if (!view->json)
			(void)printf("%s  %s(%s, %llu)%s\n", text, dim(), firn_text_form_name(form[i]),
			             (unsigned long long)id[i], plain());
		if (view->layout != NULL) {
			error = firn_layout_split(view->layout, id[i], &parts);
			if (error != FIRN_OK) {
				complain("'%.64s': %s", text, firn_error_text(error));
				code = EXIT_DIFFERS;
			} else if (view->json) {
				(void)json_array_append_new(layouts, json_of(view->layout, NULL, &parts, view->now_ms));
			} else {
				print_of(view->layout, NULL, &parts, view->now_ms);
			}
		} else {
			const struct firn_preset *found[16];
			unsigned fits = plausible(id[i], view->now_ms, found);

			for (unsigned k = 0; k < fits; k++) {
				json_t *shown = show_preset(view, found[k], id[i]);

				if (shown != NULL)
					(void)json_array_append_new(layouts, shown);
			}
			if (fits == 0 && !view->json)
				(void)printf("  no preset makes sense of it: give --layout\n");
		}
		if (view->json)
			(void)json_print(json_pack("{s:o, s:s, s:o, s:O, s:s*, s:s*}", "input", json_bytes(text, size), "form",
			                           firn_text_form_name(form[i]), "id", json_u64(id[i]), "layouts", layouts,
			                           "error", error != FIRN_OK ? firn_error_code(error) : NULL, "message",
			                           error != FIRN_OK ? firn_error_text(error) : NULL));
		json_decref(layouts);
	}
	return code;
}

static int
decode_lines(const struct view *view)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int code = EXIT_OK;

	/* Input may have no end: nobody is served by reading on when the output is gone. */
	while (!ferror(stdout) && (length = getline(&line, &room, stdin)) >= 0) {
		while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		/* An empty line is refused like any other text that is no ID: it is never 0. */
		if (decode_one(view, line, (size_t)length) != EXIT_OK)
			code = EXIT_DIFFERS;
	}
	if (ferror(stdin)) {
		complain("standard input: %s", strerror(errno));
		code = EXIT_DIFFERS;
	}
	free(line);
	return code;
}

int
cmd_decode(int argc, char **argv)
{
	const char *layout_text = NULL, *form = NULL, *json = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--layout", NULL, &layout_text, 0},
		{"--form", NULL, &form, 0},
		{"--json", NULL, &json, 1},
		{"--help", "-h", &want_help, 1},
	};
	struct firn_layout layout;
	struct view view = {0};
	int code = EXIT_OK;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (layout_text != NULL && layout_read(layout_text, &layout) != EXIT_OK)
		return EXIT_USAGE;
	if (form != NULL && firn_text_form_find(form, &view.form) != FIRN_OK) {
		complain("--form takes decimal, hex, base32, base58 or base62, not '%s'", form);
		return EXIT_USAGE;
	}
	view.forced = form != NULL;
	view.layout = layout_text != NULL ? &layout : NULL;
	view.json = json != NULL;
	view.now_ms = now_unix_ms();
	if (argc == 0)
		return decode_lines(&view);
	for (int i = 0; i < argc; i++)
		if (decode_one(&view, argv[i], strlen(argv[i])) != EXIT_OK)
			code = EXIT_DIFFERS;
	return code;
}
