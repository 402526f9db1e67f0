/* SPDX-License-Identifier: BSD-3-Clause
 *
 * e to the power of x in plain arithmetic, so that the compiler makes vector code of loops that
 * call it: libm's is a call per value. The relative error is below 1e-14. Below -700, or not a
 * number, it yields that of -700, 1e-304; above 700 that of 700.
 */
#ifndef SLUICE_LEARN_DATA_EXPONENTIAL_H
#define SLUICE_LEARN_DATA_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

static inline double exponential(double x)
{
	/* Adding it rounds to a whole number, which then stands in the lowest bits. */
	const double magic = 0x1.8p52;
	double whole, rest, power;
	uint64_t bits, exponent;

	x = x > -700 ? x : -700;
	x = x < 700 ? x : 700;
	whole = x * 0x1.71547652b82fep0 + magic; /* 1 / ln 2 */
	memcpy(&exponent, &whole, sizeof(exponent));
	whole -= magic;
	/* ln 2 in two parts, the first of which has room for 11 bits of `whole`. */
	rest = x - whole * 0x1.62e42fefa3800p-1;
	rest -= whole * 0x1.ef35793c76730p-45;
	/* |rest| <= ln 2 / 2: the Chebyshev polynomial of degree 10. */
	power = 2.7626357241447222851e-7 * rest + 2.7640180796209851124e-6;
	power = power * rest + 0.000024801504346997687255;
	power = power * rest + 0.00019841170270440068401;
	power = power * rest + 0.0013888888932488598181;
	power = power * rest + 0.0083333333856677824706;
	power = power * rest + 0.041666666666573142611;
	power = power * rest + 0.16666666666554404471;
	power = power * rest + 0.50000000000000056169;
	power = power * rest + 1.0000000000000067423;
	power = power * rest + 1.0;
	/* Times two to the power of `whole`, which is added to the exponent. */
	memcpy(&bits, &power, sizeof(bits));
	bits += exponent << 52;
	memcpy(&power, &bits, sizeof(power));
	return power;
}

#endif
