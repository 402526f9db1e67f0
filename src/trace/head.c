/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/head.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

_Static_assert(FIELD_COUNT <= FIELDS_MAX, "every field has a bit in activity.present");

static void texts_fill(const struct fact *fact, void *row)
{
	for (size_t i = 0; i < fact->count; i++)
		if (fact->fields[i].type == FACT_TEXT && !*fact_text(&fact->fields[i], row))
			fact_set_text(&fact->fields[i], row, "", 0);
}

void head_init(struct head_maker *maker, struct trace_head *head)
{
	*maker = (struct head_maker){ .head = head };
	memset(maker->layers, -1, sizeof(maker->layers));
	memset(maker->fields, -1, sizeof(maker->fields));
	*head = (struct trace_head){ .clock = { .num = 1, .den = 1 },
				     .end = { .exit_status = -1 } };
	texts_fill(&fact_run, &head->run);
	texts_fill(&fact_clock, &head->clock);
	head_fill_files(maker, 1);
}

static int take_name(struct head_maker *maker, struct name_row *row, struct err *err)
{
	bool layer = !strcmp(row->list, "layer");
	int known = layer ? layer_by_name(row->name) : field_by_name(row->name);

	if (!layer && strcmp(row->list, "field"))
		return 0; /* a list that a later Sluice has added: nothing we read can need it */
	if (row->number >= (layer ? LAYERS_MAX : FIELDS_MAX))
		return err_set(err, EBADMSG, "%s number %u is out of range", row->list,
			       row->number);
	(layer ? maker->layers : maker->fields)[row->number] = (int8_t)known;
	return 0;
}

static int take_call(struct head_maker *maker, struct call_row *row, struct err *err)
{
	struct trace_head *head = maker->head;
	struct call_info call;
	const char *unknown;

	if (row->number != head->call_count || row->number > UINT16_MAX)
		return err_set(err, EBADMSG, "call number %u follows number %zu", row->number,
			       head->call_count - 1);
	unknown = call_of_row(row, &call);
	if (unknown)
		return err_set(
			err, EBADMSG,
			"call \"%s\" has a %s that this Sluice does not know: use a newer one",
			row->name, unknown);
	head->calls = xgrow(head->calls, &maker->call_cap, head->call_count + 1, sizeof(call));
	call.name = row->name;
	row->name = NULL;
	head->calls[head->call_count++] = call;
	return 0;
}

/* What a process tells of itself later. Others depend on the rest: it stays as it was first told.
 */
static void process_update(struct process_info *process, struct process_info *row)
{
	struct process_info old = *process;

	process->rank = row->rank;
	process->ranks = row->ranks;
	process->host = row->host;
	process->program = row->program;
	process->command = row->command;
	process->directory = row->directory;
	*row = old; /* its texts are released with the row */
}

static int take_process(struct head_maker *maker, struct process_info *row, struct err *err)
{
	struct trace_head *head = maker->head;

	if (row->index < head->process_count) {
		process_update(&head->processes[row->index], row);
		return 0;
	}
	if (row->index > head->process_count)
		return err_set(err, EBADMSG, "process number %u follows number %zd", row->index,
			       (ssize_t)head->process_count - 1);
	if (row->parent < -1 || row->parent >= (int64_t)row->index)
		return err_set(err, EBADMSG, "process %u has parent %d, which does not precede it",
			       row->index, row->parent);
	head->processes =
		xgrow(head->processes, &maker->process_cap, head->process_count + 1, sizeof(*row));
	head->processes[head->process_count++] = *row;
	*row = (struct process_info){ 0 };
	return 0;
}

static int take_file(struct head_maker *maker, struct file_row *row, struct err *err)
{
	struct trace_head *head = maker->head;

	if (row->id != head->file_count)
		return err_set(err, EBADMSG, "file number %u follows number %zu", row->id,
			       head->file_count - 1);
	head->files = xgrow(head->files, &maker->file_cap, head->file_count + 1, sizeof(char *));
	head->files[head->file_count++] = row->path;
	row->path = NULL;
	return 0;
}

static int take_aggregate(struct head_maker *maker, const struct aggregate_row *row,
			  struct err *err)
{
	struct trace_head *head = maker->head;
	struct aggregate aggregate;
	const char *unknown = aggregate_of_row(row, &aggregate);

	if (unknown)
		return err_set(err, EBADMSG,
			       "an aggregate has a %s that this Sluice does not know: %s", unknown,
			       unknown[0] == 'g' ? row->group : row->layer);
	head->aggregates = xgrow(head->aggregates, &maker->aggregate_cap, head->aggregate_count + 1,
				 sizeof(aggregate));
	head->aggregates[head->aggregate_count++] = aggregate;
	return 0;
}

static int take_loss(struct head_maker *maker, const struct loss_info *row)
{
	struct trace_head *head = maker->head;

	head->losses = xgrow(head->losses, &maker->loss_cap, head->loss_count + 1, sizeof(*row));
	head->losses[head->loss_count++] = *row;
	return 0;
}

