/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks in single precision, for Adam.
 */
#include "learn/learners/network/network.h"

#define NETWORK_REAL float
#include "learn/learners/network/network_pass.h"

double network_pass_float(const struct network *network, const float *numbers, float *gradient,
			  const struct network_rows *rows, float *room)
{
	return run_pass(network, numbers, gradient, rows, room);
}
