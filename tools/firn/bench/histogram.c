/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A log-linear histogram of nanoseconds, in the buckets that HdrHistogram uses, and its file. */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>
#ifdef FIRN_HAVE_ZLIB
#include <zlib.h>
#endif

#define HALF (1u << (HISTOGRAM_SUB_BITS - 1))

void
histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

/* The first 2^11 values have a bucket each; then every doubling has 2^10 of twice the width. */
static unsigned
bucket_of(uint64_t ns)
{
	if (ns >> HISTOGRAM_VALUE_BITS != 0)
		ns = (UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1;
	unsigned shift = 0;

	if (ns >> HISTOGRAM_SUB_BITS != 0)
		shift = 64 - HISTOGRAM_SUB_BITS - (unsigned)__builtin_clzll(ns);
	return shift * HALF + (unsigned)(ns >> shift);
}

/* The largest value that the bucket holds. */
static uint64_t
top_of(unsigned bucket)
{
	unsigned shift = bucket < 2 * HALF ? 0 : bucket / HALF - 1;

	return (((uint64_t)bucket - shift * HALF + 1) << shift) - 1;
}

void
histogram_record(struct histogram *h, uint64_t ns)
{
	h->count[bucket_of(ns)]++;
	h->total++;
	if (ns > h->max)
		h->max = ns;
	if (ns < h->min)
		h->min = ns;
}

void
histogram_add(struct histogram *to, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->count[i] += from->count[i];
	to->total += from->total;
	if (from->max > to->max)
		to->max = from->max;
	if (from->min < to->min)
		to->min = from->min;
}

uint64_t
histogram_at(const struct histogram *h, double part)
{
	/* The rank of the value sought, from 1: the smallest rank whose share is not below part. */
	uint64_t rank = (uint64_t)(part * (double)h->total);
	uint64_t seen = 0;

	if (h->total == 0)
		return 0;
	if ((double)rank < part * (double)h->total || rank == 0)
		rank++;
	if (rank >= h->total)
		return h->max;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (seen >= rank)
			return top_of(i) < h->max ? top_of(i) : h->max;
	}
	return h->max;
}

double
histogram_mean(const struct histogram *h)
{
	double sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += (double)h->count[i] * (double)top_of(i);
	return h->total == 0 ? 0 : sum / (double)h->total;
}

void
histogram_log_begin(FILE *file, int64_t unix_ms)
{
	(void)fprintf(file,
	              "#[Histogram log format version 1.3]\n"
	              "#[StartTime: %.3f (seconds since epoch)]\n"
	              "#[BaseTime: %.3f (seconds since epoch)]\n"
	              "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
	              (double)unix_ms / 1000, (double)unix_ms / 1000);
}

#ifdef FIRN_HAVE_ZLIB
static unsigned char *
put32(unsigned char *at, uint32_t value)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		*at++ = (unsigned char)(value >> shift);
	return at;
}

static unsigned char *
put64(unsigned char *at, uint64_t value)
{
	return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

/* ZigZag, then 7 bits a byte, low ones first; the ninth byte has 8. */
static unsigned char *
put_varint(unsigned char *at, int64_t value)
{
	uint64_t left = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

	for (int i = 0; i < 8 && left >> 7 != 0; i++) {
		*at++ = (unsigned char)(left | 0x80);
		left >>= 7;
	}
	*at++ = (unsigned char)left;
	return at;
}

/* The V2 encoding: a head of 40 bytes, then counts, runs of zeros as negative numbers. Returns its length. */
static size_t
encode(const struct histogram *h, unsigned char *bytes)
{
	unsigned char *at = bytes + 40;
	unsigned last = h->total == 0 ? 0 : bucket_of(h->max) + 1;
	double ratio = 1;
	uint64_t ratio_bits;

	for (unsigned i = 0; i < last; i++) {
		int64_t zeros = 0;

		while (i < last && h->count[i] == 0) {
			zeros++;
			i++;
		}
		if (zeros > 0)
			at = put_varint(at, -zeros);
		if (i < last)
			at = put_varint(at, (int64_t)h->count[i]);
	}
	unsigned char *head = put32(bytes, 0x1c849313);

	memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
	head = put32(head, (uint32_t)(at - bytes - 40));
	head = put32(head, 0); /* no normalising offset */
	head = put32(head, 3); /* significant digits */
	head = put64(head, 1); /* lowest and highest trackable value */
	head = put64(head, (UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1);
	(void)put64(head, ratio_bits);
	return (size_t)(at - bytes);
}

static void
print_base64(FILE *file, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;

		three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < size ? bytes[i + 2] : 0;
		(void)fputc(digits[three >> 18], file);
		(void)fputc(digits[three >> 12 & 63], file);
		(void)fputc(i + 1 < size ? digits[three >> 6 & 63] : '=', file);
		(void)fputc(i + 2 < size ? digits[three & 63] : '=', file);
	}
}

int
histogram_log_write(FILE *file, const char *tag, const struct histogram *h, double start_s, double length_s)
{
	unsigned char *plain = malloc(40 + (size_t)HISTOGRAM_BUCKETS * 10);
	size_t plain_size = plain == NULL ? 0 : encode(h, plain);
	uLongf packed_size = compressBound((uLong)plain_size);
	unsigned char *packed = malloc(8 + packed_size);
	int failed = plain == NULL || packed == NULL ||
	             compress(packed + 8, &packed_size, plain, (uLong)plain_size) != Z_OK;

	if (!failed) {
		(void)put32(put32(packed, 0x1c849314), (uint32_t)packed_size);
		(void)fprintf(file, "Tag=%s,%.3f,%.3f,%.3f,", tag, start_s, length_s, (double)h->max / 1e6);
		print_base64(file, packed, 8 + packed_size);
		(void)fputc('\n', file);
	}
	free(plain);
	free(packed);
	return failed ? -1 : 0;
}
#else
int
histogram_log_write(FILE *file, const char *tag, const struct histogram *h, double start_s, double length_s)
{
	(void)file;
	(void)tag;
	(void)h;
	(void)start_s;
	(void)length_s;
	return -1;
}
#endif
