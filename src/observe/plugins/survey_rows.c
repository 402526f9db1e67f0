/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Combines the surveys of processes into rows: adds up the processes of one rank and compares the
 * ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/plugins/file_surveyor.h"
#include "observe/tally/traffic.h"

/* How one process accessed a file, and the member it counts for. */
struct part {
	unsigned layer;
	file_id file;
	uint32_t member; /* index of the rank, or the process */
	int32_t number;	 /* number of the rank, or the process */
	const struct survey *survey;
};

struct parts {
	const struct ranks *ranks;
	struct part *list;
	size_t count, cap;
};

/* Leaves out processes that belong to no rank. */
static void part_add(void *arg, unsigned layer, file_id file, uint32_t process,
		     const struct survey *survey)
{
	struct parts *parts = arg;
	bool ranked = parts->ranks && parts->ranks->count;
	int32_t rank = ranked ? ranks_of_process(parts->ranks, process) : -1;

	if (ranked && rank < 0)
		return;
	parts->list = xgrow(parts->list, &parts->cap, parts->count + 1, sizeof(*parts->list));
	parts->list[parts->count++] = (struct part){
		.layer = layer,
		.file = file,
		.member = ranked ? (uint32_t)rank : process,
		.number = ranked ? parts->ranks->list[rank].number : (int32_t)process,
		.survey = survey,
	};
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static bool same_row(const struct part *a, const struct part *b)
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

/* Makes a copy that further surveys can be merged into. */
static void survey_copy(struct survey *survey, const struct survey *from)
{
	*survey = (struct survey){ .first_ns = from->first_ns, .last_ns = from->last_ns };
	survey_merge(survey, from);
}

/* Makes one row from parts with the same layer and file. */
static struct survey_row row_make(const struct part *parts, size_t count)
{
	struct members members = { xcalloc(count, sizeof(struct survey)), 0 };
	struct survey_row row = { .layer = (uint8_t)parts->layer, .file = parts->file };

	for (size_t i = 0; i < count; i++) {
		if (i && parts[i].member == parts[i - 1].member)
			survey_merge(&members.list[members.count - 1], parts[i].survey);
		else
			survey_copy(&members.list[members.count++], parts[i].survey);
		if (i + 1 == count || parts[i + 1].member != parts[i].member)
			row_add_member(&row, &members.list[members.count - 1], parts[i].number);
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

struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor,
				      const struct ranks *ranks, size_t *count)
{
	struct parts parts = { .ranks = ranks };
	struct survey_row *rows = NULL;
	size_t n = 0, cap = 0;

	file_surveyor_list(surveyor, part_add, &parts);
	if (parts.count)
		qsort(parts.list, parts.count, sizeof(*parts.list), compare_parts);
	for (size_t i = 0, end; i < parts.count; i = end) {
		struct survey_row row;

		for (end = i + 1; end < parts.count && same_row(&parts.list[i], &parts.list[end]);)
			end++;
		row = row_make(&parts.list[i], end - i);
		if (row.fields[0].maximum <= 0) /* opened, but not accessed */
			continue;
		rows = xgrow(rows, &cap, n + 1, sizeof(*rows));
		rows[n++] = row;
	}
	free(parts.list);
	sort_rows(rows, n);
	*count = n;
	return rows;
}
