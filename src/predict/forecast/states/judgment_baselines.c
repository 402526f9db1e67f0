/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The baselines that a classifier must beat: the more frequent label, the last known label, and a
 * hidden Markov filter on the target's probes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "learn/judge/metrics.h"
#include "predict/forecast/states/judgment_internal.h"

#define MIN_SPREAD 1e-12 /* per row; below, the slope of a line is 0 */

double score_accuracy(const double *labels, const double *score, size_t count)
{
	size_t right = 0;

	for (size_t i = 0; i < count; i++)
		right += (score[i] > 0.5) == (labels[i] == 1);
	return count ? (double)right / (double)count : NAN;
}

double score_latent(const uint8_t *busy, const double *score, size_t count)
{
	size_t right = 0;

	for (size_t i = 0; busy && i < count; i++)
		right += (score[i] > 0.5) == (busy[i] != 0);
	return busy && count ? (double)right / (double)count : NAN;
}

static double busy_share(const struct judgment_rows *rows)
{
	double busy = 0;

	for (size_t i = 0; i < rows->train; i++)
		busy += rows->labels[i];
	return rows->train ? busy / (double)rows->train : NAN;
}

static void evaluate_test_rows(struct judgment_cell *cell, const struct judgment_rows *rows)
{
	size_t test = rows->rows.rows - rows->train;
	const double *labels = rows->labels + rows->train;

	cell->is_known = true;
	cell->accuracy = score_accuracy(labels, cell->score, test);
	cell->auc = metrics_auc(labels, cell->score, test);
}

void baseline_majority(struct judgment_cell *cell, const struct judgment_rows *rows)
{
	size_t test = rows->rows.rows - rows->train;
	double share = busy_share(rows);

	for (size_t i = 0; i < test; i++)
		cell->score[i] = cell->chance[i] = share;
	evaluate_test_rows(cell, rows);
	cell->shuffled_accuracy = cell->blocked_accuracy = fmax(share, 1 - share);
	cell->latent =
		score_latent(rows->busy ? rows->busy + rows->train : NULL, cell->score, test);
}

/* For each row, the label of the last write that had ended when the forecast was made. */
static void find_last_labels(const struct judgment_rows *rows, double horizon_s, double *last)
{
	const struct feature_rows *r = &rows->rows;
	double before = busy_share(rows) > 0.5, newest = -INFINITY;
	size_t next = 0;

	for (size_t i = 0; i < r->rows; i++) {
		/* Writes end almost in the order in which they start; a slow one comes late. */
		for (; next < i && r->time_s[next] + r->seconds[next] <= r->time_s[i] - horizon_s;
		     next++)
			if (r->time_s[next] > newest) {
				newest = r->time_s[next];
				before = rows->labels[next];
			}
		last[i] = before;
	}
}

/* The probability of a label after each label, from the training rows. */
static void set_persistence_probabilities(struct judgment_cell *cell,
					  const struct judgment_rows *rows, const double *last)
{
	double busy[2] = { 0 }, count[2] = { 0 };

	for (size_t i = 0; i < rows->train; i++) {
		busy[last[i] == 1] += rows->labels[i];
		count[last[i] == 1]++;
	}
	for (size_t i = rows->train; i < rows->rows.rows; i++) {
		int was = last[i] == 1;

		cell->score[i - rows->train] = last[i];
		cell->chance[i - rows->train] = (busy[was] + 1) / (count[was] + 2);
	}
}

void baseline_persistence(struct judgment_cell *cell, const struct judgment_rows *rows,
			  double horizon_s)
{
	AUTO_FREE double *last = xmalloc((rows->rows.rows + 1) * sizeof(*last));

	find_last_labels(rows, horizon_s, last);
	set_persistence_probabilities(cell, rows, last);
	evaluate_test_rows(cell, rows);
	cell->blocked_accuracy = score_accuracy(rows->labels, last, rows->train);
	cell->blocked_auc = metrics_auc(rows->labels, last, rows->train);
	cell->latent = score_latent(rows->busy ? rows->busy + rows->train : NULL, cell->score,
				    rows->rows.rows - rows->train);
}

/* Filters at the times of the probes, so that no probe is used before it was measured. */
static void filter_probes(struct filter *filter, size_t end)
{
	double chance = filter->chain.hidden.start;

	filter->chance = xmalloc((end - filter->first) * sizeof(*filter->chance));
	for (size_t i = filter->first; i < end; i++) {
		chance = chain_step(&filter->chain, filter->probes, i, chance);
		filter->chance[i - filter->first] = chance;
	}
}

void filter_init(struct filter *filter, const struct chronicle *chronicle, size_t target,
		 double from_s, double train_to_s, double to_s)
{
	const struct chronicle_series *probes = chronicle_series(chronicle, target, 0);
	double start = clock_thread_cpu_s();

	*filter = (struct filter){ .probes = probes, .first = chain_first_probe(probes, from_s) };
	if (!chain_fit(&filter->chain, probes, filter->first,
		       chain_first_probe(probes, train_to_s)))
		return;
	filter->fit_s = clock_thread_cpu_s() - start;
	filter_probes(filter, chain_first_probe(probes, to_s));
}

void filter_release(struct filter *filter)
{
	free(filter->chance);
	*filter = (struct filter){ 0 };
}

double filter_at(const struct filter *filter, double time_s, double known_s)
{
	size_t until = chronicle_count_until(filter->probes, known_s);

	if (until <= filter->first)
		return filter->chain.hidden.start;
	return chain_ahead(&filter->chain, filter->chance[until - 1 - filter->first],
			   time_s - filter->probes->time_s[until - 1]);
}

/*
 * Labels are drawn at random, so both are possible even in a certain state. Fits a line of the
 * posteriors over the states; *idle and *busy are its values at 0 and 1.
 */
static void fit_line(const struct judgment_rows *rows, const double *states, double *idle,
		     double *busy)
{
	double n = (double)rows->train, sx = 0, sy = 0, sxx = 0, sxy = 0, slope, spread;

	for (size_t i = 0; i < rows->train; i++) {
		sx += states[i];
		sy += rows->posterior[i];
		sxx += states[i] * states[i];
		sxy += states[i] * rows->posterior[i];
	}
	spread = sxx - sx * sx / n;
	slope = spread > MIN_SPREAD * n ? (sxy - sx * sy / n) / spread : 0;
	*idle = fmin(fmax((sy - slope * sx) / n, 0), 1);
	*busy = fmin(fmax((sy - slope * sx) / n + slope, 0), 1);
}

void baseline_hidden(struct judgment_cell *cell, const struct judgment_rows *rows,
		     const struct filter *filter, const struct features_plan *plan)
{
	size_t all = rows->rows.rows, test = all - rows->train;
	AUTO_FREE double *states = xmalloc((all + 1) * sizeof(*states));
	double idle, busy, start;

	if (!filter->chain.is_known)
		return;
	start = clock_thread_cpu_s();
	for (size_t i = 0; i < all; i++)
		states[i] = filter_at(filter, rows->rows.time_s[i],
				      features_known_until(plan, rows->rows.time_s[i]));
	cell->ask_s = all ? (clock_thread_cpu_s() - start) / (double)all : NAN;
	cell->fit_s = filter->fit_s;
	fit_line(rows, states, &idle, &busy);
	for (size_t i = 0; i < test; i++) {
		double state = states[rows->train + i];

		cell->score[i] = cell->chance[i] = state * busy + (1 - state) * idle;
	}
	evaluate_test_rows(cell, rows);
	cell->latent = score_latent(rows->busy ? rows->busy + rows->train : NULL,
				    states + rows->train, test);
}
