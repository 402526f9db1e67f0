/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/head.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

_Static_assert(FIELD_COUNT <= FIELDS_MAX, "every field has a bit in activity.present");

/* Every text of a head is set, so that users need not check for NULL. */
static void fill_missing_texts(const struct fact *fact, void *row)
{
	for (size_t i = 0; i < fact->count; i++)
		if (fact->fields[i].type == FACT_TEXT && !*fact_text(&fact->fields[i], row))
			fact_set_text(&fact->fields[i], row, "", 0);
}

void head_init(struct head_builder *builder, struct trace_head *head)
{
	*builder = (struct head_builder){ .head = head };
	memset(builder->layers, -1, sizeof(builder->layers));
	memset(builder->fields, -1, sizeof(builder->fields));
	*head = (struct trace_head){ .clock = { .num = 1, .den = 1 },
				     .end = { .exit_status = -1 } };
	fill_missing_texts(&fact_run, &head->run);
	fill_missing_texts(&fact_clock, &head->clock);
	head_fill_files(builder, 1);
}

static int add_name(struct head_builder *builder, struct name_row *row, struct err *err)
{
	bool layer = !strcmp(row->list, "layer");
	int known = layer ? layer_by_name(row->name) : field_by_name(row->name);

	if (!layer && strcmp(row->list, "field"))
		return 0; /* a later version added this list; no fact that we read uses it */
	if (row->number >= (layer ? LAYERS_MAX : FIELDS_MAX))
		return err_set(err, EBADMSG, "%s number %u is out of range", row->list,
			       row->number);
	(layer ? builder->layers : builder->fields)[row->number] = (int8_t)known;
	return 0;
}

static int add_call(struct head_builder *builder, struct call_row *row, struct err *err)
{
	struct trace_head *head = builder->head;
	struct call_info call;
	const char *unknown;

	if (row->number != head->call_count || row->number > UINT16_MAX)
		return err_set(err, EBADMSG, "call number %u follows number %zu", row->number,
			       head->call_count - 1);
	unknown = call_row_parse(row, &call);
	if (unknown)
		return err_set(err, EBADMSG, "call \"%s\" has an unknown %s; update Sluice",
			       row->name, unknown);
	head->calls = xgrow(head->calls, &builder->call_cap, head->call_count + 1, sizeof(call));
	call.name = row->name;
	row->name = NULL;
	head->calls[head->call_count++] = call;
	return 0;
}

/* Parent and first thread stay as they are, because other facts depend on them. */
static void update_process(struct process_info *process, struct process_info *row)
{
	struct process_info old = *process;

	process->rank = row->rank;
	process->ranks = row->ranks;
	process->host = row->host;
	process->program = row->program;
	process->command = row->command;
	process->directory = row->directory;
	*row = old; /* head_add() releases the old texts with the row */
}

static int add_process(struct head_builder *builder, struct process_info *row, struct err *err)
{
	struct trace_head *head = builder->head;

	if (row->index < head->process_count) {
		update_process(&head->processes[row->index], row);
		return 0;
	}
	if (row->index > head->process_count)
		return err_set(err, EBADMSG, "process number %u follows number %zd", row->index,
			       (ssize_t)head->process_count - 1);
	if (row->parent < -1 || row->parent >= (int64_t)row->index)
		return err_set(err, EBADMSG, "process %u has parent %d, which does not precede it",
			       row->index, row->parent);
	head->processes = xgrow(head->processes, &builder->process_cap, head->process_count + 1,
				sizeof(*row));
	head->processes[head->process_count++] = *row;
	*row = (struct process_info){ 0 };
	return 0;
}

static int add_file(struct head_builder *builder, struct file_row *row, struct err *err)
{
	struct trace_head *head = builder->head;

	if (row->id != head->file_count)
		return err_set(err, EBADMSG, "file number %u follows number %zu", row->id,
			       head->file_count - 1);
	head->files = xgrow(head->files, &builder->file_cap, head->file_count + 1, sizeof(char *));
	head->files[head->file_count++] = row->path;
	row->path = NULL;
	return 0;
}

