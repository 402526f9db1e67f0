/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/run_index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/compare/conditions.h"
#include "observe/report/applied.h"
#include "observe/report/loss.h"
#include "trace/format.h"
#include "trace/runs/tags.h"

struct run_index {
	char *directory;
	pthread_mutex_t lock;
	struct run_row *rows; /* newest first */
	size_t count;
	struct map by_path; /* struct run_row by path_key() */
	/* The thread that reads figures. */
	pthread_cond_t changed; /* there may be new rows, or it has to stop */
	pthread_t reader;
	bool has_reader;
	atomic_bool stops;
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
	free(row->uuid);
	free(row->tags);
	free(row->arguments);
	free(row->fingerprint);
	free(row->filesystem);
	free(row->platform);
}

struct run_index *run_index_new(const char *directory)
{
	struct run_index *index = xcalloc(1, sizeof(*index));

	index->directory = xstrdup(directory);
	pthread_mutex_init(&index->lock, NULL);
	pthread_cond_init(&index->changed, NULL);
	return index;
}

static void stop_reader(struct run_index *index)
{
	pthread_mutex_lock(&index->lock);
	atomic_store(&index->stops, true);
	pthread_cond_signal(&index->changed);
	pthread_mutex_unlock(&index->lock);
	if (index->has_reader)
		pthread_join(index->reader, NULL);
}

void run_index_free(struct run_index *index)
{
	if (!index)
		return;
	stop_reader(index);
	for (size_t i = 0; i < index->count; i++)
		row_release(&index->rows[i]);
	free(index->rows);
	map_release(&index->by_path);
	free(index->directory);
	pthread_cond_destroy(&index->changed);
	pthread_mutex_destroy(&index->lock);
	free(index);
}

/* What the ranks run, as the recorder found it; else the program of a rank, because the first
 * process of a parallel run is its launcher. */
static const char *main_program(const struct trace_head *head)
{
	const char *name = conditions_fact(head, PROGRAM_NAME);

	if (name && *name)
		return name;
	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].rank >= 0 && head->processes[i].program)
			return path_base_name(head->processes[i].program);
	return head->process_count ? path_base_name(text_or_empty(head->processes[0].program)) : "";
}

static char *copy_fact(const struct trace_head *head, const char *name)
{
	return xstrndup(text_or_empty(conditions_fact(head, name)), RUN_COMMAND_MAX);
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
	row->command = xstrndup(text_or_empty(head->run.command), RUN_COMMAND_MAX);
	row->program = xstrdup(main_program(head));
	row->host = xstrdup(text_or_empty(head->run.host));
	row->user = xstrdup(text_or_empty(head->run.user));
	row->state = loss_state(head);
	applied_summarize(&applied, head);
	row->applied = xstrdup(buf_text(&applied));
	row->uuid = xstrdup(text_or_empty(head->run.uuid));
	row->arguments = copy_fact(head, PROGRAM_ARGUMENTS);
	row->fingerprint = copy_fact(head, PROGRAM_FINGERPRINT);
	row->filesystem = copy_fact(head, PROGRAM_FILESYSTEM);
	row->platform = copy_fact(head, PROGRAM_PLATFORM);
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

static uint64_t path_key(const char *path)
{
	uint64_t key = XXH64(path, strlen(path), 0);

	return key ? key : 1;
}

/* The row of the same, unchanged file; NULL: there is none. */
static struct run_row *find_row(const struct run_index *index, const char *path,
				int64_t modified_ns, uint64_t bytes)
{
	struct run_row *row = map_get(&index->by_path, path_key(path));

	return row && row->path && row->modified_ns == modified_ns && row->bytes == bytes &&
			       strcmp(row->path, path) == 0
		       ? row
		       : NULL;
}

static void take_row(struct run_index *index, struct run_row *row, const struct run_file *file)
{
	struct run_row *old = find_row(index, file->path, file->modified_ns, file->bytes);

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
	/* They change without the trace. */
	free(row->tags);
	row->tags = row->uuid ? tags_read(row->path, row->uuid) : xstrdup("");
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
	map_release(&index->by_path);
	index->by_path = (struct map){ 0 };
	for (size_t i = 0; i < index->count; i++)
		map_put(&index->by_path, path_key(rows[i].path), &rows[i]);
	runs_release(&runs);
	return 0;
}

/* --- figures --- */

/* Under the lock: the newest run whose figures are missing; NULL: none. */
static const struct run_row *find_unread(const struct run_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		if (!index->rows[i].error && index->rows[i].figures_state == RUN_FIGURES_UNREAD)
			return &index->rows[i];
	return NULL;
}

/* Under the lock, which it leaves while it reads. */
static void read_figures(struct run_index *index, const struct run_row *unread)
{
	AUTO_FREE char *path = xstrdup(unread->path);
	int64_t modified_ns = unread->modified_ns;
	uint64_t bytes = unread->bytes;
	struct run_figures figures = { 0 };
	struct run_row *row;
	int r;

	pthread_mutex_unlock(&index->lock);
	r = run_figures_read(&figures, path, &index->stops, NULL);
	pthread_mutex_lock(&index->lock);
	row = find_row(index, path, modified_ns, bytes);
	if (!row)
		return;
	row->figures_state = r < 0 ? RUN_FIGURES_FAILED : RUN_FIGURES_READ;
	row->figures = figures;
}

static void *run_reader(void *arg)
{
	struct run_index *index = arg;

	pthread_mutex_lock(&index->lock);
	while (!atomic_load(&index->stops)) {
		const struct run_row *unread = find_unread(index);

		if (unread)
			read_figures(index, unread);
		else
			pthread_cond_wait(&index->changed, &index->lock);
	}
	pthread_mutex_unlock(&index->lock);
	return NULL;
}

/* Under the lock. Without a thread, figures stay missing, and are wanted again. */
static void want_figures(struct run_index *index)
{
	if (!index->has_reader)
		index->has_reader = pthread_create(&index->reader, NULL, run_reader, index) == 0;
	else
		pthread_cond_signal(&index->changed);
}

int run_index_visit(struct run_index *index, run_visit visit, void *arg, struct err *err)
{
	int r;

	pthread_mutex_lock(&index->lock);
	r = refresh(index, err);
	for (size_t i = 0; r == 0 && i < index->count; i++)
		visit(arg, &index->rows[i]);
	want_figures(index);
	pthread_mutex_unlock(&index->lock);
	return r;
}

/* --- lists --- */

static bool matches(const struct run_row *row, const char *search)
{
	const char *const texts[] = { row->command, row->program, row->host,
				      row->user,    row->id,	  row->tags };

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
		if ((!*query->search || matches(&index->rows[i], query->search)) &&
		    (!*query->tag || tags_has(index->rows[i].tags, query->tag)))
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
