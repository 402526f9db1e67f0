/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logistic regression with a ridge penalty: cost * (sum of log losses) + |weights|^2 / 2, with a
 * free intercept, as in scikit-learn. Two classes have one vector of coefficients, more classes
 * have one each (multinomial).
 *
 * It is fitted by Newton's method with backtracking. Up to DENSE_MOST coefficients the second
 * derivatives form a matrix that is solved by Cholesky factorization; beyond, conjugate gradients
 * need only its products.
 *
 * Updates use Laplace's approximation: the old rows are summarized by a quadratic function around
 * the old coefficients (its matrix; beyond DENSE_MOST its diagonal), which replaces the penalty.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/math/cholesky.h"
#include "learn/math/softmax.h"
#include "learn/math/vector.h"

extern const struct learner_ops learner_logistic;

enum { DENSE_MOST = 256, ROUNDS_MOST = 200 };

struct logistic {
	size_t width, classes, present;	     /* present: number of classes that have rows */
	uint32_t label[LEARNER_CLASSES_MAX]; /* the classes that have rows, ascending */
	double cost;
	double *coefficient; /* [vector][width + 1]; the last number is the intercept */
	double *curvature;   /* of all learned rows: lower triangle by rows, or the diagonal */
	double *deviation;   /* deviation of each input */
};

static size_t vector_count(const struct logistic *l)
{
	return l->present > 2 ? l->present : l->present - 1;
}

static size_t coefficient_count(const struct logistic *l)
{
	return vector_count(l) * (l->width + 1);
}

static bool is_dense(const struct logistic *l)
{
	return coefficient_count(l) <= DENSE_MOST;
}

static size_t curvature_size(const struct logistic *l)
{
	size_t size = coefficient_count(l);

	return is_dense(l) ? size * (size + 1) / 2 : size;
}

/* Computes the probabilities of the present classes for given coefficients. */
static void class_chances(const struct logistic *l, const double *coefficient, const double *row,
			  double *out)
{
	size_t stride = l->width + 1;

	out[0] = 0;
	for (size_t k = 0; k < vector_count(l); k++, coefficient += stride)
		out[l->present > 2 ? k : 1] =
			coefficient[l->width] + vector_dot(row, coefficient, l->width);
	softmax(out, l->present);
}

static void logistic_predict(const void *model, const double *row, double *out)
{
	const struct logistic *l = model;
	double found[LEARNER_CLASSES_MAX];

	memset(out, 0, l->classes * sizeof(*out));
	class_chances(l, l->coefficient, row, found);
	for (size_t i = 0; i < l->present; i++)
		out[l->label[i]] = found[i];
}

struct problem {
	const struct logistic *l;
	const struct samples *samples;
	const double *center; /* center of the quadratic function; NULL: the penalty is used */
	const double *prior;  /* its matrix, like curvature in struct logistic */
	uint32_t place[LEARNER_CLASSES_MAX]; /* index of a class among the present ones */
	size_t size;
	bool dense;
};

/* The loss and its derivatives at a point. */
struct state {
	double *at, *gradient, *curvature;
	double loss;
};

/* Adds amount * x x' with x = (row, 1) to block (k, m) of the lower triangle. */
static void add_outer_product(const struct problem *p, double *curvature, const double *row,
			      double amount, size_t k, size_t m)
{
	size_t width = p->l->width, stride = width + 1;

	for (size_t i = 0; i <= width; i++) {
		size_t line = k * stride + i, from = line * (line + 1) / 2 + m * stride;
		double factor = amount * (i < width ? row[i] : 1);
		double *restrict out = curvature + from;
		/* A block on the diagonal has only its lower half. */
		size_t most = k == m ? i + 1 : stride, n = most < width ? most : width;

		for (size_t j = 0; j < n; j++)
			out[j] += factor * row[j];
		if (most > width)
			out[width] += factor;
	}
}

