/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn layout tune: layouts for a profile, simulated, and the best held against this machine. */
#include "tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../plan.h"

static const char help[] =
	"firn layout tune --nodes N --rate R [--burst B] [--years Y] [--regions N] [--threads N]\n"
	"                 [--arrival constant|poisson|bursts:ON/OFF] [--trace FILE] [--lead MS] [--blocks K]\n"
	"                 [--shards N] [--deploy rolling|blue-green|none] [--measure SECONDS] [--seed N] [--json]\n"
	"\n"
	"Searches the 63-bit layouts that last and hold the nodes, simulates what each makes of the load on one node,\n"
	"and plays the same load to real generators of the three best on this machine.\n"
	"\n"
	"  --rate R       IDs a second over all nodes; one node has its share of it\n"
	"  --burst B      IDs at once over all nodes, once a second; one node has its share\n"
	"  --regions N    each region has numbers of its own for its share of the nodes\n"
	"  --arrival      poisson (default), constant, or bursts:ON/OFF in ms: all of the rate in ON, then nothing for OFF\n"
	"  --trace FILE   instead of rate and shape: IDs of one node in each millisecond, one number a line\n"
	"  --blocks K     each of --threads threads keeps a block of K: half of it is burnt a tick\n"
	"  --shards N     one thread may use only an N-th of the sequence\n"
	"  --deploy       rolling (default) needs every node number twice for a while, blue-green all of them at once\n"
	"  --measure S    seconds for each of the three best (default 1; 0: none)\n"
	"\n"
	"examples:\n"
	"  firn layout tune --nodes 400 --rate 30000 --burst 100000\n"
	"  firn layout tune --nodes 16 --rate 4e6 --arrival bursts:2/8 --threads 4 --blocks 64 --json\n";

#define SIMULATED_MS 60000
#define BEST 3

struct wanted {
	struct plan_load load;
	double regions;
	double threads;
	double blocks;
	double shards;
	double measure_s;
	double lead_ms;
	double seed;
	int doubled;  /* a deploy needs each number twice */
	struct arrival_wish wish;
	const char *trace;
};

struct candidate {
	struct plan_proposal plan;
	struct outcome predicted;
	struct outcome measured;
	double late;
	int was_measured;
	double clash;
	double cost;
};

static int
by_cost(const void *a, const void *b)
{
	double x = ((const struct candidate *)a)->cost;
	double y = ((const struct candidate *)b)->cost;

	return (x > y) - (x < y);
}

/* Values of the sequence that a tick leaves unused, and what one thread may use of it. */
static void
simulate(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *c)
{
	const struct firn_layout *layout = &c->plan.layout;
	uint64_t per_tick = UINT64_C(1) << layout->seq_bits;
	uint64_t share = per_tick / (uint64_t)wanted->shards;

	queue_run(arrivals, share == 0 ? 1 : share, layout->tick_ms, wanted->threads * wanted->blocks / 2,
	          (uint32_t)wanted->lead_ms, &c->predicted);
	/* IDs that wait weigh most, then what they wait; then what the plan counts: deploys, coarse ticks, unused bits. */
	c->cost = c->plan.cost + 1000 * c->predicted.refused + 100 * c->predicted.stalled + c->predicted.p99_ms;
	if (wanted->doubled && !c->plan.doubled_fits)
		c->cost += 1000;
}

static size_t
search(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *found, size_t room)
{
	static struct plan_proposal plans[PLAN_PROPOSALS_MAX];
	size_t count = plan_search(&wanted->load, plan_epoch_ms(), plans, PLAN_PROPOSALS_MAX);

	/* The plan has sorted them: beyond so many only stranger ones follow. */
	if (count > room)
		count = room;
	for (size_t i = 0; i < count; i++) {
		memset(&found[i], 0, sizeof(found[i]));
		found[i].plan = plans[i];
		simulate(wanted, arrivals, &found[i]);
	}
	qsort(found, count, sizeof(found[0]), by_cost);
	return count;
}

