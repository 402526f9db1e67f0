/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bins of up to eight columns are adjacent in memory, so that one load serves eight additions,
 * which do not wait for each other because they go to different columns. A column is a bundle
 * (bundles.h), so that the levels of a text column cost one addition per row.
 *
 * Nodes that wait for their turn keep their sums in one of a few slots, because the larger sibling
 * inherits those of its parent. If no slot is free, a node sums its rows.
 */
#include "learn/learners/trees/histogram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/learners/trees/bundles.h"
#include "learn/math/random.h"
#include "learn/math/vector.h"

#define SPECIALIZED static inline __attribute__((always_inline))

enum {
	LANES = 8,	/* most columns of a group */
	SLOTS = 12,	/* nodes with known sums */
	SAMPLE = 65536, /* rows that determine the edges of bins */
	NO_SLOT = SLOTS,
};

struct sums {
	double sum;
	uint64_t count;
};

struct column {
	uint32_t bins;	 /* number of bins; of a bundle its levels, and bin 0 for none */
	uint32_t offset; /* of its bins in a slot */
	double *edges;	 /* bins - 1: the largest value of each bin but the last; NULL: levels */
};

/* Columns whose bins are adjacent: rows x lanes bytes. */
struct group {
	uint8_t *bins;
	size_t first, lanes;
};

struct waiting {
	uint32_t node, begin, count, depth;
	int slot; /* of its sums; NO_SLOT: not known */
	double sum;
};

struct cut {
	double over, under; /* quality as a fraction, as in split.h */
	size_t column;
	uint32_t bin;	/* highest bin on the left, or the level that goes right */
	uint32_t count; /* rows on the left; 0: no cut is possible */
	double sum;	/* of the rows on the left */
};

struct histogram {
	const struct samples *samples;
	const struct growth_plan *plan;
	struct bundles bundles;
	struct column *columns;
	struct group *groups;
	size_t column_count, group_count, bin_count;
	struct sums *slots[SLOTS];
	int idle[SLOTS], idle_count;
	uint32_t *rows, *spare; /* rows of the tree, node by node; right halves */
	uint32_t *features;	/* inputs, shuffled as needed */

	/* The current tree. */
	const double *target;
	struct random *random;
	double *gain, weight_root, pure;
	struct flat_tree_node *nodes;
	double *values;
	size_t count, room;
	struct waiting *stack;
	size_t waiting, cap_stack;
	struct growth_leaf *leaves;
	size_t leaf_count, cap_leaves;
};

/* The values of a column in a sample of the rows, sorted. */
static size_t sample_values(const struct samples *samples, size_t feature, double *values)
{
	size_t count = samples->rows < SAMPLE ? samples->rows : SAMPLE;
	struct random random;

	random_init(&random, feature);
	for (size_t i = 0; i < count; i++) {
		size_t row = samples->rows <= SAMPLE ? i : random_below(&random, samples->rows);

		values[i] = samples->x[row * samples->width + feature];
	}
	vector_sort(values, count);
	return count;
}

static size_t count_distinct(const double *sorted, size_t count)
{
	size_t distinct = 1;

	for (size_t i = 1; i < count; i++)
		distinct += sorted[i] != sorted[i - 1];
	return distinct;
}

/* Sets the edges: between all distinct values if they are few, else bins of equal counts. */
static void find_edges(struct column *column, const double *sorted, size_t count, size_t bins)
{
	size_t distinct = count_distinct(sorted, count), edges = 0, next = 1;
	size_t wanted = distinct < bins ? distinct : bins;

	column->edges = xmalloc(wanted * sizeof(*column->edges));
	for (size_t i = 1; i < count && edges + 1 < wanted; i++) {
		if (sorted[i] == sorted[i - 1] || (distinct > bins && i * bins < next * count))
			continue;
		column->edges[edges++] = flat_tree_cut(sorted[i - 1], sorted[i]);
		while (next * count <= i * bins)
			next++;
	}
	column->bins = (uint32_t)edges + 1;
}

/* The number of edges below a value, which is its bin. */
static uint8_t find_bin(const struct column *column, double value)
{
	const double *edges = column->edges;
	size_t low = 0, count = column->bins - 1;

	while (count) {
		size_t half = count / 2;
		size_t above = value > edges[low + half];

		low = above ? low + half + 1 : low;
		count = above ? count - half - 1 : half;
	}
	return (uint8_t)low;
}

