/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recorded trace as the host of an asynchronous plug-in: what looks at activities while the
 * program runs can look at those of a trace afterwards. It answers questions (call, file, process,
 * user, run); it has no options and takes no reports, so that only a plug-in's core is used.
 */
#ifndef SLUICE_OBSERVE_REPORT_REPLAY_H
#define SLUICE_OBSERVE_REPORT_REPLAY_H

#include <sluice/plugin.h>

struct trace_head;

struct replay {
	struct sluice_host host; /* self is the replay: it must not be moved */
	const struct trace_head *head;
	struct sluice_process process; /* the latest that was asked for */
};

/* head must outlive it; there is nothing to release. */
void replay_init(struct replay *replay, const struct trace_head *head);

#endif
