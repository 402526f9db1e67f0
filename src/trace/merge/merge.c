/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the parts twice: first the calls that synchronize the clocks (merge_time.c), then the
 * activities of all parts in order, which are renumbered.
 */
#include "trace/merge/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/facts.h"
#include "trace/interruption.h"
#include "trace/merge/merge_time.h"
#include "trace/output.h"

#define BATCH 4096 /* activities */
/* Parts of one job overlap in time; the clocks of their nodes may differ by this much. */
#define OVERLAP_SLACK_NS (60 * NS_PER_S)

struct part {
	struct trace trace;
	uint32_t first_process, first_statistic;
	int64_t shift_ns;
	file_id *files;		/* ids of the merged trace by those of the part */
	uint16_t *calls;	/* call numbers of the merged trace by those of the part */
	struct activity *batch; /* renumbered already */
	size_t count, at;
};

struct merger {
	struct part *parts;
	size_t part_count;
	const struct trace_head **heads;
	struct merge_times times;
	const struct merge_corrections *corrections; /* may be NULL */
	struct call_info *calls;		     /* the parts own the names */
	size_t call_count, call_cap;
	const char **files; /* the parts own the paths; the first is "" */
	size_t file_count, file_cap;
	struct map file_ids; /* by hash of the path */
	struct part **heap;  /* parts with activities left; heap[0] has the next one */
	size_t heap_count;
	const struct trace_format *form;
	void *writer;
	struct activity *batch;
	size_t batch_count;
	uint64_t activities, expected;
	const struct trace_watch *watch;
};

static bool call_equal(const struct call_info *a, const struct call_info *b)
{
	return a->layer == b->layer && a->class == b->class && a->failure == b->failure &&
	       a->field_count == b->field_count && !memcmp(a->fields, b->fields, a->field_count) &&
	       !strcmp(a->name, b->name);
}

static size_t find_call(struct merger *m, const struct call_info *call, size_t guess)
{
	/* Parts that were recorded by the same build have the same table. */
	if (guess < m->call_count && call_equal(&m->calls[guess], call))
		return guess;
	for (size_t i = 0; i < m->call_count; i++)
		if (call_equal(&m->calls[i], call))
			return i;
	m->calls = xgrow(m->calls, &m->call_cap, m->call_count + 1, sizeof(*call));
	m->calls[m->call_count] = *call;
	return m->call_count++;
}

static int map_calls(struct merger *m, struct part *p, const char *path, struct err *err)
{
	const struct trace_head *head = &p->trace.head;

	p->calls = xcalloc(head->call_count + 1, sizeof(*p->calls));
	for (size_t i = 0; i < head->call_count; i++) {
		size_t number = find_call(m, &head->calls[i], i);

		if (number > UINT16_MAX)
			return err_set(err, EOVERFLOW, "%s: cannot merge: too many different calls",
				       path);
		p->calls[i] = (uint16_t)number;
	}
	return 0;
}

static file_id find_file(struct merger *m, const char *path)
{
	uint64_t key = XXH64(path, strlen(path), 0);
	size_t id;

	for (;; key++) {
		key += !key; /* 0 is not a valid key of a map */
		id = (size_t)(uintptr_t)map_get(&m->file_ids, key);
		if (!id || !strcmp(m->files[id], path))
			break;
	}
	if (id)
		return (file_id)id;
	m->files = xgrow(m->files, &m->file_cap, m->file_count + 1, sizeof(*m->files));
	m->files[m->file_count] = path;
	map_put(&m->file_ids, key, (void *)(uintptr_t)m->file_count);
	return (file_id)m->file_count++;
}

static void map_files(struct merger *m, struct part *p)
{
	const struct trace_head *head = &p->trace.head;

	p->files = xcalloc(head->file_count + 1, sizeof(*p->files));
	for (size_t i = 1; i < head->file_count; i++)
		p->files[i] = find_file(m, head->files[i]);
}

