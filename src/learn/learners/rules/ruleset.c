/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows are an array of indices in which every node owns a range. Once the tree is complete, the
 * array is reused to mark the conditions that a row does not meet.
 */
#include "learn/learners/rules/ruleset.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/learners/rules/bins.h"

enum {
	DEPTH_MAX = 31,	     /* a path has at most as many conditions as a word has bits */
	LEAVES_PER_RULE = 5, /* a larger tree would be pruned heavily anyway */
};

/* A node whose deviation is below this share of that of all rows is not split. */
#define SPLIT_LEAST 0.01

struct node {
	uint32_t from, count; /* its range of the order */
	uint32_t left, right; /* 0: a leaf */
	uint32_t input, code; /* rows up to this code go left */
	double own, error;    /* expected errors of its own model, and of its subtree */
	double constant;      /* linear model */
	uint32_t first, terms;
};

struct maker {
	const struct ruleset_plan *plan;
	const struct samples *samples;
	const struct bins *bins;
	const double *target;
	uint32_t *order;
	struct node *nodes;
	size_t count, cap;
	struct line_term *terms; /* linear models of all nodes */
	size_t term_count, term_cap;
	size_t leaf;
	double deviation; /* deviation of all rows */
	double exact;	  /* an error that is due to rounding only */
	double *slopes;	  /* one per input; all 0 between uses */
	float *rest;	  /* per row: target of splits, later the squared error of the tree */
	struct line line;
	struct line_work work;
};

struct split {
	uint32_t input, code;
	double spread; /* remaining error: the sum of rows x deviation of both sides */
};

struct bin {
	double count, sum, squares;
};

/* For rows that a rule covers, or would cover: its squared errors and those of the tree. */
struct fault {
	double count, rule, tree;
};

static double deviation_sum(double count, double sum, double squares)
{
	double around = squares - sum * sum / count;

	return around > 0 ? sqrt(around * count) : 0;
}

/* Finds the best cut of one input if it is better than *best. */
static void split_input(const struct maker *maker, const struct node *node, uint32_t input,
			double mean, struct split *best)
{
	const uint8_t *codes = maker->bins->codes + input * maker->bins->rows;
	size_t count = bins_count(maker->bins, input);
	struct bin bins[BINS_MAX], all = { 0 }, left = { 0 };

	memset(bins, 0, count * sizeof(*bins));
	for (size_t i = node->from; i < node->from + node->count; i++) {
		uint32_t row = maker->order[i];
		double y = maker->rest[row] - mean;
		struct bin *bin = &bins[codes[row]];

		bin->count++;
		bin->sum += y;
		bin->squares += y * y;
	}
	for (size_t c = 0; c < count; c++) {
		all.count += bins[c].count;
		all.sum += bins[c].sum;
		all.squares += bins[c].squares;
	}
	for (size_t c = 0; c + 1 < count; c++) {
		double rest;

		left.count += bins[c].count;
		left.sum += bins[c].sum;
		left.squares += bins[c].squares;
		rest = all.count - left.count;
		if (bins[c].count == 0 || left.count < (double)maker->leaf ||
		    rest < (double)maker->leaf)
			continue;
		rest = deviation_sum(left.count, left.sum, left.squares) +
		       deviation_sum(rest, all.sum - left.sum, all.squares - left.squares);
		if (rest < best->spread)
			*best = (struct split){ input, (uint32_t)c, rest };
	}
}

/* Subtracts a share of the prediction of the node's own model from the target. */
static void detrend_node(const struct maker *maker, const struct node *node)
{
	const struct samples *samples = maker->samples;
	const struct line_term *terms = maker->terms + node->first;

	for (size_t i = node->from; i < node->from + node->count; i++) {
		uint32_t row = maker->order[i];
		const double *x = samples->x + row * samples->width;
		double value = node->constant;

		for (uint32_t t = 0; t < node->terms; t++)
			value += terms[t].slope * x[terms[t].input];
		maker->rest[row] = (float)(maker->target[row] - maker->plan->detrend * value);
	}
}

