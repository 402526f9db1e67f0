/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nodes wait on a stack. Both children of a node are numbered when it is split, so they are
 * adjacent; the left one is grown next, so that a subtree is close together in memory.
 */
#include "learn/learners/trees/growth.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/learners/trees/ranks.h"
#include "learn/math/random.h"

/* An array of this number of nodes is handed over instead of copied. */
enum { NODES_MANY = 8192 };

/* Up to this number of ranks per row of a node, summing by rank is faster than sorting. */
enum { BIN_LEVELS_PER_ROW = 2 };

struct waiting {
	uint32_t node, begin, count, rows, depth, list;
};

struct growth {
	const struct growth_ranks *ranks;
	const struct growth_plan *plan;
	const struct samples *samples;
	size_t answers;
	bool in_order, wide;

	size_t size;		/* number of cells */
	struct cells_sums sums; /* used if rows are merged; otherwise a cell is a row */
	/* Growing in order. */
	uint32_t *lists; /* like those of ranks, but only cells of this tree */
	bool lists_owned;
	uint8_t *side; /* per cell: whether it goes left */
	/* Growing on demand. */
	uint32_t *rows;			     /* cells of the tree */
	double *node_targets, *node_weights; /* target and weight of the cells of the node */
	uint32_t *tally;		     /* and their row counts, if rows are merged */
	void *entries;			     /* entries of an input, narrow or wide */
	size_t room;			     /* allocated rows */
	struct split_bin *bins; /* NULL: the criterion does not support summing by rank */
	/* Both strategies. */
	void *spare; /* right halves while a list is partitioned; on demand also for sorting */
	uint32_t *features; /* inputs, shuffled as needed */
	uint32_t *members;  /* rows of a leaf, if they are not contiguous */

	/* The current tree. */
	const double *target;
	const uint16_t *weights;
	struct random *random;
	uint64_t order; /* first input and direction, if all inputs are considered */
	double *gain;
	double pure, weight_root; /* a node with less variance than pure is a leaf */
	bool from_ranks;	  /* the lists of the root are still those of ranks */
	struct flat_tree_node *nodes;
	double *values;
	size_t count, room_nodes, nodes_most;
	struct waiting *stack;
	size_t waiting, cap_stack;
	struct growth_leaf *leaves;
	size_t leaf_count, cap_leaves;
};

/* On demand: allocates for the rows of a tree, which are fewer than all if rows are drawn. */
static void make_room(struct growth *growth, size_t rows)
{
	size_t bytes = growth->wide ? sizeof(uint64_t) : sizeof(uint32_t);
	bool weighted = growth->weights || growth->sums.sum;

	if (rows <= growth->room && (!weighted || growth->node_weights))
		return;
	if (rows < growth->room)
		rows = growth->room;
	rows += rows / 64;
	if (rows > growth->size)
		rows = growth->size;
	growth->room = rows;
	if (growth->sums.sum)
		growth->tally = xrealloc(growth->tally, rows, sizeof(*growth->tally));
	growth->rows = xrealloc(growth->rows, rows, sizeof(*growth->rows));
	growth->node_targets = xrealloc(growth->node_targets, rows, sizeof(*growth->node_targets));
	if (weighted || growth->node_weights)
		growth->node_weights =
			xrealloc(growth->node_weights, rows, sizeof(*growth->node_weights));
	growth->entries = xrealloc(growth->entries, rows, bytes);
	growth->spare = xrealloc(growth->spare, rows, bytes);
}

struct growth *growth_new(struct growth_ranks *ranks, const struct growth_plan *plan, bool keep)
{
	struct growth *growth = xcalloc(1, sizeof(*growth));
	size_t rows = ranks->cells.count, width = ranks->samples->width;
	size_t columns = ranks->bundles.count;