static int open_parts(struct merger *m, const char *const *paths, struct err *err)
{
	uint64_t processes = 0, statistics = 0;

	for (size_t i = 0; i < m->part_count; i++) {
		struct part *p = &m->parts[i];
		int r = trace_open(&p->trace, paths[i], NULL, err);

		if (r >= 0)
			r = map_calls(m, p, paths[i], err);
		if (r < 0)
			return r;
		map_files(m, p);
		p->first_process = (uint32_t)processes;
		p->first_statistic = (uint32_t)statistics;
		processes += p->trace.head.process_count;
		statistics += p->trace.head.statistic_count;
		if (processes > INT32_MAX || statistics > INT32_MAX)
			return err_set(err, EOVERFLOW, "%s: cannot merge: too many %s", paths[i],
				       processes > INT32_MAX ? "processes" : "statistics");
		m->heads[i] = &p->trace.head;
	}
	return 0;
}

static void merger_init(struct merger *m, size_t count, const struct trace_format *form)
{
	*m = (struct merger){ .part_count = count, .form = form };
	m->parts = xcalloc(count, sizeof(*m->parts));
	m->heads = xcalloc(count, sizeof(*m->heads));
	m->heap = xcalloc(count, sizeof(*m->heap));
	m->batch = xcalloc(BATCH, sizeof(*m->batch));
	m->files = xgrow(NULL, &m->file_cap, 1, sizeof(*m->files));
	m->files[m->file_count++] = "";
}

static void merger_release(struct merger *m)
{
	for (size_t i = 0; i < m->part_count; i++) {
		struct part *p = &m->parts[i];

		if (p->trace.format)
			trace_close(&p->trace);
		free(p->files);
		free(p->calls);
		free(p->batch);
	}
	merge_times_release(&m->times);
	map_release(&m->file_ids);
	free(m->parts);
	free(m->heads);
	free(m->heap);
	free(m->batch);
	free(m->files);
	free(m->calls);
}

/* The uuid of a merged run depends on its parts only and differs from theirs. */
static char *make_uuid(const struct merger *m)
{
	AUTO_BUF struct buf text = { 0 };

	if (m->part_count == 1)
		return xstrdup(m->heads[0]->run.uuid);
	for (size_t i = 0; i < m->part_count; i++)
		buf_printf(&text, "%s %s %" PRId64 "\n", m->heads[i]->run.uuid,
			   m->heads[i]->run.host, m->heads[i]->run.started_ns);
	return xprintf("%016" PRIx64 "%016" PRIx64, (uint64_t)XXH64(text.data, text.len, 0),
		       (uint64_t)XXH64(text.data, text.len, 1));
}

/* The head of the part that started first. */
static const struct trace_head *find_first_head(const struct merger *m)
{
	size_t first = 0;

	while (m->times.shift_ns[first])
		first++;
	return m->heads[first];
}

/* Is it the first part of its run? */
static bool is_new_run(const struct merger *m, size_t part)
{
	for (size_t i = 0; i < part; i++)
		if (strcmp(m->heads[i]->run.uuid, m->heads[part]->run.uuid) == 0)
			return false;
	return true;
}

/* The commands of different runs, as a shell would start them together. */
static char *make_command(const struct merger *m, const struct run_info *first)
{
	struct buf text = { 0 };

	buf_puts(&text, text_or_empty(first->command));
	for (size_t i = 0; i < m->part_count; i++)
		if (strcmp(m->heads[i]->run.uuid, first->uuid) != 0 && is_new_run(m, i))
			buf_printf(&text, " & %s", text_or_empty(m->heads[i]->run.command));
	return buf_take(&text);
}

static int create_writer(struct merger *m, const char *path, const struct run_clock *clock,
			 struct err *err)
{
	struct run_info run = find_first_head(m)->run;
	AUTO_FREE char *uuid = make_uuid(m), *command = make_command(m, &run);

	run.uuid = uuid;
	run.command = command;
	run.started_ns = m->times.started_ns;
	return m->form->create(&m->writer, path, &run, clock, m->calls, m->call_count, err);
}

