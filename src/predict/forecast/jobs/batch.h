/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of a batch system that resubmission needs (WAN-11): find a job of the current user
 * by its name, submit it, cancel it. They run the commands of the batch system.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_BATCH_H
#define SLUICE_PREDICT_FORECAST_JOBS_BATCH_H

#include <stddef.h>

struct buf;
struct err;

#define BATCH_ID 64
#define BATCH_NAME 64
#define BATCH_TIMEOUT_S 60.0 /* for each command */

/* The job to submit. */
struct batch_job {
	const char *name; /* letters, digits, - and _ */
	const char *script;
	char *const *options; /* of sbatch or qsub, ends with NULL; NULL: none */
};

/* The functions append shell commands. */
struct batch_system {
	const char *name, *program; /* program: the command that submits */
	void (*submit)(const struct batch_job *job, struct buf *command);
	void (*query)(const struct batch_job *job, struct buf *command);
	/* Finds the id of the job in the output of the query; "" if it is not in the queue. */
	int (*find)(const struct batch_job *job, const struct buf *printed, char id[BATCH_ID],
		    struct err *err);
	const char *cancel; /* command that takes the id */
};
extern const struct batch_system *const batch_systems[]; /* ends with NULL */

/*
 * The batch system of a job reader, such as slurm for "slurm-json". For "auto" and "none", the
 * first one whose program is installed. Returns NULL and sets err if there is none.
 */
const struct batch_system *batch_system_find(const char *reader, struct err *err);

/* Derives a job name from the script's path: "slc-" and 8 digits, valid in every batch system. */
void batch_job_name(char out[BATCH_NAME], const char *script);

/* These return -errno; err contains the message of the batch system. */
int batch_find(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
	       struct err *err);
int batch_submit(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
		 struct err *err);
int batch_cancel(const struct batch_system *system, const char *id, struct err *err);

#endif
