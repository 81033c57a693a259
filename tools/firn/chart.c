/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a chart, and its table. */
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart_axis.h"
#include "page.h"

#define LEFT 70
#define TOP 12
#define PLOT_WIDTH 620
#define PLOT_HEIGHT 340
#define WIDTH 900
#define HEIGHT (TOP + PLOT_HEIGHT + 52)
/* Above so many points a line shows their course and marks would hide it. */
#define MARKS_MAX 40
#define LABEL_GAP 15

struct drawing {
	FILE *file;
	const struct chart *chart;
	struct axis_fit x;
	struct axis_fit y;
};

struct chart_series *
chart_add(struct chart *chart, const char *name, enum chart_mark mark)
{
	struct chart_series *series = chart->count < CHART_SERIES_MAX ? calloc(1, sizeof(*series)) : NULL;

	if (series == NULL)
		return NULL;
	series->name = name;
	series->mark = mark;
	chart->series[chart->count++] = series;
	return series;
}

void
chart_point(struct chart_series *series, double x, double y)
{
	if (series == NULL || series->count == CHART_POINTS_MAX)
		return;
	series->x[series->count] = x;
	series->y[series->count++] = y;
}

void
chart_ring(struct chart *chart, const struct chart_series *series, const char *text)
{
	if (series != NULL && series->count != 0 && chart->note_count < CHART_NOTES_MAX)
		chart->note[chart->note_count++] = (struct chart_note){text, series, series->count - 1};
}

void
chart_clear(struct chart *chart)
{
	while (chart->count > 0)
		free(chart->series[--chart->count]);
}

/* Points of several series at one place stand beside each other. */
static double
x_of(const struct drawing *d, const struct chart_series *series, size_t index, size_t point)
{
	double aside = series->mark == CHART_POINTS ? ((double)index - ((double)d->chart->count - 1) / 2) * 8 : 0;

	return LEFT + axis_place(&d->x, series->x[point]) * PLOT_WIDTH + aside;
}

static double
y_of(const struct drawing *d, const struct chart_series *series, size_t point)
{
	return TOP + (1 - axis_place(&d->y, series->y[point])) * PLOT_HEIGHT;
}

static void
put_axes(const struct drawing *d)
{
	struct axis_tick ticks[AXIS_TICKS_MAX];
	size_t count = axis_ticks(&d->x, ticks);

	for (size_t i = 0; i < count; i++) {
		double x = LEFT + ticks[i].place * PLOT_WIDTH;

		(void)fprintf(d->file, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\" "
		                       "text-anchor=\"middle\">", x, x, TOP, TOP + PLOT_HEIGHT, x, TOP + PLOT_HEIGHT + 18);
		page_text(d->file, ticks[i].text);
		(void)fputs("</text>\n", d->file);
	}
	count = axis_ticks(&d->y, ticks);
	for (size_t i = 0; i < count; i++) {
		double y = TOP + (1 - ticks[i].place) * PLOT_HEIGHT;

		(void)fprintf(d->file, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
		                       "text-anchor=\"end\">", LEFT, LEFT + PLOT_WIDTH, y, y, LEFT - 8, y + 4);
		page_text(d->file, ticks[i].text);
		(void)fputs("</text>\n", d->file);
	}
	(void)fprintf(d->file, "<path class=\"axis\" fill=\"none\" d=\"M%d %dV%dH%d\"/>\n<text x=\"%d\" y=\"%d\" "
	                       "text-anchor=\"middle\">", LEFT, TOP, TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH,
	              LEFT + PLOT_WIDTH / 2, HEIGHT - 8);
	page_text(d->file, d->chart->x.label);
	(void)fprintf(d->file, "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
	              TOP + PLOT_HEIGHT / 2);
	page_text(d->file, d->chart->y.label);
	(void)fputs("</text>\n", d->file);
}

