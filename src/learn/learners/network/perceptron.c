/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The multi-layer perceptron: trains a network (network.h), stores it and predicts with it. It
 * follows scikit-learn: Glorot initialization, Adam over shuffled batches until the training loss
 * stops falling, or L-BFGS over all rows, and decay of weights but not of biases. Unlike
 * scikit-learn, a numeric target is first standardized to mean 0 and deviation 1, so that step size
 * and decay do not depend on its unit.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/learners/network/network.h"
#include "learn/math/minimize.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_perceptron;

enum solver { SOLVER_ADAM, SOLVER_LBFGS };

static const struct learner_setting settings_rows[] = {
	{ "hidden", "units of the hidden layer", NULL, 100, 1, NETWORK_UNITS_MAX, 5, 200, true,
	  true },
	{ "hidden2", "units of the second hidden layer; 0: none", NULL, 0, 0, NETWORK_UNITS_MAX, 0,
	  0, true, false },
	{ "activation", "activation function", NETWORK_ACTIVATIONS, 0, 0, 2, 0, 0, true, false },
	{ "solver", "training algorithm", "adam|lbfgs", 0, 0, 1, 0, 1, true, false },
	{ "rate", "step size of Adam", NULL, 1e-3, 1e-6, 1, 3e-4, 1e-2, false, true },
	{ "alpha", "weight decay", NULL, 1e-4, 0, 1e3, 1e-5, 10, false, true },
	{ "batch", "rows per step of Adam", NULL, 200, 1, 1e6, 200, 200, true, false },
	{ "rounds", "maximum number of passes over all rows; 0: 200 (adam), 300 (lbfgs)", NULL, 0,
	  0, 1e5, 0, 0, true, false },
	{ "tolerance", "a pass that lowers the loss by less counts as idle", NULL, 1e-4, 0, 1, 1e-4,
	  1e-4, false, false },
	{ "patience", "number of consecutive idle passes after which Adam stops", NULL, 10, 1, 1e5,
	  10, 10, true, false },
	{ 0 },
};

/* The settings that refresh() needs again; they are stored with the model. */
struct training {
	enum solver solver;
	double rate, alpha, tolerance;
	size_t batch, rounds, patience;
};

struct perceptron {
	struct network network;
	struct training training;
	size_t width, classes;
	double *numbers;
	double center, scale; /* standardization of the target */
	double loss;	      /* at the end of the training, including decay */
	size_t rounds;	      /* number of rounds */
};

static void perceptron_free(void *model)
{
	struct perceptron *perceptron = model;

	if (perceptron)
		free(perceptron->numbers);
	free(perceptron);
}

struct adam {
	float *numbers, *gradient, *first, *second, *room;
	uint32_t *order;
	size_t steps;
};

static void adam_init(struct adam *adam, const struct perceptron *perceptron, size_t rows)
{
	size_t count = perceptron->network.count;

	adam->numbers = xmalloc(count * sizeof(float));
	adam->gradient = xcalloc(3 * count, sizeof(float));
	adam->first = adam->gradient + count;
	adam->second = adam->first + count;
	adam->room = xmalloc(network_room(&perceptron->network) * sizeof(float));
	adam->order = xmalloc(rows * sizeof(*adam->order));
	adam->steps = 0;
	for (size_t i = 0; i < count; i++)
		adam->numbers[i] = (float)perceptron->numbers[i];
	for (size_t i = 0; i < rows; i++)
		adam->order[i] = (uint32_t)i;
}

static void adam_release(struct adam *adam)
{
	free(adam->numbers);
	free(adam->gradient);
	free(adam->room);
	free(adam->order);
}

/* Plain loops over arrays that do not overlap, so that the compiler can vectorize them. */
static void step_numbers(size_t count, float *restrict numbers, float *restrict gradient,
			 float *restrict first, float *restrict second, float decay, float share,
			 float rate)
{
	for (size_t i = 0; i < count; i++) {
		float g = (gradient[i] + decay * numbers[i]) * share;

		first[i] = 0.9f * first[i] + 0.1f * g;
		second[i] = 0.999f * second[i] + 0.001f * g * g;
		numbers[i] -= rate * first[i] / (sqrtf(second[i]) + 1e-8f);
		gradient[i] = 0;
	}
}

