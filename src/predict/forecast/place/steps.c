/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates placement. Shares and finishing times depend only on the point, so they are computed
 * once per point; a repetition only draws points.
 */
#include "predict/forecast/place/steps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "contract/backlog.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"
#include "predict/forecast/place/adaptive.h"

const char *const steps_sources[STEPS_SOURCES] = { "forecast", "true states", "drawn labels",
						   "random labels", "measured times" };

/* The rows of the result, in this order. */
static const struct variant {
	enum steps_source source;
	enum placement_rule rule;
} variants[] = {
	{ STEPS_FORECAST, PLACEMENT_CLASSES },	{ STEPS_FORECAST, PLACEMENT_EXPECTED },
	{ STEPS_FORECAST, PLACEMENT_HEDGED },	{ STEPS_TRUTH, PLACEMENT_CLASSES },
	{ STEPS_TRUTH, PLACEMENT_EXPECTED },	{ STEPS_TRUTH, PLACEMENT_HEDGED },
	{ STEPS_LABELS, PLACEMENT_CLASSES },	{ STEPS_LABELS, PLACEMENT_EXPECTED },
	{ STEPS_LABELS, PLACEMENT_HEDGED },	{ STEPS_RANDOM, PLACEMENT_CLASSES },
	{ STEPS_RANDOM, PLACEMENT_EXPECTED },	{ STEPS_RANDOM, PLACEMENT_HEDGED },
	{ STEPS_MEASURED, PLACEMENT_EXPECTED }, { STEPS_FORECAST, PLACEMENT_ADAPTIVE },
	{ STEPS_RANDOM, PLACEMENT_ADAPTIVE },
};
enum {
	VARIANTS = sizeof(variants) / sizeof(variants[0]),
	DEALS = 4, /* random shuffles of the forecasts per point */
	DEFAULT_POINTS = 100,
	DEFAULT_REPETITIONS = 100,
};

void steps_init(struct steps *steps, size_t points, size_t targets, bool has_truth)
{
	size_t cells = points * targets;

	*steps = (struct steps){
		.targets = targets,
		.points = points,
		.time_s = xcalloc(points + 1, sizeof(double)),
		.seconds = xcalloc(cells + 1, sizeof(double)),
		.forecasts = xcalloc(cells + 1, sizeof(struct placement_target)),
		.labels = xcalloc(cells + 1, sizeof(bool)),
		.truth = has_truth ? xcalloc(cells + 1, sizeof(bool)) : NULL,
	};
}

void steps_release(struct steps *steps)
{
	free(steps->time_s);
	free(steps->seconds);
	free(steps->forecasts);
	free(steps->labels);
	free(steps->truth);
	*steps = (struct steps){ 0 };
}

double steps_accuracy(const struct steps *steps, const bool *states)
{
	size_t cells = steps->points * steps->targets, right = 0;

	if (!states || !cells)
		return NAN;
	for (size_t i = 0; i < cells; i++)
		right += placement_is_busy(&steps->forecasts[i], NULL) == states[i];
	return (double)right / (double)cells;
}

/* The result of a step with the shares of the rule and with equal shares. */
struct outcome {
	struct placement_result placed, equal;
};

struct run {
	const struct steps *steps;
	const struct steps_plan *plan;
	const double *feedbacks;
	size_t feedback_count;
	struct outcome *outcomes; /* variant, deal, feedback, point */
};

static struct outcome *get_outcome(const struct run *run, size_t variant, size_t deal,
				   size_t feedback, size_t point)
{
	size_t row = (variant * DEALS + deal) * run->feedback_count + feedback;

	return &run->outcomes[row * run->steps->points + point];
}

static bool has_source(const struct steps *steps, enum steps_source source)
{
	if (source == STEPS_TRUTH)
		return steps->truth != NULL;
	return source != STEPS_LABELS || steps->labels;
}

static size_t count_deals(size_t variant)
{
	/* The adaptive rule takes a thousand times as long as the others. */
	return variants[variant].source == STEPS_RANDOM &&
			       variants[variant].rule != PLACEMENT_ADAPTIVE
		       ? DEALS
		       : 1;
}

static void shuffle_forecasts(struct placement_target *targets, size_t count, uint64_t seed,
			      uint64_t stream)
{
	struct random random;

	random_stream(&random, seed, stream);
	for (size_t i = count; i > 1; i--) {
		size_t k = random_below(&random, i);
		double busy = targets[k].busy;

		targets[k].busy = targets[i - 1].busy;
		targets[i - 1].busy = busy;
	}
}

/* Sets the input of the rule and the groups of the metrics. */
static void set_targets(const struct run *run, enum steps_source source, size_t deal, size_t point,
			struct placement_target *targets, bool *groups)
{
	size_t n = run->steps->targets, at = point * n;
	const bool *states = source == STEPS_TRUTH ? run->steps->truth : run->steps->labels;

