/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compares the network with scikit-learn and with finite differences, and tests the learner on
 * small nonlinear problems.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/learners/network/network.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_perceptron;

struct fill {
	double *numbers;
	size_t seen;
};

static void number_fill(void *arg, const struct network_layer *layer, size_t index)
{
	struct fill *fill = arg;

	(void)layer;
	fill->numbers[index] = sin(0.9 * (double)fill->seen++ + 0.1);
}

static double *numbers_new(const struct network *network)
{
	struct fill fill = { .numbers = xcalloc(network->count, sizeof(double)) };

	network_walk(network, number_fill, &fill);
	return fill.numbers;
}

enum { GOLDEN_ROWS = 7, GOLDEN_WIDTH = 3 };

static void golden_rows(double *x, double *y, size_t classes)
{
	for (size_t i = 0; i < GOLDEN_ROWS; i++) {
		for (size_t j = 0; j < GOLDEN_WIDTH; j++)
			x[i * GOLDEN_WIDTH + j] = cos(1.3 * (double)i + 0.7 * (double)j);
		y[i] = classes ? (double)(i % classes) : sin((double)i);
	}
}

/* Loss and gradients include the weight decay with alpha = 0.1. */
struct golden {
	size_t second, classes;
	enum network_activation activation;
	double loss, answers[3];
	double first_weight, first_bias, last_weight, last_bias;
};

static void golden_check(const struct golden *golden)
{
	double x[GOLDEN_ROWS * GOLDEN_WIDTH], y[GOLDEN_ROWS], out[3], loss, squares = 0;
	struct network_rows rows = { .x = x, .y = y, .count = GOLDEN_ROWS, .scale = 1 };
	const struct network_layer *first, *last;
	struct network network;

	network_init(&network, GOLDEN_WIDTH, 5, golden->second, golden->classes,
		     golden->activation);
	first = &network.layers[0];
	last = &network.layers[network.hidden];
	AUTO_FREE double *numbers = numbers_new(&network);
	AUTO_FREE double *gradient = xcalloc(network.count, sizeof(double));
	AUTO_FREE double *room = xmalloc(network_room(&network) * sizeof(double));

	golden_rows(x, y, golden->classes);
	network_answer(&network, numbers, x + 2 * GOLDEN_WIDTH, out);
	for (size_t k = 0; k < (golden->classes ? golden->classes : 1); k++)
		CHECK(fabs(out[k] - golden->answers[k]) < 1e-14);
	loss = network_pass_double(&network, numbers, gradient, &rows, room);
	for (size_t h = 0; h <= network.hidden; h++) {
		for (size_t i = 0; i < network.layers[h].weight_count; i++) {
			double w = numbers[network.layers[h].weights + i];

			squares += w * w;
			gradient[network.layers[h].weights + i] += 0.1 * w;
		}
	}
	CHECK(fabs((loss + 0.05 * squares) / GOLDEN_ROWS - golden->loss) < 1e-14);
	CHECK(fabs(gradient[first->weights + 2 * first->stride + 1] / GOLDEN_ROWS -
		   golden->first_weight) < 1e-14);
	CHECK(fabs(gradient[first->biases + 3] / GOLDEN_ROWS - golden->first_bias) < 1e-14);
	CHECK(fabs(gradient[last->weights + 2] / GOLDEN_ROWS - golden->last_weight) < 1e-14);
	CHECK(fabs(gradient[last->biases] / GOLDEN_ROWS - golden->last_bias) < 1e-14);
}

/*
 * scikit-learn 1.2.1: MLPClassifier((5,), "relu", alpha=0.1), MLPClassifier((5, 4), "tanh"),
 * MLPRegressor((5,), "logistic") with coefs_ and intercepts_ as in number_fill(): predict_proba()
 * or predict() of row 2; _backprop().
 */
static void network_equals_scikit_learn(void)
{
	golden_check(&(struct golden){ .classes = 2,
				       .activation = NETWORK_RELU,
				       .loss = 0.76465104560188712,
				       .answers = { 0.80400759966702928, 0.19599240033297072 },
				       .first_weight = -0.012606230105971747,
				       .first_bias = 0.050131381407282592,
				       .last_weight = 0.071534536100104448,
				       .last_bias = 0.025730245663226785 });
	golden_check(&(struct golden){
		.second = 4,
		.classes = 3,
		.activation = NETWORK_TANH,
		.loss = 2.7291442044948977,
		.answers = { 0.0095706971382397039, 0.91030614952796551, 0.080123153333794689 },
		.first_weight = -0.020072468557187809,
		.first_bias = -0.2768423315264118,
		.last_weight = -0.16259386470004047,
		.last_bias = -0.41613928305241182 });
	golden_check(&(struct golden){ .activation = NETWORK_LOGISTIC,
				       .loss = 0.44348201802254295,
				       .answers = { -0.31710245306055623 },
				       .first_weight = -0.0020446001207663936,
				       .first_bias = 0.037878759386524678,
				       .last_weight = 0.13965437230984859,
				       .last_bias = 0.093005268244496689 });
}

