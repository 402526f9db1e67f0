/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes training data of forecasts from what the placed files of a run have shown of their targets
 * (WAN-39: measured step times become new ground truth): rows with the method "program", beside the
 * reference writes of probes.
 *
 * A row says how long a reference write of some size took at some time. A burst (contract/burst.h),
 * which is what one step has written to one target, is comparable with that under these conditions,
 * and all others are left out:
 *
 *  - its bytes differ by at most a factor of PLACING_ROW_FACTOR from the nearest reference size;
 *    then its time is scaled in proportion;
 *  - its transfers have at least the size of a probe on average: with smaller ones, the time is
 * that of file creations and round trips;
 *  - the target was busy for at least 1 / PLACING_ROW_SPAN of the time from its first to its last
 *    transfer, so that the time is that of one moment.
 *
 * The row ends when the burst ended: nobody knows of it before. Its time is that of the last bytes
 * that it stands for, or when the burst began if it has fewer bytes than the reference size.
 */
#ifndef SLUICE_RUN_PLACING_ROWS_H
#define SLUICE_RUN_PLACING_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct burst_total;
struct config;
struct control_placement;
struct err;
struct placing_adaptive;

#define PLACING_ROW_FACTOR 2
#define PLACING_ROW_SPAN 4
/* Sizes are those of the probe data of the last so many seconds. */
#define PLACING_ROW_HISTORY_S (8 * 86400.0)

struct placing_row {
	size_t size;	   /* index in the sizes */
	uint64_t begin_ns; /* on the clock of the burst */
	double seconds;
};

/* sizes: of the probe, then of the reference writes, ascending. False: not comparable. */
bool placing_row_make(struct placing_row *row, const struct burst_total *burst,
		      const uint64_t *sizes, size_t size_count);

/*
 * Adds the rows of a run, at most PLACEMENT_TOTALS and one per destination, to the system's probe
 * data in the store; one that has none, or no reference sizes, gets none. Returns their number.
 */
int placing_rows_save(const struct control_placement *placement,
		      const struct placing_adaptive *adaptive, const struct config *config,
		      struct err *err);

#endif
