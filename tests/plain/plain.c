/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests that constructors have added, each in a child of its own. Exit 1 if one failed. */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_S 100

static struct plain_test *tests;
static pid_t child_of_ours; /* in the child itself: its own number */

void
plain_add(struct plain_test *test)
{
	struct plain_test **at = &tests;

	while (*at != NULL)
		at = &(*at)->next;
	*at = test;
}

void
plain_end(int code, const char *file, int line, const char *what, const char *why, ...)
{
	va_list arguments;

	va_start(arguments, why);
	(void)printf("%s:%d: %s ", file, line, what);
	(void)vprintf(why, arguments);
	(void)printf("\n");
	va_end(arguments);
	(void)fflush(stdout);
	/* A test's own child that fails must not end as if it were the test. */
	_exit(getpid() == child_of_ours ? code : PLAIN_FAILED);
}

static const struct plain_test *
suite_of(const struct plain_test *test)
{
	const struct plain_test *suite = tests;

	while (suite != NULL && (suite->name != NULL || strcmp(suite->suite, test->suite) != 0))
		suite = suite->next;
	return suite;
}

static void
run_here(const struct plain_test *test)
{
	const struct plain_test *suite = suite_of(test);
	void (*init)(void) = test->init == NULL && suite != NULL ? suite->init : test->init;
	void (*fini)(void) = test->fini == NULL && suite != NULL ? suite->fini : test->fini;

	child_of_ours = getpid();
	/* An alarm's default action ends the child, and the parent sees by what. */
	(void)alarm(test->timeout != 0 ? test->timeout : TIMEOUT_S);
	if (init != NULL)
		init();
	test->run();
	if (fini != NULL)
		fini();
	exit(0);
}

/* What became of one test: 0, PLAIN_SKIPPED or PLAIN_FAILED. */
static int
run_in_child(const struct plain_test *test)
{
	int status = 0;

	(void)fflush(stdout);
	pid_t child = fork();

	if (child == 0)
		run_here(test);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return PLAIN_FAILED;
	if (WIFSIGNALED(status))
		(void)printf("ended by signal %d\n", WTERMSIG(status));
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == PLAIN_SKIPPED))
		return WEXITSTATUS(status);
	return PLAIN_FAILED;
}

int
main(void)
{
	unsigned passed = 0;
	unsigned failed = 0;
	unsigned skipped = 0;

	for (const struct plain_test *test = tests; test != NULL; test = test->next) {
		if (test->name == NULL)
			continue;
		int outcome = run_in_child(test);

		if (outcome != 0)
			(void)printf("%s: %s.%s\n", outcome == PLAIN_SKIPPED ? "skipped" : "FAILED", test->suite, test->name);
		passed += outcome == 0;
		skipped += outcome == PLAIN_SKIPPED;
		failed += outcome != 0 && outcome != PLAIN_SKIPPED;
	}
	(void)printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0 || passed == 0;
}