static int take_host(struct head_maker *maker, struct host_info *row)
{
	struct trace_head *head = maker->head;

	head->hosts = xgrow(head->hosts, &maker->host_cap, head->host_count + 1, sizeof(*row));
	head->hosts[head->host_count++] = *row;
	*row = (struct host_info){ 0 };
	return 0;
}

static int take_statistic(struct head_maker *maker, struct statistic_info *row, struct err *err)
{
	struct trace_head *head = maker->head;

	if (row->number != head->statistic_count)
		return err_set(err, EBADMSG, "statistic number %u follows number %zd", row->number,
			       (ssize_t)head->statistic_count - 1);
	if (!row->scale)
		return err_set(err, EBADMSG,
			       "statistic %u has scale 0, which values are divided by",
			       row->number);
	head->statistics = xgrow(head->statistics, &maker->statistic_cap, head->statistic_count + 1,
				 sizeof(*row));
	head->statistics[head->statistic_count++] = *row;
	*row = (struct statistic_info){ 0 };
	return 0;
}

static int take_sample(struct head_maker *maker, const struct stat_sample *row)
{
	struct trace_head *head = maker->head;

	head->samples =
		xgrow(head->samples, &maker->sample_cap, head->sample_count + 1, sizeof(*row));
	head->samples[head->sample_count++] = *row;
	return 0;
}

static int take_note(struct head_maker *maker, struct note *row)
{
	struct trace_head *head = maker->head;

	head->notes = xgrow(head->notes, &maker->note_cap, head->note_count + 1, sizeof(*row));
	head->notes[head->note_count++] = *row;
	*row = (struct note){ 0 };
	return 0;
}

static int take_clock(struct head_maker *maker, struct run_clock *row, struct err *err)
{
	if (!row->num || !row->den)
		return err_set(err, EBADMSG, "the clock has num or den 0");
	fact_release(&fact_clock, &maker->head->clock);
	maker->head->clock = *row;
	*row = (struct run_clock){ 0 };
	return 0;
}

static int take(struct head_maker *maker, const struct fact *fact, union fact_row *row,
		struct err *err)
{
	if (fact == &fact_name)
		return take_name(maker, &row->name, err);
	if (fact == &fact_call)
		return take_call(maker, &row->call, err);
	if (fact == &fact_process)
		return take_process(maker, &row->process, err);
	if (fact == &fact_file)
		return take_file(maker, &row->file, err);
	if (fact == &fact_aggregate)
		return take_aggregate(maker, &row->aggregate, err);
	if (fact == &fact_loss)
		return take_loss(maker, &row->loss);
	if (fact == &fact_host)
		return take_host(maker, &row->host);
	if (fact == &fact_statistic)
		return take_statistic(maker, &row->statistic, err);
	if (fact == &fact_sample)
		return take_sample(maker, &row->sample);
	if (fact == &fact_note)
		return take_note(maker, &row->note);
	if (fact == &fact_clock)
		return take_clock(maker, &row->clock, err);
	if (fact == &fact_end) {
		maker->head->end = row->end;
		return 0;
	}
	run_info_release(&maker->head->run);
	maker->head->run = row->run;
	row->run = (struct run_info){ 0 };
	return 0;
}

int head_take(struct head_maker *maker, const struct fact *fact, union fact_row *row,
	      struct err *err)
{
	int r;

	texts_fill(fact, row);
	r = take(maker, fact, row, err);
	fact_release(fact, row);
	return r;
}

void head_fill_processes(struct head_maker *maker, size_t count)
{
	while (maker->head->process_count < count) {
		union fact_row row = { .process = { .index = (uint32_t)maker->head->process_count,
						    .parent = -1,
						    .rank = -1 } };

		head_take(maker, &fact_process, &row, NULL);
	}
}

void head_fill_files(struct head_maker *maker, size_t count)
{
	struct trace_head *head = maker->head;

	while (head->file_count < count) {
		head->files =
			xgrow(head->files, &maker->file_cap, head->file_count + 1, sizeof(char *));
		head->files[head->file_count++] = xstrdup("");
	}
}

void head_fill_statistics(struct head_maker *maker, size_t count)
{
	while (maker->head->statistic_count < count) {
		union fact_row row = { .statistic = {
					       .number = (uint32_t)maker->head->statistic_count,
					       .scale = 1 } };

		head_take(maker, &fact_statistic, &row, NULL);
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

static void samples_settle(struct trace_head *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->sample_count; i++)
		if (head->samples[i].statistic < head->statistic_count)
			head->samples[kept++] = head->samples[i];
	head->sample_count = kept;
	if (kept)
		qsort(head->samples, kept, sizeof(*head->samples), sample_compare);
}

static void notes_settle(struct trace_head *head)
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

void head_settle(struct head_maker *maker)
{
	struct trace_head *head = maker->head;
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
	samples_settle(head);
	notes_settle(head);
}

char *head_match_files(const struct trace_head *head, const char *glob)
{
	char *match = xcalloc(head->file_count, 1);

	for (size_t i = 1; i < head->file_count; i++) {
		const char *base = strrchr(head->files[i], '/');

		match[i] =
			!fnmatch(glob, head->files[i], 0) || (base && !fnmatch(glob, base + 1, 0));
	}
	return match;
}
