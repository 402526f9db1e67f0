/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nocedal and Wright, Numerical Optimization: algorithm 7.4 (two loops) for the direction, 3.5 and
 * 3.6 (bracket, then zoom by cubics) for the step.
 */
#include "learn/math/minimize.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/vector.h"

struct search {
	minimize_function *function;
	void *arg;
	struct minimize_plan plan;
	size_t count;
	double *x, *gradient;  /* current point */
	double *try_x, *try_g; /* point of the line search */
	double *direction;
	double *steps, *changes; /* ring of the last pairs of changes (of x, of the gradient) */
	double *inner;		 /* their inner products, then workspace for the two loops */
	size_t pairs, next;
	double value;
	size_t evaluations;
};

/* True if descent would leave the bounds at this variable. */
static bool is_held(const struct search *search, size_t i)
{
	const struct minimize_plan *plan = &search->plan;

	return (plan->low && search->x[i] <= plan->low[i] && search->gradient[i] > 0) ||
	       (plan->high && search->x[i] >= plan->high[i] && search->gradient[i] < 0);
}

static double gradient_size(const struct search *search)
{
	double most = 0;

	for (size_t i = 0; i < search->count; i++) {
		if (!is_held(search, i))
			most = fmax(most, fabs(search->gradient[i]));
	}
	return most;
}

/* Computes the direction -H g by the two loops; the newest pair scales H. */
static void apply_curvature(struct search *search)
{
	size_t n = search->count, memory = search->plan.memory;
	double *d = search->direction, *weight = search->inner + memory;

	for (size_t k = 0; k < search->pairs; k++) {
		size_t at = (search->next + memory - 1 - k) % memory;
		const double *change = search->changes + at * n;

		weight[at] = vector_dot(search->steps + at * n, d, n) / search->inner[at];
		for (size_t i = 0; i < n; i++)
			d[i] -= weight[at] * change[i];
		if (k == 0)
			weight[memory] = search->inner[at] / vector_dot(change, change, n);
	}
	for (size_t i = 0; search->pairs && i < n; i++)
		d[i] *= weight[memory];
	for (size_t k = search->pairs; k-- > 0;) {
		size_t at = (search->next + memory - 1 - k) % memory;
		const double *step = search->steps + at * n;
		double more =
			weight[at] - vector_dot(search->changes + at * n, d, n) / search->inner[at];

		for (size_t i = 0; i < n; i++)
			d[i] += more * step[i];
	}
}

static void fix_held_variables(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		double d = search->direction[i];

		if (is_held(search, i) ||
		    (search->plan.low && search->x[i] <= search->plan.low[i] && d < 0) ||
		    (search->plan.high && search->x[i] >= search->plan.high[i] && d > 0))
			search->direction[i] = 0;
	}
}

static void use_steepest_descent(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		search->direction[i] = is_held(search, i) ? 0 : -search->gradient[i];
}

/* Computes a direction and returns the slope along it, which is below 0 except at a minimum. */
static double find_direction(struct search *search)
{
	size_t n = search->count;
	double slope;

	use_steepest_descent(search);
	apply_curvature(search);
	fix_held_variables(search);
	slope = vector_dot(search->direction, search->gradient, n);
	if (slope < 0 && isfinite(slope))
		return slope;
	search->pairs = 0; /* the stored pairs are misleading */
	use_steepest_descent(search);
	return vector_dot(search->direction, search->gradient, n);
}

/* The longest step within the bounds. */
static double longest_step(const struct search *search)
{
	const struct minimize_plan *plan = &search->plan;
	double most = 1e10;

	for (size_t i = 0; i < search->count; i++) {
		double d = search->direction[i];

		if (plan->low && d < 0)
			most = fmin(most, (plan->low[i] - search->x[i]) / d);
		if (plan->high && d > 0)
			most = fmin(most, (plan->high[i] - search->x[i]) / d);
	}
	return most;
}

/* A point on the search line: step, value, slope. */
struct point {
	double step, value, slope;
};

static struct point try_point(struct search *search, double step)
{
	const struct minimize_plan *plan = &search->plan;
	struct point point = { .step = step };