/* Finds the best split of a node. Returns false if nothing is gained. */
static bool find_split(const struct maker *maker, const struct node *node, struct split *split)
{
	double mean = 0, squares = 0, whole;

	detrend_node(maker, node);
	for (size_t i = node->from; i < node->from + node->count; i++)
		mean += maker->rest[maker->order[i]];
	mean /= node->count;
	for (size_t i = node->from; i < node->from + node->count; i++) {
		double y = maker->rest[maker->order[i]] - mean;

		squares += y * y;
	}
	if (sqrt(squares / node->count) < SPLIT_LEAST * maker->deviation)
		return false;
	whole = sqrt(squares * node->count) * (1 - 1e-9);
	*split = (struct split){ .spread = whole };
	for (uint32_t j = 0; j < maker->samples->width; j++)
		split_input(maker, node, j, mean, split);
	return split->spread < whole;
}

/* Moves the rows of the left side to the front of the node's range; returns their number. */
static uint32_t partition_node(struct maker *maker, const struct node *node,
			       const struct split *split)
{
	const uint8_t *codes = maker->bins->codes + split->input * maker->bins->rows;
	uint32_t at = node->from;

	for (uint32_t i = node->from; i < node->from + node->count; i++) {
		uint32_t row = maker->order[i];

		if (codes[row] > split->code)
			continue;
		maker->order[i] = maker->order[at];
		maker->order[at++] = row;
	}
	return at - node->from;
}

/* Adds a node and fits its model. */
static struct node *add_node(struct maker *maker, uint32_t from, uint32_t count)
{
	struct line *line = &maker->line;
	struct node *node;

	line_fit(line, maker->samples, maker->target, maker->order + from, count, &maker->work);
	maker->nodes = xgrow(maker->nodes, &maker->cap, maker->count + 1, sizeof(*maker->nodes));
	maker->terms = xgrow(maker->terms, &maker->term_cap, maker->term_count + line->count + 1,
			     sizeof(*maker->terms));
	node = &maker->nodes[maker->count++];
	*node = (struct node){ .from = from,
			       .count = count,
			       .own = line->error,
			       .error = line->error,
			       .constant = line->constant,
			       .first = (uint32_t)maker->term_count,
			       .terms = line->count };
	memcpy(maker->terms + maker->term_count, line->terms, line->count * sizeof(*line->terms));
	maker->term_count += line->count;
	return node;
}

/* The expected error after a split. */
static double split_error(const struct node *left, const struct node *right)
{
	double sum = left->count * left->error * left->error +
		     right->count * right->error * right->error;

	return sqrt(sum / (left->count + right->count));
}

/* Grows and prunes a subtree. Nodes may be moved and removed, so they are referred to by index. */
static uint32_t grow_subtree(struct maker *maker, uint32_t from, uint32_t count, unsigned depth)
{
	uint32_t self = (uint32_t)maker->count, part, left, right;
	struct node *node = add_node(maker, from, count);
	struct split split;
	double below;

	if (depth >= DEPTH_MAX || count < 2 * maker->leaf || node->own <= maker->exact ||
	    !find_split(maker, node, &split))
		return self;
	node->input = split.input;
	node->code = split.code;
	part = partition_node(maker, node, &split);
	left = grow_subtree(maker, from, part, depth + 1);
	right = grow_subtree(maker, from + part, count - part, depth + 1);
	node = &maker->nodes[self];
	below = split_error(&maker->nodes[left], &maker->nodes[right]);
	if (node->own <= below) {
		maker->count = self + 1;
		maker->term_count = node->first + node->terms;
		return self;
	}
	node->left = left;
	node->right = right;
	node->error = below;
	return self;
}

static double squared_error(const struct node *node, double error)
{
	return node->count * error * error;
}

/* Undoes the splits with the least gain until the number of leaves is within the limit. */
static void limit_leaves(struct maker *maker)
{
	const struct node *nodes = maker->nodes;
	size_t leaves = 0;

	for (size_t i = 0; i < maker->count; i++)
		leaves += !nodes[i].left;
	for (; leaves > maker->plan->rules; leaves--) {
		size_t best = 0;
		double least = INFINITY;

		for (size_t i = 0; i < maker->count; i++) {
			const struct node *node = &nodes[i];
			double worth;

			if (!node->left || nodes[node->left].left || nodes[node->right].left)
				continue;
			worth = squared_error(node, node->own) - squared_error(node, node->error);
			if (worth < least) {
				least = worth;
				best = i;
			}
		}
		maker->nodes[best].left = maker->nodes[best].right = 0;
	}
}

