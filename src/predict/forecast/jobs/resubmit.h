/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides when to submit a job again so that there is always one job of a name in the queue
 * (WAN-11); sites forbid jobs that last as long as a campaign. Each call is one step: the caller
 * passes the time and waits between steps. The state is that of the queue, so a restarted process
 * finds the existing job and does not submit a second one. Nothing is submitted while the queue
 * cannot be queried.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_RESUBMIT_H
#define SLUICE_PREDICT_FORECAST_JOBS_RESUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/forecast/jobs/batch.h"

enum resubmit_event {
	RESUBMIT_WAIT,	    /* the job is in the queue; call again later */
	RESUBMIT_FOUND,	    /* the queue has a job that another process submitted */
	RESUBMIT_SUBMITTED, /* id is that of the new job */
	RESUBMIT_ENDED,	    /* the job has left the queue */
	RESUBMIT_SHORT,	    /* the same, after less than shortest_s */
	RESUBMIT_REFUSED,   /* the submission failed; err says why. Call again later */
	RESUBMIT_UNKNOWN,   /* the query failed; err says why. Call again later */
	RESUBMIT_DONE,	    /* the wanted number of jobs have ended */
	RESUBMIT_GIVEN_UP,  /* too many failures in a row */
};
#define RESUBMIT_WORDS "wait|found|submitted|ended|short|refused|unknown|done|given-up"

struct resubmit {
	const struct batch_system *system;
	struct batch_job job;
	uint64_t times;	   /* number of jobs to submit; UINT64_MAX: no limit */
	uint64_t failures; /* give up after this many failures in a row */
	double shortest_s; /* a job that ends sooner after its submission counts as a failure */

	/* State; the caller sets it to zero. */
	char id[BATCH_ID]; /* of the current or the last job */
	double since_s;	   /* time at which it was submitted or found */
	bool is_there, is_ours;
	bool is_short;		    /* the last failure was a short job, not a refused submission */
	uint64_t submitted, failed; /* failed: failures in a row */
};

/* The caller waits after RESUBMIT_WAIT, _REFUSED and _UNKNOWN; else it may continue at once. */
enum resubmit_event resubmit_step(struct resubmit *resubmit, double now_s, struct err *err);

#endif
