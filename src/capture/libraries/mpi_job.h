/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MPI job that this process is a rank of: which job it is, and whether all of its ranks are
 * captured by the same run. Parameters and hints that all ranks have to pass alike are applied only
 * then. Ranks are counted in the run's control page, one entry per job. Guest.
 *
 * A rank joins before the real MPI_Init, which no rank leaves before all have entered it. So after
 * MPI_Init the count is final. A job on several nodes never has all of its ranks in one control
 * page.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MPI_JOB_H
#define SLUICE_CAPTURE_LIBRARIES_MPI_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spool.h"

#pragma GCC visibility push(hidden)

/* Before the real MPI_Init; called is that function. Further calls do nothing. Keeps errno. */
__attribute__((cold)) void mpi_job_join(const void *called);

/* Has this process called MPI_Init? */
bool mpi_job_has_joined(void);

/* A hash that all ranks of the job have in common, and no other job has; 0 where it is unknown. */
uint64_t mpi_job_key(void);

/* Have all ranks of the job joined this run? After mpi_job_join(). */
bool mpi_job_is_complete(void);

/*
 * Do all ranks of the job have the same parameters? They do if they are in this run, or if the host
 * says that the control pages of the other nodes hold the same. True for a process without a job.
 */
bool mpi_job_shares_parameters(void);

/*
 * Has every rank of the job read the same hints file of ROMIO (hints_file.h)? In a job on several
 * nodes this is unknown if there is one; then false.
 */
bool mpi_job_shares_hints_file(void);

/* Notes the hash of the hints file that a rank of this job has read. */
void mpi_job_compare_hints_file(struct control *control, int job, uint64_t hash);

/* Counts one more rank of the job with this key (0: unknown). The job's index, or -1: no room. */
int mpi_job_count_rank(struct control *control, uint64_t key);

/* Are all of these ranks counted? job is an index from mpi_job_count_rank(). */
bool mpi_job_has_ranks(const struct control *control, int job, int ranks);

#pragma GCC visibility pop

#endif
