/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs/resubmit.h"

#include <string.h>

#include "base/err.h"

static void watch(struct resubmit *resubmit, const char *id, double now_s, bool is_ours)
{
	memcpy(resubmit->id, id, sizeof(resubmit->id));
	resubmit->since_s = now_s;
	resubmit->is_there = true;
	resubmit->is_ours = is_ours;
}

static enum resubmit_event ended(struct resubmit *resubmit, double now_s)
{
	resubmit->is_there = false;
	/* Of one that was found nobody knows when it began. */
	if (resubmit->is_ours && now_s - resubmit->since_s < resubmit->shortest_s) {
		resubmit->failed++;
		resubmit->is_short = true;
		return RESUBMIT_SHORT;
	}
	resubmit->failed = 0;
	return RESUBMIT_ENDED;
}

static enum resubmit_event submit(struct resubmit *resubmit, double now_s, struct err *err)
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
	watch(resubmit, id, now_s, true);
	return RESUBMIT_SUBMITTED;
}

enum resubmit_event resubmit_step(struct resubmit *resubmit, double now_s, struct err *err)
{
	char id[BATCH_ID];

	if (batch_find(resubmit->system, &resubmit->job, id, err) < 0)
		return RESUBMIT_UNKNOWN;
	if (!*id)
		return resubmit->is_there ? ended(resubmit, now_s) : submit(resubmit, now_s, err);
	if (resubmit->is_there && strcmp(id, resubmit->id) == 0)
		return RESUBMIT_WAIT;
	/* PBS adds a server to an id, or leaves it out. */
	if (resubmit->is_there && strcspn(id, ".") == strcspn(resubmit->id, ".") &&
	    strncmp(id, resubmit->id, strcspn(id, ".")) == 0)
		return RESUBMIT_WAIT;
	watch(resubmit, id, now_s, false);
	return RESUBMIT_FOUND;
}