static void add_curvature(const struct problem *p, double *curvature, const double *row,
			  const double *chance)
{
	size_t width = p->l->width, vectors = vector_count(p->l), skip = p->l->present > 2 ? 0 : 1;
	double cost = p->l->cost;

	for (size_t k = 0; k < vectors; k++) {
		double own = cost * chance[k + skip] * (1 - chance[k + skip]);

		if (!p->dense) {
			for (size_t j = 0; j < width; j++)
				curvature[k * (width + 1) + j] += own * row[j] * row[j];
			curvature[k * (width + 1) + width] += own;
			continue;
		}
		for (size_t m = 0; m < k; m++)
			add_outer_product(p, curvature, row, -cost * chance[k] * chance[m], k, m);
		add_outer_product(p, curvature, row, own, k, k);
	}
}

static void add_row_loss(const struct problem *p, struct state *s, size_t i)
{
	size_t width = p->l->width, skip = p->l->present > 2 ? 0 : 1;
	const double *row = p->samples->x + i * width;
	size_t own = p->place[(size_t)p->samples->y[i]];
	double chance[LEARNER_CLASSES_MAX];

	class_chances(p->l, s->at, row, chance);
	s->loss -= p->l->cost * log(fmax(chance[own], 1e-300));
	for (size_t k = 0; k < vector_count(p->l); k++) {
		double error = p->l->cost * (chance[k + skip] - (own == k + skip));
		double *restrict gradient = s->gradient + k * (width + 1);

		for (size_t j = 0; j < width; j++)
			gradient[j] += error * row[j];
		gradient[width] += error;
	}
	add_curvature(p, s->curvature, row, chance);
}

/* out = M v, where M is that of the prior or any curvature (dense: lower triangle). */
static void matrix_times(const double *matrix, const double *v, size_t size, bool dense,
			 double *out)
{
	for (size_t i = 0; i < size; i++)
		out[i] = dense ? 0 : matrix[i] * v[i];
	for (size_t i = 0; dense && i < size; i++) {
		const double *line = matrix + i * (i + 1) / 2;

		for (size_t j = 0; j < i; j++)
			out[j] += line[j] * v[i];
		out[i] += vector_dot(line, v, i + 1);
	}
}

/* out = matrix of the penalty, or of the summary of old rows, times v. */
static void prior_times(const struct problem *p, const double *v, double *out)
{
	size_t stride = p->l->width + 1;

	if (p->prior) {
		matrix_times(p->prior, v, p->size, p->dense, out);
		return;
	}
	for (size_t i = 0; i < p->size; i++)
		out[i] = (i + 1) % stride ? v[i] : 0;
}

static void add_prior(const struct problem *p, struct state *s)
{
	AUTO_FREE double *off = xmalloc(p->size * sizeof(*off));
	AUTO_FREE double *slope = xmalloc(p->size * sizeof(*slope));
	size_t stride = p->l->width + 1, count = curvature_size(p->l);

	for (size_t i = 0; i < p->size; i++)
		off[i] = s->at[i] - (p->center ? p->center[i] : 0);
	prior_times(p, off, slope);
	s->loss += vector_dot(off, slope, p->size) / 2;
	for (size_t i = 0; i < p->size; i++)
		s->gradient[i] += slope[i];
	for (size_t i = 0; p->prior && i < count; i++)
		s->curvature[i] += p->prior[i];
	for (size_t i = 0; !p->prior && i < p->size; i++) {
		if ((i + 1) % stride)
			s->curvature[p->dense ? i * (i + 1) / 2 + i : i] += 1;
	}
}

static void measure_state(const struct problem *p, struct state *s)
{
	s->loss = 0;
	memset(s->gradient, 0, p->size * sizeof(double));
	memset(s->curvature, 0, curvature_size(p->l) * sizeof(double));
	for (size_t i = 0; i < p->samples->rows; i++)
		add_row_loss(p, s, i);
	add_prior(p, s);
}

/*
 * The intercepts of several classes can all move together without any effect. A spring on their sum
 * holds them; the sum is 0 at the start and stays 0.
 */
static bool has_spring(const struct problem *p)
{
	return p->l->present > 2;
}

static void spring_times(const struct problem *p, const double *v, double *out)
{
	size_t stride = p->l->width + 1;
	double sum = 0;

	for (size_t i = stride - 1; has_spring(p) && i < p->size; i += stride)
		sum += v[i];
	for (size_t i = stride - 1; has_spring(p) && i < p->size; i += stride)
		out[i] += sum;
}

