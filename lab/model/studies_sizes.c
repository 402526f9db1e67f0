/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The study of sizes: learns from a part of the training data (Figure 10).
 * Papers: HYB-50.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lab/model/contest.h"
#include "lab/model/studies_internal.h"
#include "learn/math/random.h"

#define CELLS_MIN 2
#define ROUNDING 1e-9 /* a share of n cells that is this close to a whole number is one */

/* Orders by operation and arguments, so that the rows of one cell are adjacent. */
static int compare_cells(const void *a, const void *b)
{
	const struct element *x = *(const struct element *const *)a,
			     *y = *(const struct element *const *)b;
	double p[] = { x->nodes, x->cores, x->senders, x->receivers, x->writers, x->bytes };
	double q[] = { y->nodes, y->cores, y->senders, y->receivers, y->writers, y->bytes };
	int order = strcmp(x->operation, y->operation);

	if (!order)
		order = strcmp(x->placement, y->placement);
	for (size_t i = 0; !order && i < sizeof(p) / sizeof(*p); i++)
		order = p[i] < q[i] ? -1 : p[i] > q[i];
	return order;
}

static bool has_same_operation(const struct element *a, const struct element *b)
{
	return strcmp(a->operation, b->operation) == 0 && strcmp(a->placement, b->placement) == 0;
}

/* Marks a random share of the cells of one operation, at least two. */
static void draw_cells(bool *is_kept, size_t cells, double share, struct random *random)
{
	size_t keep = (size_t)ceil(share * (double)cells - ROUNDING);
	AUTO_FREE size_t *order = xmalloc((cells + 1) * sizeof(*order));

	keep = keep < CELLS_MIN ? CELLS_MIN : keep;
	for (size_t i = 0; i < cells; i++)
		order[i] = i;
	random_shuffle(random, order, cells);
	for (size_t i = 0; i < keep && i < cells; i++)
		is_kept[order[i]] = true;
}

void elements_thin(struct elements *rows, double share, uint64_t seed)
{
	size_t count = rows->count, cells = 0, first = 0, kept = 0;
	AUTO_FREE const struct element **sorted = xmalloc((count + 1) * sizeof(*sorted));
	AUTO_FREE size_t *cell = xmalloc((count + 1) * sizeof(*cell));
	AUTO_FREE bool *is_kept = xcalloc(count + 1, sizeof(*is_kept)), *wanted = NULL;
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, count, sizeof(*sorted), compare_cells);
	for (size_t i = 0; i < count; i++) {
		if (i && compare_cells(&sorted[i - 1], &sorted[i]))
			cells++;
		if (i && !has_same_operation(sorted[i - 1], sorted[i])) {
			draw_cells(is_kept + first, cells - first, share, &random);
			first = cells;
		}
		cell[i] = cells;
	}
	if (count)
		draw_cells(is_kept + first, cells + 1 - first, share, &random);
	/* The result keeps the original order of the rows. */
	wanted = xcalloc(count + 1, sizeof(*wanted));
	for (size_t i = 0; i < count; i++)
		wanted[sorted[i] - rows->rows] = is_kept[cell[i]];
	for (size_t i = 0; i < count; i++)
		if (wanted[i])
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

static int run_ml_piece(struct pieces *pieces, size_t piece, struct err *err)
{
	const struct study *study = pieces->study;
	const struct contest *contest = study->contest;
	size_t repetition = piece % study->plan.repetitions;
	struct size_result *result =
		(struct size_result *)pieces->arg + piece / study->plan.repetitions;
	AUTO_FREE double *predicted =
		xmalloc(contest->instance_count * contest->choice_count * sizeof(*predicted));
	struct training training;
	int r;

	study_training(&training, study, repetition);
	training_thin(&training, (size_t)lround(result->share * (double)training.count),
		      study->plan.seed + SEED_THIN + piece);
	if (!repetition)
		result->rows = training.count;
	r = study_ml_predict(study, &training, false, repetition, predicted, err);
	training_release(&training);
	if (r >= 0)
		outcome_predicted(&result->ml, contest, repetition, predicted, NULL);
	return r;
}

static int run_hybrid_piece(struct pieces *pieces, size_t piece, struct err *err)
{
	const struct study *study = pieces->study;
	const struct contest *contest = study->contest;
	size_t repetition = piece % study->plan.repetitions;
	struct size_result *result =
		(struct size_result *)pieces->arg + piece / study->plan.repetitions;
	const struct elements *from = &study->draws[repetition];
	AUTO_FREE double *predicted = xmalloc(ROUNDS_RULES * contest->instance_count *
					      contest->choice_count * sizeof(*predicted));
	struct elements rows = { 0 };
	struct hybrid hybrid;
	int r;

	for (size_t i = 0; i < from->count; i++)
		elements_add(&rows, &from->rows[i]);
	elements_thin(&rows, result->share, study->plan.seed + SEED_THIN + piece);
	if (!repetition)
		result->rows = rows.count;
	r = study_learn(&hybrid, study, &rows, repetition, err);
	elements_release(&rows);
	if (r < 0)
		return r;
	r = study_hybrid_choose(&hybrid, study, repetition, result->hybrid, predicted, err);
	hybrid_release(&hybrid);
	return r;
}

static int run_sizes(const struct study *study, const char *stage,
		     int (*work)(struct pieces *, size_t, struct err *), const double *shares,
		     size_t count, struct size_result *results, struct err *err)
{
	struct pieces pieces = { .study = study,
				 .stage = stage,
				 .work = work,
				 .arg = results,
				 .count = count * study->plan.repetitions };
	int r;

	for (size_t i = 0; i < count; i++) {
		results[i] = (struct size_result){ .share = shares[i] };
		outcome_init(&results[i].ml, study->contest, study->plan.repetitions);
		for (int k = 0; k < HYBRID_OUTCOMES; k++)
			outcome_init(&results[i].hybrid[k], study->contest,
				     study->plan.repetitions);
	}
	r = pieces_run(&pieces, err);
	if (r < 0)
		size_results_release(results, count);
	return r;
}

int study_ml_sizes(const struct study *study, const double *shares, size_t count,
		   struct size_result *results, struct err *err)
{
	return run_sizes(study, "ml with fewer runs", run_ml_piece, shares, count, results, err);
}

int study_hybrid_sizes(const struct study *study, const double *shares, size_t count,
		       struct size_result *results, struct err *err)
{
	return run_sizes(study, "hybrid with fewer cells", run_hybrid_piece, shares, count, results,
			 err);
}

void size_results_release(struct size_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		outcome_release(&results[i].ml);
		for (int k = 0; k < HYBRID_OUTCOMES; k++)
			outcome_release(&results[i].hybrid[k]);
	}
}
