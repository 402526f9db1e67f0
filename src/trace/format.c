/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces of any form: the list of forms, opening, filtering and conversion.
 */
#include "trace/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/facts.h"
#include "trace/head.h"

#define RECOGNIZE_BYTES 64 /* of the start of a file; enough for every form */
#define CONVERT_BATCH 4096 /* activities */

const struct trace_format *const trace_formats[] = { &trace_container, &trace_text, &trace_sqlite,
						     NULL };
const struct trace_format *const trace_imports[] = { &trace_darshan, NULL };

const struct trace_format *trace_format_by_name(const char *name)
{
	for (size_t i = 0; trace_formats[i]; i++)
		if (!strcmp(trace_formats[i]->name, name))
			return trace_formats[i];
	return NULL;
}

const struct trace_format *trace_format_by_suffix(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; trace_formats[i]; i++) {
		size_t suffix = strlen(trace_formats[i]->suffix);

		if (n > suffix && strcmp(path + n - suffix, trace_formats[i]->suffix) == 0)
			return trace_formats[i];
	}
	return NULL;
}

static const struct trace_format *find_recognized(const struct trace_format *const *list,
						  const unsigned char *head, size_t n)
{
	while (*list && !(*list)->recognize(head, n))
		list++;
	return *list;
}

static int recognize_format(const char *path, const struct trace_format **format, struct err *err)
{
	AUTO_CLOSE int fd = file_open(path, err);
	unsigned char head[RECOGNIZE_BYTES];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, head, sizeof(head));
	if (n < 0)
		return err_set(err, errno, "%s: cannot read: %s", path, strerror(errno));
	if (!n)
		return err_set(err, EINVAL, "%s: not a Sluice trace: the file is empty", path);
	*format = find_recognized(trace_formats, head, (size_t)n);
	if (!*format)
		*format = find_recognized(trace_imports, head, (size_t)n);
	if (!*format)
		return err_set(err, EINVAL, "%s: not a Sluice trace", path);
	return 0;
}

/* Adds a duration to the sum of all. False if it would overflow. */
static bool add_duration(struct trace *trace, int64_t ns)
{
	return !__builtin_add_overflow(trace->sum_ns, llabs(ns), &trace->sum_ns);
}

/* The times of usages are those of aggregates once more. */
static int check_aggregates(struct trace *trace, const char *path, struct err *err)
{
	struct trace counted = { 0 };

	for (size_t i = 0; i < trace->head.aggregate_count; i++)
		if (!add_duration(trace, trace->head.aggregates[i].duration_ns))
			return err_set(err, EBADMSG, "%s: the times of aggregates are out of range",
				       path);
	for (size_t i = 0; i < trace->head.usage_count; i++)
		for (unsigned j = USAGE_READ_NS; j <= USAGE_METADATA_NS; j++)
			if (trace->head.usages[i].value[j] < 0 ||
			    !add_duration(&counted, trace->head.usages[i].value[j]))
				return err_set(err, EBADMSG,
					       "%s: the times of usages are out of range", path);
	return 0;
}

/* The filter of the reader. The calls that a collective call caused are found by their parents, so
 * no block may be skipped. */
static const struct trace_filter *reader_filter(const struct trace_filter *filter)
{
	return filter && !filter->collective ? filter : NULL;
}

static void prepare_filter(struct trace *trace, const struct trace_filter *filter)
{
	if (!filter)
		return;
	trace->filter = *filter;
	trace->filter.file = NULL; /* the caller's string may be freed */
	if (filter->file)
		trace->file_match = head_match_files(&trace->head, filter->file);
	if (filter->collective)
		trace->involved = xcalloc(trace->head.process_count, sizeof(*trace->involved));
}

int trace_open(struct trace *trace, const char *path, const struct trace_filter *filter,
	       struct err *err)
{
	int r;

