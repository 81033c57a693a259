/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn layout plan: which layouts carry a load for so many years, and what each costs. */
#include "firn_tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layout/time.h"
#include "plan.h"

#define YEAR_MS 31556952000.0
#define PROPOSALS 5

/* 1 - (1 - 0/N)(1 - 1/N)...: summed as logarithms, exact enough for any N. */
static double
clash_chance(double members, double numbers)
{
	double log_none = 0;

	if (members > numbers)
		return 1;
	/* Beyond this the sum equals its integral to more digits than are shown. */
	if (members > 1e6)
		return 1 - exp(-members * (members - 1) / 2 / numbers);
	for (double i = 1; i < members; i++)
		log_none += log1p(-i / numbers);
	return -expm1(log_none);
}

/* Bits that so many numbers need; none for a single one. */
static unsigned
bits_for(uint64_t numbers)
{
	return numbers <= 1 ? 0 : (unsigned)ceil(log2((double)numbers));
}

static void
weigh(const struct plan_load *load, struct plan_proposal *p)
{
	double members = ceil((double)load->nodes / (double)load->regions);
	double numbers = ldexp(1, p->layout.node_bits - (int)bits_for(load->regions));
	double per_tick = ldexp(1, p->layout.seq_bits);

	p->ceiling = firn_layout_ids_per_second(&p->layout);
	p->life_years = ldexp(1, p->layout.time_bits) * p->layout.tick_ms / YEAR_MS;
	p->used = load->rate / (double)load->nodes / p->ceiling;
	p->burst_nodes = ceil(load->burst / per_tick);
	p->burst_ms = ceil(load->burst / (double)load->nodes / per_tick) * p->layout.tick_ms;
	/* Regions cannot clash with each other: none of them may within. */
	p->clash = -expm1((double)load->regions * log1p(-clash_chance(members, numbers)));
	p->headroom = numbers / members;
	p->doubled_fits = p->headroom >= 2;
	/*
	 * What hurts, in this order: no room for a rolling deploy, a burst that waits, a coarse
	 * tick; then bits on one side that the other side lacks.
	 */
	p->cost = (p->doubled_fits || load->single ? 0 : 100) + 10 * log2(1 + p->burst_ms / p->layout.tick_ms) +
	          (p->layout.tick_ms > 1 ? 5 : 0) + fabs(log2(p->headroom) - (load->single ? 0.5 : 1.5)) +
	          fabs(log2(p->life_years / load->years));
}

static int
by_cost(const void *a, const void *b)
{
	double x = ((const struct plan_proposal *)a)->cost;
	double y = ((const struct plan_proposal *)b)->cost;

	return (x > y) - (x < y);
}

static int
try_layout(const struct plan_load *load, unsigned time_bits, unsigned node_bits, uint32_t tick_ms, int64_t epoch_ms,
           struct plan_proposal *p)
{
	unsigned region_bits = bits_for(load->regions);
	uint8_t sequence_bits = (uint8_t)(FIRN_LAYOUT_BITS_MAX - time_bits - region_bits - node_bits);
	struct firn_field alone[] = {{"time", (uint8_t)time_bits, 0},
	                             {"node", (uint8_t)node_bits, 0},
	                             {"sequence", sequence_bits, 0}};
	struct firn_field regional[] = {{"time", (uint8_t)time_bits, 0},
	                                {"region", (uint8_t)region_bits, 0},
	                                {"worker", (uint8_t)node_bits, 0},
	                                {"sequence", sequence_bits, 0}};

	memset(p, 0, sizeof(*p));
	if (region_bits == 0 ? firn_layout_make(epoch_ms, tick_ms, alone, 3, &p->layout, NULL) != FIRN_OK
	                     : firn_layout_make(epoch_ms, tick_ms, regional, 4, &p->layout, NULL) != FIRN_OK)
		return 0;
	weigh(load, p);
	return p->life_years >= load->years && p->used <= 0.5;
}

/* Every split of 63 bits that lasts, holds the nodes and leaves half the ceiling free. */
size_t
plan_search(const struct plan_load *load, int64_t epoch_ms, struct plan_proposal found[], size_t room)
{
	static const uint32_t ticks[] = {1, 10, 100, 1000};
	unsigned region = bits_for(load->regions);
	unsigned members = bits_for((load->nodes + load->regions - 1) / load->regions);
	unsigned needed = members == 0 ? 1 : members;
	size_t count = 0;

	for (size_t t = 0; t < 4; t++)
		for (unsigned node = needed; node <= needed + 3 && region + node < 40; node++)
			for (unsigned time = 20; time + region + node <= 60 && count < room; time++)
				if (try_layout(load, time, node, ticks[t], epoch_ms, &found[count]))
					count++;
	qsort(found, count, sizeof(found[0]), by_cost);
	return count;
}

static json_t *
json_of(const struct plan_proposal *p)
{
	return json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "layout", json_layout(&p->layout), "life_years",
	                 p->life_years, "ceiling_per_node_per_second", p->ceiling, "ceiling_used", p->used, "burst_ms",
	                 p->burst_ms, "burst_nodes", p->burst_nodes, "node_headroom", p->headroom,
	                 "clash_chance_random_nodes", p->clash, "doubled_nodes_fit", p->doubled_fits);
}

