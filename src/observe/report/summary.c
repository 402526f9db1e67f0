/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/report/names.h"

/* What one call adds; which of it counts depends on the calls around it. */
struct share {
	uint64_t bytes_read, bytes_written;
	int64_t time_ns;
	bool error, transfer;
};

static void tally_add(struct tally *t, const struct share *share, bool covered)
{
	t->calls++;
	t->errors += share->error;
	if (covered)
		return;
	t->time_ns += share->time_ns;
	t->bytes_read += share->bytes_read;
	t->bytes_written += share->bytes_written;
	if (share->transfer) {
		t->transfers++;
		t->transfer_ns += share->time_ns;
	}
}

static void tally_add_aggregate(struct tally *t, const struct aggregate *row)
{
	bool transfer = row->group == GROUP_READ || row->group == GROUP_WRITE;

	t->calls += row->calls;
	t->errors += row->errors;
	t->time_ns += row->duration_ns;
	if (row->group == GROUP_READ)
		t->bytes_read += (uint64_t)row->bytes;
	if (row->group == GROUP_WRITE)
		t->bytes_written += (uint64_t)row->bytes;
	if (transfer) {
		t->transfers += row->calls;
		t->transfer_ns += row->duration_ns;
	}
}

static void add_aggregate(struct summary *s, const struct aggregate *row)
{
	if (row->layer >= LAYER_COUNT || row->group >= GROUP_COUNT ||
	    row->file >= s->head->file_count)
		return;
	s->has_aggregates = true;
	tally_add_aggregate(row->layer == LAYER_NETWORK ? &s->network : &s->run, row);
	tally_add_aggregate(&s->layers[row->layer], row);
	tally_add_aggregate(&s->counted[row->group][row->layer], row);
	tally_add_aggregate(&s->files[row->file], row);
}

void summary_init(struct summary *summary, const struct trace_head *head)
{
	*summary = (struct summary){ .head = head };
	summary->functions = xcalloc(head->call_count * LAYER_COUNT, sizeof(*summary->functions));
	summary->files = xcalloc(head->file_count + 1, sizeof(*summary->files));
	for (size_t i = 0; i < head->aggregate_count; i++)
		add_aggregate(summary, &head->aggregates[i]);
}

void summary_release(struct summary *summary)
{
	free(summary->functions);
	free(summary->files);
	nest_release(&summary->nest);
	*summary = (struct summary){ 0 };
}

static struct share share_of(const struct activity *a, const struct call_info *call)
{
	struct share share = { .time_ns = a->duration_ns, .error = a->error != 0 };

	if (!class_moves_bytes(call->class) || a->result < 0)
		return share;
	share.transfer = true;
	if (call->class != CLASS_WRITE)
		share.bytes_read = (uint64_t)a->result;
	if (call->class != CLASS_READ)
		share.bytes_written = (uint64_t)a->result;
	return share;
}

/*
 * Activities come by start, so the union of their times is kept with the end of what was seen so
 * far.
 */
static void add_busy(struct summary *s, const struct activity *a)
{
	int64_t end = a->start_ns + a->duration_ns;
	int64_t from = a->start_ns > s->busy_until_ns ? a->start_ns : s->busy_until_ns;

	if (end <= from)
		return;
	s->busy_ns += end - from;
	s->busy_until_ns = end;
}

static bool covers_file(const struct nest_call *enclosing, size_t depth, file_id file)
{
	for (size_t i = 0; i < depth; i++) {
		if (enclosing[i].file == file)
			return true;
	}
	return false;
}

static bool covers_layer(const struct nest_call *enclosing, size_t depth, uint8_t layer)
{
	for (size_t i = 0; i < depth; i++) {
		if (enclosing[i].layer == layer)
			return true;
	}
	return false;
}

static bool covers_call(const struct nest_call *enclosing, size_t depth, uint16_t call)
{
	for (size_t i = 0; i < depth; i++) {
		if (enclosing[i].call == call)
			return true;
	}
	return false;
}

/* The bytes of a copy are read from its second file and written to the first. */
static void add_files(struct summary *s, const struct activity *a, const struct call_info *call,
		      const struct share *share, const struct nest_call *enclosing, size_t depth)
{
	struct share first = *share;

	if (call->class == CLASS_COPY && a->file2 && a->file2 < s->head->file_count) {
		struct tally *source = &s->files[a->file2];

		first.bytes_read = 0;
		if (!covers_file(enclosing, depth, a->file2))
			source->bytes_read += share->bytes_read;
		source->calls++;
	}
	tally_add(&s->files[a->file], &first, covers_file(enclosing, depth, a->file));
}

void summary_add(struct summary *summary, const struct activity *activity)
{
	struct summary *s = summary;
	const struct activity *a = activity;
	const struct call_info *call;
	const struct nest_call *enclosing;
	struct share share;
	size_t depth;

	if (a->call >= s->head->call_count || a->file >= s->head->file_count ||
	    a->layer >= LAYER_COUNT)
		return;
	call = &s->head->calls[a->call];
	share = share_of(a, call);
	depth = nest_enter(&s->nest, a, &enclosing);
	tally_add(&s->layers[a->layer], &share, covers_layer(enclosing, depth, a->layer));
	tally_add(&s->functions[a->call * LAYER_COUNT + a->layer], &share,
		  covers_call(enclosing, depth, a->call));
	add_files(s, a, call, &share, enclosing, depth);
	/* A process that starts another one does no I/O by that. */
	if (a->parent || call->class == CLASS_PROCESS)
		return;
	tally_add(a->layer == LAYER_NETWORK ? &s->network : &s->run, &share, false);
	if (a->layer != LAYER_NETWORK)
		add_busy(s, a);
}

static int compare_rows(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (x->tally->time_ns != y->tally->time_ns)
		return x->tally->time_ns < y->tally->time_ns ? 1 : -1;
	if (x->tally->calls != y->tally->calls)
		return x->tally->calls < y->tally->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void rows_add(struct summary_row *rows, size_t *count, const char *name, size_t layer,
		     bool counted, const struct tally *tally)
{
	if (!tally->calls)
		return;
	rows[(*count)++] = (struct summary_row){ name, (uint8_t)layer, counted, tally };
}

struct summary_row *summary_functions(const struct summary *summary, size_t *count)
{
	const struct trace_head *head = summary->head;
	struct summary_row *rows =
		xcalloc((head->call_count + GROUP_COUNT) * LAYER_COUNT, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < head->call_count * LAYER_COUNT; i++)
		rows_add(rows, &n, head->calls[i / LAYER_COUNT].name, i % LAYER_COUNT, false,
			 &summary->functions[i]);
	for (size_t group = 0; group < GROUP_COUNT; group++) {
		for (size_t layer = 0; layer < LAYER_COUNT; layer++)
			rows_add(rows, &n, names_group((unsigned)group), layer, true,
				 &summary->counted[group][layer]);
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	*count = n;
	return rows;
}

struct summary_row *summary_files(const struct summary *summary, size_t *count)
{
	size_t n = 0, files = summary->head->file_count;
	struct summary_row *rows = xcalloc(files + 1, sizeof(*rows));

	for (size_t i = 1; i < files; i++)
		rows_add(rows, &n, summary->head->files[i], 0, false, &summary->files[i]);
	qsort(rows, n, sizeof(*rows), compare_rows);
	*count = n;
	return rows;
}
