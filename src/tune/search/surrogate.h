/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A surrogate model of the cost over a space: a Gaussian process over the encoded points that
 * learns the logarithm of the costs of all trials. A failure has the worst cost seen. The Bayesian
 * search and the importance of parameters (tune/loop/importance.h) use it.
 *
 * With a prior, the mean of the process is the logarithm of the prior times a slope, and the
 * process learns the residual. The slope is estimated as well: it starts at 1 and falls to 0 if the
 * prior proves wrong. A constant factor in the prior does not matter. Once there are enough trials,
 * a process without the prior is fitted, too, and the fit with the higher likelihood is used: a
 * prior that is right on average but wrong from point to point is worth less than enough trials.
 */
#ifndef SLUICE_TUNE_SEARCH_SURROGATE_H
#define SLUICE_TUNE_SEARCH_SURROGATE_H

#include <stdint.h>

#include "learn/learners/gaussian/gaussian.h"
#include "tune/search/encoding.h"
#include "tune/search/search.h"

enum { SURROGATE_PLAIN, SURROGATE_INFORMED };

struct surrogate {
	struct encoding encoding;
	size_t count, cap, points_cap, rows_cap;
	size_t *points;			  /* count x dimensions */
	double *rows;			  /* count x width */
	double *costs;			  /* logarithms; INFINITY: failed */
	struct gaussian gaussian;	  /* the better of the two fits; not owned */
	struct gaussian fits[2];	  /* SURROGATE_PLAIN, SURROGATE_INFORMED */
	bool is_fitted[2];		  /* same order */
	size_t fitted[2];		  /* trials at the last full fit */
	const struct search_prior *prior; /* NULL: none */
	double *expected;		  /* per trial: surrogate_expects() */
	size_t expected_cap;
	double slope, neutral; /* slope of the prior; value for points without an estimate */
};

/* The space must outlive the surrogate. */
void surrogate_init(struct surrogate *surrogate, const struct space *space);
void surrogate_release(struct surrogate *surrogate);

/* Call before the first trial; the prior must outlive the surrogate. */
void surrogate_set_prior(struct surrogate *surrogate, const struct search_prior *prior);

/* The logarithm of the prior's cost of a settled point; NAN: no estimate, or no prior. */
double surrogate_expects(const struct surrogate *surrogate, const size_t *point);

/* The offset of the process's mean at a point with this expected value. */
double surrogate_offset(const struct surrogate *surrogate, double expected);

/* Adds a trial: a settled point and its cost; INFINITY: it failed. */
void surrogate_add(struct surrogate *surrogate, const size_t *point, double cost);
bool surrogate_has(const struct surrogate *surrogate, const size_t *point);

/* The index of the trial with the lowest cost; count: no trial was good. */
size_t surrogate_best(const struct surrogate *surrogate);

/*
 * Fits the process to all trials, starting from the last fit; if many trials were added, also from
 * random starts. -ENODATA: fewer than two trials were good. Otherwise fails as gaussian_init().
 */
int surrogate_fit(struct surrogate *surrogate, uint64_t seed, struct err *err);

#endif
