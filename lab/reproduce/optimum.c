/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: ATE-17.
 */
#include "lab/reproduce/optimum.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

int optimum_try(const struct workload *workload, const struct platform *platform,
		const struct space *space, const size_t *point, struct simulated *out,
		struct err *err)
{
	struct param_set set;
	int r;

	space_set(space, point, &set);
	r = workload_simulate(workload, platform, &set, out, err);
	param_set_release(&set);
	return r;
}

int optimum_find(const struct workload *workload, const struct platform *platform,
		 const struct space *space, size_t *point, struct simulated *best, struct err *err)
{
	uint64_t points = space_points(space);
	size_t at[SPACE_DIMENSIONS];
	struct simulated found = { 0 }, now;

	if (!points)
		return err_set(err, E2BIG,
			       "the search space has too many points to try all of them");
	for (uint64_t i = 0; i < points; i++) {
		int r;

		space_point(space, i, at);
		r = optimum_try(workload, platform, space, at, &now, err);
		if (r < 0)
			return r;
		if (i && now.total >= found.total)
			continue;
		found = now;
		memcpy(point, at, space->count * sizeof(*point));
	}
	*best = found;
	return 0;
}

static enum optimum_part find_part(const struct tunable *tunable)
{
	if (tunable->layer == TUNABLE_STORAGE)
		return PART_STORAGE;
	if (tunable->layer == TUNABLE_MPI)
		return PART_MPI;
	return strcmp(tunable->name, "chunk_size") == 0 ? PART_CHUNK : PART_ALIGNMENT;
}

size_t optimum_part_set(const struct space *space, const size_t *point, enum optimum_part part,
			struct param_set *set)
{
	struct param_set whole;

	*set = (struct param_set){ 0 };
	space_set(space, point, &whole);
	/* The values cannot be refused: they were parsed when the space was made. */
	for (size_t i = 0; i < whole.count; i++)
		if (find_part(whole.params[i].tunable) == part)
			param_set_put(set, whole.params[i].tunable, whole.params[i].value, NULL,
				      NULL, 0, NULL);
	param_set_release(&whole);
	return set->count;
}