static void columns_init(struct histogram *histogram, size_t bins)
{
	const struct samples *samples = histogram->samples;
	size_t count = samples->rows < SAMPLE ? samples->rows : SAMPLE;
	AUTO_FREE double *values = xmalloc(count * sizeof(*values));

	bundles_init(&histogram->bundles, samples, bins - 1);
	histogram->column_count = histogram->bundles.count;
	histogram->columns = xcalloc(histogram->column_count, sizeof(*histogram->columns));
	for (size_t i = 0; i < histogram->column_count; i++) {
		const struct bundle *bundle = &histogram->bundles.list[i];
		struct column *column = &histogram->columns[i];

		column->offset = (uint32_t)histogram->bin_count;
		column->bins = bundle->count + 1;
		if (bundle->count == 1)
			find_edges(column, values, sample_values(samples, bundle->first, values),
				   bins);
		histogram->bin_count += column->bins;
	}
}

static uint8_t column_bin(const struct histogram *histogram, size_t column, size_t row)
{
	const struct bundle *bundle = &histogram->bundles.list[column];
	const double *x = histogram->samples->x + row * histogram->samples->width;

	if (bundle->count == 1)
		return find_bin(&histogram->columns[column], x[bundle->first]);
	return (uint8_t)bundles_level(&histogram->bundles, bundle, x);
}

/* Groups of 8 columns, and of 4, 2 and 1 for the rest: additions are written for these numbers. */
static void groups_init(struct histogram *histogram)
{
	size_t rows = histogram->samples->rows, first = 0;

	histogram->groups =
		xmalloc((histogram->column_count / LANES + 3) * sizeof(*histogram->groups));
	for (size_t lanes = LANES; lanes; lanes /= 2) {
		for (; histogram->column_count - first >= lanes; first += lanes) {
			struct group *group = &histogram->groups[histogram->group_count++];

			*group = (struct group){ .bins = xmalloc(rows * lanes),
						 .first = first,
						 .lanes = lanes };
			for (size_t row = 0; row < rows; row++)
				for (size_t lane = 0; lane < lanes; lane++)
					group->bins[row * lanes + lane] =
						column_bin(histogram, first + lane, row);
		}
	}
}

struct histogram *histogram_new(const struct samples *samples, const struct growth_plan *plan,
				size_t bins)
{
	struct histogram *histogram = xcalloc(1, sizeof(*histogram));

	histogram->samples = samples;
	histogram->plan = plan;
	columns_init(histogram, bins);
	groups_init(histogram);
	for (int slot = 0; slot < SLOTS; slot++)
		histogram->slots[slot] = xmalloc(histogram->bin_count * sizeof(struct sums));
	histogram->rows = xmalloc(samples->rows * sizeof(*histogram->rows));
	histogram->spare = xmalloc(samples->rows * sizeof(*histogram->spare));
	histogram->features = xmalloc(samples->width * sizeof(*histogram->features));
	return histogram;
}

void histogram_free(struct histogram *histogram)
{
	if (!histogram)
		return;
	for (size_t i = 0; i < histogram->column_count; i++)
		free(histogram->columns[i].edges);
	for (size_t i = 0; i < histogram->group_count; i++)
		free(histogram->groups[i].bins);
	for (int slot = 0; slot < SLOTS; slot++)
		free(histogram->slots[slot]);
	bundles_release(&histogram->bundles);
	free(histogram->columns);
	free(histogram->groups);
	free(histogram->rows);
	free(histogram->spare);
	free(histogram->features);
	free(histogram->nodes);
	free(histogram->values);
	free(histogram->stack);
	free(histogram->leaves);
	free(histogram);
}

SPECIALIZED void add_rows(const struct histogram *histogram, const struct group *group,
			  const uint32_t *rows, size_t count, struct sums *slot, size_t lanes)
{
	struct sums *columns[LANES];

	for (size_t lane = 0; lane < lanes; lane++)
		columns[lane] = slot + histogram->columns[group->first + lane].offset;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *bins = group->bins + (size_t)rows[i] * lanes;
		double target = histogram->target[rows[i]];

		for (size_t lane = 0; lane < lanes; lane++) {
			struct sums *sums = columns[lane] + bins[lane];

			sums->sum += target;
			sums->count++;
		}
	}
}

