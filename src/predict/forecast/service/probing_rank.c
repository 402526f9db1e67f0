/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/probing_rank.h"

#include "base/job.h"

bool probing_find_rank(uint64_t *rank, uint64_t *ranks)
{
	int32_t number, size;

	if (!job_find_rank(&number, &size))
		return false;
	*rank = (uint64_t)number;
	*ranks = (uint64_t)size;
	return true;
}
