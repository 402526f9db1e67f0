/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproduces the paper on predicting collective I/O (Isaila et al., 2015). Figures 4 to 6 describe
 * the machine and are computed here; the other results are the sheets of lab/model/evaluation.h.
 * isaila.c and isaila_plots.c implement it together.
 */
#ifndef SLUICE_LAB_REPRODUCE_ISAILA_H
#define SLUICE_LAB_REPRODUCE_ISAILA_H

#include "lab/model/evaluation.h"
#include "lab/reproduce/reproduce.h"

#define ISAILA_ROUNDS 32 /* rounds of Figure 4 */
#define ISAILA_LEVELS 3	 /* of aggregators and of buffer sizes */
#define ISAILA_WAYS (ISAILA_LEVELS * ISAILA_LEVELS)

/*
 * The nine ways to write combine the aggregators per pset with the buffer sizes in MiB. Way w uses
 * isaila_aggregators[w / ISAILA_LEVELS] and isaila_buffers[w % ISAILA_LEVELS].
 */
extern const uint64_t isaila_aggregators[ISAILA_LEVELS], isaila_buffers[ISAILA_LEVELS];

/* Figure 4: rates in MB/s of the rounds of one run. */
void isaila_rounds(const struct replica *replica, uint64_t run, double rates[ISAILA_ROUNDS]);
double isaila_mean(const double *values, size_t count);

/* Figure 5: mean throughput of later rounds divided by that of the first round. */
double isaila_first_ratio(const struct replica *replica, uint64_t nodes, size_t way);

/* Figure 6: throughput with placement by topology divided by that of uniform placement. */
double isaila_topology_ratio(const struct replica *replica, uint64_t nodes, size_t way);

/* Writes figure4-CONTENTION.svg to figure11-CONTENTION.svg into the directory. */
int isaila_plots(const struct evaluation *evaluation, const char *directory, const char *contention,
		 struct err *err);

#endif
