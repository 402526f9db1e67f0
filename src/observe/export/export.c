/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/trusted.h"
#include "trace/format.h"

#define BATCH 4096 /* activities */

const struct export_format *const export_formats[] = { &export_parquet, &export_perfetto,
						       &export_folded, &export_csv, NULL };

/* The path without slashes at its end, which the name of a directory may have. */
static char *trim_path(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

const struct export_format *export_format_by_suffix(const char *path)
{
	AUTO_FREE char *name = trim_path(path);

	for (size_t i = 0; export_formats[i]; i++)
		if (text_ends_with(name, export_formats[i]->suffix))
			return export_formats[i];
	return NULL;
}

static int read_trace(const struct export_job *job, struct trace *trace, unsigned pass,
		      unsigned passes, export_add *add, void *arg, struct err *err)
{
	AUTO_FREE struct activity *batch = xmalloc(BATCH * sizeof(*batch));
	uint64_t read = 0, all = trace->head.activities;
	ssize_t n = 0;
	int r = 0;

	while (!r && (n = trace_next(trace, batch, BATCH, err)) > 0) {
		read += (uint64_t)n;
		r = add(arg, batch, (size_t)n, err);
		if (!r)
			r = trace_watch_show(job->options->watch, pass * all + read, passes * all,
					     err);
	}
	job->totals->activities = read;
	return n < 0 ? (int)n : r;
}

int export_read(const struct export_job *job, export_add *add, void *arg, struct err *err)
{
	return read_trace(job, job->trace, 0, 1, add, arg, err);
}

/* Numbers of names and processes must mean the same in all passes. */
static bool is_unchanged(const struct trace_head *a, const struct trace_head *b)
{
	return a->process_count == b->process_count && a->file_count == b->file_count &&
	       a->call_count == b->call_count && a->activities == b->activities &&
	       text_equal(a->run.uuid, b->run.uuid);
}

int export_read_pass(const struct export_job *job, unsigned pass, unsigned passes, export_add *add,
		     void *arg, struct err *err)
{
	struct trace trace;
	int r;

	if (!pass)
		return read_trace(job, job->trace, 0, passes, add, arg, err);
	r = trace_open(&trace, job->path, job->filter, err);
	if (r < 0)
		return r;
	if (is_unchanged(&trace.head, &job->trace->head))
		r = read_trace(job, &trace, pass, passes, add, arg, err);
	else
		r = err_set(err, EBUSY, "%s: has changed while it was read", job->path);
	trace_close(&trace);
	return r;
}

static int check_output(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return 0;
	return err_set(err, EEXIST,
		       "%s: exists and is not replaced; remove it or choose another name", path);
}

/* Flushes the stream and reports what could not be written. */
static int finish_stream(FILE *out, const char *path, struct err *err)
{
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return err_set(err, errno, "%s: cannot write: %s", path, strerror(errno));
}

static int write_stream(const struct export_job *job, const struct export_format *format, FILE *out,
			const char *path, struct err *err)
{
	int r = format->write(job, out, err);

	if (!r)
		r = finish_stream(out, path, err);
	if (!r && ftello(out) > 0)
		job->totals->bytes = (uint64_t)ftello(out);
	job->totals->files = 1;
	return r;
}

static int write_file(const struct export_job *job, const struct export_format *format,
		      const char *path, struct err *err)
{
	struct file_draft draft = { 0 };
	AUTO_FCLOSE FILE *out = NULL;
	int fd, r;

	file_draft_init(&draft, path);
	fd = trusted_create_file(AT_FDCWD, draft.temporary, err);
	if (fd < 0) {
		free(draft.temporary); /* not ours to remove */
		draft.temporary = NULL;
		file_draft_discard(&draft);
		return fd;
	}
	out = fdopen(fd, "w");
	r = write_stream(job, format, out, path, err);
	if (!r)
		return file_draft_commit_new(&draft, err);
	file_draft_discard(&draft);
	return r;
}

static int fill_directory(const struct export_job *job, const struct export_format *format,
			  const char *path, struct err *err)
{
	struct file_draft draft = { 0 };
	int r;

	file_draft_init(&draft, path);
	r = mkdir(draft.temporary, TRUSTED_DIRECTORY_MODE) == 0 ? 0 : -errno;
	if (r < 0) {
		err_set(err, -r, "%s: cannot create: %s", draft.temporary, strerror(-r));
	} else {
		r = format->fill(job, draft.temporary, err);
		if (!r && (r = file_rename_new(draft.temporary, path)) < 0)
			err_set(err, -r, "%s: cannot create: %s", path, strerror(-r));
		if (r < 0)
			file_remove_tree(draft.temporary);
	}
	free(draft.temporary);
	free(draft.path);
	return r;
}

int export_trace(const struct export_job *job, const struct export_format *format, const char *path,
		 struct err *err)
{
	AUTO_FREE char *name = trim_path(path);
	int r;

	*job->totals = (struct export_totals){ 0 };
	if (strcmp(path, "-") == 0 && format->write)
		return write_stream(job, format, stdout, "standard output", err);
	r = check_output(name, err);
	if (r < 0)
		return r;
	return format->write ? write_file(job, format, path, err)
			     : fill_directory(job, format, name, err);
}