	memcpy(targets, run->steps->forecasts + at, n * sizeof(*targets));
	if (source == STEPS_RANDOM)
		shuffle_forecasts(targets, n, run->plan->seed, point * DEALS + deal);
	for (size_t i = 0; i < n; i++) {
		if (source == STEPS_TRUTH || source == STEPS_LABELS)
			targets[i].busy = states[at + i];
		groups[i] = placement_is_busy(&targets[i], &run->plan->limits);
		if (source == STEPS_MEASURED)
			targets[i].idle_s = targets[i].busy_s = run->steps->seconds[at + i];
	}
}

/* The same with files that are placed one by one. */
static void simulate_files(const struct run *run, size_t variant, size_t deal, size_t point,
			   const struct placement_target *targets, const bool *groups)
{
	size_t n = run->steps->targets;
	AUTO_FREE double *finish = xcalloc(2 * n, sizeof(*finish));
	const double *seconds = run->steps->seconds + point * n;
	const struct placement_limits *limits = &run->plan->limits;
	double *equal = finish + n;

	placement_shares(PLACEMENT_EQUAL, targets, n, limits, equal, NULL);
	for (size_t f = 0; f < run->feedback_count; f++) {
		struct outcome *outcome = get_outcome(run, variant, deal, f, point);
		struct adaptive_plan plan = { .files = run->plan->files,
					      .feedback = run->feedbacks[f] };

		/* Cannot fail, like the shares. */
		adaptive_simulate(&plan, targets, seconds, n, limits, finish, NULL);
		placement_summarize(finish, groups, n, &outcome->placed);
		placement_evaluate(equal, groups, seconds, n, run->feedbacks[f], &outcome->equal);
	}
}

static void simulate_step(const struct run *run, size_t variant, size_t deal, size_t point)
{
	size_t n = run->steps->targets;
	AUTO_FREE struct placement_target *targets = xcalloc(n, sizeof(*targets));
	AUTO_FREE double *shares = xcalloc(2 * n, sizeof(*shares));
	AUTO_FREE bool *groups = xcalloc(n, sizeof(*groups));
	const double *seconds = run->steps->seconds + point * n;
	double *equal = shares + n;

	set_targets(run, variants[variant].source, deal, point, targets, groups);
	if (variants[variant].rule == PLACEMENT_ADAPTIVE) {
		simulate_files(run, variant, deal, point, targets, groups);
		return;
	}
	/* These cannot fail: check_steps() has checked the limits and the targets. */
	placement_shares(variants[variant].rule, targets, n, &run->plan->limits, shares, NULL);
	placement_shares(PLACEMENT_EQUAL, targets, n, &run->plan->limits, equal, NULL);
	for (size_t f = 0; f < run->feedback_count; f++) {
		struct outcome *outcome = get_outcome(run, variant, deal, f, point);

		placement_evaluate(shares, groups, seconds, n, run->feedbacks[f], &outcome->placed);
		placement_evaluate(equal, groups, seconds, n, run->feedbacks[f], &outcome->equal);
	}
}

static void simulate_point(void *arg, size_t point, unsigned worker)
{
	const struct run *run = arg;

	(void)worker;
	for (size_t v = 0; v < VARIANTS; v++)
		if (has_source(run->steps, variants[v].source))
			for (size_t d = 0; d < count_deals(v); d++)
				simulate_step(run, v, d, point);
}

/* The drawn points and shuffles, the same for all variants so that they are comparable. */
struct draws {
	uint32_t *point;
	uint8_t *deal;
	size_t points, repetitions;
};

/* Draws without replacement within a repetition, as long as there are points. */
static void draw_points(struct draws *draws, size_t points, uint64_t seed)
{
	AUTO_FREE size_t *order = xcalloc(points, sizeof(*order));

	for (size_t r = 0; r < draws->repetitions; r++) {
		struct random random;

		random_stream(&random, seed, ~(uint64_t)r);
		for (size_t i = 0; i < points; i++)
			order[i] = i;
		random_shuffle(&random, order, points);
		for (size_t i = 0; i < draws->points; i++) {
			size_t k = r * draws->points + i;

			draws->point[k] =
				(uint32_t)(i < points ? order[i] : random_below(&random, points));
			draws->deal[k] = (uint8_t)random_below(&random, DEALS);
		}
	}
}

/* Smaller differences are rounding errors. */
#define SAME 1e-9

/* The bounds of an interval of 95 %. */
#define LOW_QUANTILE 0.025
#define HIGH_QUANTILE 0.975

