/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/cholesky.h"
#include "learn/math/vector.h"
#include "params/space.h"

/* Correlation of the effects of neighboring numbers. */
#define NEIGHBORS 0.5
/* Runs after which the correlation of the level has fallen to 1/e: of the slow drift of the
 * machine, and of episodes of other load. */
#define DRIFT_RUNS 30.0
#define EPISODE_RUNS 4.0
/* Standard deviation of the level under foreign load, in units of the noise: it is unknown. */
#define FOREIGN 8.0
/* Variance of the level at the start, in units of the noise: it is unknown. */
#define UNKNOWN 1e4
/* Residuals beyond this many standard deviations count less. */
#define OUTLIER 2.0
#define DISTURBED 2.0 /* factor on the variance of a run under foreign load */
/* What is assumed of the noise before the first run: a deviation, with the weight of one run. */
#define SIGMA_EXPECTED 0.05
/* The scale is determined again when there are this many times as many runs. */
#define GROWTH 1.15
#define ROUNDS 4 /* of down-weighting outliers */
/* Typical standard deviations of logarithms of costs: of the effects of a value and of a point, of
 * the level, and of the noise; and how far others may be from them, in logarithms. */
#define TYPICAL_VALUE 0.2
#define TYPICAL_PAIR 0.03
#define TYPICAL_POINT 0.03
#define TYPICAL_LEVEL 0.1
#define TYPICAL_SIGMA 0.15
#define DOUBT 0.5
#define DOUBT_PAIR 1.5 /* most parameters do not interact, but some do strongly */
#define DOUBT_SIGMA 1.0

/* A linear combination of what is estimated: point a minus point b, and level at one time minus
 * another. */
struct question {
	const size_t *a, *b; /* NULL: the baseline */
	double to, from;     /* times; NAN: none */
};

void estimate_init(struct estimate *e, const struct space *space)
{
	*e = (struct estimate){ .space = space, .sigma = ESTIMATE_SIGMA_LEAST };
}

void estimate_release(struct estimate *e)
{
	for (size_t i = 0; i < e->count; i++)
		free(e->runs[i].point);
	free(e->runs);
	free(e->root);
	free(e->solved);
	*e = (struct estimate){ 0 };
}

static bool is_same(const struct estimate *e, const size_t *a, const size_t *b)
{
	return a && b && memcmp(a, b, e->space->count * sizeof(*a)) == 0;
}

/* Updates the mean of all runs with the point of the last one. */
static void share_mean(struct estimate *e)
{
	const size_t *point = e->runs[e->count - 1].point;
	double sum = 0, n = 0;

	for (size_t i = 0; i < e->count; i++) {
		if (!is_same(e, e->runs[i].point, point))
			continue;
		sum += e->runs[i].cost;
		n++;
	}
	for (size_t i = 0; i < e->count; i++)
		if (is_same(e, e->runs[i].point, point))
			e->runs[i].mean = sum / n;
}

bool estimate_knows(const struct estimate *e, const size_t *point)
{
	for (size_t i = 0; i < e->used_count; i++)
		if (is_same(e, e->runs[e->used[i]].point, point))
			return true;
	return false;
}

void estimate_add(struct estimate *e, const size_t *point, double cost, double time,
		  bool is_disturbed)
{
	struct estimate_run run = { NULL, cost, time, is_disturbed, cost };

	if (point) {
		run.point = xcalloc(e->space->count + 1, sizeof(*point));
		memcpy(run.point, point, e->space->count * sizeof(*point));
	}
	e->runs = xgrow(e->runs, &e->cap, e->count + 1, sizeof(*e->runs));
	e->runs[e->count++] = run;
	share_mean(e);
}

/* What two points have in common: the number of values, and of pairs of values. */
struct common {
	double values, pairs;
};

static struct common find_common(const struct space *space, const size_t *a, const size_t *b)
{
	struct common common = { 0, 0 };

	for (size_t d = 0; d < space->count; d++) {
		const struct space_dimension *dimension = &space->dimensions[d];
		double alike = a[d] == b[d];

		if (!dimension->values[a[d]] || !dimension->values[b[d]] ||
		    !space_is_active(space, a, d) || !space_is_active(space, b, d))
			continue;
		if (!alike && dimension->is_ordered)
			alike = pow(NEIGHBORS, fabs((double)a[d] - (double)b[d]));
		common.pairs += alike * common.values; /* with each dimension before */
		common.values += alike;
	}
	return common;
}

