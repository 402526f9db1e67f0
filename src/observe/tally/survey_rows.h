/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Combines surveys of files into rows: adds up the parts of one member (a rank, or a process of a
 * serial run) and compares the members.
 */
#ifndef SLUICE_OBSERVE_TALLY_SURVEY_ROWS_H
#define SLUICE_OBSERVE_TALLY_SURVEY_ROWS_H

#include <stddef.h>

#include "observe/tally/ranks.h"
#include "observe/tally/survey.h"
#include "trace/activity.h"

/* How one process or member used a file through one layer. */
struct survey_part {
	unsigned layer;
	file_id file;
	int32_t member; /* number of the rank, or index of the process */
	const struct survey *survey;
};

/* A file accessed through one layer, combined over the members that accessed it. */
struct survey_row {
	uint8_t layer;
	file_id file;
	size_t members;
	size_t accessing[2];	 /* members that read, and that wrote */
	enum sharing sharing[2]; /* how the regions overlap that they read, and wrote */
	double time_ns;		 /* opening, reading, writing and closing, summed over members */
	struct spread fields[SURVEY_MEASURES];
};

/*
 * Sorts the parts and returns the accessed files, sorted by descending time of their most expensive
 * layer; the layers of one file come from the highest down. The caller frees the rows.
 */
struct survey_row *survey_rows_new(struct survey_part *parts, size_t part_count, size_t *count);

#endif
