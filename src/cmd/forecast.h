/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs of `sluice forecast` share: their options, and how these become a chronicle, a
 * site and a model. A verb is a file forecast_VERB.c and a row of verbs[] in forecast.c.
 */
#ifndef SLUICE_CMD_FORECAST_H
#define SLUICE_CMD_FORECAST_H

#include "cmd/command.h"

#define FORECAST_SCHEMA "sluice.forecast/1"

struct forecast_args {
	/* whose probes, and how they are read */
	const char *system, *site, *on;
	struct option_list files;
	const char *from, *to, *days;
	/* what is learnt */
	const char *method, *settings, *features, *model, *output;
	int64_t horizon_ns, window_ns;
	int scope, calibration;
	uint64_t folds, seed, threads, targets;
	/* evaluate */
	const char *csv;
	bool each;
	/* watch */
	bool once;
	int64_t every_ns, retrain_ns;
	uint64_t answers;
	bool now, json;
};

/* Verbs. They return exit codes. */

#endif
