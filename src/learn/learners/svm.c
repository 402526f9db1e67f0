/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Support vector machines with a radial kernel: libsvm trains, and learn/math/radial.h predicts.
 * For classes there is one machine per pair. Each pair gets a Platt sigmoid, fitted to decisions on
 * held-out rows, and the probabilities of the pairs are coupled (Wu, Lin and Weng 2004). libsvm's
 * own probabilities are not used, because they draw from rand(), which the whole process shares.
 * Without them svm_train() keeps no state between calls except for the print function, so machines
 * are trained in parallel.
 *
 * Rows are passed to libsvm by ascending class, so that classes keep their order and the machine
 * equals the one that scikit-learn trains. A decision of pair (a, b), a < b, is positive for b,
 * like scikit-learn's for two classes. (libsvm's is positive for a.)
 *
 * Memory while fitting: libsvm's form of the rows, which is twice as large (16 bytes per value),
 * the cache, libsvm's data per row and thread (below 200 bytes), and 8 bytes per row for each class
 * but one. Machines that only serve to fit probabilities are never copied as a whole.
 */
#include <errno.h>
#include <libsvm/svm.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/file/blob.h"
#include "learn/judge/calibration.h"
#include "learn/learner.h"
#include "learn/math/library.h"
#include "learn/math/radial.h"
#include "learn/table/folds.h"

extern const struct learner_ops learner_svm;

/* Used if no rows were held out: a decision of 1, the margin, gives a probability of 0.88. */
#define SLOPE_UNKNOWN -2.0

/* Bytes of support vectors that are laid out for prediction at a time. */
enum { CHUNK_BYTES = 64 << 10 };

struct sigmoid {
	/* The probability of the second class of a pair is 1 / (1 + exp(a * decision + b)). */
	double a, b;
};

struct machine {
	size_t width, classes;
	size_t present;			     /* number of classes that have rows; regression: 1 */
	uint32_t label[LEARNER_CLASSES_MAX]; /* the classes that have rows */
	struct radial radial;	 /* groups: classes that have rows; empty if there is only one */
	double *offset;		 /* per pair (regression: one); added to the sums of the pair */
	struct sigmoid *sigmoid; /* per pair */
};

static size_t pair_count(size_t classes)
{
	return classes * (classes - 1) / 2;
}

/* The index of pair (a, b), a < b, of n classes: (0, 1), (0, 2), ... (1, 2), ... */
static size_t pair_index(size_t a, size_t b, size_t n)
{
	return a * (2 * n - a - 1) / 2 + b - a - 1;
}

/*
 * Computes the decisions of all pairs. The weights of a point refer to the other classes in order.
 */
static void compute_decisions(const struct machine *machine, const double *row, double *out)
{
	double sums[LEARNER_CLASSES_MAX * LEARNER_CLASSES_MAX];
	size_t n = machine->present;

	radial_sums(&machine->radial, row, sums);
	for (size_t a = 0; a < n; a++) {
		for (size_t b = a + 1; b < n; b++, out++)
			*out = machine->offset[pair_index(a, b, n)] + sums[a * (n - 1) + b - 1] +
			       sums[b * (n - 1) + a];
	}
}

/* For two classes; avoids the stack space that many classes need. */
static double compute_decision(const struct machine *machine, const double *row)
{
	double sums[2];

	radial_sums(&machine->radial, row, sums);
	return machine->offset[0] + sums[0] + sums[1];
}

/* Never exactly 0 or 1, as the coupling requires. */
static double sigmoid_chance(const struct sigmoid *sigmoid, double decision)
{
	double chance = 1 / (1 + exp(sigmoid->a * decision + sigmoid->b));

	return chance > 1e-7 ? (chance < 1 - 1e-7 ? chance : 1 - 1e-7) : 1e-7;
}

/*
 * Computes probabilities p of n classes from those of pairs, r[a * n + b] of a against b: minimizes
 * the sum over pairs of (r_ba p_a - r_ab p_b)^2 by the iteration of Wu, Lin and Weng (their second
 * method).
 */
