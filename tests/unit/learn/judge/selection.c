/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the selection with small methods of its own in place of learners.c: their results are known
 * in advance. The quality of the real methods is covered by their own tests.
 * Papers: HYB-41, HYB-44.
 */
#include "learn/judge/selection.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"
#include "learn/table/folds.h"

static void real_predict(const void *model, const double *row, double *out)
{
	(void)row;
	out[0] = *(const double *)model;
}

static double mean_of(const double *values, size_t count, size_t step)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i * step];
	return sum / (double)count;
}

/* Predicts the mean plus an offset. */
static int level_fit(void **model, const struct samples *samples, const double *settings,
		     const struct effort *effort, struct err *err)
{
	double *level = xmalloc(sizeof(*level));

	(void)effort;
	(void)err;
	*level = mean_of(samples->y, samples->rows, 1) + settings[0] * settings[1];
	*model = level;
	return 0;
}

static const struct learner_setting level_settings[] = {
	{ .name = "shift", .least = -10, .most = 10, .low = -1, .high = 1 },
	{ .name = "times",
	  .fallback = 1,
	  .least = 1,
	  .most = 9,
	  .low = 1,
	  .high = 3,
	  .whole = true },
	{ .name = "kept", .fallback = 7, .least = 0, .most = 9 },
	{ .name = "width",
	  .fallback = 2,
	  .least = 1e-3,
	  .most = 1e3,
	  .low = 1e-2,
	  .high = 1e2,
	  .logarithmic = true },
	{ 0 }
};

static const struct learner_setting no_settings[] = { { 0 } };

static const struct learner_ops level = { .name = "level",
					  .tasks = LEARNER_REGRESSES,
					  .recipe = "",
					  .settings = level_settings,
					  .fit = level_fit,
					  .predict = real_predict,
					  .free = free };

struct memory {
	struct samples samples;
	double x[400], y[400];
};

/* Memorizes rows and predicts -1 for all others. */
static int memory_fit(void **model, const struct samples *samples, const double *settings,
		      const struct effort *effort, struct err *err)
{
	struct memory *memory = xcalloc(1, sizeof(*memory));

	(void)settings;
	(void)effort;
	(void)err;
	memory->samples = *samples;
	for (size_t i = 0; i < samples->rows; i++) {
		memory->x[i] = samples->x[i * samples->width];
		memory->y[i] = samples->y[i];
	}
	*model = memory;
	return 0;
}

static void memory_predict(const void *model, const double *row, double *out)
{
	const struct memory *memory = model;

	out[0] = -1;
	for (size_t i = 0; i < memory->samples.rows; i++) {
		if (memory->x[i] == row[0])
			out[0] = memory->y[i];
	}
}

static const struct learner_ops memoriser = { .name = "memoriser",
					      .tasks = LEARNER_REGRESSES,
					      .recipe = "",
					      .settings = no_settings,
					      .fit = memory_fit,
					      .predict = memory_predict,
					      .free = free };

/* Fails on any training set that lacks the first or the last row, that is, in two folds. */
static int picky_fit(void **model, const struct samples *samples, const double *settings,
		     const struct effort *effort, struct err *err)
{
	bool first = false, last = false;

	for (size_t i = 0; i < samples->rows; i++) {
		first |= samples->x[i * samples->width] == 0;
		last |= samples->x[i * samples->width] == 99;
	}
	if (!first || !last)
		return err_set(err, EDOM, "it wants the %s row", first ? "last" : "first");
	return level_fit(model, samples, settings, effort, err);
}

static const struct learner_ops picky = { .name = "picky",
					  .tasks = LEARNER_REGRESSES,
					  .recipe = "",
					  .settings = level_settings,
					  .fit = picky_fit,
					  .predict = real_predict,
					  .free = free };

/* Fails unless its inputs are centered with exactly the rows that it gets. */
static int centred_fit(void **model, const struct samples *samples, const double *settings,
		       const struct effort *effort, struct err *err)
{
	double defaults[4] = { 0 };

	(void)settings;
	if (fabs(mean_of(samples->x, samples->rows, samples->width)) > 1e-9)
		return err_set(err, EDOM, "the inputs are not centred");
	return level_fit(model, samples, defaults, effort, err);
}

static const struct learner_ops centred = { .name = "centred",
					    .tasks = LEARNER_REGRESSES,
					    .recipe = "centre",
					    .settings = no_settings,
					    .fit = centred_fit,
					    .predict = real_predict,
					    .free = free };

