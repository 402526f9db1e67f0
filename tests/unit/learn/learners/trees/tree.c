/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests a single tree. The reference numbers are those of scikit-learn 1.2.1, DecisionTreeRegressor
 * and DecisionTreeClassifier, on the rows of learn_grown.h; they are the same for any random_state.
 */
#include "learn_grown.h"

#include "learn/learners/trees/trees.h"

extern const struct learner_ops learner_tree;

static void shares_check(const void *model, const double *expected)
{
	double share[GROWN_WIDTH];

	learner_tree.importance(model, share);
	for (int i = 0; i < GROWN_WIDTH; i++)
		CHECK(fabs(share[i] - expected[i]) < 1e-9);
}

/* DecisionTreeRegressor(max_depth=3): tree_.feature and .threshold, from the top, left first. */
static void cuts_are_those_of_the_reference(void)
{
	static const struct {
		int feature;
		double cut;
	} golden[] = {
		{ 2, 0.706236184 }, { 0, 0.401271477 }, { 2, 0.478598297 }, { -1, 0 },
		{ -1, 0 },	    { 1, 0.382672727 }, { -1, 0 },	    { -1, 0 },
		{ 0, 0.393539861 }, { 2, 0.807515353 }, { -1, 0 },	    { -1, 0 },
		{ 1, 0.415607065 }, { -1, 0 },		{ -1, 0 },
	};
	static struct grown grown;
	size_t stack[8] = { 0 }, waiting = 1, seen = 0;
	struct trees *tree;

	grown_init(&grown, 0);
	tree = grown_fit(&learner_tree, &grown.samples, "depth=3", 1, 1);
	CHECK_INT(tree->flat[0].count, 15);
	for (; waiting && seen < 15; seen++) {
		size_t at = stack[--waiting];
		const struct flat_tree_node *node = &tree->flat[0].nodes[at];

		CHECK_INT(node->child ? (int)node->feature : -1, golden[seen].feature);
		if (!node->child)
			continue;
		CHECK(fabs(node->cut - golden[seen].cut) < 1e-7);
		stack[waiting++] = at + node->child + 1;
		stack[waiting++] = at + node->child;
	}
	CHECK_INT(seen, 15);
	grown_check(&learner_tree, tree, &grown.samples, 0, 1.92675452097, 4.42762531409, 1e-10);
	shares_check(tree, (double[]){ 0.3471797959, 0.05750619008, 0.595314014, 0, 0 });
	learner_tree.free(tree);
}

static void golden_check(size_t classes, const char *settings, double mean, double square,
			 size_t nodes, const double *share)
{
	static struct grown grown;
	struct trees *tree;

	grown_init(&grown, classes);
	tree = grown_fit(&learner_tree, &grown.samples, settings, 1, 1);
	CHECK_INT(tree->flat[0].count, nodes);
	grown_check(&learner_tree, tree, &grown.samples, classes ? 1 : 0, mean, square, 1e-10);
	if (share)
		shares_check(tree, share);
	learner_tree.free(tree);
}

static void predictions_are_those_of_the_reference(void)
{
	golden_check(0, "leaf=5", 1.92675452097, 4.51758959535, 93,
		     (double[]){ 0.3093403519, 0.1030073845, 0.5851362953, 0.001285644195,
				 0.001230324124 });
	golden_check(2, "depth=3", 0.36, 0.299001985112, 13,
		     (double[]){ 0.1757805585, 0, 0.8242194415, 0, 0 });
	golden_check(2, "depth=3,criterion=entropy", 0.36, 0.29742078853, 11,
		     (double[]){ 0.3015433903, 0, 0.6984566097, 0, 0 });
	golden_check(4, "depth=4,leaf=4", 0.433333333333, 0.361515285796, 29, NULL);
	golden_check(4, "depth=4,leaf=4,criterion=entropy", 0.433333333333, 0.37639912418, 27,
		     (double[]){ 0.3039314322, 0.2252042499, 0.4708643179, 0, 0 });
	golden_check(4, "split=40", 0.433333333333, 0.33306450902, 25, NULL);
}

/*
 * DecisionTreeClassifier(min_samples_split=40): feature_importances_ over random_state 0 to 19 are
 * one of these two.
 */
