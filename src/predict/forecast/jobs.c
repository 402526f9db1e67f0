/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct job *jobs_add(struct jobs *jobs)
{
	struct job *job;

	jobs->rows = xgrow(jobs->rows, &jobs->cap, jobs->count + 1, sizeof(*jobs->rows));
	job = &jobs->rows[jobs->count++];
	*job = (struct job){ .id = xstrdup(""),
			     .name = xstrdup(""),
			     .queue = xstrdup(""),
			     .owner = xstrdup(""),
			     .nodes = NAN,
			     .memory_bytes = NAN,
			     .virtual_bytes = NAN,
			     .used_s = NAN,
			     .allocated_s = NAN };
	return job;
}

void jobs_release(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		free(jobs->rows[i].id);
		free(jobs->rows[i].name);
		free(jobs->rows[i].queue);
		free(jobs->rows[i].owner);
	}
	free(jobs->rows);
	*jobs = (struct jobs){ 0 };
}
