/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/aggregates.h"

#define CALL_FIELDS                      \
	{                                \
		FIELD_SIZE, FIELD_OFFSET \
	}

static const struct call_info calls[IMPORT_CALLS] = {
	[IMPORT_NONE] = { "none", LAYER_POSIX, CLASS_PROCESS, FAILS_NEVER, 0, { 0 } },
	[IMPORT_POSIX_READ] = { "posix_read", LAYER_POSIX, CLASS_READ, FAILS_MINUS_ERRNO, 2,
				CALL_FIELDS },
	[IMPORT_POSIX_WRITE] = { "posix_write", LAYER_POSIX, CLASS_WRITE, FAILS_MINUS_ERRNO, 2,
				 CALL_FIELDS },
	[IMPORT_MPIIO_READ] = { "mpiio_read", LAYER_MPI, CLASS_READ, FAILS_NEGATIVE, 2,
				CALL_FIELDS },
	[IMPORT_MPIIO_WRITE] = { "mpiio_write", LAYER_MPI, CLASS_WRITE, FAILS_NEGATIVE, 2,
				 CALL_FIELDS },
};

void import_init(struct import *import, struct trace_head *head)
{
	*import = (struct import){ .group = -1, .log.fd = -1 };
	head_init(&import->builder, head);
}

static void free_values(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->entries[i].value);
	map_release(map);
}

void import_release(struct import *import)
{
	darshan_log_close(&import->log);
	map_release(&import->processes);
	map_release(&import->files);
	free_values(&import->coverage[0]);
	free_values(&import->coverage[1]);
	free_values(&import->others);
}

static void add_calls(struct import *import)
{
	for (size_t i = 0; i < IMPORT_CALLS; i++) {
		union fact_row row = { .call = call_row_make(&calls[i], i) };

		head_add(&import->builder, &fact_call, &row, NULL);
	}
}

static uint32_t add_process(struct import *import, int32_t rank, int32_t ranks)
{
	const struct darshan_job *job = &import->log.job;
	uint32_t index = (uint32_t)import->builder.head->process_count;
	union fact_row row = { .process = { .index = index,
					    .parent = -1,
					    .first_thread = 1,
					    .pid = -1,
					    .ppid = -1,
					    .rank = rank,
					    .ranks = ranks,
					    .command = xstrdup(job->command) } };
	size_t program = strcspn(job->command, " ");

	row.process.program = xstrndup(job->command, program);
	head_add(&import->builder, &fact_process, &row, NULL);
	return index;
}

static void add_processes(struct import *import)
{
	int64_t count = import->log.job.processes;

	if (count == 1) {
		add_process(import, -1, 0);
		return;
	}
	for (int64_t rank = 0; rank < count && count <= IMPORT_RANKS_MAX; rank++)
		add_process(import, (int32_t)rank, (int32_t)count);
}

uint32_t import_process(struct import *import, int64_t rank)
{
	int64_t count = import->log.job.processes;
	void *known;

	if (count == 1)
		return 0;
	if (rank < 0 || rank >= count) {
		if (import->group < 0 && !import->is_sealed)
			import->group = add_process(import, -1, (int32_t)count);
		return import->group < 0 ? 0 : (uint32_t)import->group;
	}
	if (count <= IMPORT_RANKS_MAX)
		return (uint32_t)rank;
	known = map_get(&import->processes, 1 + (uint64_t)rank);
	if (!known && import->is_sealed)
		return 0;
	if (!known) {
		uintptr_t index = add_process(import, (int32_t)rank, (int32_t)count);

		known = (void *)(index + 1);
		map_put(&import->processes, 1 + (uint64_t)rank, known);
	}
	return (uint32_t)((uintptr_t)known - 1);
}

file_id import_path(struct import *import, uint64_t id, const char *path, size_t n)
{
	void *known = id ? map_get(&import->files, id) : NULL;
	union fact_row row;

	if (known || !id || !path || import->is_sealed)
		return (file_id)(uintptr_t)known;
	row.file =
		(struct file_row){ (uint32_t)import->builder.head->file_count, xstrndup(path, n) };
	known = (void *)(uintptr_t)row.file.id;
	head_add(&import->builder, &fact_file, &row, NULL);
	map_put(&import->files, id, known);
	return (file_id)(uintptr_t)known;
}

file_id import_file(struct import *import, uint64_t id)
{
	const char *path = darshan_log_name(&import->log, id);

	return path ? import_path(import, id, path, strlen(path)) : 0;
}

