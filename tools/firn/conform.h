/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance: vector files, and the subjects that are held to them. */
#ifndef FIRN_CONFORM_H
#define FIRN_CONFORM_H

#include <stdint.h>

#include <jansson.h>

/*
 * A subject answers one JSON request with one JSON answer, as docs/porting.md says. The
 * library is one, a port in another process is one; the runner does not know which.
 */
struct subject {
	/* A new reference, or NULL when the subject is unusable (a message was printed). */
	json_t *(*ask)(struct subject *subject, const json_t *request);
	void (*close)(struct subject *subject);
};

/* The library through its stable lane, or through the inline one. */
struct subject *subject_library(const char *lane);

/* A port: a program that answers lines. NULL after a message. */
struct subject *subject_port(char *const argv[]);

/* Answer lines from standard input until it ends: the library as a port. An exit code. */
int serve(struct subject *subject);

/*
 * Read a vector file: {"format":"firn-vectors/1","cases":[...]}, every key known, every case
 * whole. Returns the cases (a new reference) or NULL after a message that names the case.
 */
json_t *vectors_read(const char *path);

/* The same from memory, for tests and fuzzing; name is for messages. */
json_t *vectors_parse(const char *text, size_t size, const char *name);

/* Decimal text of a 64-bit value, strict. 1 if it is one. */
int u64_of_json(const json_t *text, uint64_t *value);

#endif
