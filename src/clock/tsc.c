/* SPDX-FileCopyrightText: The firn authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The counter clock: the processor's counter scaled to wall time, and set by the wall clock again and again. */
#include "clock/cold.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <firn/error.h>

/*
 * The rate is measured once, over a few milliseconds, and never changed: an error of it of
 * 100 ppm is 10 microseconds in a span. What changes is the offset, one word, so that a
 * reader cannot see half of a change.
 */
#define MEASURE_NS 4000000

/* Does the counter run at one rate, through idle states and frequency changes? */
static int
is_invariant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d = 0;

	/* Advanced power management: bit 8, invariant TSC. */
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) != 0;
#elif defined(__aarch64__)
	return 1; /* the architecture says so */
#else
	return 0;
#endif
}

/*
 * Does the kernel keep time by it, directly or scaled by a hypervisor? A kernel that has
 * found the counter wanting has taken another source.
 */
static int
is_kernel_source(void)
{
	static const char *const good[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"};
	char name[64] = "";
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (file == NULL)
		return 0;
	int read = fscanf(file, "%63s", name);

	(void)fclose(file);
	for (size_t i = 0; read == 1 && i < sizeof(good) / sizeof(good[0]); i++)
		if (strcmp(name, good[i]) == 0)
			return 1;
	return 0;
}

struct sample {
	uint64_t counter;
	int64_t ns;
};

static int64_t
steady_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Both clocks at one moment: of several tries the one that was least disturbed. */
static struct sample
sample(void)
{
	struct sample best = {0, 0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = firni_counter();
		int64_t ns = steady_ns();
		uint64_t took = firni_counter() - before;

		if (took < shortest) {
			shortest = took;
			best.counter = before + took / 2;
			best.ns = ns;
		}
	}
	return best;
}

/* The rate that the machine states, in Hz; 0 where it states none. */
static uint64_t
stated_hz(void)
{
#if defined(__aarch64__)
	uint64_t hz;

	/* The lower half holds it. Firmware writes it, and not all firmware does. */
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz & UINT32_MAX;
#else
	return 0;
#endif
}

/* 2^64 times the 1/1024 ms that a count is; 0 if the counter stands still or runs too slowly to serve. */
static uint64_t
measure_rate(uint64_t *span)
{
	struct sample first = sample();

	while (steady_ns() - first.ns < MEASURE_NS)
		;
	struct sample last = sample();
	uint64_t counts = last.counter - first.counter;
	int64_t ns = last.ns - first.ns;

	/* Below a million counts a second a count is more than a unit, and 2^-64 of one would not do. */
	if (ns <= 0 || counts >> 40 != 0 || counts < (uint64_t)ns / 800)
		return 0;
	__extension__ typedef unsigned __int128 wide;
	uint64_t hz = stated_hz();
	wide off = (wide)counts * 1000000000 - (wide)hz * (uint64_t)ns;

	/*
	 * What is stated is exact, and the kernel keeps time by it; what is measured carries the
	 * measurement's error. So the stated rate, unless the measurement says that it is wrong
	 * (two in a thousand: four times what NTP may bend the kernel's clock by).
	 */
	off = off >> 127 != 0 ? -off : off;
	if (off < (wide)hz * (uint64_t)ns / 500) {
		counts = hz;
		ns = 1000000000;
	}
	*span = (uint64_t)((wide)counts * (FIRN_CLOCK_TSC_SPAN_MS * UINT64_C(1000000)) / (uint64_t)ns);
	return (uint64_t)(((wide)ns * 1024 << 64) / ((wide)counts * 1000000));
}

int
firni_clock_tsc_start(struct firn_clock *clock, int64_t wall_ms)
{
	if (!is_invariant() || !is_kernel_source())
		return FIRN_E_UNSUPPORTED;
	clock->tsc_rate = measure_rate(&clock->tsc_span);
	if (clock->tsc_rate == 0)
		return FIRN_E_UNSUPPORTED;
	clock->tsc_base = firni_counter();
	/* Never renewed: the first reading sets it by a wall reading of its own. */
	firni_atomic64_store(&clock->tsc_offset, (uint64_t)wall_ms << 10);
	firni_atomic64_store(&clock->tsc_renewed, clock->tsc_base - clock->tsc_span);
	return FIRN_OK;
}

/*
 * Set the offset by the guarded wall clock. That is known to a millisecond: [wall, wall + 1).
 * A counter that says a time in there is right and stays; else it moves to the nearest end,
 * so that settings do not make readings jitter.
 *
 * Of several threads that find the offset old each returns what it read from the wall clock,
 * and the one that wins the swap sets the offset. One that was held up between its reading
 * and the swap loses it, because others have renewed since.
 */
int
firni_clock_tsc(struct firn_clock *clock, int64_t *unix_ms)
{
	uint64_t renewed = firni_atomic64_load(&clock->tsc_renewed);
	int64_t wall;

	if (firni_clock_guard(clock, &wall) != FIRN_OK)
		return FIRN_E_CLOCK;
	uint64_t counter = firni_counter();
	uint64_t offset = firni_atomic64_load(&clock->tsc_offset);
	int64_t said = (int64_t)firni_clock_at_counter(clock, counter);
	int64_t low = (int64_t)((uint64_t)wall << 10);
	int64_t move = said < low ? low - said : said > low + 1023 ? low + 1023 - said : 0;

	*unix_ms = wall;
	if (firni_atomic64_cas_weak(&clock->tsc_renewed, &renewed, counter)) {
		firni_atomic64_store(&clock->tsc_offset, offset + (uint64_t)move);
		firni_atomic64_store(&clock->cold->gap_ms, (uint64_t)(move / 1024));
	}
	return FIRN_OK;
}
