/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the trials so far say about all points of a space: a Gaussian process over its encoding, of
 * the logarithm of costs. A failure counts as the worst cost that was seen. For the Bayesian search
 * and for who asks which parameters matter (tune/importance.h).
 */
#ifndef SLUICE_TUNE_SEARCH_SURROGATE_H
#define SLUICE_TUNE_SEARCH_SURROGATE_H

#include <stdint.h>

#include "learn/learners/gaussian.h"
#include "tune/search/encoding.h"

struct surrogate {
	struct encoding encoding;
	size_t count, cap, points_cap, rows_cap;
	size_t *points; /* count x dimensions */
	double *rows;	/* count x width */
	double *costs;	/* logarithms; INFINITY: failed */
	struct gaussian gaussian;
	bool is_fitted;
	size_t fitted; /* trials at the last thorough fit */
};

/* The space must outlive it. */
void surrogate_init(struct surrogate *surrogate, const struct space *space);
void surrogate_release(struct surrogate *surrogate);

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
