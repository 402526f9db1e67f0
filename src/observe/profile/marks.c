/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/tally/traffic.h"

/* The phase of a process. */
struct phase_state {
	struct mark *mark;
	int64_t until_ns; /* what mark->time_ns covers */
};

static enum mark_kind kind_of_call(const struct call_info *call)
{
	if (call->layer != LAYER_APPLICATION || !call->name)
		return MARK_NONE;
	if (strcmp(call->name, "phase") == 0)
		return MARK_PHASE;
	return strcmp(call->name, "misuse") == 0 ? MARK_MISUSE : MARK_ACTIVITY;
}

void marks_init(struct marks *marks, const struct trace_head *head)
{
	*marks = (struct marks){ .kinds = xcalloc(head->call_count + 1, sizeof(*marks->kinds)) };
	for (size_t i = 0; i < head->call_count; i++)
		marks->kinds[i] = (uint8_t)kind_of_call(&head->calls[i]);
}

static void map_free(struct map *map)
{
	for (size_t i = 0; i < map->cap; i++)
		free(map->entries[i].value);
	map_release(map);
}

void marks_release(struct marks *marks)
{
	map_free(&marks->table);
	map_free(&marks->processes);
	free(marks->beginnings);
	free(marks->kinds);
	*marks = (struct marks){ 0 };
}

static uint64_t mark_key(enum mark_kind kind, file_id name)
{
	return (uint64_t)kind << 32 | name;
}

struct mark *marks_get(struct marks *marks, enum mark_kind kind, file_id name)
{
	struct mark *mark = map_get(&marks->table, mark_key(kind, name));

	if (!mark && marks->table.count >= MARKS_MAX) {
		name = 0;
		mark = map_get(&marks->table, mark_key(kind, name));
	}
	if (!mark) {
		mark = xcalloc(1, sizeof(*mark));
		mark->kind = kind;
		mark->name = name;
		map_put(&marks->table, mark_key(kind, name), mark);
	}
	return mark;
}

void marks_put_beginning(struct marks *marks, const struct mark_beginning *beginning)
{
	if (marks->beginning_count == MARKS_BEGINNINGS)
		return;
	if (!marks->beginnings)
		marks->beginnings = xcalloc(MARKS_BEGINNINGS, sizeof(*marks->beginnings));
	marks->beginnings[marks->beginning_count++] = *beginning;
}

/* The phase lasts at least until this time. */
static void extend_phase(struct phase_state *state, int64_t until_ns)
{
	if (until_ns > state->until_ns) {
		state->mark->time_ns += until_ns - state->until_ns;
		state->until_ns = until_ns;
	}
}

static void begin_phase(struct marks *marks, const struct activity *a, struct phase_state *state,
			int32_t member)
{
	struct mark_beginning beginning = { a->start_ns, a->file, (uint64_t)(uint32_t)member };

	/* What spans the end of the phase has extended it too far. */
	if (state && state->until_ns > a->start_ns)
		state->mark->time_ns -= state->until_ns - a->start_ns;
	else if (state)
		extend_phase(state, a->start_ns);
	if (!state) {
		state = xcalloc(1, sizeof(*state));
		map_put(&marks->processes, (uint64_t)a->process + 1, state);
	}
	state->mark = marks_get(marks, MARK_PHASE, a->file);
	state->until_ns = a->start_ns;
	state->mark->calls++;
	marks_put_beginning(marks, &beginning);
}

/* Is an activity of the same name outside of the one at this depth? Then that one has it all. */
static bool is_inside_same(const struct summary_call *call, size_t depth, file_id name)
{
	for (size_t i = 0; i < depth; i++)
		if (call->enclosing[i].layer == LAYER_APPLICATION &&
		    call->enclosing[i].file == name)
			return true;
	return false;
}

static void add_activity(struct marks *marks, const struct summary_call *call)
{
	const struct activity *a = call->activity;
	struct mark *mark = marks_get(marks, MARK_ACTIVITY, a->file);

	mark->calls++;
	mark->errors += a->error != 0;
	if (is_inside_same(call, call->depth, a->file))
		return;
	mark->time_ns += a->duration_ns;
	if (a->present & PRESENT(SIZE) && a->size > 0)
		mark->data_bytes += (uint64_t)a->size;
}

