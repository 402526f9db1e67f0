/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-26, WAN-33.
 */
#include "predict/forecast/states/judgment.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "check.h"
#include "forecast_sample.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/judgment_internal.h"

#define DAYS 2.5
#define CUT (SAMPLE_START + 2 * 86400)

static struct sample sample;
static struct site site;

static void plan_make(struct judgment_plan *plan, const char *methods)
{
	if (!sample.chronicle.target_count) {
		site_init(&site);
		sample_make(&sample, DAYS, 2, 0);
	}
	judgment_plan_init(plan);
	plan->labels.from_s = SAMPLE_START;
	plan->labels.to_s = CUT;
	plan->methods = methods;
	plan->folds = 4;
	plan->threads = 2;
	plan->busy = sample.busy;
}

static void judge(struct judgment *judgment, const struct judgment_plan *plan)
{
	struct err err = { 0 };

	*judgment = (struct judgment){ 0 };
	if (judgment_run(judgment, &sample.chronicle, &site, plan, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
}

static void methods_beat_the_majority_and_stay_below_the_ceiling(void)
{
	struct judgment_plan plan;
	struct judgment j;

	plan_make(&plan, "svm,logistic,hidden,persistence,majority");
	judge(&j, &plan);
	CHECK_INT(j.case_count, SAMPLE_TARGETS * 2);
	for (size_t i = 0; i < j.case_count; i++) {
		const struct judgment_case *c = &j.cases[i];
		double majority = c->cells[JUDGMENT_MAJORITY].accuracy;

		CHECK_INT(c->train, 576);
		CHECK_INT(c->test, 144);
		CHECK(c->label_truth > 0.85 && c->label_truth < 1);
		for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
			const struct judgment_cell *cell = &c->cells[m];

			CHECK(cell->is_known == j.methods[m]);
			if (!cell->is_known || m == JUDGMENT_MAJORITY)
				continue;
			/* Three standard deviations of 144 drawn labels. */
			CHECK(cell->accuracy > majority - 0.02 || m == JUDGMENT_PERSISTENCE);
			CHECK(cell->accuracy < c->ceiling + 0.06);
			CHECK(cell->auc > 0.6 && cell->auc <= 1);
			CHECK(cell->latent > 0.65 && cell->latent <= 1);
			CHECK(cell->brier > 0 && cell->brier < 0.25);
		}
	}
	judgment_release(&j);
}

/* The reported values follow from the scores of the test rows. */
static void values_match_the_test_rows(void)
{
	struct judgment_plan plan;
	struct judgment j;

	plan_make(&plan, "bayes,hidden");
	plan.bytes = SAMPLE_LARGE;
	judge(&j, &plan);
	CHECK_INT(j.case_count, SAMPLE_TARGETS);
	for (size_t i = 0; i < j.case_count; i++) {
		const struct judgment_case *c = &j.cases[i];
		const struct judgment_cell *bayes = &c->cells[4];
		double right = 0, state = 0, brier = 0, n = (double)c->test;

		CHECK_TEXT(judgment_method(4), "bayes");
		for (size_t k = 0; k < c->test; k++) {
			right += (bayes->score[k] > 0.5) == (c->labels[k] == 1);
			state += (bayes->score[k] > 0.5) == c->busy[k];
			brier += pow(bayes->chance[k] - c->labels[k], 2);
		}
		CHECK(fabs(bayes->accuracy - right / n) < 1e-12);
		CHECK(fabs(bayes->latent - state / n) < 1e-12);
		CHECK(fabs(bayes->brier - brier / n) < 1e-12);
		CHECK(bayes->auc == metrics_auc(c->labels, bayes->score, c->test));
	}
	judgment_release(&j);
}

static void rows_of_a_case_match_its_evaluation(void)
{
	struct judgment_plan plan;
	struct judgment_rows rows;
	struct features features;
	struct judgment j;
	size_t blocks = 0, first[4] = { 0 };

	plan_make(&plan, "majority");
	judge(&j, &plan);
	features_init(&features, &sample.chronicle, &site, &plan.features);
	REQUIRE(judgment_rows_make(&rows, &j, &sample.chronicle, &features, &plan, 1, 2, NULL) ==
		0);
	CHECK_INT(rows.train, 576);
	CHECK_INT(rows.rows.rows, 720);
	CHECK_INT(rows.rows.width, 16);
	for (size_t i = 0; i < rows.rows.rows; i++) {
		CHECK((rows.rows.time_s[i] < CUT) == (i < rows.train));
		CHECK(rows.busy[i] == sample.busy[1 * CHRONICLE_SIZES + 2][i]);
	}
	/* The rows of a time block are adjacent; those of a shuffled fold are not. */
	for (size_t i = 1; i < rows.train; i++)
		blocks += rows.blocked[i] != rows.blocked[i - 1];
	CHECK_INT(blocks, 3);
	for (size_t i = 0; i < 20; i++)
		first[rows.shuffled[i]]++;
	CHECK(first[0] && first[1] && first[2] && first[3]);
	for (size_t i = 0; i < 144; i++)
		CHECK(j.cases[3].labels[i] == rows.labels[576 + i]);
	judgment_rows_release(&rows);
	features_release(&features);
	judgment_release(&j);
}

/* A label may be used only if its write had ended before the forecast was made. */
static void persistence_does_not_look_ahead(void)
{
	double time_s[] = { 0, 100, 200, 300, 400 }, seconds[] = { 5, 150, 5, 5, 5 };
	double labels[] = { 0, 1, 0, 1, 0 }, posterior[5] = { 0 };
	double score[3] = { 0 }, chance[3];
	struct judgment_rows rows = { .rows = { .time_s = time_s, .seconds = seconds, .rows = 5 },
				      .labels = labels,
				      .posterior = posterior,
				      .train = 2 };
	struct judgment_cell cell = { .score = score, .chance = chance };

	baseline_persistence(&cell, &rows, 0);
	CHECK(score[0] == 0); /* the write of 100 s has not ended at 200 s */
	CHECK(score[1] == 0); /* at 300 s it has ended, as has the later one of 200 s */
	CHECK(score[2] == 1);
	CHECK(fabs(cell.accuracy - 1. / 3) < 1e-12);
	baseline_persistence(&cell, &rows, 100);
	CHECK(score[1] == 0 && score[2] == 0);
}

/* Later probes do not change the state that the chain gives for a time. */
static void the_chain_does_not_look_ahead(void)
{
	struct judgment_plan plan;
	struct filter before, after;
	struct sample other;
	double at = CUT + 3000;

	plan_make(&plan, NULL);
	sample_make(&other, DAYS, 2, 0);
	for (size_t t = 0; t < SAMPLE_TARGETS; t++) {
		struct chronicle_series *probes = chronicle_series(&other.chronicle, t, 0);

		for (size_t i = 0; i < probes->count; i++)
			if (probes->time_s[i] > at)
				probes->seconds[i] = 7;
		filter_init(&before, &sample.chronicle, t, SAMPLE_START, CUT, INFINITY);
		filter_init(&after, &other.chronicle, t, SAMPLE_START, CUT, INFINITY);
		REQUIRE(before.chain.is_known && after.chain.is_known);
		CHECK(fabs(before.chain.step_s - 30) < 1e-9);
		CHECK(filter_at(&before, at, at) == filter_at(&after, at, at));
		CHECK(filter_at(&before, at + 300, at) == filter_at(&after, at + 300, at));
		CHECK(filter_at(&before, at + 300, at + 300) !=
		      filter_at(&after, at + 300, at + 300));
		/* Far ahead, the chain gives its stationary probability. */
		CHECK(fabs(filter_at(&before, at + 1e7, at) - before.chain.hidden.start) < 1e-6);
		/* Older probes are forgotten, so that the newest ones give the same state. */
		CHECK(fabs(chain_state(&before.chain, before.probes, at, 0) -
			   filter_at(&before, at, at)) < 1e-6);
		CHECK(fabs(chain_state(&before.chain, before.probes, at, 300) -
			   filter_at(&before, at + 300, at)) < 1e-6);
		filter_release(&before);
		filter_release(&after);
	}
	sample_release(&other);
}

/* The choice is as good as what it chooses from, and says what it is. */
static void choice_is_tested_on_later_days(void)
{
	struct judgment_plan plan;
	struct judgment judgment;

	plan_make(&plan, "auto,logistic,majority");
	judge(&judgment, &plan);
	CHECK(judgment.methods[JUDGMENT_AUTO]);
	CHECK(judgment.chains != NULL);
	for (size_t i = 0; i < judgment.case_count; i++) {
		const struct judgment_cell *cells = judgment.cases[i].cells;

		REQUIRE(cells[JUDGMENT_AUTO].is_known && cells[JUDGMENT_AUTO].chosen);
		CHECK(strcmp(cells[JUDGMENT_AUTO].chosen, "shares") != 0);
		CHECK(cells[JUDGMENT_AUTO].log_loss < cells[JUDGMENT_MAJORITY].log_loss - 0.05);
		CHECK(cells[JUDGMENT_AUTO].log_loss < cells[6].log_loss + 0.05);
		CHECK(cells[JUDGMENT_AUTO].accuracy > cells[JUDGMENT_MAJORITY].accuracy);
	}
	judgment_release(&judgment);
	plan_make(&plan, NULL);
	judge(&judgment, &plan);
	CHECK(!judgment.methods[JUDGMENT_AUTO]);
	judgment_release(&judgment);
}

static void timeouts_and_ages_of_probes_are_counted(void)
{
	struct chronicle_series *series;
	struct judgment_plan plan;
	struct judgment j;
	uint8_t outcome;
	size_t last;

	plan_make(&plan, "majority");
	plan.bytes = SAMPLE_LARGE;
	plan.features.earlier_rounds = true;
	series = chronicle_series(&sample.chronicle, 0,
				  (size_t)chronicle_find_size(&sample.chronicle, SAMPLE_LARGE));
	last = series->count - 1;
	outcome = series->outcome[last];
	series->outcome[last] = SAMPLE_TIMEOUT;
	judge(&j, &plan);
	series->outcome[last] = outcome;
	CHECK_INT(j.cases[0].timeouts, 1);
	CHECK(j.cases[0].labels[j.cases[0].test - 1] == 1);
	CHECK_INT(j.cases[1].timeouts, 0);
	CHECK(j.cases[0].probe_age_s > 0 && j.cases[0].probe_age_s < 600);
	judgment_release(&j);
	plan.features.earlier_rounds = false;
	judge(&j, &plan);
	CHECK_INT(j.cases[0].timeouts, 0);
	CHECK(j.cases[0].probe_age_s == 0);
	judgment_release(&j);
}

static void sums_are_over_targets(void)
{
	struct judgment_case cases[5] = { 0 };
	struct judgment j = { .cases = cases, .case_count = 5 };
	struct judgment_sum sum;

	for (size_t i = 0; i < 5; i++) {
		cases[i].size = i < 4 ? 1 : 2;
		cases[i].ceiling = 0.9;
		cases[i].cells[0].is_known = i != 3;
		cases[i].cells[0].accuracy = 0.6 + 0.1 * (double)i;
	}
	judgment_sum(&j, 1, 0, offsetof(struct judgment_cell, accuracy), 0.65, &sum);
	CHECK_INT(sum.count, 3);
	CHECK(fabs(sum.mean - 0.7) < 1e-12 && fabs(sum.median - 0.7) < 1e-12);
	CHECK(fabs(sum.quartile - 0.65) < 1e-12 && fabs(sum.most - 0.8) < 1e-12);
	CHECK(fabs(sum.above - 2. / 3) < 1e-12);
	judgment_sum_cases(&j, 2, offsetof(struct judgment_case, ceiling), 0, &sum);
	CHECK(sum.count == 1 && sum.mean == 0.9);
	judgment_sum(&j, 7, 0, 0, 0, &sum);
	CHECK(!sum.count && isnan(sum.mean));
}

static void long_writes_are_counted_by_predicted_state(void)
{
	double seconds[20], score[20];
	struct judgment_case c = { .size = 1, .test = 20, .seconds = seconds };
	struct judgment j = { .cases = &c, .case_count = 1 };
	struct judgment_split split;

	for (int i = 0; i < 20; i++) {
		seconds[i] = 1 + 0.1 * i;
		score[i] = i >= 15;
	}
	c.cells[0] = (struct judgment_cell){ .is_known = true, .score = score };
	judgment_split(&j, 1, 0, 2.05, &split);
	CHECK(split.idle == 15 && split.busy == 5);
	CHECK(split.tail_recall == 1);
	CHECK(fabs(split.idle_below - 11. / 15) < 1e-12);
	CHECK(split.busy_below == 0);
	score[19] = 0;
	judgment_split(&j, 1, 0, 2.05, &split);
	CHECK(split.tail_recall == 0);
}

/* Half of the rows are predicted to be busy with each probability; then so many of ten are. */
static void check_calibration(double low, double high, int low_of_ten, int high_of_ten,
			      bool is_good, const char *words)
{
	double labels[1000], chance[1000];
	struct judgment_case c = { .size = 1, .test = 1000, .labels = labels };
	struct judgment j = { .cases = &c, .case_count = 1 };
	struct judgment_reliability reliability;
	AUTO_BUF struct buf text = { 0 };

	for (int i = 0; i < 1000; i++) {
		chance[i] = i % 2 ? high : low;
		labels[i] = i / 2 % 10 < (i % 2 ? high_of_ten : low_of_ten);
	}
	c.cells[0] = (struct judgment_cell){ .is_known = true, .chance = chance, .score = chance };
	judgment_reliability(&j, 1, 0, &reliability);
	CHECK_INT(reliability.rows, 1000);
	CHECK(judgment_is_calibrated(&reliability) == is_good);
	judgment_reliability_text(&reliability, &text);
	CHECK(strstr(buf_text(&text), words) != NULL);
	CHECK((strncmp(buf_text(&text), "calibrated", 10) == 0) == is_good);
	judgment_reliability(&j, 2, 0, &reliability);
	CHECK_INT(reliability.rows, 0);
}

static void calibration_is_stated(void)
{
	check_calibration(0.2, 0.8, 2, 8, true, "differ");
	check_calibration(0.2, 0.8, 5, 9, false, "too rarely");
	check_calibration(0.2, 0.8, 0, 5, false, "too often");
	check_calibration(0.05, 0.95, 3, 7, false, "too extreme");
	check_calibration(0.35, 0.65, 1, 9, false, "too cautious");
}

static void results_do_not_depend_on_threads(void)
{
	struct judgment_plan plan;
	struct judgment one, two;
	size_t some[] = { 2, 0 };

	plan_make(&plan, "tree,hidden");
	plan.targets = some;
	plan.target_count = 2;
	plan.threads = 1;
	judge(&one, &plan);
	plan.threads = 4;
	judge(&two, &plan);
	CHECK_INT(one.case_count, 4);
	CHECK_INT(one.cases[0].target, 2);
	for (size_t i = 0; i < one.case_count; i++)
		for (size_t m = 0; m < JUDGMENT_METHODS; m++)
			CHECK(memcmp(one.cases[i].cells[m].chance, two.cases[i].cells[m].chance,
				     one.cases[i].test * sizeof(double)) == 0);
	judgment_release(&one);
	judgment_release(&two);
}

static void invalid_plans_are_refused(void)
{
	struct judgment_plan plan;
	struct judgment j = { 0 };
	struct err err = { 0 };

	plan_make(&plan, "svm,nope");
	CHECK_INT(judgment_run(&j, &sample.chronicle, &site, &plan, &err), -EINVAL);
	CHECK(strstr(err.text, "\"nope\""));
	plan_make(&plan, "majority");
	plan.bytes = 12345;
	CHECK_INT(judgment_run(&j, &sample.chronicle, &site, &plan, &err), -ENODATA);
	plan_make(&plan, "majority");
	plan.labels.to_s = SAMPLE_START + 1;
	CHECK_INT(judgment_run(&j, &sample.chronicle, &site, &plan, &err), -ENODATA);
	CHECK(!j.cases);
}

TESTS(TEST(methods_beat_the_majority_and_stay_below_the_ceiling), TEST(values_match_the_test_rows),
      TEST(rows_of_a_case_match_its_evaluation), TEST(persistence_does_not_look_ahead),
      TEST(the_chain_does_not_look_ahead), TEST(choice_is_tested_on_later_days),
      TEST(timeouts_and_ages_of_probes_are_counted), TEST(sums_are_over_targets),
      TEST(long_writes_are_counted_by_predicted_state), TEST(calibration_is_stated),
      TEST(results_do_not_depend_on_threads), TEST(invalid_plans_are_refused))
