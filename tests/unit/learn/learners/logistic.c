/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn_kernel.h"

extern const struct learner_ops learner_logistic;

enum { ROWS = 120, WIDTH = 3 };

/*
 * X = rows(120, 3, 1)*2 - 1; y = X[:,0] + .5*X[:,1] + (rows(120, 1, 5)[:,0] - .5) > 0
 * c = ((X[:,0] + 1)*1.5).astype(int)
 */
static struct samples rows_of(size_t classes)
{
	double *x = rows_make(ROWS, WIDTH, 1), *noise = rows_make(ROWS, 1, 5);
	double *y = xmalloc(ROWS * sizeof(*y));

	for (size_t i = 0; i < ROWS; i++) {
		double *row = x + i * WIDTH;

		for (size_t j = 0; j < WIDTH; j++)
			row[j] = row[j] * 2 - 1;
		y[i] = classes == 2 ? row[0] + 0.5 * row[1] + (noise[i] - 0.5) > 0
				    : floor((row[0] + 1) * 1.5);
	}
	free(noise);
	return (struct samples){ .x = x, .y = y, .rows = ROWS, .width = WIDTH, .classes = classes };
}

static void rows_free(struct samples *samples)
{
	free((double *)samples->x);
	free((double *)samples->y);
}

/* The log-odds of class b against a are linear; this computes them at 0 and at the unit vectors. */
static void check_odds(const void *model, size_t a, size_t b, const double *golden)
{
	double row[WIDTH] = { 0 }, out[3], zero;

	learner_logistic.predict(model, row, out);
	zero = log(out[b] / out[a]);
	CHECK_NEAR(zero, golden[WIDTH], 1e-6);
	for (size_t j = 0; j < WIDTH; j++) {
		row[j] = 1;
		learner_logistic.predict(model, row, out);
		CHECK_NEAR(log(out[b] / out[a]) - zero, golden[j], 1e-6);
		row[j] = 0;
	}
}

static void coefficients_are_those_of_scikit_learn(void)
{
	/*
	 * LogisticRegression(C=1 and 100, solver='newton-cg', tol=1e-12, max_iter=10000).fit(X, y):
	 * coef_ and intercept_. (lbfgs stops 1e-5 away from there, whatever its tol.)
	 */
	static const double plain[] = { 3.27260948489, 1.51168787424, 0.119899436125,
					-0.133950809107 };
	static const double loose[] = { 5.32696952693, 2.55706046081, 0.0331383952217,
					-0.10452141184 };
	struct samples samples = rows_of(2);
	void *model = fit_text(&learner_logistic, &samples, "", 1);

	check_odds(model, 0, 1, plain);
	learner_logistic.free(model);
	model = fit_text(&learner_logistic, &samples, "cost=100", 1);
	check_odds(model, 0, 1, loose);
	learner_logistic.free(model);
	rows_free(&samples);
}

static void several_classes_are_multinomial(void)
{
	/* LogisticRegression(C=3, solver='newton-cg', tol=1e-12, max_iter=10000).fit(X, c): coef_
	 * and intercept_ */
	static const double golden[3][4] = {
		{ -6.52670910065, -0.282127089206, 0.00616660790199, -0.89939579473 },
		{ 0.310886840199, 0.415554167902, -0.94867737825, 1.5715497526 },
		{ 6.21582226045, -0.133427078697, 0.942510770348, -0.672153957873 },
	};
	struct samples samples = rows_of(3);
	void *model = fit_text(&learner_logistic, &samples, "cost=3", 1);

	for (size_t b = 1; b < 3; b++) {
		double odds[4];

		for (size_t j = 0; j < 4; j++)
			odds[j] = golden[b][j] - golden[0][j];
		check_odds(model, 0, b, odds);
	}
	learner_logistic.free(model);
	rows_free(&samples);
}

/* 3 x 131 coefficients: too many for a matrix. */
static void wide_tables_use_conjugate_gradients(void)
{
	/*
	 * W = rows(60, 130, 3)*2 - 1; c = ((W[:,0] + 1)*1.5).astype(int)
	 * LogisticRegression(solver='newton-cg', tol=1e-12, max_iter=10000).fit(W,
	 * c).predict_proba(W[:2])
	 */
	static const double golden[] = { 0.0324212404909, 0.921537129436, 0.0460416300728,
					 0.034783931131,  0.95334869267,  0.011867376199 };
	double *x = rows_make(60, 130, 3), y[60], out[3];
	struct samples samples = { .x = x, .y = y, .rows = 60, .width = 130, .classes = 3 };
	struct effort effort = { 0 };
	void *model;

	for (size_t i = 0; i < 60 * 130; i++)
		x[i] = x[i] * 2 - 1;
	for (size_t i = 0; i < 60; i++)
		y[i] = floor((x[i * 130] + 1) * 1.5);
	model = fit_text(&learner_logistic, &samples, "", 1);
	for (size_t i = 0; i < 2; i++) {
		learner_logistic.predict(model, x + i * 130, out);
		for (size_t k = 0; k < 3; k++)
			CHECK_NEAR(out[k], golden[3 * i + k], 1e-6);
	}
	check_round_trip(&learner_logistic, model, &samples);
	CHECK_INT(learner_logistic.refresh(model, &samples, &effort, NULL), 0);
	learner_logistic.free(model);
	free(x);
}

