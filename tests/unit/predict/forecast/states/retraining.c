/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-4.
 */
#include "predict/forecast/states/retraining.h"

#include <math.h>

#include "check.h"
#include "forecast_sample.h"
#include "predict/forecast/site.h"

#define DAY 86400.0
#define CUT (SAMPLE_START + 1.5 * DAY)

/* A model trained on the first 1.5 of 3 days and scored on the rest. */
struct bed {
	struct sample sample;
	struct site site;
	struct features features;
	struct forecaster forecaster;
	struct retraining retraining;
};

static void bed_make(struct bed *bed, double fade)
{
	struct retraining_policy policy;
	struct forecaster_plan plan;

	*bed = (struct bed){ 0 };
	site_init(&bed->site);
	sample_make(&bed->sample, 3, 4, fade);
	forecaster_plan_init(&plan);
	REQUIRE(forecast_method_plan(&plan.pipeline, "logistic", NULL, NULL) == 0);
	/* Uses probes only, because jobs would still reveal the state when probes do not. */
	plan.features.groups = FEATURE_LATENCY;
	plan.labels.to_s = CUT;
	plan.folds = 4;
	REQUIRE(forecaster_fit(&bed->forecaster, &bed->sample.chronicle, &bed->site, &plan, NULL) ==
		0);
	bed->forecaster.made_s = (int64_t)CUT;
	features_init(&bed->features, &bed->sample.chronicle, &bed->site, &plan.features);
	retraining_policy_init(&policy);
	policy.answers = 400;
	retraining_init(&bed->retraining, &policy, &bed->forecaster);
}

static void bed_release(struct bed *bed)
{
	retraining_release(&bed->retraining);
	features_release(&bed->features);
	forecaster_release(&bed->forecaster);
	sample_release(&bed->sample);
	site_release(&bed->site);
}

static void an_accurate_model_is_kept_until_its_schedule(void)
{
	struct bed bed;
	size_t scored;

	bed_make(&bed, 0);
	scored = retraining_score(&bed.retraining, &bed.forecaster, &bed.features, CUT + DAY / 2);
	/* 144 writes of two sizes to four targets. */
	CHECK(scored >= 1140 && scored <= 1152);
	CHECK(bed.retraining.right / (double)scored > 0.7);
	CHECK(!bed.retraining.drifted);
	CHECK_INT(retraining_due(&bed.retraining, CUT + DAY / 2), RETRAINING_NONE);
	CHECK_INT(retraining_due(&bed.retraining, CUT + DAY - 1), RETRAINING_NONE);
	CHECK_INT(retraining_due(&bed.retraining, CUT + DAY), RETRAINING_SCHEDULE);
	/* No write is scored twice. */
	CHECK_INT(retraining_score(&bed.retraining, &bed.forecaster, &bed.features, CUT + DAY / 2),
		  0);
	CHECK_INT(bed.retraining.scored, scored);
	bed.retraining.policy.every_s = 0;
	CHECK_INT(retraining_due(&bed.retraining, CUT + 100 * DAY), RETRAINING_NONE);
	bed_release(&bed);
}

static void drift_of_a_model_is_detected(void)
{
	struct bed bed;

	bed_make(&bed, 1);
	retraining_score(&bed.retraining, &bed.forecaster, &bed.features, CUT + DAY);
	CHECK(bed.retraining.drifted);
	CHECK_INT(retraining_due(&bed.retraining, CUT + DAY / 2), RETRAINING_DRIFT);
	/* There is a minimum time between trainings. */
	CHECK_INT(retraining_due(&bed.retraining, CUT + 60), RETRAINING_NONE);
	bed_release(&bed);
}

/* Many checks score the same forecasts in the same order as a single one. */
static void many_checks_give_the_result_of_one(void)
{
	struct bed one, many;

	bed_make(&one, 0.3);
	bed_make(&many, 0.3);
	retraining_score(&one.retraining, &one.forecaster, &one.features, CUT + DAY);
	for (int i = 1; i <= 48; i++)
		retraining_score(&many.retraining, &many.forecaster, &many.features,
				 CUT + i * DAY / 48);
	CHECK_INT(one.retraining.scored, many.retraining.scored);
	CHECK(fabs(one.retraining.right - many.retraining.right) < 1e-6);
	for (size_t s = 1; s < 3; s++)
		CHECK(drift_share(&one.retraining.drifts[s]) ==
		      drift_share(&many.retraining.drifts[s]));
	CHECK(one.retraining.drifted == many.retraining.drifted);
	bed_release(&one);
	bed_release(&many);
}

static void new_targets_are_a_reason_to_train(void)
{
	struct bed bed;

	bed_make(&bed, 0);
	chronicle_add_target(&bed.sample.chronicle, "oss9");
	features_update(&bed.features);
	retraining_score(&bed.retraining, &bed.forecaster, &bed.features, CUT + 100);
	CHECK_INT(retraining_due(&bed.retraining, CUT + 2 * 3600), RETRAINING_CHANGED);
	bed_release(&bed);
}

static void a_missing_model_is_trained_at_once(void)
{
	struct retraining_policy policy;
	struct retraining retraining;

	retraining_policy_init(&policy);
	retraining_init(&retraining, &policy, NULL);
	CHECK_INT(retraining_due(&retraining, 0), RETRAINING_MISSING);
	retraining_release(&retraining);
}

TESTS(TEST(an_accurate_model_is_kept_until_its_schedule), TEST(drift_of_a_model_is_detected),
      TEST(many_checks_give_the_result_of_one), TEST(new_targets_are_a_reason_to_train),
      TEST(a_missing_model_is_trained_at_once))