/* More rows than a tile, and layers that are not whole blocks. */
struct trial {
	struct network network;
	struct network_rows rows;
	double x[90 * 6], y[90];
};

static void trial_init(struct trial *trial, size_t second, size_t classes,
		       enum network_activation activation)
{
	struct random random;

	random_init(&random, 7);
	for (size_t i = 0; i < 90 * 6; i++)
		trial->x[i] = random_normal(&random);
	for (size_t i = 0; i < 90; i++)
		trial->y[i] =
			classes ? (double)random_below(&random, classes) : random_normal(&random);
	trial->rows = (struct network_rows){
		.x = trial->x, .y = trial->y, .count = 90, .center = 0.5, .scale = 2
	};
	network_init(&trial->network, 6, 23, second, classes, activation);
}

static void slopes_check(const struct trial *trial)
{
	size_t count = trial->network.count, padding = 0;
	AUTO_FREE double *numbers = numbers_new(&trial->network);
	AUTO_FREE double *gradient = xcalloc(count, sizeof(double));
	AUTO_FREE double *other = xcalloc(count, sizeof(double));
	AUTO_FREE double *room = xmalloc(network_room(&trial->network) * sizeof(double));

	network_pass_double(&trial->network, numbers, gradient, &trial->rows, room);
	for (size_t i = 0; i < count; i++) {
		double kept = numbers[i], up, down;

		if (kept == 0) {
			padding++;
			CHECK(gradient[i] == 0);
			continue;
		}
		if (i % 5)
			continue; /* enough of them */
		numbers[i] = kept + 1e-6;
		up = network_pass_double(&trial->network, numbers, other, &trial->rows, room);
		numbers[i] = kept - 1e-6;
		down = network_pass_double(&trial->network, numbers, other, &trial->rows, room);
		numbers[i] = kept;
		CHECK(fabs((up - down) / 2e-6 - gradient[i]) < 1e-5 * (1 + fabs(gradient[i])));
	}
	CHECK(padding > 0);
}

static void gradients_are_differences(void)
{
	static const size_t classes[] = { 0, 2, 4 };
	struct trial trial;

	for (size_t c = 0; c < 3; c++) {
		/* Steps of 1e-6 never cross a kink of relu. */
		for (int activation = NETWORK_RELU; activation <= NETWORK_LOGISTIC; activation++) {
			trial_init(&trial, 0, classes[c], (enum network_activation)activation);
			slopes_check(&trial);
			trial_init(&trial, 9, classes[c], (enum network_activation)activation);
			slopes_check(&trial);
		}
	}
}

static void both_precisions_agree(void)
{
	struct trial trial;
	double loss, single;

	trial_init(&trial, 9, 4, NETWORK_RELU);
	AUTO_FREE double *numbers = numbers_new(&trial.network);
	AUTO_FREE double *gradient = xcalloc(trial.network.count, sizeof(double));
	AUTO_FREE double *room = xmalloc(network_room(&trial.network) * sizeof(double));
	AUTO_FREE float *singles = xcalloc(trial.network.count, sizeof(float));
	AUTO_FREE float *slopes = xcalloc(trial.network.count, sizeof(float));
	AUTO_FREE float *single_room = xmalloc(network_room(&trial.network) * sizeof(float));

	for (size_t i = 0; i < trial.network.count; i++)
		singles[i] = (float)numbers[i];
	loss = network_pass_double(&trial.network, numbers, gradient, &trial.rows, room);
	single = network_pass_float(&trial.network, singles, slopes, &trial.rows, single_room);
	CHECK(fabs(loss - single) < 1e-4 * loss);
	for (size_t i = 0; i < trial.network.count; i++)
		CHECK(fabs(gradient[i] - (double)slopes[i]) < 1e-3 * (1 + fabs(gradient[i])));
}

/* Rings around the origin: the class depends on the radius; or the height of a hill. */
struct problem {
	struct samples samples;
	double *x, *y;
};