	*trace = (struct trace){ 0 };
	r = recognize_format(path, &trace->format, err);
	if (!r)
		r = trace->format->open(&trace->reader, path, reader_filter(filter), &trace->head,
					err);
	if (!r)
		r = check_aggregates(trace, path, err);
	if (r < 0) {
		if (trace->reader)
			trace->format->close(trace->reader);
		head_release(&trace->head);
		*trace = (struct trace){ 0 };
		return r;
	}
	trace->path = xstrdup(path);
	trace->head.format = trace->format->name;
	prepare_filter(trace, filter);
	return 0;
}

int trace_reopen(struct trace *trace, const struct trace *first, const char *path,
		 const struct trace_filter *filter, struct err *err)
{
	int r;

	if (!first->format->reopen)
		return trace_open(trace, path, filter, err);
	*trace = (struct trace){ .format = first->format,
				 .head = first->head,
				 .sum_ns = first->sum_ns,
				 .is_borrowed = true };
	r = first->format->reopen(&trace->reader, first->reader, reader_filter(filter),
				  &trace->head, err);
	if (r < 0)
		*trace = (struct trace){ 0 };
	else
		prepare_filter(trace, filter);
	return r;
}

void trace_close(struct trace *trace)
{
	if (trace->reader)
		trace->format->close(trace->reader);
	for (size_t i = 0; trace->involved && i < trace->head.process_count; i++)
		map_release(&trace->involved[i]);
	free(trace->involved);
	if (!trace->is_borrowed)
		head_release(&trace->head);
	free(trace->file_match);
	free(trace->path);
	*trace = (struct trace){ 0 };
}

/* Must be called once for each activity, in order: a parent starts before the calls it causes. */
static bool is_involved(struct trace *trace, const struct activity *a)
{
	struct map *ids = &trace->involved[a->process];

	if (a->collective != trace->filter.collective && (!a->parent || !map_get(ids, a->parent)))
		return false;
	if (a->id)
		map_put(ids, a->id, ids);
	return true;
}

static bool passes_filter(struct trace *trace, const struct activity *a)
{
	const struct trace_filter *filter = &trace->filter;

	if (trace->involved && !is_involved(trace, a))
		return false;
	return a->start_ns >= filter->from_ns && (!filter->to_ns || a->start_ns < filter->to_ns) &&
	       (!filter->layers || filter->layers >> a->layer & 1) &&
	       (!filter->process || a->process == (uint32_t)filter->process - 1) &&
	       (!filter->rank || trace->head.processes[a->process].rank == filter->rank - 1) &&
	       (!trace->file_match || trace->file_match[a->file] || trace->file_match[a->file2]) &&
	       a->duration_ns >= filter->min_duration_ns;
}

static bool is_time(int64_t ns)
{
	return ns >= -ACTIVITY_TIME_MAX && ns <= ACTIVITY_TIME_MAX;
}

/* False if a time, or the sum of durations, is one that no run can have. */
static bool check_times(struct trace *trace, const struct activity *batch, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_time(batch[i].start_ns) || !is_time(batch[i].duration_ns) ||
		    !add_duration(trace, batch[i].duration_ns))
			return false;
	return true;
}

static bool filter_is_empty(const struct trace *trace)
{
	const struct trace_filter *f = &trace->filter;

	return !f->from_ns && !f->to_ns && !f->layers && !f->process && !f->rank &&
	       !trace->file_match && !f->min_duration_ns && !f->collective;
}

ssize_t trace_next(struct trace *trace, struct activity *batch, size_t cap, struct err *err)
{
	bool all = filter_is_empty(trace);
	size_t kept = 0;

	while (!kept && cap) {
		ssize_t n = trace->format->next(trace->reader, batch, cap, err);

		if (n > 0 && !check_times(trace, batch, (size_t)n))
			return err_set(err, EBADMSG, "the times of an activity are out of range");
		if (n <= 0 || all)
			return n;
		for (ssize_t i = 0; i < n; i++)
			if (passes_filter(trace, &batch[i]))
				batch[kept++] = batch[i];
	}
	return (ssize_t)kept;
}