static int add_aggregate(struct head_builder *builder, const struct aggregate_row *row,
			 struct err *err)
{
	struct trace_head *head = builder->head;
	struct aggregate aggregate;
	const char *unknown = aggregate_row_parse(row, &aggregate);

	if (unknown)
		return err_set(err, EBADMSG,
			       "an aggregate has an unknown %s, \"%s\"; update Sluice", unknown,
			       unknown[0] == 'g' ? row->group : row->layer);
	head->aggregates = xgrow(head->aggregates, &builder->aggregate_cap,
				 head->aggregate_count + 1, sizeof(aggregate));
	head->aggregates[head->aggregate_count++] = aggregate;
	return 0;
}

static int add_loss(struct head_builder *builder, const struct loss_info *row)
{
	struct trace_head *head = builder->head;

	head->losses = xgrow(head->losses, &builder->loss_cap, head->loss_count + 1, sizeof(*row));
	head->losses[head->loss_count++] = *row;
	return 0;
}

static int add_usage(struct head_builder *builder, struct usage *row)
{
	struct trace_head *head = builder->head;

	head->usages =
		xgrow(head->usages, &builder->usage_cap, head->usage_count + 1, sizeof(*row));
	head->usages[head->usage_count++] = *row;
	*row = (struct usage){ 0 };
	return 0;
}

static int add_flow(struct head_builder *builder, struct flow *row)
{
	struct trace_head *head = builder->head;

	head->flows = xgrow(head->flows, &builder->flow_cap, head->flow_count + 1, sizeof(*row));
	head->flows[head->flow_count++] = *row;
	*row = (struct flow){ 0 };
	return 0;
}

static int add_host(struct head_builder *builder, struct host_info *row)
{
	struct trace_head *head = builder->head;

	head->hosts = xgrow(head->hosts, &builder->host_cap, head->host_count + 1, sizeof(*row));
	head->hosts[head->host_count++] = *row;
	*row = (struct host_info){ 0 };
	return 0;
}

static int add_statistic(struct head_builder *builder, struct statistic_info *row, struct err *err)
{
	struct trace_head *head = builder->head;

	if (row->number != head->statistic_count)
		return err_set(err, EBADMSG, "statistic number %u follows number %zd", row->number,
			       (ssize_t)head->statistic_count - 1);
	if (!row->scale)
		return err_set(err, EBADMSG, "statistic %u has scale 0", row->number);
	head->statistics = xgrow(head->statistics, &builder->statistic_cap,
				 head->statistic_count + 1, sizeof(*row));
	head->statistics[head->statistic_count++] = *row;
	*row = (struct statistic_info){ 0 };
	return 0;
}

static int add_sample(struct head_builder *builder, const struct stat_sample *row)
{
	struct trace_head *head = builder->head;

	head->samples =
		xgrow(head->samples, &builder->sample_cap, head->sample_count + 1, sizeof(*row));
	head->samples[head->sample_count++] = *row;
	return 0;
}

static int add_note(struct head_builder *builder, struct note *row)
{
	struct trace_head *head = builder->head;

	head->notes = xgrow(head->notes, &builder->note_cap, head->note_count + 1, sizeof(*row));
	head->notes[head->note_count++] = *row;
	*row = (struct note){ 0 };
	return 0;
}

static int add_clock(struct head_builder *builder, struct run_clock *row, struct err *err)
{
	if (!row->num || !row->den)
		return err_set(err, EBADMSG, "the clock has num=0 or den=0");
	fact_release(&fact_clock, &builder->head->clock);
	builder->head->clock = *row;
	*row = (struct run_clock){ 0 };
	return 0;
}