static void problem_init(struct problem *problem, size_t rows, size_t classes, uint64_t seed)
{
	struct random random;

	problem->x = xmalloc(rows * 3 * sizeof(double));
	problem->y = xmalloc(rows * sizeof(double));
	random_init(&random, seed);
	for (size_t i = 0; i < rows; i++) {
		double *x = problem->x + i * 3, radius;

		for (size_t j = 0; j < 3; j++)
			x[j] = random_normal(&random);
		radius = sqrt(x[0] * x[0] + x[1] * x[1]); /* the third input is irrelevant */
		problem->y[i] = classes ? fmin(floor(radius * 1.2), (double)classes - 1)
					: exp(-radius * radius / 2);
	}
	problem->samples = (struct samples){
		.x = problem->x, .y = problem->y, .rows = rows, .width = 3, .classes = classes
	};
}

static void problem_release(struct problem *problem)
{
	free(problem->x);
	free(problem->y);
}

static void *fit(const struct problem *problem, const char *text, uint64_t seed)
{
	double settings[LEARNER_SETTINGS_MAX];
	struct effort effort = { .seed = seed, .threads = 1 };
	struct err err = { 0 };
	void *model = NULL;

	learner_defaults(&learner_perceptron, settings);
	REQUIRE(learner_parse(&learner_perceptron, text, settings, &err) == 0);
	REQUIRE(learner_perceptron.fit(&model, &problem->samples, settings, &effort, &err) == 0);
	return model;
}

/* Accuracy, or R2. */
static double score(const void *model, const struct problem *problem)
{
	const struct samples *s = &problem->samples;
	double out[LEARNER_CLASSES_MAX], right = 0, error = 0, spread = 0, mean = 0;

	for (size_t i = 0; i < s->rows; i++)
		mean += s->y[i] / (double)s->rows;
	for (size_t i = 0; i < s->rows; i++) {
		learner_perceptron.predict(model, s->x + i * s->width, out);
		if (s->classes)
			right += (double)learner_best(out, s->classes) == s->y[i];
		error += (out[0] - s->y[i]) * (out[0] - s->y[i]);
		spread += (s->y[i] - mean) * (s->y[i] - mean);
	}
	return s->classes ? right / (double)s->rows : 1 - error / spread;
}

static void score_check(size_t classes, const char *settings, double least)
{
	struct problem train, test;
	void *model;

	problem_init(&train, 800, classes, 1);
	problem_init(&test, 500, classes, 2);
	model = fit(&train, settings, 3);
	CHECK(score(model, &test) > least);
	if (score(model, &test) <= least)
		printf("%zu classes, %s: %g\n", classes, settings, score(model, &test));
	learner_perceptron.free(model);
	problem_release(&train);
	problem_release(&test);
}

static void curved_boundaries_are_learned(void)
{
	score_check(2, "rate=0.01,rounds=100", 0.95);
	score_check(3, "rate=0.01,rounds=100", 0.93);
	score_check(2, "solver=lbfgs,hidden=20,alpha=0.1,rounds=60", 0.95);
	score_check(3, "hidden=40,hidden2=20,rate=0.01,rounds=60", 0.93);
	score_check(2, "activation=tanh,hidden=20,solver=lbfgs,rounds=40", 0.95);
}

static void hill_is_learned(void)
{
	score_check(0, "rate=0.01,rounds=100", 0.96);
	score_check(0, "solver=lbfgs,hidden=20,rounds=100", 0.96);
	score_check(0, "activation=logistic,solver=lbfgs,hidden=20,rounds=60", 0.97);
}

static void unit_of_the_target_does_not_matter(void)
{
	struct problem a, b;
	double row[3] = { 0.3, -0.2, 1 }, out_a, out_b;
	void *model_a, *model_b;

	problem_init(&a, 300, 0, 1);
	problem_init(&b, 300, 0, 1);
	for (size_t i = 0; i < 300; i++)
		b.y[i] = 1e9 + 1e6 * a.y[i];
	model_a = fit(&a, "rounds=20", 3);
	model_b = fit(&b, "rounds=20", 3);
	learner_perceptron.predict(model_a, row, &out_a);
	learner_perceptron.predict(model_b, row, &out_b);
	CHECK(fabs(out_b - 1e9 - 1e6 * out_a) < 1e3);
	learner_perceptron.free(model_a);
	learner_perceptron.free(model_b);
	problem_release(&a);
	problem_release(&b);
}