/* Sums the rows of a node by bin. */
static void sum_node(const struct histogram *histogram, const struct waiting *at, struct sums *slot)
{
	const uint32_t *rows = histogram->rows + at->begin;

	memset(slot, 0, histogram->bin_count * sizeof(*slot));
	for (size_t i = 0; i < histogram->group_count; i++) {
		const struct group *group = &histogram->groups[i];

		if (group->lanes == 8)
			add_rows(histogram, group, rows, at->count, slot, 8);
		else if (group->lanes == 4)
			add_rows(histogram, group, rows, at->count, slot, 4);
		else if (group->lanes == 2)
			add_rows(histogram, group, rows, at->count, slot, 2);
		else
			add_rows(histogram, group, rows, at->count, slot, 1);
	}
}

/* Turns the sums of a parent into those of one child. */
static void subtract_sibling(const struct histogram *histogram, struct sums *parent,
			     const struct sums *child)
{
	for (size_t i = 0; i < histogram->bin_count; i++) {
		parent[i].sum -= child[i].sum;
		parent[i].count -= child[i].count;
	}
}

static int take_slot(struct histogram *histogram)
{
	return histogram->idle_count ? histogram->idle[--histogram->idle_count] : NO_SLOT;
}

static void give_slot(struct histogram *histogram, int slot)
{
	if (slot != NO_SLOT)
		histogram->idle[histogram->idle_count++] = slot;
}

/* Stores a cut with these rows on the left if it is allowed and better. */
static void keep_cut(const struct histogram *histogram, const struct waiting *at, struct cut *best,
		     size_t column, uint32_t bin, uint64_t count, double sum)
{
	double all = at->count, left = (double)count, difference = all * sum - left * at->sum;
	double over = difference * difference, under = left * (all - left);

	if (count < histogram->plan->leaf_least || at->count - count < histogram->plan->leaf_least)
		return;
	if (over * best->under > best->over * under)
		*best = (struct cut){ .over = over,
				      .under = under,
				      .column = column,
				      .bin = bin,
				      .count = (uint32_t)count,
				      .sum = sum };
}

/* Tries all cuts of an ordinary input. Returns false if it is constant in the node. */
static bool try_input(const struct histogram *histogram, const struct waiting *at, size_t column,
		      struct cut *best)
{
	const struct sums *bins = histogram->slots[at->slot] + histogram->columns[column].offset;
	uint64_t count = 0;
	double sum = 0;
	bool varies = false;

	for (uint32_t bin = 0; bin + 1 < histogram->columns[column].bins; bin++) {
		if (!bins[bin].count)
			continue;
		count += bins[bin].count;
		sum += bins[bin].sum;
		if (count == at->count)
			break;
		varies = true;
		keep_cut(histogram, at, best, column, bin, count, sum);
	}
	return varies;
}

/* Tries to separate levels from `from` to `to` of a bundle, each on its own. */
static bool try_levels(const struct histogram *histogram, const struct waiting *at, size_t column,
		       uint32_t from, uint32_t to, struct cut *best)
{
	const struct sums *bins = histogram->slots[at->slot] + histogram->columns[column].offset;
	bool varies = false;

	for (uint32_t level = from; level <= to; level++) {
		if (!bins[level].count || bins[level].count == at->count)
			continue;
		varies = true;
		keep_cut(histogram, at, best, column, level, at->count - bins[level].count,
			 at->sum - bins[level].sum);
	}
	return varies;
}

static bool try_column(const struct histogram *histogram, const struct waiting *at, size_t column,
		       struct cut *best)
{
	uint32_t levels = histogram->bundles.list[column].count;

	return levels == 1 ? try_input(histogram, at, column, best)
			   : try_levels(histogram, at, column, 1, levels, best);
}

static bool try_feature(const struct histogram *histogram, const struct waiting *at,
			uint32_t feature, struct cut *best)
{
	size_t column = histogram->bundles.of[feature];
	const struct bundle *bundle = &histogram->bundles.list[column];
	uint32_t level = feature - bundle->first + 1;

	return bundle->count == 1 ? try_input(histogram, at, column, best)
				  : try_levels(histogram, at, column, level, level, best);
}

