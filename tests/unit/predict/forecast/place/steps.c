/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulated steps on generated data: two states, log-normal times with a tail, and forecasts that
 * are right on average. The true states are known.
 * Papers: WAN-37, WAN-38.
 */
#include "predict/forecast/place/steps.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"

#define NEAR(actual, expected, off) CHECK(fabs((actual) - (expected)) <= (off))
enum { POINTS = 40, TARGETS = 48 };

static struct err err;

static void make(struct steps *steps, double idle_s, double busy_s, double held)
{
	struct random random;

	random_init(&random, 11);
	steps_init(steps, POINTS, TARGETS, true);
	for (size_t i = 0; i < (size_t)POINTS * TARGETS; i++) {
		double u = random_real(&random), chance = u * u;
		bool busy = random_real(&random) < chance;
		double s = busy ? busy_s : idle_s, mean = busy ? 2.7 : 1.85;

		steps->forecasts[i] =
			(struct placement_target){ chance,
						   1.85,
						   2.7,
						   1.85 * sqrt(expm1(idle_s * idle_s)),
						   2.7 * sqrt(expm1(busy_s * busy_s)),
						   true };
		steps->truth[i] = busy;
		steps->seconds[i] = mean * exp(s * random_normal(&random) - s * s / 2);
		if (random_real(&random) < held)
			steps->seconds[i] /= 0.05 + 0.95 * random_real(&random);
		steps->labels[i] = random_real(&random) < 0.1 ? !busy : busy;
	}
}

static const struct steps_row *find_row(const struct steps_row *rows, int count,
					enum placement_rule rule, enum steps_source source,
					double feedback)
{
	for (int i = 0; i < count; i++)
		if (rows[i].rule == rule && rows[i].source == source &&
		    rows[i].feedback == feedback)
			return &rows[i];
	return NULL;
}

static const struct steps_gain *gain_of(const struct steps_row *rows, int count,
					enum placement_rule rule, enum steps_source source,
					size_t metric)
{
	const struct steps_row *row = find_row(rows, count, rule, source, 0);

	REQUIRE(row);
	return &row->gains[metric];
}

enum { GROUP, LATE, SLOWEST };

static void rules_and_sources_rank_as_theory_predicts(void)
{
	struct steps_plan plan = { .repetitions = 20, .seed = 1 };
	struct steps_row *rows;
	struct steps steps;
	int n;
	const struct steps_gain *classes, *expected, *hedged, *truth, *labels, *dealt, *best;

	make(&steps, 0.06, 0.2, 0);
	n = steps_run(&steps, &plan, &rows, &err);
	CHECK_INT(n, 15);
	classes = gain_of(rows, n, PLACEMENT_CLASSES, STEPS_FORECAST, GROUP);
	expected = gain_of(rows, n, PLACEMENT_EXPECTED, STEPS_FORECAST, GROUP);
	truth = gain_of(rows, n, PLACEMENT_CLASSES, STEPS_TRUTH, GROUP);
	labels = gain_of(rows, n, PLACEMENT_CLASSES, STEPS_LABELS, GROUP);
	dealt = gain_of(rows, n, PLACEMENT_CLASSES, STEPS_RANDOM, GROUP);
	CHECK(classes->mean > 0.05 && expected->mean > classes->mean);
	CHECK(truth->mean > labels->mean && truth->mean > classes->mean);
	CHECK(dealt->mean < 0);
	CHECK(classes->low <= classes->mean && classes->mean <= classes->high);
	CHECK(classes->won > 0.9 && classes->won + classes->lost <= 1);
	hedged = gain_of(rows, n, PLACEMENT_HEDGED, STEPS_FORECAST, SLOWEST);
	classes = gain_of(rows, n, PLACEMENT_CLASSES, STEPS_FORECAST, SLOWEST);
	CHECK(hedged->mean >= 0 && hedged->mean > classes->mean && hedged->lost < classes->lost);
	/* With known times, all targets finish together. */
	best = gain_of(rows, n, PLACEMENT_EXPECTED, STEPS_MEASURED, SLOWEST);
	CHECK(best->lost == 0 && best->worst > 0);
	for (int i = 0; i < n; i++)
		CHECK(rows[i].gains[SLOWEST].mean <= best->mean);
	NEAR(find_row(rows, n, PLACEMENT_EXPECTED, STEPS_MEASURED, 0)->seconds[SLOWEST],
	     find_row(rows, n, PLACEMENT_EXPECTED, STEPS_MEASURED, 0)->seconds[LATE], 1e-9);
	free(rows);
	steps_release(&steps);
}

static void hedged_rule_does_not_lose_on_the_slowest_target(void)
{
	struct steps_plan plan = { .repetitions = 10 };
	struct steps_row *rows;
	struct steps steps;
	int n;

	make(&steps, 0.002, 0.002, 0);
	n = steps_run(&steps, &plan, &rows, &err);
	REQUIRE(n > 0);
	CHECK(gain_of(rows, n, PLACEMENT_CLASSES, STEPS_FORECAST, GROUP)->mean > 0.05);
	CHECK(gain_of(rows, n, PLACEMENT_CLASSES, STEPS_FORECAST, SLOWEST)->mean < -0.03);
	CHECK(gain_of(rows, n, PLACEMENT_EXPECTED, STEPS_FORECAST, SLOWEST)->mean < -0.03);
	CHECK(gain_of(rows, n, PLACEMENT_HEDGED, STEPS_FORECAST, SLOWEST)->mean >= 0);
	CHECK(gain_of(rows, n, PLACEMENT_CLASSES, STEPS_TRUTH, SLOWEST)->mean > 0.1);
	free(rows);
	steps_release(&steps);
}

