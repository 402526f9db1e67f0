/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs of `sluice forecast` share: their options, and how these become a chronicle, a
 * site and a model. A verb is a file forecast_VERB.c and a row of verbs[] in forecast.c.
 */
#ifndef SLUICE_CMD_FORECAST_FORECAST_H
#define SLUICE_CMD_FORECAST_FORECAST_H

#include "cli/command.h"
#include "predict/forecast/service/forecast_data.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/features.h"

struct forecaster;
struct forecaster_plan;
struct json;

#define FORECAST_SCHEMA "sluice.forecast/1"

struct forecast_args {
	/* whose probes, and of when */
	const char *system, *site, *on, *from, *to, *days;
	struct option_list files;
	uint64_t targets;
	/* what is learnt */
	const char *method, *settings, *features, *model, *output;
	int64_t horizon_ns, window_ns;
	int scope, calibration;
	uint64_t folds, seed, threads;
	/* evaluate */
	const char *csv, *bound;
	uint64_t size;
	bool each;
	/* watch */
	bool once;
	int64_t every_ns, retrain_ns;
	uint64_t answers;
	/* place, simulate */
	uint64_t bytes, stripe, points, repetitions;
	int rule;
	const char *params, *busy_from, *feedback;
	bool now, json;
};

/* Verbs. They return exit codes. */
int forecast_now(struct command *command, const struct forecast_args *args);
int forecast_train(struct command *command, const struct forecast_args *args);
int forecast_evaluate(struct command *command, const struct forecast_args *args);
int forecast_watch(struct command *command, const struct forecast_args *args);
int forecast_place(struct command *command, const struct forecast_args *args);
int forecast_simulate(struct command *command, const struct forecast_args *args);

/* ---- forecast_place.c ---- */

/* What the site lets be done, and --busy-from. Misuse is told. */
struct placement_limits;
int forecast_limits(const struct command *command, const struct forecast_args *args,
		    const struct site *site, struct placement_limits *limits);

/* Fills in what the options and settings choose; the times are not limited. */
void forecast_query_init(struct forecast_query *query, const struct command *command,
			 const struct forecast_args *args);

/*
 * Loads rows with from_s <= time < to_s of the store, or all rows with --on or --file. Returns
 * COMMAND_GOOD, or prints the error and returns COMMAND_NO_DATA or COMMAND_FAILED. The caller
 * closes the data in any case.
 */
int forecast_open(const struct command *command, const struct forecast_args *args, double from_s,
		  double to_s, struct forecast_data *data);

/* --model, else setting forecast.model; the caller's to free. */
char *forecast_path(const struct command *command, const struct forecast_args *args);

/* COMMAND_GOOD, or what is wrong has been said. The caller releases the model. */
int forecast_model(const struct command *command, const struct forecast_args *args,
		   struct forecaster *forecaster);

/*
 * What is known now (--to: then), enough for the features of a model: its system's last hours.
 * *now_s is the moment.
 */
int forecast_latest(const struct command *command, const struct forecast_args *args,
		    const struct forecaster *forecaster, struct forecast_data *source,
		    double *now_s);

/* Says what is wrong: COMMAND_NO_DATA for -ENODATA and -ENOENT, else COMMAND_FAILED. */
int forecast_fail(const struct command *command, int r, const struct err *err);

/* The plan that options ask for; features: what is gone by where they are silent; windows are the
 * caller's. Misuse is told. */
int forecast_plan(const struct command *command, const struct forecast_args *args,
		  const char *features, struct forecaster_plan *plan);

/* Trains, tells how far it is, and can be stopped. COMMAND_GOOD, or what is wrong has been said. */
int forecast_fit(const struct command *command, const struct forecast_data *source,
		 struct forecaster_plan *plan, struct forecaster *forecaster);

/* Writes a model and makes the folder of the default path. */
int forecast_keep(const struct command *command, const struct forecast_args *args,
		  const struct forecaster *forecaster, const char *path);

#endif
