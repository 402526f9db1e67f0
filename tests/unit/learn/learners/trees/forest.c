/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests the forest. Random results are compared with the mean of twenty forests of scikit-learn
 * 1.2.1.
 */
#include "learn_grown.h"

#include "learn/learners/trees/trees.h"

extern const struct learner_ops learner_forest;

/* Other rows of the same kind without noise (its mean is 0.25). */
static void fresh_init(struct grown *grown)
{
	grown_init(grown, 0);
	for (uint32_t i = 0; i < GROWN_ROWS; i++) {
		double *x = grown->x + i * GROWN_WIDTH;

		for (uint32_t j = 0; j < GROWN_WIDTH; j++)
			x[j] = grown_hash(500000 + i * GROWN_WIDTH + j);
		grown->y[i] = (x[0] > 0.4) + x[1] + 2 * x[2] * x[2] + 0.25;
	}
}

/*
 * Without random draws, all trees equal DecisionTreeRegressor(min_samples_leaf=5). This is also the
 * tree of tree.c, which is grown by the other strategy.
 */
static void trees_are_those_of_the_reference(void)
{
	static struct grown grown;
	double share[GROWN_WIDTH];
	void *forest;

	grown_init(&grown, 0);
	forest = grown_fit(&learner_forest, &grown.samples,
			   "trees=3,features=1,leaf=5,bootstrap=no", 1, 1);
	grown_check(&learner_forest, forest, &grown.samples, 0, 1.92675452097, 4.51758959535,
		    1e-10);
	learner_forest.importance(forest, share);
	CHECK(fabs(share[0] - 0.3093403519) < 1e-9);
	CHECK(fabs(share[2] - 0.5851362953) < 1e-9);
	CHECK(learner_forest.spread(forest, grown.x) < 1e-12);
	learner_forest.free(forest);

	/* DecisionTreeClassifier(criterion, max_depth=4, min_samples_leaf=4), class 1 of 4. */
	grown_init(&grown, 4);
	forest = grown_fit(&learner_forest, &grown.samples,
			   "trees=1,features=1,depth=4,leaf=4,bootstrap=no", 1, 1);
	grown_check(&learner_forest, forest, &grown.samples, 1, 0.433333333333, 0.361515285796,
		    1e-10);
	learner_forest.free(forest);
	forest =
		grown_fit(&learner_forest, &grown.samples,
			  "trees=1,features=1,depth=4,leaf=4,bootstrap=no,criterion=entropy", 1, 1);
	grown_check(&learner_forest, forest, &grown.samples, 1, 0.433333333333, 0.37639912418,
		    1e-10);
	learner_forest.free(forest);
}

/* RandomForestRegressor(50): squared error 0.01565, deviation over seeds 0.0007. */
static void numbers_are_learned_as_well_as_by_the_reference(void)
{
	static const double golden[] = { 0.3163, 0.0985, 0.5738, 0.0060, 0.0054 };
	static struct grown grown, fresh;
	double error = 0, share[GROWN_WIDTH], mean[GROWN_WIDTH] = { 0 };

	grown_init(&grown, 0);
	fresh_init(&fresh);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		void *forest = grown_fit(&learner_forest, &grown.samples, "", seed, 2);

		for (size_t i = 0; i < GROWN_ROWS; i++) {
			double out;

			learner_forest.predict(forest, fresh.x + i * GROWN_WIDTH, &out);
			error += (out - fresh.y[i]) * (out - fresh.y[i]) / GROWN_ROWS / 5;
		}
		learner_forest.importance(forest, share);
		for (int i = 0; i < GROWN_WIDTH; i++)
			mean[i] += share[i] / 5;
		learner_forest.free(forest);
	}
	CHECK(fabs(error - 0.01565) < 0.0015);
	for (int i = 0; i < GROWN_WIDTH; i++)
		CHECK(fabs(mean[i] - golden[i]) < 0.01);
}

/* RandomForestClassifier(50): accuracy 0.894, deviation over seeds 0.011. */
static void classes_are_learned_as_well_as_by_the_reference(void)
{
	static const double golden[] = { 0.248, 0.187, 0.409, 0.080, 0.076 };
	static struct grown grown, fresh;
	double right = 0, share[GROWN_WIDTH], mean[GROWN_WIDTH] = { 0 };

	grown_init(&grown, 4);
	fresh_init(&fresh);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		void *forest = grown_fit(&learner_forest, &grown.samples, "", seed, 2);

		for (size_t i = 0; i < GROWN_ROWS; i++) {
			double out[4];

			learner_forest.predict(forest, fresh.x + i * GROWN_WIDTH, out);
			right += learner_best(out, 4) ==
				 (size_t)fmin(floor(fresh.y[i] / 4.5 * 4), 3);
		}
		learner_forest.importance(forest, share);
		for (int i = 0; i < GROWN_WIDTH; i++)
			mean[i] += share[i] / 5;
		learner_forest.free(forest);
	}
	CHECK(fabs(right / GROWN_ROWS / 5 - 0.894) < 0.015);
	for (int i = 0; i < GROWN_WIDTH; i++)
		CHECK(fabs(mean[i] - golden[i]) < 0.02);
}

static void threads_do_not_change_the_forest(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 4; classes += classes ? 1 : 2) {
		AUTO_BUF struct buf one = { 0 }, four = { 0 };
		void *a, *b;

		grown_init(&grown, classes);
		a = grown_fit(&learner_forest, &grown.samples, "trees=30", 9, 1);
		b = grown_fit(&learner_forest, &grown.samples, "trees=30", 9, 4);
		learner_forest.save(a, &one);
		learner_forest.save(b, &four);
		CHECK(one.len == four.len);
		CHECK(memcmp(one.data, four.data, one.len) == 0);
		learner_forest.free(a);
		learner_forest.free(b);
	}
}

