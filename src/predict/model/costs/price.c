/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Computes prices of operations and their margins.
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

/* Arguments after they were moved into the benchmarked range. */
struct place {
	struct elemental at;
	double factor; /* on the price at the edge */
	double away;   /* distance to the edge, in logarithms */
};

static void clamp_argument(double *value, double least, double most, bool in_proportion,
			   struct place *place)
{
	double edge = *value, ratio;

	if (*value < least)
		edge = least;
	else if (*value > most)
		edge = most;
	if (edge == *value)
		return;
	/* A ratio with 0 does not exist; use one unit instead of 0. */
	ratio = (*value > 0 ? *value : 1) / (edge > 0 ? edge : 1);
	place->away += fabs(log(ratio));
	if (in_proportion && *value > most)
		place->factor *= ratio;
	*value = edge;
}

static struct place clamp_arguments(const struct cost *cost, const struct elemental *at)
{
	struct place p = { *at, 1, 0 };
	const struct elemental *least = &cost->least, *most = &cost->most;

	p.at.writers = cost_round(at->writers);
	clamp_argument(&p.at.nodes, least->nodes, most->nodes, false, &p);
	clamp_argument(&p.at.cores, least->cores, most->cores, false, &p);
	clamp_argument(&p.at.senders, least->senders, most->senders, false, &p);
	clamp_argument(&p.at.receivers, least->receivers, most->receivers, false, &p);
	clamp_argument(&p.at.writers, least->writers, most->writers, true, &p);
	clamp_argument(&p.at.bytes, least->bytes, most->bytes, true, &p);
	return p;
}

/* The variance of the logarithm of a measured cell. */
static double cell_variance(const struct cost *cost, const struct cost_cell *cell)
{
	if (isnan(cost->noise))
		return cost->spread * cost->spread;
	return cost->noise * cost->noise / (double)cell->repetitions;
}

/*
 * The fraction of the surrogate's variance that remains next to a measurement, from 0 to 1. A
 * smaller variance by smoothing is not used, because it depends on the fitted length scales.
 */
static double remaining_variance(const struct cost *cost, const struct cost_cell *cell)
{
	double measured = cell_variance(cost, cell), guessed = cost->spread * cost->spread;
	double share = measured + guessed > 0 ? measured / (measured + guessed) : 0;

	if (!isnan(cell->deviation) && guessed > 0)
		share = fmax(share, fmin(1, cell->deviation * cell->deviation / guessed));
	return share;
}

static const struct cost_cell *find_known_cell(const struct cost *cost, const struct elemental *at)
{
	const struct cost_cell *cell = cost->alone ? NULL : cost_find(cost, at);

	return cell && cell->seconds > 0 ? cell : NULL;
}

static double combine_price(const struct cost *cost, const struct place *place, double guess)
{
	const struct cost_cell *cell = find_known_cell(cost, &place->at);

	if (!(guess >= cost->floor))
		guess = cost->floor;
	/* A smoothed cell already combines measurement and prediction. */
	if (cell && !isnan(cell->deviation)) {
		guess = cell->smooth;
	} else if (cell) {
		double weight = remaining_variance(cost, cell);

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
		places[i] = clamp_arguments(cost, &at[i]);
		cost_inputs(cost, operation, &places[i].at, x + i * cost->input_count);
		seconds[i] = cost->floor;
	}
	if (cost->pipeline.learner)
		pipeline_predict_rows(&cost->pipeline, x, NULL, count, seconds);
	for (size_t i = 0; i < count; i++)
		seconds[i] = combine_price(cost, &places[i], seconds[i]);
}

double costs_price(void *arg, enum operation operation, const struct elemental *at)
{
	const struct costs *costs = arg;
	const struct cost *cost = &costs->of[operation];
	double x[OPERATION_FEATURES], guess = cost->floor;
	struct place place;

	if (!cost->is_fitted)
		return NAN;
	place = clamp_arguments(cost, at);
	cost_inputs(cost, operation, &place.at, x);
	if (cost->pipeline.learner)
		pipeline_predict(&cost->pipeline, x, &guess);
	return combine_price(cost, &place, guess);
}

static double error_quantile(const struct cost *cost, double coverage)
{
	const struct conformal *conformal = &cost->conformal;
	double margin = conformal_margin(conformal, coverage), n = (double)conformal->count;

	if (isfinite(margin))
		return margin;
	/* The largest of n errors is the quantile n / (n + 1). */
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
	place = clamp_arguments(cost, at);
	margin = error_quantile(cost, coverage);
	cell = find_known_cell(cost, &place.at);
	if (cell)
		margin *= sqrt(remaining_variance(cost, cell));
	return margin + place.away;
}

bool costs_is_outside(const struct costs *costs, enum operation operation,
		      const struct elemental *at)
{
	return costs->of[operation].is_fitted &&
	       clamp_arguments(&costs->of[operation], at).away > 0;
}
