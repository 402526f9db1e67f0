/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model itself: fitting and one prediction. Many at once are in hybrid_times.c.
 */
#include "predict/model/hybrid/hybrid.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/file/checked_file.h"
#include "predict/model/hybrid/hybrid_internal.h"

int hybrid_fit(struct hybrid *hybrid, const struct machine *machine, const struct elements *rows,
	       const struct costs_plan *plan, struct err *err)
{
	struct hybrid made = { .machine = *machine,
			       .seed = plan->seed,
			       .made = (int64_t)time(NULL) };
	int r = costs_fit(&made.costs, rows, plan, err);

	if (r < 0)
		return r;
	*hybrid = made;
	return 0;
}

void hybrid_release(struct hybrid *hybrid)
{
	costs_release(&hybrid->costs);
	*hybrid = (struct hybrid){ 0 };
}

/* ---- prediction ---- */

static bool is_known(const struct hybrid *hybrid, enum operation operation)
{
	const struct cost *of = hybrid->costs.of;

	if (operation == OPERATION_WRITE_CACHED)
		return of[OPERATION_WRITE_FIRST].is_fitted && of[OPERATION_WRITE_FULL].is_fitted;
	return of[operation].is_fitted;
}

int hybrid_priced(const struct hybrid *hybrid, const struct counts *counts, struct err *err)
{
	for (size_t i = 0; i < counts->count; i++) {
		enum operation operation = counts->terms[i].operation;

		if (!is_known(hybrid, operation))
			return err_set(
				err, ENODATA,
				"this access needs to know what %s (%s) costs, which was not "
				"benchmarked: sluice bench %s",
				operations[operation].title, operations[operation].name,
				operations[operation].kind == OPERATION_STORAGE ? "storage"
										: "comm");
	}
	return 0;
}

/* From the deviations of terms, those of one operation added up, operations as squares. */
static double deviations_join(const struct counts *counts, const double *deviations)
{
	double sums[OPERATIONS] = { 0 }, squares = 0;

	for (size_t i = 0; i < counts->count; i++)
		sums[counts->terms[i].operation] += deviations[i];
	for (int i = 0; i < OPERATIONS; i++)
		squares += sums[i] * sums[i];
	return sqrt(squares);
}

static void interval_set(struct prediction *p)
{
	double up[COUNTS_TERMS], down[COUNTS_TERMS];

	for (size_t i = 0; i < p->counts.count; i++) {
		up[i] = p->terms[i] * expm1(p->margins[i]);
		down[i] = -p->terms[i] * expm1(-p->margins[i] - p->slacks[i]);
	}
	p->high = p->seconds + deviations_join(&p->counts, up);
	p->low = fmax(p->seconds - deviations_join(&p->counts, down), 0);
}

/* Rounds after the first; -1: the term is none. */
static int first_of(enum operation operation)
{
	if (operation == OPERATION_WRITE_FULL || operation == OPERATION_WRITE_PARTIAL)
		return OPERATION_WRITE_FIRST;
	if (operation == OPERATION_READ_FULL || operation == OPERATION_READ_PARTIAL)
		return OPERATION_READ_FIRST;
	return -1;
}

/* An access of one round, charged for two: by how much its first may be too dear. */
static double single_slack(const struct hybrid *hybrid, const struct access *access,
			   const struct settings *settings, double price)
{
	struct rules rules = hybrid->rules;
	struct counts counts;

	rules.rounds = ROUNDS_DOMAINS;
	if (counts_of(&counts, &hybrid->machine, access, settings, &rules, NULL) < 0)
		return 0;
	for (size_t i = 0; i < counts.count; i++)
		if (counts.terms[i].operation == OPERATION_WRITE_FIRST)
			return fmax(log(price / costs_price((void *)&hybrid->costs,
							    OPERATION_WRITE_FIRST,
							    &counts.terms[i].at)),
				    0);
	return 0;
}

/* By how much a later round may be cheaper where caches hold it. */
static double cache_slack(const struct hybrid *hybrid, const struct access *access,
			  const struct counts *counts, const struct term *term, double price)
{
	enum operation first = (enum operation)first_of(term->operation);
	double empty, held;

	if (hybrid->costs.of[term->operation].is_cached)
		return 0;
	held = (double)machine_cache_bytes(&hybrid->machine, access->nodes) / (double)counts->bytes;
	empty = hybrid_bytes_price(hybrid, first, &term->at);
	if (!(empty < price)) /* also where first rounds were not benchmarked */
		return 0;
	return -log1p(fmin(held, 1) * (fmax(empty, 0) / price - 1));
}

static double term_slack(const struct hybrid *hybrid, const struct access *access,
			 const struct settings *settings, const struct counts *counts,
			 const struct term *term, double price)
{
	bool is_bluegene = hybrid->machine.romio == ROMIO_BLUEGENE;
	bool is_twice = !counts->rounds && is_bluegene && hybrid->rules.single == SINGLE_PUBLISHED;

	if (is_bluegene && hybrid->rules.rounds == ROUNDS_DOMAINS)
		return 0; /* caches and single rounds are in the price */
	if (is_twice && term->operation == OPERATION_WRITE_FIRST)
		return single_slack(hybrid, access, settings, price);
	if (first_of(term->operation) < 0)
		return 0;
	return is_twice ? INFINITY : cache_slack(hybrid, access, counts, term, price);
}

