/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the paper on auto-tuning prints (Behzad et al., SC 2013), to be put beside what comes out
 * here: constant tables, each with the number that the specification gives it. Nothing in them is
 * ours; nothing of the model reads them.
 */
#ifndef SLUICE_LAB_REPRODUCE_PAPER_H
#define SLUICE_LAB_REPRODUCE_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KRN-10, Table 2: volume of a kernel by ranks, as printed. */
struct paper_volume {
	const char *kernel;
	uint64_t ranks;
	const char *printed;
};
extern const struct paper_volume paper_volumes[]; /* ends with a row without kernel */

/* GA-7, Table 3: a parameter's range and how many values were tried. */
struct paper_range {
	const char *name;    /* as printed */
	const char *tunable; /* as we call it */
	const char *min, *max;
	size_t values;
};
extern const struct paper_range paper_ranges[]; /* ends with a row without name */

/* ATE-6, Table 4: rates in MB/s. The order is that of the table. */
struct paper_cell {
	uint64_t ranks;
	const char *platform, *kernel;
	double initial, tuned, speedup;
};
#define PAPER_CELLS 24
extern const struct paper_cell paper_cells[PAPER_CELLS];

/* ATE-8: groups of cells (NULL or 0: any), the mean that is printed for them (0: none is) and the
 * one that follows from Table 4 as the specification has it. */
struct paper_mean {
	const char *platform, *kernel;
	uint64_t ranks;
	double printed, recomputed;
};
extern const struct paper_mean paper_means[]; /* ends with a row without recomputed */

/* ATE-11, Table 5: tuned settings at 2048 ranks, in our words. */
struct paper_setting {
	const char *kernel, *platform, *settings;
};
extern const struct paper_setting paper_settings[]; /* ends with a row without kernel */

/* Does the cell belong to the group? */
bool paper_is_in(const struct paper_mean *group, const struct paper_cell *cell);

#endif
