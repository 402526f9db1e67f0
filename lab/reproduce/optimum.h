/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the best point of a space by trying all points, as a reference for searches. This is
 * feasible because one simulation takes microseconds: 28,000 points take a fraction of a second.
 */
#ifndef SLUICE_LAB_REPRODUCE_OPTIMUM_H
#define SLUICE_LAB_REPRODUCE_OPTIMUM_H

#include "predict/simulate/workload.h"

/* Of points with equal cost, returns the first. `point` has room for space->count. */
int optimum_find(const struct workload *workload, const struct platform *platform,
		 const struct space *space, size_t *point, struct simulated *best, struct err *err);

/* Simulates one point. */
int optimum_try(const struct workload *workload, const struct platform *platform,
		const struct space *space, const size_t *point, struct simulated *out,
		struct err *err);

/* A layer of the I/O stack; the parameters of HDF5 are divided into alignment and chunks. */
enum optimum_part { PART_STORAGE, PART_MPI, PART_ALIGNMENT, PART_CHUNK, PART_COUNT };

/*
 * Puts those parameters of a point into `set` that belong to one layer. Returns their number. The
 * caller releases the set.
 */
size_t optimum_part_set(const struct space *space, const size_t *point, enum optimum_part part,
			struct param_set *set);

#endif
