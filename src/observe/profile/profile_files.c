/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Combines the cells of a profile by file.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "observe/profile/profile.h"
#include "observe/tally/traffic.h"

struct survey_row *profile_survey(const struct profile *profile, size_t *count)
{
	size_t cell_count;
	AUTO_FREE const struct cell **cells = cell_table_list(&profile->cells, &cell_count);
	AUTO_FREE struct survey_part *parts = xcalloc(cell_count + 1, sizeof(*parts));

	for (size_t i = 0; i < cell_count; i++)
		parts[i] = (struct survey_part){
			.layer = cells[i]->layer,
			.file = cells[i]->file,
			.member = cells[i]->member,
			.survey = &cells[i]->survey,
		};
	return survey_rows_new(parts, cell_count, count);
}

static enum sharing compare_regions(const struct cell **cells, size_t count, int way)
{
	AUTO_FREE const struct regions **each = xcalloc(count + 1, sizeof(*each));

	for (size_t i = 0; i < count; i++)
		each[i] = &cells[i]->survey.regions[way];
	return regions_compare(each, count);
}

/* The members that a cell stands for. */
static size_t count_sharers(const struct cell *cell)
{
	return cell->group > 1 ? (size_t)cell->group : 1;
}

static void total_make(struct file_total *total, const struct cell **cells, size_t count)
{
	*total = (struct file_total){
		.file = cells[0]->file,
		.layer = cells[0]->layer,
		.members = count,
		.cells = cells,
		.total = { .file = cells[0]->file,
			   .layer = cells[0]->layer,
			   .member = CELL_OTHERS },
	};
	for (size_t i = 0; i < count; i++) {
		cell_merge(&total->total, cells[i]);
		total->sharers += count_sharers(cells[i]);
		for (int way = READING; way <= WRITING; way++)
			if (cells[i]->survey.accesses[way])
				total->accessing[way] += count_sharers(cells[i]);
	}
	for (int way = READING; way <= WRITING; way++) {
		total->sharing[way] = compare_regions(cells, count, way);
		if (total->sharing[way] <= SHARING_ONE && total->accessing[way] > 1)
			total->sharing[way] = SHARING_UNKNOWN;
	}
}

/* The first total owns the list of cells that all of them point into. */
struct file_total *profile_files(const struct profile *profile, size_t *count)
{
	size_t cell_count, n = 0, cap = 0;
	const struct cell **cells = cell_table_list(&profile->cells, &cell_count);
	struct file_total *totals = NULL;

	for (size_t i = 0, end; i < cell_count; i = end) {
		for (end = i + 1; end < cell_count && cells[end]->layer == cells[i]->layer &&
				  cells[end]->file == cells[i]->file;)
			end++;
		totals = xgrow(totals, &cap, n + 1, sizeof(*totals));
		total_make(&totals[n++], cells + i, end - i);
	}
	if (!n)
		free(cells);
	*count = n;
	return totals;
}

void profile_files_release(struct file_total *totals, size_t count)
{
	if (count)
		free(totals[0].cells);
	for (size_t i = 0; i < count; i++)
		survey_release(&totals[i].total.survey);
	free(totals);
}