int hybrid_predict(const struct hybrid *hybrid, const struct access *access,
		   const struct settings *settings, double coverage, struct prediction *prediction,
		   struct err *err)
{
	struct prediction p = { 0 };
	int r = counts_of(&p.counts, &hybrid->machine, access, settings, &hybrid->rules, err);

	if (r >= 0)
		r = hybrid_priced(hybrid, &p.counts, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p.counts.count; i++) {
		const struct term *term = &p.counts.terms[i];

		p.each[i] = hybrid_price(hybrid, term->operation, &term->at);
		p.terms[i] = term->count * p.each[i];
		p.margins[i] = hybrid_margin(hybrid, term->operation, &term->at, coverage);
		p.slacks[i] = term_slack(hybrid, access, settings, &p.counts, term, p.each[i]);
		p.seconds += p.terms[i];
		p.is_outside |= hybrid_is_outside(hybrid, term->operation, &term->at);
	}
	interval_set(&p);
	*prediction = p;
	return 0;
}

/* ---- file ---- */

static int parts_take(void *made, struct blob *blob, struct err *err);

static void parts_release(void *made)
{
	hybrid_release(made);
}

static const struct sealed_kind kind = {
	.schema = "sluice.hybrid",
	.version = 1,
	.what = "model of `sluice model fit`",
	.again = "fit it again (sluice model fit)",
	.bytes = sizeof(struct hybrid),
	.take = parts_take,
	.release = parts_release,
};

static void head_tell(const void *arg, struct json *json)
{
	const struct hybrid *hybrid = arg;

	json_text(json, "machine", hybrid->machine.name);
	json_count(json, "seed", hybrid->seed);
	json_number(json, "made", hybrid->made);
	json_open(json, "operations", '[');
	for (int i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &hybrid->costs.of[i];

		if (!cost->is_fitted)
			continue;
		json_open(json, NULL, '{');
		json_text(json, "operation", operations[i].name);
		json_count(json, "rows", cost->rows);
		json_count(json, "cells", cost->cell_count);
		json_text(json, "learner",
			  cost->pipeline.learner ? cost->pipeline.learner->name : NULL);
		json_real(json, "r2", cost->score.log_r2);
		json_close(json);
	}
	json_close(json);
}

int hybrid_save(const struct hybrid *hybrid, const char *path, struct err *err)
{
	AUTO_BUF struct buf buf = { 0 }, machine = { 0 };

	sealed_begin(&buf, &kind, head_tell, hybrid);
	machine_write(&hybrid->machine, &machine);
	blob_put_text(&buf, buf_text(&machine));
	blob_put_u32(&buf, hybrid->rules.message);
	blob_put_u32(&buf, hybrid->rules.incomplete);
	blob_put_u32(&buf, hybrid->rules.single);
	blob_put_u64(&buf, hybrid->seed);
	blob_put_u64(&buf, (uint64_t)hybrid->made);
	costs_save(&hybrid->costs, &buf);
	blob_put_u32(&buf, hybrid->rules.rounds);
	sealed_end(&buf);
	return sealed_write(&buf, path, err);
}

static int parts_take(void *made, struct blob *blob, struct err *err)
{
	struct hybrid *hybrid = made;
	AUTO_FREE char *machine = blob_take_text(blob);
	uint32_t message = blob_take_u32(blob), incomplete = blob_take_u32(blob);
	uint32_t single = blob_take_u32(blob);
	int r = machine_read_text(&hybrid->machine, "its machine", machine, strlen(machine), err);

	if (r < 0)
		return r;
	if (!blob_expect(blob, message <= MESSAGE_PROCESS && incomplete <= INCOMPLETE_NONE &&
				       single <= SINGLE_CORRECTED))
		return err_set(err, EBADMSG, "its rules are damaged");
	hybrid->rules =
		(struct rules){ (enum rule_message)message, (enum rule_incomplete)incomplete,
				(enum rule_single)single, ROUNDS_PUBLISHED };
	hybrid->seed = blob_take_u64(blob);
	hybrid->made = (int64_t)blob_take_u64(blob);
	r = costs_load(&hybrid->costs, blob, err);
	/* Models that are older than this rule end here. */
	if (r >= 0 && blob_ok(blob) && blob->at != blob->end) {
		uint32_t rounds = blob_take_u32(blob);

		if (blob_expect(blob, rounds < ROUNDS_RULES))
			hybrid->rules.rounds = (enum rule_rounds)rounds;
	}
	return r;
}

int hybrid_parse(struct hybrid *hybrid, const char *name, const void *bytes, size_t n,
		 struct err *err)
{
	return sealed_parse(&kind, name, bytes, n, hybrid, err);
}

int hybrid_load(struct hybrid *hybrid, const char *path, struct err *err)
{
	return sealed_load(&kind, path, hybrid, err);
}
