/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/workload.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "predict/simulate/description.h"

#define MIB (UINT64_C(1) << 20)
#define RANKS_MAX 100000000 /* ten times the largest machine ever built */

/*
 * VPIC-IO: 8 variables of 8 Mi particles of 4 bytes. VORPAL-IO: 20 steps of 100 x 100 x 60 cells of
 * 3 doubles. GCRM-IO: 10 variables of 26 x 327680 floats. kernels/shapes.h gives the
 * reasons, and a test keeps both consistent.
 */
static const struct workload kernels[] = {
	{ .name = "vpic",
	  .pattern = WORKLOAD_LINEAR,
	  .collective = true,
	  .variables = 8,
	  .steps = 1,
	  .rank_bytes = 256 * MIB,
	  .access_bytes = 32 * MIB,
	  .rows = 1 },
	{ .name = "vorpal",
	  .pattern = WORKLOAD_BLOCKS,
	  .collective = true,
	  .variables = 3,
	  .steps = 20,
	  .rank_bytes = UINT64_C(288000000),
	  .access_bytes = UINT64_C(4800000),
	  .rows = 6000 },
	{ .name = "gcrm",
	  .pattern = WORKLOAD_MESH,
	  .chunked = true,
	  .variables = 10,
	  .steps = 1,
	  .rank_bytes = UINT64_C(340787200),
	  .access_bytes = UINT64_C(34078720),
	  .rows = 26 },
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

int workload_find(struct workload *workload, const char *kernel, uint64_t ranks, struct err *err)
{
	for (size_t i = 0; i < KERNELS; i++) {
		if (strcmp(kernels[i].name, kernel) != 0)
			continue;
		if (!ranks || ranks > RANKS_MAX)
			return err_set(err, EINVAL, "%s: the number of ranks must be from 1 to %d",
				       kernel, RANKS_MAX);
		*workload = kernels[i];
		workload->ranks = ranks;
		return 0;
	}
	return err_set(err, ENOENT, "unknown kernel '%s'; expected vpic, vorpal or gcrm", kernel);
}

uint64_t workload_bytes(const struct workload *workload)
{
	return workload->ranks * workload->rank_bytes;
}

/* Ties parameters to the dimensions that the search includes. */
static int add_ties(struct space *space, const struct platform *platform,
		    const struct platform_list *names, struct err *err)
{
	for (size_t i = 0; i < platform->ties.count; i++) {
		const struct platform_list *tie = &platform->ties.lists[i];

		for (size_t k = 0; k < names->count; k++) {
			int r;

			if (strcmp(names->values[k], tie->values[0]) != 0)
				continue;
			r = space_tie(space, tie->name, tie->values[0], err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int add_dimensions(struct space *space, const struct platform *platform,
			  const struct platform_list *names, struct err *err)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct platform_list *values =
			platform_list(&platform->values, names->values[i]);
		int r = space_add(space, values->name, (const char *const *)values->values, NULL,
				  err);

		if (r < 0)
			return r;
	}
	return 0;
}

int workload_space(const struct workload *workload, const struct platform *platform,
		   struct space *space, struct err *err)
{
	const char *kind = workload->collective ? "collective" : "independent";
	const struct platform_list *names = platform_list(&platform->search, kind);
	struct space made = { .name = xprintf("%s on %s", workload->name, platform->name) };
	int r;

	if (!names) {
		space_release(&made);
		return err_set(err, ENOENT, "%s: [search] lacks '%s', which %s needs",
			       platform->name, kind, workload->name);
	}
	platform_context(platform, &made.context);
	made.context.ranks = (uint32_t)workload->ranks;
	r = add_dimensions(&made, platform, names, err);
	/* Collective buffering does not matter to programs that do not use it. */
	if (r == 0 && workload->collective)
		r = add_ties(&made, platform, names, err);
	if (r < 0) {
		space_release(&made);
		return err_prefix(err, "%s", platform->name);
	}
	*space = made;
	return 0;
}
