/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Follows Rasmussen and Williams (2006), chapters 2 and 5; repeated points follow Binois, Gramacy
 * and Ludkovski (2018). The matrix is stored as rows of a lower triangle, which LAPACK reads as
 * columns of an upper one. fit.c finds the hyper-parameters.
 */
#include "learn/learners/gaussian/gaussian.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/learners/gaussian/gaussian_internal.h"
#include "learn/learners/gaussian/repeats.h"
#include "learn/math/library.h"
#include "learn/math/random.h"

static const double jitter_most = 1e-2;
static const double log_2pi = 1.8378770664093454836;

void gaussian_release(struct gaussian *gaussian)
{
	free(gaussian->category);
	free(gaussian->hyper.scales);
	free(gaussian->x);
	free(gaussian->repeats);
	free(gaussian->target);
	free(gaussian->within);
	free(gaussian->root);
	free(gaussian->weights);
	*gaussian = (struct gaussian){ 0 };
}

void gaussian_room(struct gaussian *gaussian, size_t width, size_t cap)
{
	gaussian->width = width;
	gaussian->cap = cap;
	gaussian->category = xcalloc(width, sizeof(bool));
	gaussian->hyper.scales = xcalloc(width, sizeof(double));
	gaussian->x = xcalloc(width * cap, sizeof(double));
	gaussian->repeats = xcalloc(cap, sizeof(double));
	gaussian->target = xcalloc(cap, sizeof(double));
	gaussian->within = xcalloc(cap, sizeof(double));
	gaussian->weights = xcalloc(cap, sizeof(double));
}

void gaussian_get_point(const struct gaussian *gaussian, size_t p, double *row)
{
	for (size_t i = 0; i < gaussian->width; i++)
		row[i] = gaussian->x[i * gaussian->cap + p];
}

void gaussian_put_point(struct gaussian *gaussian, size_t p, const double *row)
{
	for (size_t i = 0; i < gaussian->width; i++)
		gaussian->x[i * gaussian->cap + p] = row[i];
}

struct covariance gaussian_covariance(const struct gaussian *gaussian)
{
	return (struct covariance){ .family = gaussian->family,
				    .linear = gaussian->linear,
				    .width = gaussian->width,
				    .category = gaussian->category,
				    .signal = gaussian->hyper.signal,
				    .slope = gaussian->hyper.slope,
				    .scales = gaussian->hyper.scales };
}

struct covariance_points gaussian_points(const struct gaussian *gaussian, size_t count)
{
	return (struct covariance_points){ gaussian->x, gaussian->cap, count };
}

static int compare_sizes(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* Reservoir sampling: allocates no more than it returns. */
size_t *gaussian_sample_indices(size_t count, size_t *limit, uint64_t seed, uint64_t stream)
{
	size_t *chosen;
	struct random random;

	if (*limit > count)
		*limit = count;
	chosen = xmalloc(*limit * sizeof(*chosen));
	random_stream(&random, seed, stream);
	for (size_t i = 0; i < count; i++) {
		size_t place = i < *limit ? i : random_below(&random, i + 1);

		if (place < *limit)
			chosen[place] = i;
	}
	qsort(chosen, *limit, sizeof(*chosen), compare_sizes);
	return chosen;
}

/* Adds the measurements of a row and its repetitions to those of a point. */
static void join_point(struct gaussian *gaussian, size_t p, const struct repeats *repeats,
		       uint32_t row, const double *y)
{
	double count = 0, mean = 0, within = 0, old = gaussian->repeats[p], apart;

	for (uint32_t r = row; r != REPEATS_END; r = repeats->next[r]) {
		mean += (y[r] - gaussian->center) / gaussian->scale;
		count++;
	}
	mean /= count;
	for (uint32_t r = row; r != REPEATS_END; r = repeats->next[r]) {
		double off = (y[r] - gaussian->center) / gaussian->scale - mean;

		within += off * off;
	}
	apart = mean - gaussian->target[p];
	gaussian->repeats[p] += count;
	gaussian->target[p] += old > 0 ? apart * count / (old + count) : mean;
	gaussian->within[p] += within + (old > 0 ? apart * apart * old * count / (old + count) : 0);
	gaussian->rows += (size_t)count;
}

static void standardize_target(struct gaussian *gaussian, const double *y, size_t rows)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < rows; i++)
		sum += y[i];
	gaussian->center = sum / (double)rows;
	for (size_t i = 0; i < rows; i++)
		squares += (y[i] - gaussian->center) * (y[i] - gaussian->center);
	gaussian->scale = squares > 0 ? sqrt(squares / (double)rows) : 1;
}

