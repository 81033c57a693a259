/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* firn next: IDs from a state file, as fast as the output can take. */
#include "firn_tool.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
	"firn next [-n COUNT] [options]\n"
	"\n"
	"Make IDs through a state file. All processes of this host that name the same file share one\n"
	"node; whatever happens to them, no ID comes twice.\n"
	"\n"
	"  -n, --count COUNT   how many (default 1)\n"
	"  --state FILE        default: firn/default.state in $XDG_STATE_HOME or ~/.local/state\n"
	"  --layout LAYOUT     a preset or a text; default: the file's own, or 'default' for a new file\n"
	"  --node NODE         a number, or region=1,worker=7; default: the file's own, or 0\n"
	"  --format FORM       decimal (default), hex, base32, base58, base62\n"
	"  --lead MS           how far IDs may lead the clock (default 1000)\n"
	"  --wait MS           how long to wait at the layout's ceiling (default 10000)\n"
	"  --json              {\"ids\":[...]}\n"
	"\n"
	"examples:\n"
	"  firn next\n"
	"  firn next -n 1000000 --format base32 > ids\n"
	"  firn next --layout regional --node region=1,worker=7 --state /var/lib/app/ids.state\n";

#define CHUNK 4096
#define OUT_SIZE (CHUNK * (FIRN_TEXT_MAX + 4))

struct job {
	uint64_t count;
	enum firn_text_form form;
	uint32_t wait_ms;
	int json;
	int progress;
	uint64_t chunk; /* how many may be asked for at once */
	int64_t started_ms;
	int64_t shown_ms;
};

static int
write_all(const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			complain("cannot write the output: %s", strerror(errno));
			return EXIT_OUTPUT;
		}
		bytes += written;
		size -= (size_t)written;
	}
	return EXIT_OK;
}

static void
show_progress(struct job *job, uint64_t made, int last)
{
	int64_t now = now_unix_ms();

	if (!job->progress || (!last && now - job->shown_ms < 200))
		return;
	/* Nothing is shown for a run that is over before anybody could read it. */
	if (last && job->shown_ms == job->started_ms)
		return;
	job->shown_ms = now;
	double s = (double)(now - job->started_ms) / 1000;

	(void)fprintf(stderr, "\r%llu of %llu IDs, %.1f million a second%s", (unsigned long long)made,
	              (unsigned long long)job->count, s > 0 ? (double)made / s / 1e6 : 0.0, last ? "\n" : "   ");
}

/* The IDs of one range as text. What a range holds is made: it must be written or the run has failed. */
static size_t
format_range(const struct job *job, struct firn_range *range, int first, char *out)
{
	char *at = out;
	uint64_t id;

	while (firn_range_next(range, &id) == FIRN_OK) {
		if (job->json) {
			if (!first)
				*at++ = ',';
			*at++ = '"';
			first = 0;
		}
		int length = firn_text_write(job->form, id, at);

		at += length > 0 ? length : 0;
		if (job->json)
			*at++ = '"';
		else
			*at++ = '\n';
	}
	return (size_t)(at - out);
}

static int
make(struct firn_gen *gen, struct job *job)
{
	static char out[OUT_SIZE];
	uint64_t made = 0;
	int error = FIRN_OK;
	int code = job->json ? write_all("{\"ids\":[", 8) : EXIT_OK;

	job->started_ms = job->shown_ms = now_unix_ms();
	while (code == EXIT_OK && made < job->count) {
		uint64_t chunk = job->count - made < job->chunk ? job->count - made : job->chunk;
		struct firn_range range;

		/* The chunk that fits may still be further ahead than the wait allows. */
		while ((error = firn_gen_reserve_wait(gen, job->wait_ms, chunk, &range)) == FIRN_E_EXHAUSTED &&
		       chunk > 1)
			chunk /= 2;
		if (error != FIRN_OK) {
			show_progress(job, made, 1);
			code = refuse(0, "next", error);
			break;
		}
		code = write_all(out, format_range(job, &range, made == 0, out));
		made += chunk;
		show_progress(job, made, made == job->count);
	}
	if (job->json && code != EXIT_OUTPUT) {
		char end[512];
		int length = error == FIRN_OK ? snprintf(end, sizeof(end), "]}\n")
		                              : snprintf(end, sizeof(end), "],\"error\":\"%s\",\"message\":\"%s\"}\n",
		                                         firn_error_code(error), firn_error_text(error));
		int ended = write_all(end, (size_t)length);

		code = code == EXIT_OK ? ended : code;
	}
	return code;
}

