/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "observe/diagnose/finding.h"
#include "observe/diagnose/rule.h"
#include "observe/profile/profile.h"
#include "observe/profile/saved.h"
#include "observe/tally/traffic.h"
#include "site/facts.h"
#include "site/hide.h"
#include "observe/stats/mount_table.h"
#include "site/rows.h"
#include "trace/format.h"

#define BATCH 4096
#define SMALL_BYTES (64 << 10)

struct build {
	const struct build_options *options;
	build_emit *emit;
	void *arg;
	struct err *err;
	size_t limit; /* bytes of a payload */
	struct hide hide;
	struct trace trace;
	struct profile profile;
	struct rows_writer rows;
	const struct schema_table *activity;
	/* A trace describes all functions that could be recorded, thousands. Those that no kept
	 * activity refers to are left out of a sample, and the others get new numbers. */
	bool *is_called; /* by number in the trace, like the new numbers */
	uint16_t *call_numbers;
	uint64_t kept;
	int result; /* of the first emit() that failed */
};

/* Emits what is there. */
static int flush(struct build *b)
{
	int r;

	if (rows_is_empty(&b->rows))
		return 0;
	rows_finish(&b->rows);
	r = b->emit(b->arg, BUILD_FRAME_TYPE, b->rows.bytes.data, b->rows.bytes.len, b->err);
	rows_start(&b->rows, b->rows.uuid);
	return r;
}

/* A row is at most some KiB long, except for a long text, which gets a payload of its own. */
static void add_row(struct build *b, const struct schema_table *table,
		    const struct row_value *values)
{
	if (b->result < 0)
		return;
	rows_add(&b->rows, table, values);
	if (b->rows.bytes.len + (4 << 10) >= b->limit)
		b->result = flush(b);
}

static void set(struct row_value *values, const struct schema_table *table, const char *column,
		struct row_value value)
{
	values[schema_column(table, column)] = value;
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static uint64_t count_lost(const struct trace_head *head)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < head->loss_count; i++)
		lost += head->losses[i].records;
	return lost;
}

/* Base name of the program of the first process. */
static char *find_program(const struct trace_head *head)
{
	const char *path = head->process_count ? head->processes[0].program : NULL;
	const char *base = strrchr(text_or(path, ""), '/');

	return xstrdup(base ? base + 1 : text_or(path, ""));
}

/* Decides by a hash of process and id, so that a call is in every sample of the same rate. */
static bool is_sampled(const struct build *b, const struct activity *a)
{
	uint64_t rate = b->options->sample, mixed;

	if (rate <= 1)
		return rate == 1;
	mixed = (a->id ^ (uint64_t)a->process << 40) * UINT64_C(0x9e3779b97f4a7c15);
	mixed ^= mixed >> 32;
	return mixed * UINT64_C(0xbf58476d1ce4e5b9) >> 11 < (UINT64_MAX >> 11) / rate;
}

