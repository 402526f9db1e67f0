/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "predict/forecast/jobs/text.h"

/* For each scheduler, the format that causes the least load on it comes first. */
const struct jobs_reader *const jobs_readers[] = {
	&jobs_reader_slurm_text, &jobs_reader_slurm_json, &jobs_reader_scontrol,
	&jobs_reader_pbs,	 &jobs_reader_pbs_json,	  NULL,
};

const struct jobs_reader *jobs_reader_find(const char *name, struct err *err)
{
	AUTO_BUF struct buf names = { 0 };

	for (size_t i = 0; jobs_readers[i]; i++) {
		if (strcmp(jobs_readers[i]->name, name) == 0)
			return jobs_readers[i];
		buf_printf(&names, "%s%s", i ? ", " : "", jobs_readers[i]->name);
	}
	err_set(err, ENOENT, "unknown job reader \"%s\" (expected %s)", name, buf_text(&names));
	return NULL;
}

const struct jobs_reader *jobs_reader_detect(void)
{
	for (size_t i = 0; jobs_readers[i]; i++) {
		const char *command = jobs_readers[i]->command;
		AUTO_FREE char *program = xstrndup(command, strcspn(command, " "));
		AUTO_FREE char *found = place_program(program);

		if (found)
			return jobs_readers[i];
	}
	return NULL;
}

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
