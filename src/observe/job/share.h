/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collector for all processes that a launcher starts on a node: `mpiexec -n 8 sluice run --
 * app` runs `sluice run` eight times and writes one trace. The first process starts the collector
 * in its own session and without open files of the launcher, so that it survives the ranks. All
 * processes, including the first, are members while their program runs.
 *
 * They meet in the spool directory, whose name is derived from the user and the job. Next to the
 * control page and the spools it contains:
 *
 *   collector         locked by the collector while it lives; receives its outcome
 *   ready             exists once guests may attach
 *   closed            exists once no member may join any more
 *   member-RANK-PID   locked by a member while its program runs; receives its exit code
 *
 * The locks are flock(2) locks, which the kernel releases when a process is killed.
 */
#ifndef SLUICE_OBSERVE_JOB_SHARE_H
#define SLUICE_OBSERVE_JOB_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "observe/collect/collector.h"

struct job;

struct share {
	char *directory;
	int directory_fd; /* stays usable after the directory was removed */
	int collector_fd, member_fd;
};

struct share_options {
	const struct job *job;
	const char *spool_dir; /* as in struct collector_options, like spool_bytes */
	uint64_t spool_bytes;
	bool outlive; /* also wait for processes that outlive the program */
	/* Runs in the collector's process, which exits when it returns. */
	void (*collect)(const struct share *share, void *arg);
	void *arg;
};

/* State of the members, as far as it is known. */
struct share_count {
	uint32_t ranks;	 /* distinct ranks that have joined */
	uint32_t active; /* members whose program runs */
	uint32_t killed; /* members that vanished without an exit code */
	bool outlive;	 /* at least one member requested it */
	int code;	 /* exit code of the lowest rank whose code is not 0; -1: unknown */
};

/* Outcome that the collector passes to the last member. */
struct share_outcome {
	struct collector_totals totals;
	struct err err;		      /* err.code 0: success */
	char trace[SPOOL_TEXT_BYTES]; /* path of the written trace */
	uint32_t told;		      /* a member has shown it to the user */
};

/*
 * Joins the job's collector on this node, and starts it if there is none. Waits a bounded time
 * until it is ready. On failure nothing is left behind and *share is zeroed.
 */
int share_join(struct share *share, const struct share_options *options, struct err *err);

/*
 * Leaves after the program has ended. Returns false at once while other members are active;
 * otherwise waits until the trace is complete, and returns true if this member must show the
 * outcome to the user. Releases *share.
 */
bool share_leave(struct share *share, int code, struct share_outcome *outcome);

/* Collector: guests may attach from now on. */
int share_ready(const struct share *share, struct err *err);

/*
 * Collector: have all members come and gone? `began_ns` is when it started, on
 * clock_monotonic_ns(). Once it returns true, no member can join any more.
 */
bool share_is_over(const struct share *share, const struct job *job, struct collector *collector,
		   uint64_t began_ns, struct share_count *count);

/* Collector: writes the outcome, as its last action. */
void share_publish(const struct share *share, const struct share_outcome *outcome);

#endif
