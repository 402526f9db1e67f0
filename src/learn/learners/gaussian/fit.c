/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the hyper-parameters of a Gaussian process by maximizing the marginal likelihood (Rasmussen
 * and Williams 2006, section 5.4.1) over their logarithms. Random starts are tried on few points,
 * where a likelihood takes a millisecond; the best one is then refined on all points.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learners/gaussian/gaussian.h"
#include "learn/learners/gaussian/gaussian_internal.h"
#include "learn/math/library.h"
#include "learn/math/minimize.h"
#include "learn/math/random.h"

enum { ROUGH_POINTS = 256 };

/* The number of parameters: logarithms of signal, noise, [slope,] scales. */
static size_t hyper_count(const struct gaussian *gaussian)
{
	return 2 + gaussian->linear + gaussian->width;
}

static void hyper_read(struct gaussian *gaussian, const double *theta)
{
	gaussian->hyper.signal = exp(*theta++);
	gaussian->hyper.noise = exp(*theta++);
	if (gaussian->linear)
		gaussian->hyper.slope = exp(*theta++);
	for (size_t i = 0; i < gaussian->width; i++)
		gaussian->hyper.scales[i] = exp(theta[i]);
}

static void hyper_write(const struct gaussian *gaussian, double *theta)
{
	*theta++ = log(gaussian->hyper.signal);
	*theta++ = log(gaussian->hyper.noise);
	if (gaussian->linear)
		*theta++ = log(gaussian->hyper.slope);
	for (size_t i = 0; i < gaussian->width; i++)
		theta[i] = log(gaussian->hyper.scales[i]);
}

/* Values beyond these bounds make no difference for a target of deviation 1 and scaled inputs. */
static void hyper_bounds(const struct gaussian *gaussian, double *low, double *high)
{
	size_t count = hyper_count(gaussian);

	for (size_t i = 0; i < count; i++) {
		low[i] = log(1e-5);
		high[i] = log(1e5);
	}
	low[1] = log(1e-8);
	high[1] = log(10);
	for (size_t i = count - gaussian->width; i < count; i++) {
		low[i] = log(1e-2);
		high[i] = log(1e3);
	}
}

/*
 * Computes the negative derivative of the likelihood with respect to theta: half the trace of
 * (weights * weights' - inverse) * dK. The inverse replaces the root.
 */
static void likelihood_slopes(struct gaussian *gaussian, const struct lapack *lapack,
			      double *gradient)
{
	int n = (int)gaussian->points, lda = (int)gaussian->cap, info;
	struct covariance covariance = gaussian_covariance(gaussian);
	AUTO_FREE double *room = xcalloc(2 * gaussian->width + 2, sizeof(*room));
	double *row = room, *sums = room + gaussian->width, noise = gaussian->hyper.noise;
	double all = noise + gaussian->jitter, noise_sum = 0;
	const double *weights = gaussian->weights;

	lapack->dpotri("U", &n, gaussian->root, &lda, &info);
	for (size_t p = 0; p < gaussian->points; p++) {
		struct covariance_points before = gaussian_points(gaussian, p);
		double *line = gaussian->root + p * gaussian->cap, repeats = gaussian->repeats[p];
		double self = (weights[p] * weights[p] - line[p]) / 2, square = 1;

		for (size_t q = 0; q < p; q++)
			line[q] = weights[p] * weights[q] - line[q];
		gaussian_get_point(gaussian, p, row);
		covariance_slopes(&covariance, &before, row, line, sums);
		for (size_t i = 0; i < gaussian->width; i++)
			square += row[i] * row[i];
		sums[0] += self * covariance.signal;
		sums[1] += self * covariance.slope * square;
		noise_sum += self * noise / repeats;
		noise_sum -= ((repeats - 1) / all - gaussian->within[p] / (all * all)) * noise / 2;
	}
	*gradient++ = -sums[0];
	*gradient++ = -noise_sum;
	if (gaussian->linear)
		*gradient++ = -sums[1];
	for (size_t i = 0; i < gaussian->width; i++)
		gradient[i] = -sums[2 + i];
}

struct search {
	struct gaussian *gaussian;
	const struct lapack *lapack;
	const struct gaussian_plan *plan;
};

/* The negative logarithm of the prior of the scales; adds its derivative to gradient. */
static double negative_log_prior(const struct gaussian *gaussian, const struct gaussian_plan *plan,
				 const double *theta, double *gradient)
{
	size_t first = hyper_count(gaussian) - gaussian->width;
	double sum = 0;

	if (!(plan->scale_deviation > 0))
		return 0;
	for (size_t i = first; i < first + gaussian->width; i++) {
		double off = (theta[i] - log(plan->scale_prior)) / plan->scale_deviation;

		sum += off * off / 2;
		gradient[i] += off / plan->scale_deviation;
	}
	return sum;
}