uint32_t trace_find_owner(const struct trace_head *head, uint32_t process, uint64_t id)
{
	uint32_t thread = id_thread(id);

	/* The index of a parent is smaller than that of its child, so the loop ends. */
	while (process < head->process_count && thread < head->processes[process].first_thread &&
	       head->processes[process].parent >= 0)
		process = (uint32_t)head->processes[process].parent;
	return process;
}

int trace_copy_notes(const struct trace_head *head, const struct trace_format *form, void *writer,
		     struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < head->statistic_count && !r; i++)
		r = form->add_fact(writer, &fact_statistic, &head->statistics[i], err);
	for (size_t i = 0; i < head->sample_count && !r; i++)
		r = form->add_fact(writer, &fact_sample, &head->samples[i], err);
	for (size_t i = 0; i < head->note_count && !r; i++)
		r = form->add_fact(writer, &fact_note, &head->notes[i], err);
	return r;
}

static int convert_facts(struct trace *trace, const struct trace_format *form, void *writer,
			 struct err *err)
{
	const struct trace_head *head = &trace->head;
	int r = 0;

	for (size_t i = 0; i < head->process_count && !r; i++)
		r = form->add_process(writer, &head->processes[i], err);
	for (size_t i = 1; i < head->file_count && !r; i++)
		r = form->add_file(writer, (file_id)i, head->files[i], err);
	for (size_t i = 0; i < head->aggregate_count && !r; i++)
		r = form->add_aggregate(writer, &head->aggregates[i], err);
	for (size_t i = 0; i < head->loss_count && !r; i++)
		r = form->add_loss(writer, &head->losses[i], err);
	for (size_t i = 0; i < head->usage_count && !r; i++)
		r = form->add_fact(writer, &fact_usage, &head->usages[i], err);
	for (size_t i = 0; i < head->flow_count && !r; i++)
		r = form->add_fact(writer, &fact_flow, &head->flows[i], err);
	for (size_t i = 0; i < head->host_count && !r; i++)
		r = form->add_host(writer, &head->hosts[i], err);
	return r ? r : trace_copy_notes(head, form, writer, err);
}

int trace_watch_show(const struct trace_watch *watch, uint64_t done, uint64_t total,
		     struct err *err)
{
	if (!watch || !watch->progress(watch->arg, done, total))
		return 0;
	return err_set(err, EINTR, "interrupted");
}

static int convert_activities(struct trace *trace, const struct trace_format *form, void *writer,
			      const struct trace_watch *watch, struct err *err)
{
	AUTO_FREE struct activity *batch = xmalloc(CONVERT_BATCH * sizeof(*batch));
	uint64_t done = 0;
	ssize_t n;
	int r = 0;

	do {
		n = trace_next(trace, batch, CONVERT_BATCH, err);
		if (n > 0)
			r = form->add_activities(writer, batch, (size_t)n, err);
		if (n > 0 && !r)
			r = trace_watch_show(watch, done += (uint64_t)n, trace->head.activities,
					     err);
	} while (n > 0 && !r);
	return n < 0 ? (int)n : r;
}

int trace_convert(struct trace *trace, const struct trace_format *form, const char *path,
		  const struct trace_watch *watch, struct err *err)
{
	struct trace_head *head = &trace->head;
	struct run_clock clock = { head->clock.source, 0, 1, 1, head->clock.error_ns };
	struct run_end end = head->end;
	struct err ignored;
	void *writer;
	int r, finished;

	r = form->create(&writer, path, &head->run, &clock, head->calls, head->call_count, err);
	if (r < 0)
		return r;
	r = convert_facts(trace, form, writer, err);
	if (!r)
		r = convert_activities(trace, form, writer, watch, err);
	end.complete =
		end.complete && !head->damaged_blocks; /* the copy does not show the damage */
	finished = form->finish(writer, &end, &clock, r ? &ignored : err);
	if (r < 0 && !finished)
		unlink(path); /* an incomplete copy must not be taken for the trace */
	return r ? r : finished;
}
