/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The models of all targets and sizes of a system (WAN-25), and their forecasts: the probability of
 * the busy state and the expected duration of a write. A forecast takes microseconds. The
 * forecaster is stored in a checked file (learn/file/checked_file.h) with its version, its training
 * range and its accuracy.
 * Papers: WAN-1, WAN-2.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_FORECASTER_H
#define SLUICE_PREDICT_FORECAST_STATES_FORECASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/states/hidden.h"
#include "predict/forecast/states/chains.h"
#include "predict/forecast/states/choice.h"
#include "predict/forecast/states/features.h"
#include "predict/forecast/states/labels.h"
#include "predict/forecast/states/programs.h"

struct err;
struct site;

#define FORECASTER_VERSION 5
#define FORECASTER_PREVIOUS ".previous"

/* The methods of the paper with their settings (WAN-24), and a baseline. */
struct forecast_method {
	const char *name, *title;
	const char *settings; /* override the learner's defaults, which are those of scikit-learn */
};
#define FORECAST_METHODS 7
extern const struct forecast_method
	forecast_methods[FORECAST_METHODS + 1]; /* ends with a row without a name */

/* Besides these, two methods that are no classifiers of their own. */
#define FORECAST_AUTO "auto"	 /* choice.h: a method for every target and size */
#define FORECAST_HIDDEN "hidden" /* the hidden Markov filter on probes (chains.h) */

/* Makes the plan of a method; `settings` override those of its row and may be NULL. */
int forecast_method_plan(struct pipeline_plan *plan, const char *name, const char *settings,
			 struct err *err);

