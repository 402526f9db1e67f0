/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/states/retraining.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define BUSY_THRESHOLD 0.5

void retraining_policy_init(struct retraining_policy *policy)
{
	*policy = (struct retraining_policy){
		.every_s = 86400, .rest_s = 3600, .answers = 2000, .confidence = 0.9999
	};
}

/* The expected accuracy of a size: the mean over its targets, weighted by their rows. */
static double expected_accuracy(const struct forecaster *forecaster, size_t size, size_t *rows)
{
	double sum = 0;

	*rows = 0;
	for (size_t t = 0; t < forecaster->target_count; t++) {
		const struct forecaster_model *model = forecaster_model(forecaster, t, size);

		if (!model->is_known || isnan(model->accuracy))
			continue;
		sum += model->accuracy * (double)model->rows;
		*rows += model->rows;
	}
	return *rows ? sum / (double)*rows : NAN;
}

void retraining_init(struct retraining *retraining, const struct retraining_policy *policy,
		     const struct forecaster *forecaster)
{
	*retraining =
		(struct retraining){ .policy = *policy, .trained_s = NAN, .scored_s = -INFINITY };
	if (!forecaster)
		return;
	retraining->trained_s = forecaster->made_s ? (double)forecaster->made_s : forecaster->to_s;
	retraining->scored_s = forecaster->to_s;
	for (size_t s = 1; s < forecaster->size_count; s++) {
		size_t rows;
		double expected = expected_accuracy(forecaster, s, &rows);

		retraining->watched[s] = !isnan(expected);
		if (retraining->watched[s])
			drift_init(&retraining->drifts[s], expected, rows, policy->answers,
				   policy->confidence);
	}
}

void retraining_release(struct retraining *retraining)
{
	for (size_t s = 0; s < CHRONICLE_SIZES; s++)
		if (retraining->watched[s])
			drift_release(&retraining->drifts[s]);
	*retraining = (struct retraining){ 0 };
}

struct answer {
	double time_s;
	size_t target;
	bool right;
};

struct answers {
	struct answer *all;
	size_t count, cap;
};

/* Drift detection needs the forecasts of all targets in order of time. */
static int compare_answers(const void *a, const void *b)
{
	const struct answer *one = a, *other = b;

	if (one->time_s != other->time_s)
		return one->time_s < other->time_s ? -1 : 1;
	return (one->target > other->target) - (one->target < other->target);
}

/* A series in the chronicle, and its indices in the model. */
struct place {
	size_t target, size;
	size_t known_target, known_size;
};

static void score_series(struct retraining *retraining, const struct forecaster *forecaster,
			 const struct features *features, const struct place *place, double to_s,
			 struct answers *answers)
{
	AUTO_FREE double *labels = NULL, *posterior = NULL;
	struct feature_rows rows = { 0 };
	struct forecast forecast;

	if (!forecaster_model(forecaster, place->known_target, place->known_size)->is_known)
		return;
	features_rows(features, place->target, place->size,
		      nextafter(retraining->scored_s, INFINITY), nextafter(to_s, INFINITY), &rows);
	labels = xmalloc((rows.rows + 1) * sizeof(*labels));
	posterior = xmalloc((rows.rows + 1) * sizeof(*posterior));
	labels_draw_rows(&forecaster->states, place->known_target, place->known_size,
			 forecaster->seed,
			 chronicle_series(features->chronicle, place->target, place->size), &rows,
			 labels, posterior);
	answers->all = xgrow(answers->all, &answers->cap, answers->count + rows.rows + 1,
			     sizeof(*answers->all));
	for (size_t i = 0; i < rows.rows; i++) {
		forecaster_predict(forecaster, place->known_target, place->known_size,
				   rows.x + i * rows.width, &forecast);
		answers->all[answers->count++] =
			(struct answer){ rows.time_s[i], place->known_target,
					 (forecast.busy > BUSY_THRESHOLD) == (labels[i] == 1) };
		retraining->right +=
			forecast.busy > BUSY_THRESHOLD ? posterior[i] : 1 - posterior[i];
	}
	feature_rows_release(&rows);
}

static size_t score_size(struct retraining *retraining, const struct forecaster *forecaster,
			 const struct features *features, size_t size, int known, double to_s)
{
	const struct chronicle *chronicle = features->chronicle;
	struct answers answers = { 0 };
	size_t count;

	for (size_t t = 0; t < chronicle->target_count; t++) {
		int target = forecaster_find_target(forecaster, chronicle->targets[t]);
		struct place place = { t, size, (size_t)target, (size_t)known };

		if (target < 0)
			retraining->changed = true;
		else
			score_series(retraining, forecaster, features, &place, to_s, &answers);
	}
	count = answers.count;
	if (count)
		qsort(answers.all, count, sizeof(*answers.all), compare_answers);
	for (size_t i = 0; i < count; i++)
		retraining->drifted |=
			drift_learn(&retraining->drifts[known], answers.all[i].right);
	free(answers.all);
	return count;
}

size_t retraining_score(struct retraining *retraining, const struct forecaster *forecaster,
			const struct features *features, double to_s)
{
	const struct chronicle *chronicle = features->chronicle;
	size_t scored = 0;

	for (size_t s = 1; s < chronicle->size_count; s++) {
		int size = forecaster_find_size(forecaster, chronicle->sizes[s]);

		if (size < 1)
			retraining->changed = true;
		else if (retraining->watched[size])
			scored += score_size(retraining, forecaster, features, s, size, to_s);
	}
	retraining->scored += scored;
	if (to_s > retraining->scored_s)
		retraining->scored_s = to_s;
	return scored;
}

enum retraining_reason retraining_due(const struct retraining *retraining, double now_s)
{
	double age = now_s - retraining->trained_s;

	if (isnan(retraining->trained_s))
		return RETRAINING_MISSING;
	/* Do not train again at once if the last training did not help. */
	if (age < retraining->policy.rest_s)
		return RETRAINING_NONE;
	if (retraining->changed)
		return RETRAINING_CHANGED;
	if (retraining->drifted)
		return RETRAINING_DRIFT;
	if (retraining->policy.every_s > 0 && age >= retraining->policy.every_s)
		return RETRAINING_SCHEDULE;
	return RETRAINING_NONE;
}
