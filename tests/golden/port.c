/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as a port where there is no JSON library: requests as words, from port.py, which
 * speaks JSON with 'firn conform'. One line in, one line out. usage: port add|cas|shards
 *
 *   open EPOCH TICK LEAD WAIT SPREAD START|- FENCE|- FIELDS {NAME BITS} NODES {VALUE}
 *   take COUNT READING...      raise MS      close
 *   decode EPOCH TICK FIELDS {NAME BITS} ID      format FORM ID      parse FORM xHEX
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn.h>

#define READINGS_MAX 4096
#define TAKE_MAX 10000000

static struct firn_layout layout;
static struct firn_clock *clock_;
static struct firn_gen *gen;
static struct firn_shards *shards;
static enum firn_gen_lane lane;
static int on_shards;
static uint32_t wait_ms_max;
static int open_error;
static int64_t reading[READINGS_MAX];
static size_t readings;
static int64_t waited_ns;

/* The rest of the request. */
static char *rest;

static const char *
text_token(void)
{
	char *token = strtok_r(rest, " \n", &rest);

	return token != NULL ? token : "";
}

/* A whole number; one that is not, or is too large, is an error that stays. */
static int64_t
number_token(int *error)
{
	const char *token = text_token();
	char *end;
	long long value = strtoll(token, &end, 10);

	if (*token == '\0' || *end != '\0' || value == INT64_MAX || value == INT64_MIN)
		*error = FIRN_E_INVALID;
	return value;
}

static uint32_t
u32_token(int *error)
{
	int64_t value = number_token(error);

	if (value < 0 || value > UINT32_MAX)
		*error = FIRN_E_INVALID;
	return (uint32_t)value;
}

static int64_t
number_or_dash(int64_t otherwise, int *error)
{
	if (rest != NULL && strncmp(rest, "- ", 2) == 0) {
		(void)text_token();
		return otherwise;
	}
	return number_token(error);
}

static int
answer_error(int error)
{
	int invalid = firn_error_class(error) == FIRN_CLASS_CALL && error != FIRN_E_RANGE;

	return printf("error %s\n", invalid ? "invalid" : firn_error_code(error));
}

static int
answer(int error)
{
	return error != FIRN_OK ? answer_error(error) : printf("ok\n");
}

static int
scripted_wall(void *context, int64_t *unix_ms)
{
	size_t at = (size_t)(waited_ns / 1000000);

	(void)context;
	*unix_ms = readings == 0 ? layout.epoch_ms : reading[at < readings ? at : readings - 1];
	return 0;
}

static int64_t
scripted_elapsed(void *context)
{
	(void)context;
	return waited_ns;
}

static void
scripted_sleep(void *context, int64_t ns)
{
	(void)context;
	waited_ns += ns;
}

static int
layout_tokens(int64_t epoch_ms, uint32_t tick_ms, int *error)
{
	struct firn_field field[FIRN_LAYOUT_FIELDS_MAX];
	uint32_t count = u32_token(error);

	memset(field, 0, sizeof(field));
	for (uint32_t i = 0; i < count && *error == FIRN_OK; i++) {
		const char *name = text_token();
		uint32_t bits = u32_token(error);

		if (i >= FIRN_LAYOUT_FIELDS_MAX || strlen(name) > FIRN_LAYOUT_NAME_MAX || bits > 255)
			return FIRN_E_LAYOUT;
		(void)strcpy(field[i].name, name);
		field[i].bits = (uint8_t)bits;
	}
	return *error != FIRN_OK ? *error : firn_layout_make(epoch_ms, tick_ms, field, count, &layout, NULL);
}

static void
close_all(void)
{
	firn_shards_close(shards);
	(void)firn_gen_close(gen);
	firn_clock_close(clock_);
	shards = NULL;
	gen = NULL;
	clock_ = NULL;
	readings = 0;
	waited_ns = 0;
}

static int
open_all(void)
{
	struct firn_clock_config clock = FIRN_CLOCK_CONFIG_INIT;
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX] = {0};
	int error = FIRN_OK;
	int64_t epoch_ms = number_token(&error);
	uint32_t tick_ms = u32_token(&error);

	close_all();
	config.lead_ms_max = u32_token(&error);
	wait_ms_max = u32_token(&error);
	uint32_t spread = u32_token(&error);

	config.start_after_ms = number_or_dash(config.start_after_ms, &error);
	config.limit_ms = number_or_dash(config.limit_ms, &error);
	if (error != FIRN_OK || spread > 63)
		return FIRN_E_INVALID;
	error = layout_tokens(epoch_ms, tick_ms, &error);
	if (error != FIRN_OK)
		return error;
	uint32_t nodes = u32_token(&error);

	for (uint32_t i = 0; i < nodes && i < FIRN_LAYOUT_FIELDS_MAX; i++)
		value[i] = (uint64_t)number_token(&error);
	if (error == FIRN_OK)
		error = firn_layout_node_join(&layout, value, &config.node);
	clock.kind = FIRN_CLOCK_CUSTOM;
	clock.source.wall_ms = scripted_wall;
	clock.source.elapsed_ns = scripted_elapsed;
	clock.source.sleep_ns = scripted_sleep;
	if (error == FIRN_OK)
		error = firn_clock_open(&clock, &clock_);
	if (error != FIRN_OK)
		return error;
	config.layout = &layout;
	config.clock = clock_;
	config.lane = lane;
	config.spread_bits = (uint8_t)spread;
	/* One shard: its sequence is the whole one, so the values are the vectors'. */
	return on_shards ? firn_shards_open(&config, 1, &shards) : firn_gen_open(&config, &gen);
}

