/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fits the model and makes single predictions. times.c predicts many settings at once, and file.c
 * reads and writes models.
 */
#include "predict/model/hybrid/hybrid.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "predict/model/hybrid/hybrid_internal.h"
#include "store/elements.h"

int hybrid_fit(struct hybrid *hybrid, const struct machine *machine, const struct elements *rows,
	       const struct costs_plan *plan, struct err *err)
{
	struct hybrid made = { .machine = *machine,
			       .seed = plan->seed,
			       .made = (int64_t)time(NULL) };
	int r;

	if (!counts_form_find(machine, err))
		return -ENOTSUP;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].time_ns / NS_PER_S > made.measured)
			made.measured = rows->rows[i].time_ns / NS_PER_S;
	r = costs_fit(&made.costs, rows, plan, err);
	if (r < 0)
		return r;
	*hybrid = made;
	return 0;
}

void hybrid_release(struct hybrid *hybrid)
{
	costs_release(&hybrid->costs);
	validation_release(&hybrid->validation);
	*hybrid = (struct hybrid){ 0 };
}

static bool has_price(const struct hybrid *hybrid, enum operation operation)
{
	const struct cost *of = hybrid->costs.of;

	if (operation == OPERATION_WRITE_CACHED)
		return of[OPERATION_WRITE_FIRST].is_fitted && of[OPERATION_WRITE_FULL].is_fitted;
	return of[operation].is_fitted;
}

int hybrid_check_priced(const struct hybrid *hybrid, const struct counts *counts, struct err *err)
{
	for (size_t i = 0; i < counts->count; i++) {
		enum operation operation = counts->terms[i].operation;

		if (!has_price(hybrid, operation))
			return err_set(
				err, ENODATA,
				"the model has no cost of %s (%s), which this access needs; run "
				"'sluice model measure %s' and 'sluice model fit'",
				operations[operation].title, operations[operation].name,
				operation >= OPERATION_WRITE_FIRST ? "storage" : "comm");
	}
	return 0;
}

/* Combines the deviations of terms: they add up within an operation, and the squares of the sums
 * add up over operations. */
static double combine_deviations(const struct counts *counts, const double *deviations)
{
	double sums[OPERATIONS] = { 0 }, squares = 0;

	for (size_t i = 0; i < counts->count; i++)
		sums[counts->terms[i].operation] += deviations[i];
	for (int i = 0; i < OPERATIONS; i++)
		squares += sums[i] * sums[i];
	return sqrt(squares);
}

static void set_benchmarked_interval(struct prediction *p)
{
	double up[COUNTS_TERMS], down[COUNTS_TERMS];

	for (size_t i = 0; i < p->counts.count; i++) {
		up[i] = p->terms[i] * expm1(p->margins[i]);
		down[i] = -p->terms[i] * expm1(-p->margins[i] - p->slacks[i]);
	}
	p->high = p->seconds + combine_deviations(&p->counts, up);
	p->low = fmax(p->seconds - combine_deviations(&p->counts, down), 0);
}

/* Replaces the interval by that of the calibration, if it covers the access. */
static void calibrate(struct prediction *p, const struct hybrid *hybrid,
		      const struct access *access, double coverage)
{
	const struct validation *validation = &hybrid->validation;
	double margin = validation_margin(validation, VALIDATION_TIMES, coverage);

	p->correction = validation_correction(validation, access->is_read, p->counts.transfer);
	p->seconds *= p->correction;
	p->low *= p->correction;
	p->high *= p->correction;
	p->is_calibrated =
		validation_covers(validation, access, p->counts.transfer) && isfinite(margin);
	if (!p->is_calibrated)
		return;
	p->low = p->seconds * exp(-margin);
	p->high = p->seconds * exp(margin);
	p->gain_margin = validation_margin(validation, VALIDATION_GAINS, coverage);
}

/* The operation of the first round that belongs to a later round; -1: not an operation of a later
 * round. */
static int first_round_of(enum operation operation)
{
	if (operation == OPERATION_WRITE_FULL || operation == OPERATION_WRITE_PARTIAL)
		return OPERATION_WRITE_FIRST;
	if (operation == OPERATION_READ_FULL || operation == OPERATION_READ_PARTIAL)
		return OPERATION_READ_FIRST;
	return -1;
}