/* A mark of the series' own shape, with its figures as a tip. */
static void
put_mark(const struct drawing *d, size_t index, double x, double y)
{
	unsigned ink = (unsigned)(index % 8);

	switch (index % 4) {
	case 0:
		(void)fprintf(d->file, "<circle class=\"m%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\">", ink, x, y);
		break;
	case 1:
		(void)fprintf(d->file, "<path class=\"m%u\" d=\"M%.1f %.1fh7v7h-7z\">", ink, x - 3.5, y - 3.5);
		break;
	case 2:
		(void)fprintf(d->file, "<path class=\"m%u\" d=\"M%.1f %.1fl4.5 8h-9z\">", ink, x, y - 5);
		break;
	default:
		(void)fprintf(d->file, "<path class=\"m%u\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\">", ink, x, y - 5);
	}
}

static void
end_mark(FILE *file, size_t index)
{
	(void)fputs(index % 4 == 0 ? "</circle>" : "</path>", file);
}

static void
put_series(const struct drawing *d, size_t index)
{
	const struct chart_series *s = d->chart->series[index];

	if (s->mark != CHART_POINTS && s->count > 1) {
		(void)fprintf(d->file, "<polyline class=\"curve s%zu%s\" points=\"", index % 8, s->is_reference ? " reference" : "");
		for (size_t i = 0; i < s->count; i++) {
			if (s->mark == CHART_STEPS && i > 0)
				(void)fprintf(d->file, "%.1f,%.1f ", x_of(d, s, index, i), y_of(d, s, i - 1));
			(void)fprintf(d->file, "%.1f,%.1f ", x_of(d, s, index, i), y_of(d, s, i));
		}
		(void)fputs("\"/>\n", d->file);
	}
	for (size_t i = 0; (s->count <= MARKS_MAX || s->mark == CHART_POINTS) && i < s->count; i++) {
		char x[24];
		char y[24];

		put_mark(d, index, x_of(d, s, index, i), y_of(d, s, i));
		(void)fputs("<title>", d->file);
		page_text(d->file, s->name);
		(void)fprintf(d->file, ": %s, %s</title>", axis_text(d->x.axis, s->x[i], x), axis_text(d->y.axis, s->y[i], y));
		end_mark(d->file, index);
		(void)fputc('\n', d->file);
	}
}

/* Names at the right, at the height of the series' last point as far as there is room. */
static void
put_names(const struct drawing *d)
{
	size_t order[CHART_SERIES_MAX];
	double at[CHART_SERIES_MAX];
	size_t count = d->chart->count;

	for (size_t i = 0; i < count; i++) {
		const struct chart_series *s = d->chart->series[i];
		double y = s->mark == CHART_POINTS ? 0 : y_of(d, s, s->count - 1);
		size_t k = i;

		for (; k > 0 && at[k - 1] > y; k--) {
			at[k] = at[k - 1];
			order[k] = order[k - 1];
		}
		at[k] = y;
		order[k] = i;
	}
	for (size_t k = 0; k < count; k++) {
		at[k] = fmax(at[k], k == 0 ? TOP + 4 : at[k - 1] + LABEL_GAP);
	}
	for (size_t k = count; k-- > 0;)
		at[k] = fmin(at[k], k + 1 == count ? TOP + PLOT_HEIGHT : at[k + 1] - LABEL_GAP);
	for (size_t k = 0; k < count; k++) {
		const struct chart_series *s = d->chart->series[order[k]];
		double from = LEFT + PLOT_WIDTH + 4;

		if (s->mark != CHART_POINTS)
			(void)fprintf(d->file, "<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
			              x_of(d, s, order[k], s->count - 1) + 5, y_of(d, s, s->count - 1),
			              from + 14, at[k]);
		put_mark(d, order[k], from + 22, at[k]);
		end_mark(d->file, order[k]);
		(void)fprintf(d->file, "<text x=\"%.1f\" y=\"%.1f\">", from + 32, at[k] + 4);
		page_text(d->file, s->name);
		(void)fputs("</text>\n", d->file);
	}
}

