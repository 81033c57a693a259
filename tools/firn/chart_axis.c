/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Axes: linear, logarithmic, by powers of two, by number of nines. */
#include "chart_axis.h"

#include <math.h>
#include <string.h>

#include "page.h"

/* The value on its scale. */
static double
scaled(enum chart_scale scale, double value)
{
	switch (scale) {
	case CHART_LOG:
		return log10(value);
	case CHART_TWOS:
		return log2(value);
	case CHART_NINES:
		return -log10(1 - value);
	default:
		return value;
	}
}

static int
is_logarithm(enum chart_scale scale)
{
	return scale == CHART_LOG || scale == CHART_TWOS;
}

/* 1, 2 or 5 times a power of ten, so that about six ticks stand on the axis. */
static double
nice_step(double span)
{
	double rough = span / 6;
	double power = pow(10, floor(log10(rough)));
	double digit = rough / power;

	return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void
widen_linear(struct axis_fit *fit)
{
	size_t names = 0;

	for (; fit->axis->names != NULL && fit->axis->names[names] != NULL; names++)
		;
	if (names != 0) {
		fit->from = 0.5;
		fit->to = (double)names + 0.5;
		fit->step = 1;
		return;
	}
	if (fit->from > 0)
		fit->from = 0;
	if (fit->to <= fit->from)
		fit->to = fit->from + 1;
	fit->step = nice_step(fit->to - fit->from);
	fit->from = floor(fit->from / fit->step) * fit->step;
	fit->to = ceil(fit->to / fit->step - 1e-9) * fit->step;
}

void
axis_fit(struct axis_fit *fit, const struct chart_axis *axis, const double values[], size_t count)
{
	*fit = (struct axis_fit){axis, INFINITY, -INFINITY, 1, 0};
	for (size_t i = 0; i < count; i++) {
		if (values[i] <= 0 && is_logarithm(axis->scale)) {
			fit->has_zero = 1;
			continue;
		}
		fit->from = fmin(fit->from, scaled(axis->scale, values[i]));
		fit->to = fmax(fit->to, scaled(axis->scale, values[i]));
	}
	if (!(fit->from <= fit->to))
		fit->from = fit->to = 0;
	switch (axis->scale) {
	case CHART_LOG:
		fit->from = floor(fit->from + 1e-9) - fit->has_zero;
		fit->to = ceil(fit->to + 0.02);
		break;
	case CHART_TWOS:
		fit->from = floor(fit->from + 1e-9);
		fit->to = fit->to > fit->from ? fit->to : fit->from + 1;
		break;
	case CHART_NINES:
		fit->from = 0;
		fit->to = fmax(fit->to, 1);
		break;
	default:
		widen_linear(fit);
	}
}

double
axis_place(const struct axis_fit *fit, double value)
{
	if (value <= 0 && is_logarithm(fit->axis->scale))
		return 0;
	return (scaled(fit->axis->scale, value) - fit->from) / (fit->to - fit->from);
}

char *
axis_text(const struct chart_axis *axis, double value, char text[24])
{
	if (axis->scale != CHART_NINES)
		return page_number(value, text);
	/* As many digits as tell it from 100 %. */
	int nines = (int)ceil(-log10(1 - value) - 1e-9);

	(void)snprintf(text, 24, "%.*f %%", nines > 2 ? nines - 2 : 0, value * 100);
	return text;
}

/* On a short logarithmic axis 2 and 5 have ticks of their own. */
static size_t
log_ticks(const struct axis_fit *fit, struct axis_tick ticks[AXIS_TICKS_MAX])
{
	static const double digits[] = {1, 2, 5};
	size_t each = fit->to - fit->from - fit->has_zero <= 2 ? 3 : 1;
	size_t count = 0;

	if (fit->has_zero)
		ticks[count++] = (struct axis_tick){0, "0"};
	for (double power = fit->from + fit->has_zero; power <= fit->to + 1e-9; power++)
		for (size_t i = 0; i < each && count < AXIS_TICKS_MAX; i++) {
			double value = digits[i] * pow(10, power);

			if (axis_place(fit, value) > 1 + 1e-9)
				break;
			ticks[count].place = axis_place(fit, value);
			(void)page_number(value, ticks[count++].text);
		}
	return count;
}

size_t
axis_ticks(const struct axis_fit *fit, struct axis_tick ticks[AXIS_TICKS_MAX])
{
	const struct chart_axis *axis = fit->axis;
	size_t count = 0;

	if (axis->scale == CHART_LOG)
		return log_ticks(fit, ticks);
	for (double at = ceil(fit->from / fit->step - 1e-9) * fit->step; at <= fit->to + fit->step * 1e-9 && count < AXIS_TICKS_MAX;
	     at += fit->step) {
		struct axis_tick *tick = &ticks[count++];

		tick->place = (at - fit->from) / (fit->to - fit->from);
		if (axis->names != NULL)
			(void)snprintf(tick->text, sizeof(tick->text), "%.23s", axis->names[(size_t)at - 1]);
		else if (axis->scale == CHART_TWOS)
			(void)page_number(exp2(at), tick->text);
		else if (axis->scale == CHART_NINES)
			(void)axis_text(axis, 1 - pow(10, -at), tick->text);
		else
			(void)page_number(fabs(at) < fit->step * 1e-9 ? 0 : at, tick->text);
	}
	return count;
}
