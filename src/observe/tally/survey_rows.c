/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/survey_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/traffic.h"

static int compare_parts(const void *a, const void *b)
{
	const struct survey_part *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static bool same_row(const struct survey_part *a, const struct survey_part *b)
{
	return a->layer == b->layer && a->file == b->file;
}

/* The members of one row, each with the sum of its processes. */
struct members {
	struct survey *list;
	size_t count;
};

static void row_add_member(struct survey_row *row, const struct survey *survey, int32_t number)
{
	row->members++;
	row->accessing[READING] += survey->accesses[READING] != 0;
	row->accessing[WRITING] += survey->accesses[WRITING] != 0;
	row->time_ns += survey_time_ns(survey);
	for (size_t i = 0; i < SURVEY_MEASURES; i++)
		spread_add(&row->fields[i], number, survey_measures[i].get(survey));
}

static enum sharing compare_members(const struct members *members, int way)
{
	AUTO_FREE const struct regions **each = xcalloc(members->count + 1, sizeof(*each));

	for (size_t i = 0; i < members->count; i++)
		each[i] = &members->list[i].regions[way];
	return regions_compare(each, members->count);
}

/* Makes one row from parts with the same layer and file. */
static struct survey_row row_make(const struct survey_part *parts, size_t count)
{
	struct members members = { xcalloc(count, sizeof(struct survey)), 0 };
	struct survey_row row = { .layer = (uint8_t)parts->layer, .file = parts->file };

	for (size_t i = 0; i < count; i++) {
		if (i && parts[i].member == parts[i - 1].member)
			survey_merge(&members.list[members.count - 1], parts[i].survey);
		else
			survey_merge(&members.list[members.count++], parts[i].survey);
		if (i + 1 == count || parts[i + 1].member != parts[i].member)
			row_add_member(&row, &members.list[members.count - 1], parts[i].member);
	}
	row.sharing[READING] = compare_members(&members, READING);
	row.sharing[WRITING] = compare_members(&members, WRITING);
	for (size_t i = 0; i < members.count; i++)
		survey_release(&members.list[i]);
	free(members.list);
	return row;
}

/* file_ns holds, for each file, the time of its most expensive layer. */
static int compare_rows(const void *a, const void *b, void *file_ns)
{
	const struct survey_row *x = a, *y = b;
	const double *ns = file_ns;

	if (x->file == y->file)
		return (int)y->layer - (int)x->layer;
	if (ns[x->file] != ns[y->file])
		return ns[x->file] < ns[y->file] ? 1 : -1;
	return x->file < y->file ? -1 : 1;
}

static void sort_rows(struct survey_row *rows, size_t count)
{
	AUTO_FREE double *file_ns = NULL;
	size_t files = 0;

	for (size_t i = 0; i < count; i++)
		files = rows[i].file >= files ? (size_t)rows[i].file + 1 : files;
	file_ns = xcalloc(files + 1, sizeof(*file_ns));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].time_ns > file_ns[rows[i].file])
			file_ns[rows[i].file] = rows[i].time_ns;
	}
	if (count)
		qsort_r(rows, count, sizeof(*rows), compare_rows, file_ns);
}

struct survey_row *survey_rows_new(struct survey_part *parts, size_t part_count, size_t *count)
{
	size_t n = 0, cap = 0;
	struct survey_row *rows = xgrow(NULL, &cap, 1, sizeof(*rows));

	if (part_count)
		qsort(parts, part_count, sizeof(*parts), compare_parts);
	for (size_t i = 0, end; i < part_count; i = end) {
		struct survey_row row;

		for (end = i + 1; end < part_count && same_row(&parts[i], &parts[end]);)
			end++;
		row = row_make(&parts[i], end - i);
		if (row.fields[0].maximum <= 0) /* opened, but not accessed */
			continue;
		rows = xgrow(rows, &cap, n + 1, sizeof(*rows));
		rows[n++] = row;
	}
	sort_rows(rows, n);
	*count = n;
	return rows;
}
