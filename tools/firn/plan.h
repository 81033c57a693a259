/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The search that plan and tune share: layouts that last and hold a load. */
#ifndef FIRN_PLAN_H
#define FIRN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <firn/layout.h>

struct plan_load {
	uint64_t nodes;
	double rate;   /* IDs a second over all nodes */
	double burst;  /* IDs within one millisecond over all nodes */
	double years;
	uint64_t regions; /* each with node numbers of its own; a field of the layout if there is more than one */
	int single;       /* no deploy ever runs a node twice */
};

struct plan_proposal {
	struct firn_layout layout;
	double life_years;
	double ceiling;       /* IDs a second of one node */
	double used;          /* of the ceiling, at the even rate */
	double burst_ms;      /* how long the burst keeps its nodes busy, spread over all of them */
	double burst_nodes;   /* how many nodes must share it to pass within one tick */
	double headroom;      /* numbers for each node */
	double clash;         /* chance that random node numbers clash */
	int doubled_fits;     /* every node twice during a rolling deploy */
	double cost;
};
#define PLAN_PROPOSALS_MAX 4096

/* Every split of 63 bits that lasts, holds the nodes and leaves half the ceiling free; best first. */
size_t plan_search(const struct plan_load *load, int64_t epoch_ms, struct plan_proposal found[], size_t room);

/* This year's beginning. */
int64_t plan_epoch_ms(void);

/* A number within [min, max]; 0 after a message. */
int plan_number(const char *name, const char *text, double min, double max, double *value);

/* --burst's value, N or N/ms. 0 after a message. */
int plan_burst(const char *text, double *value);

#endif
