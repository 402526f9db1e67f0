/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The points of a simulation come from probe data and a model, and only from measured writes.
 */
#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "check.h"
#include "forecast_sample.h"
#include "predict/forecast/place/steps.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/forecaster.h"

#define DAY 86400.0

static struct err err;
static struct sample sample;
static struct site site;
static struct features features;
static struct forecaster forecaster;
static struct steps_origin origin;

/* Two days of data; the first day is for training. */
static void need(void)
{
	struct forecaster_plan plan;

	if (sample.chronicle.target_count)
		return;
	site_init(&site);
	sample_make(&sample, 2, 1, 0);
	forecaster_plan_init(&plan);
	REQUIRE(forecast_method_plan(&plan.pipeline, "logistic", NULL, NULL) == 0);
	plan.folds = 0;
	plan.calibration = CALIBRATION_NONE;
	plan.labels.to_s = SAMPLE_START + DAY;
	REQUIRE(forecaster_fit(&forecaster, &sample.chronicle, &site, &plan, &err) == 0);
	features_init(&features, &sample.chronicle, &site, &forecaster.features);
	origin = (struct steps_origin){
		.forecaster = &forecaster,
		.features = &features,
		.bytes = sample.chronicle.sizes[2],
		.from_s = SAMPLE_START + DAY,
		.to_s = INFINITY,
		.label_seed = 1,
		.threads = 2,
	};
}

static void every_time_of_the_test_days_is_a_point(void)
{
	const struct chronicle_series *series;
	struct forecast answer;
	struct steps steps;
	int n;

	need();
	series = chronicle_series(&sample.chronicle, 1, 2);
	n = steps_gather(&steps, &origin, &err);
	REQUIRE(n > 100);
	CHECK_INT(steps.points, n);
	CHECK_INT(steps.left_out, 0);
	CHECK_INT(steps.targets, SAMPLE_TARGETS);
	CHECK(!steps.truth);
	for (size_t p = 0; p < steps.points; p += 17) {
		size_t at = chronicle_count_until(series, steps.time_s[p]) - 1,
		       i = p * steps.targets + 1;

		CHECK(steps.time_s[p] >= SAMPLE_START + DAY &&
		      series->time_s[at] == steps.time_s[p]);
		CHECK(steps.seconds[i] == (double)series->seconds[at]);
		forecaster_predict_at(&forecaster, &features, 1, 2, steps.time_s[p], &answer);
		CHECK(steps.forecasts[i].busy == answer.busy &&
		      steps.forecasts[i].busy_sd == answer.busy_sd &&
		      steps.forecasts[i].is_allowed);
	}
	CHECK(steps_accuracy(&steps, steps.labels) > 0.6);
	steps_release(&steps);
}

static void a_time_that_one_target_lacks_is_skipped(void)
{
	struct chronicle_series *series;
	struct steps before, steps;
	size_t at;

	need();
	series = chronicle_series(&sample.chronicle, 1, 2);
	REQUIRE(steps_gather(&before, &origin, &err) > 0);
	at = chronicle_count_until(series, before.time_s[3]) - 1;
	series->outcome[at] = SAMPLE_FAILED;
	REQUIRE(steps_gather(&steps, &origin, &err) > 0);
	series->outcome[at] = SAMPLE_DONE;
	CHECK_INT(steps.points, before.points - 1);
	CHECK_INT(steps.left_out, 1);
	CHECK(steps.time_s[2] == before.time_s[2] && steps.time_s[3] == before.time_s[4]);
	steps_release(&before);
	steps_release(&steps);
}

/* Without it, the moments at which a target hangs would be left out of the evaluation. */
static void a_write_that_was_abandoned_counts(void)
{
	struct chronicle_series *series;
	struct steps before, steps;
	size_t at;
	float seconds;

	need();
	series = chronicle_series(&sample.chronicle, 1, 2);
	REQUIRE(steps_gather(&before, &origin, &err) > 0);
	at = chronicle_count_until(series, before.time_s[3]) - 1;
	seconds = series->seconds[at];
	series->outcome[at] = SAMPLE_TIMEOUT;
	series->seconds[at] = 20;
	REQUIRE(steps_gather(&steps, &origin, &err) > 0);
	series->outcome[at] = SAMPLE_DONE;
	series->seconds[at] = seconds;
	CHECK_INT(steps.points, before.points);
	CHECK_INT(steps.left_out, 0);
	CHECK_NEAR(steps.seconds[3 * steps.targets + 1], 20, 0);
	steps_release(&before);
	steps_release(&steps);
}

static void states_are_those_of_the_samples(void)
{
	static uint8_t *busy[SAMPLE_TARGETS * CHRONICLE_SIZES];
	struct steps_origin with = origin;
	struct steps steps;

	need();
	with = origin;
	for (size_t t = 0; t < SAMPLE_TARGETS; t++) {
		size_t n = chronicle_series(&sample.chronicle, t, 2)->count;

		busy[t * CHRONICLE_SIZES + 2] = calloc(n, 1);
		for (size_t i = 0; i < n; i++)
			busy[t * CHRONICLE_SIZES + 2][i] = (i + t) % 3 == 0;
	}
	with.busy = busy;
	REQUIRE(steps_gather(&steps, &with, &err) > 0);
	for (size_t p = 0; p < steps.points; p += 11)
		for (size_t t = 0; t < SAMPLE_TARGETS; t++) {
			size_t at = chronicle_count_until(chronicle_series(&sample.chronicle, t, 2),
							  steps.time_s[p]) -
				    1;

			CHECK(steps.truth[p * steps.targets + t] == ((at + t) % 3 == 0));
		}
	steps_release(&steps);
	for (size_t t = 0; t < SAMPLE_TARGETS; t++)
		free(busy[t * CHRONICLE_SIZES + 2]);
}

static void unmeasured_and_untrained_sizes_are_errors(void)
{
	struct steps_origin other;
	struct steps steps = { .points = 7 };

	need();
	other = origin;
	other.bytes = 12345;
	CHECK_INT(steps_gather(&steps, &other, &err), -ENODATA);
	CHECK(strstr(err.text, "12345"));
	other = origin;
	other.from_s = 9e9;
	CHECK_INT(steps_gather(&steps, &other, &err), -ENODATA);
	CHECK_INT(steps.points, 7);
}

static void everything_can_be_released(void)
{
	features_release(&features);
	forecaster_release(&forecaster);
	sample_release(&sample);
	site_release(&site);
}

TESTS(TEST(every_time_of_the_test_days_is_a_point), TEST(a_time_that_one_target_lacks_is_skipped),
      TEST(a_write_that_was_abandoned_counts), TEST(states_are_those_of_the_samples),
      TEST(unmeasured_and_untrained_sizes_are_errors), TEST(everything_can_be_released))
