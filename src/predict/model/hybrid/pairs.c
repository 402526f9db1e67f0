/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/pairs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/math/vector.h"
#include "predict/model/hybrid/hybrid.h"

const char *const pair_group_names[PAIR_GROUPS] = {
	[PAIR_WRITE] = "writing",
	[PAIR_READ] = "reading",
	[PAIR_HELD] = "held out",
	[PAIR_COMMUNICATION] = "communication",
};

static void add_pair(struct pairs *pairs, double predicted, double measured, enum pair_group group,
		     const char *what)
{
	if (!(predicted > 0) || !(measured > 0) || !isfinite(predicted) || !isfinite(measured))
		return;
	pairs->list = xgrow(pairs->list, &pairs->cap, pairs->count + 1, sizeof(*pairs->list));
	pairs->list[pairs->count++] = (struct pair){ predicted, measured, group, what };
}

static void gather_cases(struct pairs *pairs, const struct validation *v)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct validation_case *c = &v->cases[i];

		add_pair(pairs, c->predicted * validation_correction(v, c->is_read, c->transfer),
			 c->measured,
			 c->is_held   ? PAIR_HELD
			 : c->is_read ? PAIR_READ
				      : PAIR_WRITE,
			 c->is_read ? "read" : "write");
	}
}

static void gather_costs(struct pairs *pairs, struct hybrid *hybrid)
{
	for (int i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &hybrid->costs.of[i];
		bool storage = operations[i].kind == OPERATION_STORAGE ||
			       operations[i].kind == OPERATION_PIECES;

		for (size_t k = 0; cost->is_fitted && k < cost->cell_count; k++)
			add_pair(pairs,
				 costs_price(&hybrid->costs, (enum operation)i, &cost->cells[k].at),
				 cost->cells[k].seconds,
				 !storage		 ? PAIR_COMMUNICATION
				 : operations[i].is_read ? PAIR_READ
							 : PAIR_WRITE,
				 operations[i].name);
	}
}

void pairs_init(struct pairs *pairs, struct hybrid *hybrid)
{
	*pairs = (struct pairs){ 0 };
	if (hybrid->validation.count)
		gather_cases(pairs, &hybrid->validation);
	else
		gather_costs(pairs, hybrid);
}

void pairs_release(struct pairs *pairs)
{
	free(pairs->list);
	*pairs = (struct pairs){ 0 };
}

void pairs_score(const struct pairs *pairs, enum pair_group group, struct pairs_score *score)
{
	AUTO_FREE double *ratios = xcalloc(pairs->count + 1, sizeof(*ratios));
	AUTO_FREE double *errors = xcalloc(pairs->count + 1, sizeof(*errors));
	size_t count = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		if (group != PAIR_GROUPS && pairs->list[i].group != group)
			continue;
		ratios[count] = pairs->list[i].predicted / pairs->list[i].measured;
		errors[count] = fabs(ratios[count] - 1);
		count++;
	}
	*score = (struct pairs_score){ .count = count,
				       .median_error = count ? vector_median(errors, count) : NAN,
				       .bias = count ? vector_median(ratios, count) : NAN };
}