static void add_run(struct build *b, uint64_t kept)
{
	const struct schema_table *table = schema_find("run");
	const struct trace_head *head = &b->trace.head;
	const struct tally *io = &b->profile.summary.all.io;
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };
	AUTO_FREE char *program = find_program(head);
	AUTO_FREE char *directory = hide_path(&b->hide, text_or(head->run.directory, ""));
	const char *owner = b->options->owner ? b->options->owner : text_or(head->run.user, "");

	set(values, table, "uuid", row_text(b->rows.uuid));
	set(values, table, "owner", row_text(owner));
	set(values, table, "job", row_text(b->options->job));
	set(values, table, "job_partition", row_text(b->options->partition));
	set(values, table, "program", row_text(program));
	set(values, table, "command",
	    row_text(hide_command(&b->hide, text_or(head->run.command, ""))));
	set(values, table, "directory", row_text(directory));
	set(values, table, "host", row_text(head->run.host));
	set(values, table, "version", row_text(head->run.version));
	set(values, table, "started_ns", row_number(head->run.started_ns));
	set(values, table, "duration_ns", row_number(head->end.duration_ns));
	set(values, table, "exit_status", row_number(head->end.exit_status));
	set(values, table, "complete", row_number(head->end.complete));
	set(values, table, "processes", row_number((int64_t)head->process_count));
	set(values, table, "ranks", row_number((int64_t)b->profile.summary.ranks.count));
	set(values, table, "activities", row_number((int64_t)head->activities));
	set(values, table, "kept", row_number((int64_t)kept));
	set(values, table, "sample", row_number((int64_t)b->options->sample));
	set(values, table, "lost", row_number((int64_t)count_lost(head)));
	set(values, table, "bytes_read", row_number((int64_t)io->bytes_read));
	set(values, table, "bytes_written", row_number((int64_t)io->bytes_written));
	set(values, table, "io_share", row_real(summary_io_share(&b->profile.summary)));
	set(values, table, "hidden", row_number(b->hide.hashes_paths));
	add_row(b, table, values);
}

/* A fact; `number` is for a column of that name that is no field. */
static void add_fact(struct build *b, const struct fact *fact, const void *row, size_t number)
{
	const struct site_fact *to = site_fact_of(fact);
	const struct schema_table *table = schema_find(to->table);
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < table->count; i++) {
		const struct fact_field *field = site_fact_field(to, &table->columns[i]);

		if (!field)
			values[i] = row_number((int64_t)number);
		else if (field->type == FACT_TEXT)
			values[i] = row_text(fact_text(field, row));
		else
			values[i] = row_number(fact_number(field, row));
	}
	add_row(b, table, values);
}

static void add_processes(struct build *b)
{
	const struct trace_head *head = &b->trace.head;

	for (size_t i = 0; i < head->process_count; i++) {
		struct process_info process = head->processes[i];
		AUTO_FREE char *program = hide_program(&b->hide, text_or(process.program, ""));
		AUTO_FREE char *directory = hide_path(&b->hide, text_or(process.directory, ""));

		process.program = program;
		process.directory = directory;
		process.command =
			(char *)(uintptr_t)hide_command(&b->hide, text_or(process.command, ""));
		add_fact(b, &fact_process, &process, i);
	}
}

/* Did all processes run on the node whose mount points are known? */
static bool knows_mounts(const struct build *b)
{
	const struct trace_head *head = &b->trace.head;

	for (size_t i = 0; i < head->process_count; i++)
		if (strcmp(text_or(head->processes[i].host, ""), b->options->mounts_host) != 0)
			return false;
	return head->process_count > 0;
}

/* The mount point of a file that calls accessed; NULL for other texts, such as hints. */
static const char *find_filesystem(const struct build *b, size_t file)
{
	const struct summary *summary = &b->profile.summary;
	const char *path = b->trace.head.files[file];

	if (*path != '/' || file >= summary->file_count || !summary->file_layers[file])
		return NULL;
	return mount_table_find(b->options->mounts, path);
}

static void add_files(struct build *b)
{
	const struct schema_table *table = schema_find("run_file");
	const struct trace_head *head = &b->trace.head;
	bool has_mounts = b->options->mounts && knows_mounts(b);

	for (size_t i = 1; i < head->file_count; i++) {
		AUTO_FREE char *path = hide_path(&b->hide, head->files[i]);
		const char *filesystem = has_mounts ? find_filesystem(b, i) : NULL;
		struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

		set(values, table, "file", row_number((int64_t)i));
		set(values, table, "path", row_text(path));
		if (filesystem)
			set(values, table, "filesystem", row_text(filesystem));
		add_row(b, table, values);
	}
}

/* Values of notes may contain paths and commands. Those of some kinds never do. */
static bool may_show_note(const struct build *b, const struct note *note)
{
	static const char *const safe[] = { NOTE_ANOMALY, NOTE_DEGRADED, NOTE_COST, NOTE_NODE,
					    NOTE_LOST };

	if (!b->hide.hashes_paths && !b->hide.omits_commands)
		return true;
	for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
		if (!strcmp(text_or(note->kind, ""), safe[i]))
			return true;
	return false;
}

