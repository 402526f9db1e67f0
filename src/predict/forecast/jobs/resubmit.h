/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sees to it that there is always one job of a name in the queue (WAN-11): sites forbid jobs as
 * long as a campaign. Steps, without a clock and without sleeping: the caller tells the time and
 * waits. What is in the queue counts, not what was submitted: started again, it finds the job that
 * is there and hands in no second one. While the queue cannot be asked nothing is handed in.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_RESUBMIT_H
#define SLUICE_PREDICT_FORECAST_JOBS_RESUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "predict/forecast/jobs/batch.h"

enum resubmit_event {
	RESUBMIT_WAIT,	    /* the job is there: look again later */
	RESUBMIT_FOUND,	    /* one is there that was not handed in by us */
	RESUBMIT_SUBMITTED, /* id is the new one's */
	RESUBMIT_ENDED,	    /* id is no longer there */
	RESUBMIT_SHORT,	    /* the same, but so soon that something must be wrong */
	RESUBMIT_REFUSED,   /* it was not taken; err has why. Try again later */
	RESUBMIT_UNKNOWN,   /* the queue cannot be asked; err has why. Try again later */
	RESUBMIT_DONE,	    /* as many as were wanted have ended */
	RESUBMIT_GIVEN_UP,  /* too many in a row were refused or short */
};
#define RESUBMIT_WORDS "wait|found|submitted|ended|short|refused|unknown|done|given-up"

struct resubmit {
	const struct batch_system *system;
	struct batch_job job;
	uint64_t times;	   /* how many to hand in; UINT64_MAX: no end */
	uint64_t failures; /* so many refused or short ones in a row are too many */
	double shortest_s; /* a job is over sooner after it was handed in: short */

	/* Its own. */
	char id[BATCH_ID]; /* of the job that is watched, or the last one */
	double since_s;	   /* when it was handed in, or found */
	bool is_there, is_ours;
	bool is_short;		    /* the last failure was a short job, not a refusal */
	uint64_t submitted, failed; /* failed: in a row */
};

/* Until RESUBMIT_WAIT, _REFUSED or _UNKNOWN come, another step may be made at once. */
enum resubmit_event resubmit_step(struct resubmit *resubmit, double now_s, struct err *err);

#endif
