/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collects the activities of a block and encodes them.
 *
 * This is the hottest code of the collector. Activities are split into columns as they arrive, one
 * tile at a time so that the tile stays in the L1 cache. Constant columns are detected on the way
 * and cost nothing later. Activities of a single thread are in order already and are not sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "trace/container/rows.h"

#define TILE 128      /* activities: 19 KiB */
#define DIGIT_BITS 11 /* of the radix sort */
#define SLOTS (2 * BLOCK_ROWS_MAX)
/* Bits of the columns that are always filled in. */
#define ROWS_ALWAYS \
	(1u << ROW_SEQ | 1u << ROW_DURATION | 1u << ROW_PARENT | 1u << ROW_RESULT | 1u << ROW_FILE)
/* A group key: the thread bits of the id, then layer, present bits and call. */
#define KEY_THREAD RECORD_SEQ_BITS
#define KEY_LAYER 32
#define KEY_PRESENT 16

#define ROW_GUESS(name, guess, other) [ROW_##name] = { GUESS_##guess, ROW_##other },
const struct row_layout row_layout[ROW_COUNT] = { ROW_LIST(ROW_GUESS) };
#undef ROW_GUESS

struct sort_key {
	uint64_t start; /* ticks since the earliest start of the block */
	uint32_t row;
};

struct rows_scratch {
	struct sort_key keys[2][BLOCK_ROWS_MAX];
	uint32_t digits[1 << DIGIT_BITS];
	uint32_t sorted[BLOCK_ROWS_MAX];   /* rows in order of time */
	uint32_t grouped[BLOCK_ROWS_MAX];  /* rows group after group */
	uint32_t slots[SLOTS];		   /* hash table of groups: number + 1, or 0 */
	uint32_t fill[BLOCK_ROWS_MAX + 1]; /* where the next row of a group goes */
	uint64_t group_of[BLOCK_ROWS_MAX]; /* in order of time */
	uint64_t group_key[BLOCK_ROWS_MAX], group_process[BLOCK_ROWS_MAX];
	uint64_t column[BLOCK_ROWS_MAX];
	size_t group_count;
};

void rows_in_init(struct rows_in *rows)
{
	*rows = (struct rows_in){ .used = ROWS_ALWAYS };
}

static void allocate_memory(struct rows_in *rows)
{
	rows->scratch = xmalloc(sizeof(*rows->scratch));
	for (int i = 0; i < ROW_COUNT; i++)
		rows->columns[i] = xmalloc(BLOCK_ROWS_MAX * sizeof(uint64_t));
	rows->start = xmalloc(BLOCK_ROWS_MAX * sizeof(uint64_t));
	rows->key = xmalloc(BLOCK_ROWS_MAX * sizeof(uint64_t));
	rows->process = xmalloc(BLOCK_ROWS_MAX * sizeof(uint64_t));
}

void rows_in_release(struct rows_in *rows)
{
	for (int i = 0; i < ROW_COUNT; i++)
		free(rows->columns[i]);
	free(rows->start);
	free(rows->key);
	free(rows->process);
	free(rows->scratch);
	rows_in_init(rows);
}

static uint64_t make_group_key(const struct activity *a)
{
	return (a->id & ~RECORD_SEQ_MASK) | (uint64_t)a->layer << KEY_LAYER |
	       (uint64_t)a->present << KEY_PRESENT | a->call;
}

#define UNROLL _Pragma("GCC unroll 4")

/* Copies one column of a tile. The value is an expression in `a`. */
#define COPY(to, changes, value)                                                             \
	do {                                                                                 \
		const struct activity *a = batch;                                            \
		uint64_t *copy_to = (to) + rows->count, copy_changes = 0;                    \
		uint64_t copy_first = rows->count ? (to)[0] : (uint64_t)(value);             \
		UNROLL for (const struct activity *end = batch + n; a < end; a++, copy_to++) \
		{                                                                            \
			*copy_to = (uint64_t)(value);                                        \
			copy_changes |= *copy_to ^ copy_first;                               \
		}                                                                            \
		(changes) |= copy_changes;                                                   \
	} while (0)

#define COPY_COLUMN(name, value) COPY(rows->columns[ROW_##name], rows->differ[ROW_##name], value)

