/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The best point of a space by trying all of them: what a search is measured against. A model that
 * takes microseconds makes that possible, 28,000 points in a fraction of a second.
 */
#ifndef SLUICE_LAB_REPRODUCE_OPTIMUM_H
#define SLUICE_LAB_REPRODUCE_OPTIMUM_H

#include "predict/simulate/workload.h"

/* Of points that cost the same, the first. point has room for space->count. */
int optimum_find(const struct workload *workload, const struct platform *platform,
		 const struct space *space, size_t *point, struct simulated *best, struct err *err);

/* One point. */
int optimum_try(const struct workload *workload, const struct platform *platform,
		const struct space *space, const size_t *point, struct simulated *out,
		struct err *err);

/* The parameters of one layer of a point, the others at the site's defaults (ATE-12); chunks are
 * told apart from alignment. The caller releases the set. */
enum optimum_part { PART_STORAGE, PART_MPI, PART_ALIGNMENT, PART_CHUNK, PART_COUNT };
const char *optimum_part_name(enum optimum_part part);

/* 0: the point sets nothing of that part, and the set is empty. */
size_t optimum_part_set(const struct space *space, const size_t *point, enum optimum_part part,
			struct param_set *set);

#endif
