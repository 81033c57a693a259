/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* An axis fitted to what a chart holds: from a value to a place, and its ticks. */
#ifndef FIRN_CHART_AXIS_H
#define FIRN_CHART_AXIS_H

#include "chart.h"

/* Places are 0 at the axis' begin and 1 at its end. */
struct axis_fit {
	const struct chart_axis *axis;
	double from;  /* on the scale: a logarithm, a number of nines, or the value */
	double to;
	double step;  /* LINEAR: between ticks */
	int has_zero; /* LOG: 0 lies at the begin */
};

struct axis_tick {
	double place;
	char text[24];
};
#define AXIS_TICKS_MAX 40

void axis_fit(struct axis_fit *fit, const struct chart_axis *axis, const double values[], size_t count);
double axis_place(const struct axis_fit *fit, double value);
size_t axis_ticks(const struct axis_fit *fit, struct axis_tick ticks[AXIS_TICKS_MAX]);

/* A value as the axis names it; for NINES as a percentage. Returns text. */
char *axis_text(const struct chart_axis *axis, double value, char text[24]);

#endif
