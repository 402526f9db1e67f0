/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps one collection job in the queue of Slurm or PBS (WAN-11): whenever the job has ended, it is
 * submitted again. jobs/resubmit.h decides what to do; this loop waits, keeps a list of the jobs
 * and holds a lock so that only one process manages a job name.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_RESUBMISSION_H
#define SLUICE_PREDICT_FORECAST_SERVICE_RESUBMISSION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs/resubmit.h"

struct err;
struct site;

enum resubmission_event {
	RESUBMISSION_FOUND, /* a job of this name is in the queue already */
	RESUBMISSION_SUBMITTED,
	RESUBMISSION_ENDED,
	RESUBMISSION_ENDED_EARLY, /* it ran for less than min_runtime_s */
	RESUBMISSION_REFUSED,	  /* text is the scheduler's message */
	RESUBMISSION_UNREACHABLE, /* the queue cannot be read; text says why. Reported once */
	RESUBMISSION_LEFT,	  /* the loop ended and the job stays in the queue */
	RESUBMISSION_CANCELED,
	RESUBMISSION_CANCEL_FAILED, /* text says why */
};

/* Why the loop ended. */
enum resubmission_end {
	RESUBMISSION_BY_SIGNAL,
	RESUBMISSION_BY_TIME,
	RESUBMISSION_BY_COUNT,	   /* max_jobs have ended */
	RESUBMISSION_BY_FAILURES,  /* max_failures in a row */
	RESUBMISSION_BY_SCHEDULER, /* its commands are not installed */
};
#define RESUBMISSION_ENDS "signal|time|times|failures|scheduler"

struct resubmission_options {
	const struct site *site; /* its job reader selects the batch system */
	const char *script;
	char *const *arguments; /* for sbatch or qsub; ends with NULL */
	const char *name;	/* job name; NULL: derived from the path of the script */
	const char *store_path; /* the lock file is created beside it */
	uint64_t max_jobs;	/* UINT64_MAX: no limit */
	uint64_t max_failures;
	double min_runtime_s; /* a job that ends earlier counts as a failure */
	double every_s;	      /* time between two looks at the queue */
	double duration_s;    /* INFINITY: until *stop is set */
	bool cancels;	      /* remove the job from the queue at the end */
	const volatile sig_atomic_t *stop;
	void (*on_event)(void *arg, enum resubmission_event event, const char *id,
			 const char *text);
	void *arg;
};

struct resubmission_job {
	char id[BATCH_ID];
	double since_s, ended_s; /* since 1970; ended_s is NAN while it is in the queue */
	bool was_found;
};

/* The outcome. Zero-initialized is empty. */
struct resubmission {
	struct resubmit resubmit;
	char name[BATCH_NAME];
	struct resubmission_job *jobs;
	size_t count, cap;
	enum resubmission_end end;
};

/* True if a job may have this name: letters, digits, - and _, less than BATCH_NAME bytes. */
bool resubmission_name_is_valid(const char *name);

/*
 * Returns 0 when the loop has ended as wanted. -errno if it cannot start: no batch system, no
 * script, or -EBUSY if another process manages the job. Also -ECANCELED after too many failures
 * and -ENOENT if the scheduler's commands are missing; then the outcome is filled in. The caller
 * releases the outcome in any case.
 */
int resubmission_run(struct resubmission *outcome, const struct resubmission_options *options,
		     struct err *err);
void resubmission_release(struct resubmission *outcome);

#endif