static void couple_pairs(const double *r, size_t n, double *p)
{
	double q[LEARNER_CLASSES_MAX * LEARNER_CLASSES_MAX], qp[LEARNER_CLASSES_MAX], pqp, worst;

	for (size_t a = 0; a < n; a++) {
		p[a] = 1.0 / (double)n;
		q[a * n + a] = 0;
		for (size_t b = 0; b < n; b++) {
			if (b == a)
				continue;
			q[a * n + a] += r[b * n + a] * r[b * n + a];
			q[a * n + b] = -r[b * n + a] * r[a * n + b];
		}
	}
	for (int round = 0; round < 200; round++) {
		pqp = worst = 0;
		for (size_t a = 0; a < n; a++) {
			qp[a] = 0;
			for (size_t b = 0; b < n; b++)
				qp[a] += q[a * n + b] * p[b];
			pqp += p[a] * qp[a];
		}
		for (size_t a = 0; a < n; a++)
			worst = fmax(worst, fabs(qp[a] - pqp));
		if (worst < 1e-6 / (double)n)
			break;
		for (size_t a = 0; a < n; a++) {
			double step = (pqp - qp[a]) / q[a * n + a], scale = 1 / (1 + step);

			p[a] += step;
			pqp = (pqp + step * (step * q[a * n + a] + 2 * qp[a])) * scale * scale;
			for (size_t b = 0; b < n; b++) {
				qp[b] = (qp[b] + step * q[a * n + b]) * scale;
				p[b] *= scale;
			}
		}
	}
}

static __attribute__((noinline)) void predict_many(const struct machine *machine, const double *row,
						   double *out)
{
	double r[LEARNER_CLASSES_MAX * LEARNER_CLASSES_MAX], p[LEARNER_CLASSES_MAX];
	double found[LEARNER_CLASSES_MAX * (LEARNER_CLASSES_MAX - 1) / 2];
	size_t n = machine->present, pair = 0;

	compute_decisions(machine, row, found);
	for (size_t a = 0; a < n; a++) {
		for (size_t b = a + 1; b < n; b++, pair++) {
			r[b * n + a] = sigmoid_chance(&machine->sigmoid[pair], found[pair]);
			r[a * n + b] = 1 - r[b * n + a];
		}
	}
	couple_pairs(r, n, p);
	for (size_t i = 0; i < n; i++)
		out[machine->label[i]] = p[i];
}

static void svm_predict_row(const void *model, const double *row, double *out)
{
	const struct machine *machine = model;
	double chance;

	if (!machine->classes) {
		radial_sums(&machine->radial, row, out);
		out[0] += machine->offset[0];
		return;
	}
	memset(out, 0, machine->classes * sizeof(*out));
	if (machine->present == 1) {
		out[machine->label[0]] = 1;
	} else if (machine->present == 2) {
		chance = sigmoid_chance(machine->sigmoid, compute_decision(machine, row));
		out[machine->label[0]] = 1 - chance;
		out[machine->label[1]] = chance;
	} else {
		predict_many(machine, row, out);
	}
}

/* Data that all trainings of a fit share. */
struct training {
	const struct samples *samples;
	const struct svm *library;
	struct svm_parameter parameter;
	size_t *order;		/* rows by ascending class; regression: unchanged */
	struct svm_node *nodes; /* nodes of all rows */
	struct svm_node **x;	/* one per row of the order */
	struct machine *machine;
	struct folds folds; /* count 0: no held-out rows */
	double *held_out;   /* [row][classes - 1]: decisions of its class against the others */
};

/* Zeros are omitted, because libsvm's rows are sparse. */
static void make_nodes(struct training *t)
{
	const struct samples *samples = t->samples;
	size_t width = samples->width, count = samples->rows;
	struct svm_node *node;

	for (size_t i = 0; i < samples->rows * width; i++)
		count += samples->x[i] != 0;
	t->nodes = node = xmalloc(count * sizeof(*node));
	t->x = xmalloc(samples->rows * sizeof(*t->x));
	for (size_t i = 0; i < samples->rows; i++) {
		const double *row = samples->x + t->order[i] * width;

		t->x[i] = node;
		for (size_t j = 0; j < width; j++) {
			if (row[j] != 0)
				*node++ = (struct svm_node){ (int)j + 1, row[j] };
		}
		*node++ = (struct svm_node){ -1, 0 };
	}
}

static void make_order(struct training *t)
{
	const struct samples *samples = t->samples;
	size_t at = 0;

	t->order = xmalloc(samples->rows * sizeof(*t->order));
	for (size_t c = 0; c < (samples->classes ? samples->classes : 1); c++) {
		for (size_t i = 0; i < samples->rows; i++) {
			if (!samples->classes || samples->y[i] == (double)c)
				t->order[at++] = i;
		}
	}
}