static void one_point_gives_the_values_computed_by_hand(void)
{
	struct steps_plan plan = { .points = 1, .repetitions = 3 };
	struct steps_row *rows;
	struct steps steps;
	const struct steps_row *row;
	int n;

	/* One idle target of 1 s and one busy of 3 s: 3 to 1, 1.5 s for both instead of 3. */
	steps_init(&steps, 1, 2, false);
	steps.forecasts[0] = (struct placement_target){ 0, 1, 3, 0, 0, true };
	steps.forecasts[1] = (struct placement_target){ 1, 1, 3, 0, 0, true };
	steps.seconds[0] = 1;
	steps.seconds[1] = 3;
	steps.labels[0] = true; /* the labels are swapped */
	n = steps_run(&steps, &plan, &rows, &err);
	CHECK_INT(n, 12);
	CHECK(!find_row(rows, n, PLACEMENT_CLASSES, STEPS_TRUTH, 0));
	for (int rule = PLACEMENT_CLASSES; rule < PLACEMENT_HEDGED; rule++) {
		row = find_row(rows, n, (enum placement_rule)rule, STEPS_FORECAST, 0);
		REQUIRE(row);
		NEAR(row->seconds[SLOWEST], 1.5, 1e-12);
		NEAR(row->equal_seconds[SLOWEST], 3, 1e-12);
		NEAR(row->gains[SLOWEST].mean, 1, 1e-12);
		NEAR(row->gains[GROUP].total, 1, 1e-12);
		CHECK(row->gains[SLOWEST].low == row->gains[SLOWEST].high);
	}
	row = find_row(rows, n, PLACEMENT_CLASSES, STEPS_LABELS, 0);
	NEAR(row->seconds[SLOWEST], 4.5, 1e-12);
	NEAR(row->gains[SLOWEST].worst, 3 / 4.5 - 1, 1e-12);
	CHECK(row->gains[SLOWEST].lost == 1);
	NEAR(steps_accuracy(&steps, steps.labels), 0, 0);
	CHECK(isnan(steps_accuracy(&steps, steps.truth)));
	free(rows);
	steps_release(&steps);
}

static void feedback_of_load_reduces_the_gain(void)
{
	struct steps_plan plan = { .repetitions = 5,
				   .feedbacks = { 0, 0.5, 2 },
				   .feedback_count = 3 };
	struct steps_row *rows;
	struct steps steps;
	double last = INFINITY;
	int n;

	make(&steps, 0.06, 0.2, 0);
	n = steps_run(&steps, &plan, &rows, &err);
	CHECK_INT(n, 45);
	for (size_t f = 0; f < 3; f++) {
		const struct steps_row *row =
			find_row(rows, n, PLACEMENT_CLASSES, STEPS_FORECAST, plan.feedbacks[f]);

		REQUIRE(row);
		CHECK(row->gains[GROUP].mean < last);
		last = row->gains[GROUP].mean;
	}
	free(rows);
	steps_release(&steps);
}

static void results_do_not_depend_on_threads(void)
{
	struct steps_plan plan = { .points = 30, .repetitions = 7, .seed = 5, .threads = 1 };
	struct steps_row *one, *many;
	struct steps steps;
	int n;

	make(&steps, 0.1, 0.3, 0.01);
	n = steps_run(&steps, &plan, &one, &err);
	plan.threads = 3;
	CHECK_INT(steps_run(&steps, &plan, &many, &err), n);
	for (int i = 0; i < n; i++)
		for (size_t m = 0; m < PLACEMENT_METRICS; m++)
			CHECK(one[i].gains[m].mean == many[i].gains[m].mean &&
			      one[i].gains[m].low == many[i].gains[m].low);
	free(one);
	free(many);
	steps_release(&steps);
}

static void limits_apply_to_every_rule(void)
{
	struct steps_plan plan = { .repetitions = 3, .limits = { .most = 1, .least = 1 } };
	struct steps_row *rows;
	struct steps steps;
	int n;

	make(&steps, 0.1, 0.3, 0);
	n = steps_run(&steps, &plan, &rows, &err);
	for (int i = 0; i < n; i++)
		/* Equal shares; but the writers of the adaptive rule wait for slow files. */
		if (rows[i].rule != PLACEMENT_ADAPTIVE)
			CHECK(rows[i].gains[SLOWEST].won + rows[i].gains[SLOWEST].lost == 0);
	free(rows);
	plan.limits.most = 0.5;
	CHECK_INT(steps_run(&steps, &plan, &rows, &err), -EINVAL);
	plan.limits.most = 0;
	steps.seconds[17] = 0;
	CHECK_INT(steps_run(&steps, &plan, &rows, &err), -EINVAL);
	steps.points = 0;
	CHECK_INT(steps_run(&steps, &plan, &rows, &err), -ENODATA);
	steps_release(&steps);
}

TESTS(TEST(rules_and_sources_rank_as_theory_predicts),
      TEST(hedged_rule_does_not_lose_on_the_slowest_target),
      TEST(one_point_gives_the_values_computed_by_hand), TEST(feedback_of_load_reduces_the_gain),
      TEST(results_do_not_depend_on_threads), TEST(limits_apply_to_every_rule))
