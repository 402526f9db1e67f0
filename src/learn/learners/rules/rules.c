/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Committees of rule sets with correction by nearest neighbors, after Quinlan's papers of 1992 and
 * 1993. Each member after the first is trained to compensate the error of the one before; the
 * prediction of the committee is the mean. It is corrected by the errors at the nearest training
 * rows, but only to the extent that nearby rows share their errors; otherwise the correction would
 * add noise.
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

/* Rows whose distances are computed together: at least one vector of floats per input. */
enum { LANES = 16, NEIGHBORS_MAX = 9, TRUST_ROWS = 1000 };

/* The prediction may leave the range of the training targets by this share of it. */
#define BEYOND 0.05

struct rules {
	size_t width, count;
	struct ruleset *sets;
	double low, high;
	/* For the correction by neighbors; NULL and 0 without it. */
	size_t neighbors, rows;
	double *scales; /* per input: 1 / deviation; 0 for a constant input */
	float *points;	/* blocks of LANES rows, input by input */
	double *errors; /* per row: target - prediction of the rules */
	double trust;	/* 0 .. 1: share of the neighbors' errors that a row has, too */
};

extern const struct learner_ops learner_rules;

static size_t block_count(size_t rows)
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
	free(rules->errors);
	free(rules);
}

/* Computes 1 / deviation of each input. */
static void measure_scales(const struct samples *samples, double *scales)
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

static void place_points(struct rules *rules, const struct samples *samples)
{
	size_t width = samples->width;

	rules->rows = samples->rows;
	rules->scales = xcalloc(width, sizeof(*rules->scales));
	rules->points = xcalloc(block_count(rules->rows) * LANES * width, sizeof(*rules->points));
	measure_scales(samples, rules->scales);
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
	float distance[NEIGHBORS_MAX];
	size_t row[NEIGHBORS_MAX];
};

static void insert_nearest(struct nearest *nearest, size_t most, float distance, size_t row)
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

/* Ignores row number `but`. */
static void find_nearest(const struct rules *rules, const double *row, size_t but,
			 struct nearest *nearest)
{
	float distance[LANES];

	for (size_t b = 0; b < block_count(rules->rows); b++) {
		size_t from = b * LANES;
		size_t n = rules->rows - from < LANES ? rules->rows - from : LANES;

		block_distances(rules, rules->points + from * rules->width, row, distance);
		for (size_t l = 0; l < n; l++) {
			if ((nearest->count < rules->neighbors ||
			     distance[l] < nearest->distance[nearest->count - 1]) &&
			    from + l != but)
				insert_nearest(nearest, rules->neighbors, distance[l], from + l);
		}
	}
}

/* The mean error of the rules near this row, weighted by proximity. */
static double neighbor_correction(const struct rules *rules, const double *row, size_t but)
{
	struct nearest nearest = { 0 };
	double sum = 0, weights = 0;

	find_nearest(rules, row, but, &nearest);
	for (size_t i = 0; i < nearest.count; i++) {
		double weight = 1 / (nearest.distance[i] + 0.5);

		sum += weight * rules->errors[nearest.row[i]];
		weights += weight;
	}
	/* Distances may be infinite if the row is far from all training rows. */
	return weights > 0 ? sum / weights : 0;
}

/*
 * Estimates how much of the error of a training row its neighbors predict, by least squares on some
 * rows: noise belongs to a single row, and correcting by it would increase the error.
 */
