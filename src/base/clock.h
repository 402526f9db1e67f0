/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Host clocks and sleeping. The capture library must not use this header: it reads the clock with
 * contract/clock.h, in ticks.
 */
#ifndef SLUICE_BASE_CLOCK_H
#define SLUICE_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/* CLOCK_MONOTONIC: for durations and deadlines. Safe in signal handlers. */
int64_t clock_now_ns(void);
double clock_now_s(void);

/* CLOCK_REALTIME: the time of day, since 1970-01-01 UTC. It may jump. */
int64_t clock_realtime_ns(void);
double clock_realtime_s(void);

/* CPU time that the calling thread has used. */
int64_t clock_thread_cpu_ns(void);
double clock_thread_cpu_s(void);

/* Both return early when a signal arrives. Zero and negative times do not sleep. */
void clock_sleep_ns(int64_t ns);
void clock_sleep_s(double seconds);

#endif