static void solve_dense(const struct problem *p, const struct state *s, double *step)
{
	size_t n = p->size, stride = p->l->width + 1;
	AUTO_FREE double *factor = xmalloc(n * n * sizeof(*factor));

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			factor[i * n + j] = s->curvature[j * (j + 1) / 2 + i];
	for (size_t i = stride - 1; has_spring(p) && i < n; i += stride) {
		for (size_t j = i; j < n; j += stride)
			factor[i * n + j] += 1;
	}
	for (size_t i = 0; i < n; i++)
		step[i] = -s->gradient[i];
	/* Pivots that rounding reduced to 0 are left out of the solution. */
	cholesky_factorize(factor, n);
	cholesky_solve_lower(factor, n, step);
	cholesky_solve_upper(factor, n, step);
}

/* out = second derivatives times v, computed row by row. */
static void curvature_times(const struct problem *p, const double *at, const double *v, double *out)
{
	size_t width = p->l->width, vectors = vector_count(p->l), skip = p->l->present > 2 ? 0 : 1;
	double chance[LEARNER_CLASSES_MAX], along[LEARNER_CLASSES_MAX];

	prior_times(p, v, out);
	spring_times(p, v, out);
	for (size_t i = 0; i < p->samples->rows; i++) {
		const double *row = p->samples->x + i * width;
		double mean = 0;

		class_chances(p->l, at, row, chance);
		for (size_t k = 0; k < vectors; k++) {
			const double *part = v + k * (width + 1);

			along[k] = part[width] + vector_dot(row, part, width);
			mean += chance[k + skip] * along[k];
		}
		for (size_t k = 0; k < vectors; k++) {
			double amount = p->l->cost * chance[k + skip] * (along[k] - mean);
			double *restrict to = out + k * (width + 1);

			for (size_t j = 0; j < width; j++)
				to[j] += amount * row[j];
			to[width] += amount;
		}
	}
}

/* Conjugate gradients, with each coefficient scaled by its own second derivative. */
static void solve_sparse(const struct problem *p, const struct state *s, double *step)
{
	size_t n = p->size;
	AUTO_FREE double *left = xmalloc(n * sizeof(*left)), *way = xmalloc(n * sizeof(*way));
	AUTO_FREE double *image = xmalloc(n * sizeof(*image)), *scale = xmalloc(n * sizeof(*scale));
	double now = 0, first, length, next;

	for (size_t i = 0; i < n; i++) {
		step[i] = 0;
		scale[i] = 1 / fmax(s->curvature[i], 1e-12);
		left[i] = -s->gradient[i];
		way[i] = scale[i] * left[i];
		now += left[i] * way[i];
	}
	first = now;
	for (size_t round = 0; round < n + 50 && now > 1e-12 * first; round++) {
		curvature_times(p, s->at, way, image);
		length = now / vector_dot(way, image, n);
		if (!isfinite(length))
			return;
		next = 0;
		for (size_t i = 0; i < n; i++) {
			step[i] += length * way[i];
			left[i] -= length * image[i];
			next += left[i] * left[i] * scale[i];
		}
		for (size_t i = 0; i < n; i++)
			way[i] = scale[i] * left[i] + next / now * way[i];
		now = next;
	}
}

static void state_init(struct state *s, const struct problem *p)
{
	s->at = xcalloc(p->size, sizeof(double));
	s->gradient = xcalloc(p->size, sizeof(double));
	s->curvature = xcalloc(curvature_size(p->l), sizeof(double));
}

/* Moves along the step as far as the loss decreases (Armijo). Returns false if it cannot move. */
static bool move_state(const struct problem *p, struct state *s, double *from, const double *step,
		       double slope)
{
	double loss = s->loss, share = 1;

	memcpy(from, s->at, p->size * sizeof(*from));
	for (int i = 0; i < 40; i++, share /= 2) {
		for (size_t j = 0; j < p->size; j++)
			s->at[j] = from[j] + share * step[j];
		measure_state(p, s);
		if (s->loss <= loss + 1e-4 * share * slope)
			return true;
	}
	memcpy(s->at, from, p->size * sizeof(*from));
	measure_state(p, s);
	return false;
}

