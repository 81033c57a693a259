/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn layout tune: layouts for a profile, simulated, and the best held against this machine. */
#include "tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"firn layout tune --nodes N --rate R [--burst B] [--years Y] [--regions N] [--threads N]\n"
	"                 [--arrival constant|poisson|bursts:ON/OFF] [--trace FILE] [--lead MS] [--blocks K]\n"
	"                 [--shards N] [--deploy rolling|blue-green|none] [--measure SECONDS] [--seed N]\n"
	"                 [--html FILE] [--json]\n"
	"\n"
	"Searches the 63-bit layouts that last and hold the nodes, simulates what each makes of the load on one node,\n"
	"and plays the same load to real generators of the three best on this machine: once to callers that wait for\n"
	"the clock (stalled, delay), once to callers that do not (lead, refused).\n"
	"\n"
	"  --rate R       IDs a second over all nodes; one node has its share of it\n"
	"  --burst B      IDs within a millisecond over all nodes, once a second (also B/ms); one node has its share\n"
	"  --regions N    a field of the layout; each has worker numbers of its own for its share of the nodes\n"
	"  --arrival      poisson (default), constant, or bursts:ON/OFF in ms: all of the rate in ON, then nothing for OFF\n"
	"  --trace FILE   instead of rate and shape: IDs of one node in each millisecond, one number a line, as\n"
	"                 'firn bench record' writes them; - is standard input\n"
	"  --blocks K     each of --threads threads keeps a block of K: half of it is burnt a tick\n"
	"  --shards N     one thread may use only an N-th of the sequence\n"
	"  --deploy       rolling (default) needs every node number twice for a while, blue-green all of them at once\n"
	"  --measure S    seconds of the load for each of the three best (default 1; 0: none)\n"
	"  --html FILE    a page with the trade-off, predicted beside measured, and the lead over time\n"
	"\n"
	"examples:\n"
	"  firn layout tune --nodes 400 --rate 30000 --burst 100000\n"
	"  firn layout tune --nodes 16 --rate 4e6 --arrival bursts:2/8 --threads 4 --blocks 64 --json\n";

#define SIMULATED_MS 60000

struct wanted {
	struct plan_load load;
	double threads;
	double blocks;
	double shards;
	double measure_s;
	double lead_ms;
	double seed;
	struct arrival_wish wish;
	const char *trace;
	const char *html;
};

static int
by_cost(const void *a, const void *b)
{
	double x = ((const struct candidate *)a)->cost;
	double y = ((const struct candidate *)b)->cost;

	return (x > y) - (x < y);
}

/* The arrivals on a candidate: blocks leave values of a tick unused, a shard is only a part of them. */
static void
simulate(const struct wanted *wanted, const struct arrivals *arrivals, const struct candidate *c, struct outcome *outcome,
         struct timeline *timeline)
{
	const struct firn_layout *layout = &c->plan.layout;
	uint64_t share = (UINT64_C(1) << layout->seq_bits) / (uint64_t)wanted->shards;

	queue_run(arrivals, share, layout->tick_ms, wanted->threads * wanted->blocks / 2, (uint32_t)wanted->lead_ms, outcome,
	          timeline);
}

static void
weigh(const struct wanted *wanted, struct candidate *c)
{
	/* IDs that wait weigh most, then what they wait; then what the plan counts: deploys, coarse ticks, unused bits. */
	c->cost = c->plan.cost + 1000 * c->predicted.refused + 100 * c->predicted.stalled + c->predicted.p99_ms;
	if (!wanted->load.single && !c->plan.doubled_fits)
		c->cost += 1000;
}

