/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Trace Event Format, which Perfetto, chrome://tracing and speedscope show:
 * one track per thread with its calls, arrows from the start of an operation to its completion, and
 * the statistics of the nodes as counters. Viewers hold the whole file in memory, so only the
 * longest calls are written.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/export/export.h"
#include "observe/export/longest.h"
#include "observe/report/line.h"
#include "observe/tally/names.h"
#include "trace/format.h"

/* Viewers show ranks first, then other processes, then nodes. */
#define SORT_PROCESSES INT64_C(1000000)
#define SORT_NODES INT64_C(2000000)

struct viewer {
	const struct trace_head *head;
	struct longest calls;
	uint32_t *order;	 /* calls by process and id */
	uint32_t *threads;	 /* number of the thread of each call, unique in the file */
	int64_t *hosts;		 /* number of the process for each statistic */
	struct activity *phases; /* of the program; they take no time, so they are kept apart */
	size_t phase_count, phase_cap;
	struct json json;
	uint64_t arrows;
	size_t max;
};

static bool is_phase(const struct viewer *viewer, const struct activity *a)
{
	return a->layer == LAYER_APPLICATION &&
	       text_equal(viewer->head->calls[a->call].name, "phase");
}

static void add_phase(struct viewer *viewer, const struct activity *a)
{
	viewer->phases = xgrow(viewer->phases, &viewer->phase_cap, viewer->phase_count + 1,
			       sizeof(*viewer->phases));
	viewer->phases[viewer->phase_count++] = *a;
}

static int add_calls(void *arg, const struct activity *batch, size_t n, struct err *err)
{
	struct viewer *viewer = arg;

	(void)err;
	for (size_t i = 0; i < n; i++) {
		if (!is_phase(viewer, &batch[i]))
			longest_add(&viewer->calls, &batch[i]);
		else if (viewer->phase_count < viewer->max)
			add_phase(viewer, &batch[i]);
	}
	return 0;
}

/* For qsort_r() on the numbers of calls: by process, then id, hence by thread. */
static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct activity *list = arg;
	const struct activity *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Viewers identify a thread by its number alone, so threads are numbered over all processes. */
static void number_threads(struct viewer *viewer)
{
	const struct activity *list = viewer->calls.list, *last = NULL;
	uint32_t thread = 0;

	viewer->order = xcalloc(viewer->calls.count, sizeof(*viewer->order));
	viewer->threads = xcalloc(viewer->calls.count, sizeof(*viewer->threads));
	for (size_t i = 0; i < viewer->calls.count; i++)
		viewer->order[i] = (uint32_t)i;
	if (viewer->calls.count)
		qsort_r(viewer->order, viewer->calls.count, sizeof(*viewer->order), compare_ids,
			viewer->calls.list);
	for (size_t i = 0; i < viewer->calls.count; i++) {
		const struct activity *a = &list[viewer->order[i]];

		thread += !last || last->process != a->process ||
			  id_thread(last->id) != id_thread(a->id);
		viewer->threads[viewer->order[i]] = thread;
		last = a;
	}
}