/* Eight independent sums, because a single one could not be vectorized. */
static double sum_of_squares_float(const float *numbers, size_t count)
{
	float sums[8] = { 0 };
	double total = 0;
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		for (size_t k = 0; k < 8; k++)
			sums[k] += numbers[i + k] * numbers[i + k];
	}
	for (; i < count; i++)
		sums[0] += numbers[i] * numbers[i];
	for (size_t k = 0; k < 8; k++)
		total += sums[k];
	return total;
}

static void adam_step(struct adam *adam, const struct network *network,
		      const struct training *training, size_t rows)
{
	double steps = (double)++adam->steps;
	float rate = (float)(training->rate * sqrt(1 - pow(0.999, steps)) / (1 - pow(0.9, steps)));
	float share = 1 / (float)rows;

	for (size_t h = 0; h <= network->hidden; h++) {
		const struct network_layer *layer = &network->layers[h];
		size_t at = layer->weights;

		step_numbers(layer->weight_count, adam->numbers + at, adam->gradient + at,
			     adam->first + at, adam->second + at, (float)training->alpha, share,
			     rate);
		at = layer->biases;
		step_numbers(layer->bias_count, adam->numbers + at, adam->gradient + at,
			     adam->first + at, adam->second + at, 0, share, rate);
	}
}

static double weight_decay_loss(const struct adam *adam, const struct network *network,
				double alpha)
{
	double sum = 0;

	for (size_t h = 0; h <= network->hidden; h++)
		sum += sum_of_squares_float(adam->numbers + network->layers[h].weights,
					    network->layers[h].weight_count);
	return alpha * sum / 2;
}