/* scikit-learn's "scale": 1 / (width * variance of all values together). */
static double default_gamma(const struct samples *samples)
{
	double mean = 0, square = 0, count = (double)(samples->rows * samples->width);

	for (size_t i = 0; i < samples->rows * samples->width; i++)
		mean += samples->x[i];
	mean /= count;
	for (size_t i = 0; i < samples->rows * samples->width; i++)
		square += (samples->x[i] - mean) * (samples->x[i] - mean);
	return square > 0 ? 1 / ((double)samples->width * (square / count)) : 1;
}

/*
 * True if a row of the order is trained on: all except those of a fold (folds.count: no exception).
 */
static bool is_training_row(const struct training *t, size_t at, size_t fold)
{
	return fold == t->folds.count || t->folds.of[t->order[at]] != fold;
}

static void copy_weights(const struct svm_model *model, size_t vector, size_t weights, double sign,
			 double *out)
{
	for (size_t k = 0; k < weights; k++)
		out[k] = sign * model->sv_coef[k][vector];
}

/* Copies libsvm's model; rows[] are the rows it was trained on. */
static void copy_machine(struct machine *machine, const struct svm_model *model,
			 const struct training *t, const size_t *rows)
{
	size_t groups = machine->classes ? (size_t)model->nr_class : 1;
	size_t weights = machine->classes ? groups - 1 : 1, vector = 0, pairs;
	size_t points[LEARNER_CLASSES_MAX] = { (size_t)model->l };
	double taken[LEARNER_CLASSES_MAX], sign = machine->classes ? -1 : 1;

	for (size_t g = 0; machine->classes && g < groups; g++) {
		points[g] = (size_t)model->nSV[g];
		machine->label[g] = (uint32_t)model->label[g];
	}
	machine->present = groups;
	pairs = machine->classes ? pair_count(groups) : 1;
	machine->offset = xcalloc(pairs, sizeof(double));
	machine->sigmoid = xcalloc(pairs, sizeof(*machine->sigmoid));
	for (size_t i = 0; i < pairs; i++) {
		machine->offset[i] = -sign * model->rho[i];
		machine->sigmoid[i].a = SLOPE_UNKNOWN;
	}
	radial_init(&machine->radial, machine->width, groups, weights, points, model->param.gamma);
	for (size_t g = 0; g < groups; g++) {
		for (size_t i = 0; i < points[g]; i++, vector++) {
			size_t row = rows[model->sv_indices[vector] - 1];

			copy_weights(model, vector, weights, sign, taken);
			radial_set(&machine->radial, g, i, t->samples->x + row * machine->width,
				   taken);
		}
	}
}

static void machine_release(struct machine *machine)
{
	radial_release(&machine->radial);
	free(machine->offset);
	free(machine->sigmoid);
}

/*
 * Trains on all rows except those of a fold and lists them in rows[]. Returns NULL if all are of
 * one class.
 */
static struct svm_model *train_model(const struct training *t, size_t fold, size_t *rows)
{
	const struct samples *samples = t->samples;
	AUTO_FREE struct svm_node **x = xmalloc(samples->rows * sizeof(*x));
	AUTO_FREE double *y = xmalloc(samples->rows * sizeof(*y));
	struct svm_problem problem = { .x = x, .y = y };
	struct svm_model *model = NULL;

	for (size_t i = 0; i < samples->rows; i++) {
		if (!is_training_row(t, i, fold))
			continue;
		x[problem.l] = t->x[i];
		y[problem.l] = samples->y[t->order[i]];
		rows[problem.l++] = t->order[i];
	}
	if (!samples->classes || y[0] != y[problem.l - 1])
		model = t->library->train(&problem, &t->parameter);
	/* The model points to nodes, not to the problem or its arrays. */
	return model;
}

static void make_machine(struct machine *machine, const struct svm_model *model,
			 const struct training *t, const size_t *rows)
{
	*machine = (struct machine){ .width = t->samples->width, .classes = t->samples->classes };
	if (model) {
		copy_machine(machine, model, t, rows);
		return;
	}
	machine->present = 1;
	machine->label[0] = (uint32_t)t->samples->y[rows[0]];
}

/* The index of the decision of class `own` against class `other` among those of a row. */
static size_t opponent_index(uint32_t own, uint32_t other)
{
	return other < own ? other : other - 1;
}

