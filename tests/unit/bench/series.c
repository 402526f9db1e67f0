/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The test has its own list of methods, with one whose predictions are known: the mean of the
 * training targets plus the first input of the row.
 */
#include "bench/series.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"
#include "learn/table/dataset.h"

enum { ROWS = 300, TIME = 0, KNOWN, VALUE };

static double *fitted_on; /* rows of the newest fit, if the test records them */
static size_t fitted_rows;

static int mean_fit(void **model, const struct samples *samples, const double *settings,
		    const struct effort *effort, struct err *err)
{
	double *mean = xcalloc(1, sizeof(*mean));

	(void)settings, (void)effort, (void)err;
	for (size_t i = 0; i < samples->rows; i++) {
		*mean += (samples->y[i] - samples->x[i * samples->width]) / (double)samples->rows;
		if (fitted_on)
			fitted_on[i] = samples->y[i];
	}
	fitted_rows = samples->rows;
	*model = mean;
	return 0;
}

static void mean_predict(const void *model, const double *row, double *out)
{
	*out = *(const double *)model + row[0];
}

static const struct learner_setting no_settings[] = { { 0 } };
static const struct learner_ops mean_learner = {
	.name = "mean",
	.tasks = LEARNER_REGRESSES,
	.recipe = "",
	.settings = no_settings,
	.fit = mean_fit,
	.predict = mean_predict,
	.free = free,
};
const struct learner_ops *const learners[] = { &mean_learner, NULL };

const struct learner_ops *learner_find(const char *name, unsigned task, struct err *err)
{
	(void)name, (void)task, (void)err;
	return &mean_learner;
}

/* Shuffled rows of three groups; a value becomes known some time after its row. */
static void table_make(struct dataset *dataset, double *group, uint64_t seed)
{
	static const char *const names[] = { "time", "known", "rate" };
	struct random random;
	size_t order[ROWS];

	random_init(&random, seed);
	dataset_init(dataset, ROWS, 3, names);
	for (size_t i = 0; i < ROWS; i++)
		order[i] = i;
	random_shuffle(&random, order, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		double *row = dataset_row(dataset, order[i]);

		row[TIME] = (double)(i / 2); /* pairs of rows have the same time */
		row[KNOWN] = row[TIME] + (double)random_below(&random, 8);
		row[VALUE] = random_real(&random) < 0.05 ? NAN : random_normal(&random);
		group[order[i]] = (double)random_below(&random, 3) - 1;
	}
}

/* The values that a row may know, newest last, by exhaustive search. */
static size_t past_find(const struct dataset *dataset, const double *group, size_t row,
			double *past)
{
	const double *me = dataset_row(dataset, row);
	double before = -1;
	size_t count = 0;

	for (;;) {
		double next = INFINITY;

		for (size_t i = 0; i < dataset->rows; i++) {
			double known = dataset_row(dataset, i)[KNOWN];

			if (known > before && known < next)
				next = known;
		}
		if (!(next < me[TIME]))
			return count;
		for (size_t i = 0; i < dataset->rows; i++) {
			const double *other = dataset_row(dataset, i);

			if (other[KNOWN] == next && group[i] == group[row] && !isnan(other[VALUE]))
				past[count++] = other[VALUE];
		}
		before = next;
	}
}

static int same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-12;
}

static const struct series_lags all_lags = {
	.time = TIME, .known = KNOWN, .value = VALUE, .lags = 3, .window = 5, .half_life = 2
};

