/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-40.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/learners/rules/bins.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_rules;

static struct err err;
static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };

#define NEAR(actual, expected, off) CHECK(fabs((actual) - (expected)) <= (off))

struct table {
	struct samples samples;
	double *x, *y;
};

/* Uniform draws from [0, 1); the caller fills in y. */
static struct table table_new(size_t rows, size_t width, uint64_t seed)
{
	struct table table = { .x = xmalloc(rows * width * sizeof(double)),
			       .y = xcalloc(rows, sizeof(double)) };
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < rows * width; i++)
		table.x[i] = random_real(&random);
	table.samples =
		(struct samples){ .x = table.x, .y = table.y, .rows = rows, .width = width };
	return table;
}

static void table_free(struct table *table)
{
	free(table->x);
	free(table->y);
}

static void *fit(const struct samples *samples, const char *text)
{
	double values[LEARNER_SETTINGS_MAX];
	void *model = NULL;

	learner_defaults(&learner_rules, values);
	REQUIRE(learner_parse(&learner_rules, text, values, &err) == 0);
	REQUIRE(learner_rules.fit(&model, samples, values, &(struct effort){ 1, 1 }, &err) == 0);
	return model;
}

static double predict(const void *model, const double *row)
{
	double out = NAN;

	learner_rules.predict(model, row, &out);
	return out;
}

/* Root mean square error. */
static double error_of(const void *model, const struct samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->rows; i++) {
		double off = predict(model, samples->x + i * samples->width) - samples->y[i];

		sum += off * off;
	}
	return sqrt(sum / (double)samples->rows);
}

/* Friedman's first function of five inputs; its deviation is 5 without noise. */
static void friedman(struct table *table, double noise, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < table->samples.rows; i++) {
		const double *x = table->x + i * table->samples.width;

		table->y[i] = 10 * sin(M_PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) +
			      10 * x[3] + 5 * x[4] + noise * random_normal(&random);
	}
}

static void plane_is_one_rule_and_exact(void)
{
	struct table table = table_new(200, 4, 1);
	AUTO_BUF struct buf text = { 0 };
	void *model;

	for (size_t i = 0; i < 200; i++)
		table.y[i] = 3 + 2 * table.x[4 * i] - 5 * table.x[4 * i + 2];
	model = fit(&table.samples, "");
	CHECK(error_of(model, &table.samples) < 1e-10);
	learner_rules.describe(model, names, &text);
	CHECK(strstr(buf_text(&text), "1 rule\n"));
	CHECK(strstr(buf_text(&text), " 3 + 2 a - 5 c\n"));
	learner_rules.free(model);
	table_free(&table);
}

static void pieces_become_rules_with_their_models(void)
{
	static const char expected[] = "rule set 1 of 1: 2 rules\n"
				       "  rule 1: 150 rows, mean 2.5, expected error 0\n"
				       "     if a <= 1.5\n"
				       "    then 1 + 2 b\n"
				       "  rule 2: 150 rows, mean -1.25, expected error 0\n"
				       "     if a > 1.5\n"
				       "    then -2 + 1 b\n";
	struct table table = table_new(300, 2, 1);
	AUTO_BUF struct buf text = { 0 };
	void *model;

	/* Numbers that are exact in binary, so that the text is the same on every machine. */
	for (size_t i = 0; i < 300; i++) {
		table.x[2 * i] = (double)(i % 2 + 1);
		table.x[2 * i + 1] = (double)(i / 2 % 2) + 0.25;
		table.y[i] = i % 2 ? table.x[2 * i + 1] - 2 : 1 + 2 * table.x[2 * i + 1];
	}
	model = fit(&table.samples, "smooth=0");
	learner_rules.describe(model, names, &text);
	CHECK_TEXT(buf_text(&text), expected);
	NEAR(predict(model, (double[]){ 1, 1 }), 3, 1e-9);
	NEAR(predict(model, (double[]){ 2, 1 }), -1, 1e-9);
	learner_rules.free(model);
	table_free(&table);
}

