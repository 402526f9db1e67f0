/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Committees of rule sets with correction by neighbours, after Quinlan's papers of 1992 and 1993.
 * Each member after the first learns what would make up for the error of the one before; the
 * committee's word is the mean. What the nearest training rows were missed by corrects it, as far
 * as such rows prove to share their misses: without that, noise would be added back.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/learners/rules/bins.h"
#include "learn/learners/rules/ruleset.h"

/* Rows whose distances are taken together: a vector or more of floats per input. */
enum { LANES = 16, NEIGHBOURS_MAX = 9, TRUST_ROWS = 1000 };

/* The committee's word may leave the range of what it learnt by this share of it. */
#define BEYOND 0.05

struct rules {
	size_t width, count;
	struct ruleset *sets;
	double low, high;
	/* For neighbours; NULL and 0 without. */
	size_t neighbours, rows;
	double *scales; /* per input: one over its deviation; 0 where it does not vary */
	float *points;	/* blocks of LANES rows, each input after input */
	double *misses; /* per row: target - what the rules say */
	double trust;	/* 0 .. 1: the part of its neighbours' misses that a row shares */
};

extern const struct learner_ops learner_rules;

static size_t blocks(size_t rows)
{
	return (rows + LANES - 1) / LANES;
}

static void rules_free(void *model)
{
	struct rules *rules = model;

	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		ruleset_release(&rules->sets[i]);
	free(rules->sets);
	free(rules->scales);
	free(rules->points);
	free(rules->misses);
	free(rules);
}

/* One over the deviation of each input. */
static void scales_measure(const struct samples *samples, double *scales)
{
	for (size_t j = 0; j < samples->width; j++) {
		double mean = 0, squares = 0;

		for (size_t i = 0; i < samples->rows; i++)
			mean += samples->x[i * samples->width + j] / (double)samples->rows;
		for (size_t i = 0; i < samples->rows; i++) {
			double off = samples->x[i * samples->width + j] - mean;

			squares += off * off;
		}
		scales[j] = squares > 0 ? 1 / sqrt(squares / (double)samples->rows) : 0;
		if (!isfinite(scales[j]))
			scales[j] = 0;
	}
}

static void points_place(struct rules *rules, const struct samples *samples)
{
	size_t width = samples->width;

	rules->rows = samples->rows;
	rules->scales = xcalloc(width, sizeof(*rules->scales));
	rules->points = xcalloc(blocks(rules->rows) * LANES * width, sizeof(*rules->points));
	scales_measure(samples, rules->scales);
	for (size_t i = 0; i < samples->rows; i++) {
		float *block = rules->points + i / LANES * LANES * width;

		for (size_t j = 0; j < width; j++)
			block[j * LANES + i % LANES] =
				(float)(samples->x[i * width + j] * rules->scales[j]);
	}
}

/* The k nearest so far, nearest first. */
struct nearest {
	size_t count;
	float distance[NEIGHBOURS_MAX];
	size_t row[NEIGHBOURS_MAX];
};

static void nearest_add(struct nearest *nearest, size_t most, float distance, size_t row)
{
	size_t at = nearest->count < most ? nearest->count++ : most - 1;

	for (; at && nearest->distance[at - 1] > distance; at--) {
		nearest->distance[at] = nearest->distance[at - 1];
		nearest->row[at] = nearest->row[at - 1];
	}
	nearest->distance[at] = distance;
	nearest->row[at] = row;
}

static void block_distances(const struct rules *rules, const float *block, const double *row,
			    float *out)
{
	float sum[LANES] = { 0 };

	for (size_t j = 0; j < rules->width; j++) {
		float x = (float)(row[j] * rules->scales[j]);

		for (size_t l = 0; l < LANES; l++)
			sum[l] += fabsf(block[j * LANES + l] - x);
	}
	memcpy(out, sum, sizeof(sum));
}

/* Row number `but` is left out. */
static void nearest_find(const struct rules *rules, const double *row, size_t but,
			 struct nearest *nearest)
{
	float distance[LANES];

	for (size_t b = 0; b < blocks(rules->rows); b++) {
		size_t from = b * LANES;
		size_t n = rules->rows - from < LANES ? rules->rows - from : LANES;

		block_distances(rules, rules->points + from * rules->width, row, distance);
		for (size_t l = 0; l < n; l++) {
			if ((nearest->count < rules->neighbours ||
			     distance[l] < nearest->distance[nearest->count - 1]) &&
			    from + l != but)
				nearest_add(nearest, rules->neighbours, distance[l], from + l);
		}
	}
}

