/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-40.
 */
#include "learn_kernel.h"

extern const struct learner_ops learner_neighbors;

static void predictions_are_those_of_scikit_learn(void)
{
	/*
	 * X = rows(300, 3, 1); y = X[:,0]*4 + sin(X[:,1]*7); c = (X[:,0]*3).astype(int)
	 * q = rows(3, 3, 99): KNeighborsRegressor().fit(X, y).predict(q),
	 * KNeighborsRegressor(7, weights='distance'), and
	 * KNeighborsClassifier(9, weights='distance').fit(X, c).predict_proba(q)
	 */
	static const double five[] = { 4.4415296722848785, 3.7584903858098135, 2.5028350954149703 };
	static const double seven[] = { 4.4406913660469725, 3.7096949113262108,
					2.5359891814594531 };
	static const double chances[] = { 0, 0, 1, 0, 0.15891315300926606, 0.84108684699073399,
					  0, 1, 0 };
	double *x = rows_make(300, 3, 1), *q = rows_make(3, 3, 99), y[300], c[300], out[3];
	struct samples numbers = { .x = x, .y = y, .rows = 300, .width = 3 };
	struct samples classes = { .x = x, .y = c, .rows = 300, .width = 3, .classes = 3 };
	void *a, *b, *d;

	for (size_t i = 0; i < 300; i++) {
		y[i] = x[3 * i] * 4 + sin(x[3 * i + 1] * 7);
		c[i] = floor(x[3 * i] * 3);
	}
	a = fit_text(&learner_neighbors, &numbers, "", 1);
	b = fit_text(&learner_neighbors, &numbers, "k=7,weights=distance", 1);
	d = fit_text(&learner_neighbors, &classes, "k=9,weights=distance", 1);
	for (size_t i = 0; i < 3; i++) {
		learner_neighbors.predict(a, q + 3 * i, out);
		CHECK_NEAR(out[0], five[i], 1e-12);
		learner_neighbors.predict(b, q + 3 * i, out);
		CHECK_NEAR(out[0], seven[i], 1e-12);
		learner_neighbors.predict(d, q + 3 * i, out);
		for (size_t k = 0; k < 3; k++)
			CHECK_NEAR(out[k], chances[3 * i + k], 1e-12);
	}
	learner_neighbors.free(a);
	learner_neighbors.free(b);
	learner_neighbors.free(d);
	free(x);
	free(q);
}

struct near {
	double distance;
	size_t row;
};

static int near_compare(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

/*
 * The mean of the k nearest rows by exhaustive search; of equally near rows the first one counts.
 */
static double plain_mean(const struct samples *samples, const double *at, size_t k)
{
	AUTO_FREE struct near *all = xcalloc(samples->rows, sizeof(*all));
	double sum = 0;

	for (size_t i = 0; i < samples->rows; i++) {
		all[i].row = i;
		for (size_t j = 0; j < samples->width; j++) {
			double off = samples->x[i * samples->width + j] - at[j];

			all[i].distance += off * off;
		}
	}
	qsort(all, samples->rows, sizeof(*all), near_compare);
	k = k < samples->rows ? k : samples->rows;
	for (size_t i = 0; i < k; i++)
		sum += samples->y[all[i].row] / (double)k;
	return sum;
}

/*
 * Values on a grid of `steps` make many rows equally near. The squares of such numbers are exact,
 * so that ties are real ties. y identifies each row.
 */
static void check_against_plain(size_t rows, size_t width, double steps, const char *text, size_t k)
{
	double *x = rows_make(rows, width, (uint32_t)(rows + width)), *q = rows_make(20, width, 3);
	double *y = rows_make(rows, 1, 17), out;
	struct samples samples = { .x = x, .y = y, .rows = rows, .width = width };
	void *model;

	for (size_t i = 0; i < rows * width; i++)
		x[i] = floor(x[i] * steps) / 64;
	for (size_t i = 0; i < 20 * width; i++)
		q[i] = floor(q[i] * steps) / 64;
	model = fit_text(&learner_neighbors, &samples, text, 1);
	for (size_t i = 0; i < 20; i++) {
		learner_neighbors.predict(model, q + i * width, &out);
		CHECK_NEAR(out, plain_mean(&samples, q + i * width, k), 1e-12);
	}
	learner_neighbors.free(model);
	free(x);
	free(y);
	free(q);
}

static void nearest_are_found_in_trees_and_lists_of_all_sizes(void)
{
	static const size_t rows[] = { 1, 2, 15, 16, 17, 63, 191, 192, 193, 1000, 3000 };
	static const size_t widths[] = { 1, 2, 3, 7, 16, 20, 21, 30 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t j = 0; j < sizeof(widths) / sizeof(*widths); j++) {
			check_against_plain(rows[i], widths[j], 4096, "", 5);
			check_against_plain(rows[i], widths[j], 3, "k=1", 1);
			check_against_plain(rows[i], widths[j], 2, "k=25", 25);
		}
	}
	check_against_plain(3000, 3, 1, "k=5", 5); /* all rows are equal */
	check_against_plain(300, 2, 50, "k=256", 256);
}