/* Predicts the share of each class for every row; only the setting `temper` changes it. */
struct shares {
	double of[LEARNER_CLASSES_MAX];
	size_t classes;
};

static int shares_fit(void **model, const struct samples *samples, const double *settings,
		      const struct effort *effort, struct err *err)
{
	struct shares *shares = xcalloc(1, sizeof(*shares));

	(void)effort;
	(void)err;
	shares->classes = samples->classes;
	for (size_t i = 0; i < samples->rows; i++)
		shares->of[(size_t)samples->y[i]] += (1 - settings[0]) / (double)samples->rows;
	for (size_t i = 0; i < samples->classes; i++)
		shares->of[i] += settings[0] / (double)samples->classes;
	*model = shares;
	return 0;
}

static void shares_predict(const void *model, const double *row, double *out)
{
	const struct shares *shares = model;

	(void)row;
	memcpy(out, shares->of, shares->classes * sizeof(*out));
}

static const struct learner_setting shares_settings[] = {
	{ .name = "temper", .fallback = 0.5, .least = 0, .most = 1, .low = 0, .high = 1 }, { 0 }
};

static const struct learner_ops frequency = { .name = "frequency",
					      .tasks = LEARNER_CLASSIFIES,
					      .recipe = "",
					      .settings = shares_settings,
					      .fit = shares_fit,
					      .predict = shares_predict,
					      .free = free };

const struct learner_ops *const learners[] = { &level,	 &memoriser, &picky,
					       &centred, &frequency, NULL };

/* Only pipeline_load() needs it. */
const struct learner_ops *learner_find(const char *name, unsigned task, struct err *err)
{
	(void)name;
	(void)task;
	err_set(err, EINVAL, "nothing is loaded here");
	return NULL;
}

enum { ROWS = 100, FOLDS = 5 };

struct field {
	double x[ROWS * 2], y[ROWS];
	struct samples samples;
	struct folds folds;
};

static void field_init(struct field *field, enum folds_kind kind, size_t classes)
{
	struct random random;

	random_init(&random, 42);
	for (size_t i = 0; i < ROWS; i++) {
		field->x[2 * i] = (double)i;
		field->x[2 * i + 1] = random_real(&random);
		field->y[i] = classes ? (double)(i % 3 == 0) : 5 + random_normal(&random);
	}
	field->samples = (struct samples){
		.x = field->x, .y = field->y, .rows = ROWS, .width = 2, .classes = classes
	};
	REQUIRE(folds_init(&field->folds, kind, FOLDS, ROWS, classes ? field->y : NULL, 7, NULL) >=
		0);
}

static const struct learner_ops *const only_level[] = { &level, NULL };

static struct selection_plan plan_of(const struct learner_ops *const *list, size_t budget)
{
	return (struct selection_plan){
		.learners = list, .budget = budget, .seed = 3, .threads = 2
	};
}

