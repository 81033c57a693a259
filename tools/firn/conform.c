/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn conform: vector files run against the library or a port, and the report. */
#include "conform.h"
#include "firn_tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"firn conform FILE ... [options]                    hold the library to vector files\n"
	"firn conform FILE ... [options] -- COMMAND [ARG ...]   hold a port to them\n"
	"firn conform --serve                               be a port: answer requests from standard input\n"
	"\n"
	"  --expect-failures FILE   names of cases, one a line, that are known to fail; one that passes\n"
	"                           is an error too, so that the list cannot go stale\n"
	"  --lane stable|cas|inline which lane of the library (default stable; cas: the same without fetch-add)\n"
	"  --json                   the report as one object\n"
	"\n"
	"Exit 0 when every case agrees, 1 when one differs, 2 when a file or a port is unusable.\n"
	"\n"
	"examples:\n"
	"  firn conform vectors/core.json\n"
	"  firn conform vectors/core.json -- node my-port.js\n";

enum verdict { PASSED, FAILED, SKIPPED, UNUSABLE };

struct report {
	json_t *differences;
	json_t *expected; /* names that may fail, as an object */
	unsigned passed;
	unsigned failed;
	unsigned skipped;
	int json;
	/* Of the case under way. */
	const char *name;
	json_t *found;
};

static void
differ(struct report *report, size_t step, const json_t *expected, const json_t *got)
{
	(void)json_array_append_new(report->found,
	                            json_pack("{s:s, s:I, s:O, s:O}", "case", report->name, "step", (json_int_t)step,
	                                      "expected", expected, "got", got));
}

/* Ask and drop the request. UNUSABLE, SKIPPED, or PASSED with *answer. */
static enum verdict
ask(struct subject *subject, json_t *request, json_t **answer)
{
	*answer = request != NULL ? subject->ask(subject, request) : NULL;
	json_decref(request);
	if (*answer == NULL)
		return UNUSABLE;
	if (json_is_true(json_object_get(*answer, "unsupported"))) {
		json_decref(*answer);
		*answer = NULL;
		return SKIPPED;
	}
	return PASSED;
}

/* Ask for something whose whole answer is known. */
static enum verdict
expect(struct report *report, struct subject *subject, size_t step, json_t *request, json_t *expected)
{
	json_t *answer;
	enum verdict verdict = ask(subject, request, &answer);

	if (verdict == PASSED && !json_equal(expected, answer)) {
		differ(report, step, expected, answer);
		verdict = FAILED;
	}
	json_decref(answer);
	json_decref(expected);
	return verdict;
}

/* What a take's answers amount to, in the shape in which the step states its expectation. */
static json_t *
in_shape(const json_t *ids, const json_t *expected)
{
	size_t count = json_array_size(ids);

	if (!json_is_object(expected))
		return json_incref((json_t *)(uintptr_t)ids);
	return json_pack("{s:O?, s:O?, s:I}", "first", json_array_get(ids, 0), "last",
	                 count > 0 ? json_array_get(ids, count - 1) : NULL, "count", (json_int_t)count);
}

static int
rises(const json_t *ids)
{
	uint64_t last = 0;
	uint64_t id;
	size_t i;
	json_t *one;

	json_array_foreach(ids, i, one) {
		if (!u64_of_json(one, &id) || (i > 0 && id <= last))
			return 0;
		last = id;
	}
	return 1;
}

static enum verdict
run_take(struct report *report, struct subject *subject, size_t step_number, json_t *step)
{
	json_t *expected_ids = json_object_get(step, "ids");
	json_t *repeat = json_object_get(step, "repeat");
	json_int_t times = repeat != NULL ? json_integer_value(repeat) : 1;
	json_t *ids = json_array();
	enum verdict verdict = PASSED;

	for (json_int_t i = 0; verdict == PASSED && i < times; i++) {
		json_t *answer;

		verdict = ask(subject,
		              json_pack("{s:s, s:O, s:O}", "op", "take", "count", json_object_get(step, "take"), "clock",
		                        json_object_get(step, "clock")),
		              &answer);
		if (verdict != PASSED)
			break;
		json_t *error = json_object_get(answer, "error");
		json_t *expected_error = json_object_get(step, "error");

		if (expected_error != NULL ? !json_equal(error, expected_error) : error != NULL) {
			differ(report, step_number, expected_error != NULL ? expected_error : expected_ids, answer);
			verdict = FAILED;
		}
		(void)json_array_extend(ids, json_object_get(answer, "ids"));
		json_decref(answer);
	}
	if (verdict == PASSED && expected_ids != NULL) {
		json_t *got = in_shape(ids, expected_ids);

		/* first, last and count would let anything pass in between: it rises at least. */
		if (!json_equal(got, expected_ids) || !rises(ids)) {
			differ(report, step_number, expected_ids, got);
			verdict = FAILED;
		}
		json_decref(got);
	}
	json_decref(ids);
	return verdict;
}

