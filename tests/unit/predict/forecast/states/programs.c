/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs wrote is training data beside the writes of probes, unless it misleads.
 * Papers: WAN-39.
 */
#include "predict/forecast/states/programs.h"

#include <math.h>

#include "check.h"
#include "forecast_sample.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/states/retraining.h"

#define DAY 86400.0
#define CUT (SAMPLE_START + 1.5 * DAY)
#define EVERY_S 400

/* The true state of a target at a time, as its probes have it. */
static int state_at(const struct sample *sample, size_t target, double time_s)
{
	size_t probe = (size_t)((time_s - SAMPLE_START) / 30);

	return sample->busy[target * CHRONICLE_SIZES][probe];
}

/* Programs write to all targets between the rounds of probes, with the times of these states or of
 * the opposite ones. Returns the number of rows. */
static size_t add_programs(struct sample *sample, double from_s, double to_s, bool is_opposite)
{
	struct random random;
	size_t count = 0;

	random_init(&random, 9);
	for (double time_s = from_s + 7.5; time_s < to_s; time_s += EVERY_S)
		for (size_t t = 0; t < SAMPLE_TARGETS; t++) {
			bool busy = (state_at(sample, t, time_s) != 0) != is_opposite;
			double typical = busy ? 2.7 : 1.85, width = busy ? .2 : .06;

			chronicle_add(&sample->chronicle, t, 2, time_s,
				      typical * exp(width * random_normal(&random)), SAMPLE_DONE,
				      SAMPLE_PROGRAM);
			count++;
		}
	return count;
}

static void train(struct forecaster *forecaster, const struct sample *sample, enum programs_use use)
{
	struct forecaster_plan plan;
	struct site site;

	site_init(&site);
	forecaster_plan_init(&plan);
	REQUIRE(forecast_method_plan(&plan.pipeline, "logistic", NULL, NULL) == 0);
	plan.features.groups = FEATURE_LATENCY;
	plan.labels.to_s = CUT;
	plan.folds = 4;
	plan.programs = use;
	REQUIRE(forecaster_fit(forecaster, &sample->chronicle, &site, &plan, NULL) == 0);
	forecaster->made_s = (int64_t)CUT;
	site_release(&site);
}

static size_t count_rows(const struct forecaster *forecaster)
{
	size_t rows = 0;

	for (size_t t = 0; t < forecaster->target_count; t++)
		rows += forecaster_model(forecaster, t, 2)->rows;
	return rows;
}

static void writes_of_programs_become_training_data(void)
{
	struct forecaster with, without;
	struct sample sample;
	size_t added;

	sample_make(&sample, 2, 4, 0);
	train(&without, &sample, PROGRAMS_AUTO);
	CHECK_INT(without.program_rows, 0);
	CHECK(!without.features.ignores_programs);
	added = add_programs(&sample, SAMPLE_START, CUT, false);
	train(&with, &sample, PROGRAMS_AUTO);
	CHECK_INT(with.program_rows, added);
	CHECK(!with.features.ignores_programs);
	CHECK_INT(count_rows(&with), count_rows(&without) + added);
	forecaster_release(&with);
	/* They can be excluded. */
	train(&with, &sample, PROGRAMS_IGNORE);
	CHECK_INT(with.program_rows, added);
	CHECK(with.features.ignores_programs);
	CHECK_INT(count_rows(&with), count_rows(&without));
	CHECK_NEAR(forecaster_model(&with, 0, 2)->accuracy,
		   forecaster_model(&without, 0, 2)->accuracy, 0);
	forecaster_release(&with);
	forecaster_release(&without);
	sample_release(&sample);
}

static void writes_that_mislead_are_ignored(void)
{
	struct forecaster with;
	struct sample sample;

	sample_make(&sample, 2, 4, 0);
	add_programs(&sample, SAMPLE_START, CUT, true);
	train(&with, &sample, PROGRAMS_AUTO);
	CHECK(with.features.ignores_programs);
	forecaster_release(&with);
	train(&with, &sample, PROGRAMS_USE);
	CHECK(!with.features.ignores_programs);
	forecaster_release(&with);
	sample_release(&sample);
}