/*
 * The old rows are summarized by a quadratic function. With rows of the same kind the result is
 * close to a fit to all rows, and far from a fit to either part alone.
 */
static void updates_combine_old_and_new_rows(void)
{
	enum { MANY = 4000, HALF = MANY / 2 };
	double *x = rows_make(MANY, WIDTH, 3), *noise = rows_make(MANY, 1, 4), y[MANY];
	struct samples all = { .x = x, .y = y, .rows = MANY, .width = WIDTH, .classes = 2 };
	struct samples first = all, second = all;
	struct effort effort = { 0 };
	void *whole, *parts, *alone;
	double a[2], b[2], c[2], refreshed = 0, untouched = 0;

	for (size_t i = 0; i < MANY; i++)
		y[i] = x[3 * i] * 2 - x[3 * i + 1] + noise[i] > (i < HALF ? 0.9 : 1.1);
	first.rows = second.rows = HALF;
	second.x += HALF * WIDTH;
	second.y += HALF;
	whole = fit_text(&learner_logistic, &all, "", 1);
	alone = fit_text(&learner_logistic, &first, "", 1);
	parts = fit_text(&learner_logistic, &first, "", 1);
	CHECK_INT(learner_logistic.refresh(parts, &second, &effort, NULL), 0);
	for (size_t i = 0; i < MANY; i++) {
		learner_logistic.predict(whole, x + i * WIDTH, a);
		learner_logistic.predict(parts, x + i * WIDTH, b);
		learner_logistic.predict(alone, x + i * WIDTH, c);
		refreshed += fabs(a[1] - b[1]) / MANY;
		untouched += fabs(a[1] - c[1]) / MANY;
	}
	CHECK(refreshed < 0.005);
	CHECK(untouched > 0.02);
	learner_logistic.free(whole);
	learner_logistic.free(alone);
	learner_logistic.free(parts);
	free(x);
	free(noise);
}

static void separable_rows_converge(void)
{
	static const double x[] = { -3, -2, -1, 1, 2, 3 }, y[] = { 0, 0, 0, 1, 1, 1 };
	struct samples samples = { .x = x, .y = y, .rows = 6, .width = 1, .classes = 2 };
	void *model = fit_text(&learner_logistic, &samples, "cost=1e9", 1);
	double out[2];

	for (size_t i = 0; i < 6; i++) {
		learner_logistic.predict(model, x + i, out);
		CHECK_NEAR(out[(size_t)y[i]], 1, 1e-3);
	}
	learner_logistic.free(model);
}

static void unseen_classes_have_probability_zero_and_cannot_be_added(void)
{
	static const double x[] = { 1, 2, 3, 4 }, y[] = { 0, 2, 2, 2 }, same[] = { 1, 1, 1, 1 };
	struct samples samples = { .x = x, .y = y, .rows = 4, .width = 1, .classes = 3 };
	struct effort effort = { 0 };
	struct err err = { 0 };
	void *model = fit_text(&learner_logistic, &samples, "", 1);
	double out[3];

	learner_logistic.predict(model, x, out);
	CHECK(out[1] == 0);
	CHECK_NEAR(out[0] + out[2], 1, 1e-12);
	samples.y = same;
	CHECK(learner_logistic.refresh(model, &samples, &effort, &err) < 0);
	CHECK(strstr(err.text, "class number 1"));
	learner_logistic.free(model);
	model = fit_text(&learner_logistic, &samples, "", 1);
	learner_logistic.predict(model, x, out);
	CHECK(out[1] == 1);
	CHECK_INT(learner_logistic.refresh(model, &samples, &effort, &err), 0);
	check_round_trip(&learner_logistic, model, &samples);
	learner_logistic.free(model);
}

static void saved_models_predict_the_same(void)
{
	for (size_t classes = 2; classes <= 3; classes++) {
		struct samples samples = rows_of(classes);
		void *model = fit_text(&learner_logistic, &samples, "", 1);
		double share[WIDTH];

		check_round_trip(&learner_logistic, model, &samples);
		check_damage(&learner_logistic, model, &samples);
		learner_logistic.importance(model, share);
		CHECK_NEAR(share[0] + share[1] + share[2], 1, 1e-12);
		CHECK(share[0] > 0.5);
		learner_logistic.free(model);
		rows_free(&samples);
	}
}

TESTS(TEST(coefficients_are_those_of_scikit_learn), TEST(several_classes_are_multinomial),
      TEST(wide_tables_use_conjugate_gradients), TEST(updates_combine_old_and_new_rows),
      TEST(separable_rows_converge), TEST(unseen_classes_have_probability_zero_and_cannot_be_added),
      TEST(saved_models_predict_the_same))
