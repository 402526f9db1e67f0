/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn_kernel.h"

extern const struct learner_ops learner_bayes;

enum { ROWS = 60, WIDTH = 3, CLASSES = 3 };

/* X = rows(60, 3, 1); X[:,1] = X[:,1]*1e3 + 1e6; y = ((X[:,0] + X[:,2]) * 1.5).astype(int) */
static struct samples three_classes(void)
{
	static double y[ROWS];
	double *x = rows_make(ROWS, WIDTH, 1);

	for (size_t i = 0; i < ROWS; i++) {
		x[i * WIDTH + 1] = x[i * WIDTH + 1] * 1e3 + 1e6;
		y[i] = floor((x[i * WIDTH] + x[i * WIDTH + 2]) * 1.5);
	}
	return (struct samples){ .x = x, .y = y, .rows = ROWS, .width = WIDTH, .classes = CLASSES };
}

static void probabilities_are_those_of_scikit_learn(void)
{
	/* GaussianNB().fit(X, y).predict_proba(X[[0, 7, 31]]), scikit-learn 1.2.1 */
	static const double golden[3][3] = {
		{ 0.1874245446905999, 0.8109059127233592, 0.001669542586041126 },
		{ 0.7888530779606782, 0.211145607495796, 1.314543526054392e-06 },
		{ 2.869071233580595e-08, 0.9937259243398935, 0.006274046969394406 },
	};
	/* GaussianNB(var_smoothing=.01).fit(X, y).predict_proba(X[[7]]) */
	static const double smooth[3] = { 0.255355030438272, 0.4962060373047941,
					  0.2484389322569343 };
	static const size_t which[3] = { 0, 7, 31 };
	struct samples samples = three_classes();
	void *model = fit_text(&learner_bayes, &samples, "", 1);
	void *smoothed = fit_text(&learner_bayes, &samples, "smoothing=0.01", 1);
	double out[3];

	for (int i = 0; i < 3; i++) {
		learner_bayes.predict(model, samples.x + which[i] * WIDTH, out);
		for (int c = 0; c < 3; c++)
			CHECK_NEAR(out[c], golden[i][c], 1e-9);
	}
	learner_bayes.predict(smoothed, samples.x + 7 * WIDTH, out);
	for (int c = 0; c < 3; c++)
		CHECK_NEAR(out[c], smooth[c], 1e-9);
	learner_bayes.free(model);
	learner_bayes.free(smoothed);
	free((double *)samples.x);
}

static void learning_in_parts_equals_learning_at_once(void)
{
	struct samples samples = three_classes(), first = samples, rest = samples;
	struct effort effort = { 0 };
	void *whole = fit_text(&learner_bayes, &samples, "", 1), *parts;
	double a[3], b[3];

	first.rows = 25;
	rest.x += 25 * WIDTH;
	rest.y += 25;
	rest.rows -= 25;
	parts = fit_text(&learner_bayes, &first, "", 1);
	CHECK_INT(learner_bayes.refresh(parts, &rest, &effort, NULL), 0);
	for (size_t i = 0; i < ROWS; i++) {
		learner_bayes.predict(whole, samples.x + i * WIDTH, a);
		learner_bayes.predict(parts, samples.x + i * WIDTH, b);
		for (int c = 0; c < 3; c++)
			CHECK_NEAR(a[c], b[c], 1e-12);
	}
	learner_bayes.free(whole);
	learner_bayes.free(parts);
	free((double *)samples.x);
}

/* More rows than one piece, far from zero: cancellation would be visible. */
static void long_tables_far_from_zero_lose_nothing(void)
{
	enum { MANY = 20000 };
	double *x = rows_make(MANY, 2, 3), *y = xcalloc(MANY, sizeof(*y));
	struct samples near = { .x = x, .y = y, .rows = MANY, .width = 2, .classes = 2 };
	double a[2], b[2], at[2] = { 0.3, 0.8 };
	void *plain, *moved;

	for (size_t i = 0; i < MANY; i++)
		y[i] = x[2 * i] * x[2 * i] > x[2 * i + 1];
	plain = fit_text(&learner_bayes, &near, "", 1);
	learner_bayes.predict(plain, at, a);
	for (size_t i = 0; i < 2 * MANY; i++)
		x[i] += 0x1p26;
	moved = fit_text(&learner_bayes, &near, "", 1);
	at[0] += 0x1p26;
	at[1] += 0x1p26;
	learner_bayes.predict(moved, at, b);
	CHECK_NEAR(a[1], b[1], 1e-6);
	CHECK(a[1] > 0.001);
	CHECK(a[1] < 0.999);
	learner_bayes.free(plain);
	learner_bayes.free(moved);
	free(x);
	free(y);
}

static void unseen_classes_and_constant_inputs_are_handled(void)
{
	static const double x[] = { 1, 1, 1, 1 }, y[] = { 0, 0, 2, 2 }, far[] = { 1e300 };
	struct samples samples = { .x = x, .y = y, .rows = 4, .width = 1, .classes = 3 };
	void *model = fit_text(&learner_bayes, &samples, "", 1);
	double out[3];

	learner_bayes.predict(model, x, out);
	CHECK_NEAR(out[0], 0.5, 1e-12);
	CHECK(out[1] == 0);
	learner_bayes.predict(model, far, out);
	CHECK_NEAR(out[0] + out[1] + out[2], 1, 1e-12);
	learner_bayes.free(model);
}

static void separating_input_is_the_important_one(void)
{
	double *x = rows_make(400, 3, 9), y[400], share[3];
	struct samples samples = { .x = x, .y = y, .rows = 400, .width = 3, .classes = 2 };
	void *model;

	for (size_t i = 0; i < 400; i++)
		y[i] = x[3 * i + 1] > 0.6;
	model = fit_text(&learner_bayes, &samples, "", 1);
	learner_bayes.importance(model, share);
	CHECK_NEAR(share[0] + share[1] + share[2], 1, 1e-12);
	CHECK(share[1] > 0.9);
	learner_bayes.free(model);
	free(x);
}

static void saved_models_predict_the_same(void)
{
	struct samples samples = three_classes();
	void *model = fit_text(&learner_bayes, &samples, "", 1);

	check_round_trip(&learner_bayes, model, &samples);
	check_damage(&learner_bayes, model, &samples);
	learner_bayes.free(model);
	free((double *)samples.x);
}

TESTS(TEST(probabilities_are_those_of_scikit_learn),
      TEST(learning_in_parts_equals_learning_at_once), TEST(long_tables_far_from_zero_lose_nothing),
      TEST(unseen_classes_and_constant_inputs_are_handled),
      TEST(separating_input_is_the_important_one), TEST(saved_models_predict_the_same))
