/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/workload.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define MIB (UINT64_C(1) << 20)

/*
 * VPIC-IO: 8 variables of 8 Mi particles of 4 bytes. VORPAL-IO: 20 steps of 100 x 100 x 60 cells of
 * 3 doubles. GCRM-IO: 10 variables of 26 x 327680 floats. kernels/shapes.h says why, and a test
 * holds the two together.
 */
static const struct workload kernels[] = {
	{ .name = "vpic",
	  .pattern = WORKLOAD_LINEAR,
	  .collective = true,
	  .variables = 8,
	  .steps = 1,
	  .rank_bytes = 256 * MIB,
	  .access_bytes = 32 * MIB },
	{ .name = "vorpal",
	  .pattern = WORKLOAD_BLOCKS,
	  .collective = true,
	  .variables = 3,
	  .steps = 20,
	  .rank_bytes = UINT64_C(288000000),
	  .access_bytes = UINT64_C(4800000) },
	{ .name = "gcrm",
	  .pattern = WORKLOAD_MESH,
	  .chunked = true,
	  .variables = 10,
	  .steps = 1,
	  .rank_bytes = UINT64_C(340787200),
	  .access_bytes = UINT64_C(34078720) },
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

int workload_of(struct workload *workload, const char *kernel, uint64_t ranks, struct err *err)
{
	for (size_t i = 0; i < KERNELS; i++) {
		if (strcmp(kernels[i].name, kernel) != 0)
			continue;
		if (!ranks)
			return err_set(err, EINVAL, "%s needs at least one rank", kernel);
		*workload = kernels[i];
		workload->ranks = ranks;
		return 0;
	}
	return err_set(err, ENOENT, "there is no kernel '%s'; there are vpic, vorpal and gcrm",
		       kernel);
}

uint64_t workload_bytes(const struct workload *workload)
{
	return workload->ranks * workload->rank_bytes;
}