/* A log has no id of its own; its first bytes tell it apart from others. */
static char *make_uuid(const struct darshan_log *log)
{
	char bytes[4096];
	ssize_t n = pread(log->fd, bytes, sizeof(bytes), 0);
	size_t used = n > 0 ? (size_t)n : 0;

	return xprintf("%016" PRIx64 "%016" PRIx64, (uint64_t)XXH64(bytes, used, 0),
		       (uint64_t)XXH64(bytes, used, log->bytes));
}

int import_job(struct import *import, struct err *err)
{
	const struct darshan_job *job = &import->log.job;
	union fact_row run = { .run = { .uuid = make_uuid(&import->log),
					.command = xstrdup(job->command),
					.user = xprintf("%" PRId64, job->user),
					.version = xprintf("Darshan %s",
							   *job->library ? job->library
									 : "of unknown version"),
					.started_ns = job->start_ns } };
	int r = head_add(&import->builder, &fact_run, &run, err);

	add_calls(import);
	add_processes(import);
	return r;
}

static void push_usage(struct import *import, const struct usage *usage, unsigned layer)
{
	struct head_builder *b = &import->builder;
	struct usage *row;

	b->head->usages =
		xgrow(b->head->usages, &b->usage_cap, b->head->usage_count + 1, sizeof(*row));
	row = &b->head->usages[b->head->usage_count++];
	*row = *usage;
	row->layer = xstrdup(layer_name(layer));
}

/* Adds what can be added; the rest describes one file only. */
static void fold_usage(struct import *import, const struct usage *usage, unsigned layer)
{
	struct usage *sum = map_get(&import->others, layer + 1);

	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		sum->process = import_process(import, DARSHAN_SHARED);
		sum->value[USAGE_FASTEST_RANK] = sum->value[USAGE_SLOWEST_RANK] = -1;
		map_put(&import->others, layer + 1, sum);
	}
	for (unsigned i = 0; i < USAGE_SIZE; i++)
		if (i != USAGE_ALIGNMENT_BYTES &&
		    __builtin_add_overflow(sum->value[i], usage->value[i], &sum->value[i]))
			sum->value[i] = (int64_t)HEAD_COUNT_MAX;
}

void import_usage(struct import *import, const struct usage *usage, unsigned layer)
{
	if (import->builder.head->usage_count < IMPORT_ROWS_MAX)
		push_usage(import, usage, layer);
	else
		fold_usage(import, usage, layer);
}

void import_note(struct import *import, const char *kind, const char *name, const char *format, ...)
{
	union fact_row row = { .note = { .time_ns = -1,
					 .process = -1,
					 .source = xstrdup("darshan"),
					 .kind = xstrdup(kind),
					 .name = xstrdup(name) } };
	va_list ap;

	va_start(ap, format);
	row.note.value = xvprintf(format, ap);
	va_end(ap);
	head_add(&import->builder, &fact_note, &row, NULL);
}

void import_damaged(struct import *import, enum darshan_module module, const struct err *err)
{
	import->builder.head->damaged_blocks++;
	import_note(import, NOTE_DEGRADED, NOTE_WARNING,
		    "the records of module %s are incomplete: %s", darshan_module_name(module),
		    err->text);
}

static void set_end(struct import *import)
{
	const struct darshan_job *job = &import->log.job;
	struct run_end *end = &import->builder.head->end;
	int64_t run_ns = job->end_ns - job->start_ns;

	/* Without nanoseconds, the end is in any part of its second. */
	if (!job->has_nanoseconds)
		run_ns += NS_PER_S;
	if (run_ns < import->last_ns)
		run_ns = import->last_ns;
	end->duration_ns = run_ns > 0 ? run_ns : 0;
	end->exit_status = -1;
	end->complete = true;
}

void import_finish(struct import *import)
{
	for (size_t i = 0; i < import->others.cap; i++)
		if (import->others.entries[i].key)
			push_usage(import, import->others.entries[i].value,
				   (unsigned)import->others.entries[i].key - 1);
	if (import->others.count)
		import_note(import, NOTE_DEGRADED, NOTE_WARNING,
			    "the log has more than %u records; the others are shown as one file "
			    "per layer",
			    IMPORT_ROWS_MAX);
	aggregates_make(import);
	set_end(import);
	head_finish(&import->builder);
	import->is_sealed = true;
}