static enum verdict
run_mint(struct report *report, struct subject *subject, json_t *one)
{
	json_t *open = json_copy(one);
	json_t *steps = json_object_get(one, "steps");
	json_t *answer;
	json_t *step;
	size_t i;

	(void)json_object_del(open, "name");
	(void)json_object_del(open, "covers");
	(void)json_object_del(open, "kind");
	(void)json_object_del(open, "steps");
	(void)json_object_set_new(open, "op", json_string("open"));
	enum verdict verdict = ask(subject, open, &answer);

	if (verdict != PASSED)
		return verdict;
	/* A generator that cannot be opened fails every step with the same error. */
	json_t *open_error = json_incref(json_object_get(answer, "error"));

	json_decref(answer);
	json_array_foreach(steps, i, step) {
		json_t *raise = json_object_get(step, "raise_fence_ms");

		if (open_error != NULL) {
			if (!json_equal(open_error, json_object_get(step, "error"))) {
				differ(report, i, step, open_error);
				verdict = FAILED;
			}
		} else if (raise != NULL) {
			verdict = expect(report, subject, i, json_pack("{s:s, s:O}", "op", "raise_fence", "ms", raise),
			                 json_pack("{s:b}", "ok", 1));
		} else {
			verdict = run_take(report, subject, i, step);
		}
		if (verdict != PASSED)
			break;
	}
	json_decref(open_error);
	if (verdict != UNUSABLE && ask(subject, json_pack("{s:s}", "op", "close"), &answer) == PASSED)
		json_decref(answer);
	return verdict;
}

static enum verdict
run_decode(struct report *report, struct subject *subject, json_t *one)
{
	json_t *error = json_object_get(one, "error");
	json_t *expected = error != NULL ? json_pack("{s:O}", "error", error)
	                                 : json_pack("{s:O, s:O}", "time_ms", json_object_get(one, "time_ms"),
	                                             "fields", json_object_get(one, "fields"));

	return expect(report, subject, 0,
	              json_pack("{s:s, s:O, s:O}", "op", "decode", "layout", json_object_get(one, "layout"), "id",
	                        json_object_get(one, "id")),
	              expected);
}

static enum verdict
run_text(struct report *report, struct subject *subject, json_t *one)
{
	json_t *form = json_object_get(one, "form");
	json_t *id = json_object_get(one, "id");
	json_t *text = json_object_get(one, "text");
	json_t *error = json_object_get(one, "error");
	enum verdict verdict = PASSED;

	if (id != NULL)
		verdict = expect(report, subject, 0,
		                 json_pack("{s:s, s:O, s:O}", "op", "format", "form", form, "id", id),
		                 error != NULL ? json_pack("{s:O}", "error", error) : json_pack("{s:O}", "text", text));
	if (verdict == PASSED && text != NULL)
		verdict = expect(report, subject, 1,
		                 json_pack("{s:s, s:O, s:O}", "op", "parse", "form", form, "text", text),
		                 error != NULL ? json_pack("{s:O}", "error", error) : json_pack("{s:O}", "id", id));
	return verdict;
}

static void
show_differences(const struct report *report)
{
	size_t i;
	json_t *one;

	json_array_foreach(report->found, i, one) {
		char *expected = json_dumps(json_object_get(one, "expected"), JSON_COMPACT | JSON_ENCODE_ANY);
		char *got = json_dumps(json_object_get(one, "got"), JSON_COMPACT | JSON_ENCODE_ANY);

		(void)printf("differs: %s, step %lld: expected %.300s, got %.300s\n", report->name,
		             (long long)json_integer_value(json_object_get(one, "step")), expected, got);
		free(expected);
		free(got);
	}
}

