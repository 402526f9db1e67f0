/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decodes the activities of a block. A block stays in columns until its rows are requested: merging
 * needs only times and ids, and only the caller's batch holds whole activities. The payload is not
 * trusted even if its checksum is right, because a file may be forged.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/container/rows.h"
#include "trace/head.h"
#include "trace/ticks.h"

/* Columns of the group table. */
enum { GROUP_PROCESS, GROUP_THREAD, GROUP_CALL, GROUP_PRESENT, GROUP_LAYER, GROUP_COLUMNS };

/* Converts present bits of the trace to those of this build. False if a field is unknown. */
static bool translate_present(const struct head_builder *builder, uint64_t bits, uint16_t *present)
{
	*present = 0;
	for (unsigned i = 0; i < FIELDS_MAX; i++) {
		if (!(bits >> i & 1))
			continue;
		if (builder->fields[i] < 0)
			return false;
		*present |= (uint16_t)(1u << builder->fields[i]);
	}
	return bits >> FIELDS_MAX == 0;
}

static bool fill_group(struct row_group *group, const struct head_builder *builder,
		       const struct column *table, size_t i)
{
	uint64_t process = column_at(&table[GROUP_PROCESS], i);
	uint64_t thread = column_at(&table[GROUP_THREAD], i);
	uint64_t call = column_at(&table[GROUP_CALL], i);
	uint64_t layer = column_at(&table[GROUP_LAYER], i);

	if (process >= builder->head->process_count || call >= builder->head->call_count ||
	    thread >> (64 - RECORD_SEQ_BITS) || layer >= LAYERS_MAX || builder->layers[layer] < 0)
		return false;
	group->process = (uint32_t)process;
	group->thread = thread << RECORD_SEQ_BITS;
	group->call = (uint16_t)call;
	group->layer = (uint8_t)builder->layers[layer];
	return translate_present(builder, column_at(&table[GROUP_PRESENT], i), &group->present);
}

static int read_group_table(struct rows_out *rows, struct wire *in,
			    const struct head_builder *builder)
{
	struct column table[GROUP_COLUMNS] = { 0 };
	int r = 0;

	rows->group_count = wire_varint(in);
	if (in->bad || !rows->group_count || rows->group_count > rows->count)
		return -EBADMSG;
	for (int i = 0; i < GROUP_COLUMNS && !r; i++)
		r = column_get(in, &table[i], rows->group_count, NULL, GUESS_NONE);
	rows->groups = xcalloc(rows->group_count, sizeof(*rows->groups));
	for (size_t i = 0; i < rows->group_count && !r; i++)
		if (!fill_group(&rows->groups[i], builder, table, i))
			r = -EBADMSG;
	for (int i = 0; i < GROUP_COLUMNS; i++)
		column_release(&table[i]);
	return r;
}

static void reserve_places(struct rows_out *rows)
{
	if (rows->room < rows->count) {
		free(rows->group_room);
		free(rows->place_room);
		rows->group_room = xmalloc(rows->count * sizeof(*rows->group_room));
		rows->place_room = xmalloc(rows->count * sizeof(*rows->place_room));
		rows->room = rows->count;
	}
	rows->group_of = rows->group_room;
	rows->place = rows->place_room;
}

/* Repeats the encoder's counting sort to find the index of each row in the columns. */
static int find_places(struct rows_out *rows, const struct column *groups)
{
	AUTO_FREE uint32_t *fill = xcalloc(rows->group_count + 1, sizeof(*fill));

	reserve_places(rows);
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t group = column_at(groups, i);

		if (group >= rows->group_count)
			return -EBADMSG;
		rows->group_of[i] = (uint16_t)group;
		fill[group + 1]++;
	}
	for (size_t i = 1; i <= rows->group_count; i++)
		fill[i] += fill[i - 1];
	for (size_t i = 0; i < rows->count; i++)
		rows->place[i] = fill[rows->group_of[i]]++;
	return 0;
}

static int read_order(struct rows_out *rows, struct wire *in)
{
	int r = column_get(in, &rows->order, rows->count, NULL, GUESS_NONE);

	return !r && rows->group_count > 1 ? find_places(rows, &rows->order) : r;
}

static size_t place_of(const struct rows_out *rows, size_t row)
{
	return rows->place ? rows->place[row] : row;
}

static const struct row_group *group_of(const struct rows_out *rows, size_t row)
{
	return &rows->groups[rows->group_of ? rows->group_of[row] : 0];
}

/* Makes a constant column one that can be changed row by row. */
static void expand_constant(struct column *column, size_t count)
{
	if (column->mask)
		return;
	column_reserve(column, count);
	for (size_t i = 0; i < count; i++)
		column->values[i] = column->constant;
}

