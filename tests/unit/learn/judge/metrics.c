/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reference numbers come from numpy 1.24, scipy 1.10 and scikit-learn 1.2.1; comments name the
 * calls.
 * Papers: WAN-28.
 */
#include "learn/judge/metrics.h"

#include <math.h>

#include "check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int near(double actual, double expected)
{
	return fabs(actual - expected) <= 1e-12 * fmax(1, fabs(expected));
}

/* Two classes with ties between and within them. */
static const double truth2[] = { 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1 };
static const double score2[] = { .1, .4, .35, .8, .35, .7, .7, .9, .35, .2, .2, .6 };

static const double truth3[] = { 0, 1, 2, 0, 1, 0 };
static const double chance3[] = { .7, .2, .1, .1, .8, .1, .2, .2,  .6,
				  0,  1,  0,  .3, .3, .4, .5, .25, .25 };

static void errors_equal_the_reference(void)
{
	static const double truth[] = { 3, -0.5, 2, 7, 4.25, 1.5 };
	static const double guess[] = { 2.5, 0, 2, 8, 4, 1.25 };
	static const double rates[] = { 100, 200, 50, 80, 10 }, tries[] = { 110, 190, 75, 80, 9 };

	/* mean_squared_error(squared=False), mean_absolute_error, r2_score */
	CHECK(near(metrics_rmse(truth, guess, 6), 0.5204164998665332));
	CHECK(near(metrics_mae(truth, guess, 6), 0.4166666666666667));
	CHECK(near(metrics_r2(truth, guess, 6), 0.9507109004739337));
	/* numpy.median(abs(g / t - 1)) */
	CHECK(near(metrics_median_error(rates, tries, 5), 0.1));
}

static void quantiles_equal_those_of_numpy(void)
{
	static const double values[] = { 3.1, -2, 8, 4.4, 0.5, 9.25, 7 };
	static const double q[] = { 0, .1, .25, .5, .77, .9, 1 };
	static const double expected[] = { -2, -0.5, 1.8, 4.4, 7.62, 8.5, 9.25 };

	for (size_t i = 0; i < COUNT(q); i++)
		CHECK(near(metrics_quantile(values, COUNT(values), q[i]), expected[i]));
	CHECK(metrics_quantile(values, 1, 0.3) == 3.1);
	CHECK(metrics_quantile((double[]){ 1, INFINITY, INFINITY }, 3, 0.9) == INFINITY);
	CHECK(isnan(metrics_quantile(values, 0, 0.5)));
	CHECK(isnan(metrics_quantile(values, 7, 1.5)));
	CHECK(isnan(metrics_quantile((double[]){ 1, NAN, 2 }, 3, 0.5)));
}

static void kendall_counts_ties_as_scipy_does(void)
{
	static const double a[] = { 12, 2, 1, 12, 2, 5, 5, 7, 3, 3, 9, 0 };
	static const double b[] = { 1, 4, 7, 1, 0, 4, 4, 2, 7, 3, 3, 8 };
	double many_a[500], many_b[500];

	/* scipy.stats.kendalltau */
	CHECK(near(metrics_kendall(a, b, COUNT(a)), -0.55745196041636));
	for (long i = 0; i < 500; i++) {
		many_a[i] = (double)(i * 7919 % 101);
		many_b[i] = (double)(i * 104729 % 53 + i * 7919 % 101 / 10);
	}
	CHECK(near(metrics_kendall(many_a, many_b, 500), 0.1148964050062795));
	CHECK(near(metrics_kendall(many_a, many_a, 500), 1));
}

static void auc_counts_ties_half(void)
{
	double truth[500], score[500];

	/* roc_auc_score */
	CHECK(near(metrics_auc(truth2, score2, COUNT(truth2)), 0.8194444444444444));
	for (long i = 0; i < 500; i++) {
		truth[i] = i * 7919 % 97 < 45;
		score[i] = (double)(i * 31337 % 41) / 41 + truth[i] * .2;
	}
	CHECK(near(metrics_auc(truth, score, 500), 0.6801659804426146));
	/* roc_auc_score(multi_class="ovr") */
	CHECK(near(metrics_auc_classes(truth3, chance3, 6, 3), 0.8055555555555555));
}

static void auc_of_two_classes_is_that_of_the_second(void)
{
	double chance[2 * COUNT(truth2)];

	for (size_t i = 0; i < COUNT(truth2); i++) {
		chance[2 * i] = 1 - score2[i];
		chance[2 * i + 1] = score2[i];
	}
	CHECK(near(metrics_auc_classes(truth2, chance, COUNT(truth2), 2), 0.8194444444444444));
	/* brier_score_loss, log_loss */
	CHECK(near(metrics_brier(truth2, chance, COUNT(truth2), 2), 0.1672916666666667));
	CHECK(near(metrics_log_loss(truth2, chance, COUNT(truth2), 2), 0.49940648717872843));
}

