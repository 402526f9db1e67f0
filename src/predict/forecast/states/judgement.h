/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How well forecasts do (WAN-26 to WAN-34): classifiers and baselines, each target and size by
 * itself. Training rows are judged in folds, shuffled as in the paper and in blocks of time; a
 * model of all of them then answers for the days after. Shuffled folds flatter: neighbours in time
 * are much alike, so a row that is held out has nearly been seen. Blocks and later days do not.
 *
 * Everything follows from the seed, on any number of threads, but for the times that it took.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_JUDGEMENT_H
#define SLUICE_PREDICT_FORECAST_STATES_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/states/features.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/labels.h"

struct err;
struct site;

/* ---- rows of one target and size ---- */

/* Those of the training window come first; rows are in the order of time. */
struct judgement_rows {
	struct feature_rows rows;
	double *labels, *posterior;
	size_t train;		      /* so many train, the others test */
	double ceiling;		      /* of the test rows, as WAN-18 has it */
	double train_ceiling;	      /* and of those that train */
	uint32_t *shuffled, *blocked; /* per training row its fold; NULL: none were wanted */
	uint8_t *busy;		      /* the true state of each row; NULL: nobody knows */
};

/* ---- what to judge ---- */

struct judgement_plan {
	struct features_plan features;
	struct labels_plan labels; /* with the window that trains */
	double test_to_s;	   /* the days after end here */
	const char *methods;	   /* "svm,hidden"; NULL or "all": all */
	uint64_t bytes;		   /* this size only; 0: all but the probes' */
	const size_t *targets;	   /* these only; NULL: all */
	size_t target_count;
	size_t folds; /* 0: test on the days after alone, uncalibrated */
	uint64_t seed;
	unsigned threads; /* 0: all cores */
	/* The true state of each sample, target x CHRONICLE_SIZES + size; NULL: nobody knows. */
	uint8_t *const *busy;
	/* Called now and then from one thread; true stops (-ECANCELED). Optional. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

void judgement_plan_init(struct judgement_plan *plan); /* the paper's; windows are open */

/* ---- what came out ---- */

/* Classifiers of forecast_methods[], then baselines. */
enum {
	JUDGEMENT_HIDDEN = FORECAST_METHODS,
	JUDGEMENT_PERSISTENCE,
	JUDGEMENT_MAJORITY,
	JUDGEMENT_METHODS
};
const char *judgement_method(size_t method);	   /* "svm", "hidden", ... */
const char *judgement_method_title(size_t method); /* "hidden Markov filter on probes" */

/* Of a method. NAN where it does not apply. */
struct judgement_cell {
	bool is_known; /* it could be trained */
	/* On training rows, out of fold. Persistence and majority: over all of them. */
	double shuffled_accuracy, shuffled_auc, blocked_accuracy, blocked_auc;
	/* On the days after: by the method's own decision, as scikit-learn's predict(). */
	double accuracy, auc;
	/* And by calibrated chances (Platt, on blocks in time) where there were folds. */
	double calibrated_accuracy, brier, calibration_error;
	double latent; /* share of test rows whose true state it said */
	double fit_s;  /* CPU time of one fit on all training rows */
	double ask_s;  /* and of one answer */
	/* Per test row: its own score, and the chance of busy. */
	double *score, *chance;
};

struct judgement_case {
	size_t target, size; /* of the chronicle */
	size_t train, test;
	double ceiling, train_ceiling; /* what an oracle of the write times would reach */
	double busy_share;	       /* of the labels that train */
	double label_truth;	       /* share of test labels that are the true state */
	/* Of the test rows. */
	double *time_s, *seconds, *labels, *posterior;
	uint8_t *busy; /* NULL: nobody knows */
	struct judgement_cell cells[JUDGEMENT_METHODS];
};

struct judgement {
	struct states states;
	struct judgement_case *cases; /* targets one after the other, their sizes inside */
	size_t case_count;
	bool methods[JUDGEMENT_METHODS]; /* which were wanted */
	double from_s, to_s, test_to_s;
};

/*
 * Targets without rows of both states to train on are left out. -ENODATA where none is left.
 * judgement is untouched on failure.
 */
int judgement_run(struct judgement *judgement, const struct chronicle *chronicle,
		  const struct site *site, const struct judgement_plan *plan, struct err *err);
void judgement_release(struct judgement *judgement);

/*
 * The rows that a case of the judgement was made from, for others to try their methods on: the same
 * features, labels and folds. The caller releases them.
 */
int judgement_rows_make(struct judgement_rows *rows, const struct judgement *judgement,
			const struct chronicle *chronicle, const struct features *features,
			const struct judgement_plan *plan, size_t target, size_t size,
			struct err *err);
void judgement_rows_release(struct judgement_rows *rows);

/* ---- sums over targets ---- */

struct judgement_sum {
	size_t count; /* targets where it is known */
	double mean, least, quartile, median, upper_quartile, most;
	double above; /* share of targets above the bound */
};

/* A number of cells: offsetof(struct judgement_cell, accuracy). size: of the chronicle. */
void judgement_sum(const struct judgement *judgement, size_t size, size_t method, size_t offset,
		   double bound, struct judgement_sum *sum);
/* A number of cases: offsetof(struct judgement_case, ceiling). */
void judgement_sum_cases(const struct judgement *judgement, size_t size, size_t offset,
			 double bound, struct judgement_sum *sum);

/* Fig. 8: test times of all targets by predicted state (WAN-33, WAN-AC-11). */
struct judgement_split {
	size_t idle, busy;  /* writes that were called so */
	double tail_s;	    /* 95th percentile of all times */
	double tail_recall; /* share of the writes above it that were called busy */
	double idle_below;  /* share of predicted-idle writes below the bound */
	double busy_below;  /* share of predicted-busy writes below it: caution that was not needed
			     */
};
void judgement_split(const struct judgement *judgement, size_t size, size_t method, double bound_s,
		     struct judgement_split *split);

/* Test rows of all targets together: labels and chances, for reliability. The caller's to free. */
size_t judgement_pool(const struct judgement *judgement, size_t size, size_t method,
		      double **labels, double **chances);

#endif
