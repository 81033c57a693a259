/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of firn layout tune share: candidates, and the answer made of them. */
#ifndef FIRN_TUNE_H
#define FIRN_TUNE_H

#include "../load/load.h"
#include "../plan.h"

/* So many are measured and printed. */
#define TUNE_BEST 3
/* So many of the plan's are simulated: beyond them only stranger ones follow. */
#define TUNE_CANDIDATES_MAX 256

struct candidate {
	struct plan_proposal plan;
	struct outcome predicted;   /* over all arrivals */
	int was_measured;
	struct outcome played;      /* predicted over the part of the arrivals that was played */
	struct outcome measured;
	double late;
	json_t *simulated_line;     /* timelines of that part, or NULL */
	json_t *measured_line;
	double cost;
};

/* The answer as one object: the arrivals, the best in full, and all candidates in brief. */
json_t *tune_answer(const struct arrivals *arrivals, double measured_s, const struct candidate found[], size_t count);

/* The same as a table for people. */
void tune_print(const json_t *answer);

/* And as a page. 0, or -1 if it cannot be written. */
int tune_page_write(const json_t *answer, const char *path);

#endif
