/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What cells cost, noise taken out: a Gaussian process of logarithms over the logarithms of the
 * arguments. Its marginal likelihood tells noise from shape without a repetition; what it expects
 * at a cell is the mean of what was measured there and of what the others say, weighted by
 * precision.
 *
 * Times are means of sums, so noise is taken to be in proportion to the time and to have mean 0, be
 * it so large that a time is negative. The logarithm of such a time is too low, or none. Where the
 * guess is m the process therefore sees log(m) + (t / m - 1), which has the noise's own mean, and
 * guesses again: the scoring step of a quasi-likelihood with a logarithmic link (McCullagh and
 * Nelder 1989, section 9.2). Without noise it is log(t).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/maths/random.h"
#include "learn/learners/gaussian/gaussian.h"
#include "predict/model/costs/costs_internal.h"

/* Points that hyper-parameters are found by: beyond, they hardly change, but take the cube. */
#define POINTS_TUNED 250
#define ROUNDS_TUNED 40

/* Guesses hardly change any more. */
#define STEPS 3

/*
 * Costs are nearly powers of their arguments, which the linear term takes, and what is left bends
 * slowly; operations of storage are much alike. In deviations of the inputs.
 */
#define SCALE_PRIOR 10

/* Fewer cells tell nothing about noise. */
#define CELLS_SMOOTHED 8

/* Relative deviation below which cells are left as they are. */
#define NOISE_LEAST 1e-3

/* From here on a ratio counts by its logarithm, so that one wild time does not rule its place. */
#define RATIO_WILD 3

struct smoothing {
	struct cost *const *costs; /* of operations that are learnt together */
	size_t count;
	struct cost_cell **cells; /* of all of them */
	struct gaussian all;
	double *guesses;	   /* logarithms, at cells */
	double noises[OPERATIONS]; /* variances, of logarithms; of several operations */
	uint64_t seed;
};

/* ---- points ---- */