/* A rule under construction. */
struct draft {
	struct ruleset_rule rule;
	struct rule_condition conditions[DEPTH_MAX]; /* value is unused; the code matters */
	uint32_t codes[DEPTH_MAX];
	struct line_term *terms;
};

/* A step down narrows an earlier condition on the same input or adds a condition. */
static void draft_narrow(struct draft *draft, uint32_t input, uint32_t above, uint32_t code)
{
	for (uint32_t i = 0; i < draft->rule.conditions; i++) {
		if (draft->conditions[i].input != input || draft->conditions[i].above != above)
			continue;
		if (above ? code > draft->codes[i] : code < draft->codes[i])
			draft->codes[i] = code;
		return;
	}
	draft->conditions[draft->rule.conditions] =
		(struct rule_condition){ .input = input, .above = above };
	draft->codes[draft->rule.conditions++] = code;
}

static void add_slopes(const struct maker *maker, const struct node *node, double share,
		       struct draft *draft)
{
	const struct line_term *terms = maker->terms + node->first;

	draft->rule.constant += share * node->constant;
	for (uint32_t t = 0; t < node->terms; t++)
		maker->slopes[terms[t].input] += share * terms[t].slope;
}

/*
 * Smooths the model of a leaf by those of its ancestors. On the way up, a node of n rows has weight
 * n and the model above it has weight `smooth`. From the root down this gives each model a share,
 * and the leaf the rest.
 */
static void draft_smooth(const struct maker *maker, const uint32_t *path, size_t depth,
			 struct draft *draft)
{
	double left = 1;

	for (size_t i = 0; i < depth; i++) {
		double count = maker->nodes[path[i + 1]].count, smooth = maker->plan->smooth;

		add_slopes(maker, &maker->nodes[path[i]], left * smooth / (count + smooth), draft);
		left *= count / (count + smooth);
	}
	add_slopes(maker, &maker->nodes[path[depth]], left, draft);
	for (uint32_t j = 0; j < maker->samples->width; j++) {
		if (maker->slopes[j] != 0)
			draft->terms[draft->rule.terms++] =
				(struct line_term){ j, maker->slopes[j] };
		maker->slopes[j] = 0;
	}
}

static double draft_value(const struct draft *draft, const double *row)
{
	double value = draft->rule.constant;

	for (uint32_t i = 0; i < draft->rule.terms; i++)
		value += draft->terms[i].slope * row[draft->terms[i].input];
	return value;
}

/* Sets, per row, one bit for every condition that it does not meet. */
static void fill_masks(const struct maker *maker, const struct draft *draft, uint32_t *masks)
{
	size_t rows = maker->samples->rows;

	memset(masks, 0, rows * sizeof(*masks));
	for (uint32_t c = 0; c < draft->rule.conditions; c++) {
		const uint8_t *codes =
			maker->bins->codes + draft->conditions[c].input * maker->bins->rows;
		uint8_t code = (uint8_t)draft->codes[c];
		uint32_t above = draft->conditions[c].above;

		for (size_t i = 0; i < rows; i++)
			masks[i] |= ((codes[i] > code) ^ above) << c;
	}
}

/* Sums the errors of the rows that meet all conditions, [0], and all but number c, [c + 1]. */
static void sum_faults(const struct maker *maker, const struct draft *draft, const uint32_t *masks,
		       struct fault *faults)
{
	const struct samples *samples = maker->samples;

	memset(faults, 0, (DEPTH_MAX + 1) * sizeof(*faults));
	for (size_t i = 0; i < samples->rows; i++) {
		uint32_t mask = masks[i];
		struct fault *fault;
		double off;

		if (mask & (mask - 1))
			continue;
		fault = &faults[mask ? __builtin_ctz(mask) + 1 : 0];
		off = draft_value(draft, samples->x + i * samples->width) - maker->target[i];
		fault->count++;
		fault->rule += off * off;
		fault->tree += maker->rest[i];
	}
}

static double expected_fault(const struct draft *draft, double count, double sum)
{
	return sqrt(sum / count) * line_pessimism((size_t)count, draft->rule.terms + 1);
}

static void drop_condition(struct draft *draft, uint32_t which, uint32_t *masks, size_t rows)
{
	uint32_t below = (1u << which) - 1;

	draft->rule.conditions--;
	memmove(&draft->conditions[which], &draft->conditions[which + 1],
		(draft->rule.conditions - which) * sizeof(*draft->conditions));
	memmove(&draft->codes[which], &draft->codes[which + 1],
		(draft->rule.conditions - which) * sizeof(*draft->codes));
	for (size_t i = 0; i < rows; i++)
		masks[i] = (masks[i] & below) | (masks[i] >> 1 & ~below);
}