static int
measure_best(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *found, size_t count)
{
	for (size_t i = 0; i < count && i < BEST && wanted->measure_s > 0; i++) {
		if (isatty(STDERR_FILENO))
			(void)fprintf(stderr, "\r\033[Kplaying the load to layout %zu of %d", i + 1, BEST);
		int error = measure_run(&found[i].plan.layout, arrivals, wanted->measure_s, (uint32_t)wanted->lead_ms,
		                        &found[i].measured, &found[i].late);

		if (error != FIRN_OK)
			return error;
		found[i].was_measured = 1;
	}
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r\033[K");
	return FIRN_OK;
}

static json_t *
json_outcome(const struct outcome *o)
{
	return json_pack("{s:I, s:f, s:f, s:f, s:f}", "ids", (json_int_t)o->ids, "ahead_of_the_clock", o->stalled, "p99_ms",
	                 o->p99_ms, "most_ms", o->most_ms, "refused", o->refused);
}

static json_t *
json_candidate(const struct candidate *c)
{
	json_t *one = json_pack("{s:o, s:f, s:f, s:f, s:b, s:f, s:o}", "layout", json_layout(&c->plan.layout), "life_years",
	                        c->plan.life_years, "ceiling_per_node_per_second", c->plan.ceiling, "burst_nodes",
	                        c->plan.burst_nodes, "doubled_nodes_fit", c->plan.doubled_fits, "clash_chance_random_nodes",
	                        c->plan.clash, "predicted", json_outcome(&c->predicted));

	if (c->was_measured) {
		(void)json_object_set_new(one, "measured", json_outcome(&c->measured));
		(void)json_object_set_new(one, "late_ms_share", json_real(c->late));
	}
	return one;
}

static void
print_outcome(const char *name, const struct outcome *o)
{
	(void)printf("  %-10s %8.4f %% ahead of the clock; 99 %% of IDs within %.0f ms, all within %.0f ms; %.4f %% refused\n",
	             name, o->stalled * 100, o->p99_ms, o->most_ms, o->refused * 100);
}

static void
print_candidate(const struct candidate *c)
{
	char text[FIRN_LAYOUT_TEXT_MAX] = {0};

	if (firn_layout_print(&c->plan.layout, text, sizeof(text)) != FIRN_OK)
		text[0] = '\0';
	(void)printf("%s%s%s\n", bold(), text, plain());
	(void)printf("  %.1f years; %.0f IDs a second a node at most; %llu node numbers%s; random ones clash with %.3g %%\n",
	             c->plan.life_years, c->plan.ceiling, (unsigned long long)firn_layout_nodes(&c->plan.layout),
	             c->plan.doubled_fits ? "" : ", too few for a rolling deploy", c->plan.clash * 100);
	if (c->plan.burst_nodes > 0)
		(void)printf("  %.0f nodes must share a burst to pass it in one tick\n", c->plan.burst_nodes);
	print_outcome("predicted", &c->predicted);
	if (c->was_measured)
		print_outcome("measured", &c->measured);
	if (c->late > 0.01)
		(void)printf("  %sthis machine began %.0f %% of the milliseconds late: their IDs came in a heap%s\n",
		             dim(), c->late * 100, plain());
}

static int
read_arrival(const char *text, struct arrival_wish *wish)
{
	unsigned on;
	unsigned off;
	char end;

	wish->shape = ARRIVAL_POISSON;
	if (strcmp(text, "poisson") == 0)
		return EXIT_OK;
	wish->shape = ARRIVAL_CONSTANT;
	if (strcmp(text, "constant") == 0)
		return EXIT_OK;
	wish->shape = ARRIVAL_BURSTS;
	if (sscanf(text, "bursts:%u/%u%c", &on, &off, &end) == 2 && on > 0 && on <= 60000 && off <= 60000) {
		wish->on_ms = on;
		wish->off_ms = off;
		return EXIT_OK;
	}
	complain("--arrival is constant, poisson or bursts:ON/OFF in ms up to 60000, not '%s'", text);
	return EXIT_USAGE;
}

static int
read_deploy(const char *text, int *doubled)
{
	*doubled = strcmp(text, "none") != 0;
	if (*doubled == 0 || strcmp(text, "rolling") == 0 || strcmp(text, "blue-green") == 0)
		return EXIT_OK;
	complain("--deploy is rolling, blue-green or none, not '%s'", text);
	return EXIT_USAGE;
}

static int
tune(const struct wanted *wanted, int json)
{
	static struct candidate found[64];
	struct arrivals arrivals;
	int code = EXIT_OK;

	if (wanted->trace != NULL)
		code = arrivals_read(wanted->trace, &arrivals);
	else if (arrivals_make(&wanted->wish, SIMULATED_MS, &arrivals) != 0)
		code = refuse(json, "arrivals", FIRN_E_NO_MEMORY);
	if (code != EXIT_OK)
		return code;
	size_t count = search(wanted, &arrivals, found, sizeof(found) / sizeof(found[0]));
	int error = measure_best(wanted, &arrivals, found, count);

	if (count == 0) {
		complain("no 63-bit layout carries this: use more nodes (each has a share of the rate), fewer years, or one ID "
		         "space a region");
		if (json)
			(void)json_print(json_pack("{s:f, s:I, s:[]}", "mean_per_ms_of_a_node", arrivals.mean, "most_per_ms_of_a_node",
			                           (json_int_t)arrivals.most, "layouts"));
		code = EXIT_DIFFERS;
	} else if (error != FIRN_OK) {
		code = refuse(json, "measuring", error);
	} else if (json) {
		json_t *all = json_array();

		for (size_t i = 0; i < count && i < BEST; i++)
			(void)json_array_append_new(all, json_candidate(&found[i]));
		code = json_print(json_pack("{s:f, s:I, s:o}", "mean_per_ms_of_a_node", arrivals.mean, "most_per_ms_of_a_node",
		                            (json_int_t)arrivals.most, "layouts", all));
	} else {
		(void)printf("one node is asked for %.4g IDs a millisecond on average, %u at most\n\n", arrivals.mean,
		             arrivals.most);
		for (size_t i = 0; i < count && i < BEST; i++)
			print_candidate(&found[i]);
	}
	arrivals_free(&arrivals);
	return code;
}

int
cmd_layout_tune(int argc, char **argv)
{
	const char *nodes = NULL, *rate = NULL, *burst = "0", *years = "50", *regions = "1", *threads = "1", *blocks = "0";
	const char *shards = "1", *measure = "1", *lead = "1000", *seed = "1", *arrival = "poisson", *trace = NULL;
	const char *deploy = "rolling", *json = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--nodes", NULL, &nodes, 0},     {"--rate", NULL, &rate, 0},       {"--burst", NULL, &burst, 0},
		{"--years", NULL, &years, 0},     {"--regions", NULL, &regions, 0}, {"--threads", NULL, &threads, 0},
		{"--blocks", NULL, &blocks, 0},   {"--shards", NULL, &shards, 0},   {"--measure", NULL, &measure, 0},
		{"--lead", NULL, &lead, 0},       {"--seed", NULL, &seed, 0},       {"--arrival", NULL, &arrival, 0},
		{"--trace", NULL, &trace, 0},     {"--deploy", NULL, &deploy, 0},   {"--json", NULL, &json, 1},
		{"--help", "-h", &want_help, 1},
	};
	struct wanted wanted;
	double number = 0;

	memset(&wanted, 0, sizeof(wanted));
	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (argc != 0 || nodes == NULL || (rate == NULL && trace == NULL)) {
		complain("tune needs --nodes, and --rate or --trace; 'firn layout tune --help' explains");
		return EXIT_USAGE;
	}
	if (!plan_number("--nodes", nodes, 1, 1e12, &number) ||
	    !plan_number("--rate", rate == NULL ? "0" : rate, 0, 1e15, &wanted.load.rate) ||
	    !plan_number("--burst", burst, 0, 1e12, &wanted.load.burst) ||
	    !plan_number("--years", years, 0.1, 1e6, &wanted.load.years) ||
	    !plan_number("--regions", regions, 1, 1e6, &wanted.regions) ||
	    !plan_number("--threads", threads, 1, 4096, &wanted.threads) ||
	    !plan_number("--blocks", blocks, 0, 65536, &wanted.blocks) ||
	    !plan_number("--shards", shards, 1, 1024, &wanted.shards) ||
	    !plan_number("--measure", measure, 0, 60, &wanted.measure_s) ||
	    !plan_number("--lead", lead, 0, 3600000, &wanted.lead_ms) ||
	    !plan_number("--seed", seed, 0, 1e15, &wanted.seed) || read_arrival(arrival, &wanted.wish) != EXIT_OK ||
	    read_deploy(deploy, &wanted.doubled) != EXIT_OK)
		return EXIT_USAGE;
	double share = ceil(number / wanted.regions) * wanted.regions;

	wanted.load.nodes = (uint64_t)share;
	wanted.wish.rate = wanted.load.rate / share;
	wanted.wish.burst = wanted.load.burst / share;
	wanted.wish.seed = (uint64_t)wanted.seed;
	wanted.trace = trace;
	if (wanted.wish.rate > 1e9 || wanted.wish.burst > 1e9) {
		complain("one node's share is %.3g IDs a second and %.3g at once: more than any can be asked for; use more nodes",
		         wanted.wish.rate, wanted.wish.burst);
		return EXIT_USAGE;
	}
	return tune(&wanted, json != NULL);
}
