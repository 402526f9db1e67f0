/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/calibrate.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Below this, the nominal frequency is more accurate than the quotient of two short intervals. */
#define MEASURED_MIN_NS 10000000
#define READINGS 16

#if defined(__x86_64__)
#include <cpuid.h>

/*
 * The kernel monitors the TSCs of all cores; if it trusts them, it uses them as its own clock
 * source.
 */
bool calibrate_counter_is_steady(const char **name)
{
	AUTO_FCLOSE FILE *f =
		fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	unsigned a, b, c, d;
	char source[32] = "";

	*name = "tsc";
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;
	return f && fgets(source, sizeof(source), f) && !strncmp(source, "tsc", 3);
}

static uint64_t nominal_hertz(void)
{
	return 0;
}
#elif defined(__aarch64__)
/* The architecture defines one counter for the whole system that user space can read. */
bool calibrate_counter_is_steady(const char **name)
{
	*name = "cntvct_el0";
	return true;
}

static uint64_t nominal_hertz(void)
{
	uint64_t hertz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
	return hertz;
}
#else
bool calibrate_counter_is_steady(const char **name)
{
	*name = "none";
	return false;
}

static uint64_t nominal_hertz(void)
{
	return 0;
}
#endif

struct moment calibrate_moment(enum capture_clock source)
{
	struct moment best = { .error_ns = INT64_MAX };

	for (int i = 0; i < READINGS; i++) {
		uint64_t before_ns = clock_monotonic_ns();
		uint64_t ticks = clock_ticks(source);
		uint64_t after_ns = clock_monotonic_ns();
		int64_t error_ns = (int64_t)(after_ns - before_ns);

		if (error_ns >= best.error_ns)
			continue;
		best = (struct moment){ ticks, (int64_t)(before_ns + (after_ns - before_ns) / 2),
					error_ns };
	}
	if (source == CLOCK_SOURCE_MONOTONIC)
		best = (struct moment){ (uint64_t)best.monotonic_ns, best.monotonic_ns, 0 };
	return best;
}

struct run_clock calibrate_run(enum capture_clock source, const struct moment *begin,
			       const struct moment *now)
{
	struct run_clock clock = { .tick0 = begin->ticks, .num = 1, .den = 1 };
	int64_t elapsed_ns = now->monotonic_ns - begin->monotonic_ns;
	uint64_t hertz = nominal_hertz();

	if (source == CLOCK_SOURCE_MONOTONIC)
		return clock;
	if ((elapsed_ns < MEASURED_MIN_NS && hertz) || now->ticks <= begin->ticks ||
	    elapsed_ns <= 0) {
		clock.num = NS_PER_S;
		clock.den = hertz ? hertz : NS_PER_S;
	} else {
		clock.num = (uint64_t)elapsed_ns;
		clock.den = now->ticks - begin->ticks;
	}
	clock.error_ns = begin->error_ns + now->error_ns;
	return clock;
}
