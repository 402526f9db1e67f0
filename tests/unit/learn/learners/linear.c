/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn_kernel.h"

extern const struct learner_ops learner_linear;

enum { ROWS = 40, WIDTH = 4 };

/*
 * X = rows(40, 4, 1); y = 3 + 2*X[:,0] - X[:,1] - 10 + .4*X[:,2] + rows(40, 1, 7)[:,0], and with
 * bad units X[:,1] = X[:,1]*1e6 + 1e7; X[:,2] *= 1e-5.
 */
static struct samples rows_of(bool bad_units)
{
	static double y[ROWS];
	double *x = rows_make(ROWS, WIDTH, 1), *noise = rows_make(ROWS, 1, 7);

	for (size_t i = 0; i < ROWS; i++) {
		double *row = x + i * WIDTH;

		y[i] = 3 + 2 * row[0] - (row[1] + 10) + 0.4 * row[2] + noise[i];
		if (bad_units) {
			row[1] = row[1] * 1e6 + 1e7;
			row[2] *= 1e-5;
		} else {
			row[1] += 10;
		}
	}
	free(noise);
	return (struct samples){ .x = x, .y = y, .rows = ROWS, .width = WIDTH };
}

/* Derives intercept and slopes from predictions, as a user would. */
static void coefficients(const void *model, size_t width, const double *unit, double *out)
{
	double row[8] = { 0 };

	learner_linear.predict(model, row, out);
	for (size_t j = 0; j < width; j++) {
		row[j] = unit[j];
		learner_linear.predict(model, row, out + j + 1);
		out[j + 1] -= out[0];
		row[j] = 0;
	}
}

static void check_coefficients(const void *model, size_t width, const double *unit,
			       const double *golden)
{
	double found[9];

	coefficients(model, width, unit, found);
	for (size_t j = 0; j <= width; j++)
		CHECK_NEAR(found[j], golden[j] * (j ? unit[j - 1] : 1), 1e-8);
}

static void coefficients_are_exact_in_any_units(void)
{
	/*
	 * The normal equations in exact fractions. numpy.linalg.lstsq and LinearRegression give the
	 * same to 1e-8 (their intercepts are 2.39886669603 and 2.39886668578).
	 */
	static const double golden[] = { 2.398866685963059, 1.9441525362305225,
					 -9.077304938139697e-07, 67386.08064775466,
					 0.07766180942520397 };
	static const double unit[] = { 1, 1e6, 1e-5, 1 };
	struct samples samples = rows_of(true);
	void *model = fit_text(&learner_linear, &samples, "", 1);

	check_coefficients(model, WIDTH, unit, golden);
	learner_linear.free(model);
	free((double *)samples.x);
}

static void ridge_is_that_of_scikit_learn(void)
{
	/* Ridge(alpha=.5 and 100, solver='svd').fit(X, y), good units */
	static const double half[] = { 2.1638082284591533, 1.631385367925509, -0.87052755953408889,
				       0.64049937242033483, 0.12261310918532595 };
	static const double strong[] = { -5.3493348370228828, 0.061317235783421353,
					 -0.044726017728542192, 0.030167054762072411,
					 0.014092550663027746 };
	static const double unit[] = { 1, 1, 1, 1 };
	struct samples samples = rows_of(false);
	void *model = fit_text(&learner_linear, &samples, "ridge=0.5", 1);

	check_coefficients(model, WIDTH, unit, half);
	learner_linear.free(model);
	model = fit_text(&learner_linear, &samples, "ridge=100", 1);
	check_coefficients(model, WIDTH, unit, strong);
	learner_linear.free(model);
	free((double *)samples.x);
}

static void standardise(double *x, size_t rows, size_t width, size_t column)
{
	double mean = 0, square = 0;

	for (size_t i = 0; i < rows; i++)
		mean += x[i * width + column] / (double)rows;
	for (size_t i = 0; i < rows; i++)
		square += pow(x[i * width + column] - mean, 2) / (double)rows;
	for (size_t i = 0; i < rows; i++)
		x[i * width + column] = (x[i * width + column] - mean) / sqrt(square);
}

static void dependent_inputs_share_and_constants_get_nothing(void)
{
	/*
	 * s = lambda A: (A - A.mean(0)) / A.std(0); W = s(rows(40, 3, 1))
	 * W = c_[W, W[:,0], full(40, .1), s((W[:,1] + W[:,2])[:,None])]
	 * LinearRegression().fit(W, y): the shortest solution
	 */
	static const double golden[] = { -5.7660261567961424,  -0.12870754080232402,
					 0.15183812735859381,  -0.13788577567561164,
					 -0.12870754080232408, 0,
					 0.0087086813236919199 };
	static const double unit[] = { 1, 1, 1, 1, 1, 1 };
	struct samples other = rows_of(false), samples = { .rows = ROWS, .width = 6 };
	double *three = rows_make(ROWS, 3, 1), w[ROWS * 6];
	void *model;

	for (size_t j = 0; j < 3; j++)
		standardise(three, ROWS, 3, j);
	for (size_t i = 0; i < ROWS; i++) {
		memcpy(w + i * 6, three + i * 3, 3 * sizeof(double));
		w[i * 6 + 3] = w[i * 6];
		w[i * 6 + 4] = 0.1;
		w[i * 6 + 5] = w[i * 6 + 1] + w[i * 6 + 2];
	}
	standardise(w, ROWS, 6, 5);
	samples.x = w;
	samples.y = other.y;
	model = fit_text(&learner_linear, &samples, "", 1);
	check_coefficients(model, 6, unit, golden);
	learner_linear.free(model);
	free(three);
	free((double *)other.x);
}

