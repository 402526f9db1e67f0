/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/importance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/random.h"
#include "params/space.h"
#include "tune/search/draw.h"
#include "tune/search/surrogate.h"

/* Random points over which the model is averaged. They are the same for all values, so that
 * sampling errors cancel. */
enum { PLACES = 1000, TRIALS_LEAST = 5 };

void importance_release(struct importance *importance)
{
	free(importance->parts);
	*importance = (struct importance){ 0 };
}

/*
 * The i-th diagonal element of the inverse of the covariance matrix: the sum of squares of column i
 * of the inverse of its Cholesky factor.
 */
static double inverse_diagonal(const struct gaussian *gaussian, size_t i, double *column)
{
	double sum = 0;

	for (size_t p = i; p < gaussian->points; p++) {
		const double *line = gaussian->root + p * gaussian->cap;
		double rest = p == i;

		for (size_t q = i; q < p; q++)
			rest -= line[q] * column[q];
		column[p] = rest / line[p];
		sum += column[p] * column[p];
	}
	return sum;
}

/* The share of the variance that leave-one-out predictions explain (Rasmussen and Williams 2006,
 * equation 5.12). */
static double explained_share(const struct gaussian *gaussian)
{
	AUTO_FREE double *column = xcalloc(gaussian->points + 1, sizeof(*column));
	double missed = 0, all = 0, mean = 0;

	for (size_t i = 0; i < gaussian->points; i++)
		mean += gaussian->target[i] / (double)gaussian->points;
	for (size_t i = 0; i < gaussian->points; i++) {
		double off = gaussian->weights[i] / inverse_diagonal(gaussian, i, column);

		missed += off * off;
		all += (gaussian->target[i] - mean) * (gaussian->target[i] - mean);
	}
	return all > 0 ? fmax(0, 1 - missed / all) : 0;
}

/* The sampled points, and the prediction of the model there. */
struct survey {
	const struct surrogate *surrogate;
	size_t *points; /* PLACES x dimensions */
	double *x, *mean;
};

/* The mean of the model over all sampled points, with one dimension fixed at a value. dimension:
 * the number of dimensions fixes none. variance may be NULL. */
static double survey_mean(struct survey *survey, size_t dimension, size_t value, double *variance)
{
	const struct encoding *encoding = &survey->surrogate->encoding;
	size_t point[SPACE_DIMENSIONS], dimensions = encoding->space->count;
	struct covariance_points points = { survey->x, PLACES, PLACES };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < PLACES; i++) {
		memcpy(point, survey->points + i * dimensions, dimensions * sizeof(*point));
		if (dimension < dimensions)
			point[dimension] = value;
		space_settle(encoding->space, point);
		encoding_row(encoding, point, survey->x + i, PLACES);
	}
	gaussian_predict_points(&survey->surrogate->gaussian, &points, survey->mean, NULL);
	for (size_t i = 0; i < PLACES; i++)
		sum += survey->mean[i] / PLACES;
	for (size_t i = 0; i < PLACES; i++)
		squares += (survey->mean[i] - sum) * (survey->mean[i] - sum) / PLACES;
	if (variance)
		*variance = squares;
	return sum;
}

/* The variance that one dimension causes alone. */
static double measure_part(struct survey *survey, size_t dimension, struct importance_part *part)
{
	size_t count = survey->surrogate->encoding.space->dimensions[dimension].count;
	double least = INFINITY, most = -INFINITY, sum = 0, squares = 0;

	for (size_t v = 0; v < count; v++) {
		double mean = survey_mean(survey, dimension, v, NULL);

		sum += mean / (double)count;
		squares += mean * mean / (double)count;
		most = fmax(most, mean);
		if (mean < least) {
			least = mean;
			part->best = v;
		}
	}
	part->factor = exp(most - least);
	return fmax(0, squares - sum * sum);
}

static void survey_init(struct survey *survey, const struct surrogate *surrogate)
{
	const struct space *space = surrogate->encoding.space;
	struct random random;

	survey->surrogate = surrogate;
	survey->points = xcalloc(PLACES * space->count + 1, sizeof(size_t));
	survey->x = xcalloc(PLACES * surrogate->encoding.width + 1, sizeof(double));
	survey->mean = xcalloc(PLACES, sizeof(double));
	random_init(&random, 1);
	for (size_t i = 0; i < PLACES; i++)
		draw_point(space, &random, survey->points + i * space->count);
}

static void survey_release(struct survey *survey)
{
	free(survey->points);
	free(survey->x);
	free(survey->mean);
}

static void compute_shares(struct importance *importance, const struct surrogate *surrogate)
{
	double explained = explained_share(&surrogate->gaussian), all, sum = 0, scale;
	struct survey survey;

	survey_init(&survey, surrogate);
	survey_mean(&survey, importance->count, 0, &all);
	for (size_t d = 0; d < importance->count; d++) {
		importance->parts[d].share = measure_part(&survey, d, &importance->parts[d]);
		sum += importance->parts[d].share;
	}
	survey_release(&survey);
	/* Both are sampled, so the parts may slightly exceed the total. */
	all = fmax(all, sum);
	if (!(all > 0))
		explained = 0;
	scale = all > 0 ? explained / all : 0;
	for (size_t d = 0; d < importance->count; d++)
		importance->parts[d].share *= scale;
	importance->together = explained - sum * scale;
	importance->unexplained = 1 - explained;
}

int importance_init(struct importance *importance, const struct space *space, const size_t *points,
		    const double *costs, size_t count, struct err *err)
{
	struct surrogate surrogate;
	size_t good = 0;
	int r;

	for (size_t i = 0; i < count; i++)
		good += isfinite(costs[i]);
	if (good < TRIALS_LEAST)
		return err_set(err, ENODATA, "%zu good %s not enough to rank the parameters", good,
			       good == 1 ? "trial is" : "trials are");
	surrogate_init(&surrogate, space);
	for (size_t i = 0; i < count; i++)
		surrogate_add(&surrogate, points + i * space->count, costs[i]);
	r = surrogate_fit(&surrogate, 1, err);
	if (r >= 0) {
		*importance = (struct importance){ .count = space->count };
		importance->parts = xcalloc(space->count + 1, sizeof(*importance->parts));
		compute_shares(importance, &surrogate);
	}
	surrogate_release(&surrogate);
	return r < 0 ? r : 0;
}