/* The most IDs that lead and mark ever have room for at once: waiting for more would be in vain. */
static uint64_t
chunk_of(const struct firn_gen_config *config)
{
	uint32_t room_ms = config->lead_ms_max < config->horizon_ms ? config->lead_ms_max : config->horizon_ms;
	uint64_t ticks = room_ms / config->layout->tick_ms;
	uint64_t per_tick = firn_layout_ids_per_tick(config->layout);

	if (per_tick >= CHUNK || per_tick * ticks >= CHUNK)
		return CHUNK;
	return ticks > 1 ? per_tick * ticks : per_tick;
}

/* The layout and node that the file was made for stand in for what is not given. */
static int
fill_config(const char *path, const char *layout_text, const char *node_text, int json,
            struct firn_layout *layout, struct firn_gen_config *config)
{
	struct firn_state_info info;
	int error = firn_state_read(path, &info);
	int known = error == FIRN_OK;

	if (!known && !(error == FIRN_E_SYSTEM && errno == ENOENT))
		return state_refuse(json, path, error);
	if (layout_text == NULL && known)
		*layout = info.layout;
	else if (layout_read(layout_text, layout) != EXIT_OK)
		return EXIT_USAGE;
	config->layout = layout;
	if (node_text == NULL && known)
		config->node = info.node;
	else if (node_read(layout, node_text, &config->node) != EXIT_OK)
		return EXIT_USAGE;
	return EXIT_OK;
}

int
cmd_next(int argc, char **argv)
{
	const char *count = "1", *layout_text = NULL, *node_text = NULL, *state = NULL, *form = "decimal";
	const char *lead = "1000", *wait = "10000", *json = NULL, *want_help = NULL;
	const struct option_spec specs[] = {
		{"--count", "-n", &count, 0},       {"--layout", NULL, &layout_text, 0},
		{"--node", NULL, &node_text, 0},    {"--state", NULL, &state, 0},
		{"--format", NULL, &form, 0},       {"--lead", NULL, &lead, 0},
		{"--wait", NULL, &wait, 0},         {"--json", NULL, &json, 1},
		{"--help", "-h", &want_help, 1},
	};
	struct firn_gen_config config = FIRN_GEN_CONFIG_INIT;
	struct firn_layout layout;
	struct firn_gen *gen;
	struct job job = {0};
	char path[4096];
	uint64_t number;

	if (options_read(&argc, argv, specs, sizeof(specs) / sizeof(specs[0])) != EXIT_OK)
		return EXIT_USAGE;
	if (want_help != NULL)
		return fputs(help, stdout) == EOF ? EXIT_OUTPUT : EXIT_OK;
	if (argc != 0) {
		complain("'%s' is not an option; the count is given by -n", argv[0]);
		return EXIT_USAGE;
	}
	if (!number_read(count, 1, UINT64_MAX / 2, &job.count)) {
		complain("-n takes a whole number of 1 or more, not '%s'", count);
		return EXIT_USAGE;
	}
	if (firn_text_form_find(form, &job.form) != FIRN_OK) {
		complain("--format takes decimal, hex, base32, base58 or base62, not '%s'", form);
		return EXIT_USAGE;
	}
	if (!number_read(lead, 0, UINT32_MAX, &number)) {
		complain("--lead takes milliseconds, not '%s'", lead);
		return EXIT_USAGE;
	}
	config.lead_ms_max = (uint32_t)number;
	if (!number_read(wait, 0, UINT32_MAX, &number)) {
		complain("--wait takes milliseconds, not '%s'", wait);
		return EXIT_USAGE;
	}
	job.wait_ms = (uint32_t)number;
	job.json = json != NULL;
	job.progress = isatty(STDERR_FILENO) && job.count > 100000;
	if (state == NULL) {
		int code = state_path_default(path, sizeof(path), 1);

		if (code != EXIT_OK)
			return code;
		state = path;
	}
	int code = fill_config(state, layout_text, node_text, job.json, &layout, &config);

	if (code != EXIT_OK)
		return code;
	config.sharing = FIRN_GEN_FILE;
	config.state_path = state;
	int error = firn_gen_open(&config, &gen);

	if (error != FIRN_OK)
		return refuse(job.json, state, error);
	job.chunk = chunk_of(&config);
	code = make(gen, &job);
	error = firn_gen_close(gen);
	if (error != FIRN_OK && code == EXIT_OK)
		code = refuse(0, state, error);
	return code;
}