static void several_classes_equal_the_reference(void)
{
	/* log_loss (a certain mistake is clipped), accuracy_score */
	CHECK(near(metrics_log_loss(truth3, chance3, 6, 3), 6.505236248836995));
	CHECK(near(metrics_accuracy(truth3, chance3, 6, 3), 4. / 6));
	CHECK(near(metrics_brier(truth3, chance3, 6, 3), 0.29625));
}

/* roc_curve() keeps (0, 1/6), which lies on a line, and (0, 0) has max + 1 for infinity. */
static void roc_has_its_corners_and_no_other_points(void)
{
	static const double sixths[][2] = { { 0, 0 }, { 0, 2 }, { 1, 3 }, { 1, 4 },
					    { 2, 4 }, { 3, 6 }, { 6, 6 } };
	static const double thresholds[] = { INFINITY, .8, .7, .6, .4, .35, .1 };
	struct metrics_roc *points;
	size_t count = metrics_roc_points(truth2, score2, COUNT(truth2), &points);

	CHECK_INT(count, COUNT(thresholds));
	for (size_t i = 0; i < count && i < COUNT(thresholds); i++) {
		CHECK(near(points[i].false_share, sixths[i][0] / 6));
		CHECK(near(points[i].true_share, sixths[i][1] / 6));
		CHECK(points[i].threshold == thresholds[i]);
	}
	free(points);
}

static void area_below_the_corners_is_the_auc(void)
{
	double truth[500], score[500], area = 0;
	struct metrics_roc *points;
	size_t count;

	for (long i = 0; i < 500; i++) {
		truth[i] = i * 7919 % 97 < 45;
		score[i] = (double)(i * 31337 % 41) / 41 + truth[i] * .2;
	}
	count = metrics_roc_points(truth, score, 500, &points);
	for (size_t i = 1; i < count; i++)
		area += (points[i].false_share - points[i - 1].false_share) *
			(points[i].true_share + points[i - 1].true_share) / 2;
	CHECK(near(area, metrics_auc(truth, score, 500)));
	CHECK(points[count - 1].false_share == 1);
	CHECK(points[count - 1].true_share == 1);
	free(points);
}

static void reliability_compares_predicted_with_observed(void)
{
	struct metrics_bin bins[4];
	double error = metrics_reliability(truth2, score2, COUNT(truth2), bins, 4);

	/* Bins: .1 .2 .2 | .4 .35 .35 .35 | .7 .7 .6 | .8 .9 */
	CHECK_INT(bins[0].count, 3);
	CHECK(near(bins[0].predicted, .5 / 3));
	CHECK(bins[0].observed == 0);
	CHECK(near(bins[1].predicted, 1.45 / 4));
	CHECK(bins[1].observed == .5);
	CHECK(near(bins[2].predicted, 2. / 3));
	CHECK(near(bins[2].observed, 2. / 3));
	CHECK(near(bins[3].predicted, .85));
	CHECK(bins[3].observed == 1);
	CHECK(near(error, (.5 + .55 + 0 + .3) / 12));
	metrics_reliability(truth2, (double[]){ 0, 1 }, 2, bins, 4);
	CHECK(bins[0].count == 1);
	CHECK(bins[3].count == 1);
	CHECK(isnan(bins[1].predicted));
}

static void undefined_measures_are_nan(void)
{
	static const double same[] = { 2, 2, 2 }, rising[] = { 1, 2, 3 }, ones[] = { 1, 1, 1 };
	static const double hole[] = { 1, NAN, 3 };
	struct metrics_roc *points;

	CHECK(isnan(metrics_r2(same, rising, 3)));
	CHECK(isnan(metrics_kendall(same, rising, 3)));
	CHECK(isnan(metrics_kendall(hole, rising, 3)));
	CHECK(isnan(metrics_kendall(rising, rising, 0)));
	CHECK(isnan(metrics_auc(ones, rising, 3)));
	CHECK(isnan(metrics_auc(ones, hole, 3)));
	CHECK(isnan(metrics_rmse(same, rising, 0)));
	CHECK(isnan(metrics_accuracy(same, rising, 0, 2)));
	CHECK_INT(metrics_roc_points(ones, rising, 3, &points), 0);
	CHECK(!points);
	CHECK_INT(metrics_roc_points(ones, rising, 0, &points), 0);
}

static void equal_values_have_no_error(void)
{
	CHECK(metrics_median_error((double[]){ 0 }, (double[]){ 0 }, 1) == 0);
	CHECK(metrics_median_error((double[]){ 0 }, (double[]){ 1 }, 1) == INFINITY);
}

TESTS(TEST(errors_equal_the_reference), TEST(quantiles_equal_those_of_numpy),
      TEST(kendall_counts_ties_as_scipy_does), TEST(auc_counts_ties_half),
      TEST(auc_of_two_classes_is_that_of_the_second), TEST(several_classes_equal_the_reference),
      TEST(roc_has_its_corners_and_no_other_points), TEST(area_below_the_corners_is_the_auc),
      TEST(reliability_compares_predicted_with_observed), TEST(undefined_measures_are_nan),
      TEST(equal_values_have_no_error))
