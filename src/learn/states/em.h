/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work behind mixture_fit(): expectation and maximisation on one series from one start. Values
 * are brought to a common scale first, on which components are described (see em_component()).
 */
#ifndef SLUICE_LEARN_STATES_EM_H
#define SLUICE_LEARN_STATES_EM_H

#include <stdbool.h>
#include <stddef.h>

#include "learn/states/mixture.h"

struct em {
	enum mixture_family family;
	size_t rows, count;
	double shift, unit; /* of the scale */
	double constant;    /* what the scale adds to the log-likelihood */
	double least;	    /* deviation of a component, relative to that of all values */
	double *first;	    /* lognormal, normal: y; gamma: v; weibull: ln v; all scaled */
	double *second;	    /* lognormal, normal: y squared; gamma: ln v; weibull: NULL */
	double *shares;	    /* weibull: count x rows; else NULL */
	double spread;	    /* gamma, weibull: deviation over mean of all values */
	struct mixture_component components[MIXTURE_MAX]; /* weibull: second is ln scale */
	double log_likelihood;				  /* of the values in their own units */
	size_t rounds;
	bool degenerate; /* a component sits on the floor or holds fewer than two values */
};

/* Values are those that mixture_fit() allows. Fails when they are all the same. */
int em_init(struct em *em, enum mixture_family family, double least, const double *values,
	    size_t count, struct err *err);
void em_release(struct em *em);

/* What components are compared and split by: grows with the value. */
static inline const double *em_key(const struct em *em)
{
	return em->family == MIXTURE_GAMMA ? em->second : em->first;
}

/* Starts with values split at count - 1 ascending cuts of the key. */
void em_split(struct em *em, size_t count, const double *cuts);

/* Starts with the components of an earlier fit, of this or another series. */
void em_resume(struct em *em, const struct mixture *mixture);

/* Goes on until the likelihood stands still, or so many rounds were done. */
void em_run(struct em *em, size_t rounds);

/* In the units of the values, sorted by mean. */
void em_result(const struct em *em, struct mixture *mixture);

#endif