static void shuffle_order(struct random *random, uint32_t *order, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = random_below(random, i);
		uint32_t kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

/* One pass over all rows. Returns the mean loss of its batches. */
static double adam_round(struct adam *adam, const struct perceptron *perceptron,
			 const struct network_rows *rows, struct random *random)
{
	const struct network *network = &perceptron->network;
	double loss = 0;

	shuffle_order(random, adam->order, rows->count);
	for (size_t at = 0; at < rows->count; at += perceptron->training.batch) {
		struct network_rows batch = *rows;

		batch.order = adam->order + at;
		batch.count = rows->count - at;
		if (batch.count > perceptron->training.batch)
			batch.count = perceptron->training.batch;
		loss += network_pass_float(network, adam->numbers, adam->gradient, &batch,
					   adam->room);
		loss += weight_decay_loss(adam, network, perceptron->training.alpha);
		adam_step(adam, network, &perceptron->training, batch.count);
	}
	return loss / (double)rows->count;
}

static void train_adam(struct perceptron *perceptron, const struct network_rows *rows,
		       size_t rounds, uint64_t seed)
{
	const struct training *training = &perceptron->training;
	double best = INFINITY;
	struct random random;
	struct adam adam;
	size_t idle = 0;

	random_stream(&random, seed, 1);
	adam_init(&adam, perceptron, rows->count);
	for (perceptron->rounds = 0; perceptron->rounds < rounds; perceptron->rounds++) {
		double loss = perceptron->loss = adam_round(&adam, perceptron, rows, &random);

		idle = loss > best - training->tolerance ? idle + 1 : 0;
		best = fmin(best, loss);
		if (idle > training->patience || !isfinite(loss))
			break;
	}
	for (size_t i = 0; i < perceptron->network.count; i++)
		perceptron->numbers[i] = adam.numbers[i];
	adam_release(&adam);
}

struct whole {
	const struct perceptron *perceptron;
	const struct network_rows *rows;
	double *room;
};

static double loss_of_all_rows(void *arg, const double *numbers, double *gradient)
{
	const struct whole *whole = arg;
	const struct network *network = &whole->perceptron->network;
	double alpha = whole->perceptron->training.alpha, share = 1 / (double)whole->rows->count;
	double loss;

	memset(gradient, 0, network->count * sizeof(*gradient));
	loss = network_pass_double(network, numbers, gradient, whole->rows, whole->room);
	for (size_t h = 0; h <= network->hidden; h++) {
		const struct network_layer *layer = &network->layers[h];

		for (size_t i = layer->weights; i < layer->weights + layer->weight_count; i++) {
			loss += alpha * numbers[i] * numbers[i] / 2;
			gradient[i] += alpha * numbers[i];
		}
	}
	for (size_t i = 0; i < network->count; i++)
		gradient[i] *= share;
	return loss * share;
}

static void train_lbfgs(struct perceptron *perceptron, const struct network_rows *rows,
			size_t rounds)
{
	AUTO_FREE double *room = xmalloc(network_room(&perceptron->network) * sizeof(*room));
	struct whole whole = { perceptron, rows, room };
	struct minimize_plan plan = { .rounds = rounds,
				      .gradient = perceptron->training.tolerance };
	struct minimize_result result = { .value = NAN };

	minimize(loss_of_all_rows, &whole, perceptron->numbers, perceptron->network.count, &plan,
		 &result);
	perceptron->loss = result.value;
	perceptron->rounds = result.rounds;
}

struct start {
	const struct network *network;
	double *numbers;
	struct random random;
};

/* Glorot and Bengio (2010), also for biases, as in scikit-learn. */
static void start_number(void *arg, const struct network_layer *layer, size_t index)
{
	struct start *start = arg;
	double factor = start->network->activation == NETWORK_LOGISTIC ? 2 : 6;
	double bound = sqrt(factor / (double)(layer->inputs + layer->units));

	start->numbers[index] = (2 * random_real(&start->random) - 1) * bound;
}

static int perceptron_train(struct perceptron *perceptron, const struct samples *samples,
			    size_t rounds, uint64_t seed, struct err *err)
{
	struct network_rows rows = { .x = samples->x,
				     .y = samples->y,
				     .count = samples->rows,
				     .center = perceptron->center,
				     .scale = perceptron->scale };

	if (perceptron->training.solver == SOLVER_LBFGS)
		train_lbfgs(perceptron, &rows, rounds);
	else
		train_adam(perceptron, &rows, rounds, seed);
	for (size_t i = 0; i < perceptron->network.count; i++) {
		if (!isfinite(perceptron->numbers[i]))
			perceptron->loss = NAN;
	}
	if (!isfinite(perceptron->loss))
		return err_set(err, ERANGE,
			       "perceptron: the weights diverged: center and scale the "
			       "inputs, or lower the setting rate");
	return 0;
}

static void standardize_target(struct perceptron *perceptron, const struct samples *samples)
{
	double sum = 0, squares = 0, n = (double)samples->rows;

	perceptron->scale = 1;
	if (samples->classes)
		return;
	for (size_t i = 0; i < samples->rows; i++)
		sum += samples->y[i];
	perceptron->center = sum / n;
	for (size_t i = 0; i < samples->rows; i++)
		squares +=
			(samples->y[i] - perceptron->center) * (samples->y[i] - perceptron->center);
	if (squares > 0 && isfinite(squares))
		perceptron->scale = sqrt(squares / n);
}

static double setting_value(const double *settings, const char *name)
{
	return learner_value(&learner_perceptron, settings, name);
}

static void read_training(struct training *training, const double *settings)
{
	*training = (struct training){
		.solver = (enum solver)setting_value(settings, "solver"),
		.rate = setting_value(settings, "rate"),
		.alpha = setting_value(settings, "alpha"),
		.tolerance = setting_value(settings, "tolerance"),
		.batch = (size_t)setting_value(settings, "batch"),
		.rounds = (size_t)setting_value(settings, "rounds"),
		.patience = (size_t)setting_value(settings, "patience"),
	};
	if (!training->rounds)
		training->rounds = training->solver == SOLVER_LBFGS ? 300 : 200;
}

static int perceptron_fit(void **model, const struct samples *samples, const double *settings,
			  const struct effort *effort, struct err *err)
{
	struct perceptron *perceptron;
	struct start start;
	int r;

	if (samples->rows > UINT32_MAX)
		return err_set(err, E2BIG, "perceptron: too many rows (at most 2^32)");
	if (samples->classes > NETWORK_OUTPUTS_MAX)
		return err_set(err, E2BIG, "perceptron: too many classes: %zu (at most %d)",
			       samples->classes, NETWORK_OUTPUTS_MAX);
	perceptron = xcalloc(1, sizeof(*perceptron));
	perceptron->width = samples->width;
	perceptron->classes = samples->classes;
	read_training(&perceptron->training, settings);
	standardize_target(perceptron, samples);
	network_init(&perceptron->network, samples->width,
		     (size_t)setting_value(settings, "hidden"),
		     (size_t)setting_value(settings, "hidden2"), samples->classes,
		     (enum network_activation)setting_value(settings, "activation"));
	perceptron->numbers = xcalloc(perceptron->network.count, sizeof(double));
	start.network = &perceptron->network;
	start.numbers = perceptron->numbers;
	random_stream(&start.random, effort->seed, 0);
	network_walk(&perceptron->network, start_number, &start);
	r = perceptron_train(perceptron, samples, perceptron->training.rounds, effort->seed, err);
	if (r < 0)
		perceptron_free(perceptron);
	else
		*model = perceptron;
	return r;
}

/* A quarter of the rounds suffices, because training starts near a minimum. */
static int perceptron_refresh(void *model, const struct samples *more, const struct effort *effort,
			      struct err *err)
{
	struct perceptron *perceptron = model, old = *perceptron;
	size_t count = perceptron->network.count;
	int r;

	if (!more->rows)
		return 0;
	perceptron->numbers = xmalloc(count * sizeof(double));
	memcpy(perceptron->numbers, old.numbers, count * sizeof(double));
	r = perceptron_train(perceptron, more, (old.training.rounds + 3) / 4, effort->seed, err);
	if (r < 0) {
		free(perceptron->numbers);
		*perceptron = old;
		return r;
	}
	free(old.numbers);
	return 0;
}

static void perceptron_predict(const void *model, const double *row, double *out)
{
	const struct perceptron *perceptron = model;

	network_answer(&perceptron->network, perceptron->numbers, row, out);
	if (!perceptron->classes)
		out[0] = perceptron->center + perceptron->scale * out[0];
}

static void perceptron_predict_rows(const void *model, const double *x, size_t rows, double *out)
{
	const struct perceptron *perceptron = model;
	AUTO_FREE double *room = xmalloc(network_room(&perceptron->network) * sizeof(*room));

	network_answers(&perceptron->network, perceptron->numbers, x, rows, out, room);
	for (size_t i = 0; !perceptron->classes && i < rows; i++)
		out[i] = perceptron->center + perceptron->scale * out[i];
}

/* Garson (1991): sums of the products of absolute weights over all paths. */
static void perceptron_importance(const void *model, double *share)
{
	const struct perceptron *perceptron = model;
	const struct network *network = &perceptron->network;
	const struct network_layer *output = &network->layers[network->hidden];
	AUTO_FREE double *weight = xcalloc(NETWORK_UNITS_MAX, sizeof(*weight));
	double total = 0;

	for (size_t o = 0; o < output->units; o++) {
		const double *row = perceptron->numbers + output->weights + o * output->stride;

		for (size_t j = 0; j < output->inputs; j++)
			weight[j] += fabs(row[j]);
	}
	for (size_t h = network->hidden; h-- > 0;) {
		const struct network_layer *layer = &network->layers[h];
		AUTO_FREE double *below = xcalloc(layer->inputs, sizeof(*below));

		for (size_t i = 0; i < layer->inputs; i++) {
			const double *row =
				perceptron->numbers + layer->weights + i * layer->stride;

			for (size_t j = 0; j < layer->units; j++)
				below[i] += fabs(row[j]) * weight[j];
		}
		memcpy(h ? weight : share, below, layer->inputs * sizeof(*below));
	}
	for (size_t i = 0; i < perceptron->width; i++)
		total += share[i];
	for (size_t i = 0; i < perceptron->width; i++)
		share[i] = total > 0 ? share[i] / total : 0;
}

static void perceptron_describe(const void *model, const char *const *names, struct buf *out)
{
	static const char *const activations[] = { "relu", "tanh", "logistic" };
	const struct perceptron *perceptron = model;
	const struct network *network = &perceptron->network;

	(void)names;
	buf_printf(out, "%zu inputs", perceptron->width);
	for (size_t h = 0; h < network->hidden; h++)
		buf_printf(out, ", %zu %s units", network->layers[h].units,
			   activations[network->activation]);
	buf_printf(out, ", %zu output%s\n", network->layers[network->hidden].units,
		   network->layers[network->hidden].units == 1 ? "" : "s");
	buf_printf(out, "training loss %.6g after %zu rounds\n", perceptron->loss,
		   perceptron->rounds);
}

struct transfer {
	double *numbers;
	struct buf *buf;
	struct blob *blob;
};

static void save_number(void *arg, const struct network_layer *layer, size_t index)
{
	const struct transfer *transfer = arg;

	(void)layer;
	blob_put_real(transfer->buf, transfer->numbers[index]);
}

static void load_number(void *arg, const struct network_layer *layer, size_t index)
{
	const struct transfer *transfer = arg;

	(void)layer;
	transfer->numbers[index] = blob_take_real(transfer->blob);
	blob_expect(transfer->blob, isfinite(transfer->numbers[index]));
}

static void perceptron_save(const void *model, struct buf *buf)
{
	const struct perceptron *perceptron = model;
	const struct network *network = &perceptron->network;
	const struct training *training = &perceptron->training;
	struct transfer transfer = { .numbers = perceptron->numbers, .buf = buf };

	blob_put_u32(buf, network->activation);
	blob_put_u32(buf, (uint32_t)network->layers[0].units);
	blob_put_u32(buf, network->hidden == 2 ? (uint32_t)network->layers[1].units : 0);
	blob_put_u32(buf, training->solver);
	blob_put_u64(buf, training->batch);
	blob_put_u64(buf, training->rounds);
	blob_put_u64(buf, training->patience);
	blob_put_real(buf, training->rate);
	blob_put_real(buf, training->alpha);
	blob_put_real(buf, training->tolerance);
	blob_put_real(buf, perceptron->center);
	blob_put_real(buf, perceptron->scale);
	blob_put_real(buf, perceptron->loss);
	blob_put_u64(buf, perceptron->rounds);
	network_walk(network, save_number, &transfer);
}

static bool is_within(double value, double least, double most)
{
	return value >= least && value <= most;
}

static bool load_training(struct training *training, struct blob *blob)
{
	uint32_t solver = blob_take_u32(blob);

	training->solver = solver == SOLVER_LBFGS ? SOLVER_LBFGS : SOLVER_ADAM;
	training->batch = blob_take_u64(blob);
	training->rounds = blob_take_u64(blob);
	training->patience = blob_take_u64(blob);
	training->rate = blob_take_real(blob);
	training->alpha = blob_take_real(blob);
	training->tolerance = blob_take_real(blob);
	return solver <= SOLVER_LBFGS && training->batch >= 1 && training->rounds <= 100000 &&
	       is_within(training->rate, 1e-6, 1) && is_within(training->alpha, 0, 1e3) &&
	       is_within(training->tolerance, 0, 1);
}

static bool load_shape(struct perceptron *perceptron, struct blob *blob)
{
	uint32_t activation = blob_take_u32(blob), first = blob_take_u32(blob);
	uint32_t second = blob_take_u32(blob);

	if (activation > NETWORK_LOGISTIC || first < 1 || first > NETWORK_UNITS_MAX ||
	    second > NETWORK_UNITS_MAX || perceptron->classes == 1 ||
	    perceptron->classes > NETWORK_OUTPUTS_MAX)
		return false;
	network_init(&perceptron->network, perceptron->width, first, second, perceptron->classes,
		     (enum network_activation)activation);
	/* Before memory is allocated, check that the file is large enough to fill it. */
	return perceptron->width * first + (size_t)first * second <=
	       (size_t)(blob->end - blob->at) / sizeof(double);
}

static int perceptron_load(void **model, struct blob *blob, size_t width, size_t classes,
			   struct err *err)
{
	struct perceptron *perceptron = xcalloc(1, sizeof(*perceptron));
	struct transfer transfer = { .blob = blob };

	perceptron->width = width;
	perceptron->classes = classes;
	if (!blob_expect(blob, load_shape(perceptron, blob)) ||
	    !blob_expect(blob, load_training(&perceptron->training, blob)))
		goto damaged;
	perceptron->center = blob_take_real(blob);
	perceptron->scale = blob_take_real(blob);
	perceptron->loss = blob_take_real(blob);
	perceptron->rounds = blob_take_u64(blob);
	blob_expect(blob, isfinite(perceptron->center) && isfinite(perceptron->scale) &&
				  perceptron->scale > 0);
	perceptron->numbers = xcalloc(perceptron->network.count, sizeof(double));
	transfer.numbers = perceptron->numbers;
	network_walk(&perceptron->network, load_number, &transfer);
	if (!blob_ok(blob))
		goto damaged;
	*model = perceptron;
	return 0;
damaged:
	perceptron_free(perceptron);
	return err_set(err, EBADMSG, "its perceptron is damaged");
}

const struct learner_ops learner_perceptron = {
	.name = "perceptron",
	.help = "neural network with one or two hidden layers; training needs four floats per "
		"weight "
		"(lbfgs: 26 numbers); updates continue from the current weights without the "
		"old rows",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "center,scale",
	.settings = settings_rows,
	.fit = perceptron_fit,
	.predict = perceptron_predict,
	.predict_rows = perceptron_predict_rows,
	.importance = perceptron_importance,
	.refresh = perceptron_refresh,
	.describe = perceptron_describe,
	.save = perceptron_save,
	.load = perceptron_load,
	.free = perceptron_free,
};