static void measure_trust(struct rules *rules, const struct samples *samples)
{
	size_t step = samples->rows / TRUST_ROWS + 1;
	double product = 0, squares = 0;

	for (size_t i = 0; i < samples->rows; i += step) {
		double told = neighbor_correction(rules, samples->x + i * samples->width, i);

		product += told * rules->errors[i];
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
		sum += rules->trust * neighbor_correction(rules, row, SIZE_MAX);
	sum = sum >= rules->low ? sum : rules->low;
	*out = sum > rules->high ? rules->high : sum;
}

static const struct learner_setting settings[] = {
	{ "committees", "number of rule sets; each compensates the error of the one before", NULL,
	  1, 1, 100, 1, 50, true, true },
	{ "neighbors", "number of nearest training rows whose errors correct a prediction", NULL, 0,
	  0, NEIGHBORS_MAX, 0, NEIGHBORS_MAX, true, false },
	{ "rules", "maximum number of rules per set", NULL, 100, 1, 1000, 100, 100, true, false },
	{ "leaf", "minimum number of rows of a rule", NULL, 16, 2, 100000, 4, 40, true, true },
	{ "detrend", "share of a node's linear model that is subtracted before the split", NULL,
	  0.8, 0, 1, 0.6, 0.9, false, false },
	{ "smooth", "weight of the parent's model, in rows", NULL, 5, 0, 1000, 5, 5, false, false },
	{ "beyond", "how far a rule may leave the range of its rows, relative to the range", NULL,
	  0.1, 0, 10, 0.1, 0.1, false, false },
	{ 0 }
};

static void fit_committee(struct rules *rules, const struct ruleset_plan *plan,
			  const struct samples *samples)
{
	AUTO_FREE double *target = NULL;
	struct bins bins;

	bins_init(&bins, samples); /* first, because it temporarily needs a column of its own */
	target = xmalloc(samples->rows * sizeof(*target));
	memcpy(target, samples->y, samples->rows * sizeof(*target));
	for (size_t m = 0; m < rules->count; m++) {
		struct ruleset *set = &rules->sets[m];

		ruleset_init(set, plan, samples, target, &bins);
		for (size_t i = 0; i < samples->rows; i++) {
			double value = ruleset_value(set, samples->x + i * samples->width);

			target[i] = 2 * samples->y[i] - value;
			if (rules->errors)
				rules->errors[i] += (samples->y[i] - value) / (double)rules->count;
		}
	}
	bins_release(&bins);
}

static void measure_range(struct rules *rules, const struct samples *samples)
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

	(void)effort; /* members depend on each other, and nothing is random */
	if (!samples->rows || samples->rows > UINT32_MAX)
		return err_set(err, ENODATA, "rules: cannot fit %zu rows", samples->rows);
	rules = xcalloc(1, sizeof(*rules));
	rules->width = samples->width;
	rules->count = (size_t)learner_value(ops, values, "committees");
	rules->sets = xcalloc(rules->count, sizeof(*rules->sets));
	rules->neighbors = (size_t)learner_value(ops, values, "neighbors");
	if (rules->neighbors)
		rules->errors = xcalloc(samples->rows, sizeof(*rules->errors));
	fit_committee(rules, &plan, samples);
	if (rules->neighbors) {
		place_points(rules, samples);
		measure_trust(rules, samples);
	}
	measure_range(rules, samples);
	*model = rules;
	return 0;
}

/* Counts the rows whose conditions or models use an input, over all rules. */
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

static void describe_set(const struct ruleset *set, const char *const *names, struct buf *out)
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

	if (rules->neighbors)
		buf_printf(out, "corrected by %.2f of the errors at the %zu nearest of %zu rows\n",
			   rules->trust, rules->neighbors, rules->rows);
	for (size_t m = 0; m < rules->count; m++) {
		buf_printf(out, "rule set %zu of %zu: %zu rule%s\n", m + 1, rules->count,
			   rules->sets[m].count, rules->sets[m].count == 1 ? "" : "s");
		describe_set(&rules->sets[m], names, out);
	}
}

static void save_set(const struct ruleset *set, struct buf *buf)
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
		save_set(&rules->sets[m], buf);
	blob_put_u32(buf, (uint32_t)rules->neighbors);
	if (!rules->neighbors)
		return;
	blob_put_u64(buf, rules->rows);
	blob_put_real(buf, rules->trust);
	blob_put_reals(buf, rules->scales, rules->width);
	blob_put_reals(buf, rules->errors, rules->rows);
	blob_put_floats(buf, rules->points, block_count(rules->rows) * LANES * rules->width);
}

enum { RULE_BYTES = 3 * 4 + 5 * 8, CONDITION_BYTES = 16, TERM_BYTES = 12 };

/* The counts of the rules must add up to those of the arrays. */
static void load_set_rules(struct ruleset *set, struct blob *blob)
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

static void load_set(struct ruleset *set, struct blob *blob, size_t width)
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
	load_set_rules(set, blob);
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

static void load_points(struct rules *rules, struct blob *blob)
{
	size_t width = rules->width, count;

	rules->neighbors = blob_take_u32(blob);
	if (!rules->neighbors || !blob_expect(blob, rules->neighbors <= NEIGHBORS_MAX))
		return;
	/* A row takes at least its error and one float per input. */
	rules->rows = blob_take_count(blob, 8 + 4 * width);
	rules->trust = blob_take_real(blob);
	blob_expect(blob, rules->trust >= 0 && rules->trust <= 1);
	if (!blob_ok(blob))
		return;
	count = block_count(rules->rows) * LANES * width;
	rules->scales = xcalloc(width, sizeof(*rules->scales));
	rules->errors = xcalloc(rules->rows + 1, sizeof(*rules->errors));
	rules->points = xcalloc(count + 1, sizeof(*rules->points));
	blob_take_reals(blob, rules->scales, width);
	blob_take_reals(blob, rules->errors, rules->rows);
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
		load_set(&rules->sets[rules->count], blob, width);
	load_points(rules, blob);
	if (!blob_ok(blob)) {
		rules_free(rules);
		return err_set(err, EBADMSG, "the rules are damaged");
	}
	*model = rules;
	return 0;
}

const struct learner_ops learner_rules = {
	.name = "rules",
	.help = "committees of rules with linear models, corrected by nearest neighbors (like "
		"Cubist)",
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
