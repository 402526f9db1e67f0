/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps a model up to date. Each check compares the model's forecasts with the writes that were
 * measured since the last check, and trains the model again when states/retraining.h says so. The
 * store is only read; probing.h fills it.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_RETRAINER_H
#define SLUICE_PREDICT_FORECAST_SERVICE_RETRAINER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "predict/forecast/service/forecast_data.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/retraining.h"

struct err;

#define RETRAINER_TRAIN_S (8 * 86400.0) /* default history of a training */

struct retrainer_check {
	double now_s;
	size_t scored; /* forecasts compared in this check */
	double right;  /* share of correct forecasts since the last training; NAN: none scored */
	enum retraining_reason reason;
	bool is_trained;
	const struct forecaster *forecaster; /* the current model */
};

struct retrainer_options {
	const char *model_path;
	bool makes_directory; /* create the directory of model_path if it does not exist */
	/* Whose data to load. An existing model's own system takes precedence over query.system. */
	struct forecast_query query;
	/* How to train the first model; later ones keep the method, features and seed. */
	struct forecaster_plan plan;
	double train_s;	     /* length of the history to train on */
	double retrain_s;    /* train on schedule; 0: only on drift or changes */
	size_t drift_window; /* forecasts in which drift is looked for */
	int64_t every_ns;    /* time between checks */
	double now_s;	     /* use this as the current time; NAN: the clock */
	bool is_once;	     /* do one check and return */
	const volatile sig_atomic_t *stop;
	void (*on_check)(void *arg, const struct retrainer_check *check);
	/* A check failed; the next one may succeed, for example when the store has more rows. */
	void (*on_error)(void *arg, const struct err *err);
	void *arg;
};

/*
 * Runs checks until *stop is set, or one check. Returns 0 after *stop, or the result of the last
 * check: -ENODATA or -ENOENT without probe data. A model file that cannot be read is an error.
 * on_error has reported every error.
 */
int retrainer_run(const struct retrainer_options *options);

#endif