static void collect_points(struct gaussian *gaussian, const struct gaussian_plan *plan,
			   const double *x, const double *y, size_t rows, size_t width)
{
	size_t limit = plan->limit ? plan->limit : 1000;
	AUTO_FREE size_t *chosen = NULL;
	struct repeats repeats;

	repeats_init(&repeats, x, rows, width);
	chosen = gaussian_sample_indices(repeats.count, &limit, plan->seed, 0);
	gaussian_room(gaussian, width, limit);
	standardize_target(gaussian, y, rows);
	gaussian->points = limit;
	for (size_t p = 0; p < limit; p++) {
		uint32_t row = repeats.first[chosen[p]];

		gaussian_put_point(gaussian, p, x + row * width);
		join_point(gaussian, p, &repeats, row, y);
	}
	repeats_release(&repeats);
}

static bool has_two_values(const double *x, size_t count)
{
	double first = x[0], second = NAN;

	for (size_t p = 1; p < count; p++) {
		if (x[p] == first || x[p] == second)
			continue;
		if (!isnan(second))
			return false;
		second = x[p];
	}
	return !isnan(second);
}

static void find_categories(struct gaussian *gaussian, const struct gaussian_plan *plan)
{
	for (size_t i = 0; i < gaussian->width; i++)
		gaussian->category[i] =
			plan->category
				? plan->category[i]
				: has_two_values(gaussian->x + i * gaussian->cap, gaussian->points);
}

static void fill_matrix(struct gaussian *gaussian)
{
	struct covariance covariance = gaussian_covariance(gaussian);
	AUTO_FREE double *row = xmalloc(gaussian->width * sizeof(*row));

	for (size_t p = 0; p < gaussian->points; p++) {
		struct covariance_points before = gaussian_points(gaussian, p);
		double *line = gaussian->root + p * gaussian->cap;

		gaussian_get_point(gaussian, p, row);
		covariance_values(&covariance, &before, row, line);
		line[p] = covariance_self(&covariance, row) +
			  (gaussian->hyper.noise + gaussian->jitter) / gaussian->repeats[p];
	}
}

/* Computes the weights, and the likelihood from root and weights. */
static void solve_weights(struct gaussian *gaussian, const struct lapack *lapack)
{
	int n = (int)gaussian->points, lda = (int)gaussian->cap, one = 1, info;
	double noise = gaussian->hyper.noise + gaussian->jitter, sum = 0;

	memcpy(gaussian->weights, gaussian->target, gaussian->points * sizeof(double));
	lapack->dpotrs("U", &n, &one, gaussian->root, &lda, gaussian->weights, &n, &info);
	for (size_t p = 0; p < gaussian->points; p++) {
		double repeats = gaussian->repeats[p];

		sum += gaussian->target[p] * gaussian->weights[p] / 2;
		sum += log(gaussian->root[p * gaussian->cap + p]) + log_2pi / 2;
		/* The contribution of repeated measurements to the noise. */
		sum += (repeats - 1) * (log_2pi + log(noise)) / 2 + log(repeats) / 2 +
		       gaussian->within[p] / noise / 2;
	}
	gaussian->likelihood = -sum;
}