	for (size_t i = 0; i < search->count; i++) {
		double x = search->x[i] + step * search->direction[i];

		/* Rounding must not push x over a bound. */
		if (plan->low)
			x = fmax(x, plan->low[i]);
		if (plan->high)
			x = fmin(x, plan->high[i]);
		search->try_x[i] = x;
	}
	point.value = search->function(search->arg, search->try_x, search->try_g);
	point.slope = vector_dot(search->try_g, search->direction, search->count);
	search->evaluations++;
	if (!isfinite(point.value) || !isfinite(point.slope))
		point = (struct point){ .step = step, .value = INFINITY, .slope = INFINITY };
	return point;
}

/* The minimum of the cubic through both points, or the midpoint if the cubic is useless. */
static double cubic_minimum(const struct point *a, const struct point *b)
{
	double width = b->step - a->step, middle = a->step + width / 2, near = 0.1 * fabs(width);
	double bend, root, step;

	if (!isfinite(b->value) || !isfinite(a->value))
		return a->step + width / 10;
	bend = a->slope + b->slope - 3 * (a->value - b->value) / (a->step - b->step);
	root = bend * bend - a->slope * b->slope;
	if (!(root >= 0))
		return middle;
	root = copysign(sqrt(root), width);
	step = b->step - width * (b->slope + root - bend) / (b->slope - a->slope + 2 * root);
	if (!(fabs(step - a->step) >= near && fabs(step - b->step) >= near &&
	      (step - a->step) * (step - b->step) < 0))
		return middle;
	return step;
}

static const double armijo = 1e-4, wolfe = 0.9;

/* Differences of values below this are rounding errors. */
static double rounding_noise(const struct point *start)
{
	return 4e-16 * fabs(start->value);
}

/*
 * True if the value decreased enough for the step (Armijo). Near a minimum values differ only by
 * rounding errors while slopes are still accurate; the same condition is then expressed by slopes,
 * as in Hager and Zhang (2005).
 */
static bool is_sufficiently_lower(const struct point *start, const struct point *point)
{
	return point->value <= start->value + armijo * point->step * start->slope ||
	       (point->value <= start->value + rounding_noise(start) &&
		point->slope <= (2 * armijo - 1) * start->slope);
}

/*
 * low is the best point so far, and the interval between low and high contains an acceptable one.
 */
static bool zoom_step(struct search *search, const struct point *start, struct point low,
		      struct point high, struct point *found)
{
	struct point point = low;

	for (int round = 0; round < 30; round++) {
		point = try_point(search, cubic_minimum(&low, &high));
		if (!is_sufficiently_lower(start, &point) ||
		    point.value > low.value + rounding_noise(start)) {
			high = point;
		} else {
			if (fabs(point.slope) <= -wolfe * start->slope) {
				*found = point;
				return true;
			}
			if (point.slope * (high.step - low.step) >= 0)
				high = low;
			low = point;
		}
		if (fabs(high.step - low.step) <= 1e-12 * (fabs(low.step) + 1e-30))
			break;
	}
	/* The precision is exhausted, so accept a point that is merely lower. */
	if (low.step <= 0 || !(low.value < start->value))
		return false;
	*found = point.step == low.step ? point : try_point(search, low.step);
	return true;
}

/* If it returns true, try_x and try_g belong to *found. */
static bool find_step(struct search *search, double first, double slope, struct point *found)
{
	struct point start = { 0, search->value, slope }, before = start, point;
	double most = longest_step(search), step = fmin(first, most);

	for (int round = 0; round < 30 && step > 0; round++) {
		point = try_point(search, step);
		if (!is_sufficiently_lower(&start, &point) ||
		    (round && point.value > before.value + rounding_noise(&start)))
			return zoom_step(search, &start, before, point, found);
		if (fabs(point.slope) <= -wolfe * slope || (step >= most && point.slope < 0)) {
			*found = point;
			return true;
		}
		if (point.slope >= 0)
			return zoom_step(search, &start, point, before, found);
		before = point;
		step = fmin(step * 4, most);
	}
	return false;
}

