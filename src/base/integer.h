/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smaller, the larger and the common divisor of two integers, and the integer in a double. For
 * doubles use fmin() and fmax().
 */
#ifndef SLUICE_BASE_INTEGER_H
#define SLUICE_BASE_INTEGER_H

#include <stddef.h>
#include <stdint.h>

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline int64_t i64_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t i64_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* 0 divides nothing: u64_gcd(a, 0) is a. */
static inline uint64_t u64_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Rounds down and saturates, where C leaves the result undefined: sums over a broken file may be
 * any number. NaN is 0.
 */
static inline uint64_t u64_of(double value)
{
	if (!(value > 0))
		return 0;
	return value < (double)UINT64_MAX ? (uint64_t)value : UINT64_MAX;
}

static inline int64_t i64_of(double value)
{
	return value < 0 ? -(int64_t)(u64_min(u64_of(-value), INT64_MAX))
			 : (int64_t)u64_min(u64_of(value), INT64_MAX);
}

#endif
