/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a subject: requests of the port protocol answered with a scripted clock. */
#include "conform.h"
#include "firn_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <firn/inline.h>

/* A step may ask for any count; this many IDs are listed at most. */
#define TAKE_MAX 10000000

struct library {
	struct subject subject;
	int inline_lane;
	int cas_lane;
	struct firn_layout layout;
	struct firn_clock *clock;
	struct firn_gen *gen;
	uint32_t wait_ms_max;
	uint8_t spread_bits;
	int open_error;
	/* The script of the call under way: one reading for each ms waited. */
	int64_t *reading;
	size_t readings;
	int64_t waited_ns;
};

static int
scripted_wall(void *context, int64_t *unix_ms)
{
	const struct library *library = context;
	size_t at = (size_t)(library->waited_ns / 1000000);

	/* Opening reads the clock before any script is there: the epoch is always within the layout. */
	if (library->readings == 0)
		*unix_ms = library->layout.epoch_ms;
	else
		*unix_ms = library->reading[at < library->readings ? at : library->readings - 1];
	return 0;
}

static int64_t
scripted_elapsed(void *context)
{
	return ((const struct library *)context)->waited_ns;
}

static void
scripted_sleep(void *context, int64_t ns)
{
	((struct library *)context)->waited_ns += ns;
}

/* The vectors know three kinds of bad argument as one. */
static json_t *
answer_error(int error)
{
	enum firn_error_class cls = firn_error_class(error);
	int invalid = cls == FIRN_CLASS_CALL && error != FIRN_E_RANGE;

	return json_pack("{s:s}", "error", invalid ? "invalid" : firn_error_code(error));
}

static int
layout_of(const json_t *json, struct firn_layout *layout)
{
	struct firn_field field[FIRN_LAYOUT_FIELDS_MAX];
	json_t *fields = json_object_get(json, "fields");
	json_int_t tick = json_integer_value(json_object_get(json, "tick_ms"));
	size_t count = json_array_size(fields);

	if (count > FIRN_LAYOUT_FIELDS_MAX || tick < 1 || tick > FIRN_LAYOUT_TICK_MS_MAX)
		return FIRN_E_LAYOUT;
	memset(field, 0, sizeof(field));
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(json_array_get(fields, i), 0));
		json_int_t bits = json_integer_value(json_array_get(json_array_get(fields, i), 1));

		if (name == NULL || strlen(name) > FIRN_LAYOUT_NAME_MAX || bits < 0 || bits > 255)
			return FIRN_E_LAYOUT;
		(void)strcpy(field[i].name, name);
		field[i].bits = (uint8_t)bits;
	}
	return firn_layout_make(json_integer_value(json_object_get(json, "epoch_ms")), (uint32_t)tick, field, count,
	                        layout, NULL);
}

static int
node_of(const struct firn_layout *layout, const json_t *json, uint64_t *node)
{
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX] = {0};
	size_t fields = 0;

	for (unsigned i = 1; i < layout->field_count; i++) {
		const json_t *given = json_object_get(json, layout->field[i].name);

		if (strcmp(layout->field[i].name, "sequence") == 0)
			continue;
		if (!json_is_integer(given) || json_integer_value(given) < 0)
			return FIRN_E_NODE;
		value[fields++] = (uint64_t)json_integer_value(given);
	}
	if (json_object_size(json) != fields)
		return FIRN_E_NODE;
	return firn_layout_node_join(layout, value, node);
}

static void
close_gen(struct library *library)
{
	(void)firn_gen_close(library->gen);
	firn_clock_close(library->clock);
	free(library->reading);
	library->gen = NULL;
	library->clock = NULL;
	library->reading = NULL;
	library->readings = 0;
	library->waited_ns = 0;
}

static int
u32_of(const json_t *json, uint32_t *value)
{
	json_int_t number = json_integer_value(json);

	if (number < 0 || number > UINT32_MAX)
		return FIRN_E_INVALID;
	*value = (uint32_t)number;
	return FIRN_OK;
}