static void lags_equal_an_exhaustive_search(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct series_lags lags = all_lags;
	double group[ROWS], past[ROWS];

	table_make(&dataset, group, 1);
	lags.group = group;
	CHECK_INT(series_add_lags(&dataset, &lags, NULL), 0);
	CHECK_INT(dataset.width, 9);
	for (size_t i = 0; i < ROWS; i++) {
		const double *row = dataset_row(&dataset, i);
		size_t count = past_find(&dataset, group, i, past), window = count < 5 ? count : 5;
		double mean = 0, squares = 0, weighted = 0, weight = 0;

		for (size_t k = 0; k < 3; k++)
			CHECK(same(row[3 + k], k < count ? past[count - 1 - k] : NAN));
		for (size_t k = 0; k < window; k++)
			mean += past[count - 1 - k] / (double)window;
		for (size_t k = 0; k < window; k++)
			squares += pow(past[count - 1 - k] - mean, 2);
		for (size_t k = 0; k < count; k++) {
			weighted += past[count - 1 - k] * exp2(-(double)k / 2);
			weight += exp2(-(double)k / 2);
		}
		CHECK(same(row[6], count ? mean : NAN));
		CHECK(same(row[7], window > 1 ? sqrt(squares / (double)(window - 1)) : NAN));
		CHECK(same(row[8], count ? weighted / weight : NAN));
	}
}

/* pandas: s.rolling(3, min_periods=1).mean(), .std() and s.ewm(halflife=2).mean(), shifted by 1 */
static void windows_equal_those_of_pandas(void)
{
	static const double values[] = { 1, 4, 2, 8, 5 };
	static const double mean[] = { NAN, 1, 2.5, 2.3333333333333335, 4.666666666666667 };
	static const double deviation[] = { NAN, NAN, 2.1213203435596424, 1.5275252316519465,
					    3.0550504633038935 };
	static const double ewm[] = { NAN, 1, 2.7573593128807152, 2.4142135623730954,
				      4.5955988548011915 };
	static const char *const names[] = { "time", "bw" };
	static const char *const columns[] = { "time",	  "bw",		  "bw_lag1",
					       "bw_mean", "bw_deviation", "bw_ewm" };
	struct series_lags lags = { .value = 1, .lags = 1, .window = 3, .half_life = 2 };
	AUTO_DATASET struct dataset dataset = { 0 };

	dataset_init(&dataset, 5, 2, names);
	for (size_t i = 0; i < 5; i++) {
		dataset_row(&dataset, i)[0] = (double)i;
		dataset_row(&dataset, i)[1] = values[i];
	}
	CHECK_INT(series_add_lags(&dataset, &lags, NULL), 0);
	for (size_t i = 0; i < 6; i++)
		CHECK_TEXT(dataset.columns[i].name, columns[i]);
	for (size_t i = 0; i < 5; i++) {
		const double *row = dataset_row(&dataset, i);

		CHECK(same(row[2], i ? values[i - 1] : NAN));
		CHECK(same(row[3], mean[i]));
		CHECK(same(row[4], deviation[i]));
		CHECK(same(row[5], ewm[i]));
	}
}

/* Rows up to some time do not depend on anything later. */
static void features_do_not_depend_on_the_future(void)
{
	enum { NOW = 70 };
	AUTO_DATASET struct dataset plain = { 0 }, altered = { 0 };
	struct series_lags lags = all_lags;
	double group[ROWS];
	size_t compared = 0;

	table_make(&plain, group, 2);
	table_make(&altered, group, 2);
	lags.group = group;
	for (size_t i = 0; i < ROWS; i++) {
		double *row = dataset_row(&altered, i);

		if (row[KNOWN] >= NOW)
			row[VALUE] = 1e6 + (double)i;
	}
	series_add_lags(&plain, &lags, NULL);
	series_add_lags(&altered, &lags, NULL);
	for (size_t i = 0; i < ROWS; i++) {
		const double *a = dataset_row(&plain, i), *b = dataset_row(&altered, i);

		if (a[TIME] > NOW)
			continue;
		compared++;
		for (size_t k = 3; k < 9; k++)
			CHECK(same(a[k], b[k]));
	}
	CHECK_INT(compared, 2 * (NOW + 1));
}

static void a_value_is_used_only_after_it_is_known(void)
{
	static const char *const names[] = { "time", "known", "rate" };
	/*
	 * The second value becomes known last; the third row asks when the first value becomes
	 * known and does not see it yet.
	 */
	static const double rows[][3] = { { 0, 5, 10 },	  { 1, 9, 20 },	 { 5, 6, 30 },
					  { 5.5, 6, 40 }, { 10, 8, 50 }, { 10.5, 11, 60 } };
	static const double last[] = { NAN, NAN, NAN, 10, 20, 50 };
	struct series_lags lags = { .known = KNOWN, .value = VALUE, .lags = 1 };
	AUTO_DATASET struct dataset dataset = { 0 };

	dataset_init(&dataset, 6, 3, names);
	memcpy(dataset.values, rows, sizeof(rows));
	CHECK_INT(series_add_lags(&dataset, &lags, NULL), 0);
	/* The fifth value claims to be known before its row asks; the row does not see itself. */
	for (size_t i = 0; i < 6; i++)
		CHECK(same(dataset_row(&dataset, i)[3], last[i]));
}

