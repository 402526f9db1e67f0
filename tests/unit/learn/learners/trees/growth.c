/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares the growing of trees with simpler computations: sorting, exhaustive search, repetition.
 * Values are small integers, so that ties are common and sums are exact.
 */
#include "check.h"

#include <math.h>
#include <stdint.h>

#include "base/buf.h"
#include "learn/file/blob.h"
#include "learn/learners/trees/growth.h"
#include "learn/learners/trees/ranks.h"
#include "learn/math/random.h"

enum { ROWS = 400, WIDTH = 4 };

struct table {
	double x[ROWS * WIDTH], y[ROWS];
	struct samples samples;
};

/* Columns of 4, 40, 400 and as many values as rows. */
static void table_init(struct table *table, size_t rows, size_t classes, struct random *random)
{
	static const size_t values[WIDTH] = { 4, 40, 400, 1000000 };

	for (size_t i = 0; i < rows; i++) {
		for (size_t f = 0; f < WIDTH; f++)
			table->x[i * WIDTH + f] = (double)random_below(random, values[f]) - 2;
		table->y[i] = (double)random_below(random, classes ? classes : 9);
	}
	table->samples = (struct samples){
		.x = table->x, .y = table->y, .rows = rows, .width = WIDTH, .classes = classes
	};
}

static void table_grow_as(struct table *table, const struct growth_plan *plan, bool in_order,
			  bool merge, const uint16_t *weights, struct flat_tree *flat)
{
	struct growth_ranks ranks;
	struct growth *growth;
	struct random random;
	double gain[WIDTH] = { 0 };

	random_init(&random, 1);
	growth_ranks_init(&ranks, &table->samples, in_order, merge);
	growth = growth_new(&ranks, plan, false);
	growth_grow(growth, table->y, weights, &random, flat, gain);
	growth_free(growth);
	growth_ranks_release(&ranks);
}

static void table_grow(struct table *table, const struct growth_plan *plan, bool in_order,
		       const uint16_t *weights, struct flat_tree *flat)
{
	table_grow_as(table, plan, in_order, false, weights, flat);
}

static struct growth_plan plan_of(enum split_criterion criterion, size_t classes, size_t leaf)
{
	return (struct growth_plan){ .criterion = criterion,
				     .classes = classes,
				     .tries = WIDTH,
				     .depth_most = UINT32_MAX,
				     .split_least = 2,
				     .leaf_least = leaf };
}

static bool flat_trees_are_equal(const struct flat_tree *a, const struct flat_tree *b,
				 size_t answers)
{
	return a->count == b->count &&
	       memcmp(a->nodes, b->nodes, a->count * sizeof(*a->nodes)) == 0 &&
	       memcmp(a->values, b->values, a->count * answers * sizeof(*a->values)) == 0;
}