/* Tries once with the current jitter. */
int gaussian_factorize(struct gaussian *gaussian, const struct lapack *lapack)
{
	int n = (int)gaussian->points, lda = (int)gaussian->cap, info;

	if (!gaussian->root)
		gaussian->root = xmalloc(gaussian->cap * gaussian->cap * sizeof(double));
	fill_matrix(gaussian);
	lapack->dpotrf("U", &n, gaussian->root, &lda, &info);
	if (info)
		return -EDOM;
	solve_weights(gaussian, lapack);
	return isfinite(gaussian->likelihood) ? 0 : -EDOM;
}

int gaussian_root(struct gaussian *gaussian, struct err *err)
{
	const struct lapack *lapack = library_lapack(err);
	double start = gaussian->jitter >= GAUSSIAN_JITTER ? gaussian->jitter : GAUSSIAN_JITTER;

	if (!lapack)
		return -ENOENT;
	for (gaussian->jitter = start; gaussian->jitter <= jitter_most; gaussian->jitter *= 10) {
		if (gaussian_factorize(gaussian, lapack) == 0)
			return 0;
	}
	return err_set(
		err, EDOM,
		"gaussian: the matrix of %zu points is not positive definite; inputs or target "
		"are out of range: center and scale them",
		gaussian->points);
}

static void set_start_hyper(struct gaussian *gaussian, const struct gaussian_hyper *start)
{
	double *scales = gaussian->hyper.scales;

	gaussian->hyper = (struct gaussian_hyper){ 1, 0.1, 0.1, scales };
	if (start->scales) {
		gaussian->hyper = *start;
		gaussian->hyper.scales = scales;
	}
	for (size_t i = 0; i < gaussian->width; i++)
		scales[i] = start->scales ? start->scales[i] : 1;
}

int gaussian_init(struct gaussian *gaussian, const struct gaussian_plan *plan, const double *x,
		  const double *y, size_t rows, size_t width, struct err *err)
{
	struct gaussian made = { .family = plan->family, .linear = plan->linear };
	int r;

	if (!rows || !width)
		return err_set(err, ENODATA, "gaussian: no training rows");
	if (rows >= REPEATS_END)
		return err_set(err, E2BIG, "gaussian: too many rows (%zu)", rows);
	collect_points(&made, plan, x, y, rows, width);
	find_categories(&made, plan);
	set_start_hyper(&made, &plan->start);
	if (plan->fixed)
		r = gaussian_root(&made, err);
	else
		r = gaussian_tune(&made, plan, err);
	if (r < 0) {
		gaussian_release(&made);
		return r;
	}
	*gaussian = made;
	return 0;
}

typedef double vector __attribute__((vector_size(16), aligned(8), may_alias));

static double dot_product(const double *a, const double *b, size_t count)
{
	vector sum[4] = { 0 };
	double total = 0;
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		for (size_t k = 0; k < 4; k++)
			sum[k] +=
				*(const vector *)(a + i + 2 * k) * *(const vector *)(b + i + 2 * k);
	}
	for (; i < count; i++)
		total += a[i] * b[i];
	sum[0] += sum[1] + (sum[2] + sum[3]);
	return total + (sum[0][0] + sum[0][1]);
}

/* Works in place: values becomes the solution of root * solution = values. Returns its square. */
static double solve_root(const struct gaussian *gaussian, double *values)
{
	double square = 0;

	for (size_t p = 0; p < gaussian->points; p++) {
		const double *line = gaussian->root + p * gaussian->cap;

		values[p] = (values[p] - dot_product(line, values, p)) / line[p];
		square += values[p] * values[p];
	}
	return square;
}

/* Limits the stack; a multiple of the tile size of covariance_values(). */
enum { PREDICT_TILE = 256 };

static double predict_mean(const struct gaussian *gaussian, const struct covariance *covariance,
			   const double *row)
{
	double values[PREDICT_TILE], sum = 0;

	for (size_t at = 0; at < gaussian->points; at += PREDICT_TILE) {
		struct covariance_points some = gaussian_points(gaussian, gaussian->points - at);

		some.x += at;
		if (some.count > PREDICT_TILE)
			some.count = PREDICT_TILE;
		covariance_values(covariance, &some, row, values);
		sum += dot_product(values, gaussian->weights + at, some.count);
	}
	return sum;
}

