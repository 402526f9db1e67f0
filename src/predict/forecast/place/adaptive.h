/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates a step of a program whose files are placed one by one, by the outstanding bytes and the
 * observed rate of each target (contract/backlog.h, the code that the guest uses), with the
 * forecast as the prior. As many writers as targets each write their files one after the other,
 * each file with several calls that return when the data is stored. The files of a target share its
 * rate. An open file is never moved, so a writer waits until its file is finished, however slow the
 * target.
 */
#ifndef SLUICE_PREDICT_FORECAST_PLACE_ADAPTIVE_H
#define SLUICE_PREDICT_FORECAST_PLACE_ADAPTIVE_H

#include <stddef.h>

#include "predict/forecast/place/placement.h"

struct adaptive_plan {
	size_t files; /* per writer and step; 0: 16 */
	size_t calls; /* per file; 0: 4 */
	/* As of placement_evaluate(): a target that got v > 1 times its equal share of the files so
	 * far is slower by v ^ feedback. */
	double feedback;
};

/*
 * Computes the seconds until each target has finished its files; the step writes one unit per
 * target. Targets that are not allowed get nothing: finish is 0, but their writers exist. seconds
 * are those of one unit, as in placement_evaluate(). Fails like placement_shares().
 */
int adaptive_simulate(const struct adaptive_plan *plan, const struct placement_target *targets,
		      const double *seconds, size_t count, const struct placement_limits *limits,
		      double *finish, struct err *err);

#endif