static void add_calls(struct build *b)
{
	const struct trace_head *head = &b->trace.head;
	uint16_t count = 0;

	for (size_t i = 0; i < head->call_count; i++) {
		struct call_row row;

		if (!b->is_called[i])
			continue;
		row = call_row_make(&head->calls[i], count);
		add_fact(b, &fact_call, &row, count);
		fact_release(&fact_call, &row);
		b->call_numbers[i] = count++;
	}
}

static void add_head(struct build *b)
{
	const struct trace_head *head = &b->trace.head;

	add_calls(b);
	add_processes(b);
	add_files(b);
	for (size_t i = 0; i < head->host_count; i++)
		add_fact(b, &fact_host, &head->hosts[i], i);
	for (size_t i = 0; i < head->loss_count; i++)
		add_fact(b, &fact_loss, &head->losses[i], i);
	for (size_t i = 0; i < head->aggregate_count; i++) {
		struct aggregate_row row = aggregate_row_make(&head->aggregates[i]);

		add_fact(b, &fact_aggregate, &row, i);
		fact_release(&fact_aggregate, &row);
	}
	for (size_t i = 0; i < head->statistic_count; i++)
		add_fact(b, &fact_statistic, &head->statistics[i], i);
	for (size_t i = 0; i < head->sample_count; i++)
		add_fact(b, &fact_sample, &head->samples[i], i);
	for (size_t i = 0; i < head->note_count; i++)
		if (may_show_note(b, &head->notes[i]))
			add_fact(b, &fact_note, &head->notes[i], i);
}

static uint64_t sum_calls(const struct cell *cell)
{
	uint64_t sum = 0;

	for (int i = 0; i < CLASS_COUNT; i++)
		sum += cell->calls[i];
	return sum;
}

static int64_t sum_times(const struct cell *cell)
{
	int64_t sum = 0;

	for (int i = 0; i < CLASS_COUNT; i++)
		sum += cell->time_ns[i];
	return sum;
}

static uint64_t sum_small(const struct cell *cell)
{
	uint64_t sum = 0;

	for (unsigned bin = 0; bin < CELL_SIZE_BINS && cell_bin_bytes(bin) < SMALL_BYTES; bin++)
		sum += cell->sizes[READING][bin] + cell->sizes[WRITING][bin];
	return sum;
}

static void add_cell(struct build *b, const struct cell *cell)
{
	const struct schema_table *table = schema_find("aggregate");
	const struct survey *s = &cell->survey;
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };

	set(values, table, "layer", row_text(layer_name(cell->layer)));
	set(values, table, "file", row_number(cell->file));
	set(values, table, "rank", row_number(cell->member));
	set(values, table, "calls", row_number((int64_t)sum_calls(cell)));
	set(values, table, "errors", row_number((int64_t)cell->errors));
	set(values, table, "opens", row_number((int64_t)cell->calls[CLASS_OPEN]));
	set(values, table, "reads", row_number((int64_t)s->accesses[READING]));
	set(values, table, "writes", row_number((int64_t)s->accesses[WRITING]));
	set(values, table, "bytes_read", row_number((int64_t)s->bytes[READING]));
	set(values, table, "bytes_written", row_number((int64_t)s->bytes[WRITING]));
	set(values, table, "read_ns", row_number(s->transfer_ns[READING]));
	set(values, table, "write_ns", row_number(s->transfer_ns[WRITING]));
	set(values, table, "time_ns", row_number(sum_times(cell)));
	set(values, table, "sequential",
	    row_number((int64_t)(s->sequential[READING] + s->sequential[WRITING])));
	set(values, table, "small", row_number((int64_t)sum_small(cell)));
	set(values, table, "first_ns", row_number(s->calls ? s->first_ns : 0));
	set(values, table, "last_ns", row_number(s->calls ? s->last_ns : 0));
	add_row(b, table, values);
}

