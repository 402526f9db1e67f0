/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The innermost loops of growing a tree. They are written once, and the compiler specializes them
 * for entries of two widths, with and without weights.
 */
#include "learn/learners/trees/split.h"

#include <math.h>
#include <string.h>

#define SPECIALIZED static inline __attribute__((always_inline))

const struct split split_none = { .over = -INFINITY, .under = 1 };

struct entries {
	const uint32_t *narrow;
	const uint64_t *wide;
};

SPECIALIZED uint32_t entry_rank(const struct entries *entries, size_t i, bool wide)
{
	return wide ? (uint32_t)(entries->wide[i] >> 32) : entries->narrow[i] >> 16;
}

SPECIALIZED uint32_t entry_position(const struct entries *entries, size_t i, bool wide)
{
	return wide ? (uint32_t)entries->wide[i] : entries->narrow[i] & 0xffff;
}

/* The cut after entry i. */
SPECIALIZED void best_set(struct split *best, double over, double under, uint32_t feature,
			  const struct entries *entries, size_t i, bool wide)
{
	*best = (struct split){ .over = over,
				.under = under,
				.feature = feature,
				.left = (uint32_t)i + 1,
				.rows = (uint32_t)i + 1,
				.rank = entry_rank(entries, i, wide),
				.below = entry_position(entries, i, wide),
				.above = entry_position(entries, i + 1, wide) };
}

/*
 * Stores the cut if it is better: over / under > best, where all factors except over are positive.
 */
SPECIALIZED void best_keep(struct split *best, double over, double under, uint32_t feature,
			   const struct entries *entries, size_t i, bool wide)
{
	if (over * best->under > best->over * under)
		best_set(best, over, under, feature, entries, i, wide);
}

/*
 * Within a node the decrease of variance is (W s - w S)^2 / (w (W - w)) up to a constant factor,
 * with s and w of the left half.
 */
SPECIALIZED void scan_variance(const struct split_node *node, const struct entries *entries,
			       uint32_t feature, struct split *best, bool wide, bool weighted)
{
	const double *target = node->target, *weight = node->weight;
	double all = node->weight_all, sum_all = node->sum_all, sum = 0, left = 0;
	double over_best = best->over, under_best = best->under;
	size_t i = 0, last = node->count - node->leaf_least, found = SIZE_MAX;

	for (; i + 1 < node->leaf_least; i++) {
		sum += target[entry_position(entries, i, wide)];
		left += weighted ? weight[entry_position(entries, i, wide)] : 1;
	}
	for (; i < last; i++) {
		uint32_t position = entry_position(entries, i, wide);
		bool differ = entry_rank(entries, i, wide) != entry_rank(entries, i + 1, wide);
		double difference, over, under;

		sum += target[position];
		left += weighted ? weight[position] : 1;
		difference = all * sum - left * sum_all;
		over = difference * difference;
		under = left * (all - left);
		/*
		 * This branch is rarely taken and replaces an unpredictable one on the ranks. The
		 * barrier keeps it a branch: a conditional move would make every row wait for the
		 * previous one.
		 */
		if (differ & (over * under_best > over_best * under)) {
			__asm__ volatile("");
			over_best = over;
			under_best = under;
			found = i;
		}
	}
	if (found != SIZE_MAX)
		best_set(best, over_best, under_best, feature, entries, found, wide);
}

/* Like the scan above, for entries that stand for several rows each. */
static void scan_with_tally(const struct split_node *node, const struct entries *entries,
			    uint32_t feature, struct split *best, bool wide)
{
	double all = node->weight_all, sum_all = node->sum_all, sum = 0, left = 0;
	size_t rows = 0, last = node->rows - node->leaf_least;

	for (size_t i = 0; i + 1 < node->count && rows <= last; i++) {
		uint32_t position = entry_position(entries, i, wide);
		bool differ = entry_rank(entries, i, wide) != entry_rank(entries, i + 1, wide);
		double difference, over, under;

		sum += node->target[position];
		left += node->weight[position];
		rows += node->tally[position];
		difference = all * sum - left * sum_all;
		over = difference * difference;
		under = left * (all - left);
		if (differ & (rows >= node->leaf_least) & (rows <= last) &
		    (over * best->under > best->over * under)) {
			best_set(best, over, under, feature, entries, i, wide);
			best->rows = (uint32_t)rows;
		}
	}
}

static bool has_distinct_ranks(const uint16_t *ranks, const uint32_t *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (ranks[rows[i]] != ranks[rows[0]])
			return true;
	}
	return false;
}

static void add_bins(struct split_bin *bins, const struct split_bin *more, size_t levels)
{
	for (size_t i = 0; i < levels; i++) {
		if (!more[i].count)
			continue;
		bins[i].sum += more[i].sum;
		bins[i].weight += more[i].weight;
		bins[i].count += more[i].count;
		bins[i].position = more[i].position;
	}
}

/*
 * Adjacent rows often have the same rank, and an addition to a bin waits for the previous one. If
 * bins are few, rows alternate between four sets of them.
 */
