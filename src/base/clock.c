/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_clock_ns(CLOCK_MONOTONIC);
}

double clock_now_s(void)
{
	return (double)clock_now_ns() / (double)NS_PER_S;
}

int64_t clock_realtime_ns(void)
{
	return read_clock_ns(CLOCK_REALTIME);
}

double clock_realtime_s(void)
{
	return (double)clock_realtime_ns() / (double)NS_PER_S;
}

int64_t clock_thread_cpu_ns(void)
{
	return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double clock_thread_cpu_s(void)
{
	return (double)clock_thread_cpu_ns() / (double)NS_PER_S;
}

void clock_sleep_ns(int64_t ns)
{
	struct timespec pause = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	if (ns > 0)
		nanosleep(&pause, NULL);
}

void clock_sleep_s(double seconds)
{
	clock_sleep_ns((int64_t)(seconds * (double)NS_PER_S));
}
