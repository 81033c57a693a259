/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Vector files: read strictly, so that a misspelt key cannot make a case pass. */
#include "conform.h"
#include "firn_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64 * 1024 * 1024)

enum need { MUST, MAY };
enum type { STRING, U64_TEXT, INTEGER, ARRAY, OBJECT };

struct key {
	const char *name;
	enum type type;
	enum need need;
};

struct context {
	const char *file;
	const char *name; /* of the case */
};

static int
bad(const struct context *c, const char *what, const char *key)
{
	complain("%s: case '%s': %s '%s'", c->file, c->name, what, key);
	return 0;
}

int
u64_of_json(const json_t *text, uint64_t *value)
{
	return json_is_string(text) && number_read(json_string_value(text), 0, UINT64_MAX, value);
}

static int
has_type(const json_t *value, enum type type)
{
	uint64_t number;

	switch (type) {
	case STRING:
		return json_is_string(value);
	case U64_TEXT:
		return u64_of_json(value, &number);
	case INTEGER:
		return json_is_integer(value);
	case ARRAY:
		return json_is_array(value);
	case OBJECT:
		return json_is_object(value);
	}
	return 0;
}

/* Every key is known and of its type, every key that must be there is. */
static int
check_keys(const struct context *c, json_t *object, const struct key keys[], size_t count)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return bad(c, "an object is missing at", keys[0].name);
	json_object_foreach(object, name, value) {
		size_t i = 0;

		while (i < count && strcmp(keys[i].name, name) != 0)
			i++;
		if (i == count)
			return bad(c, "unknown key", name);
		if (!has_type(value, keys[i].type))
			return bad(c, "wrong type or value of", name);
	}
	for (size_t i = 0; i < count; i++)
		if (keys[i].need == MUST && json_object_get(object, keys[i].name) == NULL)
			return bad(c, "missing key", keys[i].name);
	return 1;
}

#define CHECK(c, object, keys) check_keys(c, object, keys, sizeof(keys) / sizeof((keys)[0]))

static int
check_layout(const struct context *c, json_t *layout)
{
	static const struct key keys[] = {
		{"epoch_ms", INTEGER, MUST}, {"tick_ms", INTEGER, MUST}, {"fields", ARRAY, MUST}};
	size_t i;
	json_t *field;

	if (!CHECK(c, layout, keys))
		return 0;
	json_array_foreach(json_object_get(layout, "fields"), i, field)
		if (json_array_size(field) != 2 || !json_is_string(json_array_get(field, 0)) ||
		    !json_is_integer(json_array_get(field, 1)))
			return bad(c, "a field is [name, bits] in", "fields");
	return 1;
}

static int
check_integers(const struct context *c, json_t *array, const char *name)
{
	size_t i;
	json_t *value;

	if (json_array_size(array) == 0)
		return bad(c, "empty", name);
	json_array_foreach(array, i, value)
		if (!json_is_integer(value))
			return bad(c, "not a whole number in", name);
	return 1;
}

static int
check_ids(const struct context *c, json_t *ids)
{
	static const struct key keys[] = {{"first", U64_TEXT, MUST}, {"last", U64_TEXT, MUST}, {"count", INTEGER, MUST}};
	size_t i;
	json_t *id;
	uint64_t value;

	if (json_is_object(ids))
		return CHECK(c, ids, keys);
	if (!json_is_array(ids) || json_array_size(ids) == 0)
		return bad(c, "a list, or first, last and count, is needed in", "ids");
	json_array_foreach(ids, i, id)
		if (!u64_of_json(id, &value))
			return bad(c, "not a decimal string in", "ids");
	return 1;
}

static int
check_step(const struct context *c, json_t *step)
{
	static const struct key raise[] = {{"raise_fence_ms", INTEGER, MUST}};
	static const struct key fails[] = {
		{"take", INTEGER, MUST}, {"clock", ARRAY, MUST}, {"error", STRING, MUST}, {"repeat", INTEGER, MAY}};
	json_t *ids = json_object_get(step, "ids");
	json_t *repeat = json_object_get(step, "repeat");

	/* A step that runs no times would agree with anything. */
	if (json_is_integer(repeat) && json_integer_value(repeat) < 1)
		return bad(c, "less than 1:", "repeat");
	if (json_object_get(step, "raise_fence_ms") != NULL)
		return CHECK(c, step, raise);
	if (ids == NULL)
		return CHECK(c, step, fails) && check_integers(c, json_object_get(step, "clock"), "clock");
	json_t *copy = json_copy(step);

	(void)json_object_del(copy, "ids");
	(void)json_object_set_new(copy, "error", json_string(""));
	int good = json_object_get(step, "error") == NULL && CHECK(c, copy, fails) &&
	           check_integers(c, json_object_get(step, "clock"), "clock") && check_ids(c, ids);

	json_decref(copy);
	return good;
}

