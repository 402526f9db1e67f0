/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of `sluice model calibrate`.
 */
#ifndef SLUICE_CMD_MODEL_CALIBRATE_H
#define SLUICE_CMD_MODEL_CALIBRATE_H

#include "base/term.h"
#include "cli/command.h"
#include "predict/model/hybrid/hybrid.h"
#include "predict/model/measure/validate.h"

struct calibrate_run {
	struct command *command;
	struct hybrid hybrid;
	struct campaign_numbers ranks;
	struct validate_range range;
	struct validate_plan plan;
	size_t (*recommended)[VALIDATE_WAYS]; /* cases of the plan, by group; --check only */
	int ways;			      /* 1: writes only */
	uint64_t repeat;
	double coverage;
	struct environment environment;
	struct validation_case *cases; /* by case of the plan, then by direction */
	struct prediction *predictions;
	size_t count;
	size_t accesses; /* of all sessions */
	struct progress progress;
};

/* Prints the corrections and the intervals of the calibrated model. */
void calibrate_show(const struct calibrate_run *run, bool json);
/* Prints the coverage of held-out accesses, and how good the recommendations are. */
void calibrate_show_check(const struct calibrate_run *run, bool json);

#endif
