/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-45.
 */
#include "lab/model/blackbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "lab/model/contest.h"
#include "learn/judge/selection.h"
#include "learn/math/random.h"
#include "learn/table/folds.h"

#define INPUTS 4
#define CANDIDATES 30
#define FOLDS 10

/* The methods of the paper; "rules" corresponds to Cubist. */
static const char *const method_names[] = { "linear", "neighbours", "rules",
					    "svm",    "forest",	    "perceptron" };
#define METHODS (sizeof(method_names) / sizeof(*method_names))

static const char *const recipes[] = { "boxcox,center,scale", "center,scale",
				       "boxcox,center,scale,pca", NULL };

void training_init(struct training *training, const struct contest *contest, uint64_t seed,
		   size_t repetition)
{
	size_t longer = contest->aggregator_count > contest->buffer_count
				? contest->aggregator_count
				: contest->buffer_count;
	size_t room = contest->instance_count * longer;

	training->points = xmalloc(room * sizeof(*training->points));
	training->seconds = xmalloc(room * sizeof(*training->seconds));
	training->count = contest_design(contest, seed + repetition, training->points);
	for (size_t i = 0; i < training->count; i++)
		training->seconds[i] =
			contest_seconds(contest, training->points[i] / contest->choice_count,
					training->points[i] % contest->choice_count, repetition);
}

void training_thin(struct training *training, size_t count, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count && i < training->count; i++) {
		size_t other = i + random_below(&random, training->count - i);
		size_t point = training->points[i];
		double seconds = training->seconds[i];

		training->points[i] = training->points[other];
		training->seconds[i] = training->seconds[other];
		training->points[other] = point;
		training->seconds[other] = seconds;
	}
	if (count < training->count)
		training->count = count;
}

void training_release(struct training *training)
{
	free(training->points);
	free(training->seconds);
	*training = (struct training){ 0 };
}

static void fill_inputs(const struct contest *contest, size_t point, double *x)
{
	const struct access *access = &contest->instances[point / contest->choice_count];
	const struct settings *settings = &contest->choices[point % contest->choice_count];

	x[0] = (double)access->nodes;
	x[1] = (double)access->rank_bytes;
	x[2] = (double)settings->aggregators;
	x[3] = (double)settings->buffer_bytes;
}

/* The inputs of the training points. The caller frees them. */
static double *make_inputs(const struct contest *contest, const struct training *training)
{
	double *x = xmalloc(training->count * INPUTS * sizeof(*x));

	for (size_t i = 0; i < training->count; i++)
		fill_inputs(contest, training->points[i], x + i * INPUTS);
	return x;
}

static struct samples make_samples(const double *x, const struct training *training)
{
	return (struct samples){
		.x = x, .y = training->seconds, .rows = training->count, .width = INPUTS
	};
}

static int find_methods(const struct learner_ops **methods, struct err *err)
{
	for (size_t i = 0; i < METHODS; i++) {
		methods[i] = learner_find(method_names[i], LEARNER_REGRESSES, err);
		if (!methods[i])
			return -EINVAL;
	}
	methods[METHODS] = NULL;
	return 0;
}

static void fill_score(struct blackbox_score *score, const struct selection_entry *best)
{
	AUTO_BUF struct buf text = { 0 };

	score->rmse = best->mean_first;
	score->r2 = best->mean_second;
	learner_format(best->plan.learner, best->plan.settings, &text);
	snprintf(score->method, sizeof(score->method), "%s", best->plan.learner->name);
	snprintf(score->settings, sizeof(score->settings), "%s", buf_text(&text));
}

int blackbox_select(struct pipeline_plan *chosen, struct blackbox_score *score,
		    const struct contest *contest, const struct training *training,
		    const struct blackbox_plan *plan, struct err *err)
{
	const struct learner_ops *methods[METHODS + 1];
	struct selection_plan search = {
		.learners = plan->learners ? plan->learners : methods,
		.recipes = recipes,
		.log_target = plan->log_target,
		.budget = plan->budget ? plan->budget : CANDIDATES,
		.score = SELECT_RMSE,
		.seed = plan->seed,
		.threads = plan->threads,
		.progress = plan->progress,
		.progress_arg = plan->progress_arg,
	};
	AUTO_FREE double *x = make_inputs(contest, training);
	struct samples samples = make_samples(x, training);
	struct selection selection = { 0 };
	struct folds folds = { 0 };
	size_t count = plan->folds ? plan->folds : FOLDS;
	int r = plan->learners ? 0 : find_methods(methods, err);

	if (r >= 0)
		r = folds_init(&folds, FOLDS_PLAIN, count < samples.rows ? count : samples.rows,
			       samples.rows, NULL, plan->seed, err);
	if (r >= 0)
		r = selection_run(&selection, &search, &samples, &folds, err);
	if (r >= 0) {
		*chosen = selection.entries[0].plan;
		if (score)
			fill_score(score, &selection.entries[0]);
		selection_release(&selection);
	}
	folds_release(&folds);
	return r;
}

int blackbox_predict(const struct pipeline_plan *chosen, const struct contest *contest,
		     const struct training *training, uint64_t seed, double *predicted,
		     struct err *err)
{
	size_t cells = contest->instance_count * contest->choice_count;
	struct effort effort = { .seed = seed, .threads = 1 };
	struct pipeline pipeline;
	AUTO_FREE double *x = make_inputs(contest, training);
	struct samples samples = make_samples(x, training);
	int r = pipeline_fit(&pipeline, chosen, &samples, NULL, samples.rows, &effort, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < cells; i++) {
		double row[INPUTS];

		fill_inputs(contest, i, row);
		pipeline_predict(&pipeline, row, &predicted[i]);
	}
	pipeline_release(&pipeline);
	return 0;
}
