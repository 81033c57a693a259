/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks on scripted sources: the guard against wild readings, steps, slewing, health. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include <firn.h>

#include "clock/cold.h"

#define T0 INT64_C(1767225600000)

static int64_t wall_now;     /* what wall readings say */
static int64_t elapsed_now;  /* ms; negative: fails */
static int64_t spike;        /* added to the next reading only */
static int wall_fails;
static struct firn_clock *clock_;

static int
wall(void *context, int64_t *unix_ms)
{
	(void)context;
	if (wall_fails)
		return -1;
	*unix_ms = wall_now + spike;
	spike = 0;
	return 0;
}

static int64_t
elapsed(void *context)
{
	(void)context;
	return elapsed_now < 0 ? -1 : elapsed_now * 1000000;
}

static void
open_clock(enum firn_clock_kind kind, int64_t hold_ms)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;

	wall_now = T0;
	elapsed_now = 5000;
	spike = 0;
	wall_fails = 0;
	config.kind = kind;
	config.hold_ms = hold_ms;
	config.guard_custom = 1;
	config.source.wall_ms = wall;
	config.source.elapsed_ns = elapsed;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_OK);
}

/* Both clocks move alike. */
static void
pass(int64_t ms)
{
	wall_now += ms;
	elapsed_now += ms;
}

static int64_t
read_ms(void)
{
	int64_t ms = -77;
	int error = firn_clock_read(clock_, &ms);

	cr_assert_eq(error, FIRN_OK, "%s", firn_error_code(error));
	return ms;
}

static struct firn_clock_stats
stats(void)
{
	struct firn_clock_stats s;

	firn_clock_stats(clock_, &s);
	return s;
}

Test(clock, follows_the_wall_whatever_the_pace_of_readings)
{
	static const int64_t spans[] = {0, 1, 249, 250, 251, 999, 1000, 1001, 86400000};

	open_clock(FIRN_CLOCK_REALTIME, 10000);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		pass(spans[i]);
		cr_assert_eq(read_ms(), wall_now);
	}
	cr_assert_eq(stats().steps_forward + stats().steps_back + stats().spikes + stats().held, 0);
	firn_clock_close(clock_);
}

Test(clock, C11_one_wild_reading_is_dropped_and_counted)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	pass(100);
	spike = 15 * 60000;
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().spikes, 1);
	pass(10);
	spike = -15 * 60000;
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().spikes, 2);
	cr_assert_eq(stats().steps_back + stats().steps_forward, 0);
	firn_clock_close(clock_);
}

Test(clock, C3_a_step_forward_is_held_and_taken_when_it_lasts)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	wall_now += 3600000;
	for (int i = 0; i < 99; i++) {
		cr_assert_eq(read_ms(), T0 + i * 100, "%d", i);
		pass(100);
	}
	cr_assert_eq(stats().steps_forward, 0);
	cr_assert_eq(stats().held, 99);
	pass(200);
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_forward, 1);
	cr_assert_eq(stats().last_step_ms, 3600000);
	pass(5);
	cr_assert_eq(read_ms(), wall_now);
	firn_clock_close(clock_);
}

Test(clock, a_held_step_that_goes_away_leaves_no_trace_in_time)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	wall_now += 3600000;
	(void)read_ms();
	pass(5000);
	(void)read_ms();
	wall_now -= 3600000;
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_forward + stats().steps_back, 0);
	/* A later step starts its own hold. */
	wall_now += 3600000;
	pass(6000);
	(void)read_ms();
	cr_assert_eq(stats().steps_forward, 0);
	firn_clock_close(clock_);
}

Test(clock, an_operator_ends_a_hold_that_would_last_for_ever)
{
	open_clock(FIRN_CLOCK_REALTIME, -1);
	wall_now += 86400000;
	for (int i = 0; i < 100; i++) {
		pass(10000);
		cr_assert_lt(read_ms(), wall_now);
	}
	cr_assert_eq(firn_clock_accept(clock_), FIRN_OK);
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_forward, 1);
	firn_clock_close(clock_);
}