static int add_row(struct head_builder *builder, const struct fact *fact, union fact_row *row,
		   struct err *err)
{
	if (fact == &fact_name)
		return add_name(builder, &row->name, err);
	if (fact == &fact_call)
		return add_call(builder, &row->call, err);
	if (fact == &fact_process)
		return add_process(builder, &row->process, err);
	if (fact == &fact_file)
		return add_file(builder, &row->file, err);
	if (fact == &fact_aggregate)
		return add_aggregate(builder, &row->aggregate, err);
	if (fact == &fact_loss)
		return add_loss(builder, &row->loss);
	if (fact == &fact_usage)
		return add_usage(builder, &row->usage);
	if (fact == &fact_flow)
		return add_flow(builder, &row->flow);
	if (fact == &fact_host)
		return add_host(builder, &row->host);
	if (fact == &fact_statistic)
		return add_statistic(builder, &row->statistic, err);
	if (fact == &fact_sample)
		return add_sample(builder, &row->sample);
	if (fact == &fact_note)
		return add_note(builder, &row->note);
	if (fact == &fact_clock)
		return add_clock(builder, &row->clock, err);
	if (fact == &fact_end) {
		builder->head->end = row->end;
		return 0;
	}
	run_info_release(&builder->head->run);
	builder->head->run = row->run;
	row->run = (struct run_info){ 0 };
	return 0;
}

/* Any 64 bits are valid for ticks of a clock and values of statistics. */
static int check_ranges(const struct fact *fact, const union fact_row *row, struct err *err)
{
	for (size_t i = 0; i < fact->count && fact != &fact_clock && fact != &fact_sample; i++) {
		const struct fact_field *field = &fact->fields[i];
		int64_t value = field->type == FACT_TEXT ? 0 : fact_number(field, row);

		if ((field->type == FACT_U64 && (uint64_t)value > HEAD_COUNT_MAX) ||
		    (field->type == FACT_I64 && (value > HEAD_TIME_MAX || value < -HEAD_TIME_MAX)))
			return err_set(err, EBADMSG, "%s of a fact \"%s\" is out of range",
				       field->name, fact->name);
	}
	return 0;
}

int head_add(struct head_builder *builder, const struct fact *fact, union fact_row *row,
	     struct err *err)
{
	int r;

	fill_missing_texts(fact, row);
	r = check_ranges(fact, row, err);
	if (!r)
		r = add_row(builder, fact, row, err);
	fact_release(fact, row);
	return r;
}

void head_fill_processes(struct head_builder *builder, size_t count)
{
	while (builder->head->process_count < count) {
		union fact_row row = { .process = { .index = (uint32_t)builder->head->process_count,
						    .parent = -1,
						    .rank = -1 } };

		head_add(builder, &fact_process, &row, NULL);
	}
}

void head_fill_files(struct head_builder *builder, size_t count)
{
	struct trace_head *head = builder->head;

	while (head->file_count < count) {
		head->files = xgrow(head->files, &builder->file_cap, head->file_count + 1,
				    sizeof(char *));
		head->files[head->file_count++] = xstrdup("");
	}
}

void head_fill_statistics(struct head_builder *builder, size_t count)
{
	while (builder->head->statistic_count < count) {
		union fact_row row = { .statistic = {
					       .number = (uint32_t)builder->head->statistic_count,
					       .scale = 1 } };

		head_add(builder, &fact_statistic, &row, NULL);
	}
}

static int sample_compare(const void *a, const void *b)
{
	const struct stat_sample *x = a, *y = b;

	if (x->statistic != y->statistic)
		return x->statistic < y->statistic ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->period_ns != y->period_ns)
		return x->period_ns < y->period_ns ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_samples(struct trace_head *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->sample_count; i++)
		if (head->samples[i].statistic < head->statistic_count)
			head->samples[kept++] = head->samples[i];
	head->sample_count = kept;
	if (kept)
		qsort(head->samples, kept, sizeof(*head->samples), sample_compare);
}

