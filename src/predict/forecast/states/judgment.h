/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Evaluates forecasts (WAN-26 to WAN-34): the accuracy of classifiers and baselines, for each
 * target and size. Training rows are cross-validated, with shuffled folds as in the paper and with
 * blocks of time; then a model of all training rows is tested on the days after. Shuffled folds are
 * optimistic, because rows close in time are similar. Blocks and later days are not.
 *
 * The results depend only on the seed, not on the number of threads, except for the measured times.
 */
#ifndef SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_H
#define SLUICE_PREDICT_FORECAST_STATES_JUDGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/judge/metrics.h"
#include "predict/forecast/states/features.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/labels.h"

struct buf;
struct err;
struct site;

/* The rows of one target and size, sorted by time, so training rows come first. */
struct judgment_rows {
	struct feature_rows rows;
	double *labels, *posterior;
	size_t train;		      /* number of training rows; the others are test rows */
	double ceiling;		      /* accuracy ceiling of the test rows (WAN-18) */
	double train_ceiling;	      /* and of the training rows */
	uint32_t *shuffled, *blocked; /* fold of each training row; NULL: no folds */
	uint8_t *busy;		      /* true state of each row; NULL: unknown */
};

struct judgment_plan {
	struct features_plan features;
	struct labels_plan labels; /* includes the training range */
	double test_to_s;	   /* end of the test range */
	enum programs_use programs;
	const char *methods;   /* "svm,hidden"; NULL or "all": all but auto */
	uint64_t bytes;	       /* only this size; 0: all but the probe size */
	const size_t *targets; /* only these targets; NULL: all */
	size_t target_count;
	size_t folds; /* 0: only test on the days after, without calibration */
	uint64_t seed;
	unsigned threads; /* 0: all cores */
	/* The true state of each sample, by target x CHRONICLE_SIZES + size; NULL: unknown. */
	uint8_t *const *busy;
	/* Called repeatedly from one thread; returns true to stop (-ECANCELED). Optional. */
	bool (*progress)(void *arg, size_t done, size_t total);
	void *progress_arg;
};

void judgment_plan_init(
	struct judgment_plan *plan); /* as in the paper; time ranges are unlimited */

/*
 * Methods: the classifiers of forecast_methods[], the choice of choice.h (from its own features,
 * whatever those of the plan), then these baselines.
 */
enum {
	JUDGMENT_AUTO = FORECAST_METHODS,
	JUDGMENT_HIDDEN,
	JUDGMENT_PERSISTENCE,
	JUDGMENT_MAJORITY,
	JUDGMENT_METHODS
};
const char *judgment_method(size_t method); /* "svm", "hidden", ... */

/* The results of a method for one target and size. NAN: not applicable. */
struct judgment_cell {
	bool is_known; /* the method could be trained */
	/* Cross-validated on training rows; persistence and majority on all of them. */
	double shuffled_accuracy, shuffled_auc, blocked_accuracy, blocked_auc;
	/* On the days after, by the method's own decision, as scikit-learn's predict(). */
	double accuracy, auc;
	/* The same by calibrated probabilities (Platt, on time blocks), if there were folds. */
	double calibrated_accuracy, brier, calibration_error;
	double latent;	    /* share of test rows whose true state was predicted */
	double fit_s;	    /* CPU time of one fit on all training rows */
	double ask_s;	    /* CPU time of one forecast */
	double log_loss;    /* of the probabilities of the test rows, in nats per row */
	const char *chosen; /* JUDGMENT_AUTO: the method, "shares" or NULL */
	/* Per test row: the score, and the probability of busy. */
	double *score, *chance;
};

