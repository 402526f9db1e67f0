/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The paper's experiments on a contest: all competitors side by side (Figures 8 and 9), fewer rows
 * to learn from (Figure 10) and noise in them (Figure 11); beyond the paper also for the hybrid
 * model (HYB-45 to HYB-52).
 *
 * Each repetition has benchmark rows and training runs of its own, and so has each seed. Methods
 * and their settings are selected once, on what the first repetition has without noise; repetitions
 * learn anew with them. `full` selects in each, which takes hours. Everything follows from the
 * seed, on any number of threads.
 */
#ifndef SLUICE_LAB_MODEL_STUDIES_H
#define SLUICE_LAB_MODEL_STUDIES_H

#include "lab/model/blackbox.h"
#include "lab/model/bluegene.h"
#include "lab/model/outcome.h"
#include "predict/model/hybrid/hybrid.h"
#include "store/elements.h"

struct contest;

/* Rows of one campaign of benchmarks, each draw its own; adds to out. */
typedef int (*study_benchmark)(void *arg, uint64_t draw, struct elements *out, struct err *err);

/* How far a stage has come; calls may come from any thread, one at a time. */
typedef void (*study_progress)(void *arg, const char *stage, size_t done, size_t total);

struct study_plan {
	study_benchmark benchmark;
	void *benchmark_arg;
	struct bluegene_rules rules; /* rounds are counted by each rule, whatever it says */
	double coverage;	     /* of the intervals that the keep-default rule goes by */
	size_t repetitions;	     /* 10 in the paper */
	size_t budget, folds;
	bool full;
	bool surrogates_alone; /* hybrid: as the paper, cells are not looked up */
	const struct learner_ops *const *learners; /* NULL: those of HYB-40 */
	uint64_t seed;
	unsigned threads;
	study_progress progress; /* NULL: nobody asks */
	void *progress_arg;
};

struct study {
	const struct contest *contest;
	struct study_plan plan;
	struct elements *draws; /* one per repetition */
	struct hybrid hybrid;	/* of the first, with its leaderboards */
	/* The black box, that learns seconds as in the paper, and one that learns logarithms. */
	struct pipeline_plan seconds, logarithms;
	struct blackbox_score seconds_score, logarithms_score;
};

/* Benchmarks and selections. The contest must outlive the study. */
int study_init(struct study *study, const struct contest *contest, const struct study_plan *plan,
	       struct err *err);
void study_release(struct study *study);

/* ---- all side by side ---- */

enum study_method {
	STUDY_RANDOM,	/* drawn */
	STUDY_EXPECTED, /* its expectation */
	STUDY_ML,
	STUDY_ML_UNSEEN, /* choices that it was not trained by alone (HYB-49) */
	STUDY_ML_LOG,
	/* By each rule of rounds (counts.h); then with the default kept where a loss cannot be
	 * excluded. One after the other, as arrays of HYBRID_OUTCOMES go. */
	STUDY_HYBRID,
	STUDY_DOMAINS,
	STUDY_HYBRID_KEEP,
	STUDY_DOMAINS_KEEP,
	STUDY_OPTIMAL,
	STUDY_DEFAULT,
	STUDY_METHODS
};
extern const char *const study_method_names[STUDY_METHODS];
extern const char *const study_method_titles[STUDY_METHODS];

#define HYBRID_OUTCOMES (2 * ROUNDS_RULES)

struct comparison {
	struct outcome of[STUDY_METHODS];
	double *hybrid; /* predicted: repetitions x rules of rounds x instances x choices */
	double *ml;	/* repetitions x instances x choices */
};
int study_compare(const struct study *study, struct comparison *comparison, struct err *err);
void comparison_release(struct comparison *comparison);

/* ---- noise ---- */

enum noise_policy { NOISE_ALLOW, NOISE_CLIP, NOISE_REFLECT };
#define NOISE_POLICY_WORDS "allow|clip|reflect"

#define NOISE_LEVELS 11
extern const double noise_levels[NOISE_LEVELS]; /* HYB-51 */

/* What becomes of a time: itself times 1 + sigma * normal; clipped at a thousandth of itself. */
double noise_apply(double seconds, double factor, enum noise_policy policy);

struct noise_result {
	double sigma;
	struct outcome hybrid[HYBRID_OUTCOMES], ml;
	/* Of the predictions with and without noise, mean over instances and repetitions. */
	double hybrid_kendall[ROUNDS_RULES], ml_kendall;
	size_t left_out; /* cells whose time has no logarithm, of all repetitions */
};
int study_noise(const struct study *study, const struct comparison *clean, enum noise_policy policy,
		const double *sigmas, size_t count, struct noise_result *results, struct err *err);
void noise_results_release(struct noise_result *results, size_t count);

/* ---- sizes ---- */

struct size_result {
	double share;				    /* of what there is */
	size_t rows;				    /* of the first repetition */
	struct outcome ml, hybrid[HYBRID_OUTCOMES]; /* the one that is asked for */
};

/* Black box: a third of the points of the design is one per instance. */
int study_ml_sizes(const struct study *study, const double *shares, size_t count,
		   struct size_result *results, struct err *err);

/* Hybrid: each operation keeps that share of its cells, and two at least. */
int study_hybrid_sizes(const struct study *study, const double *shares, size_t count,
		       struct size_result *results, struct err *err);
void size_results_release(struct size_result *results, size_t count);

/* Cells of each operation, drawn at random; rows of the others go. */
void elements_thin(struct elements *rows, double share, uint64_t seed);

#endif
