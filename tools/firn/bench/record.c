/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn bench record: IDs or times from standard input made into a trace of counts per millisecond. */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"firn bench record [--from ids|times] [--layout TEXT] [--node N] [--form FORM] [--json]\n"
	"\n"
	"Reads one ID or one Unix time in ms a line and writes how many fell into each millisecond, from the first to\n"
	"the last: a trace for 'firn layout tune --trace'. The input may be in any order; empty lines are left out.\n"
	"\n"
	"  --from times    times of requests show bursts whole. IDs (the default) show them as their layout spread them:\n"
	"                  never more than its sequence in a tick; a tick of several ms is spread evenly over them\n"
	"  --layout TEXT   what the IDs were made with (default: the preset 'default')\n"
	"  --node N        only IDs of this node: a number or name=value,... A trace is the load of one node\n"
	"  --form FORM     decimal (default), hex, base32, base58, base62\n"
	"\n"
	"examples:\n"
	"  firn bench record --layout twitter --node 3 < ids > trace\n"
	"  cut -d' ' -f1 access.log | firn bench record --from times > trace\n"
	"  firn layout tune --nodes 16 --trace trace\n";

/* A day: longer traces say no more, and a line with a wrong layout lies further away than that. */
#define SPAN_MS_MAX 86400000

struct trace {
	uint32_t *count;
	int64_t base_ms;  /* of count[0] */
	size_t room;
	int64_t first_ms; /* counted: [first_ms, last_ms] */
	int64_t last_ms;
	uint64_t ids;
};

struct source {
	int is_times;
	struct firn_layout layout;
	enum firn_text_form form;
	int one_node;
	int has_node;
	uint64_t node;        /* asked for; without one_node, the first that came */
	int several_nodes;
	uint64_t left_out;    /* IDs of other nodes */
};

/* Room for [from_ms, to_ms]; what is there stays. 0, or -1 without memory. */
static int
make_room(struct trace *trace, int64_t from_ms, int64_t to_ms)
{
	if (trace->room != 0 && from_ms >= trace->base_ms && to_ms < trace->base_ms + (int64_t)trace->room)
		return 0;
	/* Half as much again on both sides, so that a sorted input of either direction moves little. */
	int64_t more = (to_ms - from_ms) / 2 + 2048;
	size_t room = (size_t)(to_ms - from_ms + 1 + 2 * more);
	uint32_t *count = calloc(room, sizeof(*count));

	if (count == NULL)
		return -1;
	if (trace->room != 0)
		memcpy(count + (trace->first_ms - (from_ms - more)), trace->count + (trace->first_ms - trace->base_ms),
		       (size_t)(trace->last_ms - trace->first_ms + 1) * sizeof(*count));
	free(trace->count);
	trace->count = count;
	trace->room = room;
	trace->base_ms = from_ms - more;
	return 0;
}

/* One ID at that time. EXIT_OK, or an exit code after a message. */
static int
add(struct trace *trace, int64_t at_ms, unsigned long line)
{
	int64_t first = trace->ids == 0 || at_ms < trace->first_ms ? at_ms : trace->first_ms;
	int64_t last = trace->ids == 0 || at_ms > trace->last_ms ? at_ms : trace->last_ms;

	if (last - first >= SPAN_MS_MAX) {
		complain("line %lu lies more than a day away from others: is it what --layout and --from say? If so, record "
		         "a shorter part",
		         line);
		return EXIT_USAGE;
	}
	if (make_room(trace, first, last) != 0) {
		complain("no memory for a trace of %lld ms", (long long)(last - first + 1));
		return EXIT_REFUSED;
	}
	trace->first_ms = first;
	trace->last_ms = last;
	trace->ids++;
	trace->count[at_ms - trace->base_ms]++;
	return EXIT_OK;
}

/* The time that a line says. EXIT_OK, EXIT_DIFFERS: leave it out; EXIT_USAGE after a message. */
static int
read_line(struct source *source, const char *text, unsigned long line, int64_t *at_ms)
{
	struct firn_parts parts;
	uint64_t number;

	if (source->is_times) {
		if (!number_read(text, 0, INT64_MAX / 2, &number)) {
			complain("line %lu: '%.40s' is no Unix time in ms", line, text);
			return EXIT_USAGE;
		}
		*at_ms = (int64_t)number;
		return EXIT_OK;
	}
	int error = firn_text_read(source->form, text, strlen(text), &number);

	if (error == FIRN_OK)
		error = firn_layout_split(&source->layout, number, &parts);
	if (error != FIRN_OK) {
		complain("line %lu: '%.40s' is no ID of the layout in that form: %s", line, text, firn_error_text(error));
		return EXIT_USAGE;
	}
	if (source->one_node && parts.node != source->node) {
		source->left_out++;
		return EXIT_DIFFERS;
	}
	if (!source->has_node) {
		source->node = parts.node;
		source->has_node = 1;
	}
	source->several_nodes |= parts.node != source->node;
	*at_ms = parts.time_ms;
	return EXIT_OK;
}