static int add_processes(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->process_count; i++) {
		struct process_info info = head->processes[i];

		info.index += p->first_process;
		info.parent += info.parent >= 0 ? (int32_t)p->first_process : 0;
		info.attached_ns = ns_add(info.attached_ns, p->shift_ns);
		r = m->form->add_process(m->writer, &info, err);
	}
	return r;
}

static int add_counts(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->aggregate_count; i++) {
		struct aggregate row = head->aggregates[i];

		row.process += p->first_process;
		row.file = p->files[row.file];
		r = m->form->add_aggregate(m->writer, &row, err);
	}
	for (size_t i = 0; r >= 0 && i < head->loss_count; i++) {
		struct loss_info row = head->losses[i];

		row.process += p->first_process;
		r = m->form->add_loss(m->writer, &row, err);
	}
	return r;
}

static int add_usages(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->usage_count; i++) {
		struct usage row = head->usages[i];

		row.process += p->first_process;
		row.file = p->files[row.file];
		row.value[USAGE_FIRST_NS] = ns_add(row.value[USAGE_FIRST_NS], p->shift_ns);
		row.value[USAGE_LAST_NS] = ns_add(row.value[USAGE_LAST_NS], p->shift_ns);
		r = m->form->add_fact(m->writer, &fact_usage, &row, err);
	}
	for (size_t i = 0; r >= 0 && i < head->flow_count; i++) {
		struct flow row = head->flows[i];

		row.process += p->first_process;
		row.start_ns = ns_add(row.start_ns, p->shift_ns);
		r = m->form->add_fact(m->writer, &fact_flow, &row, err);
	}
	return r;
}

/* In a trace of several nodes, every statistic and note must name its host. */
static char *find_host(const struct trace_head *head, char *host)
{
	return host && *host ? host : head->run.host;
}

static int add_statistics(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->statistic_count; i++) {
		struct statistic_info row = head->statistics[i];

		row.number += p->first_statistic;
		row.host = find_host(head, row.host);
		r = m->form->add_fact(m->writer, &fact_statistic, &row, err);
	}
	for (size_t i = 0; r >= 0 && i < head->sample_count; i++) {
		struct stat_sample row = head->samples[i];

		row.statistic += p->first_statistic;
		row.time_ns = ns_add(row.time_ns, p->shift_ns);
		r = m->form->add_fact(m->writer, &fact_sample, &row, err);
	}
	return r;
}

static int add_notes(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	struct note interruption;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->note_count; i++) {
		struct note row = head->notes[i];

		row.process += row.process >= 0 ? (int32_t)p->first_process : 0;
		row.host = find_host(head, row.host);
		if (row.time_ns >= 0)
			row.time_ns = ns_add(row.time_ns, p->shift_ns);
		r = m->form->add_fact(m->writer, &fact_note, &row, err);
	}
	if (r >= 0 && interruption_make_note(&interruption, head))
		r = m->form->add_fact(m->writer, &fact_note, &interruption, err);
	return r;
}

/* A part that is a merged trace itself has several hosts; one of them is their reference. */
static int add_merged_hosts(struct merger *m, const struct trace_head *head,
			    const struct host_info *around, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->host_count; i++) {
		struct host_info row = head->hosts[i];

		row.offset_ns = ns_add(row.offset_ns, around->offset_ns);
		if (!strcmp(row.method, "reference"))
			row.method = around->method;
		if (row.error_ns < 0 || around->error_ns < 0)
			row.error_ns = -1;
		else
			row.error_ns = ns_add(row.error_ns, around->error_ns);
		r = m->form->add_host(m->writer, &row, err);
	}
	return r;
}

static int add_hosts(struct merger *m, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->times.clock_count; i++) {
		const struct merge_clock *clock = &m->times.clocks[i];
		const struct trace_head *head = m->heads[clock->first];
		struct host_info row = { head->run.host, (char *)clock->method,
					 merge_times_correction_ns(&m->times, m->heads, i),
					 clock->error_ns };

		if (head->host_count)
			r = add_merged_hosts(m, head, &row, err);
		else
			r = m->form->add_host(m->writer, &row, err);
	}
	return r;
}

