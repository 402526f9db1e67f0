/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ticks of a run's clock to nanoseconds since its start: floor((ticks - tick0) * num / den), exact
 * and therefore monotonic, saturating at the ends of int64_t. A clock of 0, 1, 1 changes nothing.
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

/* False, with *ticks the identity, when the clock is none: num or den is 0. */
bool ticks_init(struct ticks *ticks, const struct run_clock *clock);

int64_t ticks_ns(const struct ticks *ticks, int64_t at);

/* ns(start + duration) - ns(start), so that ends computed from converted values never overtake. */
int64_t ticks_span_ns(const struct ticks *ticks, int64_t start, int64_t start_ns, int64_t duration);

#endif