static int
read_all(struct source *source, struct trace *trace)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	unsigned long line = 0;
	int code = EXIT_OK;

	while (code == EXIT_OK && (length = getline(&text, &room, stdin)) >= 0) {
		int64_t at_ms = 0;

		line++;
		while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
			text[--length] = '\0';
		if (length == 0)
			continue;
		code = read_line(source, text, line, &at_ms);
		if (code == EXIT_OK)
			code = add(trace, at_ms, line);
		else if (code == EXIT_DIFFERS)
			code = EXIT_OK;
	}
	free(text);
	if (code == EXIT_OK && ferror(stdin)) {
		complain("standard input: %s", strerror(errno));
		code = EXIT_USAGE;
	}
	if (code == EXIT_OK && trace->ids == 0) {
		complain("nothing to count: standard input held no %s",
		         source->is_times ? "times" : source->left_out != 0 ? "ID of that node" : "IDs");
		code = EXIT_USAGE;
	}
	return code;
}

/* IDs of a tick of several ms all stand at its beginning: spread them over it, the first ones get what is left over. */
static int
spread_ticks(struct trace *trace, uint32_t tick_ms)
{
	int64_t last = trace->last_ms + tick_ms - 1;

	if (make_room(trace, trace->first_ms, last) != 0)
		return EXIT_REFUSED;
	for (int64_t at = trace->first_ms; at <= last; at += tick_ms) {
		uint32_t *tick = &trace->count[at - trace->base_ms];
		uint32_t all = tick[0];

		for (uint32_t i = 0; i < tick_ms; i++)
			tick[i] = all / tick_ms + (i < all % tick_ms);
	}
	trace->last_ms = last;
	return EXIT_OK;
}

static int
write_trace(const struct trace *trace, int json)
{
	const uint32_t *count = trace->count + (trace->first_ms - trace->base_ms);
	size_t ms = (size_t)(trace->last_ms - trace->first_ms + 1);
	uint32_t most = 0;

	for (size_t i = 0; i < ms; i++)
		most = count[i] > most ? count[i] : most;
	if (json) {
		json_t *all = json_array();

		for (size_t i = 0; i < ms; i++)
			(void)json_array_append_new(all, json_integer(count[i]));
		return json_print(json_pack("{s:s, s:I, s:I, s:I, s:o}", "kind", "trace", "first_ms",
		                            (json_int_t)trace->first_ms, "ids", (json_int_t)trace->ids, "most",
		                            (json_int_t)most, "counts", all));
	}
	(void)printf("# IDs in each millisecond, from Unix ms %lld on: %llu in %zu ms, %u in one at most\n",
	             (long long)trace->first_ms, (unsigned long long)trace->ids, ms, most);
	for (size_t i = 0; i < ms; i++)
		(void)printf("%u\n", count[i]);
	return ferror(stdout) ? EXIT_OUTPUT : EXIT_OK;
}

int
cmd_bench_record(int argc, char **argv)
{
	const char *json = NULL, *from = "ids", *layout = NULL, *node = NULL, *form = "decimal", *want_help = NULL;
	const struct option_spec specs[] = {
		{"--json", NULL, &json, 1}, {"--from", NULL, &from, 0}, {"--layout", NULL, &layout, 0},
		{"--node", NULL, &node, 0}, {"--form", NULL, &form, 0}, {"--help", "-h", &want_help, 1},
	};
	struct source source = {0};
	struct trace trace = {0};

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	source.is_times = strcmp(from, "times") == 0;
	source.one_node = node != NULL;
	if (argc != 0 || (!source.is_times && strcmp(from, "ids") != 0)) {
		complain("%s", argc != 0 ? "takes no operands: it reads standard input" : "--from is ids or times");
		return EXIT_USAGE;
	}
	if (source.is_times && (layout != NULL || node != NULL)) {
		complain("--from times knows no layout and no node: leave --layout and --node out");
		return EXIT_USAGE;
	}
	if (firn_text_form_find(form, &source.form) != FIRN_OK) {
		complain("--form takes decimal, hex, base32, base58 or base62, not '%s'", form);
		return EXIT_USAGE;
	}
	if (layout_read(layout, &source.layout) != EXIT_OK || node_read(&source.layout, node, &source.node) != EXIT_OK)
		return EXIT_USAGE;
	int code = read_all(&source, &trace);

	if (code == EXIT_OK && !source.is_times && source.layout.tick_ms > 1)
		code = spread_ticks(&trace, source.layout.tick_ms);
	if (code == EXIT_OK && source.several_nodes)
		complain("these are IDs of several nodes, counted together; --node picks one of them");
	if (code == EXIT_OK)
		code = write_trace(&trace, json != NULL);
	free(trace.count);
	return code;
}