/* The written call with that id; NULL if there is none. */
static const struct activity *find_call(const struct viewer *viewer, uint32_t process, uint64_t id)
{
	size_t from = 0, to = viewer->calls.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct activity *a = &viewer->calls.list[viewer->order[middle]];

		if (a->process == process && a->id == id)
			return a;
		if (a->process < process || (a->process == process && a->id < id))
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

/* 0 is the idle task of the kernel. */
static int64_t process_number(uint32_t process)
{
	return (int64_t)process + 1;
}

static void open_event(struct viewer *viewer, const char *phase, const char *name)
{
	fputc('\n', viewer->json.out);
	json_open(&viewer->json, NULL, '{');
	json_text(&viewer->json, "ph", phase);
	json_text(&viewer->json, "name", name);
}

/* An event that names a process or thread, or gives it a place. */
static void put_metadata(struct viewer *viewer, const char *kind, int64_t pid, int64_t tid,
			 const char *text, int64_t number)
{
	open_event(viewer, "M", kind);
	json_number(&viewer->json, "pid", pid);
	if (tid >= 0)
		json_number(&viewer->json, "tid", tid);
	json_open(&viewer->json, "args", '{');
	if (text)
		json_text(&viewer->json, "name", text);
	else
		json_number(&viewer->json, "sort_index", number);
	json_close(&viewer->json);
	json_close(&viewer->json);
}

static void put_process(struct viewer *viewer, uint32_t number)
{
	const struct process_info *process = &viewer->head->processes[number];
	AUTO_BUF struct buf name = { 0 };

	if (process->rank >= 0)
		buf_printf(&name, "rank %d: ", process->rank);
	buf_printf(&name, "%s (pid %d on %s)", path_base_name(text_or_empty(process->program)),
		   process->pid, text_or_empty(process->host));
	put_metadata(viewer, "process_name", process_number(number), -1, buf_text(&name), 0);
	put_metadata(viewer, "process_sort_index", process_number(number), -1, NULL,
		     process->rank >= 0 ? process->rank : SORT_PROCESSES + (int64_t)number);
}

/* Names the processes and threads that have calls in the file. */
static void put_names(struct viewer *viewer)
{
	const struct activity *last = NULL;
	uint32_t thread = 0;

	for (size_t i = 0; i < viewer->calls.count; i++) {
		uint32_t call = viewer->order[i];
		const struct activity *a = &viewer->calls.list[call];
		char name[32];

		if (!last || last->process != a->process)
			put_process(viewer, a->process);
		if (viewer->threads[call] != thread) {
			snprintf(name, sizeof(name), "thread %u", id_thread(a->id));
			put_metadata(viewer, "thread_name", process_number(a->process),
				     viewer->threads[call], name, 0);
		}
		thread = viewer->threads[call];
		last = a;
	}
}

static void put_place(struct viewer *viewer, const struct activity *a)
{
	json_number(&viewer->json, "pid", process_number(a->process));
	json_number(&viewer->json, "tid", viewer->threads[a - viewer->calls.list]);
	json_thousandths(&viewer->json, "ts", a->start_ns);
}

static void put_id(struct json *json, const char *key, uint32_t process, uint64_t id)
{
	AUTO_BUF struct buf text = { 0 };

	line_id(&text, process, id);
	json_text(json, key, buf_text(&text));
}

static void put_arguments(struct viewer *viewer, const struct activity *a)
{
	struct json *json = &viewer->json;

	json_open(json, "args", '{');
	put_id(json, "id", a->process, a->id);
	if (a->parent)
		put_id(json, "cause", a->process, a->parent);
	if (a->file)
		json_text(json, "file", viewer->head->files[a->file]);
	if (a->name)
		json_text(json, "object", viewer->head->files[a->name]);
	if (a->hints)
		json_text(json, "attributes", viewer->head->files[a->hints]);
	if (a->present & PRESENT(SIZE))
		json_number(json, "size", a->size);
	if (a->present & PRESENT(OFFSET))
		json_number(json, "offset", a->offset);
	json_number(json, "result", a->result);
	if (a->error)
		json_number(json, "error", a->error);
	json_close(json);
}

/* The name of the function; activities of the program have names of their own. */
static const char *call_name(const struct viewer *viewer, const struct activity *a)
{
	if (a->layer == LAYER_APPLICATION && a->name)
		return viewer->head->files[a->name];
	return text_or_empty(viewer->head->calls[a->call].name);
}

static void put_call(struct viewer *viewer, const struct activity *a)
{
	open_event(viewer, "X", call_name(viewer, a));
	json_text(&viewer->json, "cat", names_layer(a->layer));
	put_place(viewer, a);
	json_thousandths(&viewer->json, "dur", a->duration_ns);
	put_arguments(viewer, a);
	json_close(&viewer->json);
}

static void put_arrow_end(struct viewer *viewer, const char *phase, const struct activity *a)
{
	open_event(viewer, phase, "cause");
	json_text(&viewer->json, "cat", "cause");
	json_count(&viewer->json, "id", viewer->arrows);
	put_place(viewer, a);
	if (*phase == 'f')
		json_text(&viewer->json, "bp", "e"); /* ends at the call that encloses it */
	json_close(&viewer->json);
}

static void put_arrow(struct viewer *viewer, const struct activity *from, const struct activity *to)
{
	if (!from || from == to || viewer->arrows >= viewer->max)
		return;
	viewer->arrows++;
	put_arrow_end(viewer, "s", from);
	put_arrow_end(viewer, "f", to);
}

/*
 * From the call that started what this one completes, or the activity that the program names as the
 * cause; which link it is depends on the call.
 */
static void put_completion(struct viewer *viewer, const struct activity *a, uint64_t link)
{
	uint64_t id = link & ID_MASK;
	const struct activity *start =
		id ? find_call(viewer, trace_find_owner(viewer->head, a->process, id), id) : NULL;

	if (start && (viewer->head->calls[start->call].class == CLASS_START ||
		      start->layer == LAYER_APPLICATION))
		put_arrow(viewer, start, a);
}

/* A cause in the same thread encloses the call, which viewers show without an arrow. */
static void put_arrows(struct viewer *viewer, const struct activity *a)
{
	if (a->parent && id_thread(a->parent) != id_thread(a->id))
		put_arrow(viewer, find_call(viewer, a->process, a->parent), a);
	put_completion(viewer, a, a->link);
	put_completion(viewer, a, a->link2);
}

/*
 * The statistics of a host are a process of their own, after all others. Those of one host follow
 * each other.
 */
static void put_hosts(struct viewer *viewer)
{
	const struct trace_head *head = viewer->head;

	viewer->hosts = xcalloc(head->statistic_count, sizeof(*viewer->hosts));
	for (size_t i = 0; i < head->statistic_count; i++) {
		const struct statistic_info *info = &head->statistics[i];
		AUTO_FREE char *name = NULL;

		if (i && text_equal(info[-1].host, info->host)) {
			viewer->hosts[i] = viewer->hosts[i - 1];
			continue;
		}
		viewer->hosts[i] = (int64_t)(head->process_count + 1 + i);
		name = xprintf("node %s", text_or_empty(info->host));
		put_metadata(viewer, "process_name", viewer->hosts[i], -1, name, 0);
		put_metadata(viewer, "process_sort_index", viewer->hosts[i], -1, NULL,
			     SORT_NODES + (int64_t)i);
	}
}

static void put_counter(struct viewer *viewer, const struct stat_sample *sample)
{
	const struct statistic_info *info = &viewer->head->statistics[sample->statistic];
	bool rate = text_equal(info->reduction, "sum") && sample->period_ns > 0;
	double value = (double)sample->value / (double)u64_max(info->scale, 1);
	AUTO_BUF struct buf name = { 0 };

	buf_printf(&name, "%s (%s%s)", text_or_empty(info->name), text_or_empty(info->unit),
		   rate ? "/s" : "");
	open_event(viewer, "C", buf_text(&name));
	json_number(&viewer->json, "pid", viewer->hosts[sample->statistic]);
	/* A viewer shows a value until the next one; a sample is for the time before it. */
	json_thousandths(&viewer->json, "ts", sample->time_ns - sample->period_ns);
	json_open(&viewer->json, "args", '{');
	json_double(&viewer->json, "value",
		    rate ? value * (double)NS_PER_S / (double)sample->period_ns : value);
	json_close(&viewer->json);
	json_close(&viewer->json);
}

/* Every sample, or every second, third, ... if there are more than events are allowed. */
static void put_counters(struct viewer *viewer)
{
	const struct trace_head *head = viewer->head;
	size_t step = viewer->max ? (head->sample_count + viewer->max - 1) / viewer->max : 0;

	put_hosts(viewer);
	for (size_t i = 0; step && i < head->sample_count; i += step)
		put_counter(viewer, &head->samples[i]);
}

static void put_anomalies(struct viewer *viewer)
{
	const struct trace_head *head = viewer->head;
	size_t left = viewer->max;

	for (size_t i = 0; i < head->note_count && left; i++) {
		const struct note *note = &head->notes[i];

		if (!text_equal(note->kind, NOTE_ANOMALY) || note->time_ns < 0)
			continue;
		open_event(viewer, "i", text_or_empty(note->name));
		json_text(&viewer->json, "s", note->process < 0 ? "g" : "p"); /* its scope */
		json_number(&viewer->json, "pid",
			    process_number(note->process < 0 ? 0 : (uint32_t)note->process));
		json_thousandths(&viewer->json, "ts", note->time_ns);
		json_open(&viewer->json, "args", '{');
		json_text(&viewer->json, "value", note->value);
		json_close(&viewer->json);
		json_close(&viewer->json);
		left--;
	}
}

static void put_phases(struct viewer *viewer)
{
	for (size_t i = 0; i < viewer->phase_count; i++) {
		const struct activity *a = &viewer->phases[i];

		open_event(viewer, "i", call_name(viewer, a));
		json_text(&viewer->json, "cat", "phase");
		json_text(&viewer->json, "s", "p");
		json_number(&viewer->json, "pid", process_number(a->process));
		json_thousandths(&viewer->json, "ts", a->start_ns);
		json_close(&viewer->json);
	}
}

static void put_properties(struct viewer *viewer, const struct export_totals *totals)
{
	struct json *json = &viewer->json;

	json_text(json, "displayTimeUnit", "ns");
	json_open(json, "otherData", '{');
	json_text(json, "run", viewer->head->run.uuid);
	json_text(json, "command", viewer->head->run.command);
	json_text(json, "host", viewer->head->run.host);
	json_count(json, "activities", totals->activities);
	json_count(json, "left_out", totals->left_out);
	json_number(json, "left_out_not_longer_than_ns", totals->shortest_ns);
	json_close(json);
}

static void put_events(struct viewer *viewer)
{
	json_open(&viewer->json, "traceEvents", '[');
	put_names(viewer);
	for (size_t i = 0; i < viewer->calls.count; i++) {
		put_call(viewer, &viewer->calls.list[i]);
		put_arrows(viewer, &viewer->calls.list[i]);
	}
	put_counters(viewer);
	put_anomalies(viewer);
	put_phases(viewer);
}

static int write_events(const struct export_job *job, FILE *out, struct err *err)
{
	struct viewer viewer = { .head = &job->trace->head, .max = job->options->max_events };
	int r;

	viewer.calls.max = viewer.max;
	r = export_read(job, add_calls, &viewer, err);
	job->totals->left_out = viewer.calls.dropped;
	job->totals->shortest_ns = viewer.calls.dropped_ns;
	if (!r) {
		longest_sort(&viewer.calls);
		number_threads(&viewer);
		json_start(&viewer.json, out, NULL);
		put_properties(&viewer, job->totals);
		put_events(&viewer);
		json_end(&viewer.json);
	}
	free(viewer.order);
	free(viewer.threads);
	free(viewer.hosts);
	free(viewer.phases);
	longest_release(&viewer.calls);
	return r;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.suffix = ".json",
	.help = "events for Perfetto, chrome://tracing and speedscope",
	.write = write_events,
};
