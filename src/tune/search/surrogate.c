/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/surrogate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"
#include "tune/search/draw.h"

#define DOUBT 2.0	 /* weight of the prior slope of 1, in trials */
#define SLOPE_MOST 1.5	 /* few trials close together cannot justify a steeper slope */
#define COMPARE_LEAST 10 /* trials needed to compare the fits with and without the prior */

void surrogate_init(struct surrogate *surrogate, const struct space *space)
{
	*surrogate = (struct surrogate){ 0 };
	encoding_init(&surrogate->encoding, space);
}

void surrogate_release(struct surrogate *surrogate)
{
	encoding_release(&surrogate->encoding);
	for (int which = 0; which < 2; which++)
		gaussian_release(&surrogate->fits[which]);
	free(surrogate->points);
	free(surrogate->rows);
	free(surrogate->costs);
	free(surrogate->expected);
	*surrogate = (struct surrogate){ 0 };
}

void surrogate_set_prior(struct surrogate *surrogate, const struct search_prior *prior)
{
	surrogate->prior = prior;
	surrogate->slope = prior ? 1 : 0;
}

double surrogate_expects(const struct surrogate *surrogate, const size_t *point)
{
	double cost = NAN;

	if (surrogate->prior)
		cost = surrogate->prior->cost(surrogate->prior->arg, point);
	return isfinite(cost) && cost > 0 ? log(cost) : NAN;
}

double surrogate_offset(const struct surrogate *surrogate, double expected)
{
	if (!surrogate->prior)
		return 0;
	return surrogate->slope * (isnan(expected) ? surrogate->neutral : expected);
}

void surrogate_add(struct surrogate *surrogate, const size_t *point, double cost)
{
	size_t n = surrogate->count, dimensions = surrogate->encoding.space->count;
	size_t width = surrogate->encoding.width;

	surrogate->costs = xgrow(surrogate->costs, &surrogate->cap, n + 1, sizeof(double));
	surrogate->points = xgrow(surrogate->points, &surrogate->points_cap, (n + 1) * dimensions,
				  sizeof(size_t));
	surrogate->rows =
		xgrow(surrogate->rows, &surrogate->rows_cap, (n + 1) * width, sizeof(double));
	memcpy(surrogate->points + n * dimensions, point, dimensions * sizeof(*point));
	encoding_row(&surrogate->encoding, point, surrogate->rows + n * width, 1);
	surrogate->costs[n] = draw_log(cost);
	if (surrogate->prior) {
		surrogate->expected =
			xgrow(surrogate->expected, &surrogate->expected_cap, n + 1, sizeof(double));
		surrogate->expected[n] = surrogate_expects(surrogate, point);
	}
	surrogate->count++;
}

bool surrogate_has(const struct surrogate *surrogate, const size_t *point)
{
	size_t dimensions = surrogate->encoding.space->count;

	for (size_t i = 0; i < surrogate->count; i++)
		if (memcmp(surrogate->points + i * dimensions, point,
			   dimensions * sizeof(*point)) == 0)
			return true;
	return false;
}

size_t surrogate_best(const struct surrogate *surrogate)
{
	size_t best = surrogate->count;

	for (size_t i = 0; i < surrogate->count; i++)
		if (isfinite(surrogate->costs[i]) &&
		    (best == surrogate->count || surrogate->costs[i] < surrogate->costs[best]))
			best = i;
	return best;
}

/* Fills in the costs; a failure gets the worst cost seen. Returns the number of good trials. */
static size_t make_targets(const struct surrogate *surrogate, double *targets)
{
	double worst = -INFINITY;
	size_t good = 0;

	for (size_t i = 0; i < surrogate->count; i++) {
		if (!isfinite(surrogate->costs[i]))
			continue;
		worst = fmax(worst, surrogate->costs[i]);
		good++;
	}
	for (size_t i = 0; i < surrogate->count; i++)
		targets[i] = isfinite(surrogate->costs[i]) ? surrogate->costs[i] : worst;
	return good;
}

/*
 * Estimates the slope of the costs over their expected values, shrunk towards 1 with the weight of
 * DOUBT trials. A negative slope means that the prior is wrong: it is set to 0.
 */
