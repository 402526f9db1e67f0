/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the choice on generated rows whose best method is known.
 */
#include "predict/forecast/states/choice.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "check.h"
#include "learn/math/random.h"

enum { ROWS = 900, WIDTH = FEATURE_STATUS_COUNT + 3 + 3 + 4 + 1 + 1, STATE = WIDTH - 2, SHARE };

static double x[ROWS * WIDTH], y[ROWS], time_s[ROWS];

/* Noise in all columns; column `informative` decides on the label with some noise, -1: none. */
static struct choice_task task_make(const struct features_plan *features, int informative)
{
	struct random random;

	random_init(&random, 6);
	for (size_t i = 0; i < ROWS; i++) {
		double *row = x + i * WIDTH;

		for (size_t f = 0; f < WIDTH; f++)
			row[f] = random_real(&random);
		y[i] = informative < 0
			       ? random_real(&random) < 0.3
			       : random_real(&random) < 0.1 + 0.8 * (row[informative] > 0.5);
		time_s[i] = 300.0 * (double)i;
	}
	return (struct choice_task){ .features = features,
				     .samples = { .x = x,
						  .y = y,
						  .rows = ROWS,
						  .width = WIDTH,
						  .classes = 2,
						  .gaps = true },
				     .time_s = time_s,
				     .folds = 6,
				     .calibration = CALIBRATION_PLATT,
				     .seed = 1 };
}

static const struct features_plan all = { .groups = CHOICE_FEATURES, .window_s = 600 };

static void width_is_that_of_the_features(void)
{
	CHECK_INT(features_width(&all), WIDTH);
}

static void shares_are_used_if_nothing_is_better(void)
{
	struct choice_task task = task_make(&all, -1);
	struct choice choice;

	choice_make(&choice, &task);
	CHECK(!choice.method);
	CHECK(!choice.recent);				   /* a recent share that is noise, too */
	CHECK(fabs(choice.share_log_loss - 0.611) < 0.05); /* the entropy of 0.3 */
	CHECK(!isnan(choice.log_loss));
	choice_release(&choice);
}

static void informative_features_are_chosen(void)
{
	struct choice_task task = task_make(&all, STATE);
	struct choice choice;

	choice_make(&choice, &task);
	REQUIRE(choice.method != NULL);
	CHECK(!choice.recent);
	CHECK(choice.members[0].groups & FEATURE_STATE);
	CHECK(choice.log_loss < choice.share_log_loss - 0.1);
	CHECK(choice.accuracy > 0.8);
	choice_release(&choice);
	/* Jobs of the debug queue, which the members of the average do not use. */
	task = task_make(&all, 2);
	choice_make(&choice, &task);
	CHECK_INT(choice.member_count, 1);
	CHECK(choice.members[0].groups & FEATURE_STATUS);
	choice_release(&choice);
}

/* Columns of two methods say different things, so their average is better than either. */
static struct choice_task task_for_average(void)
{
	struct choice_task task = task_make(&all, -1);
	struct random random;

	random_init(&random, 11);
	for (size_t i = 0; i < ROWS; i++) {
		const double *row = x + i * WIDTH;
		double chance = 0.1 + 0.4 * (row[STATE] > 0.5) + 0.4 * (row[STATE - 4] > 0.5);

		y[i] = random_real(&random) < chance;
	}
	return task;
}

static void average_is_used_unless_another_candidate_is_surely_better(void)
{
	struct choice_task task = task_for_average();
	struct choice choice;

	choice_make(&choice, &task);
	CHECK_TEXT(choice.method, CHOICE_AVERAGE);
	REQUIRE(choice.member_count == CHOICE_MEMBERS);
	CHECK_TEXT(choice.members[0].method, "hidden");
	CHECK_TEXT(choice.members[1].method, "logistic");
	CHECK_TEXT(choice.members[2].method, "forest");
	CHECK(choice.log_loss < choice.share_log_loss - 0.05);
	choice_release(&choice);
}

static void forecast_is_the_mean_of_the_members(void)
{
	struct choice_task task = task_for_average();
	struct choice_model models[CHOICE_MEMBERS];
	struct choice choice;
	struct err err = { 0 };
	size_t count;

	choice_make(&choice, &task);
	REQUIRE(choice_fit(models, &count, &choice, &task, &err) == 0);
	REQUIRE(count == CHOICE_MEMBERS);
	for (size_t i = 0; i < ROWS; i += 50) {
		const double *row = x + i * WIDTH;
		double sum = 0;

		for (size_t k = 0; k < count; k++)
			sum += choice_predict(&models[k], 1, &all, row, 0.5);
		CHECK(fabs(choice_predict(models, count, &all, row, 0.5) - sum / 3) < 1e-12);
	}
	choice_models_release(models, count);
	choice_release(&choice);
}