/* As in growth.c: all columns, or inputs that are drawn until one of them varies. */
static struct cut find_cut(struct histogram *histogram, const struct waiting *at)
{
	size_t width = histogram->samples->width, tries = histogram->plan->tries;
	struct cut best = { .over = -INFINITY, .under = 1 };
	bool varied = false;

	for (size_t i = 0; tries >= width && i < histogram->column_count; i++)
		try_column(histogram, at, i, &best);
	for (size_t i = 0; tries < width && i < width && (i < tries || !varied); i++) {
		size_t other = i + random_below(histogram->random, width - i);
		uint32_t feature = histogram->features[other];

		histogram->features[other] = histogram->features[i];
		histogram->features[i] = feature;
		varied |= try_feature(histogram, at, feature, &best);
	}
	return best;
}

/* Moves the rows on the left of the cut to the front; both halves keep their order. */
static void partition_rows(struct histogram *histogram, const struct waiting *at,
			   const struct cut *cut)
{
	uint32_t *rows = histogram->rows + at->begin, *spare = histogram->spare;
	bool is_level = histogram->bundles.list[cut->column].count > 1;
	const struct group *group = histogram->groups;
	size_t left = 0, right = 0;

	while (cut->column >= group->first + group->lanes)
		group++;
	for (size_t i = 0; i < at->count; i++) {
		uint32_t row = rows[i];
		uint32_t bin = group->bins[row * group->lanes + cut->column - group->first];
		size_t goes = is_level ? bin != cut->bin : bin <= cut->bin;

		rows[left] = row;
		spare[right] = row;
		left += goes;
		right += 1 - goes;
	}
	memcpy(rows + left, spare, right * sizeof(*spare));
}

static uint32_t add_nodes(struct histogram *histogram, size_t more)
{
	size_t first = histogram->count, room = histogram->room;

	histogram->count += more;
	histogram->nodes =
		xgrow(histogram->nodes, &room, histogram->count, sizeof(*histogram->nodes));
	histogram->values = xgrow(histogram->values, &histogram->room, histogram->count,
				  sizeof(*histogram->values));
	for (size_t i = first; i < histogram->count; i++)
		histogram->nodes[i] = (struct flat_tree_node){ .cut = INFINITY };
	return (uint32_t)first;
}

static void stack_push(struct histogram *histogram, struct waiting waiting)
{
	histogram->stack = xgrow(histogram->stack, &histogram->cap_stack, histogram->waiting + 1,
				 sizeof(*histogram->stack));
	histogram->stack[histogram->waiting++] = waiting;
}

static bool node_may_split(const struct histogram *histogram, const struct waiting *at)
{
	const struct growth_plan *plan = histogram->plan;

	return at->count > 1 && at->depth < plan->depth_most && at->count >= plan->split_least &&
	       at->count >= 2 * plan->leaf_least;
}

/* Gives the children their sums: the smaller one is summed if either of them needs them. */
static void pass_sums(struct histogram *histogram, int parent, struct waiting *left,
		      struct waiting *right)
{
	struct waiting *small = left->count <= right->count ? left : right;
	struct waiting *large = small == left ? right : left;

	left->slot = right->slot = NO_SLOT;
	if (node_may_split(histogram, large) || node_may_split(histogram, small)) {
		small->slot = take_slot(histogram);
		if (small->slot != NO_SLOT) {
			sum_node(histogram, small, histogram->slots[small->slot]);
			large->slot = parent;
			parent = NO_SLOT;
			subtract_sibling(histogram, histogram->slots[large->slot],
					 histogram->slots[small->slot]);
		}
	}
	give_slot(histogram, parent);
}

static double cut_value(const struct histogram *histogram, const struct cut *cut, uint32_t *feature)
{
	const struct bundle *bundle = &histogram->bundles.list[cut->column];

	*feature = bundle->first;
	if (bundle->count == 1)
		return histogram->columns[cut->column].edges[cut->bin];
	*feature = bundle->first + cut->bin - 1;
	return flat_tree_cut(histogram->bundles.unset[*feature], histogram->bundles.set[*feature]);
}

