/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/raster.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/profile/merged_head.h"

#define CELLS ((size_t)RASTER_COLUMNS * RASTER_LINES)
#define FIRST_COLUMN_NS 1000000
/* A line starts with a page; larger files make it higher. */
#define FIRST_LINE_BYTES 4096
#define LIMIT (INT64_C(1) << 62)

static struct raster *raster_new(const struct raster_access *access, int64_t duration_ns)
{
	struct raster *raster = xcalloc(1, sizeof(*raster));

	raster->file = access->file;
	raster->layer = access->layer;
	raster->column_ns = duration_ns > 0 ? duration_ns / RASTER_COLUMNS + 1 : FIRST_COLUMN_NS;
	raster->line_bytes = FIRST_LINE_BYTES;
	raster->cells = xcalloc(CELLS, sizeof(*raster->cells));
	for (size_t i = 0; i < CELLS; i++)
		raster->cells[i].member = RASTER_NOBODY;
	raster->points = xcalloc(RASTER_POINTS, sizeof(*raster->points));
	return raster;
}

static void raster_free(struct raster *raster)
{
	free(raster->cells);
	free(raster->points);
	free(raster);
}

void rasters_release(struct rasters *rasters)
{
	for (size_t i = 0; i < rasters->count; i++)
		raster_free(rasters->list[i]);
	*rasters = (struct rasters){ 0 };
}

static void note_member(struct raster_cell *cell, int32_t member)
{
	cell->member =
		cell->member == RASTER_NOBODY || cell->member == member ? member : RASTER_MANY;
}

static void add_to_cell(struct raster_cell *to, const struct raster_cell *from)
{
	if (from->member == RASTER_NOBODY)
		return;
	to->bytes[0] += from->bytes[0];
	to->bytes[1] += from->bytes[1];
	note_member(to, from->member);
}

/* Makes columns and lines larger by factors: the cell at (column, line) moves towards the origin.
 */
static void shrink(struct raster *raster, int64_t columns, int64_t lines)
{
	for (size_t i = 0; i < CELLS; i++) {
		struct raster_cell moved = raster->cells[i];
		size_t column = i / RASTER_LINES / (size_t)columns;
		size_t line = i % RASTER_LINES / (size_t)lines;

		raster->cells[i] = (struct raster_cell){ .member = RASTER_NOBODY };
		add_to_cell(&raster->cells[column * RASTER_LINES + line], &moved);
	}
	raster->column_ns *= columns;
	raster->line_bytes *= lines;
}

static inline bool is_inside(const struct raster *raster, int64_t time_ns, int64_t offset)
{
	return time_ns < raster->column_ns * RASTER_COLUMNS &&
	       offset <= raster->line_bytes * RASTER_LINES;
}

static void reach(struct raster *raster, int64_t time_ns, int64_t offset)
{
	int64_t columns = 1, lines = 1;

	while (time_ns >= raster->column_ns * columns * RASTER_COLUMNS &&
	       raster->column_ns * columns < LIMIT / RASTER_COLUMNS / 2)
		columns *= 2;
	while (offset > raster->line_bytes * lines * RASTER_LINES &&
	       raster->line_bytes * lines < LIMIT / RASTER_LINES / 2)
		lines *= 2;
	if (columns > 1 || lines > 1)
		shrink(raster, columns, lines);
}

static size_t clamp(int64_t value, int64_t count)
{
	return (size_t)(value < 0 ? 0 : value < count ? value : count - 1);
}

/* Adds the bytes to all lines that the access covers, in the column of its start. */
static void add_access(struct raster *raster, const struct raster_access *access)
{
	size_t column = clamp(access->start_ns / raster->column_ns, RASTER_COLUMNS);
	int64_t end = access->offset + (int64_t)access->bytes;
	int shift = __builtin_ctzll((uint64_t)raster->line_bytes);
	size_t first = clamp(access->offset >> shift, RASTER_LINES);
	size_t last = clamp((end - 1) >> shift, RASTER_LINES);
	uint64_t rest = access->bytes;

	for (size_t line = first; line <= last; line++) {
		int64_t until = (int64_t)(line + 1) * raster->line_bytes;
		uint64_t after = line < last && until < end ? (uint64_t)(end - until) : 0;
		struct raster_cell *cell = &raster->cells[column * RASTER_LINES + line];

		cell->bytes[access->way] += rest - after;
		note_member(cell, access->member);
		rest = after;
	}
}