/* Moves from s->at to the minimum. */
static void minimize_loss(const struct problem *p, struct state *s)
{
	AUTO_FREE double *step = xmalloc(p->size * sizeof(*step));
	AUTO_FREE double *from = xmalloc(p->size * sizeof(*from));

	measure_state(p, s);
	for (int round = 0; round < ROUNDS_MOST; round++) {
		double slope;

		if (p->dense)
			solve_dense(p, s, step);
		else
			solve_sparse(p, s, step);
		slope = vector_dot(s->gradient, step, p->size);
		/* A step can gain at most half of that. */
		if (!(slope < -1e-13 * (1 + fabs(s->loss))) || !move_state(p, s, from, step, slope))
			break;
	}
}

static void logistic_free(void *model)
{
	struct logistic *l = model;

	if (!l)
		return;
	free(l->coefficient);
	free(l->curvature);
	free(l->deviation);
	free(l);
}

static void find_labels(struct logistic *l, const struct samples *samples)
{
	bool seen[LEARNER_CLASSES_MAX] = { 0 };

	for (size_t i = 0; i < samples->rows; i++)
		seen[(size_t)samples->y[i]] = true;
	for (size_t c = 0; c < samples->classes; c++) {
		if (seen[c])
			l->label[l->present++] = (uint32_t)c;
	}
}

static void measure_deviation(struct logistic *l, const struct samples *samples)
{
	AUTO_FREE double *mean = xcalloc(l->width, sizeof(*mean));
	double rows = (double)samples->rows;

	for (size_t i = 0; i < samples->rows; i++) {
		for (size_t j = 0; j < l->width; j++)
			mean[j] += samples->x[i * l->width + j] / rows;
	}
	for (size_t i = 0; i < samples->rows; i++) {
		for (size_t j = 0; j < l->width; j++) {
			double off = samples->x[i * l->width + j] - mean[j];

			l->deviation[j] += off * off / rows;
		}
	}
	for (size_t j = 0; j < l->width; j++)
		l->deviation[j] = sqrt(l->deviation[j]);
}

static void problem_init(struct problem *p, const struct logistic *l, const struct samples *samples)
{
	*p = (struct problem){
		.l = l, .samples = samples, .size = coefficient_count(l), .dense = is_dense(l)
	};
	for (size_t c = 0; c < LEARNER_CLASSES_MAX; c++)
		p->place[c] = UINT32_MAX;
	for (size_t i = 0; i < l->present; i++)
		p->place[l->label[i]] = (uint32_t)i;
}

static void store_result(struct logistic *l, struct state *s)
{
	free(l->coefficient);
	free(l->curvature);
	l->coefficient = s->at;
	l->curvature = s->curvature;
	free(s->gradient);
}

static int logistic_fit(void **model, const struct samples *samples, const double *settings,
			const struct effort *effort, struct err *err)
{
	struct logistic *l;
	struct problem p;
	struct state s;

	(void)effort;
	if (!samples->rows)
		return err_set(err, ENODATA, "logistic: no training rows");
	l = xcalloc(1, sizeof(*l));
	l->width = samples->width;
	l->classes = samples->classes;
	l->cost = learner_value(&learner_logistic, settings, "cost");
	l->deviation = xcalloc(l->width, sizeof(double));
	find_labels(l, samples);
	measure_deviation(l, samples);
	problem_init(&p, l, samples);
	state_init(&s, &p);
	if (l->present > 1)
		minimize_loss(&p, &s);
	store_result(l, &s);
	*model = l;
	return 0;
}

static int logistic_refresh(void *model, const struct samples *more, const struct effort *effort,
			    struct err *err)
{
	struct logistic *l = model;
	struct problem p;
	struct state s;

	(void)effort;
	problem_init(&p, l, more);
	for (size_t i = 0; i < more->rows; i++) {
		if (p.place[(size_t)more->y[i]] == UINT32_MAX)
			return err_set(err, EINVAL,
				       "logistic: class number %.0f is new; fit the model again",
				       more->y[i]);
	}
	if (l->present < 2)
		return 0;
	p.center = l->coefficient;
	p.prior = l->curvature;
	state_init(&s, &p);
	memcpy(s.at, l->coefficient, p.size * sizeof(double));
	minimize_loss(&p, &s);
	store_result(l, &s);
	return 0;
}

