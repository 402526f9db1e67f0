/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Modelled Vesta (HYB-59): a machine that we do not have, to measure on. It is richer than what the
 * hybrid model fits: caches fill and drain round by round, locks cost more the more aggregators
 * first touch a file, bridges are near or far, the cores of a node wait for one another, and others
 * interfere in bursts. Benchmarks and application runs are taken from the same machine, so that
 * those who learn from either compete on equal terms; neither may look inside.
 *
 * Its constants are published figures of the machine (HYB-8, HYB-31 to HYB-35) and stand in
 * share/machines/NAME.ini; nothing is fitted to what a model makes of it. A second law of
 * contention shows that results do not hinge on the first.
 */
#ifndef SLUICE_PREDICT_SIMULATE_HIDDEN_H
#define SLUICE_PREDICT_SIMULATE_HIDDEN_H

#include "predict/model/access.h"
#include "predict/model/machine.h"

struct elements;
struct err;
struct hidden;

enum hidden_law { HIDDEN_QUEUE, HIDDEN_SHARE };
#define HIDDEN_LAW_WORDS "queue|share"

/* name as for machine_open(); -ENODATA: the description has no such model. */
int hidden_open(struct hidden **hidden, const char *name, enum hidden_law law, struct err *err);
void hidden_close(struct hidden *hidden);
const struct machine *hidden_machine(const struct hidden *hidden);

/* One run of the application: seconds of the access. The same repetition gives the same. */
double hidden_run(const struct hidden *hidden, const struct access *access,
		  const struct settings *settings, uint64_t repetition);

/* The training sets of HYB-37, rows of benchmarks on that machine. Adds to out. */
int hidden_benchmark(const struct hidden *hidden, uint64_t seed, struct elements *out,
		     struct err *err);

/*
 * Consecutive writes of one fresh file by n_a writers as the storage benchmark does them (Figures
 * 4 to 6): seconds of each round.
 */
void hidden_rounds(const struct hidden *hidden, uint64_t nodes, uint64_t writers, uint64_t bytes,
		   bool topology, uint64_t repetition, double *seconds, size_t rounds);

#endif