static void
print_of(const struct plan_load *load, const struct plan_proposal *p)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};

	if (firn_layout_print(&p->layout, text, sizeof(text)) != FIRN_OK)
		text[0] = '\0';
	(void)printf("%s%s%s\n", bold(), text, plain());
	(void)printf("  lasts      %.1f years\n", p->life_years);
	(void)printf("  rate       %.0f IDs a second a node at most; %.3g %% of that is used when the load is even\n",
	             p->ceiling, p->used * 100);
	if (load->burst > 0)
		(void)printf("  burst      %.0f at once: %.0f node%s must share it to pass in one tick; over all %llu it takes "
		             "%.0f ms\n",
		             load->burst, p->burst_nodes, p->burst_nodes == 1 ? "" : "s", (unsigned long long)load->nodes,
		             p->burst_ms);
	(void)printf("  nodes      %llu numbers for %llu%s\n", (unsigned long long)firn_layout_nodes(&p->layout),
	             (unsigned long long)load->nodes,
	             p->doubled_fits ? "; each may run twice during a rolling deploy"
	                             : "; a rolling deploy that doubles them does NOT fit");
	(void)printf("  random     node numbers drawn at random clash with a chance of %.1f %%: lease or assign them\n",
	             p->clash * 100);
}

int
plan_number(const char *name, const char *text, double min, double max, double *value)
{
	char *end = NULL;

	*value = strtod(text, &end);
	/* Decimal only: no blanks, hexadecimal, names of numbers. */
	if (text[strspn(text, "0123456789.eE+-")] != '\0' || end == text || *end != '\0' || !isfinite(*value) || *value < min || *value > max) {
		complain("%s takes a number from %g to %g, not '%s'", name, min, max, text);
		return 0;
	}
	return 1;
}

int
plan_burst(const char *text, double *value)
{
	char number[64];
	size_t length = strlen(text);

	if (length > 3 && length < sizeof(number) && strcmp(text + length - 3, "/ms") == 0) {
		(void)snprintf(number, sizeof(number), "%.*s", (int)length - 3, text);
		text = number;
	}
	return plan_number("--burst", text, 0, 1e12, value);
}

/* Life is counted from the day on which the layout goes into use. */
int64_t
plan_epoch_ms(void)
{
	char year[FIRNI_TIME_TEXT_MAX];
	int64_t epoch_ms = now_unix_ms();
	const char *why;
	size_t offset;

	(void)firni_time_write(epoch_ms, 0, year);
	memcpy(year + 4, "-01-01T00:00:00Z", sizeof("-01-01T00:00:00Z"));
	return firni_time_read(year, strlen(year), &epoch_ms, &offset, &why) != 0 ? 0 : epoch_ms;
}

int
cmd_layout_plan(int argc, char **argv)
{
	const char *nodes = NULL, *rate = NULL, *burst = "0", *years = "50", *regions = "1", *json = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--nodes", NULL, &nodes, 0}, {"--rate", NULL, &rate, 0},  {"--burst", NULL, &burst, 0},
		{"--years", NULL, &years, 0}, {"--regions", NULL, &regions, 0},
		{"--json", NULL, &json, 1}, {"--help", "-h", &want_help, 1},
	};
	static struct plan_proposal found[PLAN_PROPOSALS_MAX];
	struct plan_load load = {.single = 0};
	double number;
	double region;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL) {
		char *help_argv[] = {argv[0], (char[]){"--help"}, NULL};

		return cmd_layout(2, help_argv);
	}
	if (argc != 0 || nodes == NULL || rate == NULL) {
		complain("plan needs --nodes and --rate, and takes --burst, --years and --regions");
		return EXIT_USAGE;
	}
	if (!plan_number("--nodes", nodes, 1, 1e12, &number) || !plan_number("--rate", rate, 0, 1e15, &load.rate) ||
	    !plan_burst(burst, &load.burst) || !plan_number("--regions", regions, 1, 1e6, &region) ||
	    !plan_number("--years", years, 0.1, 1e6, &load.years))
		return EXIT_USAGE;
	load.regions = (uint64_t)ceil(region);
	load.nodes = (uint64_t)ceil(number);
	size_t count = plan_search(&load, plan_epoch_ms(), found, sizeof(found) / sizeof(found[0]));

	if (count == 0) {
		complain("no 63-bit layout carries %.0f IDs a second on %llu nodes for %g years: use more nodes (each has "
		         "a share of the rate), fewer years, or one ID space a region",
		         load.rate, (unsigned long long)load.nodes, load.years);
		if (json != NULL)
			(void)json_print(json_array());
		return EXIT_DIFFERS;
	}
	json_t *all = json_array();

	for (size_t i = 0; i < count && i < PROPOSALS; i++) {
		if (json != NULL)
			(void)json_array_append_new(all, json_of(&found[i]));
		else
			print_of(&load, &found[i]);
	}
	int code = json != NULL ? json_print(json_incref(all)) : EXIT_OK;

	json_decref(all);
	return code;
}