static void add_point(struct raster *raster, const struct raster_access *access)
{
	if (!raster->points)
		return;
	if (raster->point_count == RASTER_POINTS) {
		free(raster->points);
		raster->points = NULL;
		raster->point_count = 0;
		return;
	}
	raster->points[raster->point_count++] = (struct raster_point){
		.start_ns = access->start_ns,
		.duration_ns = access->duration_ns,
		.offset = access->offset,
		.bytes = access->bytes,
		.member = access->member,
		.way = (uint8_t)access->way,
	};
}

static struct raster *find_raster(struct rasters *rasters, file_id file, unsigned layer)
{
	for (size_t i = 0; i < rasters->count; i++) {
		if (rasters->list[i]->file == file && rasters->list[i]->layer == layer)
			return rasters->list[i];
	}
	return NULL;
}

static size_t find_smallest(const struct rasters *rasters)
{
	size_t smallest = 0;

	for (size_t i = 1; i < rasters->count; i++) {
		if (rasters->list[i]->bytes < rasters->list[smallest]->bytes)
			smallest = i;
	}
	return smallest;
}

/* A file must have twice the bytes of another one to take its place, so that few of them change. */
static struct raster *make_raster(struct rasters *rasters, const struct raster_access *access,
				  uint64_t before)
{
	size_t place = rasters->count;

	if (place == RASTERS_MAX) {
		if (before / 2 < rasters->smallest)
			return NULL;
		place = find_smallest(rasters);
		rasters->smallest = rasters->list[place]->bytes;
		if (before / 2 < rasters->smallest)
			return NULL;
		raster_free(rasters->list[place]);
		rasters->dropped++;
	} else {
		rasters->count++;
	}
	rasters->list[place] = raster_new(access, rasters->duration_ns);
	rasters->list[place]->bytes = rasters->list[place]->missed = before;
	rasters->changes++;
	return rasters->list[place];
}

/* Searches the list only if the hint is outdated. */
static struct raster *get_raster(struct rasters *rasters, const struct raster_access *access,
				 uint64_t before, struct raster_hint *hint)
{
	struct raster *raster;

	if (!hint->changes && hint->place < rasters->count) {
		raster = rasters->list[hint->place];
		if (raster->file == access->file && raster->layer == access->layer)
			return raster;
	}
	if (hint->changes == rasters->changes && hint->changes && before / 2 < rasters->smallest)
		return NULL;
	raster = find_raster(rasters, access->file, access->layer);
	if (!raster)
		raster = make_raster(rasters, access, before);
	for (hint->place = 0; raster && rasters->list[hint->place] != raster;)
		hint->place++;
	hint->changes = raster ? 0 : rasters->changes;
	return raster;
}

void rasters_add(struct rasters *rasters, const struct raster_access *access, uint64_t before,
		 struct raster_hint *hint)
{
	struct raster *raster;

	if (!access->bytes || access->offset < 0 || access->bytes > (uint64_t)LIMIT ||
	    access->offset > LIMIT - (int64_t)access->bytes)
		return;
	raster = get_raster(rasters, access, before, hint);
	if (!raster)
		return;
	raster->bytes += access->bytes;
	if (!is_inside(raster, access->start_ns, access->offset + (int64_t)access->bytes))
		reach(raster, access->start_ns, access->offset + (int64_t)access->bytes);
	add_access(raster, access);
	add_point(raster, access);
}