static void require_run(struct selection *selection, const struct selection_plan *plan,
			const struct field *field)
{
	struct err err = { 0 };

	if (selection_run(selection, plan, &field->samples, &field->folds, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
}

static bool settings_default(const struct selection_entry *entry)
{
	double defaults[LEARNER_SETTINGS_MAX];

	learner_defaults(entry->plan.learner, defaults);
	return memcmp(defaults, entry->plan.settings,
		      learner_setting_count(entry->plan.learner) * sizeof(*defaults)) == 0;
}

static void candidates_are_defaults_and_draws_within_bounds(void)
{
	static const char *const recipes[] = { "none", "centre", NULL };
	struct selection_plan plan = plan_of(only_level, 12);
	struct selection selection = { 0 };
	size_t defaults = 0, center = 0;
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	plan.recipes = recipes;
	require_run(&selection, &plan, &field);
	CHECK_INT(selection.count, 12);
	CHECK_INT(selection.planned, 12);
	CHECK_INT(selection.folds, FOLDS);
	for (size_t i = 0; i < selection.count; i++) {
		const struct selection_entry *entry = &selection.entries[i];
		const double *s = entry->plan.settings;

		defaults += settings_default(entry);
		center += strcmp(entry->plan.recipe, "centre") == 0;
		CHECK(s[0] >= -1);
		CHECK(s[0] <= 1);
		CHECK(s[1] == 1 || s[1] == 2 || s[1] == 3);
		CHECK(s[2] == 7);
		CHECK(s[3] >= 1e-2);
		CHECK(s[3] <= 1e2);
		for (size_t j = 0; j < i; j++)
			CHECK(memcmp(s, selection.entries[j].plan.settings, 4 * sizeof(*s)) != 0 ||
			      entry->plan.recipe != selection.entries[j].plan.recipe);
	}
	CHECK_INT(defaults, 2);
	CHECK_INT(center, 6);
	selection_release(&selection);
	folds_release(&field.folds);
}

static void method_without_settings_has_one_candidate(void)
{
	static const struct learner_ops *const list[] = { &memoriser, &level, NULL };
	struct selection_plan plan = plan_of(list, 30);
	struct selection selection = { 0 };
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	require_run(&selection, &plan, &field);
	CHECK_INT(selection.count, 31);
	selection_release(&selection);
	folds_release(&field.folds);
}

static void draws_do_not_depend_on_other_methods(void)
{
	static const struct learner_ops *const list[] = { &memoriser, &level, &centred, NULL };
	struct selection_plan alone = plan_of(only_level, 9), among = plan_of(list, 9);
	struct selection one = { 0 }, other = { 0 };
	struct field field;
	size_t at = 0;

	field_init(&field, FOLDS_PLAIN, 0);
	require_run(&one, &alone, &field);
	require_run(&other, &among, &field);
	for (size_t i = 0; i < other.count; i++) {
		if (other.entries[i].plan.learner != &level)
			continue;
		CHECK(memcmp(one.entries[at].plan.settings, other.entries[i].plan.settings,
			     4 * sizeof(double)) == 0);
		at++;
	}
	CHECK_INT(at, 9);
	selection_release(&one);
	selection_release(&other);
	folds_release(&field.folds);
}

static bool entries_equal(const struct selection_entry *a, const struct selection_entry *b,
			  size_t folds)
{
	size_t bytes = folds * sizeof(double);

	if (a->plan.learner != b->plan.learner || !a->failure != !b->failure)
		return false;
	if (a->failure && strcmp(a->failure, b->failure) != 0)
		return false;
	return memcmp(a->plan.settings, b->plan.settings, 4 * sizeof(double)) == 0 &&
	       (a->failure || (memcmp(a->first, b->first, bytes) == 0 &&
			       memcmp(a->second, b->second, bytes) == 0 && a->score == b->score));
}

static void result_does_not_depend_on_threads(void)
{
	struct selection_plan plan = plan_of(NULL, 20);
	struct selection one = { 0 }, four = { 0 };
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	plan.threads = 1;
	require_run(&one, &plan, &field);
	for (int round = 0; round < 5; round++) {
		plan.threads = 4;
		require_run(&four, &plan, &field);
		REQUIRE(one.count == four.count);
		for (size_t i = 0; i < one.count; i++)
			CHECK(entries_equal(&one.entries[i], &four.entries[i], FOLDS));
		CHECK(memcmp(one.guesses, four.guesses, ROWS * sizeof(double)) == 0);
		selection_release(&four);
	}
	selection_release(&one);
	folds_release(&field.folds);
}

/* As in caret: the mean over folds of each fold's RMSE instead of the RMSE of all rows. */
static void winner_has_the_lowest_mean_of_fold_errors(void)
{
	struct selection_plan plan = plan_of(only_level, 25);
	struct selection selection = { 0 };
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	require_run(&selection, &plan, &field);
	CHECK(fabs(selection.entries[0].plan.settings[0]) < 0.2);
	for (size_t i = 0; i < selection.count; i++) {
		const struct selection_entry *entry = &selection.entries[i];
		double sum = 0;

		for (size_t f = 0; f < FOLDS; f++)
			sum += entry->first[f];
		CHECK(fabs(entry->mean_first - sum / FOLDS) < 1e-12);
		CHECK(entry->score == entry->mean_first);
		CHECK(!i || entry->score >= selection.entries[i - 1].score);
		CHECK(entry->seconds >= 0);
	}
	selection_release(&selection);
	folds_release(&field.folds);
}

static void winner_is_fitted_to_all_rows(void)
{
	struct selection_plan plan = plan_of(only_level, 1);
	struct selection selection = { 0 };
	struct field field;
	double out;

	field_init(&field, FOLDS_PLAIN, 0);
	require_run(&selection, &plan, &field);
	pipeline_predict(&selection.best, field.x, &out);
	CHECK(out == mean_of(field.y, ROWS, 1));
	selection_release(&selection);
	folds_release(&field.folds);
}

static void guesses_are_out_of_fold(void)
{
	static const struct learner_ops *const list[] = { &memoriser, NULL };
	struct selection_plan plan = plan_of(list, 1);
	struct effort effort = { .threads = 3 };
	struct selection selection = { 0 };
	struct pipeline_plan one;
	double guesses[ROWS];
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	require_run(&selection, &plan, &field);
	pipeline_plan_init(&one, &memoriser);
	CHECK_INT(
		selection_guesses(&one, &field.samples, &field.folds, &effort, guesses, NULL, NULL),
		0);
	for (size_t i = 0; i < ROWS; i++) {
		CHECK(selection.guesses[i] == -1);
		CHECK(guesses[i] == -1);
	}
	selection_release(&selection);
	folds_release(&field.folds);
}

static void untested_rows_have_no_prediction(void)
{
	struct selection_plan plan = plan_of(only_level, 2);
	struct selection selection = { 0 };
	struct field field;
	size_t without = 0;

	field_init(&field, FOLDS_FORWARD, 0);
	plan.score = SELECT_MEDIAN_ERROR;
	require_run(&selection, &plan, &field);
	for (size_t i = 0; i < ROWS; i++)
		without += isnan(selection.guesses[i]);
	CHECK(without > 0);
	CHECK(without < ROWS / 2);
	CHECK(isnan(selection.guesses[0]));
	CHECK(!isnan(selection.guesses[ROWS - 1]));
	CHECK(selection.entries[0].score > 0);
	CHECK(selection.entries[0].score < 1);
	selection_release(&selection);
	folds_release(&field.folds);
}

static void preparation_is_fitted_inside_the_fold(void)
{
	static const struct learner_ops *const list[] = { &centred, NULL };
	static const char *const none[] = { "none", NULL };
	struct selection_plan plan = plan_of(list, 1);
	struct selection selection = { 0 };
	struct err err = { 0 };
	struct field field;

	field_init(&field, FOLDS_BLOCKED, 0);
	require_run(&selection, &plan, &field);
	CHECK(!selection.entries[0].failure);
	selection_release(&selection);
	plan.recipes = none;
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -EINVAL);
	CHECK_WORDS(err.text, "centred:|inputs");
	folds_release(&field.folds);
}

/* Whichever fold fails first in time, the reported reason is that of the lowest fold number. */
static void failed_candidates_come_last_with_their_first_reason(void)
{
	static const struct learner_ops *const list[] = { &picky, &level, NULL };
	struct selection_plan plan = plan_of(list, 10);
	struct selection selection = { 0 };
	struct field field;
	const char *reason;

	field_init(&field, FOLDS_PLAIN, 0);
	reason = field.folds.of[0] < field.folds.of[ROWS - 1] ? "it wants the first row"
							      : "it wants the last row";
	if (field.folds.of[0] == field.folds.of[ROWS - 1])
		reason = "it wants the first row";
	plan.threads = 4;
	require_run(&selection, &plan, &field);
	CHECK_INT(selection.count, 20);
	for (size_t i = 0; i < selection.count; i++) {
		CHECK((selection.entries[i].failure != NULL) == (i >= 10));
		CHECK((selection.entries[i].plan.learner == &picky) == (i >= 10));
		if (i >= 10)
			CHECK_TEXT(selection.entries[i].failure, reason);
	}
	selection_release(&selection);
	folds_release(&field.folds);
}

static void log_target_is_scored_on_logarithms(void)
{
	struct selection_plan plan = plan_of(only_level, 1);
	struct selection selection = { 0 };
	double sum = 0, squares = 0;
	struct field field;
	size_t n = 0;

	field_init(&field, FOLDS_PLAIN, 0);
	plan.log_target = true;
	require_run(&selection, &plan, &field);
	for (size_t i = 0; i < ROWS; i++) {
		if (field.folds.of[i] != 0) {
			sum += log(field.y[i]);
			n++;
		}
	}
	for (size_t i = 0; i < ROWS; i++) {
		if (field.folds.of[i] == 0)
			squares += pow(log(field.y[i]) - sum / (double)n, 2);
	}
	CHECK(fabs(selection.entries[0].first[0] - sqrt(squares / (double)(ROWS - n))) < 1e-12);
	CHECK(selection.guesses[0] > 3);
	CHECK(selection.guesses[0] < 7);
	selection_release(&selection);
	folds_release(&field.folds);
}

static void classes_are_ranked_by_the_requested_metric(void)
{
	struct selection_plan plan = plan_of(NULL, 15);
	struct selection selection = { 0 };
	struct field field;

	field_init(&field, FOLDS_STRATIFIED, 2);
	plan.score = SELECT_LOG_LOSS;
	require_run(&selection, &plan, &field);
	CHECK_INT(selection.count, 15);
	for (size_t i = 1; i < selection.count; i++)
		CHECK(selection.entries[i].score >= selection.entries[i - 1].score);
	/*
	 * The unmodified shares have the lowest loss, and two thirds of the rows are of one class.
	 */
	CHECK(selection.entries[0].plan.settings[0] < 0.2);
	CHECK(fabs(selection.entries[0].mean_first - 0.66) < 1e-9);
	CHECK(selection.entries[0].mean_second == 0.5);
	CHECK(fabs(selection.guesses[0] + selection.guesses[1] - 1) < 1e-12);
	selection_release(&selection);
	plan.score = SELECT_ACCURACY;
	require_run(&selection, &plan, &field);
	/* All are equal except for those that tie the classes; the defaults come first. */
	CHECK(settings_default(&selection.entries[0]));
	selection_release(&selection);
	folds_release(&field.folds);
}

struct stopper {
	size_t calls, after;
	atomic_size_t greatest;
};

static bool stop_after(void *arg, size_t done, size_t total)
{
	struct stopper *stopper = arg;

	CHECK(done >= 1);
	CHECK(done <= total);
	stopper->greatest = done;
	return ++stopper->calls >= stopper->after;
}

static void stopped_selection_ranks_completed_candidates(void)
{
	static const struct learner_ops *const list[] = { &level, &memoriser, &centred, NULL };
	struct stopper stopper = { .after = 4 * FOLDS };
	struct selection_plan plan = plan_of(list, 30);
	struct selection selection = { 0 };
	struct err err = { 0 };
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	plan.threads = 1;
	plan.progress = stop_after;
	plan.progress_arg = &stopper;
	require_run(&selection, &plan, &field);
	CHECK_INT(selection.count, 4);
	CHECK_INT(selection.planned, 32);
	/* All methods had a turn. */
	CHECK(selection.entries[0].plan.learner == &level ||
	      selection.entries[0].plan.learner == &centred);
	CHECK(selection.entries[3].plan.learner == &memoriser);
	selection_release(&selection);
	stopper = (struct stopper){ .after = 1 };
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -ECANCELED);
	folds_release(&field.folds);
}

