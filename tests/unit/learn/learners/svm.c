/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-40.
 */
#include "learn_kernel.h"

extern const struct learner_ops learner_svm;

enum { ROWS = 80, WIDTH = 3 };

/*
 * X = rows(80, 3, 1); y = (X[:,0]-.5)**2 + (X[:,1]-.5)**2 < .09; c = (X[:,0]*3).astype(int)
 * t = X[:,0]*4 + sin(X[:,1]*7); q = rows(3, 3, 99)
 */
static struct samples rows_of(size_t classes)
{
	double *x = rows_make(ROWS, WIDTH, 1), *y = xmalloc(ROWS * sizeof(*y));

	for (size_t i = 0; i < ROWS; i++) {
		const double *row = x + i * WIDTH;

		if (classes == 2)
			y[i] = pow(row[0] - 0.5, 2) + pow(row[1] - 0.5, 2) < 0.09;
		else if (classes == 3)
			y[i] = floor(row[0] * 3);
		else
			y[i] = row[0] * 4 + sin(row[1] * 7);
	}
	return (struct samples){ .x = x, .y = y, .rows = ROWS, .width = WIDTH, .classes = classes };
}

static void rows_free(struct samples *samples)
{
	free((double *)samples->x);
	free((double *)samples->y);
}

static void decisions_are_those_of_scikit_learn(void)
{
	/* SVC(tol=1e-10).fit(X, y).decision_function(q) */
	static const double golden[] = { -1.24530223263, -0.354134590362, 1.31525388084 };
	struct samples samples = rows_of(2);
	void *model = fit_text(&learner_svm, &samples, "folds=0,tolerance=1e-10", 1);
	double *q = rows_make(3, WIDTH, 99), out[2];

	for (size_t i = 0; i < 3; i++) {
		learner_svm.predict(model, q + i * WIDTH, out);
		/* Without held-out rows the probability is 1 / (1 + exp(-2 decision)). */
		CHECK_NEAR(log(out[1] / out[0]) / 2, golden[i], 1e-6);
	}
	learner_svm.free(model);
	rows_free(&samples);
	free(q);
}

static void numbers_are_those_of_scikit_learn(void)
{
	/* SVR(tol=1e-10) and SVR(C=10, gamma=.7, epsilon=.05, tol=1e-10), fit(X, t).predict(q) */
	static const double plain[] = { 3.99489831008, 3.61717019257, 2.5110130451 };
	static const double tuned[] = { 4.28794558612, 3.36108846948, 2.4135480975 };
	struct samples samples = rows_of(0);
	void *a = fit_text(&learner_svm, &samples, "tolerance=1e-10", 1);
	void *b =
		fit_text(&learner_svm, &samples, "cost=10,gamma=.7,epsilon=.05,tolerance=1e-10", 1);
	double *q = rows_make(3, WIDTH, 99), out;

	for (size_t i = 0; i < 3; i++) {
		learner_svm.predict(a, q + i * WIDTH, &out);
		CHECK_NEAR(out, plain[i], 1e-6);
		learner_svm.predict(b, q + i * WIDTH, &out);
		CHECK_NEAR(out, tuned[i], 1e-6);
	}
	learner_svm.free(a);
	learner_svm.free(b);
	rows_free(&samples);
	free(q);
}

/*
 * Three classes: the pairwise decisions of SVC(C=10, gamma=2, tol=1e-10,
 * decision_function_shape='ovo').fit(X, c) at q, positive for the first of a pair; the probability
 * of a pair is the sigmoid of twice that. The coupled probabilities p must satisfy the optimality
 * condition of Wu, Lin and Weng: (Q p)_a is the same for all a.
 */
static void probabilities_of_three_classes_are_coupled_over_pairs(void)
{
	static const double golden[3][3] = {
		{ -3.76505084585, -1.55743893789, -3.11105204137 },
		{ -4.30506118719, -1.20611117166, -1.10018632004 },
		{ -2.49068383499, -0.306429591225, 0.869327788517 },
	};
	static const size_t first[] = { 0, 0, 1 }, second[] = { 1, 2, 2 };
	struct samples samples = rows_of(3);
	void *model =
		fit_text(&learner_svm, &samples, "cost=10,gamma=2,tolerance=1e-10,folds=0", 1);
	double *q = rows_make(3, WIDTH, 99), p[3], r[3][3], qp[3];

	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 3; k++) {
			r[first[k]][second[k]] = 1 / (1 + exp(-2 * golden[i][k]));
			r[second[k]][first[k]] = 1 - r[first[k]][second[k]];
		}
		learner_svm.predict(model, q + i * WIDTH, p);
		CHECK_NEAR(p[0] + p[1] + p[2], 1, 1e-9);
		for (size_t a = 0; a < 3; a++) {
			qp[a] = 0;
			for (size_t b = 0; b < 3; b++) {
				if (b != a)
					qp[a] +=
						r[b][a] * r[b][a] * p[a] - r[b][a] * r[a][b] * p[b];
			}
		}
		CHECK_NEAR(qp[0], qp[1], 2e-6);
		CHECK_NEAR(qp[0], qp[2], 2e-6);
	}
	learner_svm.free(model);
	rows_free(&samples);
	free(q);
}

