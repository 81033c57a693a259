/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: opening, the kernel's sources, reading by kind, counters. */
#include <firn/clock.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <firn/error.h>

#include "clock/cold.h"

/* Beyond these a reading is garbage: years -270,000 and 290,000. */
#define WALL_MIN_MS (-(INT64_C(1) << 53))
#define WALL_MAX_MS (INT64_C(1) << 53)

static int
kernel_wall(clockid_t id, int64_t *unix_ms)
{
	struct timespec now;

	if (clock_gettime(id, &now) != 0 || now.tv_nsec < 0 || now.tv_nsec >= 1000000000)
		return -1;
	*unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	return 0;
}

static int
realtime_ms(void *context, int64_t *unix_ms)
{
	(void)context;
	return kernel_wall(CLOCK_REALTIME, unix_ms);
}

static int
coarse_ms(void *context, int64_t *unix_ms)
{
	(void)context;
	return kernel_wall(CLOCK_REALTIME_COARSE, unix_ms);
}

/* CLOCK_BOOTTIME and not CLOCK_MONOTONIC: it runs through suspend. */
static int64_t
boottime_ns(void *context)
{
	struct timespec now;

	(void)context;
	if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return -1;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
boottime_sleep(void *context, int64_t ns)
{
	struct timespec span;

	(void)context;
	if (ns <= 0)
		return;
	span.tv_sec = (time_t)(ns / 1000000000);
	span.tv_nsec = (long)(ns % 1000000000);
	if (clock_nanosleep(CLOCK_BOOTTIME, 0, &span, NULL) == ENOTSUP)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
}

int
firni_clock_wall(struct firni_clock_cold *cold, int64_t *unix_ms)
{
	int64_t read = 0;

	if (cold->config.source.wall_ms(cold->config.source.context, &read) != 0 || read < WALL_MIN_MS ||
	    read > WALL_MAX_MS) {
		firni_atomic64_fetch_add(&cold->failures, 1);
		return FIRN_E_CLOCK;
	}
	*unix_ms = read;
	return FIRN_OK;
}

int64_t
firni_clock_elapsed_ms(struct firni_clock_cold *cold)
{
	int64_t ns = cold->config.source.elapsed_ns(cold->config.source.context);

	return ns < 0 ? -1 : ns / 1000000;
}

static void
fill_sources(struct firn_clock_config *config)
{
	if (config->source.wall_ms == NULL)
		config->source.wall_ms = config->kind == FIRN_CLOCK_COARSE ? coarse_ms : realtime_ms;
	if (config->source.elapsed_ns == NULL)
		config->source.elapsed_ns = boottime_ns;
	if (config->source.sleep_ns == NULL)
		config->source.sleep_ns = boottime_sleep;
}

static int
check_config(const struct firn_clock_config *config)
{
	if (config->kind < FIRN_CLOCK_REALTIME || config->kind > FIRN_CLOCK_TICKER)
		return FIRN_E_INVALID;
	if (config->kind == FIRN_CLOCK_CUSTOM && config->source.wall_ms == NULL)
		return FIRN_E_INVALID;
	if (config->ticker_us < 50 || config->ticker_us > 1000000)
		return FIRN_E_INVALID;
	if (config->jump_ms_max < FIRNI_CLOCK_FRESH_MS || config->slew_ppm > 100000)
		return FIRN_E_INVALID;
	return FIRN_OK;
}

/* The first reading is taken as it is: there is nothing to hold it against. */
static int
start(struct firn_clock *clock, struct firni_clock_cold *cold)
{
	int kind = (int)cold->config.kind;
	int64_t wall = 0;

	clock->kind = kind;
	clock->cold = cold;
	clock->clock_id = kind == FIRN_CLOCK_COARSE ? CLOCK_REALTIME_COARSE : CLOCK_REALTIME;
	if (kind == FIRN_CLOCK_MANUAL)
		return FIRN_OK;
	firni_atomic64_store(&clock->cached_ms, FIRNI_CLOCK_UNCACHED);
	if (firni_clock_wall(cold, &wall) != FIRN_OK)
		return FIRN_E_CLOCK;
	int64_t elapsed = firni_clock_elapsed_ms(cold);

	/* The slewed clock is nothing without elapsed time, and compares readings as unsigned. */
	if (kind == FIRN_CLOCK_MONOTONIC && (elapsed < 0 || wall < 0))
		return FIRN_E_CLOCK;
	if (elapsed >= 0) {
		firni_atomic64_store(&cold->offset_ms, (uint64_t)(wall - elapsed));
		firni_atomic64_store(&cold->slewed, (uint64_t)elapsed);
		firni_atomic64_store(&cold->anchored, 1);
	}
	firni_atomic64_store(&clock->good_ms, (uint64_t)wall);
	if (kind == FIRN_CLOCK_TSC)
		return firni_clock_tsc_start(clock, wall);
	if (kind == FIRN_CLOCK_TICKER)
		return firni_clock_ticker_start(clock, wall);
	clock->direct = (kind == FIRN_CLOCK_REALTIME && cold->config.source.wall_ms == realtime_ms) ||
	                (kind == FIRN_CLOCK_COARSE && cold->config.source.wall_ms == coarse_ms);
	return FIRN_OK;
}

int
firn_clock_open(const struct firn_clock_config *config, struct firn_clock **clock)
{
	static const struct firn_clock_config standard = FIRN_CLOCK_CONFIG_INIT;
	void *memory = NULL;

	if (config == NULL)
		config = &standard;
	if (clock == NULL || check_config(config) != FIRN_OK)
		return FIRN_E_INVALID;
	struct firni_clock_cold *cold = calloc(1, sizeof(*cold));

	if (cold == NULL || posix_memalign(&memory, _Alignof(struct firn_clock), sizeof(struct firn_clock)) != 0) {
		free(cold);
		return FIRN_E_NO_MEMORY;
	}
	memset(memory, 0, sizeof(struct firn_clock));
	cold->config = *config;
	fill_sources(&cold->config);
	int error = start(memory, cold);

	if (error != FIRN_OK) {
		free(cold);
		free(memory);
		return error;
	}
	*clock = memory;
	return FIRN_OK;
}

void
firn_clock_close(struct firn_clock *clock)
{
	if (clock == NULL || clock == firn_clock_default())
		return;
	if (clock->kind == FIRN_CLOCK_TICKER)
		firni_clock_ticker_stop(clock);
	free(clock->cold);
	free(clock);
}

/*
 * The process's own clock needs no opening: it starts unanchored, with a good reading of 0,
 * so that the first reading goes to the guard, which anchors it. Nothing to initialise,
 * nothing to race for.
 */
struct firn_clock *
firn_clock_default(void)
{
	static struct firni_clock_cold cold = {
		.config = {FIRN_CLOCK_REALTIME, 1000, 10000, 500, 500, 0,
	                   {realtime_ms, boottime_ns, boottime_sleep, NULL}},
	};
	static struct firn_clock clock = {
		.cached_ms = {FIRNI_CLOCK_UNCACHED},
		.kind = FIRN_CLOCK_REALTIME,
		.clock_id = CLOCK_REALTIME,
		.direct = 1,
		.cold = &cold,
	};

	return &clock;
}

int
firni_clock_read_cold(struct firn_clock *clock, int64_t *unix_ms)
{
	switch (clock->kind) {
	case FIRN_CLOCK_MONOTONIC:
		return firni_clock_monotonic(clock, unix_ms);
	case FIRN_CLOCK_TSC:
		return firni_clock_tsc(clock, unix_ms);
	case FIRN_CLOCK_TICKER:
		return firni_clock_ticker(clock, unix_ms);
	case FIRN_CLOCK_CUSTOM:
		if (!clock->cold->config.guard_custom)
			return firni_clock_wall(clock->cold, unix_ms);
		break;
	default:
		break;
	}
	return firni_clock_guard(clock, unix_ms);
}

int
firn_clock_read(struct firn_clock *clock, int64_t *unix_ms)
{
	if (clock == NULL || unix_ms == NULL)
		return FIRN_E_INVALID;
	return firni_clock_read(clock, unix_ms);
}

int64_t
firn_clock_elapsed_ns(struct firn_clock *clock)
{
	return clock->cold->config.source.elapsed_ns(clock->cold->config.source.context);
}

void
firn_clock_sleep_ns(struct firn_clock *clock, int64_t ns)
{
	clock->cold->config.source.sleep_ns(clock->cold->config.source.context, ns);
}

/*
 * Callers that are refused together sleep together, wake together and fight for the word's
 * line until they are refused together again; apart, each finds the line its own
 * (docs/decisions/0009). The nanosecond at which each asks is chance enough to part them.
 */
void
firni_clock_rest(struct firn_clock *clock, int64_t least_ns, int64_t most_ns)
{
	const struct firn_clock_source *source = &clock->cold->config.source;
	int64_t ns = least_ns;

	if (source->sleep_ns == boottime_sleep && most_ns > least_ns) {
		uint64_t chance = (uint64_t)boottime_ns(NULL) * UINT64_C(0x9E3779B97F4A7C15) >> 32;

		ns += (int64_t)(chance % (uint64_t)(most_ns - least_ns));
	}
	source->sleep_ns(source->context, ns);
}

int
firn_clock_set(struct firn_clock *clock, int64_t unix_ms)
{
	if (clock == NULL || clock->kind != FIRN_CLOCK_MANUAL || unix_ms == (int64_t)FIRNI_CLOCK_UNCACHED)
		return FIRN_E_INVALID;
	firni_atomic64_store(&clock->cached_ms, (uint64_t)unix_ms);
	return FIRN_OK;
}

void
firn_clock_stats(struct firn_clock *clock, struct firn_clock_stats *stats)
{
	const struct firni_clock_cold *cold = clock->cold;

	stats->steps_back = firni_atomic64_load(&cold->steps_back);
	stats->steps_forward = firni_atomic64_load(&cold->steps_forward);
	stats->spikes = firni_atomic64_load(&cold->spikes);
	stats->held = firni_atomic64_load(&cold->held);
	stats->failures = firni_atomic64_load(&cold->failures);
	stats->last_step_ms = (int64_t)firni_atomic64_load(&cold->last_step_ms);
	stats->gap_ms = (int64_t)firni_atomic64_load(&cold->gap_ms);
	stats->ticks_late = firni_atomic64_load(&cold->ticks_late);
}

enum firn_clock_kind
firn_clock_kind(const struct firn_clock *clock)
{
	return (enum firn_clock_kind)clock->kind;
}

const char *
firn_clock_kind_name(enum firn_clock_kind kind)
{
	static const char *const names[] = {"realtime", "coarse", "monotonic", "manual", "custom", "tsc", "ticker"};

	return (unsigned)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}