	growth->ranks = ranks;
	growth->size = rows;
	if (ranks->cells.rows)
		cells_sums_init(&growth->sums, rows);
	growth->plan = plan;
	growth->samples = ranks->samples;
	growth->answers = growth_answers(plan->classes);
	growth->in_order = ranks->lists != NULL;
	growth->wide = rows > RANKS_MOST;
	growth->features = xmalloc(width * sizeof(*growth->features));
	if (plan->criterion == SPLIT_VARIANCE && !growth->in_order)
		growth->bins = xmalloc(SPLIT_BINS * sizeof(*growth->bins));
	if (!growth->in_order)
		return growth;
	growth->spare = xmalloc(rows * sizeof(uint32_t));
	growth->side = xmalloc(rows);
	growth->lists_owned = !keep;
	growth->lists = keep ? ranks->lists : xmalloc(rows * columns * sizeof(*growth->lists));
	return growth;
}

void growth_free(struct growth *growth)
{
	if (!growth)
		return;
	if (growth->lists_owned)
		free(growth->lists);
	cells_sums_release(&growth->sums);
	free(growth->side);
	free(growth->members);
	free(growth->tally);
	free(growth->rows);
	free(growth->node_targets);
	free(growth->node_weights);
	free(growth->entries);
	free(growth->bins);
	free(growth->spare);
	free(growth->features);
	free(growth->nodes);
	free(growth->values);
	free(growth->stack);
	free(growth->leaves);
	free(growth);
}

/* The sorted rows of a node. Those of the root are not copied before they are partitioned. */
static const uint32_t *node_list(const struct growth *growth, const struct waiting *at,
				 size_t column)
{
	const uint32_t *lists =
		growth->from_ranks && at->node == 0 ? growth->ranks->lists : growth->lists;

	return lists + column * growth->size + at->begin;
}

static inline bool cell_has_weight(const struct growth *growth, size_t cell)
{
	if (growth->sums.sum)
		return growth->sums.tally[cell] != 0;
	return !growth->weights || growth->weights[cell];
}

/* Collects the cells of the tree and returns the number of rows with a weight. */
static size_t gather_root(struct growth *growth)
{
	size_t rows = growth->size, count = 0;
	const uint16_t *weights = growth->weights;

	growth->from_ranks = growth->in_order && growth->lists_owned && !weights;
	if (!growth->in_order) {
		for (size_t i = 0; weights && i < rows; i++)
			count += cell_has_weight(growth, i);
		make_room(growth, weights ? count : rows);
		for (size_t i = count = 0; i < rows; i++) {
			if (cell_has_weight(growth, i))
				growth->rows[count++] = (uint32_t)i;
		}
		return count;
	}
	if (!weights)
		return rows;
	for (size_t f = 0; f < growth->ranks->bundles.count; f++) {
		const uint32_t *from = growth->ranks->lists + f * rows;
		uint32_t *to = growth->lists + f * rows;

		count = 0;
		for (size_t i = 0; i < rows; i++) {
			to[count] = from[i];
			count += cell_has_weight(growth, from[i] & 0xffff);
		}
	}
	return count;
}

static inline uint32_t node_row(const struct growth *growth, const uint32_t *list, size_t i)
{
	return growth->in_order ? list[i] & 0xffff : list[i];
}

/*
 * Computes the sums of a node. On demand, its targets and weights are copied to adjacent memory.
 * Returns the variance, or 0 if a node of classes is pure.
 */
static double gather_numbers(struct growth *growth, const uint32_t *list, struct split_node *node)
{
	double first = growth->target[node_row(growth, list, 0)], weight = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < node->count; i++) {
		uint32_t row = node_row(growth, list, i);
		double w = growth->weights && !growth->in_order ? growth->weights[row] : 1;
		double difference = growth->target[row] - first;

		weight += w;
		sum += w * difference;
		squares += w * difference * difference;
		if (!growth->in_order) {
			growth->node_targets[i] = w * growth->target[row];
			if (growth->weights)
				growth->node_weights[i] = w;
		}
	}
	node->weight_all = weight;
	node->sum_all = sum + first * weight;
	return squares / weight - sum / weight * (sum / weight);
}