static void seeds_change_the_forest(void)
{
	static struct grown grown;
	void *a, *b;

	grown_init(&grown, 0);
	a = grown_fit(&learner_forest, &grown.samples, "trees=5", 1, 1);
	b = grown_fit(&learner_forest, &grown.samples, "trees=5", 2, 1);
	CHECK(!grown_same(&learner_forest, a, b, &grown.samples));
	learner_forest.free(a);
	learner_forest.free(b);
}

/* With 13 trees some are walked in lockstep and the rest alone. */
static void batch_prediction_equals_single_prediction(void)
{
	static struct grown grown;
	static double all[GROWN_ROWS * 4];

	for (size_t classes = 0; classes < 5; classes += classes ? 1 : 2) {
		size_t answers = classes ? classes : 1;
		void *forest;

		grown_init(&grown, classes);
		forest = grown_fit(&learner_forest, &grown.samples, "trees=13", 1, 1);
		learner_forest.predict_rows(forest, grown.x, GROWN_ROWS, all);
		for (size_t i = 0; i < GROWN_ROWS; i++) {
			double out[4];

			learner_forest.predict(forest, grown.x + i * GROWN_WIDTH, out);
			CHECK(memcmp(out, all + i * answers, answers * sizeof(*out)) == 0);
		}
		learner_forest.free(forest);
	}
}

/* The deviation of the predictions of single trees. */
static void spread_is_the_deviation_over_trees(void)
{
	static struct grown grown;
	struct trees *trees;
	double mean = 0, square = 0;
	void *forest;

	grown_init(&grown, 0);
	forest = grown_fit(&learner_forest, &grown.samples, "trees=20", 1, 1);
	trees = forest; /* its first member */
	for (size_t i = 0; i < 20; i++) {
		double value = trees->flat[i].values[flat_tree_leaf(&trees->flat[i], grown.x)];

		mean += value / 20;
		square += value * value / 20;
	}
	CHECK(square > mean * mean);
	CHECK(fabs(learner_forest.spread(forest, grown.x) - sqrt(square - mean * mean)) < 1e-9);
	learner_forest.free(forest);
}

/* Targets increase by 10: the mean prediction follows as rows arrive and gets there in the end. */
static void refresh_follows_the_new_rows(void)
{
	static struct grown grown, later;
	struct effort effort = { .seed = 3, .threads = 1 };
	struct err err = { 0 };
	double out, mean[4] = { 0 };
	void *forest;

	grown_init(&grown, 0);
	grown_init(&later, 0);
	for (size_t i = 0; i < GROWN_ROWS; i++)
		later.y[i] += 10;
	later.samples.rows = 100;
	forest = grown_fit(&learner_forest, &grown.samples, "trees=30", 1, 1);
	for (int step = 0; step < 4; step++) {
		for (size_t i = 0; i < GROWN_ROWS; i++) {
			learner_forest.predict(forest, grown.x + i * GROWN_WIDTH, &out);
			mean[step] += out / GROWN_ROWS;
		}
		CHECK(learner_forest.refresh(forest, &later.samples, &effort, &err) == 0);
	}
	for (int step = 1; step < 4; step++)
		CHECK(fabs(mean[step] - mean[0] - 10.0 / 3 * step) < 0.5);
	CHECK_INT(((struct trees *)forest)->count, 30);
	grown_round_trip(&learner_forest, forest, &grown.samples);
	learner_forest.free(forest);
}

static void refresh_without_rows_changes_nothing(void)
{
	static struct grown grown;
	struct effort effort = { .seed = 3, .threads = 1 };
	struct err err = { 0 };
	struct samples none;
	void *a, *b;

	grown_init(&grown, 2);
	none = grown.samples;
	none.rows = 0;
	a = grown_fit(&learner_forest, &grown.samples, "trees=5", 1, 1);
	b = grown_fit(&learner_forest, &grown.samples, "trees=5", 1, 1);
	CHECK_INT(learner_forest.refresh(a, &none, &effort, &err), -ENODATA);
	CHECK(grown_same(&learner_forest, a, b, &grown.samples));
	learner_forest.free(a);
	learner_forest.free(b);
}

static void file_gives_the_same_forest(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 5; classes += classes ? 1 : 2) {
		void *forest;

		grown_init(&grown, classes);
		forest = grown_fit(&learner_forest, &grown.samples, "trees=10", 1, 1);
		grown_round_trip(&learner_forest, forest, &grown.samples);
		learner_forest.free(forest);
	}
}

static void damaged_files_are_rejected_or_harmless(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 4; classes += classes ? 1 : 2) {
		void *forest;

		grown_init(&grown, classes);
		forest = grown_fit(&learner_forest, &grown.samples, "trees=4,depth=4", 1, 1);
		grown_damage(&learner_forest, forest, &grown.samples);
		learner_forest.free(forest);
	}
}

TESTS(TEST(trees_are_those_of_the_reference), TEST(numbers_are_learned_as_well_as_by_the_reference),
      TEST(classes_are_learned_as_well_as_by_the_reference), TEST(threads_do_not_change_the_forest),
      TEST(seeds_change_the_forest), TEST(batch_prediction_equals_single_prediction),
      TEST(spread_is_the_deviation_over_trees), TEST(refresh_follows_the_new_rows),
      TEST(refresh_without_rows_changes_nothing), TEST(file_gives_the_same_forest),
      TEST(damaged_files_are_rejected_or_harmless))