static double negative_likelihood(void *arg, const double *theta, double *gradient)
{
	struct search *search = arg;

	hyper_read(search->gaussian, theta);
	if (gaussian_factorize(search->gaussian, search->lapack) < 0)
		return INFINITY;
	likelihood_slopes(search->gaussian, search->lapack, gradient);
	return negative_log_prior(search->gaussian, search->plan, theta, gradient) -
	       search->gaussian->likelihood;
}

/*
 * Maximizes the likelihood from theta until a round gains less than the share `decrease`; returns
 * it. The root is overwritten.
 */
static double maximize_likelihood(struct gaussian *gaussian, const struct lapack *lapack,
				  const struct gaussian_plan *wanted, double *theta,
				  double decrease)
{
	size_t count = hyper_count(gaussian);
	AUTO_FREE double *bounds = xmalloc(2 * count * sizeof(*bounds));
	struct search search = { gaussian, lapack, wanted };
	struct minimize_plan plan = { .rounds = wanted->rounds ? wanted->rounds : 100,
				      .gradient = 1e-3,
				      .decrease = decrease,
				      .low = bounds,
				      .high = bounds + count };
	struct minimize_result result = { .value = INFINITY };

	hyper_bounds(gaussian, bounds, bounds + count);
	gaussian->jitter = GAUSSIAN_JITTER;
	minimize(negative_likelihood, &search, theta, count, &plan, &result);
	return -result.value;
}

/* Copies some of the points, on which hyper-parameters are tried. */
static void init_subset(struct gaussian *rough, const struct gaussian *gaussian, uint64_t seed)
{
	size_t count = ROUGH_POINTS;
	AUTO_FREE size_t *chosen = gaussian_sample_indices(gaussian->points, &count, seed, 1);
	AUTO_FREE double *row = xmalloc(gaussian->width * sizeof(*row));

	*rough = (struct gaussian){ .family = gaussian->family, .linear = gaussian->linear };
	gaussian_room(rough, gaussian->width, count);
	rough->points = count;
	memcpy(rough->category, gaussian->category, gaussian->width * sizeof(bool));
	for (size_t p = 0; p < count; p++) {
		gaussian_get_point(gaussian, chosen[p], row);
		gaussian_put_point(rough, p, row);
		rough->repeats[p] = gaussian->repeats[chosen[p]];
		rough->target[p] = gaussian->target[chosen[p]];
		rough->within[p] = gaussian->within[chosen[p]];
	}
}

static void draw_theta(const struct gaussian *gaussian, struct random *random, double *theta)
{
	*theta++ = log(0.3) + random_real(random) * log(30);   /* signal 0.3 .. 9 */
	*theta++ = log(1e-4) + random_real(random) * log(5e3); /* noise 1e-4 .. 0.5 */
	if (gaussian->linear)
		*theta++ = log(1e-2) + random_real(random) * log(100);
	for (size_t i = 0; i < gaussian->width; i++)
		theta[i] = log(0.1) + random_real(random) * log(100); /* 0.1 .. 10 */
}

/* Finds the best of theta and some random starts on few points. */
static void try_random_starts(const struct gaussian *gaussian, const struct lapack *lapack,
			      const struct gaussian_plan *plan, double *theta)
{
	size_t count = hyper_count(gaussian);
	AUTO_FREE double *place = xmalloc(count * sizeof(*place));
	struct gaussian rough;
	struct random random;
	double best = -INFINITY;

	init_subset(&rough, gaussian, plan->seed);
	random_stream(&random, plan->seed, 2);
	memcpy(place, theta, count * sizeof(*place));
	for (size_t k = 0; k <= plan->restarts; k++) {
		double reached;

		if (k)
			draw_theta(gaussian, &random, place);
		reached = maximize_likelihood(&rough, lapack, plan, place, 1e-5);
		if (reached > best) {
			best = reached;
			memcpy(theta, place, count * sizeof(*place));
		}
	}
	gaussian_release(&rough);
}

static void fit_hyper(struct gaussian *gaussian, const struct lapack *lapack,
		      const struct gaussian_plan *plan)
{
	AUTO_FREE double *theta = xmalloc(hyper_count(gaussian) * sizeof(*theta));

	hyper_write(gaussian, theta);
	if (plan->restarts || gaussian->points > ROUGH_POINTS)
		try_random_starts(gaussian, lapack, plan, theta);
	maximize_likelihood(gaussian, lapack, plan, theta, 1e-6);
	hyper_read(gaussian, theta);
}

int gaussian_tune(struct gaussian *gaussian, const struct gaussian_plan *plan, struct err *err)
{
	const struct lapack *lapack = library_lapack(err);
	AUTO_FREE double *old = NULL;
	int r;

	if (!lapack)
		return -ENOENT;
	old = xmalloc(hyper_count(gaussian) * sizeof(*old));
	hyper_write(gaussian, old);
	fit_hyper(gaussian, lapack, plan);
	gaussian->jitter = 0;
	r = gaussian_root(gaussian, err);
	if (r < 0) {
		hyper_read(gaussian, old);
		gaussian->jitter = 0;
		gaussian_root(gaussian, NULL);
	}
	return r;
}