struct forecaster_plan {
	bool choose; /* FORECAST_AUTO; the pipeline is not used */
	bool hidden; /* FORECAST_HIDDEN; the pipeline calibrates the filter */
	struct pipeline_plan pipeline;
	struct features_plan features;
	struct labels_plan labels;  /* includes the training range */
	enum programs_use programs; /* PROGRAMS_AUTO needs folds; else they are used */
	size_t folds;		    /* time blocks for validation and calibration; 0: neither */
	bool shuffled;		    /* also validate with shuffled folds, as the paper does */
	enum calibration_kind calibration;
	uint64_t seed;
	unsigned threads; /* 0: all cores */
	/* Called repeatedly from one thread; returns true to stop (-ECANCELED). Optional. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

/* The model of one target and size. Its forecast is the mean of those of its members. */
struct forecaster_model {
	bool is_known;	/* there were enough writes to train it, and it was chosen */
	bool is_chosen; /* FORECAST_AUTO: it is better than the share of busy writes (choice.h) */
	char method[16];
	struct choice_model *members; /* CHOICE_MEMBERS, or NULL */
	size_t member_count;	      /* at least 1 if it is known, else 0 */
	bool recent; /* the forecast starts from the share of the last writes; of any member */
	/*
	 * With FORECAST_AUTO: log loss per row on later blocks of time, of the best candidate and
	 * of the share of busy writes. The candidate is used only if it is better. NAN: unknown.
	 */
	double log_loss, share_log_loss;
	size_t rows;
	double busy_share; /* share of busy labels in the training range; NAN: unknown */
	/* Cross-validated, on time blocks and on shuffled folds; NAN: not validated. */
	double accuracy, auc, shuffled_accuracy, shuffled_auc;
	double ceiling, majority; /* accuracy of an oracle, and of the more frequent label */
	double seconds;		  /* CPU time of the fit; NAN if the model was loaded */
};

struct forecaster {
	char system[CHRONICLE_NAME];
	char (*targets)[CHRONICLE_NAME];
	size_t target_count;
	uint64_t sizes[CHRONICLE_SIZES]; /* the probe size first */
	size_t size_count;
	struct features_plan features; /* features.ignores_programs is what was decided */
	struct states states;
	size_t program_rows;		 /* rows of programs in the training range, used or not */
	struct chains *chains;		 /* for FEATURE_STATE; features.chains is the same */
	struct borders *borders;	 /* for FEATURE_SHARE; features.borders is the same */
	struct forecaster_model *models; /* targets x sizes; unused for the probe size */
	double from_s, to_s;		 /* training range */
	uint64_t seed, generation;	 /* generation: number of trainings */
	int64_t made_s;			 /* time of the training, since 1970 */
	char method[32], settings[128];
};

/* Minimum number of training rows of each state. */
#define FORECASTER_LEAST 8

/*
 * Trains the models. A target with too few writes of a size, or with writes of only one state, gets
 * no model; its forecast is busy_share. If no method is better than a share, it is that share. The
 * forecaster is unchanged on failure; -ENODATA if no target has enough writes. Sets made_s to 0 and
 * generation to 1; the caller may change them.
 */
int forecaster_fit(struct forecaster *forecaster, const struct chronicle *chronicle,
		   const struct site *site, const struct forecaster_plan *plan, struct err *err);
void forecaster_release(struct forecaster *forecaster);
/* Sets the borders from the states, after training or loading. */
void forecaster_set_borders(struct forecaster *forecaster);

struct forecast {
	double busy;	       /* probability; NAN: unknown */
	double expected_s;     /* expected duration of a write over both states */
	double idle_s, busy_s; /* mean duration in each state (WAN-20) */
	double idle_sd, busy_sd;
	bool is_model; /* false: `busy` is a share of busy writes, not a model's forecast */
};

void forecaster_plan_init(struct forecaster_plan *plan); /* as in the paper: SVM, 16 features */

/*
 * Sets the method of a plan: one of forecast_methods[] or another classifier, FORECAST_AUTO or
 * FORECAST_HIDDEN. The last two also set the groups of features and accept no settings.
 */
int forecaster_plan_method(struct forecaster_plan *plan, const char *method, const char *settings,
			   struct err *err);

static inline const struct forecaster_model *forecaster_model(const struct forecaster *forecaster,
							      size_t target, size_t size)
{
	return &forecaster->models[target * forecaster->size_count + size];
}

/* Was a model rejected because it was not better than the share of busy writes? */
bool forecaster_model_is_rejected(const struct forecaster_model *model);

/*
 * Is the cross-validated accuracy of the model higher than that of always predicting the more
 * frequent state, with a confidence of FORECASTER_CONFIDENCE? False also if it was not validated.
 */
#define FORECASTER_CONFIDENCE 0.95
bool forecaster_model_is_useful(const struct forecaster_model *model);

/* The index of a target or size, or -ENOENT. */
int forecaster_find_target(const struct forecaster *forecaster, const char *target);
int forecaster_find_size(const struct forecaster *forecaster, uint64_t bytes);

/*
 * Makes the forecast for a row of features_at() with the forecaster's plan. If row is NULL, the
 * forecast is the share of busy labels. Any thread may call it. Does not allocate memory.
 */
void forecaster_predict(const struct forecaster *forecaster, size_t target, size_t size,
			const double *row, struct forecast *forecast);

/*
 * The same with the probe data at time_s. The features must have the forecaster's plan; the indices
 * of their chronicle may differ from those of the model. If the window before time_s has no probe
 * of the target, the forecast is the share of busy labels. Returns the age of the newest probe in
 * seconds; INFINITY if there is none.
 */
double forecaster_predict_at(const struct forecaster *forecaster, const struct features *features,
			     size_t target, size_t size, double time_s, struct forecast *forecast);

/* Replaces the file atomically; the old file is kept as PATH.previous. */
int forecaster_save(const struct forecaster *forecaster, const char *path, struct err *err);
int forecaster_load(struct forecaster *forecaster, const char *path, struct err *err);
/* Loads from memory. The bytes may be anything; `name` is used in messages. */
int forecaster_parse(struct forecaster *forecaster, const char *name, const void *bytes, size_t n,
		     struct err *err);

#endif
