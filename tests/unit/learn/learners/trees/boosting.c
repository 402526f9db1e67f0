/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests boosting. The reference numbers are those of scikit-learn 1.2.1, GradientBoostingRegressor
 * and GradientBoostingClassifier, on the rows of learn_grown.h; they are the same for any
 * random_state.
 */
#include "learn_grown.h"

#include "learn/learners/trees/trees.h"

extern const struct learner_ops learner_boosting;

static void golden_check(size_t classes, const char *settings, double mean, double square,
			 const double *share)
{
	static struct grown grown;
	double found[GROWN_WIDTH];
	void *boosting;

	grown_init(&grown, classes);
	boosting = grown_fit(&learner_boosting, &grown.samples, settings, 1, 1);
	grown_check(&learner_boosting, boosting, &grown.samples, classes ? 1 : 0, mean, square,
		    1e-10);
	learner_boosting.importance(boosting, found);
	for (int i = 0; share && i < GROWN_WIDTH; i++)
		CHECK(fabs(found[i] - share[i]) < 1e-9);
	learner_boosting.free(boosting);
}

static void numbers_are_those_of_the_reference(void)
{
	/* n_estimators=50 */
	golden_check(0, "trees=50", 1.92675452097, 4.48209833508, NULL);
	/* n_estimators=20, max_depth=2, learning_rate=0.3, min_samples_leaf=7 */
	golden_check(0, "trees=20,depth=2,rate=0.3,leaf=7", 1.92675452097, 4.4880622949,
		     (double[]){ 0.3168074057, 0.1084994895, 0.5738144273, 0.0008786775042, 0 });
}

static void losses_are_those_of_the_reference(void)
{
	/* n_estimators=30, min_samples_leaf=4, max_depth=2, loss="absolute_error" and "huber" */
	golden_check(0, "trees=30,depth=2,leaf=4,loss=absolute", 1.90983531259, 4.19177529257,
		     (double[]){ 0.3170694615, 0.2457903318, 0.4371402068, 0, 0 });
	golden_check(0, "trees=30,depth=2,leaf=4,loss=huber", 1.92352159393, 4.28920813322,
		     (double[]){ 0.3335677021, 0.09760242997, 0.5688298679, 0, 0 });
}

static void classes_are_those_of_the_reference(void)
{
	/* n_estimators=30 */
	golden_check(2, "trees=30", 0.360529610843, 0.288751059893, NULL);
	/* n_estimators=30, max_depth=2, min_samples_leaf=5 */
	golden_check(2, "trees=30,depth=2,leaf=5", 0.360725780477, 0.2545957799,
		     (double[]){ 0.2444805346, 0.08282691637, 0.6709297603, 0.001762788686, 0 });
	/* n_estimators=20, max_depth=2, min_samples_leaf=5, four classes */
	golden_check(4, "trees=20,depth=2,leaf=5", 0.433362788315, 0.251521662478,
		     (double[]){ 0.3236638916, 0.1382588765, 0.5240958487, 0.008545859206,
				 0.005435524033 });
}

static double error_of(const void *boosting, const struct samples *samples)
{
	double error = 0, out;

	for (size_t i = 0; i < samples->rows; i++) {
		learner_boosting.predict(boosting, samples->x + i * samples->width, &out);
		error += (out - samples->y[i]) * (out - samples->y[i]);
	}
	return error / (double)samples->rows;
}

/* More rows than 10,000: inputs are binned, which loses little. */
static void binned_inputs_learn_the_same_function(void)
{
	enum { ROWS = 12000, WIDTH = 3 };
	double *x = xmalloc(ROWS * WIDTH * sizeof(*x)), *y = xmalloc(ROWS * sizeof(*y));
	struct samples samples = { .x = x, .y = y, .rows = ROWS, .width = WIDTH };
	double binned_error, exact_error;
	void *binned, *exact;

	for (uint32_t i = 0; i < ROWS; i++) {
		for (uint32_t j = 0; j < WIDTH; j++)
			x[i * WIDTH + j] = grown_hash(i * WIDTH + j);
		y[i] = sin(9 * x[i * WIDTH]) + 3 * x[i * WIDTH + 1];
	}
	binned = grown_fit(&learner_boosting, &samples, "", 1, 1);
	exact = grown_fit(&learner_boosting, &samples, "bins=0", 1, 1);
	CHECK(!grown_same(&learner_boosting, binned, exact, &samples));
	binned_error = error_of(binned, &samples);
	exact_error = error_of(exact, &samples);
	CHECK(binned_error < 1.2 * exact_error + 1e-4);
	CHECK(exact_error < 0.01);
	learner_boosting.free(binned);
	learner_boosting.free(exact);
	free(x);
	free(y);
}

/* Sampled rows and inputs learn the same function with other trees. */
static void sampling_learns_the_same_function(void)
{
	static struct grown grown;
	void *all, *some, *other;

	grown_init(&grown, 0);
	all = grown_fit(&learner_boosting, &grown.samples, "", 1, 1);
	some = grown_fit(&learner_boosting, &grown.samples, "sample=0.5,features=0.6", 1, 1);
	other = grown_fit(&learner_boosting, &grown.samples, "sample=0.5,features=0.6", 2, 1);
	CHECK(error_of(all, &grown.samples) < 0.015);
	CHECK(error_of(some, &grown.samples) < 0.025);
	CHECK(!grown_same(&learner_boosting, some, other, &grown.samples));
	learner_boosting.free(all);
	learner_boosting.free(some);
	learner_boosting.free(other);
}