static void add_aggregates(struct build *b)
{
	size_t count = 0;
	AUTO_FREE const struct cell **cells = cell_table_list(&b->profile.cells, &count);

	for (size_t i = 0; i < count; i++)
		add_cell(b, cells[i]);
}

static void add_finding(struct build *b, const struct finding *f)
{
	const struct schema_table *table = schema_find("finding");
	struct row_value values[ROWS_COLUMNS_MAX] = { 0 };
	bool hides = b->hide.hashes_paths || b->hide.omits_commands;

	set(values, table, "code", row_text(f->rule->code));
	set(values, table, "title", row_text(f->rule->title));
	set(values, table, "severity", row_text(severity_names[f->severity]));
	set(values, table, "possible", row_number(f->possible));
	set(values, table, "share", row_real(f->share));
	set(values, table, "gain", row_real(isfinite(f->predicted.gain) ? f->predicted.gain : NAN));
	set(values, table, "files", row_number((int64_t)f->file_count));
	if (f->file_count)
		set(values, table, "file", row_number(f->files[0]));
	set(values, table, "evidence", row_text(hides ? "" : f->evidence));
	add_row(b, table, values);
}

static void add_findings(struct build *b)
{
	struct diagnose_options options = { .config = b->options->config };
	size_t count = 0;
	struct finding *findings = diagnose(&b->profile, &options, &count);

	for (size_t i = 0; i < count; i++)
		add_finding(b, &findings[i]);
	findings_release(findings, count);
}

/* Fields that have a column; RESULT is always present. */
#define PRESENT_COLUMNS                                                                       \
	(PRESENT(SIZE) | PRESENT(OFFSET) | PRESENT(LINK) | PRESENT(LINK2) | PRESENT(HANDLE) | \
	 PRESENT(FLAGS) | PRESENT(MODE) | PRESENT(SPAN) | PRESENT(VARIABLE) | PRESENT(COLLECTIVE))

/* In the order of the columns of `activity`; tests/unit/site/build.c compares the names. */
static void add_activity(struct build *b, const struct schema_table *table,
			 const struct activity *a)
{
	const struct trace_head *head = &b->trace.head;
	struct row_value v[ROWS_COLUMNS_MAX], *at = v;

#define VALUE(value) *at++ = row_number((int64_t)(value))
#define VALUE_IF(condition, value) \
	*at++ = (struct row_value){ .is_set = (condition), .number = (int64_t)(value) }
#define VALUE_OPTIONAL(member, field) VALUE_IF((a->present & PRESENT(field)) != 0, a->member)
	VALUE(0);
	VALUE(head->run.started_ns + a->start_ns);
	VALUE(a->duration_ns);
	VALUE(a->id);
	VALUE(a->process);
	VALUE(b->call_numbers[a->call]);
	if (a->layer == head->calls[a->call].layer)
		*at++ = (struct row_value){ 0 };
	else
		*at++ = row_text(layer_name(a->layer));
	VALUE_IF(a->file != 0, a->file);
	VALUE_OPTIONAL(size, SIZE);
	VALUE_OPTIONAL(offset, OFFSET);
	VALUE(a->result);
	VALUE_IF(a->error != 0, a->error);
	VALUE_IF(a->parent != 0, a->parent);
	VALUE_OPTIONAL(link, LINK);
	VALUE_OPTIONAL(link2, LINK2);
	VALUE_OPTIONAL(handle, HANDLE);
	VALUE_OPTIONAL(flags, FLAGS);
	VALUE_OPTIONAL(mode, MODE);
	VALUE_OPTIONAL(span, SPAN);
	VALUE_OPTIONAL(variable, VARIABLE);
	VALUE_OPTIONAL(collective, COLLECTIVE);
	VALUE_IF(a->file2 != 0, a->file2);
	VALUE_IF(a->name != 0, a->name);
	VALUE_IF(a->hints != 0, a->hints);
	VALUE_IF((a->present & ~PRESENT_COLUMNS) != PRESENT(RESULT), (int16_t)a->present);
#undef VALUE
#undef VALUE_IF
#undef VALUE_OPTIONAL
	add_row(b, table, v);
	b->kept++;
}

