/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The capture clock: the CPU's counter if all cores agree on it, else CLOCK_MONOTONIC. The
 * collector chooses the source (struct control in contract/spool.h) and calibrates it. Guest-safe.
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
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Reads without a fence: a fence takes longer than the few nanoseconds a read may be reordered. */
static inline uint64_t clock_counter(void)
{
#if defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#elif defined(__x86_64__)
	return __builtin_ia32_rdtsc();
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
