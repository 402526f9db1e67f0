/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/learn_hints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/plugin.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "observe/plugins/history.h"
#include "site/file_places.h"
#include "site/site_internal.h"
#include "trace/format.h"

#define BATCH 4096

/* The host of the plug-in. */
struct lesson {
	struct sluice_host host;
	const struct config *config;
	const struct trace_head *head;
	const struct file_places *places;
	const char *database, *uuid, *owner;
	struct sluice_process process; /* that was asked for last */
	int64_t now_ns;
	struct err *err; /* what the plug-in warns of */
};

static const char *find_option(void *self, const char *key)
{
	const struct lesson *lesson = self;

	if (!strcmp(key, "store"))
		return lesson->database;
	return config_extra(lesson->config, "plugin.history", key);
}

static const struct call_info *find_call(void *self, uint32_t number)
{
	const struct lesson *lesson = self;

	return number < lesson->head->call_count ? &lesson->head->calls[number] : NULL;
}

static const char *find_file(void *self, file_id id)
{
	const struct lesson *lesson = self;

	return id < lesson->head->file_count ? lesson->head->files[id] : NULL;
}

static const char *find_filesystem(void *self, file_id id)
{
	const struct file_places *places = ((const struct lesson *)self)->places;

	return places->names[id < places->file_count ? places->of[id] : 0];
}

static const struct sluice_process *find_process(void *self, uint32_t index)
{
	struct lesson *lesson = self;
	const struct process_info *p;

	if (index >= lesson->head->process_count)
		return NULL;
	p = &lesson->head->processes[index];
	lesson->process = (struct sluice_process){ index,   p->pid,	p->rank,   p->parent,
						   p->host, p->program, p->command };
	return &lesson->process;
}

static const char *find_user(void *self)
{
	return ((const struct lesson *)self)->owner;
}

static const char *find_run(void *self)
{
	return ((const struct lesson *)self)->uuid;
}

static int64_t find_now(void *self)
{
	return ((const struct lesson *)self)->now_ns;
}

/* The report of the plug-in is of no use here. */
static void ignore_number(void *self, int32_t process, const char *group, const char *field,
			  double value)
{
	(void)self, (void)process, (void)group, (void)field, (void)value;
}

static void ignore_text(void *self, int32_t process, const char *group, const char *field,
			const char *value)
{
	(void)self, (void)process, (void)group, (void)field, (void)value;
}

static void keep_warning(void *self, const char *text)
{
	err_set(((struct lesson *)self)->err, EIO, "%s", text);
}

static bool has_files(const struct trace_head *head)
{
	for (size_t i = 0; i < head->call_count; i++)
		if (!strcmp(head->calls[i].name, "MPI_File_open"))
			return true;
	return false;
}

static int feed(struct lesson *lesson, struct trace *trace, struct err *err)
{
	const struct sluice_async *ops = plugin_history.async;
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	void *state = NULL;
	ssize_t n;
	int r = ops->start(&lesson->host, &state);

	if (r < 0)
		return r;
	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		ops->batch(state, batch, (size_t)n);
		lesson->now_ns = batch[n - 1].start_ns + batch[n - 1].duration_ns;
	}
	/* Ends the transaction that reads, so that the plug-in can write. */
	trace->format->close(trace->reader);
	trace->reader = NULL;
	if (n >= 0)
		ops->report(state);
	ops->stop(state);
	return n < 0 ? (int)n : -err->code;
}

int learn_hints(struct site_db *site, const struct config *config, struct trace *trace,
		const struct file_places *places, const char *uuid, const char *owner,
		struct err *err)
{
	struct lesson lesson = {
		.host = { .bytes = sizeof(lesson.host),
			  .self = &lesson,
			  .option = find_option,
			  .call = find_call,
			  .file = find_file,
			  .process = find_process,
			  .user = find_user,
			  .run = find_run,
			  .now_ns = find_now,
			  .number = ignore_number,
			  .text = ignore_text,
			  .warn = keep_warning,
			  .filesystem = find_filesystem },
		.config = config,
		.head = &trace->head,
		.places = places,
		.database = store_path(site->store),
		.uuid = uuid,
		.owner = owner,
		.err = err,
	};

	return has_files(&trace->head) ? feed(&lesson, trace, err) : 0;
}