/* Stores the pair if the function is convex along it; then moves to the point. */
static void take_step(struct search *search, const struct point *point)
{
	size_t n = search->count, memory = search->plan.memory;
	double *step = search->steps + search->next * n, inner;
	double *change = search->changes + search->next * n;

	for (size_t i = 0; i < n; i++) {
		step[i] = search->try_x[i] - search->x[i];
		change[i] = search->try_g[i] - search->gradient[i];
	}
	inner = vector_dot(step, change, n);
	if (inner > 2e-16 * vector_dot(change, change, n)) {
		search->inner[search->next] = inner;
		search->next = (search->next + 1) % memory;
		search->pairs += search->pairs < memory;
	}
	memcpy(search->x, search->try_x, n * sizeof(*search->x));
	memcpy(search->gradient, search->try_g, n * sizeof(*search->gradient));
	search->value = point->value;
}

static struct minimize_plan complete_plan(const struct minimize_plan *plan)
{
	struct minimize_plan full = *plan;

	full.rounds = plan->rounds ? plan->rounds : 200;
	full.evaluations = plan->evaluations ? plan->evaluations : 50 * full.rounds;
	full.memory = plan->memory ? plan->memory : 10;
	full.gradient = plan->gradient > 0 ? plan->gradient : 1e-5;
	full.decrease = plan->decrease != 0 ? plan->decrease : 2e-9;
	return full;
}

/* Returns 1 to continue, 0 if a tolerance is met, -1 if no descent is possible. */
static int search_round(struct search *search)
{
	double slope, first, before = search->value, size = gradient_size(search);
	struct point found;

	if (size <= search->plan.gradient)
		return 0;
	slope = find_direction(search);
	first = search->pairs ? 1 : fmin(1, 1 / sqrt(-slope));
	while (!(slope < 0) || !find_step(search, first, slope, &found)) {
		if (!search->pairs || !(slope < 0))
			return -1;
		search->pairs = 0;
		slope = find_direction(search);
		first = fmin(1, 1 / sqrt(-slope));
	}
	take_step(search, &found);
	return search->plan.decrease < 0 ||
	       before - search->value >
		       search->plan.decrease * fmax(1, fmax(fabs(before), fabs(search->value)));
}

static int search_run(struct search *search, size_t *rounds)
{
	int r = 1;

	for (*rounds = 0; *rounds < search->plan.rounds && r == 1; ++*rounds) {
		if (search->evaluations >= search->plan.evaluations)
			return 1;
		r = search_round(search);
	}
	return r == 0 || gradient_size(search) <= search->plan.gradient ? 0 : 1;
}

static void clip_start(const struct minimize_plan *plan, const double *x, double *out, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		out[i] = plan->low ? fmax(x[i], plan->low[i]) : x[i];
		out[i] = plan->high ? fmin(out[i], plan->high[i]) : out[i];
	}
}

int minimize(minimize_function *function, void *arg, double *x, size_t count,
	     const struct minimize_plan *plan, struct minimize_result *result)
{
	struct search search = {
		.function = function, .arg = arg, .plan = complete_plan(plan), .count = count
	};
	size_t memory = search.plan.memory, rounds = 0;
	AUTO_FREE double *room = xcalloc(count * (2 * memory + 5) + 2 * memory + 1, sizeof(*room));
	int r;

	search.x = room;
	search.gradient = room + count;
	search.try_x = room + 2 * count;
	search.try_g = room + 3 * count;
	search.direction = room + 4 * count;
	search.steps = room + 5 * count;
	search.changes = search.steps + memory * count;
	search.inner = search.changes + memory * count;
	clip_start(plan, x, search.x, count);
	search.value = function(arg, search.x, search.gradient);
	search.evaluations = 1;
	if (!isfinite(search.value))
		return -EDOM;
	r = search_run(&search, &rounds);
	memcpy(x, search.x, count * sizeof(*x));
	*result = (struct minimize_result){ .value = search.value,
					    .gradient = gradient_size(&search),
					    .rounds = rounds,
					    .evaluations = search.evaluations };
	return r;
}
