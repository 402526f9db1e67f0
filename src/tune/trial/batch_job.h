/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a trial as a job of Slurm. The command of the job is that of the trial, in a script that
 * sbatch submits; batch_job.argv is the command that does so and waits for the end of the job. It
 * cancels the job on SIGTERM, and exits when none of its processes is left.
 *
 * All files are in one directory, which the nodes must share with this one. The job reports its
 * begin and its end there, since a batch system is asked for the state of its jobs only every few
 * seconds.
 */
#ifndef SLUICE_TUNE_TRIAL_BATCH_JOB_H
#define SLUICE_TUNE_TRIAL_BATCH_JOB_H

#include <stdbool.h>

struct child_end;
struct err;

/* How long the job may take to end after it was canceled. */
#define BATCH_JOB_GRACE_S 90.0

struct batch_job {
	char *options;	     /* of sbatch, for a shell */
	char *script;	     /* file: what the job does */
	char *begun, *ended; /* files that the job creates */
	char *argv[4];	     /* submits the job and waits; ends with NULL */
};

/* What is wrong with a launcher, "slurm" with options of sbatch, as a sentence; NULL: nothing. */
const char *batch_job_find_fault(const char *launcher);

/* The launcher must be without fault. */
void batch_job_init(struct batch_job *job, const char *launcher, const char *directory);
void batch_job_release(struct batch_job *job);

struct batch_job_command {
	char *const *argv;
	const char *setting;	     /* "NAME=VALUE" for the environment; NULL: none */
	const char *output, *errors; /* files for both, in the shared directory */
};

/* Writes the script of a job that runs the command in the current directory. */
int batch_job_prepare(struct batch_job *job, const struct batch_job_command *command,
		      struct err *err);

/*
 * Replaces exit code and run time of the command that waited by those of the job. If the job did
 * not come to its end, the exit code is that of the command that waited, which is not 0.
 */
void batch_job_read_end(const struct batch_job *job, struct child_end *end);

#endif
