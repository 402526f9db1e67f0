/* SPDX-License-Identifier: BSD-3-Clause
 *
 * e to the power of x in plain arithmetic, so that the compiler makes vector code of loops that
 * call it: libm's is a call per value. The error is below 2 units in the last place. Below -708 it
 * yields that of -708, 3e-308, above 709 that of 709: neither zero nor infinite.
 */
#ifndef SLUICE_LEARN_DATA_EXPONENTIAL_H
#define SLUICE_LEARN_DATA_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

static inline double exponential(double x)
{
	/* Adding it leaves the nearest whole number in the low bits of the sum. */
	const double magic = 0x1.8p52;
	double whole, rest, power, scale;
	int64_t bits;

	x = x < -708 ? -708 : x;
	x = x > 709 ? 709 : x;
	whole = x * 0x1.71547652b82fep0 + magic; /* 1 / ln 2 */
	memcpy(&bits, &whole, sizeof(bits));
	whole -= magic;
	/* ln 2 in two parts, the first of which has room for 11 bits of `whole`. */
	rest = x - whole * 0x1.62e42fefa3800p-1;
	rest -= whole * 0x1.ef35793c76730p-45;
	/* |rest| <= ln 2 / 2: Taylor's series, whose next term is below 2^-57. */
	power = 1.0 / 6227020800;
	power = power * rest + 1.0 / 479001600;
	power = power * rest + 1.0 / 39916800;
	power = power * rest + 1.0 / 3628800;
	power = power * rest + 1.0 / 362880;
	power = power * rest + 1.0 / 40320;
	power = power * rest + 1.0 / 5040;
	power = power * rest + 1.0 / 720;
	power = power * rest + 1.0 / 120;
	power = power * rest + 1.0 / 24;
	power = power * rest + 1.0 / 6;
	power = power * rest + 0.5;
	power = power * rest + 1;
	power = power * rest + 1;
	/* What is below the magic number's own bits is the exponent, two's complement. */
	bits = (int64_t)((uint64_t)bits << 52) + ((int64_t)1023 << 52);
	memcpy(&scale, &bits, sizeof(scale));
	return power * scale;
}

#endif
