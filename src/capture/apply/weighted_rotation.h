/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Assigns destinations in proportion to their weights: a list of weighted destinations
 * (parameters_destination() of contract/parameters.h) becomes a periodic sequence. After any n
 * turns a destination with the share s has got n * s turns, with an error below one. So a few files
 * are spread as evenly as many. Guest.
 *
 * The sequence depends on the list only; its period is the sum of the weights. Turns are counted in
 * the run's control page for all processes of the node. Each list has its own counter, up to
 * CONTROL_TURNS; further lists share the last one. On several nodes the counters start at different
 * turns.
 */
#ifndef SLUICE_CAPTURE_APPLY_WEIGHTED_ROTATION_H
#define SLUICE_CAPTURE_APPLY_WEIGHTED_ROTATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/apply/rules.h"

#define WEIGHTED_ROTATION_NONE UINT64_MAX
/* A turn with this bit is the index of a destination that was chosen otherwise. */
#define WEIGHTED_ROTATION_INDEX (UINT64_C(1) << 63)

#pragma GCC visibility push(hidden)

/* Takes `count` consecutive turns and returns the first. rule is a list in rules_own. */
uint64_t weighted_rotation_take(_Atomic uint64_t *counters, const struct parameters_line *rule,
				unsigned count);

/* The destination of a turn, the same in all processes; false if the list is malformed. */
bool weighted_rotation_destination(const struct parameters_line *rule, uint64_t turn,
				   struct parameters_destination *destination);

/* The same as an index of the list; PARAMETERS_DESTINATIONS if it is malformed. */
unsigned weighted_rotation_index(const struct parameters_line *rule, uint64_t turn);

#pragma GCC visibility pop

#endif
