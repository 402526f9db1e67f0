/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two readings of the parts: one for the calls that tell the clocks apart (merge_time.c), one in
 * which the activities of all parts are taken in order and numbered anew.
 */
#include "trace/merge/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/facts.h"
#include "trace/merge/merge_time.h"

#define BATCH 4096
/* Clocks of a cluster's nodes are hardly farther apart; parts of one job overlap. */
#define OVERLAP_SLACK_NS INT64_C(60000000000)

struct part {
	struct trace trace;
	uint32_t first_process, first_statistic;
	int64_t shift_ns;
	file_id *files;		/* its ids to those of the merged trace */
	uint16_t *calls;	/* likewise */
	struct activity *batch; /* numbered anew already */
	size_t count, at;
};

struct merger {
	struct part *parts;
	size_t part_count;
	const struct trace_head **heads;
	struct merge_times times;
	struct call_info *calls; /* names are the parts' */
	size_t call_count, call_cap;
	const char **files; /* paths are the parts'; the first is "" */
	size_t file_count, file_cap;
	struct map file_ids; /* by hash of the path */
	struct part **heap;  /* parts with activities left, the next one first */
	size_t heap_count;
	const struct trace_format *form;
	void *writer;
	struct activity *batch;
	size_t batch_count;
	uint64_t activities;
};

static bool call_equal(const struct call_info *a, const struct call_info *b)
{
	return a->layer == b->layer && a->class == b->class && a->failure == b->failure &&
	       a->field_count == b->field_count && !memcmp(a->fields, b->fields, a->field_count) &&
	       !strcmp(a->name, b->name);
}

static size_t call_find(struct merger *m, const struct call_info *call, size_t guess)
{
	/* Parts of one build have the same table. */
	if (guess < m->call_count && call_equal(&m->calls[guess], call))
		return guess;
	for (size_t i = 0; i < m->call_count; i++)
		if (call_equal(&m->calls[i], call))
			return i;
	m->calls = xgrow(m->calls, &m->call_cap, m->call_count + 1, sizeof(*call));
	m->calls[m->call_count] = *call;
	return m->call_count++;
}

static int calls_take(struct merger *m, struct part *p, const char *path, struct err *err)
{
	const struct trace_head *head = &p->trace.head;

	p->calls = xcalloc(head->call_count + 1, sizeof(*p->calls));
	for (size_t i = 0; i < head->call_count; i++) {
		size_t number = call_find(m, &head->calls[i], i);

		if (number > UINT16_MAX)
			return err_set(err, EOVERFLOW, "%s: too many different calls to be merged",
				       path);
		p->calls[i] = (uint16_t)number;
	}
	return 0;
}