static int
check_mint(const struct context *c, json_t *one)
{
	static const struct key keys[] = {
		{"name", STRING, MUST},          {"covers", STRING, MAY},       {"kind", STRING, MUST},
		{"layout", OBJECT, MUST},        {"node", OBJECT, MUST},        {"lead_ms_max", INTEGER, MUST},
		{"wait_ms_max", INTEGER, MUST},  {"start_after_ms", INTEGER, MAY}, {"fence_ms", INTEGER, MAY},
		{"spread_bits", INTEGER, MAY},   {"steps", ARRAY, MUST}};
	size_t i;
	json_t *step;

	if (!CHECK(c, one, keys) || !check_layout(c, json_object_get(one, "layout")))
		return 0;
	if (json_array_size(json_object_get(one, "steps")) == 0)
		return bad(c, "empty", "steps");
	json_array_foreach(json_object_get(one, "steps"), i, step)
		if (!check_step(c, step))
			return 0;
	return 1;
}

static int
check_decode(const struct context *c, json_t *one)
{
	static const struct key good[] = {
		{"name", STRING, MUST}, {"covers", STRING, MAY},    {"kind", STRING, MUST}, {"layout", OBJECT, MUST},
		{"id", U64_TEXT, MUST}, {"time_ms", INTEGER, MUST}, {"fields", OBJECT, MUST}};
	static const struct key fails[] = {{"name", STRING, MUST},   {"covers", STRING, MAY},
	                                   {"kind", STRING, MUST},   {"layout", OBJECT, MUST},
	                                   {"id", U64_TEXT, MUST},   {"error", STRING, MUST}};

	return (json_object_get(one, "error") != NULL ? CHECK(c, one, fails) : CHECK(c, one, good)) &&
	       check_layout(c, json_object_get(one, "layout"));
}

static int
check_text(const struct context *c, json_t *one)
{
	static const struct key keys[] = {
		{"name", STRING, MUST}, {"covers", STRING, MAY}, {"kind", STRING, MUST}, {"form", STRING, MUST},
		{"id", U64_TEXT, MAY},  {"text", STRING, MAY},   {"error", STRING, MAY}};
	int id = json_object_get(one, "id") != NULL;
	int text = json_object_get(one, "text") != NULL;
	int error = json_object_get(one, "error") != NULL;

	if (!CHECK(c, one, keys))
		return 0;
	/* Both directions, or one of them refused. */
	return error ? id != text || bad(c, "a refusal has either id or text, beside", "error")
	             : (id && text) || bad(c, "id and text are needed, or", "error");
}

static json_t *
check_file(json_t *root, const char *name)
{
	static const struct key keys[] = {{"format", STRING, MUST}, {"cases", ARRAY, MUST}};
	struct context c = {name, "(the file itself)"};
	json_t *cases = json_object_get(root, "cases");
	json_t *one;
	size_t i;

	if (!CHECK(&c, root, keys))
		return NULL;
	if (strcmp(json_string_value(json_object_get(root, "format")), "firn-vectors/1") != 0) {
		(void)bad(&c, "not firn-vectors/1:", "format");
		return NULL;
	}
	if (json_array_size(cases) == 0) {
		(void)bad(&c, "empty", "cases");
		return NULL;
	}
	json_array_foreach(cases, i, one) {
		const char *kind = json_string_value(json_object_get(one, "kind"));

		c.name = json_string_value(json_object_get(one, "name"));
		if (c.name == NULL || c.name[0] == '\0' || kind == NULL) {
			c.name = "(no name)";
			(void)bad(&c, "missing key", kind == NULL ? "kind" : "name");
			return NULL;
		}
		int good = strcmp(kind, "mint") == 0     ? check_mint(&c, one)
		           : strcmp(kind, "decode") == 0 ? check_decode(&c, one)
		           : strcmp(kind, "text") == 0   ? check_text(&c, one)
		                                         : bad(&c, "unknown kind", kind);

		if (!good)
			return NULL;
	}
	return json_incref(cases);
}

json_t *
vectors_parse(const char *text, size_t size, const char *name)
{
	json_error_t error;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	if (root == NULL) {
		complain("%s: line %d: %s", name, error.line, error.text);
		return NULL;
	}
	json_t *cases = check_file(root, name);

	json_decref(root);
	return cases;
}

json_t *
vectors_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t size = 0;
	size_t room = 0;
	json_t *cases = NULL;

	if (file == NULL) {
		complain("%s: %s", path, strerror(errno));
		return NULL;
	}
	for (;;) {
		if (size == room) {
			room = room == 0 ? 65536 : room * 2;
			char *more = room <= FILE_MAX ? realloc(text, room) : NULL;

			if (more == NULL) {
				complain("%s: larger than %d MiB", path, FILE_MAX / 1024 / 1024);
				break;
			}
			text = more;
		}
		size_t read = fread(text + size, 1, room - size, file);

		if (read == 0) {
			if (ferror(file))
				complain("%s: %s", path, strerror(errno));
			else
				cases = vectors_parse(text, size, path);
			break;
		}
		size += read;
	}
	free(text);
	(void)fclose(file);
	return cases;
}