static void invalid_lags_are_rejected(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct series_lags lags = all_lags;
	struct err err = { 0 };
	double group[ROWS];

	table_make(&dataset, group, 3);
	lags.value = 17;
	CHECK_INT(series_add_lags(&dataset, &lags, &err), -EINVAL);
	CHECK_INT(dataset.width, 3);
}

struct scene {
	double x[ROWS], y[ROWS], time[ROWS], known[ROWS], group[ROWS];
	struct samples samples;
	struct series_plan plan;
};

/* Time runs against the order of rows, the level rises with time, and outcomes take three units. */
static struct scene *scene_new(void)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));
	struct random random;

	random_init(&random, 5);
	for (int i = 0; i < ROWS; i++) {
		scene->time[i] = ROWS - i;
		scene->known[i] = scene->time[i] + 3;
		scene->group[i] = i % 2;
		scene->x[i] = random_real(&random);
		scene->y[i] = 10 + scene->time[i] + scene->x[i] +
			      (1 + 4 * scene->group[i]) * random_normal(&random);
	}
	scene->samples = (struct samples){ .x = scene->x, .y = scene->y, .rows = ROWS, .width = 1 };
	scene->plan = (struct series_plan){
		.time = scene->time, .known = scene->known, .first = 100, .every = 10, .window = 20
	};
	pipeline_plan_init(&scene->plan.pipeline, &mean_learner);
	return scene;
}

static void each_fit_uses_the_newest_known_rows(void)
{
	AUTO_FREE struct scene *scene = scene_new();
	struct series_result result = { 0 };
	double seen[ROWS];

	fitted_on = seen;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, NULL), 0);
	fitted_on = NULL;
	CHECK_INT(result.fits, 20);
	CHECK_INT(result.predicted, 200);
	CHECK(!result.low && !result.high);
	CHECK_INT(fitted_rows, 20);
	/*
	 * The last fit is for times 291 .. 300; outcomes that are known before 291 belong to rows
	 * before 288.
	 */
	for (int i = 0; i < 20; i++)
		CHECK(seen[i] == scene->y[ROWS - 268 - i]);
	for (int i = 0; i < ROWS; i++)
		CHECK(isnan(result.guess[i]) == (scene->time[i] <= 100));
	series_result_release(&result);
}

static void rolling_fits_follow_a_trend(void)
{
	AUTO_FREE struct scene *scene = scene_new();
	struct series_result rolling = { 0 }, fixed = { 0 };

	series_roll(&rolling, &scene->plan, &scene->samples, NULL);
	scene->plan.every = 0;
	series_roll(&fixed, &scene->plan, &scene->samples, NULL);
	CHECK_INT(fixed.fits, 1);
	CHECK(fabs(rolling.guess[0] - scene->y[0]) < 40);
	CHECK(fabs(fixed.guess[0] - scene->y[0]) > 150);
	series_result_release(&rolling);
	series_result_release(&fixed);
}

static void predictions_do_not_depend_on_future_outcomes(void)
{
	enum { NOW = 200 };
	AUTO_FREE struct scene *scene = scene_new();
	struct series_result plain = { 0 }, altered = { 0 };

	scene->plan.coverage = 0.8;
	scene->plan.group = scene->group;
	series_roll(&plain, &scene->plan, &scene->samples, NULL);
	for (int i = 0; i < ROWS; i++)
		scene->y[i] = scene->known[i] >= NOW ? -1e6 : scene->y[i];
	series_roll(&altered, &scene->plan, &scene->samples, NULL);
	for (int i = 0; i < ROWS; i++) {
		if (!(scene->time[i] > 100 && scene->time[i] <= NOW))
			continue;
		CHECK(plain.guess[i] == altered.guess[i]);
		CHECK(plain.low[i] == altered.low[i]);
		CHECK(plain.high[i] == altered.high[i]);
	}
	CHECK(plain.guess[0] != altered.guess[0]);
	series_result_release(&plain);
	series_result_release(&altered);
}