/* Like gather_numbers(), for merged rows. */
static double gather_cells(struct growth *growth, const uint32_t *list, struct split_node *node)
{
	const struct cells_sums *sums = &growth->sums;
	uint32_t cell = node_row(growth, list, 0);
	double first = growth->target[cells_row(&growth->ranks->cells, cell)];
	double weight = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < node->count; i++) {
		double w, difference;

		cell = node_row(growth, list, i);
		w = sums->weight[cell];
		difference = sums->sum[cell] - w * first;
		weight += w;
		sum += difference;
		squares += sums->within[cell] + difference * difference / w;
		if (!growth->in_order) {
			growth->node_targets[i] = sums->sum[cell];
			growth->node_weights[i] = w;
			growth->tally[i] = sums->tally[cell];
		}
	}
	node->weight_all = weight;
	node->sum_all = sum + first * weight;
	return squares / weight - sum / weight * (sum / weight);
}

static double gather_classes(struct growth *growth, const uint32_t *list, struct split_node *node)
{
	double most = 0;

	memset(node->classes_all, 0, growth->plan->classes * sizeof(double));
	node->weight_all = 0;
	for (size_t i = 0; i < node->count; i++) {
		uint32_t row = node_row(growth, list, i);
		double w = growth->weights && !growth->in_order ? growth->weights[row] : 1;

		node->weight_all += w;
		node->classes_all[(size_t)growth->target[row]] += w;
		if (!growth->in_order) {
			growth->node_targets[i] = growth->target[row];
			if (growth->weights)
				growth->node_weights[i] = w;
		}
	}
	for (size_t i = 0; i < growth->plan->classes; i++)
		most = fmax(most, node->classes_all[i]);
	return most == node->weight_all ? 0 : 1;
}

static double gather_node(struct growth *growth, const struct waiting *at, struct split_node *node)
{
	const uint32_t *list =
		growth->in_order ? node_list(growth, at, at->list) : growth->rows + at->begin;

	node->criterion = growth->plan->criterion;
	node->classes = growth->plan->classes;
	node->count = at->count;
	node->rows = at->rows;
	node->tally = NULL;
	node->leaf_least = growth->plan->leaf_least;
	node->target = growth->in_order ? growth->target : growth->node_targets;
	node->weight = growth->in_order || !growth->weights ? NULL : growth->node_weights;
	if (growth->sums.sum) {
		node->tally = growth->in_order ? growth->sums.tally : growth->tally;
		node->target = growth->in_order ? growth->sums.sum : growth->node_targets;
		node->weight = growth->in_order ? growth->sums.weight : growth->node_weights;
		return gather_cells(growth, list, node);
	}
	if (growth->plan->criterion == SPLIT_VARIANCE)
		return gather_numbers(growth, list, node);
	return gather_classes(growth, list, node);
}

static void set_value(struct growth *growth, uint32_t at, const struct split_node *node)
{
	double *value = growth->values + at * growth->answers;

	if (node->criterion == SPLIT_VARIANCE)
		value[0] = node->sum_all / node->weight_all + growth->plan->center;
	else if (growth->answers == 1)
		value[0] = node->classes_all[1] / node->weight_all;
	else
		for (size_t i = 0; i < growth->answers; i++)
			value[i] = node->classes_all[i] / node->weight_all;
}

/* Collects the ranks of the rows of the node in a column. Returns false if all are equal. */
static bool fill_entries(struct growth *growth, const struct waiting *at, size_t column)
{
	const uint16_t *ranks = growth->ranks->ranks + column * growth->size;
	const uint32_t *rows = growth->rows + at->begin;
	uint32_t first = ranks[rows[0]], *narrow = growth->entries;
	uint64_t *wide = growth->entries;
	uint32_t differ = 0;

	for (size_t i = 0; !growth->wide && i < at->count; i++) {
		differ |= ranks[rows[i]] ^ first;
		narrow[i] = (uint32_t)ranks[rows[i]] << 16 | (uint32_t)i;
	}
	for (size_t i = 0; growth->wide && i < at->count; i++) {
		differ |= ranks[rows[i]] ^ first;
		wide[i] = (uint64_t)ranks[rows[i]] << 32 | i;
	}
	return differ != 0;
}