static void estimate_slope(struct surrogate *surrogate)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < surrogate->count; i++) {
		double expected = surrogate->expected[i], cost = surrogate->costs[i];

		if (!isfinite(cost) || isnan(expected))
			continue;
		n++;
		x += expected;
		y += cost;
		xx += expected * expected;
		xy += expected * cost;
	}
	surrogate->neutral = n > 0 ? x / n : 0;
	if (n < 2)
		return;
	xx -= x * x / n;
	xy -= x * y / n;
	if (!(xx > 1e-12 * n))
		return;
	surrogate->slope = (n * xy / xx + DOUBT) / (n + DOUBT);
	surrogate->slope = fmin(fmax(surrogate->slope, 0), SLOPE_MOST);
}

/* Fits fits[which], with or without the prior. */
static int fit_one(struct surrogate *surrogate, int which, const double *targets, uint64_t seed,
		   struct err *err)
{
	AUTO_FREE double *scales = xcalloc(surrogate->encoding.width + 1, sizeof(*scales));
	struct gaussian *last = &surrogate->fits[which];
	bool is_fitted = surrogate->is_fitted[which];
	bool thorough = !is_fitted || 4 * surrogate->count >= 5 * surrogate->fitted[which];
	struct gaussian_plan plan = { .family = COVARIANCE_MATERN52,
				      .category = surrogate->encoding.category,
				      .start = { 1, 1e-3, 0.1, scales },
				      .restarts = thorough ? 3 : 0,
				      .rounds = thorough ? 60 : 15,
				      .seed = seed };
	struct gaussian made;
	int r;

	for (size_t i = 0; i < surrogate->encoding.width; i++)
		scales[i] = is_fitted ? last->hyper.scales[i] : 1;
	if (is_fitted) {
		plan.start = last->hyper;
		plan.start.scales = scales;
	}
	r = gaussian_init(&made, &plan, surrogate->rows, targets, surrogate->count,
			  surrogate->encoding.width, err);
	if (r < 0)
		return r;
	gaussian_release(last);
	*last = made;
	surrogate->is_fitted[which] = true;
	if (thorough)
		surrogate->fitted[which] = surrogate->count;
	return 0;
}

/* Log-likelihood of the trials. The process has that of the targets scaled to deviation 1. */
static double log_likelihood(const struct gaussian *gaussian)
{
	return gaussian->likelihood - (double)gaussian->rows * log(gaussian->scale);
}

/* Fits with the prior, and without it if there are enough trials to compare. */
static int fit_informed(struct surrogate *surrogate, double *targets, uint64_t seed,
			struct err *err)
{
	bool compare = surrogate->count >= COMPARE_LEAST;
	int r = compare ? fit_one(surrogate, SURROGATE_PLAIN, targets, seed, err) : 0;

	estimate_slope(surrogate);
	for (size_t i = 0; i < surrogate->count; i++)
		targets[i] -= surrogate_offset(surrogate, surrogate->expected[i]);
	if (r >= 0)
		r = fit_one(surrogate, SURROGATE_INFORMED, targets, seed, err);
	if (r < 0)
		return r;
	if (!compare || log_likelihood(&surrogate->fits[SURROGATE_INFORMED]) >=
				log_likelihood(&surrogate->fits[SURROGATE_PLAIN]))
		return SURROGATE_INFORMED;
	surrogate->slope = 0;
	return SURROGATE_PLAIN;
}

int surrogate_fit(struct surrogate *surrogate, uint64_t seed, struct err *err)
{
	AUTO_FREE double *targets = xcalloc(surrogate->count + 1, sizeof(*targets));
	int which;

	if (make_targets(surrogate, targets) < 2)
		return err_set(err, ENODATA, "fewer than two trials were good");
	if (surrogate->prior)
		which = fit_informed(surrogate, targets, seed, err);
	else
		which = fit_one(surrogate, SURROGATE_PLAIN, targets, seed, err);
	if (which < 0)
		return which;
	surrogate->gaussian = surrogate->fits[which];
	return 0;
}
