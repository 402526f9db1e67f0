/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of all targets and sizes of a system (WAN-25), and the forecast: which state, with what
 * chance, and how long a write takes then. Answers come from memory in microseconds. It lives in a
 * sealed file (learn/data/sealed.h) with its version, the window that it was trained on and how
 * good it was.
 */
#ifndef SLUICE_PREDICT_FORECAST_FORECASTER_H
#define SLUICE_PREDICT_FORECAST_FORECASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/judge/calibration.h"
#include "learn/pipeline.h"
#include "learn/states/hidden.h"
#include "predict/forecast/features.h"
#include "predict/forecast/labels.h"

struct err;
struct site;

#define FORECASTER_VERSION 1

struct forecaster_plan {
	struct pipeline_plan pipeline;
	struct features_plan features;
	struct labels_plan labels; /* with the window to train on */
	size_t folds;		   /* to judge and to calibrate; 0: neither */
	enum calibration_kind calibration;
	uint64_t seed;
	unsigned threads;
	/* Called now and then from one thread; true stops (-ECANCELED). Optional. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

/* Of one target and size. */
struct forecaster_model {
	bool is_known; /* there was enough to learn from */
	struct pipeline pipeline;
	struct calibration calibration;
	size_t rows;
	double busy_share; /* of its labels: the answer where there is no model */
	double accuracy, auc, ceiling, majority; /* out of fold; NAN: not judged */
};

struct forecaster {
	char system[CHRONICLE_NAME];
	char (*targets)[CHRONICLE_NAME];
	size_t target_count;
	uint64_t sizes[CHRONICLE_SIZES]; /* the probes' first */
	size_t size_count;
	struct features_plan features;
	struct states states;
	struct forecaster_model *models; /* targets x sizes; the probes' column is empty */
	double from_s, to_s;		 /* window of training */
	uint64_t seed, generation;	 /* how often it was trained again */
	int64_t made_s;
	char method[32], settings[128];
};

/* forecaster is untouched on failure. -ENODATA where no target has enough. */
int forecaster_fit(struct forecaster *forecaster, const struct chronicle *chronicle,
		   const struct site *site, const struct forecaster_plan *plan, struct err *err);
void forecaster_release(struct forecaster *forecaster);

struct forecast {
	double busy;	       /* chance */
	double expected_s;     /* of one write of the size: over both states */
	double idle_s, busy_s; /* mean of each state (WAN-20) */
	double idle_sd, busy_sd;
	bool is_model; /* false: only shares of states are known for it */
};

/* row: features_at(). Any thread, does not allocate. */
void forecaster_ask(const struct forecaster *forecaster, size_t target, size_t size,
		    const double *row, struct forecast *forecast);

int forecaster_save(const struct forecaster *forecaster, const char *path, struct err *err);
int forecaster_load(struct forecaster *forecaster, const char *path, struct err *err);
/* From memory: any bytes. */
int forecaster_parse(struct forecaster *forecaster, const char *name, const void *bytes, size_t n,
		     struct err *err);

#endif
