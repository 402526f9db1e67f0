/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts ticks of a run's clock to nanoseconds since its start: floor((ticks - tick0) * num /
 * den). The result is exact, hence monotonic, and saturates at the limits of int64_t. A clock with
 * tick0 = 0 and num = den = 1 changes nothing.
 */
#ifndef SLUICE_TRACE_TICKS_H
#define SLUICE_TRACE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

struct run_clock;

struct ticks {
	uint64_t tick0, num, den;
	uint64_t whole, part; /* num / den, and 2^64 times its fraction, rounded down */
	bool identity;
};

/* Returns false, and makes *ticks the identity, if num or den is 0. */
bool ticks_init(struct ticks *ticks, const struct run_clock *clock);

int64_t ticks_ns(const struct ticks *ticks, int64_t at);

/*
 * Converts a duration as ns(start + duration) - ns(start), so that a converted end is never later
 * than the converted start of a call that followed.
 */
int64_t ticks_span_ns(const struct ticks *ticks, int64_t start, int64_t start_ns, int64_t duration);

#endif
