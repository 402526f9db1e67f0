/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace as the host of an asynchronous plug-in: answers questions about calls, files, processes,
 * the user and the run. It has no options and ignores reports.
 */
#ifndef SLUICE_TESTS_TRACE_HOST_H
#define SLUICE_TESTS_TRACE_HOST_H

#include <sluice/plugin.h>

#include "trace/format.h"

struct trace_host {
	struct sluice_host host; /* self points to the trace host, which must not be moved */
	const struct trace_head *head;
	struct sluice_process process; /* the process last asked for */
};

static const struct call_info *host_call(void *self, uint32_t number)
{
	const struct trace_host *trace = self;

	return number < trace->head->call_count ? &trace->head->calls[number] : NULL;
}

static const char *host_file(void *self, file_id id)
{
	const struct trace_host *trace = self;

	return id < trace->head->file_count ? trace->head->files[id] : NULL;
}

static const struct sluice_process *host_process(void *self, uint32_t index)
{
	struct trace_host *trace = self;
	const struct process_info *p;

	if (index >= trace->head->process_count)
		return NULL;
	p = &trace->head->processes[index];
	trace->process = (struct sluice_process){
		.index = index,
		.pid = p->pid,
		.rank = p->rank,
		.parent = p->parent,
		.host = p->host ? p->host : "",
		.program = p->program ? p->program : "",
		.command = p->command ? p->command : "",
	};
	return &trace->process;
}

static const char *host_user(void *self)
{
	const struct trace_host *trace = self;

	return trace->head->run.user ? trace->head->run.user : "";
}

static const char *host_run(void *self)
{
	const struct trace_host *trace = self;

	return trace->head->run.uuid ? trace->head->run.uuid : "";
}

/* head must outlive the trace host. There is nothing to release. */
static void trace_host_init(struct trace_host *trace, const struct trace_head *head)
{
	*trace = (struct trace_host){
		.host = { .bytes = sizeof(struct sluice_host),
			  .self = trace,
			  .call = host_call,
			  .file = host_file,
			  .process = host_process,
			  .user = host_user,
			  .run = host_run },
		.head = head,
	};
}

#endif