/* Reads the activities of the trace again, after its profile was made. */
static int visit_activities(struct build *b, const char *path,
			    void (*visit)(struct build *b, const struct activity *a))
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	struct trace again;
	uint64_t done = 0;
	ssize_t n;
	int r = trace_open(&again, path, NULL, b->err);

	if (r < 0)
		return r;
	while ((n = trace_next(&again, batch, BATCH, b->err)) > 0 && b->result >= 0) {
		for (ssize_t i = 0; i < n; i++)
			if (is_sampled(b, &batch[i]) && batch[i].call < b->trace.head.call_count)
				visit(b, &batch[i]);
		done += (uint64_t)n;
		r = trace_watch_show(b->options->watch, done, b->trace.head.activities, b->err);
		if (r < 0)
			break;
	}
	trace_close(&again);
	return r < 0 ? r : n < 0 ? (int)n : b->result;
}

static void count_activity(struct build *b, const struct activity *a)
{
	b->is_called[a->call] = true;
	b->kept++;
}

static void visit_activity(struct build *b, const struct activity *a)
{
	add_activity(b, b->activity, a);
}

/* The run states how many activities follow, so that what is missing can be noticed. */
static int count_kept(struct build *b, const char *path)
{
	int r = 0;

	if (b->options->sample == 1) {
		b->kept = b->trace.head.activities;
		memset(b->is_called, true, b->trace.head.call_count);
	} else if (b->options->sample > 1) {
		r = visit_activities(b, path, count_activity);
	}
	return r;
}

static int emit_all(struct build *b, const char *path)
{
	int r = count_kept(b, path);

	if (r < 0)
		return r;
	add_run(b, b->kept);
	add_head(b);
	add_aggregates(b);
	add_findings(b);
	if (b->result >= 0 && b->options->sample)
		r = visit_activities(b, path, visit_activity);
	if (r >= 0 && b->result >= 0)
		b->result = flush(b);
	return r < 0 ? r : b->result;
}

static int read_profile(struct build *b)
{
	int r = saved_read(&b->profile, &b->trace, b->err);

	if (r)
		return r < 0 ? r : 0;
	profile_init(&b->profile, &b->trace.head, NULL);
	r = profile_read(&b->profile, &b->trace, parallel_cores(), NULL, NULL, b->err);
	if (r < 0)
		profile_release(&b->profile);
	return r;
}

int build_trace(const char *path, const struct build_options *options, build_emit *emit, void *arg,
		struct err *err)
{
	struct build b = { .options = options,
			   .emit = emit,
			   .arg = arg,
			   .err = err,
			   .activity = schema_find("activity"),
			   .limit = options->payload_bytes ? options->payload_bytes
							   : BUILD_PAYLOAD_BYTES };
	int r = hide_init(&b.hide, options->config, err);

	if (r >= 0)
		r = trace_open(&b.trace, path, NULL, err);
	if (r < 0)
		return r;
	r = read_profile(&b);
	if (r >= 0) {
		b.is_called = xcalloc(b.trace.head.call_count + 1, sizeof(*b.is_called));
		b.call_numbers = xcalloc(b.trace.head.call_count + 1, sizeof(*b.call_numbers));
		rows_start(&b.rows, text_or(b.trace.head.run.uuid, ""));
		r = emit_all(&b, path);
		free(b.is_called);
		free(b.call_numbers);
		profile_release(&b.profile);
	}
	rows_release(&b.rows);
	trace_close(&b.trace);
	return r;
}
