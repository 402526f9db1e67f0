/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A batch system as far as it takes one job of ours, again and again (WAN-11): is the job there,
 * known by its name and by who we are; hand it in; take it back. By the system's own commands.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_BATCH_H
#define SLUICE_PREDICT_FORECAST_JOBS_BATCH_H

#include <stddef.h>

struct buf;
struct err;

#define BATCH_ID 64
#define BATCH_NAME 64
#define BATCH_TIMEOUT_S 60.0 /* of a command */

/* What is handed in. */
struct batch_job {
	const char *name; /* letters, digits, - and _ */
	const char *script;
	char *const *options; /* for the command that submits; NULL ends them. NULL: none */
};

/* Commands are for a shell. */
struct batch_system {
	const char *name, *program; /* "slurm", and the program that submits */
	void (*submit)(const struct batch_job *job, struct buf *command);
	void (*ask)(const struct batch_job *job, struct buf *command);
	/* The id of the job that is there, of what was printed when asked; "" where there is none.
	 */
	int (*find)(const struct batch_job *job, const struct buf *printed, char id[BATCH_ID],
		    struct err *err);
	const char *cancel; /* the id follows */
};
extern const struct batch_system *const batch_systems[]; /* ends with NULL */

/*
 * The one that a reader of jobs belongs to ("slurm-json" to slurm); "auto" and "none": the first
 * whose program is here. NULL with a sentence.
 */
const struct batch_system *batch_system_of(const char *reader, struct err *err);

/* A name for a script that no other script has and that every system takes: "slc-" and 8 digits. */
void batch_name(char out[BATCH_NAME], const char *script);

/* err has the system's own words. */
int batch_find(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
	       struct err *err);
int batch_submit(const struct batch_system *system, const struct batch_job *job, char id[BATCH_ID],
		 struct err *err);
int batch_cancel(const struct batch_system *system, const char *id, struct err *err);

#endif