struct raster *rasters_put(struct rasters *rasters, const struct raster_access *key,
			   int64_t column_ns, int64_t line_bytes)
{
	struct raster *raster;

	if (rasters->count == RASTERS_MAX || find_raster(rasters, key->file, key->layer) ||
	    column_ns < 1 || column_ns > LIMIT / RASTER_COLUMNS / 2 ||
	    line_bytes < FIRST_LINE_BYTES || line_bytes > LIMIT / RASTER_LINES / 2 ||
	    line_bytes & (line_bytes - 1))
		return NULL;
	raster = raster_new(key, 0);
	raster->column_ns = column_ns;
	raster->line_bytes = line_bytes;
	rasters->changes++;
	return rasters->list[rasters->count++] = raster;
}

void raster_set_points(struct raster *raster, size_t count)
{
	raster->point_count = count ? count - 1 : 0;
	if (count)
		return;
	free(raster->points);
	raster->points = NULL;
}

static int compare_points(const void *a, const void *b)
{
	const struct raster_point *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->way < y->way ? -1 : x->way > y->way;
}

static void sort_points(struct raster *raster)
{
	if (raster->point_count)
		qsort(raster->points, raster->point_count, sizeof(*raster->points), compare_points);
}

static int compare_rasters(const void *a, const void *b)
{
	const struct raster *x = *(struct raster *const *)a, *y = *(struct raster *const *)b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

void rasters_sort(struct rasters *rasters)
{
	qsort(rasters->list, rasters->count, sizeof(*rasters->list), compare_rasters);
	rasters->changes++;
	for (size_t i = 0; i < rasters->count; i++)
		sort_points(rasters->list[i]);
}

/* A cell goes to the cell of the other raster that holds its middle. */
static void merge_cell(struct raster *to, const struct raster *from, size_t i, int64_t shift_ns,
		       int32_t member_base)
{
	int64_t column = (int64_t)(i / RASTER_LINES), line = (int64_t)(i % RASTER_LINES);
	int64_t time_ns = from->column_ns * column + from->column_ns / 2 + shift_ns;
	int64_t offset = from->line_bytes * line + from->line_bytes / 2;
	size_t place = clamp(time_ns / to->column_ns, RASTER_COLUMNS) * RASTER_LINES +
		       clamp(offset / to->line_bytes, RASTER_LINES);
	struct raster_cell cell = from->cells[i];

	if (cell.member >= 0)
		cell.member += member_base;
	add_to_cell(&to->cells[place], &cell);
}

static void merge_cells(struct raster *to, const struct raster *from, int64_t shift_ns,
			int32_t member_base)
{
	reach(to, from->column_ns * RASTER_COLUMNS - 1 + shift_ns, from->line_bytes * RASTER_LINES);
	for (size_t i = 0; i < CELLS; i++) {
		if (from->cells[i].member != RASTER_NOBODY)
			merge_cell(to, from, i, shift_ns, member_base);
	}
}

static void merge_points(struct raster *to, const struct raster *from, int64_t shift_ns,
			 int32_t member_base)
{
	if (!to->points || !from->points || to->point_count + from->point_count > RASTER_POINTS) {
		free(to->points);
		to->points = NULL;
		to->point_count = 0;
		return;
	}
	for (size_t i = 0; i < from->point_count; i++) {
		to->points[to->point_count] = from->points[i];
		to->points[to->point_count].member += member_base;
		to->points[to->point_count++].start_ns += shift_ns;
	}
	sort_points(to);
}

void rasters_merge(struct rasters *rasters, const struct rasters *other,
		   const struct merged_map *map, int32_t member_base)
{
	rasters->dropped += other->dropped;
	for (size_t i = 0; i < other->count; i++) {
		const struct raster *from = other->list[i];
		struct raster_access key = { .file = map->files[from->file], .layer = from->layer };
		struct raster *to = find_raster(rasters, key.file, key.layer);

		if (!to) {
			to = make_raster(rasters, &key, from->bytes);
			if (to)
				to->bytes = to->missed = 0;
		}
		if (!to)
			continue;
		to->bytes += from->bytes;
		to->missed += from->missed;
		merge_cells(to, from, map->shift_ns, member_base);
		merge_points(to, from, map->shift_ns, member_base);
	}
}
