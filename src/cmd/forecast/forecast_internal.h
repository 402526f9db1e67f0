/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of `sluice forecast evaluate`.
 */
#ifndef SLUICE_CMD_FORECAST_FORECAST_INTERNAL_H
#define SLUICE_CMD_FORECAST_FORECAST_INTERNAL_H

#include "cmd/forecast/forecast.h"
#include "predict/forecast/states/judgment.h"

struct sheet;

/* The evaluation and the data it was made on. */
struct evaluated {
	struct judgment judgment;
	const struct chronicle *chronicle;
	double min_accuracy; /* the share of targets above it is reported */
	/* The first classifier without each group of features in turn; NULL: not evaluated. */
	struct judgment *without; /* FEATURE_GROUPS; empty if the plan lacks the group */
};

/*
 * Writes the rows of all cases to the file of --csv. Returns an exit code; errors were printed.
 */
int forecast_csv(const struct command *command, const struct forecast_args *args,
		 const struct evaluated *evaluated, const struct site *site,
		 const struct judgment_plan *plan);

/*
 * Evaluates the first classifier without each group of features in turn. -EINVAL: there is none, or
 * only one group.
 */
int contributions_evaluate(struct evaluated *evaluated, const struct site *site,
			   const struct judgment_plan *plan, struct err *err);
void contributions_fill(struct sheet *sheet, const struct evaluated *evaluated);
void contributions_release(struct evaluated *evaluated);

#endif