static double point_covariance(const struct estimate *e, const size_t *a, const size_t *b)
{
	const struct estimate_scale *s = &e->scale;
	struct common common;

	if (!a || !b)
		return 0;
	common = find_common(e->space, a, b);
	return s->value * s->value * common.values + s->pair * s->pair * common.pairs +
	       (is_same(e, a, b) ? s->point * s->point : 0);
}

static double level_covariance(const struct estimate *e, double a, double b)
{
	const struct estimate_scale *s = &e->scale;

	return s->drift * s->drift * exp(-fabs(a - b) / DRIFT_RUNS) +
	       s->episode * s->episode * exp(-fabs(a - b) / EPISODE_RUNS);
}

/* What does not change while the scale is determined. */
struct tables {
	/* Covariances of the runs used, for scales of 1. */
	double *values, *pairs, *points, *drifts, *episodes, *foreign; /* with UNKNOWN */
	/* The points that were run: the first run of each, and the point of each run. */
	size_t firsts[ESTIMATE_RUNS], owners[ESTIMATE_RUNS], point_count;
};

/* No point: a run of the baseline. */
#define NO_POINT ((size_t)-1)

static void group_runs(struct tables *tables, const struct estimate *e)
{
	size_t n = e->used_count;

	tables->point_count = 0;
	for (size_t i = 0; i < n; i++) {
		size_t p = 0;

		tables->owners[i] = NO_POINT;
		if (!e->runs[e->used[i]].point)
			continue;
		while (p < tables->point_count && !(tables->points[tables->firsts[p] * n + i] > 0))
			p++;
		if (p == tables->point_count)
			tables->firsts[tables->point_count++] = i;
		tables->owners[i] = p;
	}
}

static void tables_init(struct tables *tables, const struct estimate *e)
{
	size_t n = e->used_count;

	tables->values = xcalloc(6 * n * n + 1, sizeof(double));
	tables->pairs = tables->values + n * n;
	tables->points = tables->pairs + n * n;
	tables->drifts = tables->points + n * n;
	tables->episodes = tables->drifts + n * n;
	tables->foreign = tables->episodes + n * n;
	for (size_t i = 0; i < n; i++) {
		const struct estimate_run *a = &e->runs[e->used[i]];

		for (size_t j = i; j < n; j++) {
			const struct estimate_run *b = &e->runs[e->used[j]];
			size_t at = i * n + j;
			struct common common;

			tables->drifts[at] = exp(-fabs(a->time - b->time) / DRIFT_RUNS);
			tables->episodes[at] = exp(-fabs(a->time - b->time) / EPISODE_RUNS);
			tables->foreign[at] = UNKNOWN;
			if (a->is_disturbed && b->is_disturbed)
				tables->foreign[at] += FOREIGN * FOREIGN * tables->episodes[at];
			if (!a->point || !b->point)
				continue;
			common = find_common(e->space, a->point, b->point);
			tables->values[at] = common.values;
			tables->pairs[at] = common.pairs;
			tables->points[at] = is_same(e, a->point, b->point);
		}
	}
	group_runs(tables, e);
}

/* The noise follows from the scaled squares of the costs. Returns the logarithm of the likelihood.
 */
static double judge_squares(struct estimate *e, double squares, double log_root)
{
	double n = (double)e->used_count;
	/* One degree of freedom is the unknown level. */
	double variance = (squares + SIGMA_EXPECTED * SIGMA_EXPECTED) / n;

	e->sigma = fmax(sqrt(variance), ESTIMATE_SIGMA_LEAST);
	return -log_root - n * log(e->sigma);
}

static double sum_log_pivots(const double *root, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(root[i * n + i]);
	return sum;
}

/* Factorizes the covariance of the runs without the effects of points: of levels and noise. Returns
 * false if it is not positive definite. */
static bool factorize_levels(const struct estimate *e, const struct tables *tables, double *root)
{
	double drift = e->scale.drift * e->scale.drift;
	double episode = e->scale.episode * e->scale.episode;
	size_t n = e->used_count;

	for (size_t i = 0; i < n; i++) {
		for (size_t at = i * n + i; at < (i + 1) * n; at++)
			root[at] = drift * tables->drifts[at] + episode * tables->episodes[at] +
				   tables->foreign[at];
		root[i * n + i] += e->weights[i];
	}
	return !cholesky_factorize(root, n);
}

