/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* Cholesky factor in place, lower triangle. False: the matrix is not positive definite. */
static bool factorize(double *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double rest = m[i * n + j] - vector_dot(m + i * n, m + j * n, j);

			if (i == j && !(rest > 0))
				return false;
			m[i * n + j] = i == j ? sqrt(rest) : rest / m[j * n + j];
		}
	}
	return true;
}

static void solve_lower(const double *root, size_t n, double *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (x[i] - vector_dot(root + i * n, x, i)) / root[i * n + i];
}

static void solve_upper(const double *root, size_t n, double *x)
{
	for (size_t i = n; i-- > 0;) {
		x[i] /= root[i * n + i];
		for (size_t j = 0; j < i; j++)
			x[j] -= root[i * n + j] * x[i];
	}
}

/* What does not change while the scale is determined. */
struct tables {
	/* Covariances of the runs used, for scales of 1. */
	double *values, *pairs, *points, *drifts, *episodes, *foreign;
};

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

		for (size_t j = 0; j <= i; j++) {
			const struct estimate_run *b = &e->runs[e->used[j]];
			size_t at = i * n + j;
			struct common common;

			tables->drifts[at] = exp(-fabs(a->time - b->time) / DRIFT_RUNS);
			tables->episodes[at] = exp(-fabs(a->time - b->time) / EPISODE_RUNS);
			if (a->is_disturbed && b->is_disturbed)
				tables->foreign[at] = FOREIGN * FOREIGN * tables->episodes[at];
			if (!a->point || !b->point)
				continue;
			common = find_common(e->space, a->point, b->point);
			tables->values[at] = common.values;
			tables->pairs[at] = common.pairs;
			tables->points[at] = is_same(e, a->point, b->point);
		}
	}
}

/* Fits with the current scale. Returns the logarithm of the likelihood, or -INFINITY. */
static double solve(struct estimate *e, const struct tables *tables)
{
	const struct estimate_scale *s = &e->scale;
	size_t n = e->used_count;
	double squares = 0, log_root = 0, variance;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			size_t at = i * n + j;

			e->root[at] = UNKNOWN + s->value * s->value * tables->values[at] +
				      s->pair * s->pair * tables->pairs[at] +
				      s->point * s->point * tables->points[at] +
				      s->drift * s->drift * tables->drifts[at] +
				      s->episode * s->episode * tables->episodes[at] +
				      tables->foreign[at] + (i == j ? e->weights[i] : 0);
		}
		e->solved[i] = e->runs[e->used[i]].cost - e->center;
	}
	if (!factorize(e->root, n))
		return -INFINITY;
	solve_lower(e->root, n, e->solved);
	for (size_t i = 0; i < n; i++) {
		squares += e->solved[i] * e->solved[i];
		log_root += log(e->root[i * n + i]);
	}
	solve_upper(e->root, n, e->solved);
	/* One degree of freedom is the unknown level. */
	variance = (squares + SIGMA_EXPECTED * SIGMA_EXPECTED) / (double)n;
	e->sigma = fmax(sqrt(variance), ESTIMATE_SIGMA_LEAST);
	return -log_root - (double)n * log(e->sigma);
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

/* Compares the plausibility of all combinations. */
static void find_scale(struct estimate *e, const struct tables *tables)
{
	static const double values[] = { 0.1, 0.3, 0.7, 1.5, 3, 6, 12, 25, 50 };
	static const double pairs[] = { 0.1, 1 }; /* of values, like points */
	static const double points[] = { 0.1, 0.3 };
	static const double levels[] = { 0.1, 1, 4, 12 };
	enum { VALUES = sizeof(values) / sizeof(values[0]), PAIRS = 2, POINTS = 2, LEVELS = 4 };
	struct estimate_scale best = { values[0], 0, 0, levels[0], levels[0] };
	double most = -INFINITY;

	for (size_t i = 0; i < VALUES * PAIRS * POINTS * LEVELS * LEVELS; i++) {
		double value = values[i / (PAIRS * POINTS * LEVELS * LEVELS)], likelihood;

		e->scale = (struct estimate_scale){
			.value = value,
			.pair = value * pairs[i / (POINTS * LEVELS * LEVELS) % PAIRS],
			.point = value * points[i / (LEVELS * LEVELS) % POINTS],
			.drift = levels[i / LEVELS % LEVELS],
			.episode = levels[i % LEVELS],
		};
		likelihood = solve(e, tables);
		if (isfinite(likelihood))
			likelihood -= implausibility(e);
		if (!(likelihood > most))
			continue;
		most = likelihood;
		best = e->scale;
	}
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
		solve_lower(e->root, e->used_count, k);
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
