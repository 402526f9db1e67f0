/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture clock: the CPU's own counter where it is the same on all cores, else CLOCK_MONOTONIC.
 * The collector chooses (contract/spool.h, struct control) and calibrates. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_CLOCK_H
#define SLUICE_CONTRACT_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "contract/spool.h"

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* No fence on either side: a fence costs more than the few nanoseconds that a read may drift. */
static inline uint64_t clock_counter(void)
{
#if defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#elif defined(__x86_64__)
	unsigned aux;

	return __builtin_ia32_rdtscp(&aux);
#else
	return clock_monotonic_ns();
#endif
}

static inline uint64_t clock_ticks(uint32_t source)
{
	if (__builtin_expect(source == CLOCK_SOURCE_COUNTER, 1))
		return clock_counter();
	return clock_monotonic_ns();
}

#endif
