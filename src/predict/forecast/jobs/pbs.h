/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job as PBS describes it, whichever form it was read from: attributes by name.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_PBS_H
#define SLUICE_PREDICT_FORECAST_JOBS_PBS_H

#include <stdbool.h>

#include "predict/forecast/jobs/text.h"

/* One row per attribute that is used, with its name in qstat. */
#define PBS_ATTRIBUTES(X)                         \
	X(NAME, "Job_Name")                       \
	X(OWNER, "Job_Owner")                     \
	X(STATE, "job_state")                     \
	X(QUEUE, "queue")                         \
	X(EXEC_HOST, "exec_host")                 \
	X(STARTED, "stime")                       \
	X(MODIFIED, "mtime")                      \
	X(USED_MEMORY, "resources_used.mem")      \
	X(USED_VIRTUAL, "resources_used.vmem")    \
	X(USED_TIME, "resources_used.walltime")   \
	X(GRANTED_MEMORY, "Resource_List.mem")    \
	X(GRANTED_VIRTUAL, "Resource_List.vmem")  \
	X(GRANTED_TIME, "Resource_List.walltime") \
	X(NODE_COUNT, "Resource_List.nodect")     \
	X(NODES, "Resource_List.nodes")           \
	X(SELECT, "Resource_List.select")

enum pbs_attribute {
#define PBS_ENUM(id, name) PBS_##id,
	PBS_ATTRIBUTES(PBS_ENUM)
#undef PBS_ENUM
		PBS_COUNT
};

struct pbs_job {
	char *id;
	char *of[PBS_COUNT]; /* values by attribute; NULL: not present */
	/* From Slurm's qstat, where mtime is the start time of the job. */
	bool is_slurm;
};

/* The attribute of this name, or -ENOENT if it is not used. */
int pbs_attribute(const char *name, size_t n);

void pbs_job_release(struct pbs_job *job);

/* Calls each() for every job of the output of qstat -f, in any state. err gives the line. */
int pbs_for_each(const char *name, const char *text, size_t bytes,
		 void (*each)(const struct pbs_job *job, void *arg), void *arg, struct err *err);

/* Appends the job to `found` unless its state is not running. */
void pbs_job_append(const struct pbs_job *job, struct jobs *found,
		    const uint8_t key[OWNER_KEY_BYTES]);

#endif