#define COPY_OPTIONAL(name, member)                                                          \
	do {                                                                                 \
		if (!column_wanted(rows, ROW_##name, any & PRESENT(name), n))                \
			break;                                                               \
		if (all & PRESENT(name))                                                     \
			COPY_COLUMN(name, a->member);                                        \
		else                                                                         \
			COPY_COLUMN(name, if_present(a, FIELD_##name, (uint64_t)a->member)); \
	} while (0)

/* For columns that are 0 in most tiles. `seen` is the union of the tile's values. */
#define COPY_RARE(name, seen, member)                                     \
	do {                                                              \
		if (column_wanted(rows, ROW_##name, (uint64_t)(seen), n)) \
			COPY_COLUMN(name, a->member);                     \
	} while (0)

static uint64_t if_present(const struct activity *a, enum field field, uint64_t value)
{
	return a->present >> field & 1 ? value : 0;
}

static bool is_used(const struct rows_in *rows, enum row_column column)
{
	return rows->used >> column & 1;
}

/*
 * Whether the tile has values for the column. A column is cleared only when its first value
 * arrives; once it is used, tiles without values are filled with zeros.
 */
static bool column_wanted(struct rows_in *rows, enum row_column column, uint64_t any, size_t n)
{
	uint64_t *values = rows->columns[column];

	if (any) {
		if (!is_used(rows, column))
			memset(values, 0, rows->count * sizeof(*values));
		rows->used |= 1u << column;
		return true;
	}
	if (is_used(rows, column)) {
		memset(values + rows->count, 0, n * sizeof(*values));
		rows->differ[column] |= values[0];
	}
	return false;
}

static void copy_optional_columns(struct rows_in *rows, const struct activity *batch, size_t n)
{
	unsigned any = 0, all = ~0u, files2 = 0, names = 0, hints = 0;
	int errors = 0;

	for (size_t i = 0; i < n; i++) {
		any |= batch[i].present;
		all &= batch[i].present;
		errors |= batch[i].error;
		files2 |= batch[i].file2;
		names |= batch[i].name;
		hints |= batch[i].hints;
	}
	COPY_RARE(ERROR, errors, error);
	COPY_RARE(FILE2, files2, file2);
	COPY_RARE(NAME, names, name);
	COPY_RARE(HINTS, hints, hints);
	COPY_OPTIONAL(LINK, link);
	COPY_OPTIONAL(LINK2, link2);
	COPY_OPTIONAL(HANDLE, handle);
	COPY_OPTIONAL(SIZE, size);
	COPY_OPTIONAL(OFFSET, offset);
	COPY_OPTIONAL(FLAGS, flags);
	COPY_OPTIONAL(MODE, mode);
	COPY_OPTIONAL(SPAN, span);
	COPY_OPTIONAL(VARIABLE, variable);
	COPY_OPTIONAL(COLLECTIVE, collective);
}

static void copy_tile(struct rows_in *rows, const struct activity *batch, size_t n)
{
	uint64_t start_differ = 0;

	COPY(rows->start, start_differ, a->start_ns);
	COPY(rows->key, rows->key_differ, make_group_key(a));
	COPY(rows->process, rows->process_differ, a->process);
	COPY_COLUMN(SEQ, a->id & RECORD_SEQ_MASK);
	COPY_COLUMN(DURATION, a->duration_ns);
	COPY_COLUMN(PARENT, row_parent(a->parent, a->id & ~RECORD_SEQ_MASK));
	COPY_COLUMN(RESULT, a->result);
	COPY_COLUMN(FILE, a->file);
	copy_optional_columns(rows, batch, n);
}

/* The order of activity_compare() for rows with equal start. */
static bool tie_before(const struct rows_in *rows, size_t a, size_t b)
{
	uint64_t thread_a = rows->key[a] >> KEY_THREAD, thread_b = rows->key[b] >> KEY_THREAD;

	if (rows->process[a] != rows->process[b])
		return rows->process[a] < rows->process[b];
	if (thread_a != thread_b)
		return thread_a < thread_b;
	return rows->columns[ROW_SEQ][a] < rows->columns[ROW_SEQ][b];
}

static bool row_before(const struct rows_in *rows, size_t a, size_t b)
{
	int64_t start_a = (int64_t)rows->start[a], start_b = (int64_t)rows->start[b];

	return start_a < start_b || (start_a == start_b && tie_before(rows, a, b));
}

static bool tile_is_unsorted(const struct rows_in *rows, size_t n)
{
	size_t first = rows->count ? rows->count : 1;

	for (size_t i = first; i < rows->count + n; i++)
		if ((int64_t)rows->start[i] <= (int64_t)rows->start[i - 1] &&
		    row_before(rows, i, i - 1))
			return true;
	return false;
}

size_t rows_in_add(struct rows_in *rows, const struct activity *batch, size_t n)
{
	size_t room = BLOCK_ROWS_MAX - rows->count, tile;

	if (!rows->scratch)
		allocate_memory(rows);
	if (n > room)
		n = room;
	for (size_t done = 0; done < n; done += tile) {
		tile = size_min(n - done, TILE);
		copy_tile(rows, batch + done, tile);
		if (!rows->unsorted)
			rows->unsorted = tile_is_unsorted(rows, tile);
		rows->count += tile;
	}
	return n;
}

/* One pass of the radix sort. Returns false if all keys have the same digit and nothing moved. */
static bool sort_by_digit(struct rows_scratch *scratch, const struct sort_key *from,
			  struct sort_key *to, size_t n, unsigned shift)
{
	const uint32_t mask = (1u << DIGIT_BITS) - 1;
	uint32_t total = 0, size;

	memset(scratch->digits, 0, sizeof(scratch->digits));
	for (size_t i = 0; i < n; i++)
		scratch->digits[from[i].start >> shift & mask]++;
	if (scratch->digits[from[0].start >> shift & mask] == n)
		return false;
	for (uint32_t i = 0; i <= mask; i++, total += size) {
		size = scratch->digits[i];
		scratch->digits[i] = total;
	}
	for (size_t i = 0; i < n; i++)
		to[scratch->digits[from[i].start >> shift & mask]++] = from[i];
	return true;
}

static int tie_compare(const void *a, const void *b, void *rows)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (tie_before(rows, x, y))
		return -1;
	return tie_before(rows, y, x) ? 1 : (x > y) - (x < y);
}

/* Sorts rows with the same start by process and id. */
static void sort_ties(struct rows_in *rows, const struct sort_key *keys, uint32_t *sorted)
{
	for (size_t i = 0, j; i < rows->count; i = j) {
		for (j = i + 1; j < rows->count && keys[j].start == keys[i].start;)
			j++;
		if (j - i > 1)
			qsort_r(sorted + i, j - i, sizeof(*sorted), tie_compare, rows);
	}
}

/* Fills in scratch->sorted. */
static void sort_rows(struct rows_in *rows, struct rows_scratch *scratch)
{
	struct sort_key *from = scratch->keys[0], *to = scratch->keys[1], *swap;
	int64_t first = INT64_MAX;
	uint64_t bits = 0;

	for (size_t i = 0; i < rows->count; i++)
		if ((int64_t)rows->start[i] < first)
			first = (int64_t)rows->start[i];
	for (size_t i = 0; i < rows->count; i++) {
		from[i] = (struct sort_key){ rows->start[i] - (uint64_t)first, (uint32_t)i };
		bits |= from[i].start;
	}
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		if (!sort_by_digit(scratch, from, to, rows->count, shift))
			continue;
		swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < rows->count; i++)
		scratch->sorted[i] = from[i].row;
	sort_ties(rows, from, scratch->sorted);
}

static uint32_t find_group(struct rows_scratch *scratch, uint64_t key, uint64_t process)
{
	uint64_t hash = (key ^ process << 17) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t *slot;

	for (size_t i = hash >> 47;; i++) {
		slot = &scratch->slots[i % SLOTS];
		if (!*slot)
			break;
		if (scratch->group_key[*slot - 1] == key &&
		    scratch->group_process[*slot - 1] == process)
			return *slot - 1;
	}
	scratch->group_key[scratch->group_count] = key;
	scratch->group_process[scratch->group_count] = process;
	*slot = (uint32_t)++scratch->group_count;
	return *slot - 1;
}

/* Fills in group_of and grouped by a stable counting sort of the rows by group. */
static void group_rows(const struct rows_in *rows, struct rows_scratch *scratch,
		       const uint32_t *order)
{
	uint32_t group = 0, total = 0, size;

	memset(scratch->slots, 0, sizeof(scratch->slots));
	memset(scratch->fill, 0, sizeof(scratch->fill));
	scratch->group_count = 0;
	for (size_t i = 0; i < rows->count; i++) {
		size_t row = order ? order[i] : i;

		if (!i || scratch->group_key[group] != rows->key[row] ||
		    scratch->group_process[group] != rows->process[row])
			group = find_group(scratch, rows->key[row], rows->process[row]);
		scratch->group_of[i] = group;
		scratch->fill[group]++;
	}
	for (size_t i = 0; i < scratch->group_count; i++, total += size) {
		size = scratch->fill[i];
		scratch->fill[i] = total;
	}
	for (size_t i = 0; i < rows->count; i++)
		scratch->grouped[scratch->fill[scratch->group_of[i]]++] =
			(uint32_t)(order ? order[i] : i);
}

/* Writes one column of the group table: some bits of each key. */
static void put_key_bits(struct rows_scratch *scratch, struct buf *raw, unsigned shift,
			 uint64_t mask)
{
	for (size_t i = 0; i < scratch->group_count; i++)
		scratch->column[i] = scratch->group_key[i] >> shift & mask;
	column_put(raw, &(struct column_source){ .values = scratch->column,
						 .count = scratch->group_count });
}

static void put_group_table(struct rows_scratch *scratch, struct buf *raw, struct block *block)
{
	wire_add_varint(raw, scratch->group_count);
	column_put(raw, &(struct column_source){ .values = scratch->group_process,
						 .count = scratch->group_count });
	put_key_bits(scratch, raw, KEY_THREAD, UINT64_MAX);
	put_key_bits(scratch, raw, 0, UINT16_MAX);
	put_key_bits(scratch, raw, KEY_PRESENT, UINT16_MAX);
	put_key_bits(scratch, raw, KEY_LAYER, UINT8_MAX);
	for (size_t i = 0; i < scratch->group_count; i++) {
		block->layers |= UINT64_C(1) << (scratch->group_key[i] >> KEY_LAYER) % 64;
		block_set_add(block->processes, BLOCK_PROCESS_WORDS, scratch->group_process[i]);
	}
}

static void put_columns(const struct rows_in *rows, const uint32_t *order, struct buf *raw)
{
	for (enum row_column i = 0; i < ROW_COUNT; i++) {
		struct column_source source = { .values = rows->columns[i],
						.order = order,
						.count = rows->count,
						.guess = row_layout[i].guess };

		if (!is_used(rows, i)) {
			column_put_constant(raw, 0);
			continue;
		}
		if (!rows->differ[i]) {
			column_put_constant(raw, rows->columns[i][0]);
			continue;
		}
		source.other = rows->columns[row_layout[i].other];
		if (!is_used(rows, row_layout[i].other))
			source.guess = GUESS_NONE;
		column_put(raw, &source);
	}
}

static void note_files(const struct rows_in *rows, enum row_column column, struct block *block)
{
	size_t n = rows->differ[column] ? rows->count : 1;

	if (!is_used(rows, column)) {
		block_set_add(block->files, BLOCK_FILE_WORDS, 0);
		return;
	}
	for (size_t i = 0; i < n; i++)
		block_set_add(block->files, BLOCK_FILE_WORDS, rows->columns[column][i]);
}

/* Writes the groups and the group of each row. Returns the order of the rows in the columns. */
static const uint32_t *encode_groups(const struct rows_in *rows, const uint32_t *order,
				     struct buf *raw, struct block *block)
{
	struct rows_scratch *scratch = rows->scratch;

	if (rows->key_differ || rows->process_differ) {
		group_rows(rows, scratch, order);
	} else {
		scratch->group_count = 1;
		scratch->group_key[0] = rows->key[0];
		scratch->group_process[0] = rows->process[0];
	}
	put_group_table(scratch, raw, block);
	if (scratch->group_count == 1) {
		column_put_constant(raw, 0);
		return order;
	}
	column_put(raw,
		   &(struct column_source){ .values = scratch->group_of, .count = rows->count });
	return scratch->grouped;
}

static void rows_in_clear(struct rows_in *rows)
{
	rows->count = 0;
	rows->used = ROWS_ALWAYS;
	rows->unsorted = false;
	rows->key_differ = rows->process_differ = 0;
	memset(rows->differ, 0, sizeof(rows->differ));
}

void rows_in_encode(struct rows_in *rows, struct buf *raw, struct block *block)
{
	const uint32_t *order = NULL, *grouped;
	size_t first = 0, last = rows->count - 1;

	if (rows->unsorted) {
		sort_rows(rows, rows->scratch);
		order = rows->scratch->sorted;
		first = order[0];
		last = order[last];
	}
	buf_clear(raw);
	block->count = (uint32_t)rows->count;
	block->tmin = (int64_t)rows->start[first];
	block->tmax = (int64_t)rows->start[last];
	grouped = encode_groups(rows, order, raw, block);
	column_put(raw, &(struct column_source){
				.values = rows->start, .order = order, .count = rows->count });
	put_columns(rows, grouped, raw);
	note_files(rows, ROW_FILE, block);
	note_files(rows, ROW_FILE2, block);
	rows_in_clear(rows);
}
