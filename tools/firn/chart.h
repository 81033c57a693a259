/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A chart on a page: a picture with title and axes, and its figures as a table below. */
#ifndef FIRN_CHART_H
#define FIRN_CHART_H

#include <stddef.h>
#include <stdio.h>

enum chart_scale {
	CHART_LINEAR,
	CHART_LOG,   /* powers of ten; values of 0 and less lie on the axis, which is then marked 0 */
	CHART_TWOS,  /* powers of two */
	CHART_NINES  /* parts of a whole, by -log10(1 - part): 90 %, 99 %, 99.9 % at equal distances */
};

struct chart_axis {
	const char *label;         /* with its unit */
	enum chart_scale scale;
	const char *const *names;  /* LINEAR: what stands at 1, 2, ... in place of numbers; NULL-ended, or NULL */
};

enum chart_mark { CHART_LINE, CHART_STEPS, CHART_POINTS };

#define CHART_SERIES_MAX 8
#define CHART_POINTS_MAX 2048

struct chart_series {
	const char *name;
	enum chart_mark mark;
	int is_reference;          /* dashed: not what the chart is about */
	size_t count;
	double x[CHART_POINTS_MAX]; /* NINES: the part, 0 up to less than 1 */
	double y[CHART_POINTS_MAX];
};

/* A ring around the last point so far of a series, with a word beside it. */
struct chart_note {
	const char *text;
	const struct chart_series *series;
	size_t point;
};
#define CHART_NOTES_MAX 4

struct chart {
	const char *id;            /* of the figure on its page */
	const char *title;
	const char *says;          /* what it shows, one or two sentences */
	struct chart_axis x;
	struct chart_axis y;
	int own_table;             /* the page has a better table */
	size_t count;
	struct chart_series *series[CHART_SERIES_MAX];
	size_t note_count;
	struct chart_note note[CHART_NOTES_MAX];
};

/* A series of no points, added to the chart; NULL if there are too many or there is no memory. */
struct chart_series *chart_add(struct chart *chart, const char *name, enum chart_mark mark);

/* One point more; left out once the series is full. */
void chart_point(struct chart_series *series, double x, double y);

void chart_ring(struct chart *chart, const struct chart_series *series, const char *text);

/* The figure. Series without points are left out; without any, a sentence says so. */
void chart_write(FILE *file, const struct chart *chart);

/* Drop the series. */
void chart_clear(struct chart *chart);

#endif