/* Fits with the current scale. */
static void solve(struct estimate *e, const struct tables *tables)
{
	const struct estimate_scale *s = &e->scale;
	double value = s->value * s->value, pair = s->pair * s->pair, point = s->point * s->point;
	double drift = s->drift * s->drift, episode = s->episode * s->episode;
	size_t n = e->used_count;

	for (size_t i = 0; i < n; i++) {
		for (size_t at = i * n + i; at < (i + 1) * n; at++)
			e->root[at] = value * tables->values[at] + pair * tables->pairs[at] +
				      point * tables->points[at] + drift * tables->drifts[at] +
				      episode * tables->episodes[at] + tables->foreign[at];
		e->root[i * n + i] += e->weights[i];
		e->solved[i] = e->runs[e->used[i]].cost - e->center;
	}
	cholesky_factorize(e->root, n);
	cholesky_solve_lower(e->root, n, e->solved);
	judge_squares(e, vector_dot(e->solved, e->solved, n), 0);
	cholesky_solve_upper(e->root, n, e->solved);
}

/* How far a standard deviation is from what is typical, as a loss of likelihood. */
static double deviate(double found, double typical, double doubt)
{
	double far = log(found / typical) / doubt;

	return far * far / 2;
}

/* With few runs, effects of single points, or load that changes with each run, would explain noise
 * as well. So typical scales are assumed unless the runs say otherwise. */
static double implausibility(const struct estimate *e)
{
	const struct estimate_scale *s = &e->scale;

	return deviate(s->value * e->sigma, TYPICAL_VALUE, DOUBT) +
	       deviate(s->pair * e->sigma, TYPICAL_PAIR, DOUBT_PAIR) +
	       deviate(s->point * e->sigma, TYPICAL_POINT, DOUBT) +
	       deviate(s->drift * e->sigma, TYPICAL_LEVEL, 2 * DOUBT) +
	       deviate(s->episode * e->sigma, TYPICAL_LEVEL, DOUBT) +
	       deviate(e->sigma, TYPICAL_SIGMA, DOUBT_SIGMA);
}

/*
 * For the scales of one level, all that the scales of effects need to know of the runs is the
 * weighted mean of each point and the covariance of the errors of these means. There are fewer
 * points than runs, so comparing scales takes far less time than with the covariance of all runs.
 */
struct means {
	size_t count;
	double *values, *pairs; /* covariances of the points, for scales of 1 */
	double *errors;		/* covariance */
	double *costs;
	double squares, log_root; /* of what the means leave */
	double *root, *rest;	  /* work space for a scale */
	double *levels, *parts;	  /* work space for the means */
};

static void means_init(struct means *means, const struct estimate *e, const struct tables *tables)
{
	size_t m = means->count = tables->point_count, n = e->used_count;

	means->values = xcalloc(4 * m * m + 2 * m + n * n + (m + 1) * n + 1, sizeof(double));
	means->pairs = means->values + m * m;
	means->errors = means->pairs + m * m;
	means->root = means->errors + m * m;
	means->costs = means->root + m * m;
	means->rest = means->costs + m;
	means->levels = means->rest + m;
	means->parts = means->levels + n * n;
	for (size_t i = 0; i < m; i++) {
		for (size_t j = i; j < m; j++) {
			size_t at = tables->firsts[i] * n + tables->firsts[j];

			means->values[i * m + j] = tables->values[at];
			means->pairs[i * m + j] = tables->pairs[at];
		}
	}
}

/* Writes the inverse of the matrix that was factorized. */
static void invert(const double *root, size_t n, double *inverse)
{
	memset(inverse, 0, n * n * sizeof(*inverse));
	for (size_t i = 0; i < n; i++) {
		inverse[i * n + i] = 1;
		cholesky_solve_lower(root, n, inverse + i * n);
		cholesky_solve_upper(root, n, inverse + i * n);
	}
}

/* Computes the means for the scales of the level. False: the covariance is not positive definite.
 */