void gaussian_predict(const struct gaussian *gaussian, const double *row, double *mean,
		      double *deviation, bool noisy)
{
	struct covariance covariance = gaussian_covariance(gaussian);
	struct covariance_points all;
	AUTO_FREE double *values = NULL;
	double variance;

	*mean = gaussian->center + gaussian->scale * predict_mean(gaussian, &covariance, row);
	if (!deviation)
		return;
	values = xmalloc(gaussian->points * sizeof(*values));
	all = gaussian_points(gaussian, gaussian->points);
	covariance_values(&covariance, &all, row, values);
	variance = covariance_self(&covariance, row) - solve_root(gaussian, values);
	if (!(variance > 0))
		variance = 0; /* rounding, at a well-known point */
	if (noisy)
		variance += gaussian->hyper.noise;
	*deviation = gaussian->scale * sqrt(variance);
}

/* Finds the point with these inputs; returns the number of points if there is none. */
static size_t find_point(const struct gaussian *gaussian, const double *row)
{
	for (size_t p = 0; p < gaussian->points; p++) {
		size_t i = 0;

		while (i < gaussian->width && gaussian->x[i * gaussian->cap + p] == row[i])
			i++;
		if (i == gaussian->width)
			return p;
	}
	return gaussian->points;
}

/* Makes the same process with room for `points` points and copies the newest old points first. */
static void init_extended(struct gaussian *made, const struct gaussian *old, size_t points,
			  size_t drop)
{
	size_t kept = drop < old->points ? old->points - drop : 0;

	*made = *old;
	made->root = NULL;
	made->jitter = 0;
	gaussian_room(made, old->width, points);
	made->points = points;
	memcpy(made->category, old->category, old->width * sizeof(bool));
	memcpy(made->hyper.scales, old->hyper.scales, old->width * sizeof(double));
	for (size_t i = 0; i < old->width; i++)
		memcpy(made->x + i * points, old->x + i * old->cap + old->points - kept,
		       kept * sizeof(double));
	memcpy(made->repeats, old->repeats + old->points - kept, kept * sizeof(double));
	memcpy(made->target, old->target + old->points - kept, kept * sizeof(double));
	memcpy(made->within, old->within + old->points - kept, kept * sizeof(double));
}

int gaussian_extend(struct gaussian *gaussian, const double *x, const double *y, size_t rows,
		    size_t limit, struct err *err)
{
	size_t width = gaussian->width, total = gaussian->points, drop;
	AUTO_FREE size_t *places = NULL;
	struct gaussian made;
	struct repeats repeats;
	int r;

	if (rows >= REPEATS_END)
		return err_set(err, E2BIG, "gaussian: too many rows (%zu)", rows);
	repeats_init(&repeats, x, rows, width);
	places = xmalloc((repeats.count + 1) * sizeof(*places));
	for (size_t g = 0; g < repeats.count; g++) {
		places[g] = find_point(gaussian, x + repeats.first[g] * width);
		if (places[g] == gaussian->points)
			places[g] = total++;
	}
	drop = total > limit ? total - limit : 0;
	init_extended(&made, gaussian, total - drop, drop);
	for (size_t g = 0; g < repeats.count; g++) {
		if (places[g] < drop)
			continue;
		gaussian_put_point(&made, places[g] - drop, x + repeats.first[g] * width);
		join_point(&made, places[g] - drop, &repeats, repeats.first[g], y);
	}
	repeats_release(&repeats);
	made.rows = 0;
	for (size_t p = 0; p < made.points; p++)
		made.rows += (size_t)made.repeats[p];
	r = gaussian_root(&made, err);
	gaussian_release(r < 0 ? &made : gaussian);
	if (r >= 0)
		*gaussian = made;
	return r;
}