static void seed_decides_everything(void)
{
	struct problem problem;
	double row[3] = { 0.3, -0.2, 1 }, one[2], same[2], other[2];
	void *model[3];

	problem_init(&problem, 250, 2, 1);
	model[0] = fit(&problem, "rounds=5", 3);
	model[1] = fit(&problem, "rounds=5", 3);
	model[2] = fit(&problem, "rounds=5", 4);
	learner_perceptron.predict(model[0], row, one);
	learner_perceptron.predict(model[1], row, same);
	learner_perceptron.predict(model[2], row, other);
	CHECK(one[0] == same[0]);
	CHECK(one[0] != other[0]);
	CHECK(fabs(one[0] + one[1] - 1) < 1e-15);
	for (int i = 0; i < 3; i++)
		learner_perceptron.free(model[i]);
	problem_release(&problem);
}

static void batch_prediction_equals_single_prediction(void)
{
	static const size_t classes[] = { 0, 2, 3 };

	for (size_t c = 0; c < 3; c++) {
		struct problem problem;
		size_t answers = classes[c] ? classes[c] : 1;
		double *out = xmalloc(103 * answers * sizeof(double)), one[3];
		void *model;

		problem_init(&problem, 103, classes[c], 1);
		model = fit(&problem, "hidden=33,hidden2=7,rounds=3", 3);
		learner_perceptron.predict_rows(model, problem.x, 103, out);
		for (size_t i = 0; i < 103; i++) {
			learner_perceptron.predict(model, problem.x + i * 3, one);
			CHECK(memcmp(one, out + i * answers, answers * sizeof(double)) == 0);
		}
		learner_perceptron.free(model);
		problem_release(&problem);
		free(out);
	}
}

static void refresh_follows_changes(void)
{
	struct problem old, new;
	struct effort effort = { .seed = 5, .threads = 1 };
	double before;
	void *model;

	problem_init(&old, 600, 2, 1);
	problem_init(&new, 600, 2, 2);
	for (size_t i = 0; i < new.samples.rows; i++)
		new.y[i] = new.x[i * 3] > 0;
	model = fit(&old, "rate=0.01,rounds=80", 3);
	before = score(model, &new);
	CHECK(learner_perceptron.refresh(model, &new.samples, &effort, NULL) == 0);
	CHECK(before < 0.7);
	CHECK(score(model, &new) > 0.95);
	learner_perceptron.free(model);
	problem_release(&old);
	problem_release(&new);
}

static void failed_refresh_leaves_the_model_unchanged(void)
{
	struct problem problem;
	struct effort effort = { .seed = 5, .threads = 1 };
	struct err err = { 0 };
	double row[3] = { 0.3, -0.2, 1 }, before[2], after[2];
	void *model;

	problem_init(&problem, 200, 2, 1);
	model = fit(&problem, "rounds=3", 3);
	learner_perceptron.predict(model, row, before);
	problem.x[0] = 1e300;
	CHECK_INT(learner_perceptron.refresh(model, &problem.samples, &effort, &err), -ERANGE);
	CHECK_WORDS(err.text, "center|scale");
	learner_perceptron.predict(model, row, after);
	CHECK(before[0] == after[0]);
	learner_perceptron.free(model);
	problem_release(&problem);
}

static void inputs_out_of_range_are_rejected(void)
{
	static const char *const solvers[] = { "solver=adam", "solver=lbfgs" };

	for (int i = 0; i < 2; i++) {
		struct problem problem;
		double settings[LEARNER_SETTINGS_MAX];
		struct err err = { 0 };
		void *model = &model;

		problem_init(&problem, 50, 0, 1);
		problem.x[7] = 1e305;
		learner_defaults(&learner_perceptron, settings);
		REQUIRE(learner_parse(&learner_perceptron, solvers[i], settings, &err) == 0);
		CHECK_INT(learner_perceptron.fit(&model, &problem.samples, settings,
						 &(struct effort){ 1, 1 }, &err),
			  -ERANGE);
		CHECK(model == &model);
		problem_release(&problem);
	}
}

static void one_row_and_constant_targets_are_learned(void)
{
	double x[6] = { 1, 2, 3, 4, 5, 6 }, y[2] = { 7, 7 }, out;
	struct problem problem = { .samples = { .x = x, .y = y, .rows = 1, .width = 3 } };

	for (size_t rows = 1; rows <= 2; rows++) {
		void *model;

		problem.samples.rows = rows;
		model = fit(&problem, "rate=0.01", 1);
		learner_perceptron.predict(model, x, &out);
		CHECK(fabs(out - 7) < 0.2);
		learner_perceptron.free(model);
	}
}

