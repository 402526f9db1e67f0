/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A series of times as a mixture of states: idle and busy (the paper), or as many as BIC asks for.
 * Maximum likelihood by EM (WAN-17): several seeded starts, a floor under deviations, stop at a
 * relative change of the log-likelihood below 1e-8 or after 500 rounds (accelerated: some tens are
 * the rule). Starts are compared on a sample of 2,048 values. A fit with a component on the floor,
 * or of fewer than two values, is taken only where no start leads to another. Components are sorted
 * by their mean: 0 is the fastest.
 */
#ifndef SLUICE_LEARN_STATES_MIXTURE_H
#define SLUICE_LEARN_STATES_MIXTURE_H

#include <stddef.h>
#include <stdint.h>

struct blob;
struct buf;
struct err;

enum mixture_family { MIXTURE_LOGNORMAL, MIXTURE_NORMAL, MIXTURE_GAMMA, MIXTURE_WEIBULL };
#define MIXTURE_FAMILIES "lognormal|normal|gamma|weibull"
#define MIXTURE_MAX 8

/* lognormal: mu, s of the logarithm; normal: mean, deviation; gamma, weibull: shape, scale. */
struct mixture_component {
	double weight, first, second;
};

struct mixture {
	enum mixture_family family;
	size_t count;
	struct mixture_component components[MIXTURE_MAX];
	double log_likelihood; /* of the values themselves, so families compare */
	double bic;
	size_t rows, rounds;
};

struct mixture_plan {
	enum mixture_family family;
	size_t count;  /* components; 0: 1 .. most, by BIC */
	size_t most;   /* 0: 4 */
	size_t starts; /* 0: 8; the first splits at the median, as WAN-17 says */
	double floor;  /* least deviation, relative to that of all values; 0: 1e-3 */
	uint64_t seed;
};

/*
 * Values must be finite, and positive but for normal, and not all the same; at least ten per
 * component. Holds 16 bytes per value; Weibull 72. mixture is untouched on failure.
 */
int mixture_fit(struct mixture *mixture, const struct mixture_plan *plan, const double *values,
		size_t count, struct err *err);

/* Goes on from an old fit with new values only; cheap. */
int mixture_refresh(struct mixture *mixture, const double *values, size_t count, struct err *err);

double mixture_density(const struct mixture *mixture, double value);
double mixture_mean(const struct mixture *mixture, size_t component); /* T_k of WAN-20 */

/*
 * Probability of each component given the value; sums to 1 for every finite value. It is Bayes'
 * formula and nothing else: far from all components the widest one has it all, below the fastest
 * as well as above the slowest. A value that is not positive counts as the least that is.
 */
void mixture_posterior(const struct mixture *mixture, double value, double *posterior);

/*
 * The state of each value, drawn from its posterior (WAN-18), and that posterior (count x
 * components; NULL: not wanted). Returns the ceiling: the accuracy of an oracle that knows the
 * values, mean of max posterior.
 */
double mixture_draw(const struct mixture *mixture, const double *values, size_t count,
		    uint64_t seed, double *labels, double *posterior);

void mixture_save(const struct mixture *mixture, struct buf *buf);
int mixture_load(struct mixture *mixture, struct blob *blob, struct err *err);

#endif
