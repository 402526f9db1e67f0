/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reference numbers come from scikit-learn 1.2.1: sklearn.calibration._sigmoid_calibration and
 * sklearn.isotonic.IsotonicRegression(out_of_bounds="clip").
 */
#include "learn/judge/calibration.h"

#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"

enum { MANY = 300 };
static const double truth[] = { 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1 };
static const double score[] = { .1, .4, .35, .8, .35, .7, .7, .9, .35, .2, .2, .6 };

static int near(double actual, double expected, double most)
{
	return fabs(actual - expected) <= most;
}

static void many_make(double *y, double *s)
{
	for (long i = 0; i < MANY; i++) {
		s[i] = (double)(i * 7919 % 211) / 10. - 10;
		y[i] = (double)(i * 104729 % 1000) / 1000. < 1 / (1 + exp(-.3 * s[i] - .4));
	}
}

static void platt_equals_the_reference(void)
{
	struct calibration fitted = { 0 };
	double y[MANY], s[MANY];

	/* The reference itself stops at a gradient of 1e-5. */
	CHECK_INT(calibration_fit(&fitted, CALIBRATION_PLATT, truth, score, 12, NULL), 0);
	for (double x = -1; x < 2; x += 0.125)
		CHECK(near(calibration_apply(&fitted, x),
			   1 / (1 + exp(-3.9946929899621186 * x + 1.8627736202006722)), 1e-6));
	many_make(y, s);
	CHECK_INT(calibration_fit(&fitted, CALIBRATION_PLATT, y, s, MANY, NULL), 0);
	CHECK(near(fitted.a, -0.29520188166608735, 1e-6));
	CHECK(near(fitted.b, -0.3204790351494726, 1e-6));
}

/* At the optimum the gradient is zero; this is checked to more digits than the reference has. */
static void platt_finds_the_optimum(void)
{
	struct calibration fitted = { 0 };
	double y[MANY], s[MANY], positives = 0, ga = 0, gb = 0;

	many_make(y, s);
	for (int i = 0; i < MANY; i++)
		positives += y[i];
	calibration_fit(&fitted, CALIBRATION_PLATT, y, s, MANY, NULL);
	for (int i = 0; i < MANY; i++) {
		double t =
			y[i] == 1 ? (positives + 1) / (positives + 2) : 1 / (MANY - positives + 2);

		ga += s[i] * (t - calibration_apply(&fitted, s[i]));
		gb += t - calibration_apply(&fitted, s[i]);
	}
	CHECK(fabs(ga) < 1e-6);
	CHECK(fabs(gb) < 1e-7);
}

static void platt_does_not_depend_on_units(void)
{
	struct calibration plain = { 0 }, scaled = { 0 };
	double large[12], same[12];

	for (int i = 0; i < 12; i++) {
		large[i] = 1e9 * score[i] - 3e9;
		same[i] = 5;
	}
	calibration_fit(&plain, CALIBRATION_PLATT, truth, score, 12, NULL);
	calibration_fit(&scaled, CALIBRATION_PLATT, truth, large, 12, NULL);
	for (int i = 0; i < 12; i++)
		CHECK(near(calibration_apply(&plain, score[i]),
			   calibration_apply(&scaled, large[i]), 1e-9));
	/* A score without information gives the mean of the targets. */
	calibration_fit(&plain, CALIBRATION_PLATT, truth, same, 12, NULL);
	CHECK(near(calibration_apply(&plain, 5), 0.5, 1e-9));
}

static void platt_stays_finite_on_perfect_scores(void)
{
	struct calibration fitted = { 0 };

	calibration_fit(&fitted, CALIBRATION_PLATT, truth, truth, 12, NULL);
	/* Two groups of six: each reaches its smoothed target, 7/8 and 1/8. */
	CHECK(near(calibration_apply(&fitted, 1), 7. / 8, 1e-9));
	CHECK(near(calibration_apply(&fitted, 0), 1. / 8, 1e-9));
	CHECK(calibration_apply(&fitted, 1e308) == 1);
	CHECK(calibration_apply(&fitted, -1e308) == 0);
}

static void isotonic_equals_the_reference(void)
{
	static const double at[] = { 0, .15, .3, .375, .45, .65, .75, 1 };
	static const double expected[] = {
		0, 0, 1. / 3, 1. / 2, 0.541666666666, 2. / 3., 5. / 6, 1
	};
	static const double many[] = { 0.030303030303030304,
				       0.030303030303030304,
				       0.030303030303030304,
				       0.030303030303030304,
				       0.16666666666666666,
				       0.2222222222222222,
				       0.2222222222222222,
				       0.25,
				       0.375,
				       0.375,
				       0.45454545454545453,
				       0.5454545454545454,
				       0.6666666666666666,
				       0.8333333333333334,
				       0.8723404255319149,
				       0.8723404255319149,
				       0.8723404255319149,
				       0.8723404255319149,
				       0.9333333333333333,
				       0.9333333333333333,
				       0.9333333333333333,
				       0.9333333333333333,
				       1.0,
				       1.0 };
	struct calibration fitted = { 0 };
	double y[MANY], s[MANY];

	CHECK_INT(calibration_fit(&fitted, CALIBRATION_ISOTONIC, truth, score, 12, NULL), 0);
	CHECK_INT(fitted.knots, 8);
	for (int i = 0; i < 8; i++)
		CHECK(near(calibration_apply(&fitted, at[i]), expected[i], 1e-9));
	calibration_release(&fitted);
	many_make(y, s);
	calibration_fit(&fitted, CALIBRATION_ISOTONIC, y, s, MANY, NULL);
	CHECK_INT(fitted.knots, 29);
	/* predict(numpy.linspace(-11, 12, 24)) */
	for (int i = 0; i < 24; i++)
		CHECK(near(calibration_apply(&fitted, i - 11), many[i], 1e-12));
	calibration_release(&fitted);
}