/* On demand: returns the sorted entries of fill_entries(). */
static const void *order_entries(struct growth *growth, const struct waiting *at, size_t column)
{
	size_t levels = growth->ranks->levels[column];

	if (growth->wide)
		return ranks_order_wide(growth->entries, growth->spare, at->count, levels);
	return ranks_order(growth->entries, growth->spare, at->count, levels);
}

/* Tries an ordinary input. Returns false if it is constant in the node. */
static bool try_input(struct growth *growth, const struct waiting *at,
		      const struct split_node *node, size_t column, struct split *best)
{
	size_t levels = growth->ranks->levels[column];
	uint32_t feature = growth->ranks->bundles.list[column].first;
	const uint32_t *list;

	if (growth->in_order) {
		list = node_list(growth, at, column);
		if (list[0] >> 16 == list[at->count - 1] >> 16)
			return false;
		split_scan(node, list, feature, best);
		return true;
	}
	if (growth->bins && levels <= SPLIT_BINS && levels <= at->count * BIN_LEVELS_PER_ROW)
		return split_scan_bins(node, growth->ranks->ranks + column * growth->size,
				       growth->rows + at->begin, levels, growth->bins, feature,
				       best);
	if (!fill_entries(growth, at, column))
		return false;
	if (growth->wide)
		split_scan_wide(node, order_entries(growth, at, column), feature, best);
	else
		split_scan(node, order_entries(growth, at, column), feature, best);
	return true;
}

/* Tries one level of a bundle, or all of them (only is 0). Returns false if they are constant. */
static bool try_levels(struct growth *growth, const struct waiting *at,
		       const struct split_node *node, size_t column, uint32_t only,
		       struct split *best)
{
	uint32_t first = growth->ranks->bundles.list[column].first;

	if (growth->in_order)
		return split_scan_levels(node, node_list(growth, at, column), false, first, only,
					 best);
	if (only)
		return split_scan_level(node, growth->ranks->ranks + column * growth->size,
					growth->rows + at->begin, first, only, best);
	return fill_entries(growth, at, column) &&
	       split_scan_levels(node, order_entries(growth, at, column), growth->wide, first, 0,
				 best);
}

static bool try_feature(struct growth *growth, const struct waiting *at,
			const struct split_node *node, uint32_t feature, struct split *best)
{
	size_t column = growth->ranks->bundles.of[feature];
	const struct bundle *bundle = &growth->ranks->bundles.list[column];

	if (bundle->count == 1)
		return try_input(growth, at, node, column, best);
	return try_levels(growth, at, node, column, feature - bundle->first + 1, best);
}

/*
 * Tries all inputs, from a random one on and in a random direction, so that each of two equally
 * good cuts is equally likely to come first, except for levels of a bundle. The choice depends only
 * on the tree and the node, so that both strategies grow the same tree.
 */
static struct split split_by_all_inputs(struct growth *growth, const struct waiting *at,
					const struct split_node *node)
{
	uint64_t drawn = (growth->order + at->node) * 0x9e3779b97f4a7c15u;
	const struct bundles *bundles = &growth->ranks->bundles;
	struct split best = split_none;
	size_t column;

	drawn = (drawn ^ drawn >> 32) * 0xd6e8feb86659fd93u;
	column = (size_t)((drawn >> 33) * bundles->count >> 31);
	for (size_t i = 0; i < bundles->count; i++) {
		if (bundles->list[column].count == 1)
			try_input(growth, at, node, column, &best);
		else
			try_levels(growth, at, node, column, 0, &best);
		if (drawn & 1)
			column = column + 1 == bundles->count ? 0 : column + 1;
		else
			column = column == 0 ? bundles->count - 1 : column - 1;
	}
	return best;
}

