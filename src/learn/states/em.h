/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Expectation-maximization for mixture.c, with which it implements the fit: one series from one
 * start. Values are first brought to a common scale, on which the components are described until
 * em_result() converts them back.
 * Papers: WAN-17.
 */
#ifndef SLUICE_LEARN_STATES_EM_H
#define SLUICE_LEARN_STATES_EM_H

#include <stdbool.h>
#include <stddef.h>

#include "learn/states/mixture.h"

struct em {
	enum mixture_family family;
	size_t rows, count;
	double shift, unit; /* of the common scale */
	double constant;    /* contribution of the scale to the log-likelihood */
	double least;	    /* minimum deviation of a component, relative to that of all values */
	double *first;	    /* lognormal, normal: y; gamma: v; weibull: ln v; all scaled */
	double *second;	    /* lognormal, normal: y squared; gamma: ln v; weibull: NULL */
	double *shares;	    /* weibull: count x rows; else NULL */
	double spread;	    /* gamma, weibull: coefficient of variation of all values */
	struct mixture_component components[MIXTURE_MAX]; /* weibull: second is ln scale */
	double log_likelihood; /* of the values in their original units */
	size_t rounds;
	bool degenerate; /* a component has the minimum deviation or fewer than two values */
};

/* values must satisfy the conditions of mixture_fit(). Fails if all values are equal. */
int em_init(struct em *em, enum mixture_family family, double least, const double *values,
	    size_t count, struct err *err);
void em_release(struct em *em);

/* The variable by which components are ordered and split; it grows with the value. */
static inline const double *em_key(const struct em *em)
{
	return em->family == MIXTURE_GAMMA ? em->second : em->first;
}

/* Starts from values that are split at count - 1 ascending cuts of the key. */
void em_split(struct em *em, size_t count, const double *cuts);

/* Starts with the components of an earlier fit, of this or another series. */
void em_resume(struct em *em, const struct mixture *mixture);

/* Iterates until the likelihood converges, at most `rounds` times. */
void em_run(struct em *em, size_t rounds);

/* Writes the result in the units of the values; the components are in no particular order. */
void em_result(const struct em *em, struct mixture *mixture);

#endif
