/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers printed in the paper on auto-tuning (Behzad et al., SC 2013), as constant tables to
 * compare with. The simulation does not read them.
 */
#ifndef SLUICE_LAB_REPRODUCE_PAPER_H
#define SLUICE_LAB_REPRODUCE_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Table 2: data that a kernel writes, by number of ranks, as printed. */
struct paper_volume {
	const char *kernel;
	uint64_t ranks;
	const char *printed;
};
extern const struct paper_volume paper_volumes[]; /* ends with a row without a kernel */

/* Table 3: the range of a parameter and the number of values that were tried. */
struct paper_range {
	const char *name;    /* as printed */
	const char *tunable; /* as Sluice calls it */
	const char *min, *max;
	size_t values;
};
extern const struct paper_range paper_ranges[]; /* ends with a row without a name */

/* Table 4: rates in MB/s, in the order of the table. */
struct paper_cell {
	uint64_t ranks;
	const char *platform, *kernel;
	double initial, tuned, speedup;
};
#define PAPER_CELLS 24
extern const struct paper_cell paper_cells[PAPER_CELLS];

/*
 * Mean speedups of groups of cells (NULL or 0 matches any): the printed mean (0: not printed) and
 * the mean recomputed from Table 4.
 */
struct paper_mean {
	const char *platform, *kernel;
	uint64_t ranks;
	double printed, recomputed;
};
extern const struct paper_mean paper_means[]; /* ends with a row whose recomputed is 0 */

/* Table 5: tuned settings at 2048 ranks, with the parameter names of Sluice. */
struct paper_setting {
	const char *kernel, *platform, *settings;
};
extern const struct paper_setting paper_settings[]; /* ends with a row without a kernel */

/* True if the cell belongs to the group. */
bool paper_is_in(const struct paper_mean *group, const struct paper_cell *cell);

#endif
