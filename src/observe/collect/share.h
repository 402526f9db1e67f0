/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collector for all that a launcher starts on a node: `mpiexec -n 8 sluice run -- app` is eight
 * times `sluice run`, and one trace. Who comes first starts the collector, in a session of its own
 * and with nothing of the launcher's open, so that it outlives whatever becomes of the ranks. All,
 * the first included, are members while their program runs.
 *
 * They meet in the spool directory, whose name follows from the user and the job. In it, beside
 * control page and spools:
 *
 *	collector         locked by the collector while it lives; its outcome is written there
 *	ready             exists once guests may attach
 *	closed            exists once nobody may join any more
 *	member-RANK-PID   locked by a member while its program runs; says how that ended
 *
 * Locks are flock(2): the kernel gives them back for those who are killed.
 */
#ifndef SLUICE_OBSERVE_COLLECT_SHARE_H
#define SLUICE_OBSERVE_COLLECT_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "observe/collect/collector.h"

struct job;

struct share {
	char *directory;
	int directory_fd; /* stays good for looking when the directory was removed */
	int collector_fd, member_fd;
};

struct share_options {
	const struct job *job;
	const char *spool_dir; /* as in struct collector_options, as is spool_bytes */
	uint64_t spool_bytes;
	bool outlive; /* also processes that outlive our program are waited for */
	/* Called in the collector's own process, which ends when it returns. */
	void (*collect)(const struct share *share, void *arg);
	void *arg;
};

/* What became of the members, as far as it is known. */
struct share_count {
	uint32_t ranks;	 /* distinct ones that have joined */
	uint32_t active; /* their program runs */
	uint32_t killed; /* gone without telling how the program ended */
	bool outlive;	 /* one of them asked for it */
	int code;	 /* exit code of the lowest rank that has one other than 0; -1: not known */
};

/* What the collector has to tell to the last member. */
struct share_outcome {
	struct collector_totals totals;
	struct err err;		      /* err.code 0: all is well */
	char trace[SPOOL_TEXT_BYTES]; /* what was written */
	uint32_t told;		      /* somebody has passed it on */
};

/*
 * Joins the job's collector on this node, starting it if there is none. Waits for it to be ready,
 * but not for long. On failure nothing is left behind and *share is zeroed.
 */
int share_join(struct share *share, const struct share_options *options, struct err *err);

/*
 * Our program has ended. Returns at once while other members are active; else waits until the trace
 * is complete, and is true if it is on us to pass the outcome on. Releases *share.
 */
bool share_leave(struct share *share, int code, struct share_outcome *outcome);

/* For the collector: guests may attach from now on. */
int share_ready(const struct share *share, struct err *err);

/*
 * For the collector: have all members come and gone? `began_ns` is when it started, on
 * clock_monotonic_ns(). Once true nobody can join any more.
 */
bool share_is_over(const struct share *share, const struct job *job,
		   const struct collector *collector, uint64_t began_ns, struct share_count *count);

/* For the collector, as the last thing it does. */
void share_tell(const struct share *share, const struct share_outcome *outcome);

#endif
