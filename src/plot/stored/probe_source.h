/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe data that plots read: all of a system in the store.
 */
#ifndef SLUICE_PLOT_STORED_PROBE_SOURCE_H
#define SLUICE_PLOT_STORED_PROBE_SOURCE_H

#include "plot/plot.h"
#include "predict/forecast/service/forecast_data.h"

/*
 * Opens the data of the system source->name; NULL: that of the settings. from_s as in struct
 * forecast_query. The caller closes the data also after a failure.
 */
int probe_source_open(struct forecast_data *data, const struct plot_source *source, double from_s,
		      struct err *err);

/* Starts the figure with a line about the data. */
void probe_source_start(const struct forecast_data *data, const struct plot_kind *kind,
			const char *about, struct plot *plot);

#endif
