/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's parts: histogram against a sorted array, schedule against a stalled subject, comparison on known runs. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/histogram.h"
#include "bench/latency.h"

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

Test(bench, the_histogram_agrees_with_a_sorted_array)
{
	enum { COUNT = 50000 };
	static uint64_t values[COUNT];
	static struct histogram histogram;
	uint64_t random = 88172645463325252u;

	histogram_clear(&histogram);
	for (unsigned i = 0; i < COUNT; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* All magnitudes from 0 to 2^35. */
		values[i] = (random >> 29) >> (random % 36);
		histogram_record(&histogram, values[i]);
	}
	qsort(values, COUNT, sizeof(values[0]), by_value);
	for (unsigned i = 1; i <= 10000; i++) {
		double part = i / 10000.0;
		uint64_t exact = values[(unsigned)ceil(part * COUNT) - 1];
		uint64_t read = histogram_at(&histogram, part);

		cr_assert_geq(read, exact, "part %f", part);
		cr_assert_leq(read, exact + exact / 1024, "part %f: %llu for %llu", part, (unsigned long long)read,
		              (unsigned long long)exact);
	}
	cr_assert_eq(histogram_at(&histogram, 1), values[COUNT - 1]);
	cr_assert_eq(histogram.min, values[0]);
	cr_assert_eq(histogram.total, COUNT);
}

Test(bench, the_histogram_takes_what_is_too_large_and_what_is_nothing)
{
	static struct histogram histogram;

	histogram_clear(&histogram);
	cr_assert_eq(histogram_at(&histogram, 0.5), 0);
	histogram_record(&histogram, UINT64_MAX);
	cr_assert_eq(histogram_at(&histogram, 0.5), UINT64_MAX);
	histogram_record(&histogram, 0);
	cr_assert_eq(histogram_at(&histogram, 0.5), 0);
}

/* A call that takes no time, but once, after so many calls, 50 ms. */
static int
stalls_once(void *context)
{
	int *calls = context;

	if (++*calls == 1000) {
		struct timespec span = {0, 50000000};

		(void)nanosleep(&span, NULL);
	}
	return 0;
}

Test(bench, a_stall_is_charged_to_every_call_that_it_delays)
{
	static struct latency_result result;
	int calls = 0;
	struct latency_run run = {0.2, 0, stalls_once, &calls};
	struct latency_schedule schedule = {0, 10000, 0, 1};

	/* A call every 10 us for 200 ms: 5000 of the 20,000 are due while the subject stalls for 50 ms. */
	latency_run(&run, &schedule, &result);
	cr_assert_eq(result.histogram.total, 20000);
	cr_assert_geq(histogram_at(&result.histogram, 1), 50000000);
	/* On average they are 25 ms late; a closed loop would show one slow call in 20,000. */
	cr_assert_geq(histogram_at(&result.histogram, 0.9), 20000000);
	cr_assert_geq(result.worst_backlog_ns, 45e6);
}

Test(bench, moments_are_fixed_beforehand_and_have_the_rate_asked_for)
{
	struct latency_schedule even = {0, 250, 0, 1};
	struct latency_schedule random = {0, 250, 1, 1};
	double squares = 0;
	double last = 0;

	for (unsigned i = 1; i <= 100000; i++) {
		double moment = latency_next(&even);

		cr_assert_float_eq(moment, i * 250.0, 1e-3);
		double gap = latency_next(&random) - last;

		cr_assert_geq(gap, 0);
		last += gap;
		squares += gap * gap;
	}
	cr_assert_float_eq(last / 100000, 250, 5);
	/* Exponential gaps: the mean square is twice the square of the mean. */
	cr_assert_float_eq(squares / 100000 / (250.0 * 250.0), 2, 0.1);
}

Test(bench, the_comparison_has_the_tables_probabilities)
{
	/* From the tables of Mann and Whitney: n = m = 5, U = 2: one-sided 0.016; n = 4, m = 6, U = 3: 0.033. */
	const double a[] = {1, 2, 3, 4, 7};
	const double b[] = {5, 6, 8, 9, 10};
	const double c[] = {1, 2, 3, 7};
	const double d[] = {4, 5, 6, 8, 9, 10};

	cr_assert_float_eq(bench_mann_whitney(a, 5, b, 5), 2 * 0.01587, 1e-4);
	cr_assert_float_eq(bench_mann_whitney(c, 4, d, 6), 2 * 0.03333, 1e-4);
	cr_assert_float_eq(bench_mann_whitney(a, 5, a, 5), 1, 0.3);
	cr_assert_eq(bench_mann_whitney(a, 0, b, 5), 1);
}

Test(bench, medians_and_spreads)
{
	const double odd[] = {5, 1, 9};
	const double even[] = {4, 1, 2, 3};

	cr_assert_float_eq(bench_median(odd, 3), 5, 1e-9);
	cr_assert_float_eq(bench_spread(odd, 3), 4, 1e-9);
	cr_assert_float_eq(bench_median(even, 4), 2.5, 1e-9);
	cr_assert_float_eq(bench_median(even, 0), 0, 1e-9);
}