static void add_io(struct mark *mark, const struct summary_call *call)
{
	mark->io_calls++;
	mark->bytes[READING] += call->share.bytes_read;
	mark->bytes[WRITING] += call->share.bytes_written;
	mark->io_ns += call->share.time_ns;
}

static bool is_outermost_io(const struct summary_call *call)
{
	return call->activity->layer != LAYER_NETWORK && !call->context.in_io &&
	       !call->context.in_process && !call->share.is_process;
}

void marks_add(struct marks *marks, const struct summary_call *call, int32_t member)
{
	const struct activity *a = call->activity;
	struct phase_state *state = map_get(&marks->processes, (uint64_t)a->process + 1);
	enum mark_kind kind = (enum mark_kind)marks->kinds[a->call];

	if (kind == MARK_PHASE) {
		begin_phase(marks, a, state, member);
		return;
	}
	if (state)
		extend_phase(state, a->start_ns + a->duration_ns);
	if (kind == MARK_ACTIVITY)
		add_activity(marks, call);
	else if (kind == MARK_MISUSE)
		marks_get(marks, MARK_MISUSE, a->file)->calls++;
	if (kind != MARK_NONE || !is_outermost_io(call))
		return;
	if (state)
		add_io(state->mark, call);
	for (size_t i = 0; i < call->depth; i++) {
		const struct nest_call *outer = &call->enclosing[i];

		if (outer->layer == LAYER_APPLICATION && !is_inside_same(call, i, outer->file))
			add_io(marks_get(marks, MARK_ACTIVITY, outer->file), call);
	}
}

void marks_merge(struct marks *marks, const struct marks *other, const file_id *files,
		 int64_t shift_ns, int32_t member_base)
{
	for (size_t i = 0; i < other->table.cap; i++) {
		const struct mark *from = other->table.entries[i].value;
		struct mark *to;

		if (!other->table.entries[i].key)
			continue;
		to = marks_get(marks, (enum mark_kind)from->kind, files[from->name]);
		to->calls += from->calls;
		to->errors += from->errors;
		to->data_bytes += from->data_bytes;
		to->time_ns += from->time_ns;
		to->io_calls += from->io_calls;
		to->bytes[0] += from->bytes[0];
		to->bytes[1] += from->bytes[1];
		to->io_ns += from->io_ns;
	}
	for (size_t i = 0; i < other->beginning_count; i++) {
		struct mark_beginning beginning = other->beginnings[i];

		beginning.start_ns += shift_ns;
		beginning.name = files[beginning.name];
		beginning.member += (uint64_t)(uint32_t)member_base;
		marks_put_beginning(marks, &beginning);
	}
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = *(const struct mark *const *)a, *y = *(const struct mark *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

const struct mark **marks_list(const struct marks *marks, enum mark_kind kind, size_t *count)
{
	const struct mark **list = xcalloc(marks->table.count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < marks->table.cap; i++) {
		const struct mark *mark = marks->table.entries[i].value;

		if (marks->table.entries[i].key && mark->kind == kind)
			list[(*count)++] = mark;
	}
	qsort(list, *count, sizeof(*list), compare_marks);
	return list;
}

static int compare_beginnings(const void *a, const void *b)
{
	const struct mark_beginning *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

struct mark_beginning *marks_phases(const struct marks *marks, size_t *count)
{
	struct mark_beginning *list = xcalloc(marks->beginning_count + 1, sizeof(*list));
	uint64_t member = UINT64_MAX;

	*count = 0;
	for (size_t i = 0; i < marks->beginning_count; i++)
		if (marks->beginnings[i].member < member)
			member = marks->beginnings[i].member;
	for (size_t i = 0; i < marks->beginning_count; i++)
		if (marks->beginnings[i].member == member)
			list[(*count)++] = marks->beginnings[i];
	qsort(list, *count, sizeof(*list), compare_beginnings);
	return list;
}
