/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gaussian process regression: a mean and an honest deviation at every point, from few
 * measurements. For the method of learners.c and for searches that must weigh what they do not
 * know (Bayesian optimisation).
 *
 * The target is brought to mean 0 and deviation 1; variances below are in that unit. Repeated
 * measurements of one point are one point with less noise, which is exact and makes sweeps with
 * five repeats a hundred times cheaper. Inputs are taken as they come: centre and scale them.
 *
 * One object is used by one thread at a time, but gaussian_predict() by any number.
 */
#ifndef SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_H
#define SLUICE_LEARN_LEARNERS_GAUSSIAN_GAUSSIAN_H

#include <stdint.h>

#include "learn/learners/gaussian/covariance.h"

struct err;

/* What is fitted: all above 0. */
struct gaussian_hyper {
	double signal, noise, slope; /* variances; slope is not used without `linear` */
	double *scales;		     /* per input */
};

/* Zeros take the number in brackets. */
struct gaussian_plan {
	enum covariance_family family;
	bool linear;
	const bool *category; /* per input; NULL: those with two different values */
	/* Starts here; scales NULL: at signal 1, noise 0.1, slope 0.1, scales 1. */
	struct gaussian_hyper start;
	bool fixed;	 /* and stays there */
	size_t limit;	 /* points at most; of more, a seeded choice [1000] */
	size_t restarts; /* from seeded random places, on at most 256 points */
	size_t rounds;	 /* of the fit [100] */
	/* Logarithms of scales are believed to lie around this one, with that deviation. 0: scales
	 * may be anything, which few or noisy measurements are apt to be led astray by. */
	double scale_prior, scale_deviation;
	uint64_t seed;
};

struct gaussian {
	enum covariance_family family;
	bool linear;
	bool *category;
	struct gaussian_hyper hyper;
	size_t width, points, rows; /* rows: measurements behind the points */
	size_t cap;		    /* points there is room for */
	double *x;		    /* input i of point p: x[i * cap + p] */
	double *repeats;	    /* measurements per point */
	double *target;		    /* their mean */
	double *within;		    /* sum of their squares around it */
	double centre, scale;	    /* of the target as it was given */
	double jitter;		    /* added to the noise, so that the matrix has a root */
	double *root;		    /* lower triangle, row by row, cap numbers each */
	double *weights;	    /* of points in the mean */
	double likelihood;	    /* log marginal, of all rows */
};

/*
 * Learns rows (x is rows x width). Holds 8 * points^2 bytes, then and later. Fails with -ENOENT
 * without LAPACK, -EDOM where no root can be had; gaussian is untouched then.
 */
int gaussian_init(struct gaussian *gaussian, const struct gaussian_plan *plan, const double *x,
		  const double *y, size_t rows, size_t width, struct err *err);
void gaussian_release(struct gaussian *gaussian);

/*
 * deviation: NULL if it is not wanted; then nothing is allocated, and the cost is a kernel value
 * per point instead of points^2 products. noisy: of a new measurement, not of the mean.
 */
void gaussian_predict(const struct gaussian *gaussian, const double *row, double *mean,
		      double *deviation, bool noisy);

/*
 * The same at many points, several times faster: deviations of the mean, NULL if they are not
 * wanted.
 */
void gaussian_predict_points(const struct gaussian *gaussian,
			     const struct covariance_points *points, double *mean,
			     double *deviation);

/*
 * One more measurement, for points^2 products: nothing is fitted again. Unchanged on failure.
 */
int gaussian_add(struct gaussian *gaussian, const double *row, double y, struct err *err);

/*
 * Many more, for points^3: repeats of a point that is known join it, and beyond `limit` points the
 * oldest are forgotten. Hyper-parameters and the scale of the target stay. Unchanged on failure.
 */
int gaussian_extend(struct gaussian *gaussian, const double *x, const double *y, size_t rows,
		    size_t limit, struct err *err);

/* Fits hyper-parameters again, from where they are. Of the plan: restarts, rounds, seed. */
int gaussian_tune(struct gaussian *gaussian, const struct gaussian_plan *plan, struct err *err);

/*
 * For who reads one from a file: room for `cap` points in a zeroed object, whose other fields the
 * caller fills; then the root, weights and likelihood that follow from them.
 */
void gaussian_room(struct gaussian *gaussian, size_t width, size_t cap);
int gaussian_root(struct gaussian *gaussian, struct err *err);

#endif
