/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-1, WAN-24, WAN-25.
 */
#include "predict/forecast/states/forecaster.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "forecast_sample.h"
#include "learn/file/checked_file.h"
#include "learn/math/random.h"
#include "predict/forecast/site.h"

/* The data of all tests, generated on first use. */
static struct sample sample;
static struct site site;
static struct features features;

static void ensure_sample(void)
{
	struct features_plan plan;

	if (sample.chronicle.target_count)
		return;
	site_init(&site);
	sample_make(&sample, 2, 1, 0);
	features_plan_init(&plan);
	features_init(&features, &sample.chronicle, &site, &plan);
}

static void plan_quick(struct forecaster_plan *plan, const char *method)
{
	ensure_sample();
	forecaster_plan_init(plan);
	REQUIRE(forecaster_plan_method(plan, method, NULL, NULL) == 0);
	plan->folds = 4;
	plan->threads = 2;
}

static void fit(struct forecaster *forecaster, const char *method, size_t folds)
{
	struct forecaster_plan plan;
	struct err err = { 0 };

	plan_quick(&plan, method);
	plan.folds = folds;
	plan.shuffled = true;
	*forecaster = (struct forecaster){ 0 };
	if (forecaster_fit(forecaster, &sample.chronicle, &site, &plan, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
}

static void models_beat_the_majority_and_stay_below_the_ceiling(void)
{
	struct forecaster f;

	fit(&f, "svm", 4);
	CHECK_INT(f.target_count, SAMPLE_TARGETS);
	for (size_t t = 0; t < f.target_count; t++) {
		CHECK(!forecaster_model(&f, t, 0)->is_known);
		for (size_t s = 1; s < 3; s++) {
			const struct forecaster_model *m = forecaster_model(&f, t, s);

			CHECK(m->is_known);
			CHECK_INT(m->rows, 576);
			CHECK(m->accuracy > m->majority + 0.03);
			CHECK(m->accuracy < m->ceiling + 0.02);
			CHECK(m->shuffled_accuracy > m->majority + 0.03);
			CHECK(m->auc > 0.75 && m->auc < 1);
			CHECK(m->seconds >= 0);
		}
	}
	CHECK_TEXT(f.method, "svm");
	CHECK_TEXT(f.settings, "folds=0");
	CHECK(f.from_s == SAMPLE_START && f.to_s > SAMPLE_START + 2 * 86400 - 60);
	forecaster_release(&f);
}

static double *row_at(size_t target, size_t size, double time_s)
{
	static double row[FEATURES_MAX];

	ensure_sample();
	features_at(&features, target, size, time_s, row);
	return row;
}

static bool same(const struct forecast *a, const struct forecast *b)
{
	return memcmp(&a->busy, &b->busy, sizeof(double)) == 0 && a->expected_s == b->expected_s &&
	       a->idle_s == b->idle_s && a->busy_s == b->busy_s && a->is_model == b->is_model;
}

static void forecasts_do_not_depend_on_threads(void)
{
	struct forecaster one = { 0 }, two = { 0 };
	struct forecaster_plan plan;

	plan_quick(&plan, "tree");
	plan.threads = 1;
	REQUIRE(forecaster_fit(&one, &sample.chronicle, &site, &plan, NULL) == 0);
	plan.threads = 3;
	REQUIRE(forecaster_fit(&two, &sample.chronicle, &site, &plan, NULL) == 0);
	for (size_t t = 0; t < one.target_count; t++)
		for (int i = 0; i < 20; i++) {
			const double *row = row_at(t, 2, SAMPLE_START + 5000 + 7000 * i);
			struct forecast a, b;

			forecaster_predict(&one, t, 2, row, &a);
			forecaster_predict(&two, t, 2, row, &b);
			CHECK(same(&a, &b));
		}
	forecaster_release(&one);
	forecaster_release(&two);
}

static void forecasts_agree_with_the_mixture(void)
{
	struct forecaster f;
	struct forecast answer;
	const struct mixture *mixture;

	fit(&f, "logistic", 4);
	mixture = states_mixture(&f.states, 0, 2);
	forecaster_predict(&f, 0, 2, row_at(0, 2, SAMPLE_START + 86400), &answer);
	CHECK(answer.is_model && answer.busy >= 0 && answer.busy <= 1);
	CHECK(answer.idle_s == mixture_mean(mixture, 0) &&
	      answer.busy_s == mixture_mean(mixture, 1));
	CHECK(fabs(answer.idle_s / 1.853 - 1) < 0.03 && fabs(answer.busy_s / 2.75 - 1) < 0.05);
	CHECK(fabs(answer.expected_s -
		   (answer.busy * answer.busy_s + (1 - answer.busy) * answer.idle_s)) < 1e-12);
	CHECK(answer.idle_sd > 0 && answer.idle_sd < answer.busy_sd);
	forecaster_release(&f);
}

/* Of the writes with a busy probability of 80 %, 80 % are busy. */
static void probabilities_are_calibrated(void)
{
	struct forecaster f;
	double said = 0, was = 0;
	size_t rows = 0;

	fit(&f, "svm", 4);
	for (size_t t = 0; t < f.target_count; t++) {
		const struct chronicle_series *series = chronicle_series(&sample.chronicle, t, 2);
		const struct mixture *mixture = states_mixture(&f.states, t, 2);

		for (size_t i = 40; i < series->count; i += 3, rows++) {
			double posterior[MIXTURE_MAX];
			struct forecast a;

			forecaster_predict(&f, t, 2, row_at(t, 2, series->time_s[i]), &a);
			mixture_posterior(mixture, (double)series->seconds[i], posterior);
			said += a.busy;
			was += posterior[1];
		}
	}
	CHECK(rows > 600);
	CHECK(fabs(said - was) / (double)rows < 0.03);
	forecaster_release(&f);
}

static void missing_features_do_not_prevent_a_forecast(void)
{
	struct forecaster f;
	struct forecast answer;
	double row[FEATURES_MAX];

	for (size_t i = 0; i < FEATURES_MAX; i++)
		row[i] = NAN;
	for (const struct forecast_method *m = forecast_methods; m->name; m++) {
		if (strcmp(m->name, "perceptron") == 0 || strcmp(m->name, "boosting") == 0)
			continue; /* similar to the others, and slow */
		fit(&f, m->name, 0);
		forecaster_predict(&f, 1, 1, row, &answer);
		CHECK(answer.busy >= 0 && answer.busy <= 1);
		forecaster_release(&f);
	}
}

static void a_target_with_too_few_writes_uses_its_share(void)
{
	struct forecaster_plan plan;
	struct forecaster f = { 0 };
	struct forecast answer;
	struct sample small;
	size_t target;

	sample_make(&small, 1, 5, 0);
	target = chronicle_add_target(&small.chronicle, "late");
	for (int i = 0; i < 4; i++)
		chronicle_add(&small.chronicle, target, 2, SAMPLE_START + 300 * i, i ? 1.8 : 3.5,
			      SAMPLE_DONE, SAMPLE_DIRECT);
	plan_quick(&plan, "bayes");
	REQUIRE(forecaster_fit(&f, &small.chronicle, &site, &plan, NULL) == 0);
	CHECK_INT(forecaster_find_target(&f, "late"), target);
	forecaster_predict(&f, target, 2, row_at(0, 2, SAMPLE_START + 600), &answer);
	CHECK(!answer.is_model && fabs(answer.busy - 0.25) < 1e-12 && answer.expected_s > 1.85);
	forecaster_predict(&f, target, 1, row_at(0, 1, SAMPLE_START + 600), &answer);
	CHECK(!answer.is_model && isnan(answer.busy) && answer.idle_s > 0);
	forecaster_release(&f);
	sample_release(&small);
}

static void no_reference_writes_is_no_data(void)
{
	struct chronicle empty = { 0 };
	struct forecaster_plan plan;
	struct forecaster f = { 0 };
	struct err err = { 0 };

	plan_quick(&plan, "bayes");
	CHECK_INT(forecaster_fit(&f, &empty, &site, &plan, &err), -ENODATA);
	CHECK(strstr(err.text, "sluice forecast probe"));
	plan.labels.to_s = SAMPLE_START + 600;
	CHECK_INT(forecaster_fit(&f, &sample.chronicle, &site, &plan, &err), -ENODATA);
}

static bool stop_at_once(void *arg, size_t done, size_t total)
{
	*(size_t *)arg = total;
	return done >= 1;
}

static void training_can_be_interrupted(void)
{
	struct forecaster_plan plan;
	struct forecaster f = { 0 };
	size_t total = 0;

	plan_quick(&plan, "svm");
	plan.threads = 1;
	plan.progress = stop_at_once;
	plan.progress_arg = &total;
	CHECK_INT(forecaster_fit(&f, &sample.chronicle, &site, &plan, NULL), -ECANCELED);
	CHECK_INT(total, SAMPLE_TARGETS * 2);
	CHECK(!f.models);
}

static void a_loaded_model_gives_the_same_forecasts(void)
{
	char path[] = "/tmp/sluice-forecaster-XXXXXX";
	AUTO_FREE char *previous = NULL;
	struct forecaster f, loaded = { 0 };
	struct err err = { 0 };

	close(mkstemp(path));
	unlink(path);
	previous = xprintf("%s" FORECASTER_PREVIOUS, path);
	fit(&f, "svm", 4);
	f.made_s = 1600000000;
	REQUIRE(forecaster_save(&f, path, &err) == 0);
	CHECK(access(previous, F_OK) != 0);
	REQUIRE(forecaster_load(&loaded, path, &err) == 0);
	CHECK_TEXT(loaded.system, "little");
	CHECK_TEXT(loaded.targets[3], "oss3");
	CHECK(loaded.made_s == f.made_s && loaded.generation == 1 && loaded.to_s == f.to_s);
	CHECK(loaded.features.window_s == 600 && loaded.sizes[2] == SAMPLE_LARGE);
	for (size_t t = 0; t < f.target_count; t++)
		for (size_t s = 1; s < 3; s++) {
			const double *row = row_at(t, s, SAMPLE_START + 40000);
			struct forecast a, b;

			forecaster_predict(&f, t, s, row, &a);
			forecaster_predict(&loaded, t, s, row, &b);
			CHECK(same(&a, &b));
			CHECK(forecaster_model(&loaded, t, s)->accuracy ==
			      forecaster_model(&f, t, s)->accuracy);
		}
	forecaster_release(&loaded);
	/* Saving again keeps the previous file. */
	f.generation = 2;
	REQUIRE(forecaster_save(&f, path, &err) == 0);
	REQUIRE(forecaster_load(&loaded, previous, &err) == 0);
	CHECK_INT(loaded.generation, 1);
	forecaster_release(&loaded);
	REQUIRE(forecaster_load(&loaded, path, &err) == 0);
	CHECK_INT(loaded.generation, 2);
	forecaster_release(&loaded);
	forecaster_release(&f);
	unlink(path);
	unlink(previous);
}

/* A file of version 4 lacks the list of members. All models here have one. */
static void files_of_version_4_are_read(void)
{
	char path[] = "/tmp/sluice-forecaster-XXXXXX";
	static const struct checked_file_kind kind = { .schema = "sluice.forecaster",
						       .version = 1 };
	AUTO_BUF struct buf whole = { 0 }, earlier = { 0 };
	struct forecaster f, loaded = { 0 };
	struct err err = { 0 };
	struct forecast a, b;
	size_t count, known = 0;
	char *version;

	close(mkstemp(path));
	unlink(path); /* a file that exists would be kept as the previous model */
	fit(&f, "bayes", 4);
	count = f.target_count * f.size_count;
	for (size_t i = 0; i < count; i++)
		known += f.models[i].member_count;
	REQUIRE(forecaster_save(&f, path, &err) == 0);
	REQUIRE(checked_file_read(&whole, &kind, path, &err) >= 0);
	buf_add(&earlier, whole.data, whole.len - 8 - 4 * count - 8 * known);
	version = strstr(earlier.data, "sluice.forecaster/5");
	REQUIRE(version != NULL);
	version[strlen("sluice.forecaster/")] = '4';
	checked_file_end(&earlier);
	REQUIRE(forecaster_parse(&loaded, "version 4", earlier.data, earlier.len, &err) == 0);
	for (size_t t = 0; t < f.target_count; t++) {
		forecaster_predict(&f, t, 1, row_at(t, 1, SAMPLE_START + 90000), &a);
		forecaster_predict(&loaded, t, 1, row_at(t, 1, SAMPLE_START + 90000), &b);
		CHECK(a.is_model && same(&a, &b));
	}
	forecaster_release(&loaded);
	forecaster_release(&f);
	unlink(path);
}

/* The checksum is corrected, so that the loaders see the damage. */
static void check_damaged_files(const char *method)
{
	char path[] = "/tmp/sluice-forecaster-XXXXXX";
	static const struct checked_file_kind kind = { .schema = "sluice.forecaster",
						       .version = 1 };
	AUTO_BUF struct buf whole = { 0 };
	struct forecaster f, loaded = { 0 };
	struct err err = { 0 };
	struct random random;
	size_t refused = 0;
	AUTO_FREE char *previous = NULL;

	close(mkstemp(path));
	previous = xprintf("%s" FORECASTER_PREVIOUS, path);
	fit(&f, method, 4);
	REQUIRE(forecaster_save(&f, path, &err) == 0);
	REQUIRE(checked_file_read(&whole, &kind, path, &err) >= 0);
	CHECK(forecaster_parse(&loaded, "cut", whole.data, whole.len / 2, &err) < 0);
	CHECK(strstr(err.text, "train it again"));
	random_init(&random, 1);
	for (int i = 0; i < 200; i++) {
		AUTO_BUF struct buf broken = { 0 };
		size_t skip = strcspn(whole.data, "\n") + 1;

		buf_add(&broken, whole.data, whole.len - 8);
		for (int k = 0; k < 3; k++)
			broken.data[skip + random_below(&random, broken.len - skip)] ^=
				(char)(1 << random_below(&random, 8));
		checked_file_end(&broken);
		err = (struct err){ 0 };
		if (forecaster_parse(&loaded, "broken", broken.data, broken.len, &err) < 0) {
			CHECK(err.code && !loaded.models);
			refused++;
			continue;
		}
		for (size_t t = 0; t < loaded.target_count; t++)
			for (size_t s = 0; s < loaded.size_count; s++) {
				struct forecast answer;

				forecaster_predict(&loaded, t, s, row_at(0, 1, SAMPLE_START),
						   &answer);
			}
		forecaster_release(&loaded);
	}
	CHECK(refused > 10);
	forecaster_release(&f);
	unlink(path);
	unlink(previous);
}

static void damaged_files_are_refused_or_usable(void)
{
	check_damaged_files("bayes");
	check_damaged_files("auto");
}

static void methods_are_those_of_the_paper(void)
{
	struct pipeline_plan plan;
	struct err err = { 0 };

	REQUIRE(forecast_method_plan(&plan, "svm", "cost=2", NULL) == 0);
	CHECK(learner_value(plan.learner, plan.settings, "cost") == 2);
	CHECK(learner_value(plan.learner, plan.settings, "gamma") == 0);
	REQUIRE(forecast_method_plan(&plan, "forest", NULL, NULL) == 0);
	CHECK(learner_value(plan.learner, plan.settings, "trees") == 50);
	REQUIRE(forecast_method_plan(&plan, "perceptron", NULL, NULL) == 0);
	CHECK(learner_value(plan.learner, plan.settings, "hidden") == 100);
	CHECK(learner_value(plan.learner, plan.settings, "hidden2") == 0);
	REQUIRE(forecast_method_plan(&plan, "boosting", NULL, NULL) == 0);
	CHECK(learner_value(plan.learner, plan.settings, "trees") == 100);
	CHECK(learner_value(plan.learner, plan.settings, "depth") == 3);
	CHECK(learner_value(plan.learner, plan.settings, "rate") == 0.1);
	CHECK_INT(forecast_method_plan(&plan, "linear", NULL, &err), -EINVAL);
	CHECK_INT(forecast_method_plan(&plan, "svm", "trees=1", &err), -EINVAL);
	for (const struct forecast_method *m = forecast_methods; m->name; m++)
		CHECK_INT(forecast_method_plan(&plan, m->name, NULL, &err), 0);
}

/* Forecasts of a plan whose method sets its own features, before and after saving. */
static void check_method(const char *method, bool is_chosen)
{
	char path[] = "/tmp/sluice-forecaster.XXXXXX";
	struct forecaster f = { 0 }, loaded = { 0 };
	struct forecaster_plan plan;
	struct features own, own_loaded;
	struct forecast a, b;
	struct err err = { 0 };
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	close(fd);
	unlink(path); /* a file that exists would be kept as the previous model */
	plan_quick(&plan, "svm");
	REQUIRE(forecaster_plan_method(&plan, method, NULL, &err) == 0);
	REQUIRE(forecaster_fit(&f, &sample.chronicle, &site, &plan, &err) == 0);
	CHECK_TEXT(f.method, method);
	REQUIRE(forecaster_save(&f, path, &err) == 0);
	REQUIRE(forecaster_load(&loaded, path, &err) == 0);
	features_init(&own, &sample.chronicle, &site, &f.features);
	features_init(&own_loaded, &sample.chronicle, &site, &loaded.features);
	for (size_t t = 0; t < f.target_count; t++) {
		const struct forecaster_model *m = forecaster_model(&f, t, 1);
		const struct forecaster_model *m_loaded = forecaster_model(&loaded, t, 1);
		double now = SAMPLE_START + 90000;

		CHECK(m->is_known && m->is_chosen == is_chosen);
		CHECK(m_loaded->is_known && m_loaded->is_chosen == is_chosen);
		CHECK(m_loaded->recent == m->recent);
		CHECK_INT(m_loaded->member_count, m->member_count);
		CHECK(m->accuracy > m->majority + 0.03);
		CHECK(!is_chosen || m->log_loss < m->share_log_loss);
		CHECK_TEXT(m_loaded->method, m->method);
		forecaster_predict_at(&f, &own, t, 1, now, &a);
		forecaster_predict_at(&loaded, &own_loaded, t, 1, now, &b);
		CHECK(a.is_model && same(&a, &b));
	}
	features_release(&own);
	features_release(&own_loaded);
	forecaster_release(&f);
	forecaster_release(&loaded);
	unlink(path);
}

static void hidden_filter_is_a_method(void)
{
	struct forecaster_plan plan;
	struct err err;

	check_method("hidden", false);
	plan_quick(&plan, "svm");
	CHECK(forecaster_plan_method(&plan, "hidden", "cost=2", &err) == -EINVAL);
}

static void methods_are_chosen_for_each_target(void)
{
	check_method("auto", true);
}

/* Labels that nothing predicts: shares are used, and the model says why. */
static void targets_without_a_better_method_use_shares(void)
{
	struct forecaster_plan plan;
	struct forecaster f = { 0 };
	struct forecast forecast;
	struct features own;
	struct sample noise;
	struct random random;
	size_t useful = 0;
	struct err err = { 0 };

	random_init(&random, 9);
	plan_quick(&plan, "svm");
	sample_make(&noise, 2, 1, 0);
	for (size_t t = 0; t < SAMPLE_TARGETS; t++)
		for (size_t s = 0; s < 3; s++) {
			struct chronicle_series *series = chronicle_series(&noise.chronicle, t, s);

			for (size_t i = 0; i < series->count; i++)
				series->seconds[i] = (float)((random_real(&random) < 0.3 ? 5 : 2) *
							     exp(0.05 * random_normal(&random)));
		}
	REQUIRE(forecaster_plan_method(&plan, "auto", NULL, &err) == 0);
	REQUIRE(forecaster_fit(&f, &noise.chronicle, &site, &plan, &err) == 0);
	for (size_t t = 0; t < f.target_count; t++) {
		const struct forecaster_model *m = forecaster_model(&f, t, 1);

		CHECK(!m->is_known || m->is_chosen);
		CHECK(m->is_known || forecaster_model_is_rejected(m));
		useful += forecaster_model_is_useful(m);
		forecaster_predict(&f, t, 1, NULL, &forecast);
		CHECK(fabs(forecast.busy - 0.3) < 0.1);
		features_init(&own, &noise.chronicle, &site, &f.features);
		forecaster_predict_at(&f, &own, t, 1, SAMPLE_START + 90000, &forecast);
		CHECK(fabs(forecast.busy - 0.3) < 0.25); /* the recent share varies */
		features_release(&own);
	}
	CHECK(useful <= 1);
	CHECK(forecaster_model_is_rejected(forecaster_model(&f, 0, 1)));
	forecaster_release(&f);
	sample_release(&noise);
}

/* A few right answers more than the majority may be luck; many are not. */
static void a_model_is_useful_if_it_beats_the_majority_with_confidence(void)
{
	struct forecaster_model model = {
		.is_known = true, .rows = 30, .accuracy = 0.63, .majority = 0.6
	};

	CHECK(!forecaster_model_is_useful(&model));
	model.rows = 3000;
	CHECK(forecaster_model_is_useful(&model));
	model.majority = 0.63;
	CHECK(!forecaster_model_is_useful(&model));
	model.majority = 0.6;
	model.accuracy = NAN;
	CHECK(!forecaster_model_is_useful(&model));
	model.accuracy = 1;
	model.is_known = false;
	CHECK(!forecaster_model_is_useful(&model));
}

TESTS(TEST(models_beat_the_majority_and_stay_below_the_ceiling),
      TEST(forecasts_do_not_depend_on_threads), TEST(forecasts_agree_with_the_mixture),
      TEST(probabilities_are_calibrated), TEST(missing_features_do_not_prevent_a_forecast),
      TEST(a_target_with_too_few_writes_uses_its_share), TEST(no_reference_writes_is_no_data),
      TEST(training_can_be_interrupted), TEST(a_loaded_model_gives_the_same_forecasts),
      TEST(files_of_version_4_are_read), TEST(damaged_files_are_refused_or_usable),
      TEST(methods_are_those_of_the_paper), TEST(hidden_filter_is_a_method),
      TEST(methods_are_chosen_for_each_target), TEST(targets_without_a_better_method_use_shares),
      TEST(a_model_is_useful_if_it_beats_the_majority_with_confidence))