/* A class without rows is almost impossible, and nothing divides by zero. */
static void absent_class_is_unlikely(void)
{
	static struct grown grown;
	double out[3];
	void *boosting;

	grown_init(&grown, 2);
	grown.samples.classes = 3;
	boosting = grown_fit(&learner_boosting, &grown.samples, "trees=20", 1, 1);
	for (size_t i = 0; i < GROWN_ROWS; i++) {
		learner_boosting.predict(boosting, grown.x + i * GROWN_WIDTH, out);
		CHECK(out[2] >= 0);
		CHECK(out[2] < 1e-3);
		CHECK(fabs(out[0] + out[1] + out[2] - 1) < 1e-12);
	}
	learner_boosting.free(boosting);

	for (size_t i = 0; i < GROWN_ROWS; i++)
		grown.y[i] = 1;
	grown.samples.classes = 2;
	boosting = grown_fit(&learner_boosting, &grown.samples, "trees=5", 1, 1);
	learner_boosting.predict(boosting, grown.x, out);
	CHECK(out[1] > 0.999);
	CHECK(out[0] >= 0);
	learner_boosting.free(boosting);
}

/* Beyond 65,536 rows inputs are sorted node by node. */
static void many_rows_are_learned(void)
{
	enum { ROWS = 66000 };
	AUTO_FREE double *x = xmalloc(ROWS * 2 * sizeof(*x)), *y = xmalloc(ROWS * sizeof(*y));
	struct samples samples = { .x = x, .y = y, .rows = ROWS, .width = 2 };
	void *boosting;

	for (uint32_t i = 0; i < ROWS; i++) {
		x[2 * i] = grown_hash(2 * i);
		x[2 * i + 1] = grown_hash(2 * i + 1);
		y[i] = 4 * (x[2 * i] > 0.625) + (x[2 * i + 1] > 0.25);
	}
	boosting = grown_fit(&learner_boosting, &samples,
			     "trees=4,depth=2,rate=1,sample=0.5,bins=0", 1, 1);
	CHECK(error_of(boosting, &samples) < 1e-3);
	learner_boosting.free(boosting);
}

static void refresh_adds_rounds_up_to_a_limit(void)
{
	static struct grown grown, later;
	struct effort effort = { .seed = 3, .threads = 1 };
	struct err err = { 0 };
	double before;
	void *boosting;

	for (size_t classes = 0; classes < 4; classes += 3) {
		grown_init(&grown, classes);
		grown_init(&later, classes);
		for (size_t i = 0; i < GROWN_ROWS && !classes; i++)
			later.y[i] += later.x[i * GROWN_WIDTH + 4] > 0.5 ? 3 : 0;
		boosting = grown_fit(&learner_boosting, &grown.samples, "trees=50", 1, 1);
		before = classes ? 0 : error_of(boosting, &later.samples);
		CHECK(learner_boosting.refresh(boosting, &later.samples, &effort, &err) == 0);
		CHECK_INT(((struct trees *)boosting)->count, 100 * (classes ? classes : 1));
		if (!classes)
			CHECK(error_of(boosting, &later.samples) < before / 100);
		grown_round_trip(&learner_boosting, boosting, &later.samples);
		CHECK(learner_boosting.refresh(boosting, &later.samples, &effort, &err) == 0);
		CHECK_INT(learner_boosting.refresh(boosting, &later.samples, &effort, &err),
			  -ENOSPC);
		CHECK_WORDS(err.text, "again");
		learner_boosting.free(boosting);
	}
}

static void file_gives_the_same_trees(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 5; classes += classes ? 1 : 2) {
		void *boosting;

		grown_init(&grown, classes);
		boosting = grown_fit(&learner_boosting, &grown.samples, "trees=11", 1, 1);
		grown_round_trip(&learner_boosting, boosting, &grown.samples);
		learner_boosting.free(boosting);
	}
}

static void damaged_files_are_rejected_or_harmless(void)
{
	static struct grown grown;

	for (size_t classes = 0; classes < 4; classes += classes ? 1 : 2) {
		void *boosting;

		grown_init(&grown, classes);
		boosting = grown_fit(&learner_boosting, &grown.samples, "trees=9,depth=2", 1, 1);
		grown_damage(&learner_boosting, boosting, &grown.samples);
		learner_boosting.free(boosting);
	}
}

TESTS(TEST(numbers_are_those_of_the_reference), TEST(losses_are_those_of_the_reference),
      TEST(classes_are_those_of_the_reference), TEST(binned_inputs_learn_the_same_function),
      TEST(sampling_learns_the_same_function), TEST(absent_class_is_unlikely),
      TEST(many_rows_are_learned), TEST(refresh_adds_rounds_up_to_a_limit),
      TEST(file_gives_the_same_trees), TEST(damaged_files_are_rejected_or_harmless))