static const struct {
	enum split_criterion criterion;
	size_t classes, leaf;
} cases[] = {
	{ SPLIT_VARIANCE, 0, 1 }, { SPLIT_VARIANCE, 0, 7 }, { SPLIT_VARIANCE, 2, 1 },
	{ SPLIT_GINI, 3, 1 },	  { SPLIT_GINI, 3, 5 },	    { SPLIT_ENTROPY, 2, 1 },
	{ SPLIT_ENTROPY, 3, 4 },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static void both_strategies_grow_the_same_tree(void)
{
	static struct table table;
	struct random random;

	random_init(&random, 11);
	for (size_t i = 0; i < CASES; i++) {
		for (size_t rows = 2; rows <= ROWS; rows += 1 + rows / 3) {
			struct growth_plan plan =
				plan_of(cases[i].criterion, cases[i].classes, cases[i].leaf);
			struct flat_tree in_order, by_need;

			table_init(&table, rows, cases[i].classes, &random);
			table_grow(&table, &plan, true, NULL, &in_order);
			table_grow(&table, &plan, false, NULL, &by_need);
			CHECK(flat_trees_are_equal(&in_order, &by_need,
						   growth_answers(plan.classes)));
			flat_tree_release(&in_order);
			flat_tree_release(&by_need);
		}
	}
}

/* A row of weight 3 equals three rows; a row of weight 0 is ignored. */
static void weights_equal_repetitions(void)
{
	static struct table once, often;
	struct random random;

	random_init(&random, 12);
	for (size_t i = 0; i < CASES; i++) {
		struct growth_plan plan = plan_of(cases[i].criterion, cases[i].classes, 1);
		uint16_t weights[100];
		struct flat_tree a, b;
		size_t rows = 0;

		table_init(&once, 100, cases[i].classes, &random);
		often = once;
		for (size_t row = 0; row < 100; row++) {
			weights[row] = (uint16_t)random_below(&random, 4);
			for (int n = 0; n < weights[row]; n++, rows++) {
				memcpy(often.x + rows * WIDTH, once.x + row * WIDTH,
				       WIDTH * sizeof(double));
				often.y[rows] = once.y[row];
			}
		}
		often.samples.x = often.x;
		often.samples.y = often.y;
		often.samples.rows = rows;
		table_grow(&once, &plan, false, weights, &a);
		table_grow(&often, &plan, false, NULL, &b);
		CHECK(flat_trees_are_equal(&a, &b, growth_answers(plan.classes)));
		flat_tree_release(&a);
		flat_tree_release(&b);
	}
}

/* Few values, so that many rows are equal. */
static void table_repeat(struct table *table, size_t rows, struct random *random)
{
	table_init(table, rows, 0, random);
	for (size_t i = 0; i < rows * WIDTH; i++)
		table->x[i] = (double)random_below(random, 3) * 0.5;
}

static void merged_rows_grow_the_same_tree(void)
{
	static struct table table;
	struct random random;

	random_init(&random, 16);
	for (int round = 0; round < 64; round++) {
		bool in_order = round & 1, weighted = round & 2;
		struct growth_plan plan = plan_of(SPLIT_VARIANCE, 0, round & 4 ? 7 : 1);
		uint16_t weights[ROWS];
		struct flat_tree merged, apart;

		table_repeat(&table, round & 8 ? ROWS : 170, &random);
		/* Growing in order only supports weights of 0 and 1. */
		for (size_t i = 0; i < ROWS; i++)
			weights[i] = (uint16_t)random_below(&random, in_order ? 2 : 4);
		plan.split_least = round & 16 ? 30 : 2;
		/* Equal rows cannot be split, so drawing inputs for them is useless; large nodes
		 * avoid that. */
		plan.tries = round & 16 && round & 32 ? 2 : WIDTH;
		table_grow_as(&table, &plan, in_order, true, weighted ? weights : NULL, &merged);
		table_grow_as(&table, &plan, in_order, false, weighted ? weights : NULL, &apart);
		CHECK(merged.count > 3);
		CHECK(flat_trees_are_equal(&merged, &apart, 1));
		flat_tree_release(&merged);
		flat_tree_release(&apart);
	}
}

/* The leaves have the rows that reach them, and together all rows with a weight. */
static void leaves_know_their_rows(void)
{
	static struct table table;
	struct growth_plan plan = plan_of(SPLIT_VARIANCE, 0, 1);
	struct random random;

	random_init(&random, 17);
	for (int round = 0; round < 8; round++) {
		size_t seen = 0, in = 0, leaf_count, count;
		uint16_t weights[ROWS];
		double gain[WIDTH] = { 0 };
		struct growth_ranks ranks;
		struct growth *growth;
		struct flat_tree flat;

		plan.leaves = true;
		table_repeat(&table, ROWS, &random);
		for (size_t i = 0; i < ROWS; i++)
			in += weights[i] = round & 4 ? (uint16_t)random_below(&random, 2) : 1;
		growth_ranks_init(&ranks, &table.samples, round & 1, round & 2);
		growth = growth_new(&ranks, &plan, false);
		growth_grow(growth, table.y, round & 4 ? weights : NULL, &random, &flat, gain);
		const struct growth_leaf *leaves = growth_leaves(growth, &leaf_count);

		for (size_t i = 0; i < leaf_count; i++) {
			const uint32_t *rows = growth_rows(growth, &leaves[i], &count);

			for (size_t j = 0; j < count; j++) {
				CHECK(flat_tree_leaf(&flat, table.x + rows[j] * WIDTH) ==
				      leaves[i].node);
				seen += weights[rows[j]];
			}
		}
		CHECK_INT(seen, in);
		flat_tree_release(&flat);
		growth_free(growth);
		growth_ranks_release(&ranks);
	}
}

static void equal_rows_are_one_cell(void)
{
	static const double x[] = { 1, 2, 0.0, 1, 1, 2, -0.0, 1, 1, 2, 1, 2 };
	static const double close[] = { 1, 1 + 1e-12, 1, 1 + 1e-12 };
	static const uint32_t rows[] = { 0, 2, 4, 5, 1, 3 };
	struct samples samples = { .x = x, .rows = 6, .width = 2 };
	struct cells cells;

	REQUIRE(cells_init(&cells, &samples));
	CHECK_INT(cells.count, 2);
	CHECK_INT(cells.starts[1], 4);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_INT(cells.rows[i], rows[i]);
	cells_release(&cells);
	samples.rows = 3; /* two cells of three rows are not worth merging */
	CHECK(!cells_init(&cells, &samples));
	CHECK(!cells.rows && cells.count == 3);
	samples = (struct samples){ .x = close, .rows = 4, .width = 1 };
	REQUIRE(cells_init(&cells, &samples));
	CHECK_INT(cells.count, 2);
	cells_release(&cells);
	cells_release(&cells);
}

/* The weight times the impurity of the rows on one side of a cut. */
static double side_impurity(const struct table *table, const struct growth_plan *plan,
			    size_t feature, double cut, bool right, size_t *count)
{
	double classes[9] = { 0 }, sum = 0, squares = 0, n = 0, impurity = 0;

	for (size_t i = 0; i < table->samples.rows; i++) {
		if ((table->x[i * WIDTH + feature] > cut) != right)
			continue;
		n++;
		sum += table->y[i];
		squares += table->y[i] * table->y[i];
		classes[(size_t)table->y[i]]++;
	}
	*count = (size_t)n;
	if (n == 0)
		return 0;
	if (plan->criterion == SPLIT_VARIANCE)
		return squares - sum * sum / n;
	for (size_t c = 0; c < plan->classes; c++) {
		double share = classes[c] / n;

		if (plan->criterion == SPLIT_GINI)
			impurity += share * (1 - share);
		else if (share > 0)
			impurity -= share * log2(share);
	}
	return impurity * n;
}

static double cut_impurity(const struct table *table, const struct growth_plan *plan,
			   size_t feature, double cut)
{
	size_t left, right;
	double sum = side_impurity(table, plan, feature, cut, false, &left) +
		     side_impurity(table, plan, feature, cut, true, &right);

	return left < plan->leaf_least || right < plan->leaf_least ? INFINITY : sum;
}

static void no_cut_is_better(void)
{
	static struct table table;
	struct random random;

	random_init(&random, 13);
	for (size_t i = 0; i < CASES; i++) {
		struct growth_plan plan =
			plan_of(cases[i].criterion, cases[i].classes, cases[i].leaf);
		double best = INFINITY;
		struct flat_tree flat;

		plan.depth_most = 1;
		table_init(&table, 90, cases[i].classes, &random);
		table_grow(&table, &plan, i % 2, NULL, &flat);
		for (size_t f = 0; f < WIDTH; f++) {
			for (size_t row = 0; row < 90; row++)
				best = fmin(best, cut_impurity(&table, &plan, f,
							       table.x[row * WIDTH + f]));
		}
		CHECK_INT(flat.count, 3);
		CHECK(fabs(cut_impurity(&table, &plan, flat.nodes[0].feature, flat.nodes[0].cut) -
			   best) < 1e-9);
		flat_tree_release(&flat);
	}
}

/* There are fewer tries than inputs, but the only input that varies is found. */
static void constant_inputs_are_skipped(void)
{
	static struct table table;
	struct growth_plan plan = plan_of(SPLIT_VARIANCE, 0, 1);
	struct random random;

	random_init(&random, 14);
	table_init(&table, 50, 0, &random);
	for (size_t i = 0; i < 50; i++)
		table.x[i * WIDTH] = table.x[i * WIDTH + 1] = table.x[i * WIDTH + 2] = 7;
	plan.tries = 1;
	plan.depth_most = 1;
	for (int in_order = 0; in_order < 2; in_order++) {
		struct flat_tree flat;

		table_grow(&table, &plan, in_order, NULL, &flat);
		CHECK_INT(flat.count, 3);
		CHECK_INT(flat.nodes[0].feature, 3);
		flat_tree_release(&flat);
	}
}

enum { TEXT_ROWS = 300, TEXT_LEVELS = 12 };

/*
 * A text column as one input per level, and a number. spread: constant inputs between them, so that
 * they are not bundled. Targets are such that no two cuts are equally good.
 */
static size_t text_init(double *x, double *y, size_t classes, bool spread)
{
	size_t step = spread ? 2 : 1, width = (TEXT_LEVELS + 1) * step;
	struct random random;

	random_init(&random, 8);
	for (size_t i = 0; i < TEXT_ROWS; i++) {
		size_t level = random_below(&random, TEXT_LEVELS + 2);
		double number = random_real(&random);

		for (size_t f = 0; f < width; f++)
			x[i * width + f] = 0;
		if (level < TEXT_LEVELS)
			x[i * width + level * step] = 1;
		x[i * width + TEXT_LEVELS * step] = number;
		y[i] = (double)(level % 5) + number + random_real(&random);
		if (classes)
			y[i] = floor(y[i] / 6.5 * (double)classes);
	}
	return width;
}

static void text_grow(size_t classes, bool spread, bool in_order, const struct growth_plan *plan,
		      const uint16_t *weights, double *guesses, size_t *nodes)
{
	static double x[TEXT_ROWS * (TEXT_LEVELS + 1) * 2], y[TEXT_ROWS];
	double gain[(TEXT_LEVELS + 1) * 2] = { 0 };
	struct samples samples = { .x = x, .y = y, .rows = TEXT_ROWS, .classes = classes };
	struct growth_plan all = *plan;
	struct growth_ranks ranks;
	struct flat_tree flat;
	struct growth *growth;
	struct random random;

	all.tries = samples.width = text_init(x, y, classes, spread);
	random_init(&random, 1);
	growth_ranks_init(&ranks, &samples, in_order, false);
	CHECK_INT(ranks.bundles.count, spread ? samples.width : 2);
	growth = growth_new(&ranks, &all, false);
	growth_grow(growth, y, weights, &random, &flat, gain);
	*nodes = flat.count;
	for (size_t i = 0; i < TEXT_ROWS; i++)
		memcpy(guesses + i * growth_answers(classes),
		       flat.values + flat_tree_leaf(&flat, x + i * samples.width) *
					     growth_answers(classes),
		       growth_answers(classes) * sizeof(double));
	flat_tree_release(&flat);
	growth_free(growth);
	growth_ranks_release(&ranks);
}

static void bundled_levels_give_the_tree_of_single_inputs(void)
{
	static double single[TEXT_ROWS * 4], bundled[TEXT_ROWS * 4];
	uint16_t weights[TEXT_ROWS];
	size_t nodes, same;

	for (size_t i = 0; i < TEXT_ROWS; i++)
		weights[i] = (uint16_t)(i * 5 % 3);
	for (int kind = 0; kind < 16; kind++) {
		enum split_criterion criterion = kind & 4   ? SPLIT_VARIANCE
						 : kind & 8 ? SPLIT_GINI
							    : SPLIT_ENTROPY;
		size_t classes = criterion == SPLIT_VARIANCE ? 0 : 4;
		/* Leaves of some rows, because the last cuts of classes are often equally good. */
		struct growth_plan plan = plan_of(criterion, classes, classes ? 12 : 2);
		const uint16_t *weighted = kind & 2 ? weights : NULL;

		plan.depth_most = classes ? 3 : UINT32_MAX;
		text_grow(classes, true, kind & 1, &plan, weighted, single, &nodes);
		text_grow(classes, false, kind & 1, &plan, weighted, bundled, &same);
		CHECK_INT(same, nodes);
		CHECK(nodes > 5);
		/* Two cuts may divide the rows of a node alike, but not those outside of the tree.
		 */
		for (size_t i = 0; i < TEXT_ROWS * growth_answers(classes); i++)
			CHECK((weighted && !weights[i / growth_answers(classes)]) ||
			      fabs(single[i] - bundled[i]) < 1e-12);
	}
}

static void exclusive_inputs_are_bundled(void)
{
	/* 0 to 2 exclude each other, 3 overlaps 1 and 4, 4 to 6 exclude each other. */
	static const double x[4][7] = { { 1, 0, 0, 0, 0, 2, 0 },
					{ 0, 1, 0, 1, 0, 2, 1 },
					{ 0, 0, 1, 0, 0, 7, 0 },
					{ 0, 0, 0, 1, 1, 2, 0 } };
	struct samples samples = { .x = x[0], .rows = 4, .width = 7 };
	struct bundles bundles;

	bundles_init(&bundles, &samples, 100);
	CHECK_INT(bundles.count, 3);
	CHECK_INT(bundles.list[0].count, 3);
	CHECK_INT(bundles.of[3], 1);
	CHECK_INT(bundles.list[2].first, 4);
	CHECK_INT(bundles.list[2].count, 3);
	CHECK_INT(bundles_level(&bundles, &bundles.list[0], x[1]), 2);
	CHECK_INT(bundles_level(&bundles, &bundles.list[0], x[3]), 0);
	CHECK_INT(bundles_level(&bundles, &bundles.list[2], x[2]), 2);
	bundles_release(&bundles);
	bundles_init(&bundles, &samples, 2); /* less than worth bundling */
	CHECK_INT(bundles.count, 7);
	bundles_release(&bundles);
}

static void columns_are_ranked_by_value(void)
{
	static const double x[] = { 3,	   -1,	   0,	-0.0, 3 + 4e-16, 1e300,	    -1e300,
				    1e-30, -1e-30, 2.5, 3,    9e299,	 -1 - 3e-16 };
	static const unsigned rank[] = { 7, 2, 4, 4, 8, 10, 0, 5, 3, 6, 7, 9, 1 };
	struct samples samples = { .x = x, .rows = 13, .width = 1 };
	uint64_t scratch[26];
	size_t levels;
	struct cells cells = { .count = 13 };
	const uint64_t *keys = ranks_sort(&samples, &cells, 0, scratch, &levels);

	CHECK_INT(levels, 11);
	for (size_t i = 0; i < 13; i++) {
		CHECK_INT(keys[i] >> 32, rank[(uint32_t)keys[i]]);
		CHECK(i == 0 || keys[i] > keys[i - 1]);
	}
}

static void entries_are_sorted_by_rank(void)
{
	uint32_t narrow[300], narrow2[300], *found;
	uint64_t wide[300], wide2[300], *found_wide;
	struct random random;

	random_init(&random, 15);
	for (size_t levels = 1; levels <= RANKS_MOST; levels = levels * 3 + 1) {
		for (size_t count = 1; count <= 300; count += 13) {
			for (size_t i = 0; i < count; i++) {
				uint32_t rank = (uint32_t)random_below(&random, levels);

				narrow[i] = rank << 16 | (uint32_t)i;
				wide[i] = (uint64_t)rank << 32 | i;
			}
			found = ranks_order(narrow, narrow2, count, levels);
			found_wide = ranks_order_wide(wide, wide2, count, levels);
			for (size_t i = 0; i < count; i++) {
				CHECK(i == 0 || found[i - 1] < found[i]);
				CHECK(found_wide[i] ==
				      ((uint64_t)(found[i] >> 16) << 32 | (found[i] & 0xffff)));
			}
		}
	}
}

static bool flat_tree_loads(const struct flat_tree *flat)
{
	AUTO_BUF struct buf saved = { 0 };
	struct flat_tree loaded;
	struct blob blob;

	flat_tree_save(flat, 1, &saved);
	blob_init(&blob, saved.data, saved.len);
	flat_tree_load(&loaded, 1, WIDTH, &blob);
	flat_tree_release(&loaded);
	return blob_ok(&blob);
}

static void invalid_flat_tree_is_rejected(void)
{
	struct flat_tree_node nodes[] = { { .cut = 1, .child = 1, .feature = WIDTH - 1 },
					  { .cut = INFINITY },
					  { .cut = INFINITY } };
	double values[] = { 1, 2, 3 };
	struct flat_tree flat = { .nodes = nodes, .values = values, .count = 3 };

	CHECK(flat_tree_loads(&flat));
	nodes[0].child = 2; /* the right child would be the fourth node */
	CHECK(!flat_tree_loads(&flat));
	nodes[0].child = UINT32_MAX; /* points to an earlier node */
	CHECK(!flat_tree_loads(&flat));
	nodes[0].child = 1;
	nodes[0].feature = WIDTH;
	CHECK(!flat_tree_loads(&flat));
	nodes[0].feature = 0;
	nodes[0].cut = NAN;
	CHECK(!flat_tree_loads(&flat));
	nodes[0].cut = 1;
	nodes[2].cut = 1; /* a leaf with a finite cut */
	CHECK(!flat_tree_loads(&flat));
	nodes[2].cut = INFINITY;
	values[1] = INFINITY;
	CHECK(!flat_tree_loads(&flat));
	values[1] = 2;
	CHECK(flat_tree_loads(&flat));
}

TESTS(TEST(both_strategies_grow_the_same_tree), TEST(weights_equal_repetitions),
      TEST(merged_rows_grow_the_same_tree), TEST(leaves_know_their_rows),
      TEST(equal_rows_are_one_cell), TEST(no_cut_is_better), TEST(constant_inputs_are_skipped),
      TEST(bundled_levels_give_the_tree_of_single_inputs), TEST(exclusive_inputs_are_bundled),
      TEST(columns_are_ranked_by_value), TEST(entries_are_sorted_by_rank),
      TEST(invalid_flat_tree_is_rejected))