static void fewer_rows_than_inputs_are_fitted_exactly(void)
{
	double *x = rows_make(3, 6, 2), y[] = { 1, -2, 4 }, out;
	struct samples samples = { .x = x, .y = y, .rows = 3, .width = 6 };
	void *model = fit_text(&learner_linear, &samples, "", 1);

	for (size_t i = 0; i < 3; i++) {
		learner_linear.predict(model, x + i * 6, &out);
		CHECK_NEAR(out, y[i], 1e-10);
	}
	learner_linear.free(model);
	samples.rows = 1;
	model = fit_text(&learner_linear, &samples, "", 1);
	learner_linear.predict(model, x + 6, &out);
	CHECK_NEAR(out, 1, 1e-12);
	learner_linear.free(model);
	free(x);
}

/*
 * The levels of a text sum to 1 in each row. What remains of the last one shrinks with every block
 * of rows, until it is not even a normal number.
 */
static void many_dependent_inputs_have_a_spread(void)
{
	enum { MANY = 4000, LEVELS = 200 };
	AUTO_FREE double *x = xcalloc(MANY * LEVELS, sizeof(*x));
	AUTO_FREE double *y = xmalloc(MANY * sizeof(*y));
	struct samples samples = { .x = x, .y = y, .rows = MANY, .width = LEVELS };
	double settings[LEARNER_SETTINGS_MAX], guess, spread;
	struct effort effort = { .seed = 1, .threads = 1 };
	void *model;

	for (size_t i = 0; i < MANY; i++) {
		x[i * LEVELS + i * 7919 % LEVELS] = 1;
		y[i] = (double)(i * 7919 % LEVELS % 5 + i / LEVELS % 2);
	}
	learner_defaults(&learner_linear, settings);
	REQUIRE(learner_linear.fit(&model, &samples, settings, &effort, NULL) == 0);
	for (size_t i = 0; i < LEVELS; i++) {
		learner_linear.predict(model, x + i * LEVELS, &guess);
		spread = learner_linear.spread(model, x + i * LEVELS);
		CHECK(fabs(guess - y[i] - 0.5) < 1e-6);
		CHECK(spread > 0.4 && spread < 0.7);
	}
	learner_linear.free(model);
}

static void spread_includes_leverage(void)
{
	/* sqrt(s2 * (1 + x0 @ inv(A.T @ A) @ x0)), A = c_[ones(40), X], x0 = A[5], s2 = RSS / 35 */
	struct samples samples = rows_of(false);
	void *model = fit_text(&learner_linear, &samples, "", 1);
	const double far[] = { 100, 0, 0, 0 };

	CHECK_NEAR(learner_linear.spread(model, samples.x + 5 * WIDTH), 0.3235667113482748, 1e-9);
	CHECK(learner_linear.spread(model, far) > 10);
	learner_linear.free(model);
	free((double *)samples.x);
}

static void learning_in_parts_equals_learning_at_once(void)
{
	struct samples samples = rows_of(true), first = samples, rest = samples;
	struct effort effort = { 0 };
	void *whole = fit_text(&learner_linear, &samples, "ridge=0.1", 1), *parts;
	double a, b;

	first.rows = 7;
	rest.x += 7 * WIDTH;
	rest.y += 7;
	rest.rows -= 7;
	parts = fit_text(&learner_linear, &first, "ridge=0.1", 1);
	CHECK_INT(learner_linear.refresh(parts, &rest, &effort, NULL), 0);
	for (size_t i = 0; i < ROWS; i++) {
		const double *row = samples.x + i * WIDTH;

		learner_linear.predict(whole, row, &a);
		learner_linear.predict(parts, row, &b);
		CHECK_NEAR(a, b, 1e-9);
		CHECK_NEAR(learner_linear.spread(whole, row), learner_linear.spread(parts, row),
			   1e-9);
	}
	learner_linear.free(whole);
	learner_linear.free(parts);
	free((double *)samples.x);
}

/* More rows than one block holds. */
static void long_tables_recover_their_plane(void)
{
	enum { MANY = 30000 };
	double *x = rows_make(MANY, 3, 11), *y = xmalloc(MANY * sizeof(*y)), share[3];
	struct samples samples = { .x = x, .y = y, .rows = MANY, .width = 3 };
	static const double golden[] = { 7, 1, -2, 0 }, unit[] = { 1, 1, 1 };
	void *model;

	for (size_t i = 0; i < MANY; i++)
		y[i] = 7 + x[3 * i] - 2 * x[3 * i + 1];
	model = fit_text(&learner_linear, &samples, "", 1);
	check_coefficients(model, 3, unit, golden);
	learner_linear.importance(model, share);
	CHECK_NEAR(share[0], 1 / 3., 0.01);
	CHECK_NEAR(share[1], 2 / 3., 0.01);
	CHECK_NEAR(share[2], 0, 1e-9);
	learner_linear.free(model);
	free(x);
	free(y);
}

static void saved_models_predict_the_same(void)
{
	struct samples samples = rows_of(false);
	void *model = fit_text(&learner_linear, &samples, "ridge=0.5", 1);

	check_round_trip(&learner_linear, model, &samples);
	check_damage(&learner_linear, model, &samples);
	learner_linear.free(model);
	free((double *)samples.x);
}

TESTS(TEST(coefficients_are_exact_in_any_units), TEST(ridge_is_that_of_scikit_learn),
      TEST(dependent_inputs_share_and_constants_get_nothing),
      TEST(fewer_rows_than_inputs_are_fitted_exactly), TEST(many_dependent_inputs_have_a_spread),
      TEST(spread_includes_leverage), TEST(learning_in_parts_equals_learning_at_once),
      TEST(long_tables_recover_their_plane), TEST(saved_models_predict_the_same))