/* Converts ticks to nanoseconds in place. Fails if times descend or contradict the header. */
static int convert_times(struct rows_out *rows, const struct block *block,
			 const struct ticks *ticks)
{
	int64_t *start = rows->start_ns;
	uint64_t *duration;

	if (start[0] != block->tmin || start[rows->count - 1] != block->tmax)
		return -EBADMSG;
	for (size_t i = 1; i < rows->count; i++)
		if (start[i] < start[i - 1])
			return -EBADMSG;
	if (ticks->identity)
		return 0;
	expand_constant(&rows->columns[ROW_DURATION], rows->count);
	duration = rows->columns[ROW_DURATION].values;
	for (size_t i = 0; i < rows->count; i++) {
		size_t place = place_of(rows, i);
		int64_t ns = ticks_ns(ticks, start[i]);

		duration[place] =
			(uint64_t)ticks_span_ns(ticks, start[i], ns, (int64_t)duration[place]);
		start[i] = ns;
	}
	return 0;
}

static int read_starts(struct rows_out *rows, struct wire *in)
{
	if (column_get(in, &rows->starts, rows->count, NULL, GUESS_NONE) < 0)
		return -EBADMSG;
	expand_constant(&rows->starts, rows->count);
	rows->start_ns = (int64_t *)rows->starts.values;
	return 0;
}

/* Columns that the version of the payload does not have stay 0. */
static int read_columns(struct rows_out *rows, struct wire *in, unsigned version)
{
	int count = version < 2 ? ROW_COUNT_1 : version < 3 ? ROW_COUNT_2 : ROW_COUNT;

	for (int i = 0; i < count; i++) {
		const struct row_layout *layout = &row_layout[i];
		const struct column *other = &rows->columns[layout->other];

		if (column_get(in, &rows->columns[i], rows->count, other, layout->guess) < 0)
			return -EBADMSG;
	}
	return 0;
}

/* Invalid file ids become 0 (unknown file); an invalid sequence number is an error. */
static int check_columns(struct rows_out *rows, size_t file_count)
{
	static const enum row_column files[] = { ROW_FILE, ROW_FILE2, ROW_NAME, ROW_HINTS };

	for (int i = 0; i < 4; i++) {
		struct column *column = &rows->columns[files[i]];

		for (size_t j = 0; j < (column->mask ? rows->count : 1); j++)
			if (column->values[j] >= file_count)
				column->values[j] = 0;
	}
	for (size_t i = 0; i < (rows->columns[ROW_SEQ].mask ? rows->count : 1); i++)
		if (rows->columns[ROW_SEQ].values[i] > RECORD_SEQ_MASK)
			return -EBADMSG;
	return 0;
}

static uint64_t id_of(const struct rows_out *rows, size_t row)
{
	return group_of(rows, row)->thread |
	       column_at(&rows->columns[ROW_SEQ], place_of(rows, row));
}

static bool tie_before(const struct rows_out *x, size_t a, const struct rows_out *y, size_t b)
{
	uint32_t process_a = group_of(x, a)->process, process_b = group_of(y, b)->process;

	if (process_a != process_b)
		return process_a < process_b;
	return id_of(x, a) < id_of(y, b);
}

bool rows_before(const struct rows_out *x, size_t a, const struct rows_out *y, size_t b)
{
	if (x->start_ns[a] != y->start_ns[b])
		return x->start_ns[a] < y->start_ns[b];
	if (tie_before(x, a, y, b))
		return true;
	return !tie_before(y, b, x, a) && x->number < y->number;
}

struct tie {
	uint32_t process, place;
	uint64_t id;
	uint16_t group;
};

