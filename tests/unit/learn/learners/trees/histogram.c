/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares trees on binned inputs with those of growth.h, which sorts: if every value has its own
 * bin, they are the same.
 */
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "learn/learner.h"
#include "learn/learners/trees/histogram.h"
#include "learn/math/random.h"

enum { ROWS = 3000, WIDTH = 14, LEVELS = 5 };

struct table {
	double x[ROWS * WIDTH], y[ROWS];
	struct samples samples;
};

/* The first inputs are levels of a text; the others have 3, 6, 9, ... values. */
static void table_init(struct table *table)
{
	struct random random;

	random_init(&random, 4);
	memset(table->x, 0, sizeof(table->x));
	for (size_t i = 0; i < ROWS; i++) {
		double *x = table->x + i * WIDTH;
		size_t level = random_below(&random, LEVELS + 1);

		if (level < LEVELS)
			x[level] = 1;
		for (size_t f = LEVELS; f < WIDTH; f++)
			x[f] = (double)random_below(&random, 3 * (f - LEVELS + 1)) - 4;
		table->y[i] = (double)level + x[6] * x[7] + x[13] + random_real(&random);
	}
	table->samples =
		(struct samples){ .x = table->x, .y = table->y, .rows = ROWS, .width = WIDTH };
}

static struct growth_plan plan_of(uint32_t depth, size_t tries, size_t leaf)
{
	return (struct growth_plan){ .criterion = SPLIT_VARIANCE,
				     .tries = tries,
				     .depth_most = depth,
				     .split_least = 2,
				     .leaf_least = leaf,
				     .leaves = true };
}

static void grow_sorted(struct table *table, const struct growth_plan *plan, const uint16_t *in,
			struct flat_tree *flat, double *gain)
{
	struct growth_ranks ranks;
	struct growth *growth;
	struct random random;

	random_init(&random, 1);
	growth_ranks_init(&ranks, &table->samples, false, false);
	growth = growth_new(&ranks, plan, false);
	growth_grow(growth, table->y, in, &random, flat, gain);
	growth_free(growth);
	growth_ranks_release(&ranks);
}

static void grow_binned(struct table *table, const struct growth_plan *plan, size_t bins,
			const uint16_t *in, struct flat_tree *flat, double *gain)
{
	struct histogram *histogram = histogram_new(&table->samples, plan, bins);
	struct random random;

	for (int again = 0; again < 2; again++) {
		if (again)
			flat_tree_release(flat);
		memset(gain, 0, WIDTH * sizeof(*gain));
		random_init(&random, 1);
		histogram_grow(histogram, table->y, in, &random, flat, gain);
	}
	histogram_free(histogram);
}

static void few_values_give_the_tree_of_sorted_rows(void)
{
	static const uint32_t depths[] = { 1, 3, 6, 40 };
	static struct table table;
	static uint16_t in[ROWS];

	table_init(&table);
	for (size_t i = 0; i < ROWS; i++)
		in[i] = i % 4 != 0;
	for (size_t i = 0; i < 8; i++) {
		struct growth_plan plan = plan_of(depths[i / 2], WIDTH, i % 2 ? 7 : 1);
		double sorted_gain[WIDTH] = { 0 }, binned_gain[WIDTH];
		struct flat_tree sorted, binned;

		grow_sorted(&table, &plan, i % 2 ? in : NULL, &sorted, sorted_gain);
		grow_binned(&table, &plan, 255, i % 2 ? in : NULL, &binned, binned_gain);
		CHECK_INT(binned.count, sorted.count);
		for (size_t row = 0; row < ROWS; row++) {
			const double *x = table.x + row * WIDTH;

			/* Equally good cuts may differ in rows outside of the tree. */
			CHECK((i % 2 && !in[row]) ||
			      fabs(sorted.values[flat_tree_leaf(&sorted, x)] -
				   binned.values[flat_tree_leaf(&binned, x)]) < 1e-9);
		}
		for (size_t f = 0; f < WIDTH; f++)
			CHECK(i > 3 || fabs(sorted_gain[f] - binned_gain[f]) < 1e-9);
		flat_tree_release(&sorted);
		flat_tree_release(&binned);
	}
}

/* Every row of the tree is in exactly one leaf, the one that a prediction finds. */
static void leaves_hold_their_rows(void)
{
	static struct table table;
	static uint16_t in[ROWS];
	static uint8_t seen[ROWS];
	struct growth_plan plan = plan_of(5, 3, 2);
	struct histogram *histogram;
	const struct growth_leaf *leaves;
	double gain[WIDTH] = { 0 };
	struct flat_tree flat;
	struct random random;
	size_t count, rows;

	table_init(&table);
	for (size_t i = 0; i < ROWS; i++)
		in[i] = i % 3 != 0;
	random_init(&random, 2);
	histogram = histogram_new(&table.samples, &plan, 4);
	histogram_grow(histogram, table.y, in, &random, &flat, gain);
	leaves = histogram_leaves(histogram, &count);
	CHECK_INT(count, (flat.count + 1) / 2);
	for (size_t i = 0; i < count; i++) {
		const uint32_t *list = histogram_rows(histogram, &leaves[i], &rows);
		double sum = 0;

		CHECK(rows >= 2);
		for (size_t j = 0; j < rows; j++) {
			seen[list[j]]++;
			sum += table.y[list[j]];
			CHECK_INT(flat_tree_leaf(&flat, table.x + list[j] * WIDTH), leaves[i].node);
		}
		CHECK(fabs(sum / (double)rows - flat.values[leaves[i].node]) < 1e-9);
	}
	for (size_t i = 0; i < ROWS; i++)
		CHECK_INT(seen[i], in[i]);
	flat_tree_release(&flat);
	histogram_free(histogram);
}

/* Bins hold equal numbers of rows, whatever the distances of the values. */
static void bins_follow_the_quantiles(void)
{
	static double x[ROWS], y[ROWS];
	struct samples samples = { .x = x, .y = y, .rows = ROWS, .width = 1 };
	struct growth_plan plan = plan_of(40, 1, 1);
	struct histogram *histogram;
	const struct growth_leaf *leaves;
	struct flat_tree flat;
	struct random random;
	double gain = 0;
	size_t count, rows;

	random_init(&random, 3);
	for (size_t i = 0; i < ROWS; i++) {
		x[i] = exp(20 * random_real(&random));
		y[i] = random_real(&random);
	}
	histogram = histogram_new(&samples, &plan, 30);
	histogram_grow(histogram, y, NULL, &random, &flat, &gain);
	leaves = histogram_leaves(histogram, &count);
	CHECK_INT(count, 30);
	for (size_t i = 0; i < count; i++) {
		histogram_rows(histogram, &leaves[i], &rows);
		CHECK_INT(rows, ROWS / 30);
	}
	flat_tree_release(&flat);
	histogram_free(histogram);
}

static void equal_targets_make_one_leaf(void)
{
	static struct table table;
	struct growth_plan plan = plan_of(5, WIDTH, 1);
	double gain[WIDTH];
	struct flat_tree flat;

	table_init(&table);
	for (size_t i = 0; i < ROWS; i++)
		table.y[i] = 0.1;
	grow_binned(&table, &plan, 255, NULL, &flat, gain);
	CHECK_INT(flat.count, 1);
	CHECK(fabs(flat.values[0] - 0.1) < 1e-12);
	flat_tree_release(&flat);
}

TESTS(TEST(few_values_give_the_tree_of_sorted_rows), TEST(leaves_hold_their_rows),
      TEST(bins_follow_the_quantiles), TEST(equal_targets_make_one_leaf))