/*
 * Finds the condition that matters least. The rows that the rule gains without it must be predicted
 * as well as by the tree; otherwise a poor rule would absorb its neighborhood.
 */
static bool find_needless_condition(const struct draft *draft, const struct fault *faults,
				    uint32_t *which)
{
	double least = draft->rule.error;
	bool found = false;

	for (uint32_t c = 0; c < draft->rule.conditions; c++) {
		const struct fault *more = &faults[c + 1];
		double error = expected_fault(draft, faults->count + more->count,
					      faults->rule + more->rule);

		if (error > least || more->rule > more->tree)
			continue;
		least = error;
		*which = c;
		found = true;
	}
	return found;
}

static void simplify_draft(const struct maker *maker, struct draft *draft, uint32_t *masks)
{
	struct fault faults[DEPTH_MAX + 1];
	uint32_t which;

	fill_masks(maker, draft, masks);
	for (;;) {
		sum_faults(maker, draft, masks, faults);
		draft->rule.error = expected_fault(draft, faults->count, faults->rule);
		if (!find_needless_condition(draft, faults, &which))
			return;
		drop_condition(draft, which, masks, maker->samples->rows);
	}
}

/* Measures the rows that the rule covers. */
static void measure_draft(const struct maker *maker, struct draft *draft, const uint32_t *masks)
{
	double low = INFINITY, high = -INFINITY, sum = 0, room;
	uint32_t rows = 0;

	for (size_t i = 0; i < maker->samples->rows; i++) {
		if (masks[i])
			continue;
		low = fmin(low, maker->target[i]);
		high = fmax(high, maker->target[i]);
		sum += maker->target[i];
		rows++;
	}
	room = (high - low) * maker->plan->beyond;
	draft->rule.rows = rows;
	draft->rule.mean = sum / rows;
	draft->rule.low = low - room;
	draft->rule.high = high + room;
}

static void append_draft(const struct maker *maker, const struct draft *draft, struct ruleset *set)
{
	const struct ruleset_rule *rule = &draft->rule;

	set->rules = xrealloc(set->rules, set->count + 1, sizeof(*set->rules));
	set->conditions = xrealloc(set->conditions, set->condition_count + rule->conditions + 1,
				   sizeof(*set->conditions));
	set->terms = xrealloc(set->terms, set->term_count + rule->terms + 1, sizeof(*set->terms));
	set->rules[set->count++] = *rule;
	for (uint32_t c = 0; c < rule->conditions; c++) {
		struct rule_condition condition = draft->conditions[c];

		condition.value = bins_cut(maker->bins, condition.input, draft->codes[c]);
		set->conditions[set->condition_count++] = condition;
	}
	memcpy(set->terms + set->term_count, draft->terms, rule->terms * sizeof(*draft->terms));
	set->term_count += rule->terms;
}

typedef void leaf_work(struct maker *maker, const uint32_t *path, size_t depth, struct draft *draft,
		       struct ruleset *set);

/* Computes the squared errors of the tree for the rows of a leaf. */
static void score_leaf(struct maker *maker, const uint32_t *path, size_t depth, struct draft *draft,
		       struct ruleset *set)
{
	const struct node *leaf = &maker->nodes[path[depth]];

	(void)set;
	for (size_t i = leaf->from; i < leaf->from + leaf->count; i++) {
		uint32_t row = maker->order[i];
		double off = draft_value(draft, maker->samples->x + row * maker->samples->width) -
			     maker->target[row];

		maker->rest[row] = (float)(off * off);
	}
}

static void make_leaf_rule(struct maker *maker, const uint32_t *path, size_t depth,
			   struct draft *draft, struct ruleset *set)
{
	for (size_t i = 0; i < depth; i++) {
		const struct node *step = &maker->nodes[path[i]];

		draft_narrow(draft, step->input, path[i + 1] == step->right, step->code);
	}
	simplify_draft(maker, draft, maker->order);
	measure_draft(maker, draft, maker->order);
	append_draft(maker, draft, set);
}