/* With noisy labels the probability must reflect the noise instead of being 0 or 1. */
static void probabilities_fit_held_out_rows(void)
{
	enum { MANY = 400 };
	double *x = rows_make(MANY, 2, 4), *noise = rows_make(MANY, 1, 5), y[MANY], out[2], sum = 0;
	struct samples samples = { .x = x, .y = y, .rows = MANY, .width = 2, .classes = 2 };
	void *model;

	for (size_t i = 0; i < MANY; i++)
		y[i] = (x[2 * i] > 0.5) != (noise[i] < 0.2);
	model = fit_text(&learner_svm, &samples, "", 1);
	for (size_t i = 0; i < MANY; i++) {
		learner_svm.predict(model, x + 2 * i, out);
		if (x[2 * i] > 0.5)
			sum += out[1];
		else
			sum += out[0];
	}
	CHECK(sum / MANY > 0.7);
	CHECK(sum / MANY < 0.9);
	learner_svm.free(model);
	free(x);
	free(noise);
}

static void threads_and_cache_do_not_change_the_machine(void)
{
	struct samples two = rows_of(2), three = rows_of(3);
	void *a = fit_text(&learner_svm, &two, "", 1), *b = fit_text(&learner_svm, &two, "", 3);
	void *c = fit_text(&learner_svm, &three, "", 1);
	void *d = fit_text(&learner_svm, &three, "cache=1", 4);

	same_predictions(&learner_svm, a, b, &two);
	same_predictions(&learner_svm, c, d, &three);
	learner_svm.free(a);
	learner_svm.free(b);
	learner_svm.free(c);
	learner_svm.free(d);
	rows_free(&two);
	rows_free(&three);
}

static void rare_and_unseen_classes_are_handled(void)
{
	static const double x[] = { 1, 2, 3, 8, 9, 10, 20, 11, 2.5, 9.5 };
	static const double y[] = { 0, 0, 0, 3, 3, 3, 2, 3, 0, 3 }, same[10] = { 0 };
	struct samples samples = { .x = x, .y = y, .rows = 10, .width = 1, .classes = 4 };
	void *model = fit_text(&learner_svm, &samples, "cost=10", 1);
	double out[4];

	for (size_t i = 0; i < 10; i++) {
		learner_svm.predict(model, x + i, out);
		CHECK(out[1] == 0);
		CHECK_NEAR(out[0] + out[2] + out[3], 1, 1e-9);
		if (y[i] != 2)
			CHECK_INT(learner_best(out, 4), y[i]);
	}
	check_round_trip(&learner_svm, model, &samples);
	learner_svm.free(model);
	samples.y = same;
	model = fit_text(&learner_svm, &samples, "", 2);
	learner_svm.predict(model, x, out);
	CHECK(out[0] == 1);
	CHECK(out[3] == 0);
	check_round_trip(&learner_svm, model, &samples);
	learner_svm.free(model);
}

/* Rows that are all equal, and rows that are far away. */
static void odd_rows_still_give_probabilities(void)
{
	static const double x[] = { 4, 4, 4, 4, 4, 4 }, y[] = { 0, 1, 0, 1, 0, 0 };
	static const double odd[] = { 1e200, NAN, INFINITY };
	struct samples samples = { .x = x, .y = y, .rows = 6, .width = 1, .classes = 2 };
	void *model = fit_text(&learner_svm, &samples, "", 1);
	double out[2];

	for (size_t i = 0; i < 3; i++) {
		learner_svm.predict(model, odd + i, out);
		CHECK_NEAR(out[0] + out[1], 1, 1e-12);
	}
	learner_svm.free(model);
}

/* Then there are no support vectors at all. */
static void constant_numbers_are_predicted(void)
{
	static const double x[] = { 1, 2, 3, 4 }, y[] = { 7, 7, 7, 7 };
	struct samples samples = { .x = x, .y = y, .rows = 4, .width = 1 };
	void *model = fit_text(&learner_svm, &samples, "", 1);
	double out;

	learner_svm.predict(model, x + 2, &out);
	CHECK_NEAR(out, 7, 0.11);
	check_round_trip(&learner_svm, model, &samples);
	check_damage(&learner_svm, model, &samples);
	learner_svm.free(model);
}

static void saved_models_predict_the_same(void)
{
	static const size_t classes[] = { 0, 2, 3 };

	for (size_t i = 0; i < 3; i++) {
		struct samples samples = rows_of(classes[i]);
		void *model = fit_text(&learner_svm, &samples, "", 1);

		check_round_trip(&learner_svm, model, &samples);
		check_damage(&learner_svm, model, &samples);
		learner_svm.free(model);
		rows_free(&samples);
	}
}

TESTS(TEST(decisions_are_those_of_scikit_learn), TEST(numbers_are_those_of_scikit_learn),
      TEST(probabilities_of_three_classes_are_coupled_over_pairs),
      TEST(probabilities_fit_held_out_rows), TEST(threads_and_cache_do_not_change_the_machine),
      TEST(rare_and_unseen_classes_are_handled), TEST(odd_rows_still_give_probabilities),
      TEST(constant_numbers_are_predicted), TEST(saved_models_predict_the_same))
