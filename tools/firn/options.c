/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reading options, numbers, layouts, node numbers and the default state path. */
#include "firn_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct option_spec *
find(const char *argument, const struct option_spec *specs, size_t count, const char **inline_value)
{
	const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
	size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);

	*inline_value = equals != NULL ? equals + 1 : NULL;
	for (size_t i = 0; i < count; i++) {
		if (strlen(specs[i].name) == length && strncmp(specs[i].name, argument, length) == 0)
			return &specs[i];
		if (specs[i].letter != NULL && strcmp(specs[i].letter, argument) == 0)
			return &specs[i];
	}
	return NULL;
}

int
options_read(int *argc, char **argv, const struct option_spec *specs, size_t count)
{
	int operands = 0;
	int only_operands = 0;

	for (int i = 1; i < *argc; i++) {
		const char *inline_value;
		const struct option_spec *spec;

		if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0' ||
		    (argv[i][1] >= '0' && argv[i][1] <= '9')) {
			argv[operands++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_operands = 1;
			continue;
		}
		spec = find(argv[i], specs, count, &inline_value);
		if (spec == NULL) {
			complain("no option '%s'; 'firn %s --help' lists them", argv[i], command_name);
			return EXIT_USAGE;
		}
		if (spec->is_flag) {
			if (inline_value != NULL) {
				complain("%s takes no value", spec->name);
				return EXIT_USAGE;
			}
			*spec->value = "";
			continue;
		}
		if (inline_value == NULL && i + 1 == *argc) {
			complain("%s needs a value", spec->name);
			return EXIT_USAGE;
		}
		*spec->value = inline_value != NULL ? inline_value : argv[++i];
	}
	*argc = operands;
	return EXIT_OK;
}

int
number_read(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t read = 0;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
		return 0;
	for (const char *c = text; *c != '\0'; c++) {
		if (*c < '0' || *c > '9' || __builtin_mul_overflow(read, 10, &read) ||
		    __builtin_add_overflow(read, (uint64_t)(*c - '0'), &read))
			return 0;
	}
	if (read < min || read > max)
		return 0;
	*value = read;
	return 1;
}

int
layout_read(const char *text, struct firn_layout *layout)
{
	struct firn_layout_error error;

	if (text == NULL)
		text = "default";
	if (firn_layout_parse(text, layout, &error) == FIRN_OK)
		return EXIT_OK;
	complain("layout: %s", error.message);
	/* A line under the text points at the character. */
	if (strlen(text) < 200 && strchr(text, '\n') == NULL) {
		(void)fprintf(stderr, "  %s\n  %*s", text, (int)error.offset, "");
		for (size_t i = 0; i < (error.length == 0 ? 1 : error.length); i++)
			(void)fputc('^', stderr);
		(void)fputc('\n', stderr);
	}
	return EXIT_USAGE;
}

static int
node_refused(const struct firn_layout *layout, const char *text)
{
	complain("node '%s' is not a node of this layout: a plain number from 0 to %llu, or every field by name, such as",
	         text, (unsigned long long)(firn_layout_nodes(layout) - 1));
	(void)fputs("  --node ", stderr);
	const char *comma = "";

	for (unsigned i = 1; i < layout->field_count; i++)
		if (strcmp(layout->field[i].name, "sequence") != 0) {
			(void)fprintf(stderr, "%s%s=0", comma, layout->field[i].name);
			comma = ",";
		}
	(void)fputs(comma[0] == '\0' ? "0\n" : "\n", stderr);
	return EXIT_USAGE;
}

static int
named_node(const struct firn_layout *layout, const char *text, uint64_t *node)
{
	uint64_t value[FIRN_LAYOUT_FIELDS_MAX] = {0};
	unsigned given = 0;
	unsigned fields = 0;
	unsigned named = 0;

	for (unsigned i = 1; i < layout->field_count; i++) {
		const char *name = layout->field[i].name;
		size_t length = strlen(name);
		const char *at = text;
		unsigned before = given;

		if (strcmp(name, "sequence") == 0)
			continue;
		while (at != NULL) {
			if (strncmp(at, name, length) == 0 && at[length] == '=') {
				char number[24] = {0};
				size_t digits = strcspn(at + length + 1, ",");

				if (digits >= sizeof(number))
					return 0;
				memcpy(number, at + length + 1, digits);
				if (!number_read(number, 0, (UINT64_C(1) << layout->field[i].bits) - 1, &value[fields]))
					return 0;
				given++;
			}
			at = strchr(at, ',');
			at = at != NULL ? at + 1 : NULL;
		}
		/* Once each: twice would leave another out. */
		if (given != before + 1)
			return 0;
		fields++;
	}
	for (const char *at = text; at != NULL; named++) {
		at = strchr(at, ',');
		at = at != NULL ? at + 1 : NULL;
	}
	return given == fields && named == fields && firn_layout_node_join(layout, value, node) == FIRN_OK;
}

int
node_read(const struct firn_layout *layout, const char *text, uint64_t *node)
{
	*node = 0;
	if (text == NULL)
		return EXIT_OK;
	if (strchr(text, '=') != NULL ? named_node(layout, text, node)
	                              : number_read(text, 0, firn_layout_nodes(layout) - 1, node))
		return EXIT_OK;
	return node_refused(layout, text);
}

/* Make every missing directory of a path, for this user only. */
static int
make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int failed = mkdir(path, 0700) != 0 && errno != EEXIST;

		*slash = '/';
		if (failed)
			return 0;
	}
	return 1;
}

int
state_path_default(char *path, size_t size, int make)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int length;

	if (state != NULL && state[0] == '/')
		length = snprintf(path, size, "%s/firn/default.state", state);
	else if (home != NULL && home[0] == '/')
		length = snprintf(path, size, "%s/.local/state/firn/default.state", home);
	else {
		complain("neither XDG_STATE_HOME nor HOME names a directory; give --state FILE");
		return EXIT_USAGE;
	}
	if (length < 0 || (size_t)length >= size) {
		complain("the state directory's path is too long; give --state FILE");
		return EXIT_USAGE;
	}
	if (make && !make_directories(path)) {
		complain("cannot make the directory of %s: %s", path, strerror(errno));
		return EXIT_REFUSED;
	}
	return EXIT_OK;
}

int
state_refuse(int json, const char *path, int error)
{
	if (error != FIRN_E_INVALID)
		return refuse(json, path, error);
	complain("'%.300s' cannot be a state file's name: it is empty, ends in a directory, or is too long", path);
	return EXIT_USAGE;
}
