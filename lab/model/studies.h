/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The experiments of Isaila et al. on a contest: a comparison of all methods (Figures 8 and 9),
 * less training data (Figure 10) and noise in the training data (Figure 11). Beyond the paper, the
 * hybrid model is also tested with less data.
 *
 * Each repetition of each seed has its own benchmark rows and training runs. Learning methods and
 * their settings are selected once, on the data of the first repetition without noise; each
 * repetition is then fitted with them. `full` selects again in each repetition, which takes hours.
 * The results depend on the seed, but not on the number of threads.
 */
#ifndef SLUICE_LAB_MODEL_STUDIES_H
#define SLUICE_LAB_MODEL_STUDIES_H

#include "lab/model/blackbox.h"
#include "lab/model/bluegene.h"
#include "lab/model/outcome.h"
#include "predict/model/hybrid/hybrid.h"
#include "store/elements.h"

struct contest;

/* Adds the rows of one benchmark campaign to `out`; every `draw` is a different campaign. */
typedef int (*study_benchmark)(void *arg, uint64_t draw, struct elements *out, struct err *err);

/* Reports the progress of a stage. Called from any thread, but never concurrently. */
typedef void (*study_progress)(void *arg, const char *stage, size_t done, size_t total);

struct study_plan {
	study_benchmark benchmark;
	void *benchmark_arg;
	struct bluegene_rules rules; /* its field `rounds` is ignored: every rule is studied */
	double coverage; /* of the prediction intervals that decide whether the default is kept */
	size_t repetitions; /* the paper has 10 */
	size_t budget, folds;
	bool full;
	bool surrogates_alone; /* hybrid: do not look up measured cells, as in the paper */
	const struct learner_ops *const *learners; /* NULL: those of the paper */
	uint64_t seed;
	unsigned threads;
	study_progress progress; /* NULL: no reports */
	void *progress_arg;
};

struct study {
	const struct contest *contest;
	struct study_plan plan;
	struct elements *draws; /* one per repetition */
	struct hybrid hybrid;	/* fitted to the first draw, with its leaderboards */
	/* The selected black boxes: one learns seconds, as in the paper, the other logarithms. */
	struct pipeline_plan seconds, logarithms;
	struct blackbox_score seconds_score, logarithms_score;
};

/* Runs the benchmarks and selects methods. The contest must outlive the study. */
int study_init(struct study *study, const struct contest *contest, const struct study_plan *plan,
	       struct err *err);
void study_release(struct study *study);

enum study_method {
	STUDY_RANDOM,	/* random choices */
	STUDY_EXPECTED, /* the expected value of random choices */
	STUDY_ML,
	STUDY_ML_UNSEEN, /* only choices that were not in the training runs */
	STUDY_ML_LOG,
	/*
	 * The hybrid model with each rule of rounds (bluegene.h), then the same with the default
	 * kept if a loss is possible. The order is that of arrays of HYBRID_OUTCOMES.
	 */
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
	double *hybrid; /* predicted times: repetitions x rules of rounds x instances x choices */
	double *ml;	/* predicted times: repetitions x instances x choices */
};

/* Compares all methods. On failure there is nothing to release. */
int study_compare(const struct study *study, struct comparison *comparison, struct err *err);
void comparison_release(struct comparison *comparison);

enum noise_policy { NOISE_ALLOW, NOISE_CLIP, NOISE_REFLECT };
#define NOISE_POLICY_WORDS "allow|clip|reflect"

#define NOISE_LEVELS 11
extern const double noise_levels[NOISE_LEVELS]; /* values of sigma in the paper */

/*
 * Returns the time multiplied by the factor, which is 1 + sigma * normal. NOISE_CLIP limits the
 * factor to at least 0.001, NOISE_REFLECT takes its absolute value.
 */
double noise_apply(double seconds, double factor, enum noise_policy policy);

struct noise_result {
	double sigma;
	struct outcome hybrid[HYBRID_OUTCOMES], ml;
	/* Rank correlation of predictions with and without noise: mean over instances and
	 * repetitions. */
	double hybrid_kendall[ROUNDS_RULES], ml_kendall;
	size_t left_out; /* cells without a positive time, in all repetitions */
};
int study_noise(const struct study *study, const struct comparison *clean, enum noise_policy policy,
		const double *sigmas, size_t count, struct noise_result *results, struct err *err);
void noise_results_release(struct noise_result *results, size_t count);

struct size_result {
	double share;				    /* of the training data */
	size_t rows;				    /* in the first repetition */
	struct outcome ml, hybrid[HYBRID_OUTCOMES]; /* one of them, by function */
};

/* Black box: keeps a share of its training runs; a third is one run per instance. */
int study_ml_sizes(const struct study *study, const double *shares, size_t count,
		   struct size_result *results, struct err *err);

/* Hybrid: keeps a share of the cells of each operation, at least two. */
int study_hybrid_sizes(const struct study *study, const double *shares, size_t count,
		       struct size_result *results, struct err *err);
void size_results_release(struct size_result *results, size_t count);

/* Keeps the rows of a random share of the cells of each operation; at least two cells. */
void elements_thin(struct elements *rows, double share, uint64_t seed);

#endif