static void seed_chooses_among_equal_cuts(void)
{
	static const double golden[2] = { 0.2161252409, 0.2152116484 };
	static struct grown grown;
	unsigned seen[2] = { 0 };

	grown_init(&grown, 4);
	for (uint64_t seed = 0; seed < 20; seed++) {
		void *tree = grown_fit(&learner_tree, &grown.samples, "split=40", seed, 1);
		double share[GROWN_WIDTH];

		learner_tree.importance(tree, share);
		for (int i = 0; i < 2; i++)
			seen[i] += fabs(share[0] - golden[i]) < 1e-9;
		CHECK(fabs(share[1] - 0.22716924) < 1e-9);
		learner_tree.free(tree);
	}
	CHECK(seen[0] >= 3);
	CHECK(seen[1] >= 3);
	CHECK(seen[0] + seen[1] == 20);
}

static void probabilities_sum_to_one(void)
{
	static struct grown grown;

	for (size_t classes = 2; classes < 5; classes++) {
		void *tree;

		grown_init(&grown, classes);
		tree = grown_fit(&learner_tree, &grown.samples, "depth=4", 1, 1);
		for (size_t i = 0; i < GROWN_ROWS; i++) {
			double out[8], sum = 0;

			learner_tree.predict(tree, grown.x + i * GROWN_WIDTH, out);
			for (size_t c = 0; c < classes; c++)
				sum += out[c];
			CHECK(fabs(sum - 1) < 1e-12);
		}
		learner_tree.free(tree);
	}
}

/* A tree that is grown until pure reproduces its rows; inputs are distinguished as floats. */
static void full_tree_reproduces_its_rows(void)
{
	static struct grown grown;
	double out;
	void *tree;

	grown_init(&grown, 0);
	tree = grown_fit(&learner_tree, &grown.samples, "", 1, 1);
	for (size_t i = 0; i < GROWN_ROWS; i++) {
		learner_tree.predict(tree, grown.x + i * GROWN_WIDTH, &out);
		CHECK(fabs(out - grown.y[i]) < 1e-12);
	}
	learner_tree.free(tree);
}

/* No single cut gains anything here, but two levels solve it. */
static void cut_that_gains_nothing_is_made(void)
{
	static const double x[] = { 0, 0, 0, 1, 1, 0, 1, 1 }, y[] = { 0, 1, 1, 0 };
	struct samples samples = { .x = x, .y = y, .rows = 4, .width = 2, .classes = 2 };
	void *tree = grown_fit(&learner_tree, &samples, "", 1, 1);

	for (size_t i = 0; i < 4; i++) {
		double out[2];

		learner_tree.predict(tree, x + 2 * i, out);
		CHECK(out[1] == y[i]);
	}
	learner_tree.free(tree);
}

static void constant_rows_make_one_leaf(void)
{
	static const double x[] = { 1, 2, 1, 2, 1, 2 }, y[] = { 3, 5, 10 };
	struct samples samples = { .x = x, .y = y, .rows = 3, .width = 2 };
	struct trees *tree = grown_fit(&learner_tree, &samples, "", 1, 1);
	double out, share[2];

	CHECK_INT(tree->flat[0].count, 1);
	learner_tree.predict(tree, x, &out);
	CHECK(fabs(out - 6) < 1e-12);
	learner_tree.importance(tree, share);
	CHECK(share[0] == 0);
	CHECK(share[1] == 0);
	learner_tree.free(tree);
}

/* Microseconds in units of seconds: the reference considers such targets constant. */
static void small_numbers_are_distinguished(void)
{
	static struct grown grown;
	struct trees *tree;

	grown_init(&grown, 0);
	for (size_t i = 0; i < GROWN_ROWS; i++)
		grown.y[i] *= 1e-12;
	for (size_t i = 0; i < GROWN_ROWS * GROWN_WIDTH; i++)
		grown.x[i] *= 1e-12;
	tree = grown_fit(&learner_tree, &grown.samples, "depth=3", 1, 1);
	CHECK_INT(tree->flat[0].count, 15);
	CHECK(fabs(tree->flat[0].nodes[0].cut / 0.706236184e-12 - 1) < 1e-6);
	learner_tree.free(tree);
}

static void cut_is_between_the_values(void)
{
	double pairs[][2] = { { 1, nextafter(1, 2) }, { 1, 2 },	 { 0, 5e-324 },
			      { 5e-324, 1e-323 },     { -1, 0 }, { -1.7e308, 1.7e308 },
			      { 1e9, 1e9 + 0.001 } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		double cut = flat_tree_cut(pairs[i][0], pairs[i][1]);

		CHECK(cut >= pairs[i][0]);
		CHECK(cut < pairs[i][1]);
	}
	CHECK(flat_tree_cut(1, 2) == 1.5);
}