/* Initializes held-out decisions with the offsets of the pairs, positive for the higher class. */
static void begin_held_out(struct training *t, const struct svm_model *model, size_t fold)
{
	size_t n = (size_t)model->nr_class, others = t->samples->classes - 1;

	for (size_t i = 0; i < t->samples->rows; i++) {
		for (size_t a = 0; t->folds.of[i] == fold && a < n; a++) {
			for (size_t b = a + 1; b < n; b++) {
				uint32_t own = (uint32_t)t->samples->y[i];
				uint32_t low = (uint32_t)model->label[a];
				uint32_t high = (uint32_t)model->label[b];

				if (own == low || own == high)
					t->held_out[i * others +
						    opponent_index(own, own == low ? high : low)] =
						model->rho[pair_index(a, b, n)];
			}
		}
	}
}

/* Adds the contribution of some support vectors of the group-th class. */
static void add_held_out(struct training *t, const struct svm_model *model,
			 const struct radial *chunk, size_t group, size_t fold)
{
	size_t n = (size_t)model->nr_class, others = t->samples->classes - 1;
	double sums[LEARNER_CLASSES_MAX];

	for (size_t i = 0; i < t->samples->rows; i++) {
		double *out = t->held_out + i * others;
		uint32_t own = (uint32_t)t->samples->y[i], from = (uint32_t)model->label[group];

		if (t->folds.of[i] != fold)
			continue;
		radial_sums(chunk, t->samples->x + i * t->samples->width, sums);
		for (size_t g = 0; g < n; g++) {
			uint32_t label = (uint32_t)model->label[g];
			size_t other = g < group ? g : g - 1;

			if (g == group)
				continue;
			if (own == from)
				out[opponent_index(own, label)] += sums[other];
			else if (own == label)
				out[opponent_index(own, from)] += sums[other];
		}
	}
}

/* Lays out the support vectors in chunks, because all of them may be as large as the rows. */
static void measure_held_out(struct training *t, const struct svm_model *model, const size_t *rows,
			     size_t fold)
{
	size_t weights = (size_t)model->nr_class - 1, width = t->samples->width, vector = 0;
	size_t most = CHUNK_BYTES / ((width + 1 + weights) * sizeof(double)) + RADIAL_LANES;
	double taken[LEARNER_CLASSES_MAX];

	begin_held_out(t, model, fold);
	for (size_t g = 0; g <= weights; g++) {
		size_t left = (size_t)model->nSV[g];

		while (left) {
			size_t points = left < most ? left : most;
			struct radial chunk;

			radial_init(&chunk, width, 1, weights, &points, model->param.gamma);
			for (size_t i = 0; i < points; i++, vector++) {
				size_t row = rows[model->sv_indices[vector] - 1];

				copy_weights(model, vector, weights, -1, taken);
				radial_set(&chunk, 0, i, t->samples->x + row * width, taken);
			}
			add_held_out(t, model, &chunk, g, fold);
			radial_release(&chunk);
			left -= points;
		}
	}
}

/*
 * Piece 0 is the machine itself, so that the longest work starts first; the others are those of
 * folds.
 */
static void train_piece(void *arg, size_t piece, unsigned worker)
{
	struct training *t = arg;
	size_t fold = piece ? piece - 1 : t->folds.count;
	AUTO_FREE size_t *rows = xmalloc(t->samples->rows * sizeof(*rows));
	struct svm_model *model = train_model(t, fold, rows);

	(void)worker;
	if (!piece)
		make_machine(t->machine, model, t, rows);
	else if (model)
		measure_held_out(t, model, rows, fold);
	if (model)
		t->library->free(&model);
}

/* Fits the sigmoid of a pair of classes to the decisions on held-out rows. */
static void calibrate_pair(const struct training *t, uint32_t a, uint32_t b, struct sigmoid *out)
{
	const struct samples *samples = t->samples;
	AUTO_FREE double *truth = xmalloc(samples->rows * sizeof(*truth));
	AUTO_FREE double *score = xmalloc(samples->rows * sizeof(*score));
	struct calibration calibration = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < samples->rows; i++) {
		bool second = samples->y[i] == b;
		double found;

		if (!second && samples->y[i] != a)
			continue;
		found = t->held_out[i * (samples->classes - 1) +
				    (second ? opponent_index(b, a) : opponent_index(a, b))];
		if (isnan(found))
			continue;
		truth[count] = second;
		score[count++] = found;
	}
	/* Too few rows to fit a sigmoid, so the default stays. */
	if (calibration_fit(&calibration, CALIBRATION_PLATT, truth, score, count, NULL) < 0)
		return;
	/* Probabilities must not decrease with the decision, even if a few rows suggest it. */
	if (calibration.a < 0 && isfinite(calibration.b))
		*out = (struct sigmoid){ calibration.a, calibration.b };
	calibration_release(&calibration);
}

