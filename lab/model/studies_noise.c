/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The study of noise: learns from training data with added noise (Figure 11).
 * Papers: HYB-51, HYB-52.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/model/contest.h"
#include "lab/model/studies_internal.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"

const double noise_levels[NOISE_LEVELS] = { 0.001, 0.01, 0.1, 0.5, 1, 2, 3, 4, 5, 6, 7 };

#define CLIP_SHARE 1e-3 /* of NOISE_CLIP */

double noise_apply(double seconds, double factor, enum noise_policy policy)
{
	if (policy == NOISE_CLIP)
		factor = fmax(factor, CLIP_SHARE);
	else if (policy == NOISE_REFLECT)
		factor = fabs(factor);
	return seconds * factor;
}

struct noise_work {
	const struct comparison *clean;
	enum noise_policy policy;
	struct noise_result *results;
	double *kendalls; /* per piece, rule of rounds and instance; ml uses the first rule */
	size_t *left_out; /* per piece */
};

/* Computes the rank correlation of predictions with and without noise for each instance. */
static void compare_orders(const struct contest *contest, const double *clean, const double *noisy,
			   double *kendalls)
{
	for (size_t i = 0; i < contest->instance_count; i++)
		kendalls[i] =
			metrics_kendall(clean + i * contest->choice_count,
					noisy + i * contest->choice_count, contest->choice_count);
}

static int evaluate_noisy_hybrid(const struct study *study, const struct noise_work *work,
				 size_t piece, size_t level, size_t repetition,
				 struct random *random, double *predicted, struct err *err)
{
	double sigma = work->results[level].sigma;
	const struct elements *from = &study->draws[repetition];
	struct elements rows = { 0 };
	struct hybrid hybrid;
	int r;

	for (size_t i = 0; i < from->count; i++) {
		struct element row = from->rows[i];

		row.seconds =
			noise_apply(row.seconds, 1 + sigma * random_normal(random), work->policy);
		elements_add(&rows, &row);
	}
	r = study_learn(&hybrid, study, &rows, repetition, err);
	elements_release(&rows);
	if (r < 0)
		return r;
	r = study_hybrid_choose(&hybrid, study, repetition, work->results[level].hybrid, predicted,
				err);
	for (int i = 0; i < OPERATIONS; i++)
		work->left_out[piece] += hybrid.costs.of[i].left_out;
	hybrid_release(&hybrid);
	return r;
}

static int evaluate_noisy_ml(const struct study *study, const struct noise_work *work, size_t level,
			     size_t repetition, struct random *random, double *predicted,
			     struct err *err)
{
	double sigma = work->results[level].sigma;
	struct training training;
	int r;

	study_training(&training, study, repetition);
	for (size_t i = 0; i < training.count; i++)
		training.seconds[i] = noise_apply(training.seconds[i],
						  1 + sigma * random_normal(random), work->policy);
	r = study_ml_predict(study, &training, false, repetition, predicted, err);
	training_release(&training);
	if (r >= 0)
		outcome_predicted(&work->results[level].ml, study->contest, repetition, predicted,
				  NULL);
	return r;
}

/* Pieces are ordered by level, then by repetition; hybrid is even, ml is odd. */
static int run_noise_piece(struct pieces *pieces, size_t piece, struct err *err)
{
	const struct study *study = pieces->study;
	const struct noise_work *work = pieces->arg;
	const struct contest *contest = study->contest;
	size_t cells = contest->instance_count * contest->choice_count;
	size_t repetition = piece / 2 % study->plan.repetitions;
	size_t level = piece / 2 / study->plan.repetitions;
	size_t rules = piece % 2 ? 1 : ROUNDS_RULES;
	AUTO_FREE double *predicted = xmalloc(rules * cells * sizeof(*predicted));
	const double *clean = piece % 2 ? work->clean->ml : work->clean->hybrid;
	struct random random;
	int r;

	random_stream(&random, study->plan.seed + SEED_NOISE, piece);
	if (piece % 2)
		r = evaluate_noisy_ml(study, work, level, repetition, &random, predicted, err);
	else
		r = evaluate_noisy_hybrid(study, work, piece, level, repetition, &random, predicted,
					  err);
	for (size_t i = 0; i < rules && r >= 0; i++)
		compare_orders(
			contest, clean + (repetition * rules + i) * cells, predicted + i * cells,
			work->kendalls + (piece * ROUNDS_RULES + i) * contest->instance_count);
	return r;
}

/* The mean over instances and repetitions; NAN values (all predictions equal) are skipped. */
static double mean_kendall(const struct noise_work *work, const struct study *study, size_t level,
			   size_t which, size_t rule)
{
	size_t instances = study->contest->instance_count, count = 0;
	double sum = 0;

	for (size_t k = 0; k < study->plan.repetitions; k++) {
		size_t piece = (level * study->plan.repetitions + k) * 2 + which;

		for (size_t i = 0; i < instances; i++) {
			double value =
				work->kendalls[(piece * ROUNDS_RULES + rule) * instances + i];

			if (isnan(value))
				continue;
			sum += value;
			count++;
		}
	}
	return count ? sum / (double)count : NAN;
}

int study_noise(const struct study *study, const struct comparison *clean, enum noise_policy policy,
		const double *sigmas, size_t count, struct noise_result *results, struct err *err)
{
	size_t repetitions = study->plan.repetitions, pieces_count = 2 * count * repetitions;
	AUTO_FREE double *kendalls = xcalloc(
		pieces_count * ROUNDS_RULES * study->contest->instance_count, sizeof(*kendalls));
	AUTO_FREE size_t *left_out = xcalloc(pieces_count, sizeof(*left_out));
	struct noise_work work = { clean, policy, results, kendalls, left_out };
	struct pieces pieces = { .study = study,
				 .stage = "noise",
				 .work = run_noise_piece,
				 .arg = &work,
				 .count = pieces_count };
	int r;

	for (size_t i = 0; i < count; i++) {
		results[i] = (struct noise_result){ .sigma = sigmas[i] };
		for (int k = 0; k < HYBRID_OUTCOMES; k++)
			outcome_init(&results[i].hybrid[k], study->contest, repetitions);
		outcome_init(&results[i].ml, study->contest, repetitions);
	}
	r = pieces_run(&pieces, err);
	for (size_t i = 0; i < count && r >= 0; i++) {
		for (size_t k = 0; k < ROUNDS_RULES; k++)
			results[i].hybrid_kendall[k] = mean_kendall(&work, study, i, 0, k);
		results[i].ml_kendall = mean_kendall(&work, study, i, 1, 0);
		for (size_t k = 0; k < repetitions; k++)
			results[i].left_out += left_out[(i * repetitions + k) * 2];
	}
	if (r < 0)
		noise_results_release(results, count);
	return r;
}

void noise_results_release(struct noise_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (int k = 0; k < HYBRID_OUTCOMES; k++)
			outcome_release(&results[i].hybrid[k]);
		outcome_release(&results[i].ml);
	}
}