static void
put_notes(const struct drawing *d)
{
	for (size_t i = 0; i < d->chart->note_count; i++) {
		const struct chart_note *note = &d->chart->note[i];
		size_t index = 0;

		while (index < d->chart->count && d->chart->series[index] != note->series)
			index++;
		double x = x_of(d, note->series, index, note->point);
		double y = y_of(d, note->series, note->point);
		/* Each a line higher, or lower where there is no room: the words of rings that touch do not. */
		double words = 13 * (double)(i % 3 + 1);
		double at = y - words < 16 ? y + words + 9 : y - words;

		(void)fprintf(d->file, "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text x=\"%.1f\" y=\"%.1f\" "
		                       "text-anchor=\"middle\">", x, y, x, at);
		page_text(d->file, note->text);
		(void)fputs("</text>\n", d->file);
	}
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
put_cell(FILE *file, const struct chart_series *s, double x)
{
	(void)fputs("<td class=\"n\">", file);
	for (size_t i = 0; i < s->count; i++)
		if (s->x[i] == x) {
			(void)fprintf(file, "%.6g", s->y[i]);
			break;
		}
	(void)fputs("</td>", file);
}

/* A row for each x, a column for each series. */
static void
put_table(FILE *file, const struct chart *chart, double *x, size_t count)
{
	size_t kept = 0;

	qsort(x, count, sizeof(*x), by_value);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || x[i] != x[i - 1])
			x[kept++] = x[i];
	(void)fputs("<details><summary>The figures as a table</summary><div><table><thead><tr><th class=\"n\">", file);
	page_text(file, chart->x.label);
	(void)fputs("</th>", file);
	for (size_t i = 0; i < chart->count; i++) {
		(void)fputs("<th class=\"n\">", file);
		page_text(file, chart->series[i]->name);
		(void)fputs("</th>", file);
	}
	(void)fputs("</tr></thead><tbody>\n", file);
	for (size_t i = 0; i < kept; i++) {
		/* Digits enough to tell neighbours apart. */
		if (chart->x.scale == CHART_NINES)
			(void)fprintf(file, "<tr><td class=\"n\">%.*f %%</td>", 1 + (int)-log10(1 - x[i]), x[i] * 100);
		else
			(void)fprintf(file, "<tr><td class=\"n\">%.9g</td>", x[i]);
		for (size_t k = 0; k < chart->count; k++)
			put_cell(file, chart->series[k], x[i]);
		(void)fputs("</tr>\n", file);
	}
	(void)fputs("</tbody></table></div></details>\n", file);
}

static void
put_picture(FILE *file, const struct chart *chart, const double x[], const double y[], size_t count)
{
	struct drawing d = {.file = file, .chart = chart};

	axis_fit(&d.x, &chart->x, x, count);
	axis_fit(&d.y, &chart->y, y, count);
	(void)fprintf(file, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title\">\n", WIDTH, HEIGHT, chart->id);
	put_axes(&d);
	for (size_t i = 0; i < chart->count; i++)
		put_series(&d, i);
	put_notes(&d);
	put_names(&d);
	(void)fputs("</svg>\n", file);
}

/* The chart without its empty series, written. */
static void
put_chart(FILE *file, const struct chart *chart)
{
	double *x = calloc((size_t)CHART_SERIES_MAX * CHART_POINTS_MAX, sizeof(*x));
	double *y = calloc((size_t)CHART_SERIES_MAX * CHART_POINTS_MAX, sizeof(*y));
	size_t count = 0;

	for (size_t i = 0; x != NULL && y != NULL && i < chart->count; i++) {
		memcpy(x + count, chart->series[i]->x, chart->series[i]->count * sizeof(*x));
		memcpy(y + count, chart->series[i]->y, chart->series[i]->count * sizeof(*y));
		count += chart->series[i]->count;
	}
	if (count == 0) {
		(void)fputs("<p>No figures.</p>\n", file);
	} else {
		put_picture(file, chart, x, y, count);
		if (!chart->own_table)
			put_table(file, chart, x, count);
	}
	free(x);
	free(y);
}

void
chart_write(FILE *file, const struct chart *chart)
{
	struct chart full = *chart;

	full.count = 0;
	for (size_t i = 0; i < chart->count; i++)
		if (chart->series[i]->count != 0)
			full.series[full.count++] = chart->series[i];
	(void)fprintf(file, "<figure id=\"%s\"><figcaption id=\"%s-title\">", chart->id, chart->id);
	page_text(file, chart->title);
	(void)fputs("<span>", file);
	page_text(file, chart->says);
	(void)fputs("</span></figcaption>\n", file);
	put_chart(file, &full);
	(void)fputs("</figure>\n", file);
}