static void calibrate_machine(struct machine *machine, const struct training *t)
{
	size_t pair = 0;

	for (size_t a = 0; a < machine->present; a++) {
		for (size_t b = a + 1; b < machine->present; b++, pair++)
			calibrate_pair(t, machine->label[a], machine->label[b],
				       &machine->sigmoid[pair]);
	}
}

static void svm_free_model(void *model)
{
	struct machine *machine = model;

	if (!machine)
		return;
	machine_release(machine);
	free(machine);
}

/* Threads share the cache. Its size does not affect libsvm's result. */
static void make_parameter(struct training *t, const double *settings, unsigned threads)
{
	double gamma = learner_value(&learner_svm, settings, "gamma");

	t->parameter = (struct svm_parameter){
		.svm_type = t->samples->classes ? C_SVC : EPSILON_SVR,
		.kernel_type = RBF,
		.gamma = gamma > 0 ? gamma : default_gamma(t->samples),
		.cache_size = learner_value(&learner_svm, settings, "cache") / threads,
		.eps = learner_value(&learner_svm, settings, "tolerance"),
		.C = learner_value(&learner_svm, settings, "cost"),
		.p = learner_value(&learner_svm, settings, "epsilon"),
		.shrinking = 1,
	};
}

static void make_folds(struct training *t, size_t count, uint64_t seed)
{
	const struct samples *samples = t->samples;

	if (!samples->classes || count < 2 || samples->rows < 2 * count)
		return;
	if (folds_init(&t->folds, FOLDS_STRATIFIED, count, samples->rows, samples->y, seed, NULL) <
	    0) {
		t->folds = (struct folds){ 0 };
		return;
	}
	t->held_out = xmalloc(samples->rows * (samples->classes - 1) * sizeof(double));
	for (size_t i = 0; i < samples->rows * (samples->classes - 1); i++)
		t->held_out[i] = NAN;
}

static int svm_fit(void **model, const struct samples *samples, const double *settings,
		   const struct effort *effort, struct err *err)
{
	struct training t = { .samples = samples };
	unsigned threads;

	if (!samples->rows || samples->rows > INT_MAX / 2)
		return err_set(err, samples->rows ? E2BIG : ENODATA,
			       "svm: %zu rows; expected 1 to %d", samples->rows, INT_MAX / 2);
	t.library = library_svm(err);
	if (!t.library)
		return -ENOENT;
	make_folds(&t, (size_t)learner_value(&learner_svm, settings, "folds"), effort->seed);
	threads =
		effort->threads < t.folds.count + 1 ? effort->threads : (unsigned)t.folds.count + 1;
	make_parameter(&t, settings, threads ? threads : 1);
	make_order(&t);
	make_nodes(&t);
	t.machine = xcalloc(1, sizeof(*t.machine));
	parallel_for(threads, t.folds.count + 1, train_piece, &t);
	if (t.folds.count)
		calibrate_machine(t.machine, &t);
	folds_release(&t.folds);
	free(t.held_out);
	free(t.order);
	free(t.nodes);
	free(t.x);
	*model = t.machine;
	return 0;
}

static void svm_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct machine *machine = model;

	(void)names;
	if (machine->present == 1 && machine->classes) {
		buf_printf(out, "always class %u: no other class occurred in training\n",
			   machine->label[0]);
		return;
	}
	buf_printf(out, "radial kernel, gamma %.6g; support vectors:", machine->radial.gamma);
	for (size_t i = 0; i < machine->radial.groups; i++) {
		buf_printf(out, " %zu", machine->radial.points[i]);
		if (machine->classes)
			buf_printf(out, " of class %u", machine->label[i]);
	}
	buf_putc(out, '\n');
}