/* How much cheaper a later round may be because caches hold it. */
static double cache_slack(const struct hybrid *hybrid, const struct counts_case *at,
			  const struct term *term, double price)
{
	enum operation first = (enum operation)first_round_of(term->operation);
	double cached, held;

	if (hybrid->costs.of[term->operation].is_cached)
		return 0;
	held = (double)machine_cache_bytes(at->machine, at->access->nodes) /
	       (double)at->counts->bytes;
	cached = hybrid_bytes_price(hybrid, first, &term->at);
	if (!(cached < price)) /* also true if first rounds were not benchmarked */
		return 0;
	return -log1p(fmin(held, 1) * (fmax(cached, 0) / price - 1));
}

static double term_slack(const struct hybrid *hybrid, const struct counts_case *at,
			 const struct term *term, double price)
{
	const struct counts_form *form = counts_form_find(at->machine, NULL);
	double slack;

	if (form->term_slack && form->term_slack(at, term, price, &slack))
		return slack;
	return first_round_of(term->operation) < 0 ? 0 : cache_slack(hybrid, at, term, price);
}

int hybrid_predict(const struct hybrid *hybrid, const struct access *access,
		   const struct settings *settings, double coverage, struct prediction *prediction,
		   struct err *err)
{
	struct prediction p = { 0 };
	const struct counts_case at = { .machine = &hybrid->machine,
					.access = access,
					.settings = settings,
					.counts = &p.counts,
					.cost = costs_price,
					.cost_arg = (void *)&hybrid->costs };
	int r = counts_compute(&p.counts, &hybrid->machine, access, settings, err);

	if (r >= 0)
		r = hybrid_check_priced(hybrid, &p.counts, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p.counts.count; i++) {
		const struct term *term = &p.counts.terms[i];

		p.each[i] = hybrid_price(hybrid, term->operation, &term->at);
		p.terms[i] = term->count * p.each[i];
		p.margins[i] = hybrid_margin(hybrid, term->operation, &term->at, coverage);
		p.slacks[i] = term_slack(hybrid, &at, term, p.each[i]);
		p.seconds += p.terms[i];
		p.is_outside |= hybrid_is_outside(hybrid, term->operation, &term->at);
	}
	set_benchmarked_interval(&p);
	calibrate(&p, hybrid, access, coverage);
	*prediction = p;
	return 0;
}

/* The number of nodes that this many ranks were measured on; 0: on none, or on several. */
static uint64_t find_measured_nodes(const struct hybrid *hybrid, uint64_t ranks)
{
	double nodes = 0;

	for (int i = 0; hybrid && i < OPERATIONS; i++) {
		const struct cost *cost = &hybrid->costs.of[i];

		for (size_t c = 0; c < cost->cell_count; c++) {
			const struct elemental *at = &cost->cells[c].at;

			if (at->nodes * at->cores != (double)ranks || at->nodes == nodes)
				continue;
			if (nodes > 0)
				return 0;
			nodes = at->nodes;
		}
	}
	return (uint64_t)nodes;
}

/* The largest number of nodes that any operation was measured on; 0: unknown. */
static uint64_t count_measured_nodes(const struct hybrid *hybrid)
{
	double most = 0;

	for (int i = 0; hybrid && i < OPERATIONS; i++)
		if (hybrid->costs.of[i].is_fitted && hybrid->costs.of[i].most.nodes > most)
			most = hybrid->costs.of[i].most.nodes;
	return (uint64_t)most;
}

uint64_t hybrid_choose_nodes(const struct hybrid *hybrid, const struct machine *machine,
			     uint64_t ranks)
{
	uint64_t nodes = (ranks + machine->cores - 1) / machine->cores,
		 known = count_measured_nodes(hybrid),
		 measured = find_measured_nodes(hybrid, ranks);

	if (measured)
		return measured;
	while (nodes && ranks % nodes)
		nodes++;
	return known && nodes > known && ranks % known == 0 ? known : nodes;
}
