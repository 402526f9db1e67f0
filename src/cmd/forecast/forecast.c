/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast: forecasts which storage targets will be busy. This file has the option tables
 * that its subcommands share, and the group.
 */
#include "cmd/forecast/forecast.h"

#include "learn/judge/calibration.h"
#include "predict/forecast/place/placement.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/labels.h"

#define FIELD(name) offsetof(struct forecast_args, name)

const struct option forecast_system_options[] = {
	{ 0, "system", "NAME", NULL,
	  "use the probe data of this system (default: the only one in the store)", OPTION_TEXT,
	  FIELD(system) },
	{ 0, "site", "NAME|FILE", NULL,
	  "description of the site: queues, size classes, policy (default: setting probe.site)",
	  OPTION_TEXT, FIELD(site) },
	{ 0 }
};

const struct option forecast_data_options[] = {
	OPTION_INCLUDE(forecast_system_options, 0),
	{ 0, "input", "FILE", NULL,
	  "read probe data from FILE instead of the store; may be repeated", OPTION_LIST,
	  FIELD(inputs) },
	{ 0 }
};

const struct option forecast_range_options[] = {
	{ 0, "since", "TIME", NULL, "ignore earlier data; a date or seconds since 1970 (UTC)",
	  OPTION_TEXT, FIELD(since) },
	{ 0, "until", "TIME", NULL, "ignore later data", OPTION_TEXT, FIELD(until) },
	{ 0 }
};

const struct option forecast_simulated_options[] = {
	{ 0, "simulate", "NAME", NULL,
	  "use the simulated system NAME, such as titan, instead of the store", OPTION_TEXT,
	  FIELD(simulate) },
	{ 0, "max-targets", "N", NULL, "with --simulate: use only N targets", OPTION_COUNT,
	  FIELD(max_targets) },
	{ 0 }
};

const struct option forecast_model_options[] = { { 'm', "model", "FILE", NULL,
						   "fitted model (default: setting forecast.model)",
						   OPTION_TEXT, FIELD(model) },
						 { 0 } };

const struct option forecast_choice_options[] = {
	{ 0, "method", "METHOD", FORECAST_AUTO,
	  "learning method: auto averages three methods or chooses one for each target and size, "
	  "hidden is a filter of the probes; others as 'sluice lab learn show' lists them",
	  OPTION_TEXT, FIELD(method) },
	{ 0, "method-options", "NAME=VALUE,...", NULL, "options of the method, such as cost=2",
	  OPTION_TEXT, FIELD(method_options) },
	{ 0 }
};

const struct option forecast_method_options[] = {
	{ 0, "method", "METHOD", "svm", "learning method, as 'sluice lab learn show' lists them",
	  OPTION_TEXT, FIELD(method) },
	{ 0, "method-options", "NAME=VALUE,...", NULL, "options of the method, such as cost=2",
	  OPTION_TEXT, FIELD(method_options) },
	{ 0 }
};

const struct option forecast_training_options[] = {
	{ 0, "history", "TIME", "10m", "maximum age of probes that a forecast uses", OPTION_TIME,
	  FIELD(history_ns) },
	{ 0, "horizon", "TIME", "0", "forecast this far ahead", OPTION_TIME, FIELD(horizon_ns) },
	{ 0, "states", LABELS_SCOPES, "system",
	  "define idle and busy for the whole system, or for each target", OPTION_CHOICE,
	  FIELD(scope) },
	{ 0, "programs", PROGRAMS_WORDS, "auto",
	  "train also on what programs wrote under 'sluice run --place'; auto: unless that makes "
	  "the forecasts of probes worse",
	  OPTION_CHOICE, FIELD(programs) },
	{ 'k', "folds", "N", "8", "number of cross-validation folds; 0: none", OPTION_COUNT,
	  FIELD(folds) },
	{ 0, "calibration", CALIBRATION_WORDS, "platt",
	  "method that turns classifier scores into probabilities", OPTION_CHOICE,
	  FIELD(calibration) },
	{ 0, "seed", "N", "1", "seed of the random numbers", OPTION_COUNT, FIELD(seed) },
	{ 'T', "threads", "N", NULL, "number of threads (default: all cores)", OPTION_COUNT,
	  FIELD(threads) },
	{ 0 }
};

const struct option forecast_busy_options[] = { { 0, "busy-threshold", "P", "0.5",
						  "probability above which a target counts as busy",
						  OPTION_TEXT, FIELD(busy_threshold) },
						{ 0 } };

const struct option forecast_json_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " FORECAST_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

extern const struct command_ops command_forecast_describe, command_forecast_evaluate,
	command_forecast_export, command_forecast_forget, command_forecast_import,
	command_forecast_now, command_forecast_place, command_forecast_probe,
	command_forecast_simulate, command_forecast_submit, command_forecast_systems,
	command_forecast_train, command_forecast_watch;

static const struct command_ops *const subcommands[] = {
	&command_forecast_now,	    &command_forecast_probe,
	&command_forecast_train,    &command_forecast_evaluate,
	&command_forecast_describe, &command_forecast_watch,
	&command_forecast_place,    &command_forecast_simulate,
	&command_forecast_submit,   &command_forecast_import,
	&command_forecast_export,   &command_forecast_systems,
	&command_forecast_forget,   NULL,
};

const struct command_ops command_forecast = {
	.name = "forecast",
	.help = "probe storage targets and forecast which ones will be busy",
	.about = "A storage target is a part of the storage that can be busy while others are "
		 "idle: a Lustre OST or OSS, a CephFS pool, or a directory on a device of its "
		 "own. 'sluice forecast probe' measures small writes to each target and records "
		 "the running jobs. From this data, models learn which targets will be idle or "
		 "busy for writes of a given size. The two states are found in the write times "
		 "themselves, as a mixture of two log-normal distributions, so a forecast of the "
		 "state is also one of the time.\n\n"
		 "  sluice forecast probe a=/mnt/a b=/mnt/b   collect data (leave it running)\n"
		 "  sluice forecast train                     learn from the data in the store\n"
		 "  sluice forecast                           forecast for the current minute\n"
		 "  sluice forecast place --total 288G        how much to write to which target\n"
		 "  sluice run --place adaptive -- ./program  place new files where they are "
		 "written first",
	.subcommands = subcommands,
	.fallback = "now",
};