static void smoothing_pulls_towards_parent_models(void)
{
	struct table table = table_new(40, 1, 1);
	double sharp, smooth;
	void *model;

	for (size_t i = 0; i < 40; i++) {
		table.x[i] = i < 20 ? 0 : 1;
		table.y[i] = (i < 20 ? 0 : 10) + (i % 2 ? 0.5 : -0.5);
	}
	/* Two values are on a line: there is no split and nothing to smooth. */
	model = fit(&table.samples, "");
	NEAR(predict(model, (double[]){ 0 }), 0, 1e-9);
	learner_rules.free(model);
	for (size_t i = 0; i < 40; i++) {
		table.x[i] = (double)i;
		table.y[i] = (i < 10 || i >= 30 ? 0 : 10) + (i / 2 % 2 ? 2 : -2);
	}
	model = fit(&table.samples, "leaf=5,smooth=0");
	sharp = predict(model, (double[]){ 35 });
	learner_rules.free(model);
	model = fit(&table.samples, "leaf=5,smooth=20");
	smooth = predict(model, (double[]){ 35 });
	CHECK(fabs(sharp) < 1);
	CHECK(smooth > sharp + 0.5);
	CHECK(smooth < 4);
	learner_rules.free(model);
	table_free(&table);
}

/*
 * Trained on 2,000 such rows, scikit-learn 1.2.1 has an error of 1.40 by
 * GradientBoostingRegressor(), 1.85 by RandomForestRegressor(100) and 2.75 by LinearRegression();
 * noise alone is 1.
 */
static void committees_approach_the_noise_level(void)
{
	struct table train = table_new(2000, 10, 1), test = table_new(1000, 10, 2);
	double one, many;
	void *model;

	friedman(&train, 1, 3);
	friedman(&test, 1, 4);
	model = fit(&train.samples, "");
	one = error_of(model, &test.samples);
	learner_rules.free(model);
	model = fit(&train.samples, "committees=20");
	many = error_of(model, &test.samples);
	learner_rules.free(model);
	CHECK(one < 1.6);
	CHECK(many < one);
	CHECK(many < 1.3);
	table_free(&train);
	table_free(&test);
}

static void neighbors_correct_the_rules(void)
{
	struct table table = table_new(600, 2, 7);
	double without, with, row[2] = { 0.5, 0.5 };
	void *model;

	/* A bump in the middle that few rules with many rows cannot represent. */
	for (size_t i = 0; i < 600; i++) {
		double a = table.x[2 * i] - 0.5, b = table.x[2 * i + 1] - 0.5;

		table.y[i] = table.x[2 * i] + exp(-100 * (a * a + b * b));
	}
	model = fit(&table.samples, "leaf=200");
	without = predict(model, row);
	learner_rules.free(model);
	model = fit(&table.samples, "leaf=200,neighbors=5");
	with = predict(model, row);
	learner_rules.free(model);
	CHECK(fabs(without - 1.5) > 0.5);
	CHECK(fabs(with - 1.5) < 0.2);
	table_free(&table);
}

/* The correction is the mean of the errors, weighted by 1 / (distance + 1/2). */
static void correction_weighs_by_distance(void)
{
	/* No line can follow a peak, and there is only one rule: it predicts 10 / 3 everywhere. */
	double x[] = { -1, -1, -1, 0, 0, 0, 1, 1, 1 }, y[] = { 0, 0, 0, 10, 10, 10, 0, 0, 0 };
	struct samples samples = { .x = x, .y = y, .rows = 9, .width = 1 };
	double near = 1 / 0.5, far = 1 / (1 / sqrt(2.0 / 3) + 0.5), miss;
	void *model = fit(&samples, "leaf=9,neighbors=4");

	/*
	 * Three rows at the same place, one at distance 1; the deviation is the square root of 2 /
	 * 3.
	 */
	miss = (3 * near * 20 / 3 - far * 10 / 3) / (3 * near + far);
	NEAR(predict(model, (double[]){ 0 }), 10.0 / 3 + miss, 1e-6);
	learner_rules.free(model);
}

/* Neighbors with very different targets: their errors are noise. */
static void noise_is_not_added_back(void)
{
	struct table train = table_new(1000, 2, 7), test = table_new(1000, 2, 8);
	struct random random;
	double without, with;
	void *model;

	random_init(&random, 2);
	for (size_t i = 0; i < 1000; i++) {
		train.y[i] = train.x[2 * i] + random_normal(&random);
		test.y[i] = test.x[2 * i] + random_normal(&random);
	}
	model = fit(&train.samples, "leaf=200");
	without = error_of(model, &test.samples);
	learner_rules.free(model);
	model = fit(&train.samples, "leaf=200,neighbors=2");
	with = error_of(model, &test.samples);
	learner_rules.free(model);
	CHECK(with < without * 1.02);
	table_free(&train);
	table_free(&test);
}

