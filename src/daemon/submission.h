/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The submission: takes complete traces that `sluice run` offers (FRAME_TRACE), copies them to the
 * traces of the daemon, and keeps these within their limits (daemon/retention.h). One thread.
 *
 * A trace may be in a file system that blocks, even one that its user serves. So a child process
 * copies it, which is killed when it makes no progress; at most one copy per user and four in total
 * are made at a time. The keeper holds what waits, so nothing is lost if the worker is killed.
 */
#ifndef SLUICE_DAEMON_SUBMISSION_H
#define SLUICE_DAEMON_SUBMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/handover.h"
#include "daemon/client.h"
#include "daemon/retention.h"

struct about;
struct err;
struct kept;
struct submission;

/* A trace that was copied. Texts are valid during the call. */
struct submitted {
	const char *trace;
	uid_t user;
	const struct about *about; /* as the client says */
};

struct submission_options {
	const char *traces; /* directory */
	int channel;	    /* to the keeper */
	bool has_database;  /* otherwise runs of which only sums are kept are dropped */
	int64_t stall_ns;   /* a copy without progress for so long is given up; 0: 60 s */
	struct retention_limits limits;
	/* A trace was copied; called by the thread. */
	void (*on_trace)(void *arg, const struct submitted *submitted);
	void *arg;
	void (*tell)(const char *sentence);
};

struct submission_counts {
	uint64_t waiting; /* now, including those that are being copied */
	uint64_t taken;	  /* copies that were made */
	uint64_t failed;  /* unreadable, too large, or not a trace */
	struct retention_totals retention;
};

int submission_start(struct submission **submission, const struct submission_options *options,
		     struct err *err);

/* Takes a frame TRACE and the descriptor of the client. Never waits. 0 or -1 - enum refusal. */
int submission_offer(struct submission *submission, struct client *client,
		     const struct frame *frame);

/* Takes what an earlier worker had received; false if it is not a trace, and was not taken. */
bool submission_take_kept(struct submission *submission, const struct kept *kept);

struct submission_counts submission_counts(struct submission *submission);

/* Stops within a moment; copies that are not complete are made by the next worker. */
void submission_stop(struct submission *submission);

#endif