static int
take(void)
{
	int error = FIRN_OK;
	int64_t count = number_token(&error);

	if (open_error != FIRN_OK)
		return answer_error(open_error);
	for (readings = 0; rest != NULL && *rest != '\0' && *rest != '\n' && readings < READINGS_MAX; readings++)
		reading[readings] = number_token(&error);
	waited_ns = 0;
	if (error != FIRN_OK || readings == 0 || count < 0 || (gen == NULL && shards == NULL))
		return answer_error(FIRN_E_INVALID);
	if (count > TAKE_MAX)
		return printf("unsupported\n");
	uint64_t *id = calloc((size_t)count + 1, sizeof(*id));

	if (id == NULL)
		return answer_error(FIRN_E_NO_MEMORY);
	if (on_shards)
		error = count == 1 ? firn_shards_next(shards, id) : firn_shards_next_n(shards, id, (size_t)count);
	else
		error = count == 1 ? firn_gen_next_wait(gen, wait_ms_max, id)
		                   : firn_gen_next_n_wait(gen, wait_ms_max, id, (size_t)count);
	if (error == FIRN_OK) {
		(void)printf("ids");
		for (int64_t i = 0; i < count; i++)
			(void)printf(" %" PRIu64, id[i]);
		(void)printf("\n");
	}
	free(id);
	return error != FIRN_OK ? answer_error(error) : 0;
}

static int
decode(void)
{
	struct firn_parts parts;
	int error = FIRN_OK;
	int64_t epoch_ms = number_token(&error);
	uint32_t tick_ms = u32_token(&error);

	error = layout_tokens(epoch_ms, tick_ms, &error);
	if (error == FIRN_OK)
		error = firn_layout_split(&layout, strtoull(text_token(), NULL, 10), &parts);
	if (error != FIRN_OK)
		return answer_error(error);
	(void)printf("parts %" PRId64, parts.time_ms);
	for (unsigned i = 1; i < layout.field_count; i++)
		(void)printf(" %s %" PRIu64, layout.field[i].name, parts.value[i]);
	return printf("\n");
}

static int
text(int parse)
{
	enum firn_text_form form;
	char written[FIRN_TEXT_MAX];
	uint64_t id;

	if (firn_text_form_find(text_token(), &form) != FIRN_OK)
		return printf("unsupported\n");
	const char *token = text_token();

	if (!parse) {
		int length = firn_text_write(form, strtoull(token, NULL, 10), written);

		return length < 0 ? answer_error(length) : printf("text %s\n", written);
	}
	size_t length = strlen(token) / 2; /* of an odd count: the leading x */
	char *given = calloc(1, length + 1);

	for (size_t i = 0; given != NULL && i < length; i++) {
		char digits[3] = {token[1 + 2 * i], token[2 + 2 * i], '\0'};

		given[i] = (char)strtoul(digits, NULL, 16);
	}
	int error = given == NULL ? FIRN_E_NO_MEMORY : firn_text_read(form, given, length, &id);

	free(given);
	return error != FIRN_OK ? answer_error(error) : printf("id %" PRIu64 "\n", id);
}

static int
serve(const char *op)
{
	int error = FIRN_OK;

	if (strcmp(op, "open") == 0) {
		open_error = open_all();
		/* Shards do not wait. */
		if (on_shards && open_error == FIRN_OK && wait_ms_max != 0)
			return printf("unsupported\n");
		return answer(open_error);
	}
	if (strcmp(op, "take") == 0)
		return take();
	if (strcmp(op, "raise") == 0) {
		int64_t ms = number_token(&error);

		return answer(error != FIRN_OK ? error
		              : on_shards      ? firn_shards_raise_limit(shards, ms)
		                               : firn_gen_raise_limit(gen, ms));
	}
	if (strcmp(op, "close") == 0) {
		close_all();
		open_error = FIRN_OK;
		return answer(FIRN_OK);
	}
	return strcmp(op, "decode") == 0 ? decode() : text(strcmp(op, "parse") == 0);
}

int
main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";
	char *line = NULL;
	size_t room = 0;

	if (strcmp(name, "add") != 0 && strcmp(name, "cas") != 0 && strcmp(name, "shards") != 0) {
		(void)fprintf(stderr, "usage: port add|cas|shards\n");
		return 2;
	}
	lane = strcmp(name, "cas") == 0 ? FIRN_GEN_CAS : FIRN_GEN_ADD;
	on_shards = strcmp(name, "shards") == 0;
	while (getline(&line, &room, stdin) >= 0) {
		rest = line;
		(void)serve(text_token());
		if (fflush(stdout) != 0)
			return 1;
	}
	close_all();
	free(line);
	return 0;
}