static void importance_finds_the_irrelevant_input(void)
{
	struct problem problem;
	double share[3];
	void *model;

	problem_init(&problem, 800, 2, 1);
	model = fit(&problem, "rate=0.01,rounds=100,alpha=0.1", 3);
	learner_perceptron.importance(model, share);
	CHECK(fabs(share[0] + share[1] + share[2] - 1) < 1e-12);
	CHECK(share[2] < 0.7 * share[0]);
	CHECK(share[2] < 0.7 * share[1]);
	learner_perceptron.free(model);
	problem_release(&problem);
}

static void saved_model_predicts_the_same(void)
{
	static const char *const settings[] = { "rounds=3", "rounds=3,hidden2=11,activation=tanh",
						"rounds=3,solver=lbfgs,hidden=7" };
	static const size_t classes[] = { 0, 2, 3 };

	for (size_t k = 0; k < 3; k++) {
		struct problem problem;
		AUTO_BUF struct buf first = { 0 }, second = { 0 };
		struct blob blob;
		void *model, *loaded = NULL;
		double a[3], b[3];

		problem_init(&problem, 100, classes[k], 1);
		model = fit(&problem, settings[k], 3);
		learner_perceptron.save(model, &first);
		blob_init(&blob, first.data, first.len);
		REQUIRE(learner_perceptron.load(&loaded, &blob, 3, classes[k], NULL) == 0);
		CHECK(blob.at == blob.end);
		for (size_t i = 0; i < 100; i++) {
			learner_perceptron.predict(model, problem.x + i * 3, a);
			learner_perceptron.predict(loaded, problem.x + i * 3, b);
			CHECK(memcmp(a, b, (classes[k] ? classes[k] : 1) * sizeof(double)) == 0);
		}
		learner_perceptron.save(loaded, &second);
		CHECK(first.len == second.len);
		CHECK(memcmp(first.data, second.data, first.len) == 0);
		learner_perceptron.free(model);
		learner_perceptron.free(loaded);
		problem_release(&problem);
	}
}

/* A copy of the exact size, so that a sanitizer detects any byte that is read beyond it. */
static int load_bytes(const struct buf *bytes, size_t n, const struct problem *problem)
{
	char *copy = xmalloc(n + !n);
	double out[3];
	struct blob blob;
	struct err err = { 0 };
	void *model = NULL;
	int r;

	memcpy(copy, bytes->data, n);
	blob_init(&blob, copy, n);
	r = learner_perceptron.load(&model, &blob, 3, 3, &err);
	if (r == 0)
		learner_perceptron.predict(model, problem->x, out);
	else
		CHECK(err.text[0]);
	learner_perceptron.free(model);
	free(copy);
	return r;
}

static void damaged_models_do_no_harm(void)
{
	struct problem problem;
	AUTO_BUF struct buf bytes = { 0 };
	struct random random;
	void *model;

	problem_init(&problem, 60, 3, 1);
	model = fit(&problem, "rounds=1,hidden=6,hidden2=3", 3);
	learner_perceptron.save(model, &bytes);
	for (size_t n = 0; n < bytes.len; n++)
		CHECK(load_bytes(&bytes, n, &problem) < 0);
	random_init(&random, 1);
	for (int i = 0; i < 3000; i++) {
		size_t at =
			i < 1500 ? random_below(&random, 100) : random_below(&random, bytes.len);
		char kept = bytes.data[at];

		bytes.data[at] = (char)random_u64(&random);
		load_bytes(&bytes, bytes.len, &problem);
		bytes.data[at] = kept;
	}
	learner_perceptron.free(model);
	problem_release(&problem);
}

TESTS(TEST(network_equals_scikit_learn), TEST(gradients_are_differences),
      TEST(both_precisions_agree), TEST(curved_boundaries_are_learned), TEST(hill_is_learned),
      TEST(unit_of_the_target_does_not_matter), TEST(seed_decides_everything),
      TEST(batch_prediction_equals_single_prediction), TEST(refresh_follows_changes),
      TEST(failed_refresh_leaves_the_model_unchanged), TEST(inputs_out_of_range_are_rejected),
      TEST(one_row_and_constant_targets_are_learned), TEST(importance_finds_the_irrelevant_input),
      TEST(saved_model_predicts_the_same), TEST(damaged_models_do_no_harm))