struct judgment_case {
	size_t target, size; /* indices in the chronicle */
	size_t train, test;
	size_t timeouts;    /* number of test writes that timed out, which are busy */
	size_t programs;    /* number of test writes that programs made */
	double probe_age_s; /* of test writes, median: time since the newest probe used */
	double ceiling, train_ceiling; /* accuracy of an oracle that knows the durations */
	double busy_share;	       /* of the training labels */
	double label_truth;	       /* share of test labels that equal the true state */
	/* The test rows. */
	double *time_s, *seconds, *labels, *posterior;
	uint8_t *busy; /* true states; NULL: unknown */
	struct judgment_cell cells[JUDGMENT_METHODS];
};

struct judgment {
	struct states states;
	bool ignores_programs;	 /* as decided on the training range */
	struct chains *chains;	 /* for FEATURE_STATE, fitted to the training range; NULL: unused */
	struct borders *borders; /* for FEATURE_SHARE, likewise */
	struct judgment_case *cases; /* by target, then by size */
	size_t case_count;
	bool methods[JUDGMENT_METHODS]; /* the methods that were evaluated */
	double from_s, to_s, test_to_s;
};

/*
 * Evaluates all cases of the plan. Skips targets without enough training rows of both states;
 * -ENODATA if none remains. judgment is unchanged on failure.
 */
int judgment_run(struct judgment *judgment, const struct chronicle *chronicle,
		 const struct site *site, const struct judgment_plan *plan, struct err *err);
void judgment_release(struct judgment *judgment);

/*
 * Makes the rows of one case, with the same features, labels and folds, for use by other programs.
 * The caller releases them.
 */
int judgment_rows_make(struct judgment_rows *rows, const struct judgment *judgment,
		       const struct chronicle *chronicle, const struct features *features,
		       const struct judgment_plan *plan, size_t target, size_t size,
		       struct err *err);
void judgment_rows_release(struct judgment_rows *rows);

/* Statistics of a value over targets. */
struct judgment_sum {
	size_t count; /* targets with a known value */
	double mean, least, quartile, median, upper_quartile, most;
	double above; /* share of targets above the bound */
};

/* Of a member of cells, such as offsetof(struct judgment_cell, accuracy). */
void judgment_sum(const struct judgment *judgment, size_t size, size_t method, size_t offset,
		  double bound, struct judgment_sum *sum);
/* Of a member of cases, such as offsetof(struct judgment_case, ceiling). */
void judgment_sum_cases(const struct judgment *judgment, size_t size, size_t offset, double bound,
			struct judgment_sum *sum);

/* Durations of the test writes of all targets by predicted state, as in Fig. 8 (WAN-33). */
struct judgment_split {
	size_t idle, busy;  /* number of writes by predicted state */
	double tail_s;	    /* 95th percentile of all durations */
	double tail_recall; /* share of the writes above it that were predicted busy */
	double idle_below;  /* share of predicted-idle writes below the bound */
	double busy_below;  /* share of predicted-busy writes below it: false alarms */
};
void judgment_split(const struct judgment *judgment, size_t size, size_t method, double bound_s,
		    struct judgment_split *split);

/* Predicted and observed probabilities of busy in the test rows of all targets. */
#define JUDGMENT_BINS 10
struct judgment_reliability {
	size_t rows;
	struct metrics_bin bins[JUDGMENT_BINS];
	double error;		    /* mean difference of both in a bin, weighted by rows */
	double chance_error;	    /* the same that chance alone would cause */
	double predicted, observed; /* means over all rows */
	/* Mean excess of predictions over observations, away from 0.5; above 0: too extreme. */
	double excess;
};

/* Computes the reliability of a method; rows is 0 if it has no test rows of this size. */
void judgment_reliability(const struct judgment *judgment, size_t size, size_t method,
			  struct judgment_reliability *reliability);

/*
 * Are the probabilities right, as far as this number of rows can show? An error of up to twice the
 * one that chance causes is accepted, because rows that follow each other are alike.
 */
bool judgment_is_calibrated(const struct judgment_reliability *reliability);

/* Appends the result as a sentence without its period. */
void judgment_reliability_text(const struct judgment_reliability *reliability, struct buf *text);

#endif