static int add_facts(struct merger *m, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = add_processes(m, &m->parts[i], err);
	for (size_t i = 1; r >= 0 && i < m->file_count; i++)
		r = m->form->add_file(m->writer, (file_id)i, m->files[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = add_counts(m, &m->parts[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = add_usages(m, &m->parts[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = add_statistics(m, &m->parts[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = add_notes(m, &m->parts[i], err);
	return r < 0 ? r : add_hosts(m, err);
}

static void renumber_activity(const struct part *p, struct activity *a)
{
	a->start_ns = ns_add(a->start_ns, p->shift_ns);
	a->process += p->first_process;
	a->file = p->files[a->file];
	a->file2 = p->files[a->file2];
	a->name = p->files[a->name];
	a->hints = p->files[a->hints];
	a->call = p->calls[a->call];
}

/* Reads and renumbers the next batch of the part. Returns 0 at its end. */
static int part_fill(struct part *p, struct err *err)
{
	ssize_t n = trace_next(&p->trace, p->batch, BATCH, err);

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n; i++)
		renumber_activity(p, &p->batch[i]);
	p->count = (size_t)n;
	p->at = 0;
	return n > 0;
}

static bool part_is_before(const struct part *a, const struct part *b)
{
	return activity_compare(&a->batch[a->at], &b->batch[b->at]) < 0;
}

/* Moves the part at i down until no part below it has an earlier activity. */
static void heap_sink(struct merger *m, size_t i)
{
	for (;;) {
		size_t least = i;
		struct part *p;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < m->heap_count && part_is_before(m->heap[child], m->heap[least]))
				least = child;
		if (least == i)
			return;
		p = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = p;
		i = least;
	}
}

static int fill_heap(struct merger *m, struct err *err)
{
	for (size_t i = 0; i < m->part_count; i++) {
		struct part *p = &m->parts[i];
		int r;

		p->batch = xcalloc(BATCH, sizeof(*p->batch));
		r = part_fill(p, err);
		if (r < 0)
			return r;
		if (r)
			m->heap[m->heap_count++] = p;
	}
	for (size_t i = m->heap_count; i-- > 0;)
		heap_sink(m, i);
	return 0;
}

static int write_batch(struct merger *m, struct err *err)
{
	size_t n = m->batch_count;
	int r;

	m->batch_count = 0;
	m->activities += n;
	r = n ? m->form->add_activities(m->writer, m->batch, n, err) : 0;
	return r < 0 ? r : trace_watch_show(m->watch, m->activities, m->expected, err);
}

static int add_activities(struct merger *m, struct err *err)
{
	int r = fill_heap(m, err);

	while (r >= 0 && m->heap_count) {
		struct part *p = m->heap[0];

		m->batch[m->batch_count++] = p->batch[p->at++];
		if (m->batch_count == BATCH)
			r = write_batch(m, err);
		if (r >= 0 && p->at == p->count) {
			r = part_fill(p, err);
			if (!r)
				m->heap[0] = m->heap[--m->heap_count];
		}
		heap_sink(m, 0);
	}
	return r < 0 ? r : write_batch(m, err);
}

static struct run_end make_run_end(const struct merger *m)
{
	struct run_end end = { .complete = true };

	for (size_t i = 0; i < m->part_count; i++) {
		const struct trace_head *head = m->heads[i];
		int64_t until_ns = ns_add(head->end.duration_ns, m->parts[i].shift_ns);

		if (until_ns > end.duration_ns)
			end.duration_ns = until_ns;
		if (!end.exit_status)
			end.exit_status = head->end.exit_status;
		end.complete &= head->end.complete && !head->damaged_blocks;
	}
	return end;
}

static struct merge_totals compute_totals(const struct merger *m)
{
	struct merge_totals t = { .activities = m->activities };

	for (size_t i = 0; i < m->part_count; i++) {
		t.processes += m->heads[i]->process_count;
		t.damaged_blocks += m->heads[i]->damaged_blocks;
		t.cut_off += !m->heads[i]->end.complete;
	}
	return t;
}

static int merge_write(struct merger *m, const char *path, struct err *err)
{
	const struct run_clock *of = &m->heads[m->times.clocks[m->times.reference].first]->clock;
	struct run_clock clock = { of->source, 0, 1, 1, of->error_ns };
	struct run_end end;
	struct err ignored;
	int finished, r = create_writer(m, path, &clock, err);

	if (r < 0)
		return r;
	r = add_facts(m, err);
	if (r >= 0)
		r = add_activities(m, err);
	end = make_run_end(m); /* damage is known only after all parts were read */
	finished = m->form->finish(m->writer, &end, &clock, r < 0 ? &ignored : err);
	return r < 0 ? r : finished;
}

static int merge_into(struct merger *m, const char *const *paths, const char *path, struct err *err)
{
	struct file_draft draft;
	int r = trace_output_check(path, err);

	if (r >= 0)
		r = open_parts(m, paths, err);
	if (r >= 0)
		r = merge_times_find(&m->times, m->heads, paths, m->part_count, m->corrections,
				     err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->part_count; i++) {
		m->parts[i].shift_ns = m->times.shift_ns[i];
		m->expected += m->heads[i]->activities;
	}
	file_draft_init(&draft, path);
	r = merge_write(m, draft.temporary, err);
	if (r >= 0)
		r = file_draft_commit(&draft, err);
	file_draft_discard(&draft);
	return r < 0 ? r : 0;
}

int trace_merge(const char *const *parts, size_t count, const struct trace_format *form,
		const char *path, const struct merge_corrections *corrections,
		struct merge_totals *totals, const struct trace_watch *watch, struct err *err)
{
	struct merger m;
	int r;

	merger_init(&m, count, form);
	m.watch = watch;
	m.corrections = corrections;
	r = merge_into(&m, parts, path, err);
	if (r >= 0 && totals)
		*totals = compute_totals(&m);
	merger_release(&m);
	return r;
}

/* The facts by which the parts of one job are recognized. */
struct identity {
	char uuid[64], host[256];
	int64_t from_ns, to_ns;
};

static int identity_read(struct identity *id, const char *path, struct err *err)
{
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	snprintf(id->uuid, sizeof(id->uuid), "%s", trace.head.run.uuid);
	snprintf(id->host, sizeof(id->host), "%s", trace.head.run.host);
	id->from_ns = trace.head.run.started_ns;
	id->to_ns = ns_add(id->from_ns, trace.head.end.duration_ns);
	/* The end of an incomplete part is unknown. */
	if (!trace.head.end.complete)
		id->to_ns = INT64_MAX;
	trace_close(&trace);
	return 0;
}

static int check_same_job(const struct identity *a, const char *a_path, const struct identity *b,
			  const char *b_path, bool different_runs, struct err *err)
{
	if (!strcmp(a->host, b->host) && a->from_ns == b->from_ns)
		return err_set(err, EINVAL, "%s and %s are the same part; name it once", a_path,
			       b_path);
	if (!different_runs && strcmp(a->uuid, b->uuid) != 0)
		return err_set(err, EINVAL,
			       "%s and %s are not parts of one job: their uuids differ (%s, %s)",
			       a_path, b_path, a->uuid, b->uuid);
	if (a->from_ns > ns_add(b->to_ns, OVERLAP_SLACK_NS) ||
	    b->from_ns > ns_add(a->to_ns, OVERLAP_SLACK_NS))
		return err_set(err, EINVAL, "%s and %s %s: they did not run at the same time",
			       a_path, b_path,
			       different_runs ? "cannot have communicated"
					      : "are not parts of one job");
	return 0;
}

int trace_merge_check(const char *const *parts, size_t count, bool different_runs, struct err *err)
{
	AUTO_FREE struct identity *ids = xcalloc(count, sizeof(*ids));
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		r = identity_read(&ids[i], parts[i], err);
		for (size_t k = 0; r >= 0 && k < i; k++)
			r = check_same_job(&ids[k], parts[k], &ids[i], parts[i], different_runs,
					   err);
	}
	return r;
}
