/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Output: messages, JSON, colour, times and spans for people. */
#include "firn_tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layout/time.h"

const char *command_name = "";

void
complain(const char *format, ...)
{
	char message[8192];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	/* Messages quote what was read: it must not steer a terminal. */
	for (char *c = message; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	(void)fprintf(stderr, "firn%s%s: %s\n", command_name[0] != '\0' ? " " : "", command_name, message);
}

int
refuse(int json, const char *what, int error)
{
	int saved = errno;

	if (json)
		(void)json_print(json_pack("{s:s, s:s, s:o}", "error", firn_error_code(error), "message",
		                           firn_error_text(error), "subject", json_bytes(what, strlen(what))));
	if (error == FIRN_E_SYSTEM || error == FIRN_E_SYNC)
		complain("%s: %s: %s (%s)", what, firn_error_code(error), firn_error_text(error), strerror(saved));
	else
		complain("%s: %s: %s", what, firn_error_code(error), firn_error_text(error));
	return EXIT_REFUSED;
}

int
json_print(json_t *value)
{
	int failed = value == NULL || json_dumpf(value, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) != 0 ||
	             fputc('\n', stdout) == EOF;

	json_decref(value);
	return failed ? EXIT_OUTPUT : EXIT_OK;
}

static int
wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return (no_colour == NULL || no_colour[0] == '\0') && isatty(STDOUT_FILENO) && term != NULL &&
	       strcmp(term, "dumb") != 0;
}

const char *
bold(void)
{
	return wants_colour() ? "\033[1m" : "";
}

const char *
dim(void)
{
	return wants_colour() ? "\033[2m" : "";
}

const char *
plain(void)
{
	return wants_colour() ? "\033[0m" : "";
}

json_t *
json_bytes(const char *bytes, size_t size)
{
	json_t *as_it_is = json_stringn(bytes, size);
	char *text = as_it_is == NULL ? malloc(3 * size + 1) : NULL;
	size_t length = 0;

	if (text == NULL)
		return as_it_is;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)bytes[i] < 0x80) {
			text[length++] = bytes[i];
		} else {
			memcpy(text + length, "\xEF\xBF\xBD", 3);
			length += 3;
		}
	as_it_is = json_stringn(text, length);
	free(text);
	return as_it_is;
}

json_t *
json_u64(uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return json_string(text);
}

json_t *
json_time(int64_t unix_ms)
{
	char text[FIRNI_TIME_TEXT_MAX];

	(void)firni_time_write(unix_ms, 1, text);
	return json_string(text);
}

json_t *
json_layout(const struct firn_layout *layout)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};
	json_t *fields = json_array();

	if (firn_layout_print(layout, text, sizeof(text)) != FIRN_OK)
		text[0] = '\0';
	for (unsigned i = 0; i < layout->field_count; i++)
		(void)json_array_append_new(fields, json_pack("[s, i]", layout->field[i].name,
		                                              (int)layout->field[i].bits));
	return json_pack("{s:s, s:I, s:i, s:o}", "text", text, "epoch_ms", (json_int_t)layout->epoch_ms,
	                 "tick_ms", (int)layout->tick_ms, "fields", fields);
}

char *
span_text(double ms, char *text, size_t size)
{
	double s = ms / 1000;

	if (s < 1)
		(void)snprintf(text, size, "%.0f ms", ms);
	else if (s < 120)
		(void)snprintf(text, size, "%.1f s", s);
	else if (s < 7200)
		(void)snprintf(text, size, "%.1f min", s / 60);
	else if (s < 172800)
		(void)snprintf(text, size, "%.1f h", s / 3600);
	else if (s < 86400.0 * 1000)
		(void)snprintf(text, size, "%.1f days", s / 86400);
	else
		(void)snprintf(text, size, "%.1f years", s / 86400 / 365.2425);
	return text;
}

int64_t
now_unix_ms(void)
{
	struct timespec now = {0, 0};

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