static void svm_save(const void *model, struct buf *buf)
{
	const struct machine *machine = model;
	size_t pairs = machine->classes ? pair_count(machine->present) : 1;

	blob_put_u32(buf, (uint32_t)machine->present);
	blob_put_u32s(buf, machine->label, machine->present);
	if (machine->classes && machine->present == 1)
		return;
	blob_put_reals(buf, machine->offset, pairs);
	for (size_t i = 0; i < pairs; i++) {
		blob_put_real(buf, machine->sigmoid[i].a);
		blob_put_real(buf, machine->sigmoid[i].b);
	}
	radial_save(&machine->radial, buf);
}

static bool labels_are_valid(const struct machine *machine)
{
	for (size_t i = 0; i < machine->present; i++) {
		if (machine->classes ? machine->label[i] >= machine->classes : machine->label[i])
			return false;
		if (i && machine->label[i] <= machine->label[i - 1])
			return false;
	}
	return true;
}

static void load_pairs(struct machine *machine, struct blob *blob, size_t pairs)
{
	machine->offset = xcalloc(pairs, sizeof(double));
	machine->sigmoid = xcalloc(pairs, sizeof(*machine->sigmoid));
	blob_take_reals(blob, machine->offset, pairs);
	for (size_t i = 0; i < pairs; i++) {
		machine->sigmoid[i].a = blob_take_real(blob);
		machine->sigmoid[i].b = blob_take_real(blob);
		blob_expect(blob, isfinite(machine->offset[i]) && isfinite(machine->sigmoid[i].a) &&
					  isfinite(machine->sigmoid[i].b));
	}
}

static int svm_load(void **model, struct blob *blob, size_t width, size_t classes, struct err *err)
{
	struct machine *machine = xcalloc(1, sizeof(*machine));
	size_t most = classes ? classes : 1;

	machine->width = width;
	machine->classes = classes;
	machine->present = blob_take_u32(blob);
	if (blob_expect(blob, classes <= LEARNER_CLASSES_MAX && machine->present >= 1 &&
				      machine->present <= most))
		blob_take_u32s(blob, machine->label, machine->present);
	if (blob_ok(blob) && blob_expect(blob, labels_are_valid(machine)) &&
	    !(classes && machine->present == 1)) {
		load_pairs(machine, blob, classes ? pair_count(machine->present) : 1);
		radial_load(&machine->radial, blob, width, machine->present,
			    classes ? machine->present - 1 : 1);
	}
	if (!blob_ok(blob)) {
		svm_free_model(machine);
		return err_set(err, EBADMSG, "svm: the model is damaged");
	}
	*model = machine;
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "cost",
	  .help = "cost of a row on the wrong side of its margin",
	  .fallback = 1,
	  .least = 1e-6,
	  .most = 1e9,
	  .low = 0x1p-5,
	  .high = 0x1p10,
	  .logarithmic = true },
	{ .name = "gamma",
	  .help = "the kernel is exp(-gamma distance^2); 0: 1 / (inputs x variance of all values)",
	  .fallback = 0,
	  .least = 0,
	  .most = 1e9,
	  .low = 0x1p-6,
	  .high = 0x1p2,
	  .logarithmic = true },
	{ .name = "epsilon",
	  .help = "regression: errors up to this value cost nothing",
	  .fallback = 0.1,
	  .least = 0,
	  .most = 1e9,
	  .low = 0.1,
	  .high = 0.1 },
	{ .name = "tolerance",
	  .help = "tolerance of the optimality at which training stops",
	  .fallback = 1e-3,
	  .least = 1e-12,
	  .most = 1,
	  .low = 1e-3,
	  .high = 1e-3 },
	{ .name = "cache",
	  .help = "MiB of kernel values that are cached during training",
	  .fallback = 200,
	  .least = 1,
	  .most = 1 << 20,
	  .low = 200,
	  .high = 200 },
	{ .name = "folds",
	  .help = "classes: folds to calibrate probabilities; 0: uncalibrated",
	  .fallback = 5,
	  .least = 0,
	  .most = 50,
	  .low = 5,
	  .high = 5,
	  .whole = true },
	{ 0 },
};

const struct learner_ops learner_svm = {
	.name = "svm",
	.help = "support vector machine, radial kernel (libsvm); training needs twice the size of "
		"the rows, "
		"200 bytes per row and thread, and the cache",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "center,scale",
	.settings = settings,
	.fit = svm_fit,
	.predict = svm_predict_row,
	.describe = svm_describe,
	.save = svm_save,
	.load = svm_load,
	.free = svm_free_model,
};
