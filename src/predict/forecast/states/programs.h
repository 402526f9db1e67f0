/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of programs as training data (WAN-39): what programs wrote under `sluice run --place`,
 * beside the reference writes of probes. A program does not write as a probe does, and runs when it
 * likes, so its rows may mislead a model. Whether they help is decided by the writes of probes:
 * each block of time is forecast by models of the earlier blocks, with the rows of programs and
 * without.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_PROGRAMS_H
#define SLUICE_PREDICT_FORECAST_STATES_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/states/features.h"
#include "predict/forecast/states/labels.h"

struct site;

enum programs_use { PROGRAMS_AUTO, PROGRAMS_USE, PROGRAMS_IGNORE };
#define PROGRAMS_WORDS "auto|use|ignore"

/* At most this many series are compared, chosen evenly among those that have rows of programs. */
#define PROGRAMS_SERIES 64

struct programs_task {
	const struct chronicle *chronicle;
	const struct site *site;
	const struct states *states; /* their indices are those of the chronicle */
	const struct features_plan *features;
	const struct labels_plan *labels; /* includes the training range */
	size_t folds;			  /* number of tested blocks */
};

/*
 * Are the rows of programs ignored in a training? PROGRAMS_AUTO: if the log loss of logistic
 * regression on recent durations is higher with them, on the writes of probes in the tested blocks;
 * not if there are too few probes to tell.
 */
bool programs_are_ignored(enum programs_use use, const struct programs_task *task);

/* Counts the rows of programs in the training range. */
size_t programs_count(const struct chronicle *chronicle, const struct labels_plan *labels);

#endif
