/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn bench compare: which cases of two runs differ beyond noise. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"firn bench compare A.json B.json [--alpha P] [--least PERCENT] [--json]\n"
	"\n"
	"Which cases of run B differ from run A beyond noise: the two-sided Mann-Whitney U test on the repetitions\n"
	"(exact up to 20 in both, the normal approximation with ties above) says no to chance at --alpha (default\n"
	"0.01), and the medians differ by at least --least percent (default 2).\n"
	"\n"
	"Exit codes: 0 no case is slower, 1 one is, 2 the call or a file is wrong.\n"
	"\n"
	"examples:\n"
	"  firn bench --json > before.json; make; firn bench --json > after.json\n"
	"  firn bench compare before.json after.json\n";

/* In how many of all ways to mix na and nb values U is at most u: by counting, Mann and Whitney 1947. */
static double
exact_at_most(unsigned na, unsigned nb, unsigned u)
{
	unsigned most = na * nb;
	/* ways[i][v]: choices of i of the b's first values so far with statistic v. */
	double *ways = calloc((size_t)(na + 1) * (most + 1), sizeof(*ways));
	double all = 0;
	double low = 0;

	if (ways == NULL)
		return 1;
	ways[0] = 1;
	for (unsigned value = 1; value <= na + nb; value++)
		for (unsigned i = value < na ? value : na; i > 0; i--)
			/* The i-th of a at rank value has value - i of b below it. */
			for (unsigned v = most + 1; v-- > value - i;)
				if (value - i <= nb)
					ways[i * (most + 1) + v] += ways[(i - 1) * (most + 1) + v - (value - i)];
	for (unsigned v = 0; v <= most; v++) {
		all += ways[na * (most + 1) + v];
		if (v <= u)
			low += ways[na * (most + 1) + v];
	}
	free(ways);
	return low / all;
}

double
bench_mann_whitney(const double a[], unsigned na, const double b[], unsigned nb)
{
	double u = 0;
	double ties = 0;

	if (na == 0 || nb == 0)
		return 1;
	for (unsigned i = 0; i < na; i++)
		for (unsigned j = 0; j < nb; j++) {
			u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
			ties += a[i] == b[j];
		}
	double most = (double)na * nb;
	double low = u < most - u ? u : most - u;

	if (na <= 20 && nb <= 20 && ties == 0) {
		double p = 2 * exact_at_most(na, nb, (unsigned)low);

		return p > 1 ? 1 : p;
	}
	double deviation = sqrt(most * (na + nb + 1) / 12);

	return erfc((most / 2 - low) / deviation / sqrt(2));
}

/* The repetitions of one case; their number, 0 if it is not a valid case. */
static unsigned
repetitions(const json_t *one, double ns[BENCH_REPETITIONS_MAX])
{
	const json_t *list = json_object_get(one, "ns");
	unsigned count = 0;

	if (json_object_get(one, "invalid") != NULL)
		return 0;
	for (; count < json_array_size(list) && count < BENCH_REPETITIONS_MAX; count++)
		ns[count] = json_number_value(json_array_get(list, count));
	return count;
}

static const json_t *
find(const json_t *report, const json_t *wanted)
{
	size_t index;
	json_t *one;

	json_array_foreach(json_object_get(report, "cases"), index, one)
		if (json_equal(json_object_get(one, "case"), json_object_get(wanted, "case")) &&
		    json_equal(json_object_get(one, "threads"), json_object_get(wanted, "threads")))
			return one;
	return NULL;
}

static json_t *
load(const char *path)
{
	json_error_t error;
	json_t *report = json_load_file(path, 0, &error);

	if (report == NULL)
		complain("%s: line %d: %s", path, error.line, error.text);
	else if (!json_is_array(json_object_get(report, "cases")))
		complain("%s is not what 'firn bench --json' writes: it has no cases", path);
	else
		return report;
	json_decref(report);
	return NULL;
}

/* One row; 1 if b is slower beyond noise. */
static int
compare_case(const json_t *a, const json_t *b, double alpha, double least, json_t *rows)
{
	double before[BENCH_REPETITIONS_MAX];
	double after[BENCH_REPETITIONS_MAX];
	unsigned na = repetitions(a, before);
	unsigned nb = b == NULL ? 0 : repetitions(b, after);
	const char *verdict = "no figure";
	double p = 1;
	double change = 0;

	if (na != 0 && nb != 0) {
		p = bench_mann_whitney(before, na, after, nb);
		change = (bench_median(after, nb) / bench_median(before, na) - 1) * 100;
		verdict = p > alpha || fabs(change) < least ? "same" : change > 0 ? "slower" : "faster";
	}
	(void)json_array_append_new(
		rows, json_pack("{s:O, s:O, s:f, s:f, s:s}", "case", json_object_get(a, "case"), "threads",
	                        json_object_get(a, "threads"), "change_percent", change, "p", p, "verdict", verdict));
	return strcmp(verdict, "slower") == 0;
}

int
cmd_bench_compare(int argc, char **argv)
{
	const char *json = NULL, *alpha_text = "0.01", *least_text = "2", *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1},
		{"--alpha", NULL, &alpha_text, 0},
		{"--least", NULL, &least_text, 0},
		{"--help", "-h", &want_help, 1},
	};
	char *end;
	char *end_least;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	double alpha = strtod(alpha_text, &end);
	double least = strtod(least_text, &end_least);

	if (argc != 2 || *end != '\0' || *end_least != '\0' || !(alpha > 0 && alpha < 1) || !(least >= 0)) {
		complain("say two files; --alpha lies between 0 and 1, --least is a percentage");
		return EXIT_USAGE;
	}
	json_t *a = load(argv[0]);
	json_t *b = a == NULL ? NULL : load(argv[1]);

	if (b == NULL) {
		json_decref(a);
		return EXIT_USAGE;
	}
	json_t *rows = json_array();
	size_t index;
	json_t *one;
	int slower = 0;

	if (!json_equal(json_object_get(a, "machine"), json_object_get(b, "machine")))
		complain("the two runs are from different machines or settings");
	json_array_foreach(json_object_get(a, "cases"), index, one)
		slower |= compare_case(one, find(b, one), alpha, least, rows);
	if (json != NULL) {
		(void)json_print(json_pack("{s:O, s:b}", "cases", rows, "slower", slower));
	} else {
		json_array_foreach(rows, index, one)
			(void)printf("%-26s %3d threads  %+7.1f %%  p = %-8.2g  %s\n",
			             json_string_value(json_object_get(one, "case")),
			             (int)json_integer_value(json_object_get(one, "threads")),
			             json_real_value(json_object_get(one, "change_percent")),
			             json_real_value(json_object_get(one, "p")), json_string_value(json_object_get(one, "verdict")));
	}
	json_decref(rows);
	json_decref(a);
	json_decref(b);
	return slower ? EXIT_DIFFERS : EXIT_OK;
}