/* A relation that held in the first half only does not convince. */
static void relation_that_ends_is_not_chosen(void)
{
	struct choice_task task = task_make(&all, STATE);
	struct choice choice;

	for (size_t i = ROWS / 3; i < ROWS; i++)
		y[i] = x[i * WIDTH + STATE] > 0.5 ? i % 10 == 0 : i % 10 != 0;
	for (size_t i = 0; i < ROWS / 3; i++)
		y[i] = x[i * WIDTH + STATE] > 0.5;
	task.folds = 2;
	choice_make(&choice, &task);
	CHECK(!choice.method);
	choice_release(&choice);
}

/*
 * Weeks of mostly busy writes follow weeks of mostly idle ones, within which the state tells more.
 * A forecast from the recent share is better than that of training, and the choice knows it.
 */
static void recent_share_is_used_if_the_share_drifts(void)
{
	struct choice_task task = task_make(&all, -1);
	struct choice choice;
	struct random random;

	random_init(&random, 8);
	for (size_t i = 0; i < ROWS; i++) {
		double *row = x + i * WIDTH;

		row[SHARE] = i / 90 % 2 ? 0.9 : 0.1;
		y[i] = random_real(&random) <
		       choice_shift(row[STATE] > 0.5 ? 0.75 : 0.25, 0.5, row[SHARE]);
	}
	choice_make(&choice, &task);
	REQUIRE(choice.method != NULL);
	CHECK(choice.recent);
	CHECK(choice.members[0].groups & FEATURE_STATE);
	CHECK(choice.accuracy > 0.85 && choice.log_loss < choice.share_log_loss);
	CHECK(choice.share_log_loss < 0.5); /* that of the recent share; 0.7 without */
	choice_release(&choice);
}

static void prior_odds_are_replaced(void)
{
	CHECK(choice_shift(0.7, 0.4, 0.4) == 0.7);
	CHECK(fabs(choice_shift(0.4, 0.4, 0.9) - 0.9) < 1e-12);
	CHECK(fabs(choice_shift(0.5, 0.5, 0.8) - 0.8) < 1e-12);
	CHECK(choice_shift(1, 0.5, 0) < 1 && choice_shift(0, 0.5, 1) > 0);
}

static void candidates_without_their_features_are_left_out(void)
{
	static const struct features_plan latency = { .groups = FEATURE_PAPER, .window_s = 600 };
	struct choice_task task = task_make(&latency, 2);
	struct choice choice;
	size_t width;
	double *part;

	task.samples.width = FEATURE_STATUS_COUNT + 3;
	for (size_t i = 1; i < ROWS; i++)
		memmove(x + i * task.samples.width, x + i * WIDTH, task.samples.width * sizeof(*x));
	choice_make(&choice, &task);
	CHECK(choice.method == NULL || strcmp(choice.method, "svm") == 0);
	choice_release(&choice);
	part = choice_columns(&latency, FEATURE_LATENCY, &task.samples, &width);
	CHECK_INT(width, 3);
	for (size_t i = 0; i < ROWS; i++)
		CHECK(part[i * 3 + 2] == x[i * task.samples.width + FEATURE_STATUS_COUNT + 2]);
	free(part);
	part = choice_columns(&latency, FEATURE_LATENCY, &task.samples, &task.samples.width);
	CHECK_INT(task.samples.width, 3);
	for (size_t i = 0; i < ROWS; i++)
		CHECK(part[i * 3 + 2] ==
		      x[i * (FEATURE_STATUS_COUNT + 3) + FEATURE_STATUS_COUNT + 2]);
	free(part);
}

TESTS(TEST(width_is_that_of_the_features), TEST(shares_are_used_if_nothing_is_better),
      TEST(informative_features_are_chosen),
      TEST(average_is_used_unless_another_candidate_is_surely_better),
      TEST(forecast_is_the_mean_of_the_members), TEST(relation_that_ends_is_not_chosen),
      TEST(recent_share_is_used_if_the_share_drifts), TEST(prior_odds_are_replaced),
      TEST(candidates_without_their_features_are_left_out))