/* Logarithms of arguments, then which operation it is. */
static size_t inputs_of(const struct smoothing *s, size_t which, const struct elemental *at,
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

static void input_scale(double *values, size_t count)
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

/* Inputs that vary, each by itself, of all cells. */
static void points_make(struct smoothing *s, size_t total)
{
	size_t wide = COST_ARGUMENTS + s->count - 1, width = 0, p = 0;
	AUTO_FREE double *columns = xmalloc(wide * total * sizeof(*columns));
	AUTO_FREE double *row = xmalloc(wide * sizeof(*row));
	AUTO_FREE size_t *kept = xmalloc(wide * sizeof(*kept));

	s->cells = xmalloc(total * sizeof(struct cost_cell *));
	for (size_t k = 0; k < s->count; k++)
		for (size_t i = 0; i < s->costs[k]->cell_count; i++, p++) {
			s->cells[p] = &s->costs[k]->cells[i];
			inputs_of(s, k, &s->cells[p]->at, row);
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
			input_scale(column, total);
	}
	s->all.family = COVARIANCE_MATERN52;
	s->all.linear = true;
	s->all.points = total;
	for (p = 0; p < total; p++) {
		s->all.repeats[p] = (double)s->cells[p]->repetitions;
		s->all.rows += s->cells[p]->repetitions;
	}
}

/* ---- targets ---- */

static double ratio_step(double ratio)
{
	return ratio > RATIO_WILD ? RATIO_WILD - 1 + log(ratio / RATIO_WILD) : fmax(ratio, -1) - 1;
}

/* The first time from measurements alone. */
static void targets_make(struct smoothing *s, bool first)
{
	struct gaussian *g = &s->all;
	double sum = 0, squares = 0;

	for (size_t p = 0; p < g->points; p++) {
		double seconds = s->cells[p]->seconds;

		g->target[p] = first ? log(seconds)
				     : s->guesses[p] + ratio_step(seconds / exp(s->guesses[p]));
		sum += g->target[p];
	}
	g->centre = sum / (double)g->points;
	for (size_t p = 0; p < g->points; p++)
		squares += (g->target[p] - g->centre) * (g->target[p] - g->centre);
	g->scale = squares > 0 ? sqrt(squares / (double)g->points) : 1;
	for (size_t p = 0; p < g->points; p++) {
		g->target[p] = (g->target[p] - g->centre) / g->scale;
		g->within[p] = s->cells[p]->squares / (g->scale * g->scale);
	}
}

/* ---- fitting ---- */

static void point_copy(struct gaussian *to, const struct gaussian *from, size_t p)
{
	size_t n = to->points++;

	for (size_t j = 0; j < from->width; j++)
		to->x[j * to->cap + n] = from->x[j * from->cap + p];
	to->repeats[n] = from->repeats[p];
	to->target[n] = from->target[p];
	to->within[n] = from->within[p];
	to->rows += (size_t)from->repeats[p];
}

/* The share of an operation: those that have few cells give all of them. */
static size_t share_of(const struct smoothing *s, size_t which)
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

/* A seeded choice of points, in their order. */
static void some_init(struct gaussian *some, const struct smoothing *s)
{
	const struct gaussian *all = &s->all;
	struct random random;

	*some = (struct gaussian){ .family = all->family, .linear = all->linear, .scale = 1 };
	gaussian_room(some, all->width, POINTS_TUNED);
	memcpy(some->category, all->category, all->width * sizeof(*all->category));
	random_stream(&random, s->seed, 7);
	for (size_t k = 0, p = 0; k < s->count; k++) {
		size_t left = s->costs[k]->cell_count, wanted = share_of(s, k);

		for (; left; left--, p++)
			if (random_below(&random, left) < wanted) {
				point_copy(some, all, p);
				wanted--;
			}
	}
}

static void hyper_copy(struct gaussian *to, const struct gaussian *from)
{
	to->hyper.signal = from->hyper.signal;
	to->hyper.noise = from->hyper.noise;
	to->hyper.slope = from->hyper.slope;
	memcpy(to->hyper.scales, from->hyper.scales, from->width * sizeof(*from->hyper.scales));
}

static int hyper_find(struct smoothing *s)
{
	struct gaussian_plan plan = { .rounds = ROUNDS_TUNED,
				      .seed = s->seed,
				      .scale_prior = SCALE_PRIOR,
				      .scale_deviation = 1 };
	struct gaussian some;
	int r;

	some_init(&some, s);
	hyper_copy(&some, &s->all);
	r = gaussian_tune(&some, &plan, NULL);
	if (r >= 0)
		hyper_copy(&s->all, &some);
	gaussian_release(&some);
	return r;
}

static void hyper_start(struct gaussian *g)
{
	g->hyper.signal = 1;
	g->hyper.noise = 0.1;
	g->hyper.slope = 0.1;
	for (size_t j = 0; j < g->width; j++)
		g->hyper.scales[j] = 1;
}

static int guesses_make(struct smoothing *s, double *deviations)
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
 * Operations differ in noise, of which there was one so far: by what is left of each one's cells,
 * per cell that the process did not use up, leaning to the common one. Counts as repetitions.
 */
static void noises_tell(struct smoothing *s, const double *deviations)
{
	struct gaussian *g = &s->all;
	double common = g->hyper.noise * g->scale * g->scale;

	for (size_t k = 0, p = 0; k < s->count; k++) {
		size_t first = p, cells = s->costs[k]->cell_count;
		double sum = common * CELLS_SMOOTHED, free_cells = CELLS_SMOOTHED;

		for (; p < first + cells; p++) {
			double off = g->centre + g->scale * g->target[p] - s->guesses[p];
			double used = deviations[p] * deviations[p] * g->repeats[p] / common;

			sum += off * off * g->repeats[p];
			free_cells += fmax(0, 1 - used);
		}
		s->noises[k] = sum / free_cells;
		for (p = first; p < first + cells; p++)
			g->repeats[p] *= common / s->noises[k];
	}
}

static int smooth_run(struct smoothing *s, double *deviations)
{
	int r;

	hyper_start(&s->all);
	targets_make(s, true);
	r = hyper_find(s);
	if (r >= 0)
		r = guesses_make(s, NULL);
	for (int i = 0; i < STEPS && r >= 0; i++) {
		targets_make(s, false);
		if (i == 0)
			r = hyper_find(s);
		if (r >= 0)
			r = guesses_make(s, i + 1 == STEPS ? deviations : NULL);
	}
	if (r < 0 || s->count < 2)
		return r;
	noises_tell(s, deviations);
	return guesses_make(s, deviations);
}

/* ---- trials ---- */

/* The same without the cells of one fold: what the others would be smoothed to. */
static int trial_run(const struct smoothing *s, const size_t *folds, size_t fold,
		     struct cost_trial *trials)
{
	const struct gaussian *all = &s->all;
	AUTO_FREE double *means = xmalloc(all->points * sizeof(*means));
	struct gaussian some = { .family = all->family,
				 .linear = all->linear,
				 .centre = all->centre,
				 .scale = all->scale };
	struct covariance_points points;
	int r;

	gaussian_room(&some, all->width, all->points);
	memcpy(some.category, all->category, all->width * sizeof(*all->category));
	hyper_copy(&some, all);
	for (size_t p = 0; p < all->points; p++)
		if (folds[p] != fold)
			point_copy(&some, all, p);
	points = (struct covariance_points){ some.x, some.cap, some.points };
	r = some.points ? gaussian_root(&some, NULL) : -EDOM;
	if (r >= 0)
		gaussian_predict_points(&some, &points, means, NULL);
	for (size_t p = 0, n = 0; p < all->points; p++)
		trials[p].without[fold] = r < 0 || folds[p] == fold ? NAN : exp(means[n++]);
	gaussian_release(&some);
	return r;
}

static int trials_run(const struct smoothing *s, struct cost_trial *trials)
{
	AUTO_FREE size_t *folds = xmalloc(s->all.points * sizeof(*folds));
	struct random random;
	int r = 0;

	random_stream(&random, s->seed, 8);
	for (size_t p = 0; p < s->all.points; p++) {
		folds[p] = random_below(&random, COST_TRIALS);
		trials[p].target = s->all.centre + s->all.scale * s->all.target[p];
	}
	for (size_t fold = 0; fold < COST_TRIALS && r >= 0; fold++)
		r = trial_run(s, folds, fold, trials);
	return r;
}

/* ---- all ---- */

/* Where there is next to no noise what was measured is right, to the last digit. */
static void cells_settle(const struct smoothing *s, const double *deviations)
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
	points_make(&s, total);
	r = s.all.width ? smooth_run(&s, room + total) : -EDOM;
	if (r >= 0)
		r = trials_run(&s, trials);
	if (r >= 0)
		cells_settle(&s, room + total);
	free(s.cells);
	gaussian_release(&s.all);
	if (r >= 0)
		return trials;
	free(trials);
	return NULL;
}
