/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A log-linear histogram of nanoseconds, in the buckets that HdrHistogram uses, and its file. */
#ifndef FIRN_BENCH_HISTOGRAM_H
#define FIRN_BENCH_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

/*
 * Three significant digits: values below 2048 are exact, above that the relative error is
 * below 1/1024. Values of 2^36 ns (68 s) and more count as the largest bucket.
 */
#define HISTOGRAM_SUB_BITS 11
#define HISTOGRAM_VALUE_BITS 36
#define HISTOGRAM_BUCKETS ((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 2) << (HISTOGRAM_SUB_BITS - 1))

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
	uint64_t total;
	uint64_t max;
	uint64_t min;
};

void histogram_clear(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t ns);
void histogram_add(struct histogram *to, const struct histogram *from);

/* The value that a part (0 to 1) of all lies at or below, as the top of its bucket; 0 if it is empty. */
uint64_t histogram_at(const struct histogram *histogram, double part);

double histogram_mean(const struct histogram *histogram);

/*
 * One interval of an HdrHistogram log (format 1.3): seconds from the base time, length, and
 * the compressed V2 encoding in base64. 0, or -1 where zlib was left out of the build.
 */
int histogram_log_write(FILE *file, const char *tag, const struct histogram *histogram, double start_s, double length_s);
void histogram_log_begin(FILE *file, int64_t unix_ms);

#endif
