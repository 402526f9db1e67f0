/* SPDX-License-Identifier: BSD-3-Clause
 *
 * exp(x) in plain arithmetic, so that the compiler can vectorize loops that call it; libm would
 * cost one call per value. The relative error is below 1e-14. An x below -700, or NAN, yields
 * exp(-700) = 1e-304; an x above 700 yields exp(700).
 */
#ifndef SLUICE_LEARN_MATH_EXPONENTIAL_H
#define SLUICE_LEARN_MATH_EXPONENTIAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPONENTIAL_MOST 700.0
/* Adding this number rounds to an integer, which is then in the lowest bits of the sum. */
#define EXPONENTIAL_MAGIC 0x1.8p52
#define EXPONENTIAL_PER_LN2 0x1.71547652b82fep0
/* ln 2 in two parts; the first leaves room for 11 bits of an integer factor. */
#define EXPONENTIAL_LN2 0x1.62e42fefa3800p-1
#define EXPONENTIAL_LN2_REST 0x1.ef35793c76730p-45
/* Chebyshev polynomial of degree 10 on [-ln 2 / 2, ln 2 / 2], highest power first. */
#define EXPONENTIAL_TERM 2.7626357241447222851e-7
#define EXPONENTIAL_TERMS(NEXT)          \
	NEXT(2.7640180796209851124e-6)   \
	NEXT(0.000024801504346997687255) \
	NEXT(0.00019841170270440068401)  \
	NEXT(0.0013888888932488598181)   \
	NEXT(0.0083333333856677824706)   \
	NEXT(0.041666666666573142611)    \
	NEXT(0.16666666666554404471)     \
	NEXT(0.50000000000000056169)     \
	NEXT(1.0000000000000067423)      \
	NEXT(1.0)

static inline double exponential(double x)
{
	double whole, rest, power = EXPONENTIAL_TERM;
	uint64_t bits, exponent;

	x = x > -EXPONENTIAL_MOST ? x : -EXPONENTIAL_MOST;
	x = x < EXPONENTIAL_MOST ? x : EXPONENTIAL_MOST;
	whole = x * EXPONENTIAL_PER_LN2 + EXPONENTIAL_MAGIC;
	memcpy(&exponent, &whole, sizeof(exponent));
	whole -= EXPONENTIAL_MAGIC;
	rest = x - whole * EXPONENTIAL_LN2;
	rest -= whole * EXPONENTIAL_LN2_REST;
#define NEXT(term) power = power * rest + (term);
	EXPONENTIAL_TERMS(NEXT)
#undef NEXT
	/* Multiply by two to the power of `whole` by adding to the exponent. */
	memcpy(&bits, &power, sizeof(bits));
	bits += exponent << 52;
	memcpy(&power, &bits, sizeof(power));
	return power;
}

typedef double exponential_pair __attribute__((vector_size(16)));
typedef int64_t exponential_bits __attribute__((vector_size(16)));

/*
 * exponential() of sixteen values. Each step runs for all values before the next step, which hides
 * the latency of the arithmetic.
 */
static inline __attribute__((always_inline)) void exponential_sixteen(exponential_pair values[8])
{
	exponential_pair rest[8], power[8];
	exponential_bits exponent[8];

	for (size_t l = 0; l < 8; l++) {
		const exponential_pair most = { EXPONENTIAL_MOST, EXPONENTIAL_MOST };
		exponential_pair x = values[l], whole;
		exponential_bits within = x > -most;

		x = (exponential_pair)((within & (exponential_bits)x) |
				       (~within & (exponential_bits)-most));
		within = x < most;
		x = (exponential_pair)((within & (exponential_bits)x) |
				       (~within & (exponential_bits)most));
		whole = x * EXPONENTIAL_PER_LN2 + EXPONENTIAL_MAGIC;
		exponent[l] = (exponential_bits)whole << 52;
		whole -= EXPONENTIAL_MAGIC;
		rest[l] = x - whole * EXPONENTIAL_LN2 - whole * EXPONENTIAL_LN2_REST;
		power[l] = (exponential_pair){ EXPONENTIAL_TERM, EXPONENTIAL_TERM };
	}
#define NEXT(term)                     \
	for (size_t l = 0; l < 8; l++) \
		power[l] = power[l] * rest[l] + (term);
	EXPONENTIAL_TERMS(NEXT)
#undef NEXT
	for (size_t l = 0; l < 8; l++)
		values[l] = (exponential_pair)((exponential_bits)power[l] + exponent[l]);
}

#endif
