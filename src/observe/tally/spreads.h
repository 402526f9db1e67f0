/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the numbers of ranks are distributed, for runs with so many ranks that their sums would need
 * too much memory: for each layer, function and file, and for all of them together.
 */
#ifndef SLUICE_OBSERVE_TALLY_SPREADS_H
#define SLUICE_OBSERVE_TALLY_SPREADS_H

#include "base/map.h"
#include "observe/tally/file_class.h"
#include "observe/tally/ranks.h"
#include "observe/tally/sums.h"

/* By tally_measures. */
struct row_spreads {
	struct spread of[TALLY_MEASURES];
};

/* A zeroed object is empty. */
struct spreads {
	struct spread ranks[SUMS_MEASURES]; /* by sums_measures */
	struct row_spreads layers[LAYER_COUNT];
	struct row_spreads classes[FILE_CLASSES]; /* all files of a class */
	struct map functions, files; /* struct row_spreads by the keys of observe/tally/sums.h */
};

void spreads_release(struct spreads *spreads);

/* The row of a key in functions or files; adds it if it is missing. */
struct row_spreads *spreads_row(struct map *table, uint64_t key);

/* Adds a rank. classes has the class of each file. */
void spreads_add_rank(struct spreads *spreads, int32_t rank, const struct sums *sums,
		      const uint8_t *classes);

/* Adds the distributions over other ranks. */
void spreads_merge(struct spreads *spreads, const struct spreads *other,
		   const struct renumbering *to);

#endif