Test(clock, C2_a_small_step_forward_is_taken_at_once_and_seen)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	wall_now += 700;
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_forward, 1);
	firn_clock_close(clock_);
}

Test(clock, C1_C4_steps_back_are_taken_and_counted_once)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	wall_now -= 50;
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(read_ms(), wall_now);
	wall_now -= INT64_C(12) * 365 * 86400000;
	cr_assert_eq(read_ms(), wall_now);
	pass(7);
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_back, 2);
	firn_clock_close(clock_);
}

Test(clock, R111_time_passed_in_suspend_is_confirmed_by_boot_time)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	pass(28800000);
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().held, 0);
	firn_clock_close(clock_);
}

Test(clock, C14_a_slewed_wall_of_an_idle_process_is_no_step)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	elapsed_now += 36000000;
	wall_now += 36000000 + 18000; /* 500 ppm over ten hours */
	cr_assert_eq(read_ms(), wall_now);
	cr_assert_eq(stats().steps_forward + stats().held, 0);
	firn_clock_close(clock_);
}

Test(clock, C18_failed_and_garbage_readings_are_errors)
{
	int64_t ms = -77;

	open_clock(FIRN_CLOCK_CUSTOM, 10000);
	wall_fails = 1;
	cr_assert_eq(firn_clock_read(clock_, &ms), FIRN_E_CLOCK);
	wall_fails = 0;
	wall_now = INT64_MAX;
	cr_assert_eq(firn_clock_read(clock_, &ms), FIRN_E_CLOCK);
	wall_now = INT64_MIN;
	cr_assert_eq(firn_clock_read(clock_, &ms), FIRN_E_CLOCK);
	cr_assert_eq(ms, -77);
	cr_assert_geq(stats().failures, 3);
	wall_now = T0 + 5;
	cr_assert_eq(read_ms(), T0 + 5);
	firn_clock_close(clock_);
}

Test(clock, without_elapsed_time_two_readings_that_agree_are_taken)
{
	open_clock(FIRN_CLOCK_REALTIME, 10000);
	elapsed_now = -1;
	wall_now += 3600000;
	cr_assert_eq(read_ms(), wall_now);
	spike = 3600000;
	cr_assert_eq(read_ms(), wall_now, "of two that disagree the lower one");
	firn_clock_close(clock_);
}

Test(clock, R16_the_slewed_clock_is_measured_and_held_within_its_bound)
{
	int64_t last = 0;

	open_clock(FIRN_CLOCK_MONOTONIC, 10000);
	for (int s = 0; s < 2 * 86400; s++) {
		wall_now += 1000;
		elapsed_now += 1001; /* gains 1 ms a second */
		int64_t ms = read_ms();

		cr_assert_geq(ms, last);
		cr_assert_leq(ms - wall_now, 1001, "after %d s", s);
		last = ms;
	}
	cr_assert_gt(stats().steps_back, 0, "the gap was large enough to re-anchor");
	firn_clock_close(clock_);
}

Test(clock, the_slewed_clock_absorbs_small_steps_at_its_rate)
{
	open_clock(FIRN_CLOCK_MONOTONIC, 10000);
	(void)read_ms();
	wall_now += 400;
	int64_t before = read_ms();

	for (int i = 0; i < 100; i++) {
		pass(2000);
		int64_t ms = read_ms();

		cr_assert(ms - before >= 2000 && ms - before <= 2001, "%d", (int)(ms - before));
		before = ms;
	}
	for (int i = 0; i < 400; i++) {
		pass(2000);
		(void)read_ms();
	}
	cr_assert_eq(read_ms(), wall_now);
	/* And backwards: slower, never down. */
	wall_now -= 400;
	for (int i = 0; i < 500; i++) {
		before = read_ms();
		pass(2000);
		cr_assert_geq(read_ms() - before, 1999);
	}
	cr_assert_eq(read_ms(), wall_now);
	firn_clock_close(clock_);
}

