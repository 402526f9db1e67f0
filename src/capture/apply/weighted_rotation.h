/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whose turn it is: a list of destinations with weights (parameters_destination() of
 * contract/parameters.h) as a sequence in which each comes in proportion to its weight, after every
 * step: of n turns a destination with the share s has had n * s, less than one more or less. So few
 * files are spread as well as many. Guest.
 *
 * The sequence depends on the list alone and begins anew when the weights have been used up. Turns
 * are counted in the run's control page, for all processes of the node, also forked ones; each list
 * has a counter of its own, as far as there are CONTROL_TURNS. On several nodes each has its own
 * counters, which begin at different turns.
 */
#ifndef SLUICE_CAPTURE_APPLY_WEIGHTED_ROTATION_H
#define SLUICE_CAPTURE_APPLY_WEIGHTED_ROTATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/apply/rules.h"

#define WEIGHTED_ROTATION_NONE UINT64_MAX

#pragma GCC visibility push(hidden)

/* The first of so many turns that are now the caller's. rule is one of rules_own, of a list. */
uint64_t weighted_rotation_take(_Atomic uint64_t *counters, const struct parameters_line *rule,
				unsigned count);

/* Whose it is; false where the list is broken. The same for all who ask. */
bool weighted_rotation_destination(const struct parameters_line *rule, uint64_t turn,
				   struct parameters_destination *destination);

/* How many destinations a list has, 0: it is broken. */
unsigned weighted_rotation_count(const struct parameters_line *rule);

#pragma GCC visibility pop

#endif
