/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MPI rank of a probing process, from the environment that the launcher has set.
 */
#include <stdlib.h>

#include "base/unit.h"
#include "predict/forecast/service/probing.h"

static bool read_variable(const char *name, uint64_t *number)
{
	const char *text = getenv(name);

	return text && unit_parse_count(text, number) == 0;
}

bool probing_find_rank(uint64_t *rank, uint64_t *ranks)
{
	/* Slurm comes last because mpiexec may run inside a Slurm job. */
	static const char *const names[][2] = { { "PMI_RANK", "PMI_SIZE" },
						{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
						{ "PMIX_RANK", "SLURM_STEP_NUM_TASKS" },
						{ "SLURM_PROCID", "SLURM_STEP_NUM_TASKS" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (read_variable(names[i][0], rank) && read_variable(names[i][1], ranks) &&
		    *rank < *ranks)
			return true;
	return false;
}