static void fill_bins(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		      struct split_bin *bins, size_t levels)
{
	size_t sets = levels <= 16 && node->count >= 4 * levels ? 4 : 1;

	memset(bins, 0, levels * sets * sizeof(*bins));
	for (uint32_t i = 0; i < node->count; i++) {
		struct split_bin *bin = &bins[(i & (sets - 1)) * levels + ranks[rows[i]]];

		bin->sum += node->target[i];
		bin->weight += node->weight ? node->weight[i] : 1;
		bin->count += node->tally ? node->tally[i] : 1;
		bin->position = i;
	}
	for (size_t set = 1; set < sets; set++)
		add_bins(bins, bins + set * levels, levels);
}

bool split_scan_bins(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		     size_t levels, struct split_bin *bins, uint32_t feature, struct split *best)
{
	double all = node->weight_all, sum_all = node->sum_all, sum = 0, left = 0;
	size_t count = 0, last = node->rows - node->leaf_least;
	struct split kept = *best;
	uint32_t before = 0;

	if (!has_distinct_ranks(ranks, rows, node->count))
		return false;
	fill_bins(node, ranks, rows, bins, levels);
	for (uint32_t rank = 0; count <= last && rank < levels; rank++) {
		const struct split_bin *bin = &bins[rank];
		double difference = all * sum - left * sum_all, over = difference * difference;
		double under = left * (all - left);

		if (!bin->count)
			continue;
		if (count >= node->leaf_least && over * kept.under > kept.over * under)
			kept = (struct split){ .over = over,
					       .under = under,
					       .feature = feature,
					       .rows = (uint32_t)count,
					       .rank = before,
					       .below = bins[before].position,
					       .above = bin->position };
		sum += bin->sum;
		left += bin->weight;
		count += bin->count;
		before = rank;
	}
	*best = kept;
	return true;
}

/* Sums of squared class weights of both halves; moving a row changes one term of them. */
SPECIALIZED void scan_gini(const struct split_node *node, const struct entries *entries,
			   uint32_t feature, struct split *best, bool wide, bool weighted)
{
	double right[LEARNER_CLASSES_MAX], left[LEARNER_CLASSES_MAX] = { 0 };
	double squares_left = 0, squares_right = 0, weight_left = 0, weight_right;
	size_t last = node->count - node->leaf_least;

	memcpy(right, node->classes_all, node->classes * sizeof(*right));
	for (size_t i = 0; i < node->classes; i++)
		squares_right += right[i] * right[i];
	for (size_t i = 0; i < last; i++) {
		uint32_t position = entry_position(entries, i, wide);
		size_t class = (size_t)node->target[position];
		double weight = weighted ? node->weight[position] : 1;

		squares_left += weight * (2 * left[class] + weight);
		squares_right += weight * (weight - 2 * right[class]);
		left[class] += weight;
		right[class] -= weight;
		weight_left += weight;
		if (entry_rank(entries, i, wide) == entry_rank(entries, i + 1, wide) ||
		    i + 1 < node->leaf_least)
			continue;
		weight_right = node->weight_all - weight_left;
		best_keep(best, squares_left * weight_right + squares_right * weight_left,
			  weight_left * weight_right, feature, entries, i, wide);
	}
}

static double x_log_x(double x)
{
	return x > 0 ? x * log2(x) : 0;
}

/* Larger means purer: the negative entropy times the weight. */
static double negative_entropy(const double *weights, size_t classes)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < classes; i++) {
		all += weights[i];
		sum += x_log_x(weights[i]);
	}
	return sum - x_log_x(all);
}

SPECIALIZED void scan_entropy(const struct split_node *node, const struct entries *entries,
			      uint32_t feature, struct split *best, bool wide, bool weighted)
{
	double right[LEARNER_CLASSES_MAX], left[LEARNER_CLASSES_MAX] = { 0 };
	size_t last = node->count - node->leaf_least;

	memcpy(right, node->classes_all, node->classes * sizeof(*right));
	for (size_t i = 0; i < last; i++) {
		uint32_t position = entry_position(entries, i, wide);
		size_t class = (size_t)node->target[position];
		double weight = weighted ? node->weight[position] : 1;
		double value;

		left[class] += weight;
		right[class] -= weight;
		if (entry_rank(entries, i, wide) == entry_rank(entries, i + 1, wide) ||
		    i + 1 < node->leaf_least)
			continue;
		value = negative_entropy(left, node->classes) +
			negative_entropy(right, node->classes);
		best_keep(best, value, 1, feature, entries, i, wide);
	}
}

SPECIALIZED void scan(const struct split_node *node, const struct entries *entries,
		      uint32_t feature, struct split *best, bool wide, bool weighted)
{
	if (node->criterion == SPLIT_VARIANCE)
		scan_variance(node, entries, feature, best, wide, weighted);
	else if (node->criterion == SPLIT_GINI)
		scan_gini(node, entries, feature, best, wide, weighted);
	else
		scan_entropy(node, entries, feature, best, wide, weighted);
}