static void odd_tables_are_learned(void)
{
	double x[] = { 5, 5, 5, 5 }, y[] = { 1, 2, 3, 4 }, flat[] = { 7, 7, 7, 7 };
	struct samples samples = { .x = x, .y = y, .rows = 4, .width = 1 };
	void *model = fit(&samples, "neighbors=9,committees=3");

	NEAR(predict(model, (double[]){ 5 }), 2.5, 1e-6);
	NEAR(predict(model, (double[]){ 99 }), 2.5, 1e-6);
	learner_rules.free(model);
	samples.rows = 1;
	model = fit(&samples, "neighbors=2");
	NEAR(predict(model, (double[]){ 5 }), 1, 1e-9);
	learner_rules.free(model);
	samples = (struct samples){ .x = y, .y = flat, .rows = 4, .width = 1 };
	model = fit(&samples, "");
	NEAR(predict(model, (double[]){ 1e300 }), 7, 1e-9);
	learner_rules.free(model);
}

static void equivalent_inputs_do_no_harm(void)
{
	struct table table = table_new(300, 4, 3);
	void *model;

	for (size_t i = 0; i < 300; i++) {
		double *row = table.x + 4 * i;

		row[1] = row[0] * 1e6 + 3;
		row[2] = 42;
		row[3] = row[0] - row[1];
		table.y[i] = 4 * row[0];
	}
	model = fit(&table.samples, "committees=3");
	CHECK(error_of(model, &table.samples) < 1e-6);
	learner_rules.free(model);
	table_free(&table);
}

/* More inputs than a model considers. */
static void relevant_inputs_are_selected_among_many(void)
{
	struct table table = table_new(500, 80, 3);
	double share[80];
	void *model;

	for (size_t i = 0; i < 500; i++)
		table.y[i] = 3 * table.x[80 * i + 77] + (table.x[80 * i + 5] > 0.5 ? 2 : 0);
	model = fit(&table.samples, "");
	CHECK(error_of(model, &table.samples) < 0.05);
	learner_rules.importance(model, share);
	CHECK(share[77] > 0.3);
	CHECK(share[5] > 0.05);
	learner_rules.free(model);
	table_free(&table);
}

static void predictions_stay_near_the_training_range(void)
{
	struct table table = table_new(300, 2, 5);
	void *model;

	for (size_t i = 0; i < 300; i++)
		table.y[i] = table.x[2 * i] * 100;
	model = fit(&table.samples, "committees=4,neighbors=3");
	CHECK(predict(model, (double[]){ 1e6, 0.5 }) < 106);
	CHECK(predict(model, (double[]){ -1e6, 0.5 }) > -6);
	CHECK(isfinite(predict(model, (double[]){ 1e308, -1e308 })));
	learner_rules.free(model);
	table_free(&table);
}

static void limits_are_kept(void)
{
	struct table table = table_new(2000, 10, 1);
	AUTO_BUF struct buf text = { 0 };
	void *model;

	friedman(&table, 0, 1);
	model = fit(&table.samples, "rules=7");
	learner_rules.describe(model, names, &text);
	CHECK(strstr(buf_text(&text), "1: 7 rules"));
	learner_rules.free(model);
	table_free(&table);
}

static void importance_is_a_share(void)
{
	struct table table = table_new(1000, 10, 1);
	double share[10], sum = 0, noise = 0;
	void *model;

	friedman(&table, 1, 1);
	model = fit(&table.samples, "committees=5");
	learner_rules.importance(model, share);
	for (size_t j = 0; j < 10; j++) {
		sum += share[j];
		noise += j < 5 ? 0 : share[j];
	}
	NEAR(sum, 1, 1e-12);
	CHECK(noise < 0.35);
	learner_rules.free(model);
	table_free(&table);
}

static void save(const void *model, struct buf *buf)
{
	buf_clear(buf);
	learner_rules.save(model, buf);
}

static void seed_and_threads_change_nothing(void)
{
	struct table table = table_new(500, 10, 1);
	AUTO_BUF struct buf a = { 0 }, b = { 0 };
	double values[LEARNER_SETTINGS_MAX];
	void *model;

	friedman(&table, 1, 1);
	learner_defaults(&learner_rules, values);
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct effort effort = { threads, threads };

		REQUIRE(learner_rules.fit(&model, &table.samples, values, &effort, &err) == 0);
		save(model, threads == 1 ? &a : &b);
		learner_rules.free(model);
	}
	CHECK(a.len == b.len);
	CHECK(memcmp(a.data, b.data, a.len) == 0);
	table_free(&table);
}

