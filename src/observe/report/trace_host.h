/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recorded trace as the host of an asynchronous plug-in, so that code that analyzes a running
 * program can analyze a trace. It answers questions about calls, files, processes, the user and the
 * run. It has no options and ignores reports, so only a plug-in's core is used.
 */
#ifndef SLUICE_OBSERVE_REPORT_TRACE_HOST_H
#define SLUICE_OBSERVE_REPORT_TRACE_HOST_H

#include <sluice/plugin.h>

struct trace_head;

struct trace_host {
	struct sluice_host host; /* self points to the trace host, which must not be moved */
	const struct trace_head *head;
	struct sluice_process process; /* the process last asked for */
};

/* head must outlive the trace host. There is nothing to release. */
void trace_host_init(struct trace_host *trace, const struct trace_head *head);

#endif