void split_scan(const struct split_node *node, const uint32_t *entries, uint32_t feature,
		struct split *best)
{
	struct entries narrow = { .narrow = entries };

	if (node->tally)
		scan_with_tally(node, &narrow, feature, best, false);
	else if (node->weight)
		scan(node, &narrow, feature, best, false, true);
	else
		scan(node, &narrow, feature, best, false, false);
}

void split_scan_wide(const struct split_node *node, const uint64_t *entries, uint32_t feature,
		     struct split *best)
{
	struct entries wide = { .wide = entries };

	if (node->tally)
		scan_with_tally(node, &wide, feature, best, true);
	else if (node->weight)
		scan(node, &wide, feature, best, true, true);
	else
		scan(node, &wide, feature, best, true, false);
}

/* Sums over the entries of one level. */
struct level {
	uint32_t rank, position; /* position: of any of its entries */
	size_t entries, rows;
	double sum, weight;
	double classes[LEARNER_CLASSES_MAX];
};

static void level_clear(struct level *level, const struct split_node *node, uint32_t rank)
{
	level->rank = rank;
	level->entries = level->rows = 0;
	level->sum = level->weight = 0;
	memset(level->classes, 0, node->classes * sizeof(*level->classes));
}

static void level_add(struct level *level, const struct split_node *node, uint32_t position)
{
	double weight = node->weight ? node->weight[position] : 1;

	level->position = position;
	level->entries++;
	level->rows += node->tally ? node->tally[position] : 1;
	level->weight += weight;
	if (node->criterion == SPLIT_VARIANCE)
		level->sum += node->target[position];
	else
		level->classes[(size_t)node->target[position]] += weight;
}

/* Returns the quality of the cut as *under and the result, as the scans above do. */
static double level_quality(const struct split_node *node, const struct level *level, double *under)
{
	double rest = node->weight_all - level->weight, others[LEARNER_CLASSES_MAX];
	double squares = 0, squares_rest = 0;

	*under = node->criterion == SPLIT_ENTROPY ? 1 : level->weight * rest;
	if (node->criterion == SPLIT_VARIANCE) {
		double difference = node->weight_all * level->sum - level->weight * node->sum_all;

		return difference * difference;
	}
	for (size_t i = 0; i < node->classes; i++) {
		others[i] = node->classes_all[i] - level->classes[i];
		squares += level->classes[i] * level->classes[i];
		squares_rest += others[i] * others[i];
	}
	if (node->criterion == SPLIT_ENTROPY)
		return negative_entropy(others, node->classes) +
		       negative_entropy(level->classes, node->classes);
	return squares * rest + squares_rest * level->weight;
}

/* Stores the cut if it is better. other is the position of an entry of another level. */
static void level_keep(const struct level *level, const struct split_node *node, uint32_t first,
		       uint32_t other, struct split *best)
{
	double under, over = level_quality(node, level, &under);

	if (level->rows < node->leaf_least || node->rows - level->rows < node->leaf_least)
		return;
	if (over * best->under > best->over * under)
		*best = (struct split){ .over = over,
					.under = under,
					.feature = first + level->rank - 1,
					.left = (uint32_t)(node->count - level->entries),
					.rows = (uint32_t)(node->rows - level->rows),
					.level = level->rank,
					.below = other,
					.above = level->position };
}

/* Entries are sorted, so those of a level are adjacent. */
bool split_scan_levels(const struct split_node *node, const void *entries, bool wide,
		       uint32_t first, uint32_t only, struct split *best)
{
	const struct entries list = { .narrow = entries, .wide = entries };
	struct level level;
	bool varies = false;

	for (size_t i = 0, begin; i < node->count;) {
		level_clear(&level, node, entry_rank(&list, i, wide));
		begin = i;
		while (i < node->count && entry_rank(&list, i, wide) == level.rank)
			level_add(&level, node, entry_position(&list, i++, wide));
		if (!level.rank || level.entries == node->count || (only && only != level.rank))
			continue;
		varies = true;
		level_keep(&level, node, first,
			   entry_position(&list, begin ? 0 : node->count - 1, wide), best);
	}
	return varies;
}

bool split_scan_level(const struct split_node *node, const uint16_t *ranks, const uint32_t *rows,
		      uint32_t first, uint32_t only, struct split *best)
{
	uint32_t other = 0;
	struct level level;

	level_clear(&level, node, only);
	for (uint32_t i = 0; i < node->count; i++) {
		if (ranks[rows[i]] == only)
			level_add(&level, node, i);
		else
			other = i;
	}
	if (!level.entries || level.entries == node->count)
		return false;
	level_keep(&level, node, first, other, best);
	return true;
}

double split_gain(const struct split_node *node, const struct split *split)
{
	double value = split->over / split->under, squares = 0;

	if (node->criterion == SPLIT_VARIANCE)
		return value / node->weight_all;
	if (node->criterion == SPLIT_ENTROPY)
		return value - negative_entropy(node->classes_all, node->classes);
	for (size_t i = 0; i < node->classes; i++)
		squares += node->classes_all[i] * node->classes_all[i];
	return value - squares / node->weight_all;
}