static size_t
search(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *found)
{
	static struct plan_proposal plans[PLAN_PROPOSALS_MAX];
	size_t planned = plan_search(&wanted->load, plan_epoch_ms(), plans, PLAN_PROPOSALS_MAX);
	size_t count = 0;

	for (size_t i = 0; i < planned && count < TUNE_CANDIDATES_MAX; i++) {
		struct candidate *c = &found[count];

		if (ldexp(1, plans[i].layout.seq_bits) < wanted->shards)
			continue;
		memset(c, 0, sizeof(*c));
		c->plan = plans[i];
		simulate(wanted, arrivals, c, &c->predicted, NULL);
		weigh(wanted, c);
		count++;
	}
	qsort(found, count, sizeof(found[0]), by_cost);
	return count;
}

/* Predict and measure the same part of the arrivals. With a page, as it went on, too. */
static int
measure(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *c)
{
	struct play_wish wish = {&c->plan.layout,           wanted->measure_s,         (uint32_t)wanted->lead_ms,
	                         (uint32_t)wanted->shards, (uint32_t)wanted->blocks, (uint32_t)wanted->threads,
	                         0};
	struct arrivals part = *arrivals;
	size_t ms = (size_t)ceil((wanted->measure_s > 0 ? wanted->measure_s : 1) * 1000);
	uint32_t tick_ms = c->plan.layout.tick_ms;
	struct timeline simulated = {0};
	struct timeline played = {0};
	int keeps = wanted->html != NULL;
	int error = FIRN_OK;

	part.ms = part.ms < ms ? part.ms : ms;
	if (keeps && (timeline_make(&simulated, part.ms, tick_ms) != 0 || timeline_make(&played, part.ms, tick_ms) != 0))
		error = FIRN_E_NO_MEMORY;
	if (error == FIRN_OK)
		simulate(wanted, &part, c, &c->played, keeps ? &simulated : NULL);
	if (error == FIRN_OK && wanted->measure_s > 0) {
		error = play_run(&wish, &part, &c->measured, &c->late, keeps ? &played : NULL);
		c->was_measured = error == FIRN_OK;
	}
	if (error == FIRN_OK && keeps)
		c->simulated_line = timeline_json(&simulated);
	if (keeps && c->was_measured)
		c->measured_line = timeline_json(&played);
	timeline_free(&simulated);
	timeline_free(&played);
	return error;
}

