/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the trials so far say about all points of a space: a Gaussian process over its encoding, of
 * the logarithm of costs. A failure counts as the worst cost that was seen. For the Bayesian search
 * and for who asks which parameters matter (tune/loop/importance.h).
 *
 * With a prior, its logarithm times a slope is the mean of the process, which then learns what is
 * left. The slope is learnt, too, from 1 at first down to 0 where the prior proves wrong; a factor
 * that it is off by does not matter. As soon as there are some trials, a process without the prior
 * is fitted as well, and the one under which they are the more likely counts: a prior that is right
 * on the whole and wrong from point to point is worth less than what has been learnt by then.
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
	struct gaussian gaussian;	  /* the one of both that counts; not its owner */
	struct gaussian fits[2];	  /* SURROGATE_PLAIN, SURROGATE_INFORMED */
	bool is_fitted[2];		  /* likewise */
	size_t fitted[2];		  /* trials at the last thorough fit */
	const struct search_prior *prior; /* NULL: none */
	double *expected;		  /* per trial, see surrogate_expects() */
	size_t expected_cap;
	double slope, neutral; /* of the prior in the mean; what it expects where it cannot tell */
};

/* The space must outlive it. */
void surrogate_init(struct surrogate *surrogate, const struct space *space);
void surrogate_release(struct surrogate *surrogate);

/* Before the first trial; the prior must outlive it. */
void surrogate_set_prior(struct surrogate *surrogate, const struct search_prior *prior);

/* The logarithm of what the prior expects of a settled point; NAN: it cannot tell, or is none. */
double surrogate_expects(const struct surrogate *surrogate, const size_t *point);

/* What is added to the mean of the Gaussian process for a point of which so much is expected. */
double surrogate_offset(const struct surrogate *surrogate, double expected);

/* A settled point and its cost, in seconds or the like; INFINITY: it failed. */
void surrogate_add(struct surrogate *surrogate, const size_t *point, double cost);
bool surrogate_has(const struct surrogate *surrogate, const size_t *point);

/* The trial of least cost; count where none was good. */
size_t surrogate_best(const struct surrogate *surrogate);

/*
 * Learns all trials, from where the last fit ended; from random places too when there are many more
 * trials than the last time. -ENODATA: fewer than two were good. As gaussian_init() otherwise.
 */
int surrogate_fit(struct surrogate *surrogate, uint64_t seed, struct err *err);

#endif
