/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the plots of a run: the heading, the time axis, the files that are shown, and names of
 * ranks.
 */
#ifndef SLUICE_PLOT_RUN_PLOT_H
#define SLUICE_PLOT_RUN_PLOT_H

#include "observe/profile/profile.h"
#include "plot/plot.h"

/* Colors of the two directions, in all plots. */
enum { PLOT_READ_COLOR = 0, PLOT_WRITE_COLOR = 1 };

/* Starts the figure with the kind's title and a line about the run. */
void run_plot_start(struct plot *plot, const struct plot_source *source,
		    const struct plot_kind *kind, const char *about);

/* Adds a legend of the two directions. */
void run_plot_directions(struct plot *plot);

/* Bins of the timeline that the run covers; at least 1. */
size_t run_plot_bins(const struct timeline *timeline, const struct trace_head *head);
/* Start of a bin in seconds since the start of the run. */
double run_plot_time_s(const struct timeline *timeline, size_t bin);

/* Does the source select the file? */
bool run_plot_selects(const struct plot_source *source, file_id file);

/* "rank" or "process". */
const char *run_plot_member_word(const struct profile *profile);
/* "rank 3", "7: bash". The caller frees it. */
char *run_plot_member_name(const struct profile *profile, int64_t member);

/* Fails with -ENODATA: "this run has no WHAT to draw". */
int run_plot_no_data(struct err *err, const char *what);

#endif