static void drop_invalid_notes(struct trace_head *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->note_count; i++) {
		struct note *note = &head->notes[i];

		if (note->process >= -1 && note->process < (int64_t)head->process_count)
			head->notes[kept++] = *note;
		else
			fact_release(&fact_note, note);
	}
	head->note_count = kept;
}

static bool flow_is_valid(const struct flow *flow)
{
	return flow->period_ns > 0 && flow->period_ns <= ACTIVITY_TIME_MAX &&
	       flow->start_ns >= -ACTIVITY_TIME_MAX && flow->start_ns <= ACTIVITY_TIME_MAX &&
	       flow->bytes_read >= 0 && flow->bytes_written >= 0;
}

/* Every process, file and layer of a usage or flow is valid afterwards. */
static void drop_invalid_usages(struct trace_head *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->usage_count; i++) {
		struct usage *row = &head->usages[i];

		if (row->file >= head->file_count)
			row->file = 0;
		if (row->process < head->process_count && layer_by_name(row->layer) >= 0)
			head->usages[kept++] = *row;
		else
			fact_release(&fact_usage, row);
	}
	head->usage_count = kept;
	kept = 0;
	for (size_t i = 0; i < head->flow_count; i++) {
		struct flow *row = &head->flows[i];

		if (row->process < head->process_count && layer_by_name(row->layer) >= 0 &&
		    flow_is_valid(row))
			head->flows[kept++] = *row;
		else
			fact_release(&fact_flow, row);
	}
	head->flow_count = kept;
}

void head_finish(struct head_builder *builder)
{
	struct trace_head *head = builder->head;
	size_t kept = 0;

	for (size_t i = 0; i < head->aggregate_count; i++) {
		struct aggregate *row = &head->aggregates[i];

		if (row->file >= head->file_count)
			row->file = 0;
		if (row->process < head->process_count)
			head->aggregates[kept++] = *row;
	}
	head->aggregate_count = kept;
	kept = 0;
	for (size_t i = 0; i < head->loss_count; i++)
		if (head->losses[i].process < head->process_count)
			head->losses[kept++] = head->losses[i];
	head->loss_count = kept;
	drop_invalid_usages(head);
	sort_samples(head);
	drop_invalid_notes(head);
}

char *head_match_files(const struct trace_head *head, const char *glob)
{
	char *match = xcalloc(head->file_count, 1);

	for (size_t i = 1; i < head->file_count; i++) {
		const char *path = head->files[i];

		match[i] = !fnmatch(glob, path, 0) || !fnmatch(glob, path_base_name(path), 0);
	}
	return match;
}

void head_release(struct trace_head *head)
{
	for (size_t i = 0; i < head->call_count; i++)
		free((char *)head->calls[i].name);
	for (size_t i = 0; i < head->process_count; i++)
		process_info_release(&head->processes[i]);
	for (size_t i = 0; i < head->file_count; i++)
		free(head->files[i]);
	for (size_t i = 0; i < head->usage_count; i++)
		fact_release(&fact_usage, &head->usages[i]);
	for (size_t i = 0; i < head->flow_count; i++)
		fact_release(&fact_flow, &head->flows[i]);
	for (size_t i = 0; i < head->host_count; i++)
		fact_release(&fact_host, &head->hosts[i]);
	for (size_t i = 0; i < head->statistic_count; i++)
		fact_release(&fact_statistic, &head->statistics[i]);
	for (size_t i = 0; i < head->note_count; i++)
		fact_release(&fact_note, &head->notes[i]);
	run_info_release(&head->run);
	fact_release(&fact_clock, &head->clock);
	free(head->calls);
	free(head->processes);
	free(head->files);
	free(head->aggregates);
	free(head->losses);
	free(head->usages);
	free(head->flows);
	free(head->hosts);
	free(head->statistics);
	free(head->samples);
	free(head->notes);
	*head = (struct trace_head){ 0 };
}
