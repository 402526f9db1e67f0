/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/replay.h"

#include "trace/format.h"

static const struct call_info *call(void *self, uint32_t number)
{
	const struct replay *replay = self;

	return number < replay->head->call_count ? &replay->head->calls[number] : NULL;
}

static const char *file(void *self, file_id id)
{
	const struct replay *replay = self;

	return id < replay->head->file_count ? replay->head->files[id] : NULL;
}

static const struct sluice_process *process(void *self, uint32_t index)
{
	struct replay *replay = self;
	const struct process_info *p;

	if (index >= replay->head->process_count)
		return NULL;
	p = &replay->head->processes[index];
	replay->process = (struct sluice_process){
		.index = index,
		.pid = p->pid,
		.rank = p->rank,
		.parent = p->parent,
		.host = p->host ? p->host : "",
		.program = p->program ? p->program : "",
		.command = p->command ? p->command : "",
	};
	return &replay->process;
}

static const char *user(void *self)
{
	const struct replay *replay = self;

	return replay->head->run.user ? replay->head->run.user : "";
}

static const char *run(void *self)
{
	const struct replay *replay = self;

	return replay->head->run.uuid ? replay->head->run.uuid : "";
}

void replay_init(struct replay *replay, const struct trace_head *head)
{
	*replay = (struct replay){
		.host = { .bytes = sizeof(struct sluice_host),
			  .self = replay,
			  .call = call,
			  .file = file,
			  .process = process,
			  .user = user,
			  .run = run },
		.head = head,
	};
}