/* There is no trend; the second group is five times as noisy, and the noise doubles over time. */
static void intervals_cover_what_they_promise(void)
{
	enum { MANY = 6000 };
	AUTO_FREE double *data = xmalloc(5 * MANY * sizeof(*data));
	double *x = data, *y = data + MANY, *time = data + 2 * MANY, *group = data + 3 * MANY;
	struct samples samples = { .x = x, .y = y, .rows = MANY, .width = 1 };
	struct series_plan plan = {
		.time = time, .first = 1000, .every = 500, .coverage = 0.9, .group = group
	};
	struct series_result result = { 0 };
	double width[2] = { 0 };
	struct random random;

	random_init(&random, 9);
	pipeline_plan_init(&plan.pipeline, &mean_learner);
	plan.pipeline.log_target = true;
	for (int i = 0; i < MANY; i++) {
		time[i] = i;
		group[i] = i % 2;
		x[i] = 0;
		y[i] = exp(5 + (0.1 + 0.4 * group[i]) * (1 + (double)i / MANY) *
				       random_normal(&random));
	}
	CHECK_INT(series_roll(&result, &plan, &samples, NULL), 0);
	CHECK_INT(result.fits, 11); /* one of them for the initial errors */
	CHECK(result.covered > 0.89 * 5000);
	CHECK(result.covered < 0.91 * 5000);
	CHECK(result.unbounded < 50);
	for (int i = 1000; i < MANY; i++) {
		CHECK(result.low[i] <= result.guess[i]);
		CHECK(result.guess[i] <= result.high[i]);
		if (isfinite(result.high[i]) && result.low[i] > 0)
			width[i % 2] += log(result.high[i] / result.low[i]);
	}
	CHECK(width[1] > 4 * width[0]);
	CHECK(width[1] < 6 * width[0]);
	series_result_release(&result);
}

static void missing_outcome_is_predicted_and_not_learned(void)
{
	AUTO_FREE struct scene *scene = scene_new();
	struct series_result result = { 0 };

	scene->plan.coverage = 0.8;
	for (int i = 0; i < ROWS; i += 7)
		scene->y[i] = NAN;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, NULL), 0);
	for (int i = 0; i < ROWS - 100; i++)
		CHECK(isfinite(result.guess[i]));
	series_result_release(&result);
}

static void invalid_plans_are_rejected(void)
{
	AUTO_FREE struct scene *scene = scene_new();
	struct series_result result = { .fits = 7 };
	struct err err = { 0 };

	scene->plan.first = ROWS;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, &err), -EINVAL);
	scene->plan.first = 100;
	scene->plan.coverage = 1;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, &err), -EINVAL);
	scene->plan.coverage = 0;
	for (int i = 0; i < ROWS; i++)
		scene->known[i] = 1e9;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, &err), -ENODATA);
	CHECK_WORDS(err.text, "outcome");
	scene->time[5] = NAN;
	CHECK_INT(series_roll(&result, &scene->plan, &scene->samples, &err), -EINVAL);
	CHECK_WORDS(err.text, "row 6|time");
	CHECK(result.fits == 7);
	CHECK(!result.guess);
}

TESTS(TEST(lags_equal_an_exhaustive_search), TEST(windows_equal_those_of_pandas),
      TEST(features_do_not_depend_on_the_future), TEST(a_value_is_used_only_after_it_is_known),
      TEST(invalid_lags_are_rejected), TEST(each_fit_uses_the_newest_known_rows),
      TEST(rolling_fits_follow_a_trend), TEST(predictions_do_not_depend_on_future_outcomes),
      TEST(intervals_cover_what_they_promise), TEST(missing_outcome_is_predicted_and_not_learned),
      TEST(invalid_plans_are_rejected))