static int tie_compare(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void sort_tie(struct rows_out *rows, size_t from, size_t to)
{
	AUTO_FREE struct tie *ties = xmalloc((to - from) * sizeof(*ties));

	for (size_t i = from; i < to; i++)
		ties[i - from] = (struct tie){ .process = group_of(rows, i)->process,
					       .place = rows->place[i],
					       .id = id_of(rows, i),
					       .group = rows->group_of[i] };
	qsort(ties, to - from, sizeof(*ties), tie_compare);
	for (size_t i = from; i < to; i++) {
		rows->place[i] = ties[i - from].place;
		rows->group_of[i] = ties[i - from].group;
	}
}

static void expand_places(struct rows_out *rows)
{
	if (rows->place)
		return;
	reserve_places(rows);
	for (size_t i = 0; i < rows->count; i++) {
		rows->place[i] = (uint32_t)i;
		rows->group_of[i] = 0;
	}
}

/* Different ticks can become the same nanosecond; such rows are sorted by process and id. */
static void sort_ties(struct rows_out *rows)
{
	for (size_t from = 0, to; from < rows->count; from = to) {
		bool wrong = false;

		for (to = from + 1; to < rows->count && rows->start_ns[to] == rows->start_ns[from];
		     to++)
			wrong |= tie_before(rows, to, rows, to - 1);
		if (!wrong)
			continue;
		expand_places(rows);
		sort_tie(rows, from, to);
	}
}

/* Empties the rows but keeps their memory. */
static void clear_rows(struct rows_out *rows)
{
	free(rows->groups);
	rows->groups = NULL;
	rows->at = 0;
	rows->group_of = NULL;
	rows->place = NULL;
	rows->libraries = false;
	for (int i = 0; i < ROW_COUNT; i++)
		column_set_constant(&rows->columns[i], 0);
}

struct rows_out *rows_out_new(const struct block *block, const struct buf *raw,
			      const struct head_builder *builder, const struct ticks *ticks,
			      struct rows_out *spare)
{
	struct rows_out *rows = spare ? spare : xcalloc(1, sizeof(*rows));
	const uint8_t *at = (const uint8_t *)buf_text(raw);
	struct wire in = { at, at + raw->len, false };
	int r;

	clear_rows(rows);
	rows->count = block->count;
	r = read_group_table(rows, &in, builder);
	if (!r)
		r = read_order(rows, &in);
	if (!r)
		r = read_starts(rows, &in);
	if (!r)
		r = read_columns(rows, &in, block->version);
	if (!r)
		r = check_columns(rows, builder->head->file_count);
	if (!r)
		r = convert_times(rows, block, ticks);
	if (r < 0) {
		rows_out_free(rows);
		return NULL;
	}
	for (int i = ROW_COUNT_1; i < ROW_COUNT; i++)
		rows->libraries |= rows->columns[i].mask || rows->columns[i].constant;
	sort_ties(rows);
	return rows;
}

void rows_out_free(struct rows_out *rows)
{
	if (!rows)
		return;
	for (int i = 0; i < ROW_COUNT; i++)
		column_release(&rows->columns[i]);
	column_release(&rows->starts);
	column_release(&rows->order);
	free(rows->groups);
	free(rows->group_room);
	free(rows->place_room);
	free(rows);
}

/* Copies the fields that only calls of I/O libraries have; most blocks have none. */
static inline void copy_library_fields(const struct rows_out *rows, size_t at, struct activity *to)
{
	const struct column *c = rows->columns;

	to->span = to->variable = 0;
	to->collective = 0;
	to->name = to->hints = 0;
	if (!rows->libraries)
		return;
	to->span = (int64_t)column_at(&c[ROW_SPAN], at);
	to->variable = (int64_t)column_at(&c[ROW_VARIABLE], at);
	to->collective = column_at(&c[ROW_COLLECTIVE], at);
	to->name = (file_id)column_at(&c[ROW_NAME], at);
	to->hints = (file_id)column_at(&c[ROW_HINTS], at);
}

void rows_out_read(struct rows_out *rows, struct activity *to, size_t n)
{
	const struct column *c = rows->columns;

	for (size_t i = 0; i < n; i++, to++, rows->at++) {
		const struct row_group *group = group_of(rows, rows->at);
		size_t at = place_of(rows, rows->at);

		to->start_ns = rows->start_ns[rows->at];
		to->duration_ns = (int64_t)column_at(&c[ROW_DURATION], at);
		to->id = group->thread | column_at(&c[ROW_SEQ], at);
		to->parent = row_parent(column_at(&c[ROW_PARENT], at), group->thread);
		to->link = column_at(&c[ROW_LINK], at);
		to->link2 = column_at(&c[ROW_LINK2], at);
		to->result = (int64_t)column_at(&c[ROW_RESULT], at);
		to->handle = group->present & PRESENT(HANDLE)
				     ? (int64_t)column_at(&c[ROW_HANDLE], at)
				     : -1;
		to->size = (int64_t)column_at(&c[ROW_SIZE], at);
		to->offset = (int64_t)column_at(&c[ROW_OFFSET], at);
		to->flags = (int64_t)column_at(&c[ROW_FLAGS], at);
		to->mode = (int64_t)column_at(&c[ROW_MODE], at);
		to->process = group->process;
		to->file = (file_id)column_at(&c[ROW_FILE], at);
		to->file2 = (file_id)column_at(&c[ROW_FILE2], at);
		to->error = (int32_t)column_at(&c[ROW_ERROR], at);
		to->call = group->call;
		to->present = group->present;
		to->layer = group->layer;
		copy_library_fields(rows, at, to);
	}
}