static bool find_means(struct means *means, struct estimate *e, const struct tables *tables)
{
	size_t m = means->count, n = e->used_count;
	double *costs = means->parts + m * n, *information = means->root;

	if (!factorize_levels(e, tables, means->levels))
		return false;
	memset(means->parts, 0, m * n * sizeof(*means->parts));
	for (size_t i = 0; i < n; i++) {
		costs[i] = e->runs[e->used[i]].cost - e->center;
		if (tables->owners[i] != NO_POINT)
			means->parts[tables->owners[i] * n + i] = 1;
	}
	for (size_t i = 0; i <= m; i++)
		cholesky_solve_lower(means->levels, n, means->parts + i * n);
	for (size_t i = 0; i < m; i++) {
		for (size_t j = i; j < m; j++)
			information[i * m + j] =
				vector_dot(means->parts + i * n, means->parts + j * n, n);
		means->rest[i] = vector_dot(means->parts + i * n, costs, n);
	}
	if (cholesky_factorize(information, m))
		return false;
	means->log_root = sum_log_pivots(means->levels, n) + sum_log_pivots(information, m);
	invert(information, m, means->errors);
	for (size_t i = 0; i < m; i++)
		means->costs[i] = vector_dot(means->errors + i * m, means->rest, m);
	means->squares = vector_dot(costs, costs, n) - vector_dot(means->costs, means->rest, m);
	return true;
}

/* The plausibility of the scale; the means are those of its level. */
static double rate_scale(struct estimate *e, const struct means *means)
{
	const struct estimate_scale *s = &e->scale;
	double value = s->value * s->value, pair = s->pair * s->pair, point = s->point * s->point;
	size_t m = means->count;
	double squares, log_root;

	for (size_t i = 0; i < m; i++) {
		for (size_t at = i * m + i; at < (i + 1) * m; at++)
			means->root[at] = value * means->values[at] + pair * means->pairs[at] +
					  means->errors[at];
		means->root[i * m + i] += point;
		means->rest[i] = means->costs[i];
	}
	if (cholesky_factorize(means->root, m))
		return -INFINITY;
	cholesky_solve_lower(means->root, m, means->rest);
	squares = means->squares + vector_dot(means->rest, means->rest, m);
	log_root = means->log_root + sum_log_pivots(means->root, m);
	return judge_squares(e, squares, log_root) - implausibility(e);
}

/* Compares the scales of effects, with the scales of the level as they are. */
static void compare_scales(struct estimate *e, const struct means *means,
			   struct estimate_scale *best, double *most)
{
	static const double values[] = { 0.1, 0.3, 0.7, 1.5, 3, 6, 12, 25, 50 };
	static const double pairs[] = { 0.1, 1 }; /* of values, like points */
	static const double points[] = { 0.1, 0.3 };
	enum { VALUES = sizeof(values) / sizeof(values[0]), PAIRS = 2, POINTS = 2 };

	for (size_t i = 0; i < VALUES * PAIRS * POINTS; i++) {
		double rating;

		e->scale.value = values[i / (PAIRS * POINTS)];
		e->scale.pair = e->scale.value * pairs[i / POINTS % PAIRS];
		e->scale.point = e->scale.value * points[i % POINTS];
		rating = rate_scale(e, means);
		if (!(rating > *most))
			continue;
		*most = rating;
		*best = e->scale;
	}
}

/* Compares the plausibility of all combinations. */
static void find_scale(struct estimate *e, const struct tables *tables)
{
	static const double levels[] = { 0.1, 1, 4, 12 };
	enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };
	struct estimate_scale best = { 0.1, 0, 0, levels[0], levels[0] };
	struct means means;
	double most = -INFINITY;

	means_init(&means, e, tables);
	for (size_t i = 0; i < LEVELS * LEVELS; i++) {
		e->scale.drift = levels[i / LEVELS];
		e->scale.episode = levels[i % LEVELS];
		if (find_means(&means, e, tables))
			compare_scales(e, &means, &best, &most);
	}
	free(means.values);
	e->scale = best;
	e->scaled = e->count;
}

/* The residual of a run is its noise, which the solution has in units of its variance. */
static void weigh_outliers(struct estimate *e)
{
	for (size_t i = 0; i < e->used_count; i++) {
		double initial = e->runs[e->used[i]].is_disturbed ? DISTURBED : 1;
		double residual = fabs(e->weights[i] * e->solved[i]);
		double beyond = residual / (OUTLIER * e->sigma * sqrt(initial));

		e->weights[i] = initial * fmax(1, beyond * beyond);
	}
}

