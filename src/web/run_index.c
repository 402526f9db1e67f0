/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/run_index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/report/applied.h"
#include "observe/report/loss.h"
#include "trace/format.h"

struct run_index {
	char *directory;
	pthread_mutex_t lock;
	struct run_row *rows; /* newest first */
	size_t count;
};

static void row_release(struct run_row *row)
{
	free(row->path);
	free(row->error);
	free(row->command);
	free(row->program);
	free(row->host);
	free(row->user);
	free(row->applied);
}

struct run_index *run_index_new(const char *directory)
{
	struct run_index *index = xcalloc(1, sizeof(*index));

	index->directory = xstrdup(directory);
	pthread_mutex_init(&index->lock, NULL);
	return index;
}

void run_index_free(struct run_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->count; i++)
		row_release(&index->rows[i]);
	free(index->rows);
	free(index->directory);
	pthread_mutex_destroy(&index->lock);
	free(index);
}

/* The program of a rank, because the first process of a parallel run is its launcher. */
static const char *main_program(const struct trace_head *head)
{
	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].rank >= 0 && head->processes[i].program)
			return path_base_name(head->processes[i].program);
	return head->process_count ? path_base_name(text_or_empty(head->processes[0].program)) : "";
}

static void read_head(struct run_row *row)
{
	AUTO_BUF struct buf applied = { 0 };
	struct err err = { 0 };
	struct trace trace;
	const struct trace_head *head = &trace.head;

	row->state = "unreadable";
	if (trace_open(&trace, row->path, NULL, &err) < 0) {
		row->error = xstrdup(err.text);
		return;
	}
	row->command = xstrdup(text_or_empty(head->run.command));
	row->program = xstrdup(main_program(head));
	row->host = xstrdup(text_or_empty(head->run.host));
	row->user = xstrdup(text_or_empty(head->run.user));
	row->state = loss_state(head);
	applied_summarize(&applied, head);
	row->applied = xstrdup(buf_text(&applied));
	row->started_ns = head->run.started_ns;
	row->duration_ns = head->end.duration_ns;
	row->exit_status = head->end.exit_status;
	row->activities = head->activities;
	row->processes = head->process_count;
	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].ranks > 0 && (uint64_t)head->processes[i].ranks > row->ranks)
			row->ranks = (uint64_t)head->processes[i].ranks;
	trace_close(&trace);
}

/* The row of the same, unchanged file. */
static struct run_row *find_old(struct run_index *index, const struct run_file *file)
{
	for (size_t i = 0; i < index->count; i++) {
		struct run_row *row = &index->rows[i];

		if (row->path && row->modified_ns == file->modified_ns &&
		    row->bytes == file->bytes && strcmp(row->path, file->path) == 0)
			return row;
	}
	return NULL;
}

static void take_row(struct run_index *index, struct run_row *row, const struct run_file *file)
{
	struct run_row *old = find_old(index, file);

	if (old) {
		*row = *old;
		*old = (struct run_row){ 0 };
	} else {
		row->path = xstrdup(file->path);
		row->modified_ns = file->modified_ns;
		row->bytes = file->bytes;
		read_head(row);
	}
	memcpy(row->id, file->id, sizeof(row->id));
	row->name = path_base_name(row->path);
}

/* Under the lock. */
static int refresh(struct run_index *index, struct err *err)
{
	struct run_row *rows;
	struct runs runs;
	int r = runs_read(&runs, index->directory, err);

	if (r < 0)
		return r;
	rows = xcalloc(runs.count, sizeof(*rows));
	for (size_t i = 0; i < runs.count; i++)
		take_row(index, &rows[i], &runs.list[i]);
	for (size_t i = 0; i < index->count; i++)
		row_release(&index->rows[i]);
	free(index->rows);
	index->rows = rows;
	index->count = runs.count;
	runs_release(&runs);
	return 0;
}

static bool matches(const struct run_row *row, const char *search)
{
	const char *const texts[] = { row->command, row->program, row->host, row->user, row->id };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] && strcasestr(texts[i], search))
			return true;
	return false;
}

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct run_row *x = *(struct run_row *const *)a, *y = *(struct run_row *const *)b;
	const struct run_query *query = arg;
	int order = 0;

	switch (query->order) {
	case RUN_BY_START:
		order = compare_numbers(x->started_ns, y->started_ns);
		break;
	case RUN_BY_DURATION:
		order = compare_numbers(x->duration_ns, y->duration_ns);
		break;
	case RUN_BY_CALLS:
		order = compare_numbers((int64_t)x->activities, (int64_t)y->activities);
		break;
	case RUN_BY_SIZE:
		order = compare_numbers((int64_t)x->bytes, (int64_t)y->bytes);
		break;
	case RUN_BY_COMMAND:
		order = strcmp(text_or_empty(x->command), text_or_empty(y->command));
		break;
	}
	if (!query->ascending)
		order = -order;
	/* The same order each time, so that pages do not overlap. */
	return order ? order : strcmp(x->path, y->path);
}

/* Under the lock. */
static size_t select_rows(struct run_index *index, const struct run_query *query,
			  struct run_row **list)
{
	size_t count = 0;

	for (size_t i = 0; i < index->count; i++)
		if (!*query->search || matches(&index->rows[i], query->search))
			list[count++] = &index->rows[i];
	qsort_r(list, count, sizeof(struct run_row *), compare_rows, (void *)(uintptr_t)query);
	return count;
}

int64_t run_index_list(struct run_index *index, const struct run_query *query, run_visit visit,
		       void *arg, struct err *err)
{
	AUTO_FREE struct run_row **list = NULL;
	size_t count = 0;
	int r;

	pthread_mutex_lock(&index->lock);
	r = refresh(index, err);
	if (r == 0) {
		list = xcalloc(index->count, sizeof(struct run_row *));
		count = select_rows(index, query, list);
		for (size_t i = query->offset; i < count && i - query->offset < query->limit; i++)
			visit(arg, list[i]);
	}
	pthread_mutex_unlock(&index->lock);
	return r < 0 ? r : (int64_t)count;
}