static void add_step(struct steps_gain *gain, double placed, double equal)
{
	double won = equal / placed - 1;

	gain->mean += won;
	gain->won += won > SAME;
	gain->lost += won < -SAME;
	if (won < gain->worst)
		gain->worst = won;
}

/* Computes the gains and means of one metric over all draws. */
static void compute_gain(const struct run *run, const struct draws *draws, size_t variant,
			 size_t feedback, size_t metric, struct steps_row *row)
{
	AUTO_FREE double *means = xcalloc(draws->repetitions, sizeof(*means));
	size_t all = draws->points * draws->repetitions;
	struct steps_gain *gain = &row->gains[metric];
	double placed_sum = 0, equal_sum = 0;

	gain->worst = INFINITY;
	for (size_t k = 0; k < all; k++) {
		size_t deal = count_deals(variant) > 1 ? draws->deal[k] : 0;
		const struct outcome *o =
			get_outcome(run, variant, deal, feedback, draws->point[k]);
		double placed = placement_metric(&o->placed, metric);
		double equal = placement_metric(&o->equal, metric);

		add_step(gain, placed, equal);
		means[k / draws->points] += (equal / placed - 1) / (double)draws->points;
		placed_sum += placed;
		equal_sum += equal;
	}
	gain->mean /= (double)all;
	gain->won /= (double)all;
	gain->lost /= (double)all;
	gain->total = equal_sum / placed_sum - 1;
	gain->low = metrics_quantile(means, draws->repetitions, LOW_QUANTILE);
	gain->high = metrics_quantile(means, draws->repetitions, HIGH_QUANTILE);
	row->seconds[metric] = placed_sum / (double)all;
	row->equal_seconds[metric] = equal_sum / (double)all;
}

static int check_steps(const struct steps *steps, const struct steps_plan *plan, struct err *err)
{
	AUTO_FREE double *shares = xcalloc(steps->targets + 1, sizeof(*shares));

	if (!steps->points || !steps->targets)
		return err_set(err, ENODATA, "all targets were never measured at the same time");
	if (steps->targets > BACKLOG_TARGETS)
		return err_set(err, E2BIG, "at most %d targets can be simulated (got %zu)",
			       BACKLOG_TARGETS, steps->targets);
	for (size_t i = 0; i < steps->points * steps->targets; i++)
		if (!(steps->seconds[i] > 0) || !isfinite(steps->seconds[i]))
			return err_set(err, EINVAL, "a measured time must be positive (got %g s)",
				       steps->seconds[i]);
	for (size_t p = 0; p < steps->points; p++) {
		int r = placement_shares(PLACEMENT_EQUAL, steps->forecasts + p * steps->targets,
					 steps->targets, &plan->limits, shares, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static size_t compute_rows(const struct run *run, const struct draws *draws, struct steps_row *rows)
{
	size_t count = 0;

	for (size_t f = 0; f < run->feedback_count; f++) {
		for (size_t v = 0; v < VARIANTS; v++) {
			struct steps_row *row = &rows[count];

			if (!has_source(run->steps, variants[v].source))
				continue;
			*row = (struct steps_row){ .rule = variants[v].rule,
						   .source = variants[v].source,
						   .feedback = run->feedbacks[f] };
			for (size_t m = 0; m < PLACEMENT_METRICS; m++)
				compute_gain(run, draws, v, f, m, row);
			count++;
		}
	}
	return count;
}

int steps_run(const struct steps *steps, const struct steps_plan *plan, struct steps_row **rows,
	      struct err *err)
{
	static const double none[] = { 0 };
	struct run run = { .steps = steps,
			   .plan = plan,
			   .feedbacks = plan->feedback_count ? plan->feedbacks : none,
			   .feedback_count = plan->feedback_count ? plan->feedback_count : 1 };
	struct draws draws = { .points = plan->points ? plan->points : DEFAULT_POINTS,
			       .repetitions = plan->repetitions ? plan->repetitions
								: DEFAULT_REPETITIONS };
	size_t all = draws.points * draws.repetitions, count;
	int r = check_steps(steps, plan, err);

	if (r < 0)
		return r;
	run.outcomes = xcalloc(VARIANTS * DEALS * run.feedback_count * steps->points,
			       sizeof(*run.outcomes));
	draws.point = xcalloc(all, sizeof(*draws.point));
	draws.deal = xcalloc(all, sizeof(*draws.deal));
	parallel_for(plan->threads ? plan->threads : parallel_cores(), steps->points,
		     simulate_point, &run);
	draw_points(&draws, steps->points, plan->seed);
	*rows = xcalloc(VARIANTS * run.feedback_count, sizeof(**rows));
	count = compute_rows(&run, &draws, *rows);
	free(run.outcomes);
	free(draws.point);
	free(draws.deal);
	return (int)count;
}