Test(clock, the_slewed_clock_jumps_forward_and_never_back_when_the_gap_is_large)
{
	open_clock(FIRN_CLOCK_MONOTONIC, 10000);
	wall_now += 28800000; /* elapsed stood still through a suspend */
	cr_assert_eq(read_ms(), wall_now);
	int64_t high = read_ms();

	wall_now -= 60000;
	for (int i = 0; i < 60; i++) {
		pass(1000);
		cr_assert_geq(read_ms(), high);
	}
	pass(5000);
	cr_assert_leq(read_ms() - wall_now, 1000);
	firn_clock_close(clock_);
}

Test(clock, the_kernels_clocks_agree_with_the_kernel)
{
	static const enum firn_clock_kind kinds[] = {FIRN_CLOCK_REALTIME, FIRN_CLOCK_COARSE, FIRN_CLOCK_MONOTONIC,
	                                             FIRN_CLOCK_TICKER};

	for (unsigned i = 0; i < 4; i++) {
		struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;
		struct timespec now;

		config.kind = kinds[i];
		cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_OK);
		(void)clock_gettime(CLOCK_REALTIME, &now);
		int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;

		cr_assert(llabs(read_ms() - ms) < 1000);
		cr_assert_eq(firn_clock_kind(clock_), kinds[i]);
		firn_clock_close(clock_);
	}
	int64_t ms;

	cr_assert_eq(firn_clock_read(firn_clock_default(), &ms), FIRN_OK);
	cr_assert(llabs(ms - (int64_t)time(NULL) * 1000) < 2000);
	firn_clock_close(firn_clock_default()); /* allowed, and does nothing */
	cr_assert_eq(firn_clock_read(firn_clock_default(), &ms), FIRN_OK);
}

Test(clock, manual_says_what_it_is_told)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;

	config.kind = FIRN_CLOCK_MANUAL;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_OK);
	cr_assert_eq(firn_clock_set(clock_, -5), FIRN_OK);
	cr_assert_eq(read_ms(), -5);
	cr_assert_eq(firn_clock_accept(clock_), FIRN_E_INVALID);
	cr_assert_eq(firn_clock_set(firn_clock_default(), 1), FIRN_E_INVALID);
	firn_clock_close(clock_);
}

Test(clock, bad_configurations_are_refused)
{
	struct firn_clock_config config = FIRN_CLOCK_CONFIG_INIT;

	config.kind = FIRN_CLOCK_CUSTOM;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_E_INVALID);
	config.kind = (enum firn_clock_kind)9;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_E_INVALID);
	config.kind = FIRN_CLOCK_REALTIME;
	config.jump_ms_max = 10;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_E_INVALID);
	config.jump_ms_max = 1000;
	config.slew_ppm = 200000;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_E_INVALID);
	config.slew_ppm = 500;
	config.ticker_us = 10;
	cr_assert_eq(firn_clock_open(&config, &clock_), FIRN_E_INVALID);
	cr_assert_eq(firn_clock_open(NULL, NULL), FIRN_E_INVALID);
}

Test(clock, C16_health_is_judged_by_the_error_and_not_by_the_flag)
{
	struct timex answer;
	struct firn_clock_health health;

	memset(&answer, 0, sizeof(answer));
	answer.status = STA_UNSYNC;
	answer.maxerror = 5000;
	answer.freq = 65536 * 3;
	answer.tai = 37;
	firni_clock_health_from(&answer, TIME_ERROR, &health);
	cr_assert_eq(health.synchronised, 0);
	cr_assert_eq(health.tai_offset_s, 37);
	cr_assert_float_eq(health.frequency_ppm, 3.0, 1e-9);
	cr_assert_eq(firni_clock_health_judge(&health, 10), FIRN_OK);
	answer.status = STA_NANO | STA_INS;
	answer.maxerror = 10001;
	answer.offset = -2000;
	firni_clock_health_from(&answer, TIME_OK, &health);
	cr_assert_eq(health.synchronised, 1);
	cr_assert_eq(health.leap_pending, 1);
	cr_assert_eq(health.offset_us, -2);
	cr_assert_eq(firni_clock_health_judge(&health, 10), FIRN_E_UNSYNCHRONISED);
	cr_assert_eq(firn_clock_health(&health), FIRN_OK);
	cr_assert_eq(firn_clock_require(health.error_max_us / 1000 + 60000), FIRN_OK);
}