static void split_node(struct histogram *histogram, const struct waiting *at, const struct cut *cut)
{
	uint32_t child = add_nodes(histogram, 2);
	struct flat_tree_node *node = &histogram->nodes[at->node];
	struct waiting left = { .node = child,
				.begin = at->begin,
				.count = cut->count,
				.depth = at->depth + 1,
				.sum = cut->sum };
	struct waiting right = { .node = child + 1,
				 .begin = at->begin + cut->count,
				 .count = at->count - cut->count,
				 .depth = at->depth + 1,
				 .sum = at->sum - cut->sum };

	node->cut = cut_value(histogram, cut, &node->feature);
	node->child = child - at->node;
	histogram->gain[node->feature] +=
		cut->over / cut->under / (double)at->count / histogram->weight_root;
	partition_rows(histogram, at, cut);
	pass_sums(histogram, at->slot, &left, &right);
	stack_push(histogram, right);
	stack_push(histogram, left);
}

static void add_leaf(struct histogram *histogram, const struct waiting *at)
{
	give_slot(histogram, at->slot);
	histogram->leaves = xgrow(histogram->leaves, &histogram->cap_leaves,
				  histogram->leaf_count + 1, sizeof(*histogram->leaves));
	histogram->leaves[histogram->leaf_count++] =
		(struct growth_leaf){ .node = at->node, .begin = at->begin, .count = at->count };
}

static void grow_node(struct histogram *histogram, struct waiting *at)
{
	struct cut cut;
	double rows;

	histogram->values[at->node] = at->sum / (double)at->count;
	if (!node_may_split(histogram, at)) {
		add_leaf(histogram, at);
		return;
	}
	if (at->slot == NO_SLOT) {
		/* There is one: nodes on the stack hold at most SLOTS - 1 of them. */
		at->slot = take_slot(histogram);
		sum_node(histogram, at, histogram->slots[at->slot]);
	}
	cut = find_cut(histogram, at);
	rows = (double)at->count;
	if (cut.count && cut.over / cut.under > histogram->pure * rows * rows)
		split_node(histogram, at, &cut);
	else
		add_leaf(histogram, at);
}

/*
 * Collects the rows of the tree and the sums of the root, and sets the gain per row that rounding
 * errors may pretend.
 */
static struct waiting gather_root(struct histogram *histogram, const uint16_t *in)
{
	struct waiting root = { .node = add_nodes(histogram, 1), .slot = NO_SLOT };
	double first, sum = 0, squares = 0, rounding;

	for (uint32_t i = 0; i < histogram->samples->rows; i++) {
		histogram->rows[root.count] = i;
		root.count += !in || in[i];
	}
	first = histogram->target[histogram->rows[0]];
	for (uint32_t i = 0; i < root.count; i++) {
		double difference = histogram->target[histogram->rows[i]] - first;

		sum += difference;
		squares += difference * difference;
	}
	root.sum = sum + first * root.count;
	histogram->weight_root = root.count;
	rounding = DBL_EPSILON * root.sum;
	histogram->pure = DBL_EPSILON * fmin((squares - sum * sum / root.count) / root.count, 1) +
			  16 * rounding * rounding / root.count;
	return root;
}

void histogram_grow(struct histogram *histogram, const double *target, const uint16_t *in,
		    struct random *random, struct flat_tree *flat, double *gain)
{
	histogram->target = target;
	histogram->random = random;
	histogram->gain = gain;
	histogram->count = histogram->leaf_count = histogram->waiting = 0;
	histogram->idle_count = 0;
	for (int slot = 0; slot < SLOTS; slot++)
		give_slot(histogram, slot);
	for (size_t f = 0; f < histogram->samples->width; f++)
		histogram->features[f] = (uint32_t)f;
	stack_push(histogram, gather_root(histogram, in));
	while (histogram->waiting) {
		struct waiting at = histogram->stack[--histogram->waiting];

		grow_node(histogram, &at);
	}
	*flat = (struct flat_tree){
		.nodes = xmalloc(histogram->count * sizeof(*flat->nodes)),
		.values = xmalloc(histogram->count * sizeof(*flat->values)),
		.count = histogram->count,
	};
	memcpy(flat->nodes, histogram->nodes, flat->count * sizeof(*flat->nodes));
	memcpy(flat->values, histogram->values, flat->count * sizeof(*flat->values));
}

const struct growth_leaf *histogram_leaves(const struct histogram *histogram, size_t *count)
{
	*count = histogram->leaf_count;
	return histogram->leaves;
}

const uint32_t *histogram_rows(const struct histogram *histogram, const struct growth_leaf *leaf,
			       size_t *count)
{
	*count = leaf->count;
	return histogram->rows + leaf->begin;
}