static int
open_gen(struct library *library, const json_t *request)
{
	struct firn_clock_config clock = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	const json_t *start = json_object_get(request, "start_after_ms");
	const json_t *fence = json_object_get(request, "fence_ms");
	uint32_t spread = 0;

	close_gen(library);
	int error = layout_of(json_object_get(request, "layout"), &library->layout);

	if (error == FIRN_OK)
		error = node_of(&library->layout, json_object_get(request, "node"), &config.node);
	if (error == FIRN_OK)
		error = u32_of(json_object_get(request, "lead_ms_max"), &config.lead_ms_max);
	if (error == FIRN_OK)
		error = u32_of(json_object_get(request, "wait_ms_max"), &library->wait_ms_max);
	if (error == FIRN_OK)
		error = u32_of(json_object_get(request, "spread_bits"), &spread);
	if (error == FIRN_OK && spread > 63)
		error = FIRN_E_INVALID;
	if (error != FIRN_OK)
		return error;
	clock.kind = FIRN_CLOCK_CUSTOM;
	clock.source.wall_ms = scripted_wall;
	clock.source.elapsed_ns = scripted_elapsed;
	clock.source.sleep_ns = scripted_sleep;
	clock.source.context = library;
	error = firn_clock_open(&clock, &library->clock);
	if (error != FIRN_OK)
		return error;
	config.layout = &library->layout;
	config.clock = library->clock;
	config.lane = library->cas_lane ? FIRN_GEN_CAS : FIRN_GEN_ADD;
	config.spread_bits = library->spread_bits = (uint8_t)spread;
	if (start != NULL)
		config.start_after_ms = json_integer_value(start);
	if (fence != NULL)
		config.limit_ms = json_integer_value(fence);
	return firn_gen_open(&config, &library->gen);
}

static int
set_script(struct library *library, const json_t *clock)
{
	free(library->reading);
	library->waited_ns = 0;
	library->readings = json_array_size(clock);
	library->reading = calloc(library->readings == 0 ? 1 : library->readings, sizeof(int64_t));
	if (library->reading == NULL || library->readings == 0)
		return FIRN_E_INVALID;
	for (size_t i = 0; i < library->readings; i++)
		library->reading[i] = json_integer_value(json_array_get(clock, i));
	return FIRN_OK;
}

/* One ID, a few, many: each way in through the API that fits, so that all of them are held to the vectors. */
static int
take(struct library *library, uint64_t count, json_t *ids)
{
	struct firn_range range;
	uint64_t id[64];
	int error;

	if (count == 0)
		return firn_gen_next_n_wait(library->gen, library->wait_ms_max, id, 0);
	if (count <= 64) {
		if (library->inline_lane)
			error = count == 1 ? firn_inline_next(library->gen, &library->gen->shape, id)
			                   : firn_inline_next_n(library->gen, &library->gen->shape, id, count);
		else
			error = count == 1 ? firn_gen_next_wait(library->gen, library->wait_ms_max, id)
			                   : firn_gen_next_n_wait(library->gen, library->wait_ms_max, id, count);
		for (size_t i = 0; error == FIRN_OK && i < count; i++)
			(void)json_array_append_new(ids, json_u64(id[i]));
		return error;
	}
	error = firn_gen_reserve_wait(library->gen, library->wait_ms_max, count, &range);
	if (error == FIRN_OK && count > TAKE_MAX)
		return FIRN_E_NO_MEMORY;
	while (error == FIRN_OK && firn_range_next(&range, id) == FIRN_OK)
		(void)json_array_append_new(ids, json_u64(id[0]));
	return error;
}

static json_t *
answer_take(struct library *library, const json_t *request)
{
	json_int_t count = json_integer_value(json_object_get(request, "count"));
	json_t *ids;

	if (library->open_error != FIRN_OK)
		return answer_error(library->open_error);
	if (library->gen == NULL || count < 0 || set_script(library, json_object_get(request, "clock")) != FIRN_OK)
		return answer_error(FIRN_E_INVALID);
	ids = json_array();
	int error = take(library, (uint64_t)count, ids);

	if (error != FIRN_OK) {
		json_decref(ids);
		return answer_error(error);
	}
	return json_pack("{s:o}", "ids", ids);
}

