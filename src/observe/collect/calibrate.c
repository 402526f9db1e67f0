/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/calibrate.h"

#include "base/clock.h"
#include "observe/collect/cpu_counter.h"

/* Below this, the nominal frequency is more accurate than the quotient of two short intervals. */
#define MEASURED_MIN_NS 10000000
/* The same, where the CPU does not tell its nominal frequency. */
#define MEASURING_NS 1000000
#define READINGS 16

/* Measures the rate for a short time, once per process. */
static uint64_t measure_hertz(void)
{
	static _Atomic uint64_t measured;
	struct moment begin, end;

	if (measured)
		return measured;
	begin = calibrate_moment(CLOCK_SOURCE_COUNTER);
	clock_sleep_ns(MEASURING_NS);
	end = calibrate_moment(CLOCK_SOURCE_COUNTER);
	if (end.ticks > begin.ticks && end.monotonic_ns > begin.monotonic_ns)
		measured = (uint64_t)((unsigned __int128)(end.ticks - begin.ticks) * NS_PER_S /
				      (uint64_t)(end.monotonic_ns - begin.monotonic_ns));
	return measured;
}

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
	if (source != CLOCK_SOURCE_COUNTER)
		best = (struct moment){ (uint64_t)best.monotonic_ns, best.monotonic_ns, 0 };
	return best;
}

int64_t calibrate_time_of_day(int64_t monotonic_ns)
{
	int64_t least_ns = INT64_MAX, since_ns = 0;

	for (int i = 0; i < READINGS; i++) {
		int64_t before_ns = (int64_t)clock_monotonic_ns();
		int64_t time_of_day_ns = clock_realtime_ns();
		int64_t took_ns = (int64_t)clock_monotonic_ns() - before_ns;

		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		since_ns = time_of_day_ns - (before_ns + took_ns / 2);
	}
	return monotonic_ns + since_ns;
}

struct run_clock calibrate_run(enum capture_clock source, const struct moment *begin,
			       const struct moment *now)
{
	struct run_clock clock = { .tick0 = begin->ticks, .num = 1, .den = 1 };
	int64_t elapsed_ns = now->monotonic_ns - begin->monotonic_ns;
	struct cpu_counter counter;
	uint64_t hertz;

	if (source != CLOCK_SOURCE_COUNTER)
		return clock;
	cpu_counter_read(&counter);
	hertz = counter.hertz;
	if (elapsed_ns < (hertz ? MEASURED_MIN_NS : MEASURING_NS) || now->ticks <= begin->ticks) {
		hertz = hertz ? hertz : measure_hertz();
		clock.num = NS_PER_S;
		clock.den = hertz ? hertz : NS_PER_S;
	} else {
		clock.num = (uint64_t)elapsed_ns;
		clock.den = now->ticks - begin->ticks;
	}
	clock.error_ns = begin->error_ns + now->error_ns;
	return clock;
}

uint64_t calibrate_scale(const struct run_clock *clock, uint64_t den)
{
	return (uint64_t)(((unsigned __int128)clock->num * den + clock->den / 2) / clock->den);
}
