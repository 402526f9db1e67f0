/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A simulated machine: Vesta, a Blue Gene/Q system, to measure on without having it. It is more
 * detailed than the hybrid model that is fitted to it: caches fill and drain round by round, locks
 * cost more the more aggregators first touch a file, bridges are near or far, the cores of a node
 * wait for each other, and other jobs interfere in bursts. Benchmarks and application runs come
 * from the same machine, so that models which learn from either can be compared. They must not look
 * inside.
 *
 * The constants are in section [replica] of share/machines/NAME.ini. Some are published numbers of
 * the machine; the others are assumed, or chosen such that the machine behaves as published. None
 * is fitted to the predictions of a model. A second model of contention shows that results do not
 * depend on the first one. docs/reference/simulated/vesta.md describes the physics and the results.
 *
 * Thread-safe: an open replica does not change.
 * Papers: HYB-59.
 */
#ifndef SLUICE_LAB_REPLICA_REPLICA_H
#define SLUICE_LAB_REPLICA_REPLICA_H

#include "predict/model/access.h"
#include "predict/model/machine.h"

struct elements;
struct err;
struct replica;

/* How much streams slow each other down at the storage (replica_internal.h). */
enum replica_contention { REPLICA_QUEUE, REPLICA_SHARE };
#define REPLICA_CONTENTION_WORDS "queue|share"

/* `name` is as for machine_open(). Returns -ENODATA if the description has no section [replica]. */
int replica_open(struct replica **replica, const char *name, enum replica_contention contention,
		 struct err *err);
void replica_close(struct replica *replica);

/* The description of the machine, without a form for counts (lab/model/bluegene.h). */
const struct machine *replica_machine(const struct replica *replica);

/*
 * Simulates one run of the application and returns the seconds of the access. The same repetition
 * gives the same result. Returns NAN for anything but contiguous writes on whole psets.
 */
double replica_run(const struct replica *replica, const struct access *access,
		   const struct settings *settings, uint64_t repetition);

/* Runs the benchmarks of the paper and adds their rows to `out`. */
int replica_benchmark(const struct replica *replica, uint64_t seed, struct elements *out,
		      struct err *err);

/*
 * Simulates the storage benchmark: consecutive writes of a new file by `writers` ranks (Figures 4
 * to 6). seconds receives the time of each round; NAN if the nodes are not whole psets or have too
 * few cores.
 */
void replica_rounds(const struct replica *replica, uint64_t nodes, uint64_t writers, uint64_t bytes,
		    bool topology, uint64_t repetition, double *seconds, size_t rounds);

#endif
