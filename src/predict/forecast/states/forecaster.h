/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of all targets and sizes of a system (WAN-25), and the forecast: which state, with what
 * chance, and how long a write takes then. Answers come from memory in microseconds. It lives in a
 * sealed file (learn/file/checked_file.h) with its version, the window that it was trained on and how
 * good it was.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FORECASTER_H
#define SLUICE_PREDICT_FORECAST_STATES_FORECASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/judge/calibration.h"
#include "learn/pipeline.h"
#include "learn/states/hidden.h"
#include "predict/forecast/states/features.h"
#include "predict/forecast/states/labels.h"

struct err;
struct site;

#define FORECASTER_VERSION 1
#define FORECASTER_PREVIOUS ".previous"

/* How the paper sets each method (WAN-24), and the baseline: the one place that says it. */
struct forecast_method {
	const char *name, *title;
	const char *settings; /* over the learner's defaults, which are scikit-learn's */
};
#define FORECAST_METHODS 7
extern const struct forecast_method forecast_methods[FORECAST_METHODS + 1]; /* ends without name */

/* The plan of a method; settings come over those of its row (NULL: none). */
int forecast_method_plan(struct pipeline_plan *plan, const char *name, const char *settings,
			 struct err *err);

struct forecaster_plan {
	struct pipeline_plan pipeline;
	struct features_plan features;
	struct labels_plan labels; /* with the window to train on */
	size_t folds;		   /* blocks in time to judge and to calibrate by; 0: neither */
	bool shuffled;		   /* judge with shuffled folds as well, as the paper does */
	enum calibration_kind calibration;
	uint64_t seed;
	unsigned threads; /* 0: all cores */
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
	double busy_share; /* of its labels: the answer where there is no model; NAN: unknown */
	/* Out of fold, on blocks in time and shuffled; NAN: not judged. */
	double accuracy, auc, shuffled_accuracy, shuffled_auc;
	double ceiling, majority; /* of the labels */
	double seconds;		  /* CPU time of the fit alone; NAN in what was loaded */
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

/* Both states must be there this often before a model is learnt. */
#define FORECASTER_LEAST 8

/*
 * Writes of a size that are too few, or of one state only, leave a target without a model: shares
 * of states answer then. forecaster is untouched on failure. -ENODATA where no target has enough.
 * made_s is 0 and generation is 1: they are the caller's to set.
 */
int forecaster_fit(struct forecaster *forecaster, const struct chronicle *chronicle,
		   const struct site *site, const struct forecaster_plan *plan, struct err *err);
void forecaster_release(struct forecaster *forecaster);

struct forecast {
	double busy;	       /* chance */
	double expected_s;     /* of one write of the size: over both states */
	double idle_s, busy_s; /* mean of each state (WAN-20) */
	double idle_sd, busy_sd;
	bool is_model; /* false: only shares of states are known for it, or nothing: busy is NAN */
};

void forecaster_plan_init(struct forecaster_plan *plan); /* the paper's: SVM, 16 features */

static inline const struct forecaster_model *forecaster_model(const struct forecaster *forecaster,
							      size_t target, size_t size)
{
	return &forecaster->models[target * forecaster->size_count + size];
}

/* Their numbers; -ENOENT. */
int forecaster_find(const struct forecaster *forecaster, const char *target);
int forecaster_size(const struct forecaster *forecaster, uint64_t bytes);

/*
 * row: features_at() with the forecaster's plan; NULL: nothing is known but shares. Any thread,
 * does not allocate.
 */
void forecaster_ask(const struct forecaster *forecaster, size_t target, size_t size,
		    const double *row, struct forecast *forecast);

/*
 * The same by what a chronicle has, whose numbers need not be the model's; features are of the
 * forecaster's plan. Where the window before time_s has no probe of the target, shares answer.
 * Returns how old its newest probe is; INFINITY: there is none.
 */
double forecaster_answer(const struct forecaster *forecaster, const struct features *features,
			 size_t target, size_t size, double time_s, struct forecast *forecast);

/* The file appears when it is complete. What stood there before is kept as PATH.previous. */
int forecaster_save(const struct forecaster *forecaster, const char *path, struct err *err);
int forecaster_load(struct forecaster *forecaster, const char *path, struct err *err);
/* From memory: any bytes. */
int forecaster_parse(struct forecaster *forecaster, const char *name, const void *bytes, size_t n,
		     struct err *err);

#endif
