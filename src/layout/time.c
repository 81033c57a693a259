/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text (RFC 3339), on the proleptic Gregorian calendar. */
#include "layout/time.h"

#include <stdio.h>

#define DAY_MS INT64_C(86400000)

/*
 * Days since 1970-01-01 of a civil date, counted in years that begin in March so that the
 * leap day is the last of its year; 400 years are 146,097 days.
 */
static int64_t
days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
	       719468;
}

static void
civil_of(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
	*month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	*year = yoe + era * 400 + (*month <= 2);
}

int
firni_time_write(int64_t unix_ms, int always_ms, char text[FIRNI_TIME_TEXT_MAX])
{
	int64_t days = unix_ms / DAY_MS;
	int64_t ms = unix_ms % DAY_MS;
	int64_t year;
	unsigned month;
	unsigned day;

	if (ms < 0) {
		ms += DAY_MS;
		days--;
	}
	civil_of(days, &year, &month, &day);
	unsigned s = (unsigned)(ms / 1000);
	unsigned fraction = (unsigned)(ms % 1000);
	const char *sign = year < 0 ? "-" : "";
	long long digits = year < 0 ? -year : year;

	if (always_ms || fraction != 0)
		return snprintf(text, FIRNI_TIME_TEXT_MAX, "%s%04lld-%02u-%02uT%02u:%02u:%02u.%03uZ", sign,
		                digits, month, day, s / 3600, s / 60 % 60, s % 60, fraction);
	return snprintf(text, FIRNI_TIME_TEXT_MAX, "%s%04lld-%02u-%02uT%02u:%02u:%02uZ", sign, digits,
	                month, day, s / 3600, s / 60 % 60, s % 60);
}

struct reader {
	const char *text;
	size_t length;
	size_t at;
	const char *why;
};

static int
fixed(struct reader *r, unsigned digits, unsigned min, unsigned max, const char *what,
      unsigned *value)
{
	size_t begin = r->at;

	*value = 0;
	for (unsigned i = 0; i < digits; i++, r->at++) {
		if (r->at >= r->length || r->text[r->at] < '0' || r->text[r->at] > '9') {
			r->why = what;
			return 0;
		}
		*value = *value * 10 + (unsigned)(r->text[r->at] - '0');
	}
	if (*value < min || *value > max) {
		r->at = begin;
		r->why = what;
		return 0;
	}
	return 1;
}

static int
literal(struct reader *r, const char *any, const char *what)
{
	for (const char *c = any; *c != '\0'; c++)
		if (r->at < r->length && r->text[r->at] == *c) {
			r->at++;
			return 1;
		}
	r->why = what;
	return 0;
}

static unsigned
days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

static int
read_fraction(struct reader *r, unsigned *ms)
{
	unsigned digits = 0;

	*ms = 0;
	if (r->at >= r->length || r->text[r->at] != '.')
		return 1;
	r->at++;
	while (r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9') {
		if (++digits > 3) {
			r->why = "a fraction has at most three digits: times are whole milliseconds";
			return 0;
		}
		*ms = *ms * 10 + (unsigned)(r->text[r->at++] - '0');
	}
	if (digits == 0) {
		r->why = "expected digits after the point";
		return 0;
	}
	for (; digits < 3; digits++)
		*ms *= 10;
	return 1;
}

static int
read_zone(struct reader *r, int64_t *offset_ms)
{
	unsigned hours;
	unsigned minutes;

	*offset_ms = 0;
	if (r->at < r->length && (r->text[r->at] == 'Z' || r->text[r->at] == 'z')) {
		r->at++;
		return 1;
	}
	int negative = r->at < r->length && r->text[r->at] == '-';

	if (!literal(r, "+-", "a time needs a zone: Z for UTC, or an offset such as +08:00") ||
	    !fixed(r, 2, 0, 23, "expected the hours of the offset, 00 to 23", &hours) ||
	    !literal(r, ":", "expected ':' in the offset") ||
	    !fixed(r, 2, 0, 59, "expected the minutes of the offset, 00 to 59", &minutes))
		return 0;
	*offset_ms = ((int64_t)hours * 60 + minutes) * (negative ? -60000 : 60000);
	return 1;
}

int
firni_time_read(const char *text, size_t length, int64_t *unix_ms, size_t *offset, const char **why)
{
	struct reader r = {text, length, 0, NULL};
	unsigned year, month, day, hour, minute, second, ms;
	int64_t zone;

	if (!fixed(&r, 4, 0, 9999, "expected a year of four digits", &year) ||
	    !literal(&r, "-", "expected '-' after the year") ||
	    !fixed(&r, 2, 1, 12, "expected a month, 01 to 12", &month) ||
	    !literal(&r, "-", "expected '-' after the month") ||
	    !fixed(&r, 2, 1, days_in(year, month), "expected a day of that month", &day) ||
	    !literal(&r, "Tt ", "expected 'T' between date and time") ||
	    !fixed(&r, 2, 0, 23, "expected an hour, 00 to 23", &hour) ||
	    !literal(&r, ":", "expected ':' after the hour") ||
	    !fixed(&r, 2, 0, 59, "expected minutes, 00 to 59", &minute) ||
	    !literal(&r, ":", "expected ':' after the minutes") ||
	    !fixed(&r, 2, 0, 59, "expected seconds, 00 to 59 (no leap second: Unix time has none)",
	           &second) ||
	    !read_fraction(&r, &ms) || !read_zone(&r, &zone))
		goto refused;
	if (r.at != length) {
		r.why = "unexpected character after the zone";
		goto refused;
	}
	*unix_ms = days_of(year, month, day) * DAY_MS +
	           ((int64_t)hour * 3600 + minute * 60 + second) * 1000 + ms - zone;
	return 0;
refused:
	*offset = r.at;
	*why = r.why;
	return -1;
}
