/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One line of the job list that bench/learn_cases.py writes, and the rows that the job uses.
 */
#ifndef SLUICE_BENCH_LEARN_JOB_H
#define SLUICE_BENCH_LEARN_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "learn/pipeline.h"

struct err;

/* The fields, in the order of learn_cases.py. */
enum job_field {
	JOB_ID,
	JOB_FILE,
	JOB_TARGET,
	JOB_FEATURES,
	JOB_FOLD,
	JOB_TASK,
	JOB_LEARNER,
	JOB_SETTINGS,
	JOB_RECIPE,
	JOB_SEEDS,
	JOB_FIRST,
	JOB_REFERENCE,
	JOB_FIELDS
};

struct job {
	char *line;
	const char *field[JOB_FIELDS]; /* point into line; "" for a dash */
	size_t seeds, first;
	struct pipeline_plan plan;
};

/* Returns 1 if a job was read, 0 at the end of the list, else -errno. */
int job_next(struct job *job, FILE *list, struct err *err);
void job_release(struct job *job);

/* All rows of a job's table. */
struct job_rows {
	struct samples samples;
	double *x, *y;
	double *fold, *group; /* per row; group is the column "target", or 0 in all rows */
	size_t folds;	      /* number of folds to run */
};

int job_rows_init(struct job_rows *rows, const struct job *job, struct err *err);
void job_rows_release(struct job_rows *rows);

/* Collects the rows between from and to that are in the fold, or those that are not. Returns their
 * number. */
size_t job_rows_split(const struct job_rows *rows, size_t from, size_t to, size_t fold, bool inside,
		      size_t *chosen);

/* Seconds of CPU time of the calling thread. */
double job_clock(void);

#endif