static int
measure_best(const struct wanted *wanted, const struct arrivals *arrivals, struct candidate *found, size_t count)
{
	int error = FIRN_OK;

	for (size_t i = 0; i < count && i < TUNE_BEST && error == FIRN_OK; i++) {
		if (isatty(STDERR_FILENO))
			(void)fprintf(stderr, "\r\033[Kplaying the load to layout %zu of %d", i + 1, TUNE_BEST);
		error = measure(wanted, arrivals, &found[i]);
	}
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r\033[K");
	return error;
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
read_deploy(const char *text, int *single)
{
	*single = strcmp(text, "none") == 0;
	if (*single || strcmp(text, "rolling") == 0 || strcmp(text, "blue-green") == 0)
		return EXIT_OK;
	complain("--deploy is rolling, blue-green or none, not '%s'", text);
	return EXIT_USAGE;
}

/* The answer in every form that was asked for. */
static int
tell(const struct wanted *wanted, const struct arrivals *arrivals, const struct candidate *found, size_t count, int json)
{
	json_t *answer = tune_answer(arrivals, wanted->measure_s, found, count);

	if (wanted->html != NULL && tune_page_write(answer, wanted->html) != 0) {
		complain("%s cannot be written", wanted->html);
		json_decref(answer);
		return EXIT_OUTPUT;
	}
	if (json)
		return json_print(answer);
	tune_print(answer);
	json_decref(answer);
	return EXIT_OK;
}

static int
tune(struct wanted *wanted, int json)
{
	static struct candidate found[TUNE_CANDIDATES_MAX];
	struct arrivals arrivals;
	int code = EXIT_OK;

	if (wanted->trace != NULL)
		code = arrivals_read(wanted->trace, &arrivals);
	else if (arrivals_make(&wanted->wish, SIMULATED_MS, &arrivals) != 0)
		code = refuse(json, "arrivals", FIRN_E_NO_MEMORY);
	if (code != EXIT_OK)
		return code;
	/* A trace alone says the rate, too: layouts that cannot carry it are not searched. */
	if (wanted->load.rate == 0)
		wanted->load.rate = arrivals.mean * 1000 * (double)wanted->load.nodes;
	size_t count = search(wanted, &arrivals, found);
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
	} else {
		code = tell(wanted, &arrivals, found, count, json);
	}
	for (size_t i = 0; i < count && i < TUNE_BEST; i++) {
		json_decref(found[i].simulated_line);
		json_decref(found[i].measured_line);
	}
	arrivals_free(&arrivals);
	return code;
}

int
cmd_layout_tune(int argc, char **argv)
{
	const char *nodes = NULL, *rate = NULL, *burst = "0", *years = "50", *regions_text = "1", *threads = "1", *blocks = "0";
	const char *shards_text = "1", *measure = "1", *lead = "1000", *seed = "1", *arrival = "poisson", *trace = NULL;
	const char *deploy = "rolling", *json = NULL, *html = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--nodes", NULL, &nodes, 0},     {"--rate", NULL, &rate, 0},       {"--burst", NULL, &burst, 0},
		{"--years", NULL, &years, 0},     {"--regions", NULL, &regions_text, 0}, {"--threads", NULL, &threads, 0},
		{"--blocks", NULL, &blocks, 0},   {"--shards", NULL, &shards_text, 0},   {"--measure", NULL, &measure, 0},
		{"--lead", NULL, &lead, 0},       {"--seed", NULL, &seed, 0},       {"--arrival", NULL, &arrival, 0},
		{"--trace", NULL, &trace, 0},     {"--deploy", NULL, &deploy, 0},   {"--json", NULL, &json, 1},
		{"--html", NULL, &html, 0},       {"--help", "-h", &want_help, 1},
	};
	struct wanted wanted;
	double number = 0;
	double regions = 1;

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
	    !plan_burst(burst, &wanted.load.burst) ||
	    !plan_number("--years", years, 0.1, 1e6, &wanted.load.years) ||
	    !plan_number("--regions", regions_text, 1, 1e6, &regions) ||
	    !plan_number("--threads", threads, 1, 4096, &wanted.threads) ||
	    !plan_number("--blocks", blocks, 0, 65536, &wanted.blocks) ||
	    !plan_number("--shards", shards_text, 1, 1024, &wanted.shards) ||
	    !plan_number("--measure", measure, 0, 60, &wanted.measure_s) ||
	    !plan_number("--lead", lead, 0, 3600000, &wanted.lead_ms) ||
	    !plan_number("--seed", seed, 0, 1e15, &wanted.seed) || read_arrival(arrival, &wanted.wish) != EXIT_OK ||
	    read_deploy(deploy, &wanted.load.single) != EXIT_OK)
		return EXIT_USAGE;
	uint64_t shards = (uint64_t)wanted.shards;

	if ((double)shards != wanted.shards || (shards & (shards - 1)) != 0) {
		complain("--shards takes a power of two, not '%s'", shards_text);
		return EXIT_USAGE;
	}
	/* Every region gets numbers for the same share of the nodes. */
	double share = ceil(number / ceil(regions)) * ceil(regions);

	wanted.load.regions = (uint64_t)ceil(regions);
	wanted.load.nodes = (uint64_t)share;
	wanted.wish.rate = wanted.load.rate / share;
	wanted.wish.burst = wanted.load.burst / share;
	wanted.wish.seed = (uint64_t)wanted.seed;
	wanted.trace = trace;
	wanted.html = html;
	if (wanted.wish.rate > 1e9 || wanted.wish.burst > 1e9) {
		complain("one node's share is %.3g IDs a second and %.3g at once: more than any can be asked for; use more nodes",
		         wanted.wish.rate, wanted.wish.burst);
		return EXIT_USAGE;
	}
	return tune(&wanted, json != NULL);
}
