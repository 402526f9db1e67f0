/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prices of operations, and how far they can be trusted.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "predict/model/costs/costs_internal.h"

void cost_inputs(const struct cost *cost, enum operation operation, const struct elemental *at,
		 double *inputs)
{
	double features[OPERATION_FEATURES];

	operation_features(operation, at, features, NULL);
	for (size_t i = 0; i < cost->input_count; i++)
		inputs[i] = features[cost->inputs[i]];
}

/* ---- the edge ---- */

/* Arguments as they are priced. */
struct place {
	struct elemental at;
	double factor; /* of the price at the edge */
	double away;   /* way to the edge, of logarithms */
};

static void argument_place(double *value, double least, double most, bool in_proportion,
			   struct place *place)
{
	double edge = *value, ratio;

	if (*value < least)
		edge = least;
	else if (*value > most)
		edge = most;
	if (edge == *value)
		return;
	/* From or to nothing there is no ratio; as if it were one unit. */
	ratio = (*value > 0 ? *value : 1) / (edge > 0 ? edge : 1);
	place->away += fabs(log(ratio));
	if (in_proportion && *value > most)
		place->factor *= ratio;
	*value = edge;
}

static struct place cost_place(const struct cost *cost, const struct elemental *at)
{
	struct place p = { *at, 1, 0 };
	const struct elemental *least = &cost->least, *most = &cost->most;

	p.at.writers = cost_round(at->writers);
	argument_place(&p.at.nodes, least->nodes, most->nodes, false, &p);
	argument_place(&p.at.cores, least->cores, most->cores, false, &p);
	argument_place(&p.at.senders, least->senders, most->senders, false, &p);
	argument_place(&p.at.receivers, least->receivers, most->receivers, false, &p);
	argument_place(&p.at.writers, least->writers, most->writers, true, &p);
	argument_place(&p.at.bytes, least->bytes, most->bytes, true, &p);
	return p;
}

/* ---- prices ---- */

/* Variances of the logarithm: of what was measured, and of the guess. */
static double cell_variance(const struct cost *cost, const struct cost_cell *cell)
{
	if (isnan(cost->noise))
		return cost->spread * cost->spread;
	return cost->noise * cost->noise / (double)cell->repetitions;
}

/*
 * What remains of the surrogate's variance beside a measurement, as a share: 0 to 1. What smoothing
 * gains beyond that is not relied on: it is as sure as its scales are right.
 */
static double share_left(const struct cost *cost, const struct cost_cell *cell)
{
	double measured = cell_variance(cost, cell), guessed = cost->spread * cost->spread;
	double share = measured + guessed > 0 ? measured / (measured + guessed) : 0;

	if (!isnan(cell->deviation) && guessed > 0)
		share = fmax(share, fmin(1, cell->deviation * cell->deviation / guessed));
	return share;
}

static const struct cost_cell *cell_known(const struct cost *cost, const struct elemental *at)
{
	const struct cost_cell *cell = cost->alone ? NULL : cost_find(cost, at);

	return cell && cell->seconds > 0 ? cell : NULL;
}

static double price_settle(const struct cost *cost, const struct place *place, double guess)
{
	const struct cost_cell *cell = cell_known(cost, &place->at);

	if (!(guess >= cost->floor))
		guess = cost->floor;
	/* A smooth cell is such a mean already, with a better guess. */
	if (cell && !isnan(cell->deviation)) {
		guess = cell->smooth;
	} else if (cell) {
		double weight = share_left(cost, cell);

		guess = exp(weight * log(guess) + (1 - weight) * log(cell->seconds));
	}
	return place->factor * guess;
}

void costs_prices(const struct costs *costs, enum operation operation, const struct elemental *at,
		  size_t count, double *seconds)
{
	const struct cost *cost = &costs->of[operation];
	AUTO_FREE struct place *places = NULL;
	AUTO_FREE double *x = NULL;

	if (!cost->is_fitted) {
		for (size_t i = 0; i < count; i++)
			seconds[i] = NAN;
		return;
	}
	places = xmalloc((count + 1) * sizeof(*places));
	x = xmalloc((count * cost->input_count + 1) * sizeof(*x));
	for (size_t i = 0; i < count; i++) {
		places[i] = cost_place(cost, &at[i]);
		cost_inputs(cost, operation, &places[i].at, x + i * cost->input_count);
		seconds[i] = cost->floor;
	}
	if (cost->pipeline.learner)
		pipeline_predict_rows(&cost->pipeline, x, NULL, count, seconds);
	for (size_t i = 0; i < count; i++)
		seconds[i] = price_settle(cost, &places[i], seconds[i]);
}

double costs_price(void *arg, enum operation operation, const struct elemental *at)
{
	const struct costs *costs = arg;
	const struct cost *cost = &costs->of[operation];
	double x[OPERATION_FEATURES], guess = cost->floor;
	struct place place;

	if (!cost->is_fitted)
		return NAN;
	place = cost_place(cost, at);
	cost_inputs(cost, operation, &place.at, x);
	if (cost->pipeline.learner)
		pipeline_predict(&cost->pipeline, x, &guess);
	return price_settle(cost, &place, guess);
}

/* ---- trust ---- */

static double errors_quantile(const struct cost *cost, double coverage)
{
	const struct conformal *conformal = &cost->conformal;
	double margin = conformal_margin(conformal, coverage), n = (double)conformal->count;

	if (isfinite(margin))
		return margin;
	/* The largest of n errors is where a share of n / (n + 1) ends. */
	if (conformal->count)
		return conformal->errors[conformal->count - 1] * log(1 / (1 - coverage)) /
		       log(n + 1);
	return cost->spread * log(1 / (1 - coverage));
}

double costs_margin(const struct costs *costs, enum operation operation, const struct elemental *at,
		    double coverage)
{
	const struct cost *cost = &costs->of[operation];
	const struct cost_cell *cell;
	struct place place;
	double margin;

	if (!cost->is_fitted)
		return INFINITY;
	place = cost_place(cost, at);
	margin = errors_quantile(cost, coverage);
	cell = cell_known(cost, &place.at);
	if (cell)
		margin *= sqrt(share_left(cost, cell));
	return margin + place.away;
}

bool costs_is_outside(const struct costs *costs, enum operation operation,
		      const struct elemental *at)
{
	return costs->of[operation].is_fitted && cost_place(&costs->of[operation], at).away > 0;
}
