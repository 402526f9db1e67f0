/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Identifies the parallel job that this process belongs to. The information comes from environment
 * variables that the launcher sets and, for MPICH's Hydra, from the command line of its proxy; no
 * launcher is contacted. The table in job.c is the only place that names launcher variables.
 */
#ifndef SLUICE_BASE_JOB_H
#define SLUICE_BASE_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* The user's own id for a job; it replaces the id that the launcher gives. */
#define JOB_VARIABLE "SLUICE_JOB"

struct job {
	const char *launcher; /* "Open MPI", "Hydra", ... */
	char *id;	      /* the same on all ranks and nodes, and different from other jobs */
	int32_t rank, size;
	int32_t locals; /* ranks on this node; 0: unknown */
};

/* True if a launcher started this process; the caller releases *job. Otherwise *job is zeroed. */
bool job_find(struct job *job);
void job_release(struct job *job);

/*
 * The id of the batch job that this process belongs to, of Slurm or PBS, also outside of parallel
 * programs: "12", or "12_3.0" for step 0 of task 3 of an array. NULL: there is none. The caller
 * frees it.
 */
char *job_batch_id(void);

/* Only the rank and size, even if the job has no id. False, with both untouched, outside a job. */
bool job_find_rank(int32_t *rank, int32_t *size);

/* The MPI that the launcher belongs to, "mpich" or "openmpi"; NULL if none or unknown. */
const char *job_mpi_name(void);

/* A hash for file names, and 32 hexadecimal digits that identify the job in its traces. */
uint64_t job_hash(const struct job *job);
char *job_uuid(const struct job *job);

/* The number of tasks on one node, from Slurm's notation such as "4(x2),3"; 0: unknown. */
int32_t job_tasks_of_node(const char *tasks_per_node, int32_t node);

#endif