static enum verdict
run_case(struct report *report, struct subject *subject, json_t *one)
{
	const char *kind = json_string_value(json_object_get(one, "kind"));

	report->name = json_string_value(json_object_get(one, "name"));
	report->found = json_array();
	enum verdict verdict = strcmp(kind, "mint") == 0     ? run_mint(report, subject, one)
	                       : strcmp(kind, "decode") == 0 ? run_decode(report, subject, one)
	                                                     : run_text(report, subject, one);
	int may_fail = json_object_get(report->expected, report->name) != NULL;

	if (may_fail && verdict == PASSED) {
		if (!report->json)
			(void)printf("differs: %s passes, but is listed as a known failure\n", report->name);
		json_t *note = json_string("a failure, as listed");

		differ(report, 0, note, note);
		json_decref(note);
		report->failed++;
	} else if (verdict == PASSED || (may_fail && verdict == FAILED)) {
		report->passed++;
		json_array_clear(report->found);
	} else if (verdict == FAILED) {
		report->failed++;
		if (!report->json)
			show_differences(report);
	} else if (verdict == SKIPPED) {
		report->skipped++;
	}
	(void)json_array_extend(report->differences, report->found);
	json_decref(report->found);
	return verdict;
}

static json_t *
read_names(const char *path)
{
	FILE *file = fopen(path, "r");
	json_t *names = json_object();
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (file == NULL) {
		complain("%s: %s", path, strerror(errno));
		json_decref(names);
		return NULL;
	}
	while ((length = getline(&line, &room, file)) >= 0) {
		while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (length > 0 && line[0] != '#')
			(void)json_object_set_new(names, line, json_true());
	}
	if (ferror(file)) {
		complain("%s: %s", path, strerror(errno));
		json_decref(names);
		names = NULL;
	}
	free(line);
	(void)fclose(file);
	return names;
}

static int
run_files(struct report *report, struct subject *subject, int files, char **file)
{
	for (int i = 0; i < files; i++) {
		json_t *cases = vectors_read(file[i]);
		json_t *one;
		size_t k;

		if (cases == NULL)
			return EXIT_USAGE;
		json_array_foreach(cases, k, one)
			if (run_case(report, subject, one) == UNUSABLE) {
				json_decref(cases);
				return EXIT_USAGE;
			}
		json_decref(cases);
	}
	return report->failed != 0 ? EXIT_DIFFERS : EXIT_OK;
}

int
cmd_conform(int argc, char **argv)
{
	const char *expected = NULL, *lane = "stable", *json = NULL, *serving = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--expect-failures", NULL, &expected, 0}, {"--lane", NULL, &lane, 0}, {"--json", NULL, &json, 1},
		{"--serve", NULL, &serving, 1},            {"--help", "-h", &want_help, 1},
	};
	struct report report = {0};
	char **port = NULL;

	for (int i = 1; i < argc && port == NULL; i++)
		if (strcmp(argv[i], "--") == 0) {
			argv[i] = NULL;
			port = argv + i + 1;
			argc = i;
		}
	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if ((strcmp(lane, "stable") != 0 && strcmp(lane, "cas") != 0 && strcmp(lane, "inline") != 0) || (port != NULL && port[0] == NULL) ||
	    (serving != NULL ? argc != 0 || port != NULL : argc == 0)) {
		complain("give vector files, and after -- a port if there is one; 'firn conform --help' explains");
		return EXIT_USAGE;
	}
	struct subject *subject = port != NULL ? subject_port(port) : subject_library(lane);

	if (subject == NULL)
		return EXIT_USAGE;
	report.json = json != NULL;
	report.differences = json_array();
	report.expected = expected != NULL ? read_names(expected) : json_object();
	int code = report.expected == NULL ? EXIT_USAGE
	           : serving != NULL       ? serve(subject)
	                                   : run_files(&report, subject, argc, argv);

	subject->close(subject);
	if (serving == NULL && code != EXIT_USAGE) {
		if (report.json)
			(void)json_print(json_pack("{s:i, s:i, s:i, s:O}", "passed", (int)report.passed, "failed",
			                           (int)report.failed, "skipped", (int)report.skipped, "differences",
			                           report.differences));
		else
			(void)printf("%u passed, %u failed, %u skipped\n", report.passed, report.failed, report.skipped);
	}
	json_decref(report.differences);
	json_decref(report.expected);
	return code;
}