/* However slowly a program writes, busy and idle mean what they mean for probes. */
static void states_are_those_of_probes(void)
{
	struct labels_plan always = { .from_s = -INFINITY, .to_s = INFINITY, .seed = 1 };
	struct states before, after;
	struct sample sample;
	double mean;

	sample_make(&sample, 1, 4, 0);
	REQUIRE(states_fit(&before, &sample.chronicle, &always, NULL) == 0);
	for (int i = 0; i < 500; i++)
		chronicle_add(&sample.chronicle, 0, 2, SAMPLE_START + DAY + i, 30 + i, SAMPLE_DONE,
			      SAMPLE_PROGRAM);
	REQUIRE(states_fit(&after, &sample.chronicle, &always, NULL) == 0);
	mean = mixture_mean(states_mixture(&before, 0, 2), 1);
	CHECK_NEAR(mixture_mean(states_mixture(&after, 0, 2), 1), mean, 1e-6 * mean);
	states_release(&after);
	states_release(&before);
	/* Without reference writes of probes, those of programs are better than nothing. */
	always.from_s = SAMPLE_START + DAY;
	CHECK(states_fit(&after, &sample.chronicle, &always, NULL) == 0);
	states_release(&after);
	always.ignores_programs = true;
	CHECK(states_fit(&after, &sample.chronicle, &always, NULL) < 0);
	sample_release(&sample);
}

/* A probe that hangs when the program begins to write is not known then. */
static void row_uses_only_probes_that_have_ended(void)
{
	static const uint64_t sizes[] = { 1 << 20, SAMPLE_LARGE };
	struct features_plan plan;
	struct features features;
	struct feature_rows rows;
	struct chronicle chronicle;
	struct site site;

	site_init(&site);
	chronicle_init(&chronicle, "x", sizes, 2);
	chronicle_add_target(&chronicle, "a");
	chronicle_add(&chronicle, 0, 0, 1000, 1, SAMPLE_DONE, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 0, 1030, 9, SAMPLE_DONE, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 1, 1035, 2, SAMPLE_DONE, SAMPLE_PROGRAM);
	chronicle_add(&chronicle, 0, 1, 1040, 2, SAMPLE_DONE, SAMPLE_PROGRAM);
	features_plan_init(&plan);
	plan.groups = FEATURE_LATENCY;
	features_init(&features, &chronicle, &site, &plan);
	features_rows(&features, 0, 1, -INFINITY, INFINITY, &rows);
	REQUIRE(rows.rows == 2);
	CHECK_NEAR(rows.x[0], 1, 0);
	CHECK_NEAR(rows.x[rows.width], 9, 0);
	feature_rows_release(&rows);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* Scores what was written after the training, for the reason to train again. */
static enum retraining_reason find_reason(const struct sample *sample,
					  const struct forecaster *forecaster,
					  bool ignores_programs)
{
	struct features_plan plan = forecaster->features;
	struct retraining_policy policy;
	struct retraining retraining;
	enum retraining_reason reason;
	struct features features;
	struct site site;

	site_init(&site);
	plan.ignores_programs = ignores_programs;
	features_init(&features, &sample->chronicle, &site, &plan);
	retraining_policy_init(&policy);
	policy.answers = 400;
	policy.every_s = 0;
	retraining_init(&retraining, &policy, forecaster);
	retraining_score(&retraining, forecaster, &features, SAMPLE_START + 2 * DAY);
	reason = retraining_due(&retraining, SAMPLE_START + 2 * DAY);
	retraining_release(&retraining);
	features_release(&features);
	site_release(&site);
	return reason;
}

static void programs_show_that_a_model_has_drifted(void)
{
	struct forecaster forecaster;
	struct sample sample;

	sample_make(&sample, 2, 4, 0);
	train(&forecaster, &sample, PROGRAMS_AUTO);
	CHECK_INT(find_reason(&sample, &forecaster, false), RETRAINING_NONE);
	add_programs(&sample, CUT, SAMPLE_START + 2 * DAY, true);
	CHECK_INT(find_reason(&sample, &forecaster, false), RETRAINING_DRIFT);
	CHECK_INT(find_reason(&sample, &forecaster, true), RETRAINING_NONE);
	forecaster_release(&forecaster);
	sample_release(&sample);
}

TESTS(TEST(writes_of_programs_become_training_data), TEST(writes_that_mislead_are_ignored),
      TEST(states_are_those_of_probes), TEST(row_uses_only_probes_that_have_ended),
      TEST(programs_show_that_a_model_has_drifted))
