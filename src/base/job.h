/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a parallel launcher tells the processes it starts: that they belong together. Read from the
 * environment (and, for MPICH's Hydra, from the command line of its proxy); no launcher is talked
 * to.
 */
#ifndef SLUICE_BASE_JOB_H
#define SLUICE_BASE_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* The user's own name for a job; goes before what the launcher says. */
#define JOB_VARIABLE "SLUICE_JOB"

struct job {
	const char *launcher; /* "Open MPI", "Hydra", ... */
	char *id;	      /* equal on all ranks and nodes, and unlike that of other jobs */
	int32_t rank, size;
	int32_t locals; /* how many of them are on this node; 0: not told */
};

/* True if a launcher started us; the caller releases. Else *job is zeroed. */
bool job_find(struct job *job);
void job_release(struct job *job);

/* A number for names of files, and 32 hexadecimal digits for the traces of its parts. */
uint64_t job_hash(const struct job *job);
char *job_uuid(const struct job *job);

/* Tasks of one node in Slurm's notation, such as "4(x2),3"; 0 where it does not tell. */
int32_t job_tasks_of_node(const char *tasks_per_node, int32_t node);

#endif