static void saved_rules_predict_the_same(void)
{
	struct table table = table_new(500, 10, 1), more = table_new(200, 10, 2);
	AUTO_BUF struct buf buf = { 0 }, again = { 0 };
	void *model, *read = NULL;
	struct blob blob;

	friedman(&table, 1, 1);
	model = fit(&table.samples, "committees=4,neighbors=5");
	save(model, &buf);
	blob_init(&blob, buf.data, buf.len);
	REQUIRE(learner_rules.load(&read, &blob, 10, 0, &err) == 0);
	CHECK(blob.at == blob.end);
	for (size_t i = 0; i < 200; i++)
		CHECK(predict(model, more.x + 10 * i) == predict(read, more.x + 10 * i));
	save(read, &again);
	CHECK(buf.len == again.len);
	CHECK(memcmp(buf.data, again.data, buf.len) == 0);
	learner_rules.free(model);
	learner_rules.free(read);
	table_free(&table);
	table_free(&more);
}

static void load_and_use(const struct buf *buf, size_t n, bool whole)
{
	double row[3] = { 0.3, 0.4, 0.5 }, share[3];
	AUTO_BUF struct buf text = { 0 };
	struct blob blob;
	void *model = NULL;
	int r;

	blob_init(&blob, buf->data, n);
	r = learner_rules.load(&model, &blob, 3, 0, &err);
	CHECK(whole || r == -EBADMSG);
	if (r < 0)
		return;
	predict(model, row);
	learner_rules.importance(model, share);
	learner_rules.describe(model, names, &text);
	learner_rules.free(model);
}

static void damaged_rules_are_rejected_or_harmless(void)
{
	struct table table = table_new(60, 3, 1);
	AUTO_BUF struct buf buf = { 0 };
	struct random random;
	struct blob blob;
	void *model, *read = NULL;

	for (size_t i = 0; i < 60; i++)
		table.y[i] = table.x[3 * i] > 0.5 ? table.x[3 * i + 1] : -3 * table.x[3 * i + 2];
	model = fit(&table.samples, "committees=2,neighbors=3,leaf=5");
	save(model, &buf);
	learner_rules.free(model);
	for (size_t n = 0; n < buf.len; n++)
		load_and_use(&buf, n, false);
	random_init(&random, 1);
	for (int i = 0; i < 5000; i++) {
		/* Mostly the header, which holds the counts. */
		size_t at = random_below(&random, i % 2 ? buf.len : 400);
		char kept = buf.data[at];

		buf.data[at] = (char)random_u64(&random);
		load_and_use(&buf, buf.len, true);
		buf.data[at] = kept;
	}
	blob_init(&blob, buf.data, buf.len);
	CHECK_INT(learner_rules.load(&read, &blob, 1, 0, &err), -EBADMSG);
	blob_init(&blob, buf.data, buf.len);
	CHECK_INT(learner_rules.load(&read, &blob, 3, 2, &err), -EBADMSG);
	table_free(&table);
}

static void bins_keep_equal_values_together(void)
{
	struct table table = table_new(3000, 2, 1);
	struct bins bins;

	/* Half of the values of the first input are equal; the second has three values. */
	for (size_t i = 0; i < 3000; i++) {
		if (i % 2)
			table.x[2 * i] = 0.25;
		table.x[2 * i + 1] = (double)(i % 3);
	}
	bins_init(&bins, &table.samples);
	CHECK(bins_count(&bins, 0) > 100);
	CHECK(bins_count(&bins, 0) <= BINS_MAX);
	CHECK_INT(bins_count(&bins, 1), 3);
	NEAR(bins_cut(&bins, 1, 0), 0.5, 0);
	for (size_t i = 0; i < 3000; i++) {
		size_t code = bins.codes[i], last = bins_count(&bins, 0) - 1;

		CHECK(code == last || table.x[2 * i] <= bins_cut(&bins, 0, code));
		CHECK(code == 0 || table.x[2 * i] > bins_cut(&bins, 0, code - 1));
		CHECK_INT(bins.codes[3000 + i], i % 3);
	}
	bins_release(&bins);
	table_free(&table);
}

TESTS(TEST(plane_is_one_rule_and_exact), TEST(pieces_become_rules_with_their_models),
      TEST(smoothing_pulls_towards_parent_models), TEST(committees_approach_the_noise_level),
      TEST(neighbors_correct_the_rules), TEST(correction_weighs_by_distance),
      TEST(noise_is_not_added_back), TEST(odd_tables_are_learned),
      TEST(equivalent_inputs_do_no_harm), TEST(relevant_inputs_are_selected_among_many),
      TEST(predictions_stay_near_the_training_range), TEST(limits_are_kept),
      TEST(importance_is_a_share), TEST(seed_and_threads_change_nothing),
      TEST(saved_rules_predict_the_same), TEST(damaged_rules_are_rejected_or_harmless),
      TEST(bins_keep_equal_values_together))
