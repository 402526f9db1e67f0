/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Removes noise from the costs of cells by a Gaussian process of logarithms over the logarithms of
 * the arguments. Its marginal likelihood separates noise from shape without repetitions. The
 * prediction at a cell is the mean of its measurement and of the prediction from the other cells,
 * weighted by precision.
 *
 * Times are means of sums, so noise is assumed to be proportional to the time and to have mean 0;
 * it may be so large that a time is negative. The logarithm of such a time is too low or does not
 * exist. Therefore, with the current estimate m, the process gets log(m) + (t / m - 1) instead of
 * log(t), which preserves the mean of the noise, and estimates again: the scoring step of a
 * quasi-likelihood with a logarithmic link (McCullagh and Nelder 1989, section 9.2).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learners/gaussian/gaussian.h"
#include "learn/math/random.h"
#include "predict/model/costs/costs_internal.h"

/* Points that tune the hyperparameters: with more they hardly change, but the time grows cubically.
 */
#define POINTS_TUNED 250
#define ROUNDS_TUNED 40

/* Scoring steps, after which estimates hardly change. */
#define STEPS 3

/*
 * Prior of length scales, in standard deviations of the inputs. Costs are nearly powers of their
 * arguments, which the linear term models; the remainder changes slowly.
 */
#define SCALE_PRIOR 10

/* Noise cannot be estimated from fewer cells. */
#define CELLS_SMOOTHED 8

/* Relative noise below which cells are not changed. */
#define NOISE_LEAST 1e-3

/* Larger ratios enter by their logarithm, to limit the influence of outliers. */
#define RATIO_OUTLIER 3

struct smoothing {
	struct cost *const *costs; /* the operations that share the process */
	size_t count;
	struct cost_cell **cells; /* the cells of all operations */
	struct gaussian all;
	double *guesses;	   /* logarithms of seconds at the cells */
	double noises[OPERATIONS]; /* variances of logarithms per operation */
	uint64_t seed;
};

/* Computes the inputs: logarithms of arguments, then indicators of the operation. */
static size_t compute_inputs(const struct smoothing *s, size_t which, const struct elemental *at,
			     double *inputs)
{
	double values[COST_ARGUMENTS];
	size_t n = 0;

	cost_arguments(at, values);
	for (; n < COST_ARGUMENTS; n++)
		inputs[n] = values[n] > 0 ? log2(values[n]) : 0;
	for (size_t i = 0; i + 1 < s->count; i++)
		inputs[n++] = which == i;
	return n;
}

static void standardize(double *values, size_t count)
{
	double sum = 0, squares = 0, deviation;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	for (size_t i = 0; i < count; i++) {
		values[i] -= sum / (double)count;
		squares += values[i] * values[i];
	}
	deviation = sqrt(squares / (double)count);
	for (size_t i = 0; i < count && deviation > 0; i++)
		values[i] /= deviation;
}