/* Draws inputs without replacement until enough were tried and one of them varied. */
static struct split split_by_some_inputs(struct growth *growth, const struct waiting *at,
					 const struct split_node *node)
{
	size_t width = growth->samples->width, tries = growth->plan->tries;
	struct split best = split_none;
	bool varied = false;

	if (tries >= width)
		return split_by_all_inputs(growth, at, node);
	for (size_t i = 0; i < width && (i < tries || !varied); i++) {
		size_t other = i + random_below(growth->random, width - i);
		uint32_t feature = growth->features[other];

		growth->features[other] = growth->features[i];
		growth->features[i] = feature;
		varied |= try_feature(growth, at, node, feature, &best);
	}
	return best;
}

static double cell_value(const struct growth *growth, uint32_t cell, uint32_t feature)
{
	size_t row = cells_row(&growth->ranks->cells, cell);

	return growth->samples->x[row * growth->samples->width + feature];
}

/*
 * Beyond RANKS_MOST rows a rank may stand for several values, so the values next to the cut are
 * searched. rows are those of the node, partitioned already.
 */
static double find_exact_cut(const struct growth *growth, const uint32_t *rows, size_t count,
			     size_t left, uint32_t feature)
{
	double below = -DBL_MAX, above = DBL_MAX;

	for (size_t i = 0; i < left; i++)
		below = fmax(below, cell_value(growth, rows[i], feature));
	for (size_t i = left; i < count; i++)
		above = fmin(above, cell_value(growth, rows[i], feature));
	return flat_tree_cut(below, above);
}

static inline bool rank_goes_left(const struct split *split, uint32_t rank)
{
	return split->level ? rank != split->level : rank <= split->rank;
}

/* On demand: moves rows with a rank up to that of the cut to the left. Returns the cut. */
static double partition_rows(struct growth *growth, const struct waiting *at, struct split *split)
{
	size_t column = growth->ranks->bundles.of[split->feature];
	const uint16_t *ranks = growth->ranks->ranks + column * growth->size;
	uint32_t *rows = growth->rows + at->begin, *spare = growth->spare;
	double below = cell_value(growth, rows[split->below], split->feature);
	double above = cell_value(growth, rows[split->above], split->feature);
	size_t left = 0, right = 0;

	for (size_t i = 0; i < at->count; i++) {
		uint32_t row = rows[i];
		size_t goes = rank_goes_left(split, ranks[row]);

		rows[left] = row;
		spare[right] = row;
		left += goes;
		right += 1 - goes;
	}
	memcpy(rows + left, spare, right * sizeof(*spare));
	split->left = (uint32_t)left;
	if (growth->wide)
		return find_exact_cut(growth, rows, at->count, left, split->feature);
	return flat_tree_cut(below, above);
}

/* Partitions one list of a node from wherever it is into growth->lists. */
static void partition_list(struct growth *growth, const struct waiting *at, size_t column)
{
	const uint32_t *from = node_list(growth, at, column);
	uint32_t *to = growth->lists + column * growth->size + at->begin;
	uint32_t *spare = growth->spare;
	const uint8_t *side = growth->side;
	size_t left = 0, right = 0;

	for (size_t i = 0; i < at->count; i++) {
		uint32_t entry = from[i];
		size_t goes = side[entry & 0xffff];

		to[left] = entry;
		spare[right] = entry;
		left += goes;
		right += 1 - goes;
	}
	memcpy(to + left, spare, right * sizeof(*spare));
}

/*
 * In order: the list of the chosen column determines which rows go left. It is partitioned already,
 * unless a level in its middle goes right. The other lists are needed only if `all` is set.
 */
