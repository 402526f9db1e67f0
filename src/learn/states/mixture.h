/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models a series of times as a mixture of states: idle and busy, or as many states as BIC selects.
 * The fit maximizes the likelihood by EM (em.h) from several seeded starts, with a lower limit of
 * the deviations. It stops when the relative change of the log-likelihood is below 1e-8 or after
 * 500 rounds (it is accelerated and usually needs some tens). Starts are compared on a sample of
 * 2,048 values. A fit in which a component has the minimum deviation, or fewer than two values, is
 * used only if no start leads to another one. Components are sorted by mean: component 0 is the
 * fastest.
 * Papers: WAN-17.
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

/*
 * lognormal: mean and deviation of the logarithm; normal: mean and deviation; gamma and weibull:
 * shape and scale.
 */
struct mixture_component {
	double weight, first, second;
};

struct mixture {
	enum mixture_family family;
	size_t count;
	struct mixture_component components[MIXTURE_MAX];
	double log_likelihood; /* of the values themselves, so that families can be compared */
	double bic;
	size_t rows, rounds;
};

struct mixture_plan {
	enum mixture_family family;
	size_t count;  /* components; 0: BIC selects from 1 .. most */
	size_t most;   /* 0: 4 */
	size_t starts; /* 0: 8; the first start splits the values at the median */
	double floor;  /* minimum deviation, relative to that of all values; 0: 1e-3 */
	uint64_t seed;
};

/*
 * Values must be finite, positive (except for normal) and not all equal; at least ten per component
 * are needed. Allocates 16 bytes per value, or 72 for Weibull. mixture is untouched on failure.
 */
int mixture_fit(struct mixture *mixture, const struct mixture_plan *plan, const double *values,
		size_t count, struct err *err);

double mixture_density(const struct mixture *mixture, double value);
/* In the units of the values. */
double mixture_mean(const struct mixture *mixture, size_t component);

/*
 * The probability of each component given the value; sums to 1 for every finite value. This is
 * Bayes' formula: far from all components the widest one gets all of the probability, below the
 * fastest as well as above the slowest. A value that is not positive counts as the lowest positive
 * number.
 */
void mixture_posterior(const struct mixture *mixture, double value, double *posterior);

/*
 * Draws a state for each value from its posterior, and stores that posterior (count x components;
 * NULL: not wanted). Returns the mean of the highest posterior, which is the accuracy of an oracle
 * that knows the values and thus an upper bound.
 */
double mixture_draw(const struct mixture *mixture, const double *values, size_t count,
		    uint64_t seed, double *labels, double *posterior);

void mixture_save(const struct mixture *mixture, struct buf *buf);
int mixture_load(struct mixture *mixture, struct blob *blob, struct err *err);

#endif