static bool is_constant(const double *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

/* Fills the process with the standardized inputs of all cells, as far as they vary. */
static void make_points(struct smoothing *s, size_t total)
{
	size_t wide = COST_ARGUMENTS + s->count - 1, width = 0, p = 0;
	AUTO_FREE double *columns = xmalloc(wide * total * sizeof(*columns));
	AUTO_FREE double *row = xmalloc(wide * sizeof(*row));
	AUTO_FREE size_t *kept = xmalloc(wide * sizeof(*kept));

	s->cells = xmalloc(total * sizeof(struct cost_cell *));
	for (size_t k = 0; k < s->count; k++)
		for (size_t i = 0; i < s->costs[k]->cell_count; i++, p++) {
			s->cells[p] = &s->costs[k]->cells[i];
			compute_inputs(s, k, &s->cells[p]->at, row);
			for (size_t j = 0; j < wide; j++)
				columns[j * total + p] = row[j];
		}
	for (size_t j = 0; j < wide; j++)
		if (!is_constant(columns + j * total, total))
			kept[width++] = j;
	gaussian_room(&s->all, width, total);
	for (size_t j = 0; j < width; j++) {
		double *column = s->all.x + j * total;

		memcpy(column, columns + kept[j] * total, total * sizeof(*column));
		s->all.category[j] = kept[j] >= COST_ARGUMENTS;
		if (!s->all.category[j])
			standardize(column, total);
	}
	s->all.family = COVARIANCE_MATERN52;
	s->all.linear = true;
	s->all.points = total;
	for (p = 0; p < total; p++) {
		s->all.repeats[p] = (double)s->cells[p]->repetitions;
		s->all.rows += s->cells[p]->repetitions;
	}
}

static double ratio_step(double ratio)
{
	return ratio > RATIO_OUTLIER ? RATIO_OUTLIER - 1 + log(ratio / RATIO_OUTLIER)
				     : fmax(ratio, -1) - 1;
}

/* Computes the targets; `first`: from measurements only. */
static void make_targets(struct smoothing *s, bool first)
{
	struct gaussian *g = &s->all;
	double sum = 0, squares = 0;

	for (size_t p = 0; p < g->points; p++) {
		double seconds = s->cells[p]->seconds;

		g->target[p] = first ? log(seconds)
				     : s->guesses[p] + ratio_step(seconds / exp(s->guesses[p]));
		sum += g->target[p];
	}
	g->center = sum / (double)g->points;
	for (size_t p = 0; p < g->points; p++)
		squares += (g->target[p] - g->center) * (g->target[p] - g->center);
	g->scale = squares > 0 ? sqrt(squares / (double)g->points) : 1;
	for (size_t p = 0; p < g->points; p++) {
		g->target[p] = (g->target[p] - g->center) / g->scale;
		g->within[p] = s->cells[p]->squares / (g->scale * g->scale);
	}
}

static void copy_point(struct gaussian *to, const struct gaussian *from, size_t p)
{
	size_t n = to->points++;

	for (size_t j = 0; j < from->width; j++)
		to->x[j * to->cap + n] = from->x[j * from->cap + p];
	to->repeats[n] = from->repeats[p];
	to->target[n] = from->target[p];
	to->within[n] = from->within[p];
	to->rows += (size_t)from->repeats[p];
}

/* The number of points of an operation for tuning; operations with few cells contribute all. */
static size_t tuned_points(const struct smoothing *s, size_t which)
{
	size_t size = s->costs[which]->cell_count, least = 0, most = POINTS_TUNED;

	while (least < most) {
		size_t middle = least + (most - least + 1) / 2, sum = 0;

		for (size_t k = 0; k < s->count; k++)
			sum += s->costs[k]->cell_count < middle ? s->costs[k]->cell_count : middle;
		if (sum <= POINTS_TUNED)
			least = middle;
		else
			most = middle - 1;
	}
	return size < least ? size : least;
}

/* Selects random points for tuning, in their order. */
static void init_sample(struct gaussian *some, const struct smoothing *s)
{
	const struct gaussian *all = &s->all;
	struct random random;

	*some = (struct gaussian){ .family = all->family, .linear = all->linear, .scale = 1 };
	gaussian_room(some, all->width, POINTS_TUNED);
	memcpy(some->category, all->category, all->width * sizeof(*all->category));
	random_stream(&random, s->seed, 7);
	for (size_t k = 0, p = 0; k < s->count; k++) {
		size_t left = s->costs[k]->cell_count, wanted = tuned_points(s, k);

		for (; left; left--, p++)
			if (random_below(&random, left) < wanted) {
				copy_point(some, all, p);
				wanted--;
			}
	}
}

static void copy_hyper(struct gaussian *to, const struct gaussian *from)
{
	to->hyper.signal = from->hyper.signal;
	to->hyper.noise = from->hyper.noise;
	to->hyper.slope = from->hyper.slope;
	memcpy(to->hyper.scales, from->hyper.scales, from->width * sizeof(*from->hyper.scales));
}

static int tune_hyper(struct smoothing *s)
{
	struct gaussian_plan plan = { .rounds = ROUNDS_TUNED,
				      .seed = s->seed,
				      .scale_prior = SCALE_PRIOR,
				      .scale_deviation = 1 };
	struct gaussian some;
	int r;

	init_sample(&some, s);
	copy_hyper(&some, &s->all);
	r = gaussian_tune(&some, &plan, NULL);
	if (r >= 0)
		copy_hyper(&s->all, &some);
	gaussian_release(&some);
	return r;
}

static void init_hyper(struct gaussian *g)
{
	g->hyper.signal = 1;
	g->hyper.noise = 0.1;
	g->hyper.slope = 0.1;
	for (size_t j = 0; j < g->width; j++)
		g->hyper.scales[j] = 1;
}

static int update_guesses(struct smoothing *s, double *deviations)
{
	struct gaussian *g = &s->all;
	struct covariance_points points = { g->x, g->cap, g->points };
	int r;

	g->jitter = 0;
	r = gaussian_root(g, NULL);
	if (r >= 0)
		gaussian_predict_points(g, &points, s->guesses, deviations);
	return r;
}

/*
 * Estimates the noise of each operation from the residuals of its cells per residual degree of
 * freedom, shrunk toward the common noise, and rescales the repetitions accordingly.
 */
static void estimate_noises(struct smoothing *s, const double *deviations)
{
	struct gaussian *g = &s->all;
	double common = g->hyper.noise * g->scale * g->scale;

	for (size_t k = 0, p = 0; k < s->count; k++) {
		size_t first = p, cells = s->costs[k]->cell_count;
		double sum = common * CELLS_SMOOTHED, free_cells = CELLS_SMOOTHED;

		for (; p < first + cells; p++) {
			double off = g->center + g->scale * g->target[p] - s->guesses[p];
			double used = deviations[p] * deviations[p] * g->repeats[p] / common;

			sum += off * off * g->repeats[p];
			free_cells += fmax(0, 1 - used);
		}
		s->noises[k] = sum / free_cells;
		for (p = first; p < first + cells; p++)
			g->repeats[p] *= common / s->noises[k];
	}
}

static int run_smoothing(struct smoothing *s, double *deviations)
{
	int r;

	init_hyper(&s->all);
	make_targets(s, true);
	r = tune_hyper(s);
	if (r >= 0)
		r = update_guesses(s, NULL);
	for (int i = 0; i < STEPS && r >= 0; i++) {
		make_targets(s, false);
		if (i == 0)
			r = tune_hyper(s);
		if (r >= 0)
			r = update_guesses(s, i + 1 == STEPS ? deviations : NULL);
	}
	if (r < 0 || s->count < 2)
		return r;
	estimate_noises(s, deviations);
	return update_guesses(s, deviations);
}

/* Smooths all cells outside one fold without the cells of that fold. */
static int run_trial(const struct smoothing *s, const size_t *folds, size_t fold,
		     struct cost_trial *trials)
{
	const struct gaussian *all = &s->all;
	AUTO_FREE double *means = xmalloc(all->points * sizeof(*means));
	struct gaussian some = { .family = all->family,
				 .linear = all->linear,
				 .center = all->center,
				 .scale = all->scale };
	struct covariance_points points;
	int r;

	gaussian_room(&some, all->width, all->points);
	memcpy(some.category, all->category, all->width * sizeof(*all->category));
	copy_hyper(&some, all);
	for (size_t p = 0; p < all->points; p++)
		if (folds[p] != fold)
			copy_point(&some, all, p);
	points = (struct covariance_points){ some.x, some.cap, some.points };
	r = some.points ? gaussian_root(&some, NULL) : -EDOM;
	if (r >= 0)
		gaussian_predict_points(&some, &points, means, NULL);
	for (size_t p = 0, n = 0; p < all->points; p++)
		trials[p].without[fold] = r < 0 || folds[p] == fold ? NAN : exp(means[n++]);
	gaussian_release(&some);
	return r;
}

static int run_trials(const struct smoothing *s, struct cost_trial *trials)
{
	AUTO_FREE size_t *folds = xmalloc(s->all.points * sizeof(*folds));
	struct random random;
	int r = 0;

	random_stream(&random, s->seed, 8);
	for (size_t p = 0; p < s->all.points; p++) {
		folds[p] = random_below(&random, COST_TRIALS);
		trials[p].target = s->all.center + s->all.scale * s->all.target[p];
	}
	for (size_t fold = 0; fold < COST_TRIALS && r >= 0; fold++)
		r = run_trial(s, folds, fold, trials);
	return r;
}

/* Stores the result in the cells. Cells with negligible noise keep their measured value. */
static void store_result(const struct smoothing *s, const double *deviations)
{
	double common = sqrt(s->all.hyper.noise) * s->all.scale;

	for (size_t p = 0; p < s->all.points; p++) {
		struct cost_cell *cell = s->cells[p];

		cell->smooth = common < NOISE_LEAST ? cell->seconds : exp(s->guesses[p]);
		cell->deviation = deviations[p];
	}
	for (size_t k = 0; k < s->count; k++)
		s->costs[k]->noise = s->count > 1 ? sqrt(s->noises[k]) : common;
}

struct cost_trial *costs_smooth(struct cost *const *costs, size_t count, uint64_t seed)
{
	struct smoothing s = { .costs = costs, .count = count, .seed = seed };
	AUTO_FREE double *room = NULL;
	struct cost_trial *trials;
	size_t total = 0;
	int r;

	for (size_t k = 0; k < count; k++)
		total += costs[k]->cell_count;
	if (total < CELLS_SMOOTHED)
		return NULL;
	room = xmalloc(2 * total * sizeof(*room));
	trials = xmalloc(total * sizeof(*trials));
	s.guesses = room;
	make_points(&s, total);
	r = s.all.width ? run_smoothing(&s, room + total) : -EDOM;
	if (r >= 0)
		r = run_trials(&s, trials);
	if (r >= 0)
		store_result(&s, room + total);
	free(s.cells);
	gaussian_release(&s.all);
	if (r >= 0)
		return trials;
	free(trials);
	return NULL;
}