static double partition_lists(struct growth *growth, const struct waiting *at,
			      const struct split *split, bool all)
{
	const struct bundles *bundles = &growth->ranks->bundles;
	size_t column = bundles->of[split->feature];
	const uint32_t *list = node_list(growth, at, column);
	uint32_t *to = growth->lists + column * growth->size + at->begin;

	for (uint32_t i = 0; (all || split->level) && i < at->count; i++)
		growth->side[list[i] & 0xffff] = rank_goes_left(split, list[i] >> 16);
	for (size_t f = 0; all && f < bundles->count; f++) {
		if (f != column)
			partition_list(growth, at, f);
	}
	if (split->level)
		partition_list(growth, at, column);
	else if (to != list)
		memcpy(to, list, at->count * sizeof(*to));
	return flat_tree_cut(cell_value(growth, split->below, split->feature),
			     cell_value(growth, split->above, split->feature));
}

/* True if a node with this number of rows may be split, as far as known without looking at them. */
static bool node_may_split(const struct growth *growth, uint32_t rows, uint32_t depth)
{
	const struct growth_plan *plan = growth->plan;

	return depth < plan->depth_most && rows >= plan->split_least &&
	       rows >= 2 * plan->leaf_least;
}

/*
 * Doubles the room until it is large, but never beyond the nodes that a tree of these cells can
 * have.
 */
static void reserve_nodes(struct growth *growth, size_t wanted)
{
	size_t room = growth->room_nodes;

	if (wanted <= room)
		return;
	room += room > NODES_MANY ? room / 8 : room + 16;
	if (room > growth->nodes_most)
		room = growth->nodes_most;
	growth->room_nodes = room;
	growth->nodes = xrealloc(growth->nodes, room, sizeof(*growth->nodes));
	growth->values = xrealloc(growth->values, room * growth->answers, sizeof(*growth->values));
}

static uint32_t add_nodes(struct growth *growth, size_t more)
{
	size_t first = growth->count;

	growth->count += more;
	reserve_nodes(growth, growth->count);
	for (size_t i = first; i < growth->count; i++)
		growth->nodes[i] = (struct flat_tree_node){ .cut = INFINITY };
	return (uint32_t)first;
}

static void stack_push(struct growth *growth, struct waiting waiting)
{
	growth->stack = xgrow(growth->stack, &growth->cap_stack, growth->waiting + 1,
			      sizeof(*growth->stack));
	growth->stack[growth->waiting++] = waiting;
}

static void split_node(struct growth *growth, const struct waiting *at,
		       const struct split_node *node, struct split *split)
{
	uint32_t child = add_nodes(growth, 2), right = at->rows - split->rows;
	uint32_t list = growth->ranks->bundles.of[split->feature];
	bool open = node_may_split(growth, split->rows, at->depth + 1) ||
		    node_may_split(growth, right, at->depth + 1);

	growth->nodes[at->node] = (struct flat_tree_node){
		.cut = growth->in_order ? partition_lists(growth, at, split, open)
					: partition_rows(growth, at, split),
		.child = child - at->node,
		.feature = split->feature,
	};
	growth->gain[split->feature] += fmax(split_gain(node, split), 0) / growth->weight_root;
	stack_push(growth, (struct waiting){ .node = child + 1,
					     .begin = at->begin + split->left,
					     .count = at->count - split->left,
					     .rows = right,
					     .depth = at->depth + 1,
					     .list = list });
	stack_push(growth, (struct waiting){ .node = child,
					     .begin = at->begin,
					     .count = split->left,
					     .rows = split->rows,
					     .depth = at->depth + 1,
					     .list = list });
}

static void add_leaf(struct growth *growth, const struct waiting *at)
{
	if (!growth->plan->leaves)
		return;
	growth->leaves = xgrow(growth->leaves, &growth->cap_leaves, growth->leaf_count + 1,
			       sizeof(*growth->leaves));
	growth->leaves[growth->leaf_count++] = (struct growth_leaf){
		.node = at->node, .begin = at->begin, .count = at->count, .list = at->list
	};
}