/* What the rules miss near this row; the nearer, the more it counts. */
static double correction(const struct rules *rules, const double *row, size_t but)
{
	struct nearest nearest = { 0 };
	double sum = 0, weights = 0;

	nearest_find(rules, row, but, &nearest);
	for (size_t i = 0; i < nearest.count; i++) {
		double weight = 1 / (nearest.distance[i] + 0.5);

		sum += weight * rules->misses[nearest.row[i]];
		weights += weight;
	}
	/* Distances may be infinite when the row is far from all that is known. */
	return weights > 0 ? sum / weights : 0;
}

/*
 * How much of a training row's miss the others near it foretell, by least squares on some of them:
 * what is noise stays with the row, and a correction by it would only add to the error.
 */
static void trust_measure(struct rules *rules, const struct samples *samples)
{
	size_t step = samples->rows / TRUST_ROWS + 1;
	double product = 0, squares = 0;

	for (size_t i = 0; i < samples->rows; i += step) {
		double told = correction(rules, samples->x + i * samples->width, i);

		product += told * rules->misses[i];
		squares += told * told;
	}
	rules->trust = squares > 0 ? fmin(fmax(product / squares, 0), 1) : 1;
}

static void rules_predict(const void *model, const double *row, double *out)
{
	const struct rules *rules = model;
	double sum = 0;

	for (size_t i = 0; i < rules->count; i++)
		sum += ruleset_value(&rules->sets[i], row);
	sum /= (double)rules->count;
	if (rules->trust > 0)
		sum += rules->trust * correction(rules, row, SIZE_MAX);
	sum = sum >= rules->low ? sum : rules->low;
	*out = sum > rules->high ? rules->high : sum;
}

static const struct learner_setting settings[] = {
	{ "committees", "rule sets, each making up for the error of the one before", NULL, 1, 1,
	  100, 1, 50, true, true },
	{ "neighbours", "training rows whose errors correct a prediction", NULL, 0, 0,
	  NEIGHBOURS_MAX, 0, NEIGHBOURS_MAX, true, false },
	{ "rules", "rules of a set at most", NULL, 100, 1, 1000, 100, 100, true, false },
	{ "leaf", "rows of a rule at least", NULL, 16, 2, 100000, 4, 40, true, true },
	{ "detrend", "share of a node's linear model that is taken off before it is split", NULL,
	  0.8, 0, 1, 0.6, 0.9, false, false },
	{ "smooth", "rows that the model above a rule's own counts for", NULL, 5, 0, 1000, 5, 5,
	  false, false },
	{ "beyond", "how far a rule may leave the range of its rows, in parts of it", NULL, 0.1, 0,
	  10, 0.1, 0.1, false, false },
	{ 0 }
};

static void committee_fit(struct rules *rules, const struct ruleset_plan *plan,
			  const struct samples *samples)
{
	AUTO_FREE double *target = NULL;
	struct bins bins;

	bins_init(&bins, samples); /* first: it needs a column of its own for a while */
	target = xmalloc(samples->rows * sizeof(*target));
	memcpy(target, samples->y, samples->rows * sizeof(*target));
	for (size_t m = 0; m < rules->count; m++) {
		struct ruleset *set = &rules->sets[m];

		ruleset_init(set, plan, samples, target, &bins);
		for (size_t i = 0; i < samples->rows; i++) {
			double value = ruleset_value(set, samples->x + i * samples->width);

			target[i] = 2 * samples->y[i] - value;
			if (rules->misses)
				rules->misses[i] += (samples->y[i] - value) / (double)rules->count;
		}
	}
	bins_release(&bins);
}

static void range_measure(struct rules *rules, const struct samples *samples)
{
	double low = samples->y[0], high = low;

	for (size_t i = 1; i < samples->rows; i++) {
		low = fmin(low, samples->y[i]);
		high = fmax(high, samples->y[i]);
	}
	rules->low = low - (high - low) * BEYOND;
	rules->high = high + (high - low) * BEYOND;
}

static int rules_fit(void **model, const struct samples *samples, const double *values,
		     const struct effort *effort, struct err *err)
{
	const struct learner_ops *ops = &learner_rules;
	struct ruleset_plan plan = {
		.rules = (size_t)learner_value(ops, values, "rules"),
		.leaf = (size_t)learner_value(ops, values, "leaf"),
		.detrend = learner_value(ops, values, "detrend"),
		.smooth = learner_value(ops, values, "smooth"),
		.beyond = learner_value(ops, values, "beyond"),
	};
	struct rules *rules;

	(void)effort; /* members follow from each other, and nothing is drawn */
	if (!samples->rows || samples->rows > UINT32_MAX)
		return err_set(err, ENODATA, "rules: %zu rows cannot be learnt from",
			       samples->rows);
	rules = xcalloc(1, sizeof(*rules));
	rules->width = samples->width;
	rules->count = (size_t)learner_value(ops, values, "committees");
	rules->sets = xcalloc(rules->count, sizeof(*rules->sets));
	rules->neighbours = (size_t)learner_value(ops, values, "neighbours");
	if (rules->neighbours)
		rules->misses = xcalloc(samples->rows, sizeof(*rules->misses));
	committee_fit(rules, &plan, samples);
	if (rules->neighbours) {
		points_place(rules, samples);
		trust_measure(rules, samples);
	}
	range_measure(rules, samples);
	*model = rules;
	return 0;
}