static json_t *
answer_decode(const json_t *request)
{
	struct firn_layout layout;
	struct firn_parts parts;
	uint64_t id;
	int error = layout_of(json_object_get(request, "layout"), &layout);

	if (error == FIRN_OK && !u64_of_json(json_object_get(request, "id"), &id))
		error = FIRN_E_INVALID;
	if (error == FIRN_OK)
		error = firn_layout_split(&layout, id, &parts);
	if (error != FIRN_OK)
		return answer_error(error);
	json_t *fields = json_object();

	for (unsigned i = 1; i < layout.field_count; i++)
		(void)json_object_set_new(fields, layout.field[i].name, json_integer((json_int_t)parts.value[i]));
	return json_pack("{s:I, s:o}", "time_ms", (json_int_t)parts.time_ms, "fields", fields);
}

static json_t *
answer_text(const json_t *request, int parse)
{
	const char *form_name = json_string_value(json_object_get(request, "form"));
	const json_t *text = json_object_get(request, "text");
	enum firn_text_form form;
	char written[FIRN_TEXT_MAX];
	uint64_t id;

	if (firn_text_form_find(form_name, &form) != FIRN_OK)
		return json_pack("{s:b}", "unsupported", 1);
	if (parse) {
		int error = firn_text_read(form, json_string_value(text), json_string_length(text), &id);

		return error != FIRN_OK ? answer_error(error) : json_pack("{s:o}", "id", json_u64(id));
	}
	if (!u64_of_json(json_object_get(request, "id"), &id))
		return answer_error(FIRN_E_INVALID);
	int length = firn_text_write(form, id, written);

	return length < 0 ? answer_error(length) : json_pack("{s:s}", "text", written);
}

static json_t *
ask(struct subject *subject, const json_t *request)
{
	struct library *library = (struct library *)subject;
	const char *op = json_string_value(json_object_get(request, "op"));

	if (op == NULL)
		return answer_error(FIRN_E_INVALID);
	if (strcmp(op, "open") == 0) {
		library->open_error = open_gen(library, request);
		/* The inline lane neither waits nor spreads. */
		if (library->inline_lane && library->open_error == FIRN_OK &&
		    (library->wait_ms_max != 0 || library->spread_bits != 0))
			return json_pack("{s:b}", "unsupported", 1);
		return library->open_error != FIRN_OK ? answer_error(library->open_error) : json_pack("{s:b}", "ok", 1);
	}
	if (strcmp(op, "take") == 0)
		return answer_take(library, request);
	if (strcmp(op, "raise_fence") == 0) {
		int error = firn_gen_raise_limit(library->gen, json_integer_value(json_object_get(request, "ms")));

		return error != FIRN_OK ? answer_error(error) : json_pack("{s:b}", "ok", 1);
	}
	if (strcmp(op, "close") == 0) {
		close_gen(library);
		library->open_error = FIRN_OK;
		return json_pack("{s:b}", "ok", 1);
	}
	if (strcmp(op, "decode") == 0)
		return answer_decode(request);
	if (strcmp(op, "format") == 0 || strcmp(op, "parse") == 0)
		return answer_text(request, op[0] == 'p');
	return json_pack("{s:b}", "unsupported", 1);
}

static void
close_library(struct subject *subject)
{
	close_gen((struct library *)subject);
	free(subject);
}

struct subject *
subject_library(const char *lane)
{
	struct library *library = calloc(1, sizeof(*library));

	if (library == NULL)
		return NULL;
	library->subject.ask = ask;
	library->subject.close = close_library;
	library->inline_lane = strcmp(lane, "inline") == 0;
	library->cas_lane = strcmp(lane, "cas") == 0;
	return &library->subject;
}

int
serve(struct subject *subject)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int code = EXIT_OK;

	while (code == EXIT_OK && (length = getline(&line, &room, stdin)) >= 0) {
		json_t *request = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, NULL);

		code = json_print(request != NULL ? subject->ask(subject, request) : answer_error(FIRN_E_INVALID));
		if (fflush(stdout) != 0)
			code = EXIT_OUTPUT;
		json_decref(request);
	}
	if (ferror(stdin)) {
		complain("standard input: %s", strerror(errno));
		code = EXIT_USAGE;
	}
	free(line);
	return code;
}