/* Calls work for every leaf below path[depth] with its smoothed model in the draft. */
static void visit_leaves(struct maker *maker, uint32_t *path, size_t depth, leaf_work *work,
			 struct draft *draft, struct ruleset *set)
{
	const struct node *node = &maker->nodes[path[depth]];

	if (node->left) {
		path[depth + 1] = node->left;
		visit_leaves(maker, path, depth + 1, work, draft, set);
		path[depth + 1] = node->right;
		visit_leaves(maker, path, depth + 1, work, draft, set);
		return;
	}
	draft->rule = (struct ruleset_rule){ 0 };
	draft_smooth(maker, path, depth, draft);
	work(maker, path, depth, draft, set);
}

static void measure_target(struct maker *maker, double *mean)
{
	size_t rows = maker->samples->rows;
	double sum = 0, around = 0;

	for (size_t i = 0; i < rows; i++)
		sum += maker->target[i];
	*mean = sum / (double)rows;
	for (size_t i = 0; i < rows; i++)
		around += (maker->target[i] - *mean) * (maker->target[i] - *mean);
	maker->deviation = sqrt(around / (double)rows);
	/* Squared errors are differences of sums, which lose half of the digits. */
	maker->exact = 1e-6 * maker->deviation;
}

void ruleset_init(struct ruleset *set, const struct ruleset_plan *plan,
		  const struct samples *samples, const double *target, const struct bins *bins)
{
	size_t rows = samples->rows, width = samples->width;
	AUTO_FREE uint32_t *order = xmalloc(rows * sizeof(*order));
	AUTO_FREE float *rest = xmalloc(rows * sizeof(*rest));
	AUTO_FREE double *slopes = xcalloc(width, sizeof(*slopes));
	AUTO_FREE double *scores = xcalloc(width, sizeof(*scores));
	AUTO_FREE struct line_term *terms = xcalloc(width, sizeof(*terms));
	AUTO_FREE struct draft *draft = xcalloc(1, sizeof(*draft));
	AUTO_FREE struct maker *maker = xcalloc(1, sizeof(*maker));
	uint32_t path[DEPTH_MAX + 1] = { 0 };

	*maker = (struct maker){ .plan = plan,
				 .samples = samples,
				 .bins = bins,
				 .target = target,
				 .order = order,
				 .slopes = slopes,
				 .rest = rest,
				 .work.scores = scores };
	maker->leaf = rows / (LEAVES_PER_RULE * plan->rules);
	if (maker->leaf < plan->leaf)
		maker->leaf = plan->leaf;
	*set = (struct ruleset){ 0 };
	measure_target(maker, &set->mean);
	for (size_t i = 0; i < rows; i++)
		order[i] = (uint32_t)i;
	grow_subtree(maker, 0, (uint32_t)rows, 0);
	limit_leaves(maker);
	draft->terms = terms;
	visit_leaves(maker, path, 0, score_leaf, draft, set);
	visit_leaves(maker, path, 0, make_leaf_rule, draft, set);
	free(maker->nodes);
	free(maker->terms);
}

void ruleset_release(struct ruleset *set)
{
	free(set->rules);
	free(set->conditions);
	free(set->terms);
	*set = (struct ruleset){ 0 };
}

static bool covers_row(const struct rule_condition *conditions, uint32_t count, const double *row)
{
	for (uint32_t i = 0; i < count; i++) {
		if ((row[conditions[i].input] > conditions[i].value) != conditions[i].above)
			return false;
	}
	return true;
}

static double rule_value(const struct ruleset_rule *rule, const struct line_term *terms,
			 const double *row)
{
	double value = rule->constant;

	for (uint32_t i = 0; i < rule->terms; i++)
		value += terms[i].slope * row[terms[i].input];
	/* Also handles NAN, which an extreme row may cause. */
	value = value >= rule->low ? value : rule->low;
	return value > rule->high ? rule->high : value;
}

double ruleset_value(const struct ruleset *set, const double *row)
{
	const struct rule_condition *conditions = set->conditions;
	const struct line_term *terms = set->terms;
	double sum = 0, count = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct ruleset_rule *rule = &set->rules[i];

		if (covers_row(conditions, rule->conditions, row)) {
			sum += rule_value(rule, terms, row);
			count++;
		}
		conditions += rule->conditions;
		terms += rule->terms;
	}
	return count > 0 ? sum / count : set->mean;
}