/* Rows for which an input is asked, and rows for which it counts, over all rules. */
static void rules_importance(const void *model, double *share)
{
	const struct rules *rules = model;
	double sum = 0;

	memset(share, 0, rules->width * sizeof(*share));
	for (size_t m = 0; m < rules->count; m++) {
		const struct ruleset *set = &rules->sets[m];
		const struct rule_condition *condition = set->conditions;
		const struct line_term *term = set->terms;

		for (size_t i = 0; i < set->count; i++) {
			double rows = set->rules[i].rows;

			for (uint32_t c = 0; c < set->rules[i].conditions; c++, condition++)
				share[condition->input] += rows;
			for (uint32_t t = 0; t < set->rules[i].terms; t++, term++)
				share[term->input] += rows;
		}
	}
	for (size_t j = 0; j < rules->width; j++)
		sum += share[j];
	for (size_t j = 0; j < rules->width && sum > 0; j++)
		share[j] /= sum;
}

static void set_describe(const struct ruleset *set, const char *const *names, struct buf *out)
{
	const struct rule_condition *condition = set->conditions;
	const struct line_term *term = set->terms;

	for (size_t i = 0; i < set->count; i++) {
		const struct ruleset_rule *rule = &set->rules[i];

		buf_printf(out, "  rule %zu: %u rows, mean %.4g, expected error %.3g\n", i + 1,
			   rule->rows, rule->mean, rule->error);
		for (uint32_t c = 0; c < rule->conditions; c++, condition++)
			buf_printf(out, "    %s %s %s %.6g\n", c ? "and" : " if",
				   names[condition->input],
				   condition->above ? ">" : "<=", condition->value);
		buf_printf(out, "    %s %.6g", rule->conditions ? "then" : "    ", rule->constant);
		for (uint32_t t = 0; t < rule->terms; t++, term++)
			buf_printf(out, " %c %.4g %s", term->slope < 0 ? '-' : '+',
				   fabs(term->slope), names[term->input]);
		buf_putc(out, '\n');
	}
}

static void rules_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct rules *rules = model;

	if (rules->neighbours)
		buf_printf(out, "corrected by %.2f of the errors at the %zu nearest of %zu rows\n",
			   rules->trust, rules->neighbours, rules->rows);
	for (size_t m = 0; m < rules->count; m++) {
		buf_printf(out, "rule set %zu of %zu: %zu rule%s\n", m + 1, rules->count,
			   rules->sets[m].count, rules->sets[m].count == 1 ? "" : "s");
		set_describe(&rules->sets[m], names, out);
	}
}

static void set_save(const struct ruleset *set, struct buf *buf)
{
	blob_put_real(buf, set->mean);
	blob_put_u64(buf, set->count);
	blob_put_u64(buf, set->condition_count);
	blob_put_u64(buf, set->term_count);
	for (size_t i = 0; i < set->count; i++) {
		const struct ruleset_rule *rule = &set->rules[i];

		blob_put_u32(buf, rule->conditions);
		blob_put_u32(buf, rule->terms);
		blob_put_u32(buf, rule->rows);
		blob_put_real(buf, rule->constant);
		blob_put_real(buf, rule->low);
		blob_put_real(buf, rule->high);
		blob_put_real(buf, rule->mean);
		blob_put_real(buf, rule->error);
	}
	for (size_t i = 0; i < set->condition_count; i++) {
		blob_put_u32(buf, set->conditions[i].input);
		blob_put_u32(buf, set->conditions[i].above);
		blob_put_real(buf, set->conditions[i].value);
	}
	for (size_t i = 0; i < set->term_count; i++) {
		blob_put_u32(buf, set->terms[i].input);
		blob_put_real(buf, set->terms[i].slope);
	}
}

static void rules_save(const void *model, struct buf *buf)
{
	const struct rules *rules = model;

	blob_put_real(buf, rules->low);
	blob_put_real(buf, rules->high);
	blob_put_u64(buf, rules->count);
	for (size_t m = 0; m < rules->count; m++)
		set_save(&rules->sets[m], buf);
	blob_put_u32(buf, (uint32_t)rules->neighbours);
	if (!rules->neighbours)
		return;
	blob_put_u64(buf, rules->rows);
	blob_put_real(buf, rules->trust);
	blob_put_reals(buf, rules->scales, rules->width);
	blob_put_reals(buf, rules->misses, rules->rows);
	blob_put_floats(buf, rules->points, blocks(rules->rows) * LANES * rules->width);
}