static void isotonic_is_monotonic(void)
{
	struct calibration fitted = { 0 };
	double y[MANY], s[MANY], last = 0;

	many_make(y, s);
	calibration_fit(&fitted, CALIBRATION_ISOTONIC, y, s, MANY, NULL);
	for (double x = -12; x < 14; x += 0.01) {
		double chance = calibration_apply(&fitted, x);

		CHECK(chance >= last);
		CHECK(chance <= 1);
		last = chance;
	}
	calibration_release(&fitted);
	/* One score only: one knot. */
	calibration_fit(&fitted, CALIBRATION_ISOTONIC, truth, (double[12]){ 0 }, 12, NULL);
	CHECK(calibration_apply(&fitted, -1) == 0.5);
	CHECK(calibration_apply(&fitted, 1) == 0.5);
	CHECK(calibration_apply(&fitted, 0) == 0.5);
	CHECK(!(calibration_apply(&fitted, NAN) < 0.5));
	calibration_release(&fitted);
}

static void one_class_is_rejected(void)
{
	struct calibration fitted = { .a = 7 };
	struct err err = { 0 };

	CHECK(calibration_fit(&fitted, CALIBRATION_PLATT, truth, score, 2, &err) < 0);
	CHECK(strstr(err.text, "both classes"));
	CHECK(fitted.a == 7);
	CHECK(calibration_fit(&fitted, CALIBRATION_ISOTONIC, truth, (double[]){ 1, 2, NAN }, 3,
			      &err) < 0);
	CHECK(calibration_fit(&fitted, CALIBRATION_NONE, truth, score, 2, &err) == 0);
	CHECK(calibration_apply(&fitted, 0.3) == 0.3);
}

static void a_saved_object_is_loaded_unchanged(void)
{
	for (unsigned kind = CALIBRATION_NONE; kind <= CALIBRATION_ISOTONIC; kind++) {
		struct calibration fitted = { 0 }, loaded = { 0 };
		AUTO_BUF struct buf buf = { 0 };
		struct blob blob;

		calibration_fit(&fitted, kind, truth, score, 12, NULL);
		calibration_save(&fitted, &buf);
		blob_init(&blob, buf.data, buf.len);
		CHECK_INT(calibration_load(&loaded, &blob, NULL), 0);
		CHECK(blob.at == blob.end);
		for (double x = -1; x < 2; x += 0.01)
			CHECK(calibration_apply(&loaded, x) == calibration_apply(&fitted, x));
		calibration_release(&loaded);
		for (size_t n = 0; n < buf.len; n++) {
			blob_init(&blob, buf.data, n);
			CHECK(calibration_load(&loaded, &blob, NULL) < 0);
		}
		calibration_release(&fitted);
	}
}

static void damaged_bytes_do_no_harm(void)
{
	struct calibration fitted = { 0 };
	AUTO_BUF struct buf buf = { 0 };
	struct random random;

	random_init(&random, 1);
	calibration_fit(&fitted, CALIBRATION_ISOTONIC, truth, score, 12, NULL);
	calibration_save(&fitted, &buf);
	calibration_release(&fitted);
	for (int round = 0; round < 20000; round++) {
		size_t at = random_below(&random, buf.len);
		char flip = (char)(1 << random_below(&random, 8));
		struct blob blob;

		buf.data[at] ^= flip;
		blob_init(&blob, buf.data, buf.len);
		if (calibration_load(&fitted, &blob, NULL) == 0) {
			double chance = calibration_apply(&fitted, 0.37);

			CHECK(chance >= 0);
			CHECK(chance <= 1);
			calibration_release(&fitted);
		}
		buf.data[at] ^= flip;
	}
}

TESTS(TEST(platt_equals_the_reference), TEST(platt_finds_the_optimum),
      TEST(platt_does_not_depend_on_units), TEST(platt_stays_finite_on_perfect_scores),
      TEST(isotonic_equals_the_reference), TEST(isotonic_is_monotonic), TEST(one_class_is_rejected),
      TEST(a_saved_object_is_loaded_unchanged), TEST(damaged_bytes_do_no_harm))
