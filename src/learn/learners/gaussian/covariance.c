/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points are processed in tiles on the stack, one input at a time, so that every loop runs over
 * plain arrays.
 */
#include "learn/learners/gaussian/covariance.h"

#include <math.h>
#include <string.h>

#include "learn/math/exponential.h"

enum { TILE = 128 };

typedef double vector __attribute__((vector_size(16), aligned(8), may_alias));

/* x[i] = exp(-x[i]) for x[i] >= 0; 0 beyond 700. */
static void negate_and_exponentiate(double *x, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double value = exponential(-x[i]);

		x[i] = x[i] < 700 ? value : 0;
	}
}

static double dot_product(const double *a, const double *b, size_t count)
{
	vector sum[2] = { 0 };

	for (size_t i = 0; i < count; i += 4) {
		sum[0] += *(const vector *)(a + i) * *(const vector *)(b + i);
		sum[1] += *(const vector *)(a + i + 2) * *(const vector *)(b + i + 2);
	}
	sum[0] += sum[1];
	return sum[0][0] + sum[0][1];
}

/* Some points and their relation to one point. Unused elements at the end are zero. */
struct tile {
	const double *x;
	size_t stride, count;
	size_t places;	       /* whole vectors */
	double square[TILE];   /* r^2 */
	double exponent[TILE]; /* sum over the categories; then exp(-all of it) */
	double value[TILE];    /* g(r) * exp(..) */
};

static void start_tile(struct tile *tile, const struct covariance_points *points, size_t first)
{
	tile->x = points->x + first;
	tile->stride = points->stride;
	tile->count = points->count - first < TILE ? points->count - first : TILE;
	tile->places = (tile->count + 3) / 4 * 4;
	memset(tile->square, 0, tile->places * sizeof(double));
	memset(tile->exponent, 0, tile->places * sizeof(double));
}

static void measure_tile(struct tile *tile, const struct covariance *covariance,
			 const double *point)
{
	for (size_t i = 0; i < covariance->width; i++) {
		const double *x = tile->x + i * tile->stride, at = point[i];
		double share = 1 / covariance->scales[i];

		if (covariance->category[i]) {
			for (size_t p = 0; p < tile->count; p++)
				tile->exponent[p] += x[p] != at ? share : 0;
			continue;
		}
		for (size_t p = 0; p < tile->count; p++) {
			double off = (x[p] - at) * share;

			tile->square[p] += off * off;
		}
	}
}

/* Computes the values; leaves the exponential in exponent. */
static void compute_tile_values(struct tile *tile, enum covariance_family family)
{
	double *square = tile->square, *exponent = tile->exponent, *value = tile->value;
	double factor = family == COVARIANCE_MATERN32 ? 3 : 5;

	if (family == COVARIANCE_RBF) {
		for (size_t p = 0; p < tile->places; p++)
			exponent[p] += square[p] / 2;
		negate_and_exponentiate(exponent, tile->places);
		memcpy(value, exponent, tile->places * sizeof(*value));
		return;
	}
	for (size_t p = 0; p < tile->places; p++) {
		value[p] = sqrt(factor * square[p]);
		exponent[p] += value[p];
	}
	negate_and_exponentiate(exponent, tile->places);
	if (family == COVARIANCE_MATERN32) {
		for (size_t p = 0; p < tile->places; p++)
			value[p] = (1 + value[p]) * exponent[p];
	} else {
		for (size_t p = 0; p < tile->places; p++)
			value[p] = (1 + value[p] + value[p] * value[p] / 3) * exponent[p];
	}
}

/* Computes 1 + a . b for every point of the tile, over all inputs. */
static void compute_tile_products(const struct tile *tile, const struct covariance *covariance,
				  const double *point, double *out)
{
	for (size_t p = 0; p < tile->count; p++)
		out[p] = 1;
	for (size_t i = 0; i < covariance->width; i++) {
		const double *x = tile->x + i * tile->stride;

		for (size_t p = 0; p < tile->count; p++)
			out[p] += x[p] * point[i];
	}
}

void covariance_values(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, double *out)
{
	struct tile tile;
	double product[TILE];

	for (size_t at = 0; at < points->count; at += TILE, out += TILE) {
		start_tile(&tile, points, at);
		measure_tile(&tile, covariance, point);
		compute_tile_values(&tile, covariance->family);
		for (size_t p = 0; p < tile.count; p++)
			out[p] = covariance->signal * tile.value[p];
		if (!covariance->linear)
			continue;
		compute_tile_products(&tile, covariance, point, product);
		for (size_t p = 0; p < tile.count; p++)
			out[p] += covariance->slope * product[p];
	}
}

double covariance_self(const struct covariance *covariance, const double *point)
{
	double product = 1;

	for (size_t i = 0; i < covariance->width; i++)
		product += point[i] * point[i];
	return covariance->signal + (covariance->linear ? covariance->slope * product : 0);
}

/*
 * The derivative with respect to the logarithm of a scale is dk / dr^2 * -2 r^2; this is its common
 * factor.
 */
static void compute_tile_factors(const struct tile *tile, enum covariance_family family,
				 double *out)
{
	const double *square = tile->square, *exponent = tile->exponent;

	switch (family) {
	case COVARIANCE_RBF:
		memcpy(out, exponent, tile->places * sizeof(*out));
		break;
	case COVARIANCE_MATERN32:
		for (size_t p = 0; p < tile->places; p++)
			out[p] = 3 * exponent[p];
		break;
	case COVARIANCE_MATERN52:
		for (size_t p = 0; p < tile->places; p++)
			out[p] = 5.0 / 3 * (1 + sqrt(5 * square[p])) * exponent[p];
	}
}

static void add_tile_slopes(const struct tile *tile, const struct covariance *covariance,
			    const double *point, const double *value, const double *factor,
			    double *sums)
{
	double square[TILE];

	memset(square + tile->count, 0, (tile->places - tile->count) * sizeof(*square));
	for (size_t i = 0; i < covariance->width; i++) {
		const double *x = tile->x + i * tile->stride, at = point[i];
		double share = 1 / covariance->scales[i];

		if (covariance->category[i]) {
			for (size_t p = 0; p < tile->count; p++)
				square[p] = x[p] != at ? share : 0;
			sums[i] += dot_product(square, value, tile->places);
			continue;
		}
		for (size_t p = 0; p < tile->count; p++) {
			double off = (x[p] - at) * share;

			square[p] = off * off;
		}
		sums[i] += dot_product(square, factor, tile->places);
	}
}

void covariance_slopes(const struct covariance *covariance, const struct covariance_points *points,
		       const double *point, const double *weight, double *sums)
{
	struct tile tile;
	double factor[TILE], product[TILE];

	for (size_t at = 0; at < points->count; at += TILE, weight += TILE) {
		start_tile(&tile, points, at);
		measure_tile(&tile, covariance, point);
		compute_tile_values(&tile, covariance->family);
		compute_tile_factors(&tile, covariance->family, factor);
		for (size_t p = 0; p < tile.places; p++) {
			double w = p < tile.count ? covariance->signal * weight[p] : 0;

			tile.value[p] *= w;
			factor[p] *= w;
			sums[0] += tile.value[p];
		}
		add_tile_slopes(&tile, covariance, point, tile.value, factor, sums + 2);
		if (!covariance->linear)
			continue;
		compute_tile_products(&tile, covariance, point, product);
		for (size_t p = 0; p < tile.count; p++)
			sums[1] += covariance->slope * weight[p] * product[p];
	}
}