static int compare_means(const void *a, const void *b)
{
	const struct estimate_run *x = *(const struct estimate_run *const *)a;
	const struct estimate_run *y = *(const struct estimate_run *const *)b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* If there are too many runs, a quarter are of the baseline. */
static void choose_runs(struct estimate *e)
{
	AUTO_FREE const struct estimate_run **sorted = xcalloc(e->count + 1, sizeof(*sorted));
	size_t baseline = 0, others = 0, step, seen = 0;

	e->used_count = 0;
	if (e->count <= ESTIMATE_RUNS) {
		for (size_t i = 0; i < e->count; i++)
			e->used[e->used_count++] = i;
		return;
	}
	for (size_t i = 0; i < e->count; i++)
		baseline += !e->runs[i].point;
	step = baseline / (ESTIMATE_RUNS / 4) + 1;
	for (size_t i = 0; i < e->count; i++) {
		if (e->runs[i].point)
			sorted[others++] = &e->runs[i];
		else if (seen++ % step == 0)
			e->used[e->used_count++] = i;
	}
	qsort(sorted, others, sizeof(const struct estimate_run *), compare_means);
	for (size_t i = 0; i < others && e->used_count < ESTIMATE_RUNS; i++)
		e->used[e->used_count++] = (size_t)(sorted[i] - e->runs);
}

static double baseline_median(const struct estimate *e)
{
	AUTO_FREE double *costs = xcalloc(e->count + 1, sizeof(*costs));
	size_t n = 0;

	for (size_t i = 0; i < e->count; i++)
		if (!e->runs[i].point)
			costs[n++] = e->runs[i].cost;
	return n ? vector_median(costs, n) : 0;
}

void estimate_fit(struct estimate *e)
{
	struct tables tables;

	choose_runs(e);
	e->center = baseline_median(e);
	free(e->root);
	free(e->solved);
	e->root = xcalloc(e->used_count * e->used_count + 1, sizeof(double));
	e->solved = xcalloc(e->used_count + 1, sizeof(double));
	for (size_t i = 0; i < e->used_count; i++)
		e->weights[i] = e->runs[e->used[i]].is_disturbed ? DISTURBED : 1;
	tables_init(&tables, e);
	if (!e->scaled || (double)e->count >= GROWTH * (double)e->scaled) {
		find_scale(e, &tables);
		solve(e, &tables);
		weigh_outliers(e);
		find_scale(e, &tables);
	}
	solve(e, &tables);
	for (int round = 0; round < ROUNDS; round++) {
		weigh_outliers(e);
		solve(e, &tables);
	}
	free(tables.values);
}

static double question_covariance(const struct estimate *e, const struct question *q,
				  const struct estimate_run *run)
{
	double sum = point_covariance(e, q->a, run->point) - point_covariance(e, q->b, run->point);

	if (!isnan(q->to))
		sum += level_covariance(e, q->to, run->time) + UNKNOWN;
	if (!isnan(q->from))
		sum -= level_covariance(e, q->from, run->time) + UNKNOWN;
	return sum;
}

static double prior_variance(const struct estimate *e, const struct question *q)
{
	double sum = point_covariance(e, q->a, q->a) + point_covariance(e, q->b, q->b) -
		     2 * point_covariance(e, q->a, q->b);

	if (!isnan(q->to) && !isnan(q->from))
		sum += 2 * (level_covariance(e, 0, 0) - level_covariance(e, q->to, q->from));
	else if (!isnan(q->to))
		sum += level_covariance(e, 0, 0) + UNKNOWN;
	return sum;
}

static double answer(const struct estimate *e, const struct question *q, double *deviation)
{
	AUTO_FREE double *k = xcalloc(e->used_count + 1, sizeof(*k));
	double mean, variance = prior_variance(e, q);

	for (size_t i = 0; i < e->used_count; i++)
		k[i] = question_covariance(e, q, &e->runs[e->used[i]]);
	mean = vector_dot(k, e->solved, e->used_count);
	if (deviation) {
		cholesky_solve_lower(e->root, e->used_count, k);
		variance -= vector_dot(k, k, e->used_count);
		*deviation = e->sigma * sqrt(fmax(variance, 0));
	}
	return mean;
}

double estimate_ratio(const struct estimate *e, const size_t *a, const size_t *b, double *deviation)
{
	return answer(e, &(struct question){ a, b, NAN, NAN }, deviation);
}

double estimate_level(const struct estimate *e, double time)
{
	return e->center + answer(e, &(struct question){ NULL, NULL, time, NAN }, NULL);
}

double estimate_change(const struct estimate *e, double from, double to, double *deviation)
{
	return answer(e, &(struct question){ NULL, NULL, to, from }, deviation);
}