/* Nearly all rows are equal and some differ: splitting must terminate. */
static void many_equal_rows_are_handled(void)
{
	enum { MANY = 5000 };
	double *x = rows_make(MANY, 2, 5), *y = rows_make(MANY, 1, 6), out, at[2] = { 0.5, 0.25 };
	struct samples samples = { .x = x, .y = y, .rows = MANY, .width = 2 };
	void *model;

	for (size_t i = 0; i < MANY; i++) {
		x[2 * i] = i % 97 ? 0.5 : floor(x[2 * i] * 64) / 64;
		x[2 * i + 1] = i % 89 ? 0.25 : floor(x[2 * i + 1] * 64) / 64;
	}
	model = fit_text(&learner_neighbors, &samples, "k=7", 1);
	for (size_t i = 0; i < MANY; i += 97) {
		learner_neighbors.predict(model, x + 2 * i, &out);
		CHECK_NEAR(out, plain_mean(&samples, x + 2 * i, 7), 1e-12);
	}
	learner_neighbors.predict(model, at, &out);
	CHECK_NEAR(out, plain_mean(&samples, at, 7), 1e-12);
	learner_neighbors.free(model);
	free(x);
	free(y);
}

/* Adds rows one by one, then many at once, so that the tree is rebuilt in between. */
static void learning_in_parts_equals_learning_at_once(void)
{
	static const size_t widths[] = { 3, 25 };

	for (size_t w = 0; w < 2; w++) {
		size_t width = widths[w];
		double *x = rows_make(900, width, 21), *y = rows_make(900, 1, 22);
		struct samples samples = { .x = x, .y = y, .rows = 900, .width = width };
		struct samples part = samples;
		struct effort effort = { 0 };
		void *whole = fit_text(&learner_neighbors, &samples, "", 1), *parts;

		part.rows = 3;
		parts = fit_text(&learner_neighbors, &part, "", 1);
		for (size_t at = 3; at < 900; at += part.rows) {
			part.x = x + at * width;
			part.y = y + at;
			part.rows = at < 200 || at >= 800 ? 1 : 50;
			CHECK_INT(learner_neighbors.refresh(parts, &part, &effort, NULL), 0);
		}
		same_predictions(&learner_neighbors, whole, parts, &samples);
		check_round_trip(&learner_neighbors, parts, &samples);
		learner_neighbors.free(whole);
		learner_neighbors.free(parts);
		free(x);
		free(y);
	}
}

static void spread_is_the_deviation_among_neighbors(void)
{
	static const double x[] = { 0, 0, 0, 9, 9, 9 }, y[] = { 1, 2, 3, 7, 7, 7 };
	struct samples samples = { .x = x, .y = y, .rows = 6, .width = 1 };
	void *model = fit_text(&learner_neighbors, &samples, "k=3", 1);

	CHECK_NEAR(learner_neighbors.spread(model, x), 1, 1e-12);
	CHECK(learner_neighbors.spread(model, x + 3) > 0);
	CHECK(learner_neighbors.spread(model, x + 3) < 0.01);
	learner_neighbors.free(model);
}

static void rows_that_are_not_finite_do_no_harm(void)
{
	double *x = rows_make(500, 3, 2), *y = rows_make(500, 1, 4), out;
	const double odd[][3] = { { NAN, 0, 0 }, { INFINITY, 0, -INFINITY }, { 1e300, 1, 1 } };
	struct samples samples = { .x = x, .y = y, .rows = 500, .width = 3 };
	void *model = fit_text(&learner_neighbors, &samples, "weights=distance", 1);

	for (size_t i = 0; i < 3; i++) {
		learner_neighbors.predict(model, odd[i], &out);
		CHECK(out >= 0);
		CHECK(out <= 1);
	}
	learner_neighbors.free(model);
	free(x);
	free(y);
}

static void saved_models_predict_the_same(void)
{
	double *x = rows_make(150, 2, 8), y[150];
	struct samples samples = { .x = x, .y = y, .rows = 150, .width = 2, .classes = 3 };
	void *model;

	for (size_t i = 0; i < 150; i++)
		y[i] = floor(x[2 * i] * 3);
	model = fit_text(&learner_neighbors, &samples, "", 1);
	check_round_trip(&learner_neighbors, model, &samples);
	check_damage(&learner_neighbors, model, &samples);
	learner_neighbors.free(model);
	samples.classes = 0;
	model = fit_text(&learner_neighbors, &samples, "weights=distance", 1);
	check_round_trip(&learner_neighbors, model, &samples);
	check_damage(&learner_neighbors, model, &samples);
	learner_neighbors.free(model);
	free(x);
}

TESTS(TEST(predictions_are_those_of_scikit_learn),
      TEST(nearest_are_found_in_trees_and_lists_of_all_sizes), TEST(many_equal_rows_are_handled),
      TEST(learning_in_parts_equals_learning_at_once),
      TEST(spread_is_the_deviation_among_neighbors), TEST(rows_that_are_not_finite_do_no_harm),
      TEST(saved_models_predict_the_same))
