/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two files of `sluice reproduce isaila` share: numbers of Figures 4 to 6, which are about
 * the machine, and where plots are made.
 */
#ifndef SLUICE_LAB_REPRODUCE_ISAILA_H
#define SLUICE_LAB_REPRODUCE_ISAILA_H

#include "lab/model/evaluation.h"
#include "lab/reproduce/reproduce.h"

#define ISAILA_LAWS 2
#define ISAILA_ROUNDS 32 /* of Figure 4 */

/* The nine ways to write: aggregators per pset, by turns with MiB of a buffer. */
extern const uint64_t isaila_aggregators[3], isaila_buffers[3];

void isaila_rounds(const struct replica *replica, uint64_t run, double rates[ISAILA_ROUNDS]);
double isaila_mean(const double *values, size_t count);
double isaila_first_ratio(const struct replica *replica, uint64_t nodes, size_t way);
double isaila_topology_ratio(const struct replica *replica, uint64_t nodes, size_t way);

/* figure4-LAW.svg to figure11-LAW.svg in that folder. */
int isaila_plots(const struct evaluation *evaluation, const char *folder, const char *law,
		 struct err *err);

#endif
