/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of plots, with bins of equal width on a logarithmic axis.
 */
#ifndef SLUICE_PLOT_STORED_HISTOGRAM_H
#define SLUICE_PLOT_STORED_HISTOGRAM_H

#include <stddef.h>

#include "plot/plot.h"

#define HISTOGRAM_BINS 80

/* The value at a place of the axis; 0 is its low end and 1 its high end. */
double histogram_edge(const struct scale *x, double place);

/* Adds a panel with the share of values in each bin. plan->x is set; plan->y is filled in. */
void histogram_panel(struct figure *figure, struct panel *panel, struct panel_plan *plan,
		     const double *values, size_t count, double shares[HISTOGRAM_BINS]);

#endif