/* As floats, all values of either input are equal, or equal to the largest float. */
static void close_and_huge_values_are_distinguished(void)
{
	enum { ROWS = 200 };
	double x[ROWS], y[ROWS], guess;
	struct samples samples = { .x = x, .y = y, .rows = ROWS, .width = 1 };

	for (int huge = 0; huge < 2; huge++) {
		struct trees *tree;

		for (size_t i = 0; i < ROWS; i++) {
			x[i] = huge ? 1e40 * (double)(i + 1) : 1e9 + 1e-3 * (double)i;
			y[i] = (double)(i * 7 % ROWS);
		}
		tree = grown_fit(&learner_tree, &samples, "", 1, 1);
		for (size_t i = 0; i < ROWS; i++) {
			learner_tree.predict(tree, &x[i], &guess);
			CHECK(guess == y[i]);
		}
		learner_tree.free(tree);
	}
}

/* More rows than ranks use the other strategy, which must find the same tree. */
static void many_rows_are_cut_like_few(void)
{
	enum { ROWS = 70000 };
	AUTO_FREE double *x = xmalloc(ROWS * 2 * sizeof(*x)), *y = xmalloc(ROWS * sizeof(*y));
	struct samples samples = { .x = x, .y = y, .rows = ROWS, .width = 2 };
	struct trees *tree;
	double out;

	for (uint32_t i = 0; i < ROWS; i++) {
		x[2 * i] = grown_hash(2 * i);
		x[2 * i + 1] = grown_hash(2 * i + 1);
		y[i] = 4 * (x[2 * i] > 0.625) + (x[2 * i + 1] > 0.25);
	}
	tree = grown_fit(&learner_tree, &samples, "depth=2", 1, 1);
	CHECK_INT(tree->flat[0].count, 7);
	CHECK_INT(tree->flat[0].nodes[0].feature, 0);
	CHECK(fabs(tree->flat[0].nodes[0].cut - 0.625) < 1e-3);
	for (size_t i = 0; i < ROWS; i++) {
		learner_tree.predict(tree, x + 2 * i, &out);
		if (fabs(x[2 * i] - 0.625) > 1e-3 && fabs(x[2 * i + 1] - 0.25) > 1e-3 &&
		    fabs(out - y[i]) > 0.01) {
			CHECK(!"a row is on the wrong side");
			break;
		}
	}
	learner_tree.free(tree);
}

static void tree_is_described_in_words(void)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	static struct grown grown;
	AUTO_BUF struct buf text = { 0 };
	void *tree;

	grown_init(&grown, 0);
	tree = grown_fit(&learner_tree, &grown.samples, "depth=2", 1, 1);
	learner_tree.describe(tree, names, &text);
	CHECK_TEXT(buf_text(&text), "4 leaves\n"
				    "c <= 0.706236\n"
				    "  a <= 0.401271: 1.025\n"
				    "  a > 0.401271: 2.028\n"
				    "c > 0.706236\n"
				    "  a <= 0.39354: 2.206\n"
				    "  a > 0.39354: 3.248\n");
	learner_tree.free(tree);
}

static void file_gives_the_same_tree(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 5; classes += classes ? 1 : 2) {
		void *tree;

		grown_init(&grown, classes);
		tree = grown_fit(&learner_tree, &grown.samples, "", 1, 1);
		grown_round_trip(&learner_tree, tree, &grown.samples);
		learner_tree.free(tree);
	}
}

static void damaged_files_are_rejected_or_harmless(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 4; classes += classes ? 1 : 2) {
		void *tree;

		grown_init(&grown, classes);
		tree = grown_fit(&learner_tree, &grown.samples, "depth=4", 1, 1);
		grown_damage(&learner_tree, tree, &grown.samples);
		learner_tree.free(tree);
	}
}

TESTS(TEST(cuts_are_those_of_the_reference), TEST(predictions_are_those_of_the_reference),
      TEST(seed_chooses_among_equal_cuts), TEST(probabilities_sum_to_one),
      TEST(full_tree_reproduces_its_rows), TEST(cut_that_gains_nothing_is_made),
      TEST(constant_rows_make_one_leaf), TEST(small_numbers_are_distinguished),
      TEST(cut_is_between_the_values), TEST(close_and_huge_values_are_distinguished),
      TEST(many_rows_are_cut_like_few), TEST(tree_is_described_in_words),
      TEST(file_gives_the_same_tree), TEST(damaged_files_are_rejected_or_harmless))
