/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The forecasts of a model for all its targets and sizes at one time, and what they rest on. The
 * command line and the web application show the same outlook.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_OUTLOOK_H
#define SLUICE_PREDICT_FORECAST_SERVICE_OUTLOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/forecast/states/forecaster.h"

struct forecast_data;
struct json;

/* A forecast is stale if the newest probe is older than this many times --history. */
#define OUTLOOK_STALE_WINDOWS 2

struct outlook {
	const struct forecaster *forecaster;
	const char *path; /* of the model */
	double now_s;	  /* the time of the forecasts */
	double age_s;	  /* of the newest probe of all targets; INFINITY: there is none */
	bool is_stale;
	struct forecast *answers; /* targets x sizes; unused for the probe size */
	double *ages;		  /* of the newest probe, per target */
};

/*
 * Makes the forecasts from the data of the last forecast_data_history_s() before now_s. Forecaster
 * and path must outlive the outlook, which the caller releases.
 */
void outlook_init(struct outlook *outlook, const struct forecaster *forecaster, const char *path,
		  const struct forecast_data *data, double now_s);
void outlook_release(struct outlook *outlook);

static inline const struct forecast *outlook_answer(const struct outlook *outlook, size_t target,
						    size_t size)
{
	return &outlook->answers[target * outlook->forecaster->size_count + size];
}

/* "idle", "busy" or "unknown" */
const char *outlook_state(const struct forecast *forecast);

/* Says why a stale outlook shows typical times only. The caller frees it; NULL: it is not stale. */
char *outlook_warning(const struct outlook *outlook);

/*
 * Says how many of the forecasts come from models that were not shown to be better than always
 * predicting the more frequent state. The caller frees it; NULL: none.
 */
char *outlook_caution(const struct outlook *outlook);

/* Writes the members of the schema sluice.forecast/1. */
void outlook_json(const struct outlook *outlook, struct json *json);

#endif
