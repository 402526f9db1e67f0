/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-39.
 */
#include "predict/forecast/states/programs.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/judge/selection.h"
#include "learn/pipeline.h"
#include "learn/table/folds.h"

#define CHANCE_LEAST 1e-6

/* The rows of one target and size, with or without those of programs. */
struct rows {
	struct feature_rows rows;
	double *labels, *posterior, *guesses; /* guesses: pairs of probabilities */
	struct folds folds;
};

/* Both sets of features, and the sums of the log loss with and without the rows of programs. */
struct comparison {
	const struct programs_task *task;
	struct features features[2]; /* without, with */
	double loss[2];
};

static size_t count_in_range(const struct chronicle_series *series,
			     const struct labels_plan *labels)
{
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		count += sample_is_program(series, i) && series->time_s[i] >= labels->from_s &&
			 series->time_s[i] < labels->to_s;
	return count;
}

size_t programs_count(const struct chronicle *chronicle, const struct labels_plan *labels)
{
	size_t count = 0;

	for (size_t t = 0; t < chronicle->target_count; t++)
		for (size_t s = 1; s < chronicle->size_count; s++)
			count += count_in_range(chronicle_series(chronicle, t, s), labels);
	return count;
}

static void rows_init(struct rows *rows, const struct comparison *comparison, size_t with,
		      size_t target, size_t size)
{
	const struct programs_task *task = comparison->task;

	*rows = (struct rows){ 0 };
	features_rows(&comparison->features[with], target, size, task->labels->from_s,
		      task->labels->to_s, &rows->rows);
	rows->labels = xmalloc((rows->rows.rows + 1) * sizeof(*rows->labels));
	rows->posterior = xmalloc((rows->rows.rows + 1) * sizeof(*rows->posterior));
	rows->guesses = xmalloc((rows->rows.rows + 1) * 2 * sizeof(*rows->guesses));
	labels_draw_rows(task->states, target, size, task->labels->seed,
			 chronicle_series(task->chronicle, target, size), &rows->rows, rows->labels,
			 rows->posterior);
}

static void rows_release(struct rows *rows)
{
	feature_rows_release(&rows->rows);
	free(rows->labels);
	free(rows->posterior);
	free(rows->guesses);
	folds_release(&rows->folds);
}

/* Divides all rows at the times at which the blocks of the probes begin. */
static void copy_blocks(struct rows *all, const struct rows *probes)
{
	size_t next = 0;

	all->folds = (struct folds){ .kind = FOLDS_FORWARD,
				     .count = probes->folds.count,
				     .rows = all->rows.rows,
				     .of = xcalloc(all->rows.rows + 1, sizeof(*all->folds.of)) };
	for (size_t i = 0; i < all->rows.rows; i++) {
		while (next < probes->rows.rows && probes->rows.time_s[next] <= all->rows.time_s[i])
			next++;
		all->folds.of[i] = next ? probes->folds.of[next - 1] : 0;
	}
}

static bool guess(struct rows *rows, uint64_t seed)
{
	struct samples samples = { .x = rows->rows.x,
				   .y = rows->labels,
				   .rows = rows->rows.rows,
				   .width = rows->rows.width,
				   .classes = 2,
				   .gaps = true };
	struct effort effort = { .seed = seed, .threads = 1 };
	struct pipeline_plan plan;

	pipeline_plan_init(&plan, learner_find("logistic", LEARNER_CLASSIFIES, NULL));
	return selection_guesses(&plan, &samples, &rows->folds, &effort, rows->guesses, NULL,
				 NULL) >= 0;
}

/* The log loss of the writes of probes in the tested blocks. */
static double probes_loss(const struct rows *rows, const struct chronicle_series *series)
{
	double sum = 0;

	for (size_t i = 0; i < rows->rows.rows; i++) {
		double chance = rows->guesses[2 * i + (rows->labels[i] == 1)];

		if (rows->folds.of[i] && !sample_is_program(series, rows->rows.sample[i]))
			sum -= log(fmax(chance, CHANCE_LEAST));
	}
	return sum;
}

static void compare_series(struct comparison *comparison, size_t target, size_t size)
{
	const struct programs_task *task = comparison->task;
	const struct chronicle_series *series = chronicle_series(task->chronicle, target, size);
	struct rows without, with;

	rows_init(&without, comparison, 0, target, size);
	rows_init(&with, comparison, 1, target, size);
	if (without.rows.rows >= 2 * task->folds &&
	    folds_init(&without.folds, FOLDS_FORWARD, task->folds, without.rows.rows,
		       without.rows.time_s, task->labels->seed, NULL) >= 0) {
		copy_blocks(&with, &without);
		if (guess(&without, task->labels->seed) && guess(&with, task->labels->seed)) {
			comparison->loss[0] += probes_loss(&without, series);
			comparison->loss[1] += probes_loss(&with, series);
		}
	}
	rows_release(&with);
	rows_release(&without);
}

/* Does the series have states, and rows of programs? */
static bool can_compare(const struct programs_task *task, size_t target, size_t size)
{
	return states_mixture(task->states, target, size) &&
	       count_in_range(chronicle_series(task->chronicle, target, size), task->labels);
}

static size_t count_series(const struct programs_task *task)
{
	size_t count = 0;

	for (size_t t = 0; t < task->chronicle->target_count; t++)
		for (size_t s = 1; s < task->chronicle->size_count; s++)
			count += can_compare(task, t, s);
	return count;
}

static bool programs_mislead(const struct programs_task *task)
{
	struct comparison comparison = { .task = task };
	struct features_plan plan = *task->features;
	size_t count = count_series(task), step = 1 + count / PROGRAMS_SERIES, at = 0;

	if (!count || task->folds < 2)
		return false;
	plan.groups = FEATURE_RECENT;
	for (size_t i = 0; i < 2; i++) {
		plan.ignores_programs = !i;
		features_init(&comparison.features[i], task->chronicle, task->site, &plan);
	}
	for (size_t t = 0; t < task->chronicle->target_count; t++)
		for (size_t s = 1; s < task->chronicle->size_count; s++)
			if (can_compare(task, t, s) && at++ % step == 0)
				compare_series(&comparison, t, s);
	for (size_t i = 0; i < 2; i++)
		features_release(&comparison.features[i]);
	return comparison.loss[1] > comparison.loss[0];
}

bool programs_are_ignored(enum programs_use use, const struct programs_task *task)
{
	return use == PROGRAMS_IGNORE || (use == PROGRAMS_AUTO && programs_mislead(task));
}
