/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/stored/stored.h"

const struct plot_kind *const plot_stored_kinds[] = {
	&plot_tuning, &plot_importance,	 &plot_model, &plot_forecast,
	&plot_writes, &plot_reliability, &plot_jobs,  NULL,
};
