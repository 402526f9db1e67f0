/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plots of what Sluice has learned: the tunings and probe data of the store, and the performance
 * model. source.config names the store and the files of models.
 */
#ifndef SLUICE_PLOT_STORED_STORED_H
#define SLUICE_PLOT_STORED_STORED_H

#include "plot/plot.h"

extern const struct plot_kind plot_forecast, plot_importance, plot_jobs, plot_model,
	plot_reliability, plot_tuning, plot_writes;
extern const struct plot_kind *const plot_stored_kinds[]; /* ends with NULL */

#endif
