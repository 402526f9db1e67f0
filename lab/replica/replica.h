/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Modelled Vesta (HYB-59): a machine that we do not have, to measure on. It is richer than what the
 * hybrid model fits: caches fill and drain round by round, locks cost more the more aggregators
 * first touch a file, bridges are near or far, the cores of a node wait for one another, and others
 * interfere in bursts. Benchmarks and application runs are taken from the same machine, so that
 * those who learn from either compete on equal terms; neither may look inside.
 *
 * Its constants stand in share/machines/NAME.ini, section [replica]: published figures of the
 * machine (HYB-8, HYB-31 to HYB-35), the rest assumed or chosen so that the machine behaves as was
 * published; nothing is fitted to what a model makes of it. A second contention of contention shows
 * that results do not hinge on the first. docs/vesta.md has the physics, and what comes out.
 *
 * Any thread: a replica does not change once it is open.
 */
#ifndef SLUICE_LAB_REPLICA_REPLICA_H
#define SLUICE_LAB_REPLICA_REPLICA_H

#include "predict/model/access.h"
#include "predict/model/machine.h"

struct elements;
struct err;
struct replica;

enum replica_contention { REPLICA_QUEUE, REPLICA_SHARE };
#define REPLICA_CONTENTION_WORDS "queue|share"

/* name as for machine_open(); -ENODATA: the description has no such model. */
int replica_open(struct replica **replica, const char *name, enum replica_contention contention,
		 struct err *err);
void replica_close(struct replica *replica);
const struct machine *replica_machine(const struct replica *replica);

/*
 * One run of the application: seconds of the access. The same repetition gives the same. Writes of
 * one piece per rank on whole psets are modelled; NAN for all else.
 */
double replica_run(const struct replica *replica, const struct access *access,
		   const struct settings *settings, uint64_t repetition);

/* The training sets of HYB-37, rows of benchmarks on that machine. Adds to out. */
int replica_benchmark(const struct replica *replica, uint64_t seed, struct elements *out,
		      struct err *err);

/*
 * Consecutive writes of one fresh file by n_a writers as the storage benchmark does them (Figures
 * 4 to 6): seconds of each round; NAN where nodes are no whole psets or have too few cores.
 */
void replica_rounds(const struct replica *replica, uint64_t nodes, uint64_t writers, uint64_t bytes,
		    bool topology, uint64_t repetition, double *seconds, size_t rounds);

#endif
