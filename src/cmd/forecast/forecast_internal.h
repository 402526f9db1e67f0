/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `sluice forecast evaluate` share.
 */
#ifndef SLUICE_CMD_FORECAST_FORECAST_INTERNAL_H
#define SLUICE_CMD_FORECAST_FORECAST_INTERNAL_H

#include "cmd/forecast/forecast.h"
#include "predict/forecast/states/judgement.h"

struct evaluated {
	struct judgement judgement;
	const struct chronicle *chronicle;
	double bound; /* of accuracy, for the share of targets above it */
};

/* --csv: the rows of all cases, for other programs to learn from. */
int forecast_csv(const struct command *command, const struct forecast_args *args,
		 const struct evaluated *evaluated, const struct site *site,
		 const struct judgement_plan *plan);

#endif
