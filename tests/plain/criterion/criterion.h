/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of Criterion's interface that the unit tests use, over plain main: for cross builds.
 * Criterion itself starts its own executable again for every test, which an emulator of a single
 * program cannot do; here a test is a child that fork has made.
 */
#ifndef FIRN_PLAIN_CRITERION_H
#define FIRN_PLAIN_CRITERION_H

/* As for Criterion's own: macros without their optional arguments are none of our warnings' business. */
#pragma GCC system_header

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a child says by its exit code. */
#define PLAIN_FAILED 1
#define PLAIN_SKIPPED 77

struct plain_test {
	const char *suite;
	const char *name; /* NULL: no test, the suite's init and fini */
	void (*run)(void);
	void (*init)(void);
	void (*fini)(void);
	unsigned timeout; /* in seconds; 0: what all tests have */
	struct plain_test *next;
};

/* Called by constructors, before main. */
void plain_add(struct plain_test *test);

/* Written and ended at once, whatever of "why" was given. */
void plain_end(int code, const char *file, int line, const char *what, const char *why, ...)
	__attribute__((format(printf, 5, 6), noreturn));

#define PLAIN_ADD(id, ...) \
	static struct plain_test id##_entry = {__VA_ARGS__}; \
	__attribute__((constructor)) static void id##_add(void) \
	{ \
		plain_add(&id##_entry); \
	} \
	extern int id##_needs_semicolon

#define Test(suite_, name_, ...) \
	static void plain_##suite_##_##name_(void); \
	PLAIN_ADD(plain_##suite_##_##name_, .suite = #suite_, .name = #name_, .run = plain_##suite_##_##name_, \
	          ##__VA_ARGS__); \
	static void plain_##suite_##_##name_(void)
#define TestSuite(suite_, ...) PLAIN_ADD(plain_suite_##suite_, .suite = #suite_, ##__VA_ARGS__)

#define PLAIN_ASSERT(true_, what, ...) \
	do { \
		if (!(true_)) \
			plain_end(PLAIN_FAILED, __FILE__, __LINE__, what, "" __VA_ARGS__); \
	} while (0)
#define PLAIN_COMPARE(a, operator, b, ...) PLAIN_ASSERT((a) operator (b), #a " " #operator " " #b, __VA_ARGS__)

#define cr_skip_test(...) plain_end(PLAIN_SKIPPED, __FILE__, __LINE__, "skipped", "" __VA_ARGS__)
#define cr_assert_fail(...) plain_end(PLAIN_FAILED, __FILE__, __LINE__, "failed", "" __VA_ARGS__)
#define cr_assert(a, ...) PLAIN_ASSERT(a, #a, __VA_ARGS__)
#define cr_assert_not(a, ...) PLAIN_ASSERT(!(a), "not " #a, __VA_ARGS__)
#define cr_assert_null(a, ...) PLAIN_COMPARE(a, ==, NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...) PLAIN_COMPARE(a, !=, NULL, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) PLAIN_COMPARE(a, ==, b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) PLAIN_COMPARE(a, !=, b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) PLAIN_COMPARE(a, <, b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) PLAIN_COMPARE(a, <=, b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) PLAIN_COMPARE(a, >, b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) PLAIN_COMPARE(a, >=, b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) PLAIN_ASSERT(strcmp(a, b) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, by, ...) \
	PLAIN_ASSERT((a) - (b) <= (by) && (b) - (a) <= (by), #a " is nearly " #b, __VA_ARGS__)

#endif