static void logistic_importance(const void *model, double *share)
{
	const struct logistic *l = model;
	double sum = 0;

	for (size_t j = 0; j < l->width; j++) {
		share[j] = 0;
		for (size_t k = 0; k < vector_count(l); k++)
			share[j] += fabs(l->coefficient[k * (l->width + 1) + j]) * l->deviation[j];
		sum += share[j];
	}
	for (size_t j = 0; j < l->width; j++)
		share[j] = sum > 0 && isfinite(sum) ? share[j] / sum : 0;
}

static void logistic_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct logistic *l = model;

	if (l->present == 1)
		buf_printf(out, "always class %u: no other class occurred in training\n",
			   l->label[0]);
	for (size_t k = 0; k < vector_count(l); k++) {
		const double *coefficient = l->coefficient + k * (l->width + 1);

		buf_printf(out, "log-odds of class %u: %.6g", l->label[l->present > 2 ? k : 1],
			   coefficient[l->width]);
		for (size_t j = 0; j < l->width; j++)
			buf_printf(out, " %c %.6g %s", coefficient[j] < 0 ? '-' : '+',
				   fabs(coefficient[j]), names[j]);
		buf_putc(out, '\n');
	}
}

static void logistic_save(const void *model, struct buf *buf)
{
	const struct logistic *l = model;

	blob_put_u32(buf, (uint32_t)l->present);
	blob_put_u32s(buf, l->label, l->present);
	blob_put_real(buf, l->cost);
	blob_put_reals(buf, l->deviation, l->width);
	blob_put_reals(buf, l->coefficient, coefficient_count(l));
	blob_put_reals(buf, l->curvature, curvature_size(l));
}

static bool labels_are_valid(const struct logistic *l)
{
	for (size_t i = 0; i < l->present; i++) {
		if (l->label[i] >= l->classes || (i && l->label[i] <= l->label[i - 1]))
			return false;
	}
	return true;
}

static int logistic_load(void **model, struct blob *blob, size_t width, size_t classes,
			 struct err *err)
{
	struct logistic *l = xcalloc(1, sizeof(*l));

	l->width = width;
	l->classes = classes;
	l->present = blob_take_u32(blob);
	if (blob_expect(blob,
			classes <= LEARNER_CLASSES_MAX && l->present >= 1 && l->present <= classes))
		blob_take_u32s(blob, l->label, l->present);
	l->cost = blob_take_real(blob);
	if (blob_ok(blob) && blob_expect(blob, l->cost > 0 && isfinite(l->cost)) &&
	    blob_expect(blob, labels_are_valid(l)) &&
	    blob_expect(blob, (size_t)(blob->end - blob->at) / sizeof(double) >=
				      width + coefficient_count(l) + curvature_size(l))) {
		l->deviation = xcalloc(width, sizeof(double));
		l->coefficient = xcalloc(coefficient_count(l) + 1, sizeof(double));
		l->curvature = xcalloc(curvature_size(l) + 1, sizeof(double));
		blob_take_finite(blob, l->deviation, width);
		blob_take_finite(blob, l->coefficient, coefficient_count(l));
		blob_take_finite(blob, l->curvature, curvature_size(l));
	}
	if (!blob_ok(blob)) {
		logistic_free(l);
		return err_set(err, EBADMSG, "logistic: the model is damaged");
	}
	*model = l;
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "cost",
	  .help = "weight of the losses relative to the penalty on coefficients",
	  .fallback = 1,
	  .least = 1e-9,
	  .most = 1e9,
	  .low = 1e-4,
	  .high = 1e4,
	  .logarithmic = true },
	{ 0 },
};

const struct learner_ops learner_logistic = {
	.name = "logistic",
	.help = "logistic regression with ridge penalty; updates keep the curvature of old rows",
	.tasks = LEARNER_CLASSIFIES,
	.recipe = "center,scale",
	.settings = settings,
	.fit = logistic_fit,
	.predict = logistic_predict,
	.importance = logistic_importance,
	.refresh = logistic_refresh,
	.describe = logistic_describe,
	.save = logistic_save,
	.load = logistic_load,
	.free = logistic_free,
};
