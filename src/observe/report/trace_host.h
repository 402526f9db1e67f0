/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recorded trace as the host of an asynchronous plug-in: what looks at activities while the
 * program runs can look at those of a trace afterwards. It answers questions (call, file, process,
 * user, run); it has no options and takes no reports, so that only a plug-in's core is used.
 */
#ifndef SLUICE_OBSERVE_REPORT_TRACE_HOST_H
#define SLUICE_OBSERVE_REPORT_TRACE_HOST_H

#include <sluice/plugin.h>

struct trace_head;

struct trace_host {
	struct sluice_host host; /* self is the trace host: it must not be moved */
	const struct trace_head *head;
	struct sluice_process process; /* the latest that was asked for */
};

/* head must outlive it; there is nothing to release. */
void trace_host_init(struct trace_host *trace, const struct trace_head *head);

#endif