static file_id file_find(struct merger *m, const char *path)
{
	uint64_t key = XXH64(path, strlen(path), 0);
	size_t id;

	for (;; key++) {
		key += !key; /* which a map has no place for */
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

static void files_take(struct merger *m, struct part *p)
{
	const struct trace_head *head = &p->trace.head;

	p->files = xcalloc(head->file_count + 1, sizeof(*p->files));
	for (size_t i = 1; i < head->file_count; i++)
		p->files[i] = file_find(m, head->files[i]);
}

static int parts_open(struct merger *m, const char *const *paths, struct err *err)
{
	uint64_t processes = 0, statistics = 0;

	for (size_t i = 0; i < m->part_count; i++) {
		struct part *p = &m->parts[i];
		int r = trace_open(&p->trace, paths[i], NULL, err);

		if (r >= 0)
			r = calls_take(m, p, paths[i], err);
		if (r < 0)
			return r;
		files_take(m, p);
		p->first_process = (uint32_t)processes;
		p->first_statistic = (uint32_t)statistics;
		processes += p->trace.head.process_count;
		statistics += p->trace.head.statistic_count;
		if (processes > INT32_MAX || statistics > INT32_MAX)
			return err_set(err, EOVERFLOW, "%s: too many %s to be merged", paths[i],
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

/* The merged run is none of its parts, and the same parts always give the same. */
static char *uuid_of(const struct merger *m)
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

static const struct trace_head *first_head(const struct merger *m)
{
	size_t first = 0;

	while (m->times.shift_ns[first])
		first++;
	return m->heads[first];
}

static int writer_create(struct merger *m, const char *path, const struct run_clock *clock,
			 struct err *err)
{
	AUTO_FREE char *uuid = uuid_of(m);
	struct run_info run = first_head(m)->run;

	run.uuid = uuid;
	run.started_ns = m->times.started_ns;
	return m->form->create(&m->writer, path, &run, clock, m->calls, m->call_count, err);
}

static int processes_add(struct merger *m, const struct part *p, struct err *err)
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

static int counts_add(struct merger *m, const struct part *p, struct err *err)
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

/* Of which node it speaks must be said where there are several. */
static char *host_of(const struct trace_head *head, char *host)
{
	return host && *host ? host : head->run.host;
}

static int statistics_add(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->statistic_count; i++) {
		struct statistic_info row = head->statistics[i];

		row.number += p->first_statistic;
		row.host = host_of(head, row.host);
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

static int notes_add(struct merger *m, const struct part *p, struct err *err)
{
	const struct trace_head *head = &p->trace.head;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->note_count; i++) {
		struct note row = head->notes[i];

		row.process += row.process >= 0 ? (int32_t)p->first_process : 0;
		row.host = host_of(head, row.host);
		if (row.time_ns >= 0)
			row.time_ns = ns_add(row.time_ns, p->shift_ns);
		r = m->form->add_fact(m->writer, &fact_note, &row, err);
	}
	return r;
}

/* A part that was merged itself brings its own hosts, one of them the reference of the others. */
static int hosts_add_merged(struct merger *m, const struct trace_head *head,
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

static int hosts_add(struct merger *m, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->times.clock_count; i++) {
		const struct merge_clock *clock = &m->times.clocks[i];
		const struct trace_head *head = m->heads[clock->first];
		struct host_info row = { head->run.host, (char *)clock->method,
					 merge_times_correction_ns(&m->times, m->heads, i),
					 clock->error_ns };

		if (head->host_count)
			r = hosts_add_merged(m, head, &row, err);
		else
			r = m->form->add_host(m->writer, &row, err);
	}
	return r;
}

static int facts_add(struct merger *m, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = processes_add(m, &m->parts[i], err);
	for (size_t i = 1; r >= 0 && i < m->file_count; i++)
		r = m->form->add_file(m->writer, (file_id)i, m->files[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = counts_add(m, &m->parts[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = statistics_add(m, &m->parts[i], err);
	for (size_t i = 0; r >= 0 && i < m->part_count; i++)
		r = notes_add(m, &m->parts[i], err);
	return r < 0 ? r : hosts_add(m, err);
}

static void renumber(const struct part *p, struct activity *a)
{
	a->start_ns = ns_add(a->start_ns, p->shift_ns);
	a->process += p->first_process;
	a->file = p->files[a->file];
	a->file2 = p->files[a->file2];
	a->name = p->files[a->name];
	a->hints = p->files[a->hints];
	a->call = p->calls[a->call];
}

/* More of the part, numbered anew. 0 at its end. */
static int part_fill(struct part *p, struct err *err)
{
	ssize_t n = trace_next(&p->trace, p->batch, BATCH, err);

	if (n < 0)
		return (int)n;
	for (ssize_t i = 0; i < n; i++)
		renumber(p, &p->batch[i]);
	p->count = (size_t)n;
	p->at = 0;
	return n > 0;
}

static bool is_before(const struct part *a, const struct part *b)
{
	return activity_compare(&a->batch[a->at], &b->batch[b->at]) < 0;
}

/* Brings the part at i down to where none below it comes earlier. */
static void heap_sink(struct merger *m, size_t i)
{
	for (;;) {
		size_t least = i;
		struct part *p;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < m->heap_count && is_before(m->heap[child], m->heap[least]))
				least = child;
		if (least == i)
			return;
		p = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = p;
		i = least;
	}
}

static int heap_make(struct merger *m, struct err *err)
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

static int batch_write(struct merger *m, struct err *err)
{
	size_t n = m->batch_count;

	m->batch_count = 0;
	m->activities += n;
	return n ? m->form->add_activities(m->writer, m->batch, n, err) : 0;
}

static int activities_add(struct merger *m, struct err *err)
{
	int r = heap_make(m, err);

	while (r >= 0 && m->heap_count) {
		struct part *p = m->heap[0];

		m->batch[m->batch_count++] = p->batch[p->at++];
		if (m->batch_count == BATCH)
			r = batch_write(m, err);
		if (r >= 0 && p->at == p->count) {
			r = part_fill(p, err);
			if (!r)
				m->heap[0] = m->heap[--m->heap_count];
		}
		heap_sink(m, 0);
	}
	return r < 0 ? r : batch_write(m, err);
}

static struct run_end end_of(const struct merger *m)
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

static struct merge_totals totals_of(const struct merger *m)
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
	int finished, r = writer_create(m, path, &clock, err);

	if (r < 0)
		return r;
	r = facts_add(m, err);
	if (r >= 0)
		r = activities_add(m, err);
	end = end_of(m); /* damage is known when all was read */
	finished = m->form->finish(m->writer, &end, &clock, r < 0 ? &ignored : err);
	return r < 0 ? r : finished;
}

static int merge_into(struct merger *m, const char *const *paths, const char *path, struct err *err)
{
	AUTO_FREE char *fresh = xprintf("%s.merging-%d", path, (int)getpid());
	int r = parts_open(m, paths, err);

	if (r >= 0)
		r = merge_times_find(&m->times, m->heads, paths, m->part_count, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->part_count; i++)
		m->parts[i].shift_ns = m->times.shift_ns[i];
	r = merge_write(m, fresh, err);
	if (r >= 0 && rename(fresh, path) != 0)
		r = err_set(err, errno, "%s: %s", path, strerror(errno));
	if (r < 0)
		unlink(fresh);
	return r < 0 ? r : 0;
}

int trace_merge(const char *const *parts, size_t count, const struct trace_format *form,
		const char *path, struct merge_totals *totals, struct err *err)
{
	struct merger m;
	int r;

	merger_init(&m, count, form);
	r = merge_into(&m, parts, path, err);
	if (r >= 0 && totals)
		*totals = totals_of(&m);
	merger_release(&m);
	return r;
}

/* What tells parts of one job from others. */
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
	/* The end of a part that was cut off is not known. */
	if (!trace.head.end.complete)
		id->to_ns = INT64_MAX;
	trace_close(&trace);
	return 0;
}

static int identity_compare(const struct identity *a, const char *a_path, const struct identity *b,
			    const char *b_path, struct err *err)
{
	if (!strcmp(a->host, b->host) && a->from_ns == b->from_ns)
		return err_set(err, EINVAL, "%s and %s are the same part; give it once", a_path,
			       b_path);
	if (strcmp(a->uuid, b->uuid) != 0)
		return err_set(err, EINVAL,
			       "%s and %s are not parts of one job: their uuids are %s and %s",
			       a_path, b_path, a->uuid, b->uuid);
	if (a->from_ns > ns_add(b->to_ns, OVERLAP_SLACK_NS) ||
	    b->from_ns > ns_add(a->to_ns, OVERLAP_SLACK_NS))
		return err_set(err, EINVAL,
			       "%s and %s are not parts of one job: they did not run at the same "
			       "time",
			       a_path, b_path);
	return 0;
}

int trace_merge_check(const char *const *parts, size_t count, struct err *err)
{
	AUTO_FREE struct identity *ids = xcalloc(count, sizeof(*ids));
	int r = 0;

	for (size_t i = 0; r >= 0 && i < count; i++) {
		r = identity_read(&ids[i], parts[i], err);
		for (size_t k = 0; r >= 0 && k < i; k++)
			r = identity_compare(&ids[k], parts[k], &ids[i], parts[i], err);
	}
	return r;
}