enum { RULE_BYTES = 3 * 4 + 5 * 8, CONDITION_BYTES = 16, TERM_BYTES = 12 };

/* The rules' own counts must add up to those of the arrays. */
static void set_load_rules(struct ruleset *set, struct blob *blob)
{
	uint64_t conditions = 0, terms = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct ruleset_rule *rule = &set->rules[i];

		rule->conditions = blob_take_u32(blob);
		rule->terms = blob_take_u32(blob);
		rule->rows = blob_take_u32(blob);
		rule->constant = blob_take_real(blob);
		rule->low = blob_take_real(blob);
		rule->high = blob_take_real(blob);
		rule->mean = blob_take_real(blob);
		rule->error = blob_take_real(blob);
		blob_expect(blob, isfinite(rule->low) && isfinite(rule->high));
		blob_expect(blob, rule->low <= rule->high && isfinite(rule->constant));
		conditions += rule->conditions;
		terms += rule->terms;
	}
	blob_expect(blob, conditions == set->condition_count && terms == set->term_count);
}

static void set_load(struct ruleset *set, struct blob *blob, size_t width)
{
	size_t count, conditions, terms;

	set->mean = blob_take_real(blob);
	count = blob_take_count(blob, RULE_BYTES);
	conditions = blob_take_count(blob, CONDITION_BYTES);
	terms = blob_take_count(blob, TERM_BYTES);
	if (!blob_ok(blob))
		return;
	set->rules = xcalloc(count + 1, sizeof(*set->rules));
	set->conditions = xcalloc(conditions + 1, sizeof(*set->conditions));
	set->terms = xcalloc(terms + 1, sizeof(*set->terms));
	set->count = count;
	set->condition_count = conditions;
	set->term_count = terms;
	set_load_rules(set, blob);
	for (size_t i = 0; i < conditions; i++) {
		set->conditions[i].input = blob_take_u32(blob);
		set->conditions[i].above = blob_take_u32(blob);
		set->conditions[i].value = blob_take_real(blob);
		blob_expect(blob, set->conditions[i].input < width);
		blob_expect(blob, set->conditions[i].above <= 1);
	}
	for (size_t i = 0; i < terms; i++) {
		set->terms[i].input = blob_take_u32(blob);
		set->terms[i].slope = blob_take_real(blob);
		blob_expect(blob, set->terms[i].input < width && isfinite(set->terms[i].slope));
	}
}

static void points_load(struct rules *rules, struct blob *blob)
{
	size_t width = rules->width, count;

	rules->neighbours = blob_take_u32(blob);
	if (!rules->neighbours || !blob_expect(blob, rules->neighbours <= NEIGHBOURS_MAX))
		return;
	/* At the least a row has its miss and as many floats as there are inputs. */
	rules->rows = blob_take_count(blob, 8 + 4 * width);
	rules->trust = blob_take_real(blob);
	blob_expect(blob, rules->trust >= 0 && rules->trust <= 1);
	if (!blob_ok(blob))
		return;
	count = blocks(rules->rows) * LANES * width;
	rules->scales = xcalloc(width, sizeof(*rules->scales));
	rules->misses = xcalloc(rules->rows + 1, sizeof(*rules->misses));
	rules->points = xcalloc(count + 1, sizeof(*rules->points));
	blob_take_reals(blob, rules->scales, width);
	blob_take_reals(blob, rules->misses, rules->rows);
	blob_take_floats(blob, rules->points, count);
}

static int rules_load(void **model, struct blob *blob, size_t width, size_t classes,
		      struct err *err)
{
	struct rules *rules = xcalloc(1, sizeof(*rules));
	size_t count;

	rules->width = width;
	rules->low = blob_take_real(blob);
	rules->high = blob_take_real(blob);
	count = blob_take_count(blob, 4 * 8);
	blob_expect(blob, classes == 0 && width && count && rules->low <= rules->high);
	blob_expect(blob, isfinite(rules->low) && isfinite(rules->high));
	if (blob_ok(blob))
		rules->sets = xcalloc(count, sizeof(*rules->sets));
	for (; blob_ok(blob) && rules->count < count; rules->count++)
		set_load(&rules->sets[rules->count], blob, width);
	points_load(rules, blob);
	if (!blob_ok(blob)) {
		rules_free(rules);
		return err_set(err, EBADMSG, "the rules are damaged");
	}
	*model = rules;
	return 0;
}

const struct learner_ops learner_rules = {
	.name = "rules",
	.help = "rules with linear models, in committees, corrected by neighbours (as Cubist)",
	.tasks = LEARNER_REGRESSES,
	.recipe = "",
	.settings = settings,
	.fit = rules_fit,
	.predict = rules_predict,
	.importance = rules_importance,
	.describe = rules_describe,
	.save = rules_save,
	.load = rules_load,
	.free = rules_free,
};
