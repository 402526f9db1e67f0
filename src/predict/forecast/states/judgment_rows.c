/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the rows of one target and size with labels, folds and, if known, the true states.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/table/folds.h"
#include "predict/forecast/states/judgment_internal.h"

static double accuracy_ceiling(const double *posterior, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += fmax(posterior[i], 1 - posterior[i]);
	return count ? sum / (double)count : NAN;
}

static int make_folds_of_kind(uint32_t **of, enum folds_kind kind, const struct judgment_rows *rows,
			      const double *key, const struct judgment_plan *plan, struct err *err)
{
	struct folds folds;
	int r = folds_init(&folds, kind, plan->folds, rows->train, key, plan->seed, err);

	if (r < 0)
		return r;
	*of = folds.of;
	return 0;
}

static int make_folds(struct judgment_rows *rows, const struct judgment_plan *plan, struct err *err)
{
	int r;

	if (plan->folds < 2 || rows->train < 2 * plan->folds)
		return 0;
	r = make_folds_of_kind(&rows->shuffled, FOLDS_STRATIFIED, rows, rows->labels, plan, err);
	if (r >= 0)
		r = make_folds_of_kind(&rows->blocked, FOLDS_BLOCKED, rows, rows->rows.time_s, plan,
				       err);
	return r;
}

int judgment_rows_make(struct judgment_rows *rows, const struct judgment *judgment,
		       const struct chronicle *chronicle, const struct features *features,
		       const struct judgment_plan *plan, size_t target, size_t size,
		       struct err *err)
{
	const uint8_t *busy = plan->busy ? plan->busy[target * CHRONICLE_SIZES + size] : NULL;
	struct judgment_rows made = { 0 };
	size_t count;
	int r;

	features_rows(features, target, size, plan->labels.from_s, plan->test_to_s, &made.rows);
	count = made.rows.rows;
	while (made.train < count && made.rows.time_s[made.train] < plan->labels.to_s)
		made.train++;
	made.labels = xmalloc((count + 1) * sizeof(*made.labels));
	made.posterior = xmalloc((count + 1) * sizeof(*made.posterior));
	labels_draw_rows(&judgment->states, target, size, plan->labels.seed,
			 chronicle_series(chronicle, target, size), &made.rows, made.labels,
			 made.posterior);
	made.train_ceiling = accuracy_ceiling(made.posterior, made.train);
	made.ceiling = accuracy_ceiling(made.posterior + made.train, count - made.train);
	if (busy)
		made.busy = xmalloc(count + 1);
	for (size_t i = 0; busy && i < count; i++)
		made.busy[i] = busy[made.rows.sample[i]];
	r = make_folds(&made, plan, err);
	if (r < 0)
		judgment_rows_release(&made);
	else
		*rows = made;
	return r;
}

void judgment_rows_release(struct judgment_rows *rows)
{
	feature_rows_release(&rows->rows);
	free(rows->labels);
	free(rows->posterior);
	free(rows->shuffled);
	free(rows->blocked);
	free(rows->busy);
	*rows = (struct judgment_rows){ 0 };
}
