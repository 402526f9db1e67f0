/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-11.
 */
#include "predict/forecast/jobs/resubmit.h"

#include <string.h>

#include "base/err.h"

static void set_current_job(struct resubmit *resubmit, const char *id, double now_s, bool is_ours)
{
	memcpy(resubmit->id, id, sizeof(resubmit->id));
	resubmit->since_s = now_s;
	resubmit->is_there = true;
	resubmit->is_ours = is_ours;
}

static enum resubmit_event handle_end(struct resubmit *resubmit, double now_s)
{
	resubmit->is_there = false;
	/* The submission time of a job that was found is unknown. */
	if (resubmit->is_ours && now_s - resubmit->since_s < resubmit->shortest_s) {
		resubmit->failed++;
		resubmit->is_short = true;
		return RESUBMIT_SHORT;
	}
	resubmit->failed = 0;
	return RESUBMIT_ENDED;
}

static enum resubmit_event submit_job(struct resubmit *resubmit, double now_s, struct err *err)
{
	char id[BATCH_ID];

	if (resubmit->failed >= resubmit->failures)
		return RESUBMIT_GIVEN_UP;
	if (resubmit->submitted >= resubmit->times)
		return RESUBMIT_DONE;
	if (batch_submit(resubmit->system, &resubmit->job, id, err) < 0) {
		resubmit->failed++;
		resubmit->is_short = false;
		return resubmit->failed >= resubmit->failures ? RESUBMIT_GIVEN_UP
							      : RESUBMIT_REFUSED;
	}
	resubmit->submitted++;
	set_current_job(resubmit, id, now_s, true);
	return RESUBMIT_SUBMITTED;
}

enum resubmit_event resubmit_step(struct resubmit *resubmit, double now_s, struct err *err)
{
	char id[BATCH_ID];

	if (batch_find(resubmit->system, &resubmit->job, id, err) < 0)
		return RESUBMIT_UNKNOWN;
	if (!*id)
		return resubmit->is_there ? handle_end(resubmit, now_s)
					  : submit_job(resubmit, now_s, err);
	if (resubmit->is_there && strcmp(id, resubmit->id) == 0)
		return RESUBMIT_WAIT;
	/* PBS prints ids with or without the name of the server. */
	if (resubmit->is_there && strcspn(id, ".") == strcspn(resubmit->id, ".") &&
	    strncmp(id, resubmit->id, strcspn(id, ".")) == 0)
		return RESUBMIT_WAIT;
	set_current_job(resubmit, id, now_s, false);
	return RESUBMIT_FOUND;
}
