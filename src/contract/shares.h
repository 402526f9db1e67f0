/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shares of storage targets within the limits of a site. Host and guest compute them alike.
 * Guest-safe.
 */
#ifndef SLUICE_CONTRACT_SHARES_H
#define SLUICE_CONTRACT_SHARES_H

#include <stddef.h>

/*
 * Computes shares in proportion to the weights; they sum to 1. No share is less than `least` or
 * more than `most` times the equal share (0: no limit); the others take the difference of a share
 * that is cut off at a limit, in proportion. Weights are positive, or 0 for a target that gets
 * nothing, and may be the same array as the shares. The limits must be possible.
 */
void shares_fill(const double *weights, size_t count, double least, double most, double *shares);

#endif