static void invalid_plan_is_rejected(void)
{
	static const struct learner_ops *const list[] = { &frequency, NULL };
	struct selection_plan plan = plan_of(list, 3);
	struct selection selection = { 0 };
	struct err err = { 0 };
	struct field field;

	field_init(&field, FOLDS_PLAIN, 0);
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -EINVAL);
	CHECK(strstr(err.text, "frequency"));
	plan.learners = only_level;
	plan.score = SELECT_AUC;
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -EINVAL);
	CHECK(strstr(err.text, "metric"));
	plan.score = SELECT_RMSE;
	plan.budget = 0;
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -EINVAL);
	plan.budget = 1;
	field.samples.rows--;
	CHECK_INT(selection_run(&selection, &plan, &field.samples, &field.folds, &err), -EINVAL);
	folds_release(&field.folds);
}

static void failing_fold_of_one_plan_is_reported(void)
{
	struct effort effort = { .threads = 2 };
	struct pipeline_plan plan;
	struct err err = { 0 };
	double guesses[ROWS];
	struct field field;

	field_init(&field, FOLDS_BLOCKED, 0);
	pipeline_plan_init(&plan, &picky);
	CHECK_INT(selection_guesses(&plan, &field.samples, &field.folds, &effort, guesses, NULL,
				    &err),
		  -EDOM);
	CHECK_TEXT(err.text, "fold 0: it wants the first row");
	folds_release(&field.folds);
}

TESTS(TEST(candidates_are_defaults_and_draws_within_bounds),
      TEST(method_without_settings_has_one_candidate), TEST(draws_do_not_depend_on_other_methods),
      TEST(result_does_not_depend_on_threads), TEST(winner_has_the_lowest_mean_of_fold_errors),
      TEST(winner_is_fitted_to_all_rows), TEST(guesses_are_out_of_fold),
      TEST(untested_rows_have_no_prediction), TEST(preparation_is_fitted_inside_the_fold),
      TEST(failed_candidates_come_last_with_their_first_reason),
      TEST(log_target_is_scored_on_logarithms), TEST(classes_are_ranked_by_the_requested_metric),
      TEST(stopped_selection_ranks_completed_candidates), TEST(invalid_plan_is_rejected),
      TEST(failing_fold_of_one_plan_is_reported))
