/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands share: exit codes, options, output. */
#ifndef FIRN_TOOL_H
#define FIRN_TOOL_H

#include <stdio.h>

#include <jansson.h>

#include <firn.h>

/* Stable exit codes; firn --help lists them. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_DIFFERS = 1, /* conform: a case differs; decode: an input was refused; check: a warning stands */
	EXIT_USAGE = 2,   /* the call is wrong: nothing was done */
	EXIT_REFUSED = 3, /* the library refused: the message and --json name the error */
	EXIT_OUTPUT = 4   /* standard output could not be written */
};

/* One option of a subcommand. A value option takes --name VALUE or --name=VALUE. */
struct option_spec {
	const char *name;   /* with its dashes, such as "--layout" */
	const char *letter; /* such as "-n", or NULL */
	const char **value; /* set to the value, or to "" for a flag */
	int is_flag;
};

/*
 * Take options out of argv (argv[0] is the subcommand's name); what is left in argv[0..*argc)
 * are the operands. "--" ends options. Returns EXIT_OK, or EXIT_USAGE after a message.
 */
int options_read(int *argc, char **argv, const struct option_spec *specs, size_t count);

/* A plain decimal number: no sign, blank, prefix or leading zero. 1 if it is one within [min, max]. */
int number_read(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* Read --layout's value (NULL: the default preset); on failure shows where, returns EXIT_USAGE. */
int layout_read(const char *text, struct firn_layout *layout);

/* Read --node's value: a plain number or name=value,...; NULL is 0. EXIT_USAGE after a message. */
int node_read(const struct firn_layout *layout, const char *text, uint64_t *node);

/* The state file used when none is named; with make, its directory too. EXIT_OK, or an exit code after a message. */
int state_path_default(char *path, size_t size, int make);

/* Refuse as below; a path that can name no file is a wrong call. */
int state_refuse(int json, const char *path, int error);

/* "firn COMMAND: message" on standard error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Say why the library refused; EXIT_REFUSED. With json, one object {"error":...,"message":...} on stdout. */
int refuse(int json, const char *what, int error);

/* Print one JSON value on a line and drop the reference. */
int json_print(json_t *value);

/* Bold, dim and plain for a terminal that wants colour; "" otherwise (NO_COLOR, not a terminal). */
const char *bold(void);
const char *dim(void);
const char *plain(void);

/* Bytes from outside as a JSON string; if they are not UTF-8, each that is not ASCII becomes U+FFFD. */
json_t *json_bytes(const char *bytes, size_t size);

/* A 64-bit number as a JSON string: a double would lose digits. */
json_t *json_u64(uint64_t value);
json_t *json_time(int64_t unix_ms);
json_t *json_layout(const struct firn_layout *layout);

/* An age or a span for people, such as "3 d 4 h" or "69.7 years". Returns text. */
char *span_text(double ms, char *text, size_t size);

/* Now, from the system's clock. */
int64_t now_unix_ms(void);

extern const char *command_name;

/* The subcommands. */
int cmd_next(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_layout(int argc, char **argv);
int cmd_layout_plan(int argc, char **argv);
int cmd_layout_tune(int argc, char **argv);
int cmd_clock(int argc, char **argv);
int cmd_state(int argc, char **argv);
int cmd_conform(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
