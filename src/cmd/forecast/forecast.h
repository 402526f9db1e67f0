/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the subcommands of `sluice forecast` that train and use models: the struct that their
 * options fill, and the functions that load probe data, a site and a model according to it. A
 * subcommand uses only the fields that its own option table contains.
 */
#ifndef SLUICE_CMD_FORECAST_FORECAST_H
#define SLUICE_CMD_FORECAST_FORECAST_H

#include "cli/command.h"
#include "predict/forecast/service/forecast_data.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/features.h"

struct forecaster;
struct forecaster_plan;
struct placement_limits;

#define FORECAST_SCHEMA "sluice.forecast/1"

/* Share of the days that evaluate and simulate train on by default, as in the paper (8 of 10). */
#define FORECAST_TRAINING_SHARE 0.8

struct forecast_args {
	/* The probe data. */
	const char *system, *site, *simulate, *since, *until, *days;
	struct option_list inputs;
	uint64_t max_targets;
	/* The model. */
	const char *method, *method_options, *features, *model, *output;
	int64_t horizon_ns, history_ns;
	int scope, calibration, programs;
	uint64_t folds, seed, threads;
	/* evaluate */
	const char *csv, *min_accuracy;
	uint64_t size;
	bool per_target, same_round, contributions;
	/* watch */
	bool once;
	int64_t every_ns, retrain_ns;
	uint64_t drift_window;
	/* place, simulate */
	uint64_t total, stripe, points, repeat;
	int rule;
	const char *params, *busy_threshold, *feedback;
	bool json;
};

/* Option tables that subcommands include; their rows fill a struct forecast_args. */
extern const struct option forecast_system_options[], forecast_data_options[],
	forecast_range_options[], forecast_simulated_options[], forecast_model_options[],
	forecast_method_options[], forecast_choice_options[], forecast_training_options[],
	forecast_busy_options[], forecast_json_options[];

/* The row of --features, whose default differs between commands. */
#define FORECAST_FEATURES_OPTION(fallback)                                                    \
	{                                                                                     \
		0, "features", "SETS", fallback,                                              \
			"features to use: paper, recent, all, or groups separated by commas", \
			OPTION_TEXT, offsetof(struct forecast_args, features)                 \
	}

/* The limits of the site, and --busy-threshold. Returns an exit code; errors were printed. */
int forecast_limits(const struct command *command, const struct forecast_args *args,
		    const struct site *site, struct placement_limits *limits);

/* Fills in what the options and settings choose; the times are not limited. */
void forecast_args_query(struct forecast_query *query, const struct command *command,
			 const struct forecast_args *args);

/*
 * Loads rows with from_s <= time < to_s of the store, or all rows with --simulate or --input.
 * Returns COMMAND_GOOD, or prints the error and returns COMMAND_NO_DATA or COMMAND_FAILED. The
 * caller closes the data in any case.
 */
int forecast_open(const struct command *command, const struct forecast_args *args, double from_s,
		  double to_s, struct forecast_data *data);

/* The path from --model, else from the setting forecast.model. The caller frees it. */
char *forecast_path(const struct command *command, const struct forecast_args *args);

/* Returns COMMAND_GOOD; else the error was printed. The caller releases the model. */
int forecast_model(const struct command *command, const struct forecast_args *args,
		   struct forecaster *forecaster);

/*
 * Loads the most recent probe data (before --until) that the features of the model need. *now_s
 * receives the time of the forecast.
 */
int forecast_latest(const struct command *command, const struct forecast_args *args,
		    const struct forecaster *forecaster, struct forecast_data *source,
		    double *now_s);

/*
 * Makes a training plan from the options, except for the time range. Returns an exit code; errors
 * were printed.
 */
int forecast_plan(const struct command *command, const struct forecast_args *args,
		  struct forecaster_plan *plan);

/* Trains, shows progress, and can be interrupted. Returns an exit code; errors were printed. */
int forecast_fit(const struct command *command, const struct forecast_data *source,
		 struct forecaster_plan *plan, struct forecaster *forecaster);

/* Writes a model; creates the directory of the default path if necessary. */
int forecast_keep(const struct command *command, const struct forecast_args *args,
		  const struct forecaster *forecaster, const char *path);

#endif