/* The definition of purity is scikit-learn's, except for targets that vary little overall. */
static void grow_node(struct growth *growth, const struct waiting *at)
{
	struct split_node node;
	struct split split = split_none;
	double variance = gather_node(growth, at, &node);

	if (at->node == 0) {
		growth->weight_root = node.weight_all;
		growth->pure = DBL_EPSILON * fmin(variance, 1);
	}
	set_value(growth, at->node, &node);
	if (at->count > 1 && node_may_split(growth, at->rows, at->depth) && variance > growth->pure)
		split = split_by_some_inputs(growth, at, &node);
	if (split.rows)
		split_node(growth, at, &node, &split);
	else
		add_leaf(growth, at);
}

/* Hands over a large array of nodes; copies a small one, whose room is reused for the next tree. */
static void give_tree(struct growth *growth, struct flat_tree *flat)
{
	size_t nodes = growth->count, values = nodes * growth->answers;
	bool many = nodes > NODES_MANY;

	flat->count = nodes;
	flat->nodes = xrealloc(many ? growth->nodes : NULL, nodes, sizeof(*flat->nodes));
	flat->values = xrealloc(many ? growth->values : NULL, values, sizeof(*flat->values));
	if (many) {
		growth->nodes = NULL;
		growth->values = NULL;
		growth->room_nodes = 0;
		return;
	}
	memcpy(flat->nodes, growth->nodes, nodes * sizeof(*flat->nodes));
	memcpy(flat->values, growth->values, values * sizeof(*flat->values));
}

void growth_grow(struct growth *growth, const double *target, const uint16_t *weights,
		 struct random *random, struct flat_tree *flat, double *gain)
{
	size_t rows, count;

	growth->target = target;
	growth->weights = weights;
	growth->random = random;
	growth->gain = gain;
	growth->count = growth->leaf_count = growth->waiting = 0;
	growth->order = random_u64(random);
	/* Draws must not depend on the previous tree of this thread. */
	for (size_t f = 0; f < growth->samples->width; f++)
		growth->features[f] = (uint32_t)f;
	rows = growth->sums.sum
		       ? cells_sums_fill(&growth->sums, &growth->ranks->cells, target, weights)
		       : 0;
	count = gather_root(growth);
	growth->nodes_most = 2 * count - 1;
	stack_push(growth, (struct waiting){ .node = add_nodes(growth, 1),
					     .count = (uint32_t)count,
					     .rows = (uint32_t)(rows ? rows : count) });
	while (growth->waiting) {
		struct waiting at = growth->stack[--growth->waiting];

		grow_node(growth, &at);
	}
	give_tree(growth, flat);
}

const struct growth_leaf *growth_leaves(const struct growth *growth, size_t *count)
{
	*count = growth->leaf_count;
	return growth->leaves;
}

const uint32_t *growth_rows(struct growth *growth, const struct growth_leaf *leaf, size_t *count)
{
	const struct cells *cells = &growth->ranks->cells;
	struct waiting at = { .node = leaf->node, .begin = leaf->begin };
	const uint32_t *list =
		growth->in_order ? node_list(growth, &at, leaf->list) : growth->rows + leaf->begin;
	uint32_t *members = growth->members;
	size_t found = 0;

	*count = leaf->count;
	if (!growth->in_order && !cells->rows)
		return list;
	if (!members)
		members = growth->members = xmalloc(growth->samples->rows * sizeof(*members));
	for (size_t i = 0; !cells->rows && i < leaf->count; i++)
		members[i] = list[i] & 0xffff;
	for (size_t i = 0; cells->rows && i < leaf->count; i++) {
		uint32_t cell = node_row(growth, list, i);

		for (size_t j = cells->starts[cell]; j < cells->starts[cell + 1]; j++) {
			members[found] = cells->rows[j];
			found += !growth->weights || growth->weights[cells->rows[j]];
		}
	}
	if (cells->rows)
		*count = found;
	return members;
}
