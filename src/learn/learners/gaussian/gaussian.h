/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gaussian process regression: a mean and a standard deviation at every point, from few
 * measurements. It serves the learner of gaussian/learner.c and searches that must weigh
 * uncertainty (Bayesian optimization).
 *
 * The target is standardized to mean 0 and deviation 1; variances below are in that unit. Repeated
 * measurements of one point become one point with less noise, which is exact and makes sweeps with
 * five repetitions a hundred times cheaper. Inputs are used as given, so the caller should center
 * and scale them.
 *
 * gaussian.c builds and queries the process, and fit.c tunes its hyper-parameters; the two files
 * implement one thing and share gaussian_internal.h. An object must not be used by two threads at a
 * time, except that any number of threads may call gaussian_predict().
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_H

#include <stdint.h>

#include "learn/learners/gaussian/covariance.h"

struct err;

/* The fitted parameters; all are > 0. */
struct gaussian_hyper {
	double signal, noise, slope; /* variances; slope is used only with `linear` */
	double *scales;		     /* one per input */
};

/* A zero selects the default in brackets. */
struct gaussian_plan {
	enum covariance_family family;
	bool linear;
	const bool *category; /* per input; NULL: inputs with two distinct values are categories */
	/* Start of the fit; scales NULL: start at signal 1, noise 0.1, slope 0.1, scales 1. */
	struct gaussian_hyper start;
	bool fixed;	 /* use the start as it is, without a fit */
	size_t limit;	 /* maximum number of points; a seeded sample is drawn from more [1000] */
	size_t restarts; /* additional random starts, each on at most 256 points */
	size_t rounds;	 /* rounds of the fit [100] */
	/*
	 * Mean and deviation of a normal prior on the logarithms of the scales. deviation 0: no
	 * prior, which can mislead a fit to few or noisy measurements.
	 */
	double scale_prior, scale_deviation;
	uint64_t seed;
};

struct gaussian {
	enum covariance_family family;
	bool linear;
	bool *category;
	struct gaussian_hyper hyper;
	size_t width, points, rows; /* rows: number of measurements */
	size_t cap;		    /* allocated points */
	double *x;		    /* input i of point p: x[i * cap + p] */
	double *repeats;	    /* measurements per point */
	double *target;		    /* mean of the measurements of each point */
	double *within;		    /* sum of squares around that mean */
	double center, scale;	    /* standardization of the target */
	double jitter;		    /* added to the noise to make the matrix positive definite */
	double *root;	   /* Cholesky factor: lower triangle, row by row, cap numbers each */
	double *weights;   /* weight of each point in the mean */
	double likelihood; /* log marginal likelihood of all rows */
};

/*
 * Fits a process to rows (x is rows x width). Uses 8 * points^2 bytes during the fit and
 * afterwards. Returns -ENOENT without LAPACK and -EDOM if the matrix has no Cholesky factor;
 * gaussian is then untouched.
 */
int gaussian_init(struct gaussian *gaussian, const struct gaussian_plan *plan, const double *x,
		  const double *y, size_t rows, size_t width, struct err *err);
void gaussian_release(struct gaussian *gaussian);

/*
 * Predicts one row. deviation may be NULL; then nothing is allocated, and the cost is one kernel
 * value per point instead of points^2 products. noisy: deviation of a new measurement instead of
 * the mean.
 */
void gaussian_predict(const struct gaussian *gaussian, const double *row, double *mean,
		      double *deviation, bool noisy);

/*
 * Predicts many points, several times faster. The deviations are those of the mean; NULL: not
 * wanted.
 */
void gaussian_predict_points(const struct gaussian *gaussian,
			     const struct covariance_points *points, double *mean,
			     double *deviation);

/*
 * Adds measurements at a cost of points^3: repetitions of a known point join it, and beyond `limit`
 * points the oldest are dropped. Hyper-parameters and standardization stay. Unchanged on failure.
 */
int gaussian_extend(struct gaussian *gaussian, const double *x, const double *y, size_t rows,
		    size_t limit, struct err *err);

/*
 * Fits the hyper-parameters again, starting from the current ones. Uses restarts, rounds and seed
 * of the plan.
 */
int gaussian_tune(struct gaussian *gaussian, const struct gaussian_plan *plan, struct err *err);

/*
 * For loaders: gaussian_room() allocates `cap` points in a zeroed object, whose other fields the
 * caller fills in; gaussian_root() then computes root, weights and likelihood.
 */
void gaussian_room(struct gaussian *gaussian, size_t width, size_t cap);
int gaussian_root(struct gaussian *gaussian, struct err *err);

#endif
