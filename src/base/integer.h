/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smaller, the larger and the common divisor of two integers. For doubles use fmin() and
 * fmax().
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

#endif
