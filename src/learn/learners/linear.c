/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linear regression by orthogonal factorization instead of normal equations, which would lose half
 * of the digits. The table [1 X y] is folded block by block into one triangle by Householder
 * reflections (TSQR). The triangle holds all information for least squares: memory does not grow
 * with the rows, and updates are exact. Its first row holds the means; below it is the triangle of
 * the centered inputs, so that the ridge penalty does not affect the intercept.
 *
 * Ridge regression folds sqrt(ridge) times the unit matrix into a copy. That triangle is solved by
 * QR with column pivoting. Its columns are first scaled to equal length, so that the units of
 * inputs do not matter. Inputs that depend on others (or are constant) lower the rank: a second QR
 * from the other side then gives the shortest solution, like scikit-learn's SVD on scaled inputs. A
 * constant gets 0, and equal columns get equal coefficients.
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
#include "learn/math/vector.h"

extern const struct learner_ops learner_linear;

/*
 * A pivot below this share of the largest, or a centered column below this share of its length, is
 * rounding error.
 */
#define RANK_TOLERANCE 1e-12

/* A column below this is zero: a smaller one would overflow where it is scaled. */
#define NOTHING 1e-290

/* Size of a block of rows: large enough to be fast, and no larger than the second-level cache. */
enum { BLOCK_BYTES = 128 << 10 };

struct linear {
	size_t width, rank;
	double rows, ridge;
	double *triangle; /* (width + 2)^2, column-major: R of [1 X y] over all rows */
	double *root;  /* width x rank, column-major: W with W W' = (X'X + ridge)^+, X centered */
	double *slope; /* width */
	double intercept, deviation;
};

/*
 * Makes the reflection that turns (head, tail) into (beta, 0): tail is replaced by the vector whose
 * head is 1, *head by beta. Returns tau; 0: nothing to do.
 */
static double make_reflection(double *head, double *tail, size_t n)
{
	double largest = 0, sum = 0, beta, factor;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(tail[i]));
	/* Of a dependent column, each block leaves rounding errors of the previous ones. */
	if (!(largest > NOTHING)) {
		memset(tail, 0, n * sizeof(*tail));
		return 0;
	}
	largest = fmax(largest, fabs(*head));
	for (size_t i = 0; i < n; i++)
		sum += tail[i] / largest * (tail[i] / largest);
	beta = -copysign(largest * sqrt(sum + *head / largest * (*head / largest)), *head);
	factor = 1 / (*head - beta);
	for (size_t i = 0; i < n; i++)
		tail[i] *= factor;
	sum = (beta - *head) / beta;
	*head = beta;
	return sum;
}

static void apply_reflection(double tau, const double *tail, double *head, double *column, size_t n)
{
	double amount = tau * (*head + vector_dot(tail, column, n));

	*head -= amount;
	for (size_t i = 0; i < n; i++)
		column[i] -= amount * tail[i];
}

/*
 * Folds a block (rows x size, column-major, destroyed) into the triangle (size x size,
 * column-major) from column `from` on.
 */
static void fold_block(double *triangle, double *block, size_t rows, size_t size, size_t from)
{
	for (size_t j = from; j < size; j++) {
		double *tail = block + j * rows;
		double tau = make_reflection(&triangle[j * size + j], tail, rows);

		for (size_t k = j + 1; tau && k < size; k++)
			apply_reflection(tau, tail, &triangle[k * size + j], block + k * rows,
					 rows);
	}
}

static void fold_rows(double *triangle, const struct samples *samples)
{
	size_t width = samples->width, size = width + 2;
	size_t most = BLOCK_BYTES / (size * sizeof(double)) + 1;
	AUTO_FREE double *block = xmalloc(most * size * sizeof(*block));

	for (size_t at = 0; at < samples->rows; at += most) {
		size_t rows = samples->rows - at < most ? samples->rows - at : most;

		for (size_t i = 0; i < rows; i++) {
			const double *row = samples->x + (at + i) * width;

			block[i] = 1;
			for (size_t j = 0; j < width; j++)
				block[(j + 1) * rows + i] = row[j];
			block[(width + 1) * rows + i] = samples->y[at + i];
		}
		fold_block(triangle, block, rows, size, 0);
	}
}

/* Adds sqrt(ridge) I below the centered inputs, a few rows at a time. */
static void fold_ridge(double *triangle, size_t width, double ridge)
{
	size_t size = width + 2, most = BLOCK_BYTES / (size * sizeof(double)) + 1;
	AUTO_FREE double *block = xmalloc(most * size * sizeof(*block));

	for (size_t at = 0; ridge > 0 && at < width; at += most) {
		size_t rows = width - at < most ? width - at : most;

		memset(block, 0, rows * size * sizeof(*block));
		for (size_t i = 0; i < rows; i++)
			block[(at + i + 1) * rows + i] = sqrt(ridge);
		fold_block(triangle, block, rows, size, 1);
	}
}

/* A factored matrix: rows x columns, column-major, with reflections below the diagonal. */
struct factors {
	double *a, *tau;
	size_t *pivot;
	size_t rows, columns, rank;
	double tolerance; /* a pivot below this share of the first is rounding error */
};

static void swap_columns(struct factors *f, size_t i, size_t j)
{
	size_t kept = f->pivot[i];

	if (i == j)
		return;
	for (size_t k = 0; k < f->rows; k++) {
		double value = f->a[i * f->rows + k];

		f->a[i * f->rows + k] = f->a[j * f->rows + k];
		f->a[j * f->rows + k] = value;
	}
	f->pivot[i] = f->pivot[j];
	f->pivot[j] = kept;
}

/* QR with the longest remaining column first; the rank ends where only rounding errors remain. */
static void factorize(struct factors *f, double *right)
{
	size_t most = f->rows < f->columns ? f->rows : f->columns;
	double first = 0;

	for (size_t j = 0; j < f->columns; j++)
		f->pivot[j] = j;
	for (f->rank = 0; f->rank < most; f->rank++) {
		size_t r = f->rank, n = f->rows - r - 1, longest = r;
		double length = -1, *column;

		/* Lengths are recomputed instead of updated, because these matrices are small. */
		for (size_t j = r; j < f->columns; j++) {
			double square =
				vector_dot(f->a + j * f->rows + r, f->a + j * f->rows + r, n + 1);

			if (square > length) {
				length = square;
				longest = j;
			}
		}
		length = sqrt(fmax(length, 0));
		first = r ? first : length;
		if (!(length > first * f->tolerance))
			break;
		swap_columns(f, r, longest);
		column = f->a + r * f->rows + r;
		f->tau[r] = make_reflection(column, column + 1, n);
		for (size_t j = r + 1; j < f->columns; j++)
			apply_reflection(f->tau[r], column + 1, f->a + j * f->rows + r,
					 f->a + j * f->rows + r + 1, n);
		if (right)
			apply_reflection(f->tau[r], column + 1, right + r, right + r + 1, n);
	}
}

static void factors_init(struct factors *f, size_t rows, size_t columns)
{
	*f = (struct factors){ .rows = rows, .columns = columns };
	f->a = xcalloc(rows * columns + 1, sizeof(double));
	f->tau = xcalloc(columns + 1, sizeof(double));
	f->pivot = xcalloc(columns + 1, sizeof(size_t));
}

static void factors_release(struct factors *f)
{
	free(f->a);
	free(f->tau);
	free(f->pivot);
}

/*
 * Row k of root': x with L' x = e_k, L = Q S P' (the factors `other`), in the row order of `other`.
 * S' z = P' e_k, x = Q z.
 */
static void compute_root_column(const struct factors *other, size_t k, double *x)
{
	size_t rows = other->rows, rank = other->columns;

	memset(x, 0, rows * sizeof(*x));
	for (size_t i = 0; i < rank; i++) {
		const double *column = other->a + i * rows;
		double sum = other->pivot[i] == k ? 1 : 0;

		for (size_t m = 0; m < i; m++)
			sum -= column[m] * x[m];
		x[i] = sum / column[i];
	}
	for (size_t i = rank; i-- > 0;)
		apply_reflection(other->tau[i], other->a + i * rows + i + 1, x + i, x + i + 1,
				 rows - i - 1);
}

/*
 * Computes root and slope from the pivoted factors f of the scaled inputs and q = Q'y: with [R11
 * R12] = L' the shortest solution is W q, W = P L'^+.
 */
static void linear_solve(struct linear *linear, const struct factors *f, const double *scale,
			 const double *q)
{
	size_t width = linear->width, rank = f->rank;
	AUTO_FREE double *x = xcalloc(width + 1, sizeof(*x));
	struct factors other;

	factors_init(&other, width, rank);
	for (size_t i = 0; i < rank; i++) {
		for (size_t j = i; j < width; j++)
			other.a[i * width + j] = f->a[j * width + i];
	}
	factorize(&other, NULL);
	linear->rank = other.rank < rank ? other.rank : rank;
	free(linear->root);
	linear->root = xcalloc(width * rank + 1, sizeof(double));
	memset(linear->slope, 0, width * sizeof(double));
	for (size_t k = 0; linear->rank == rank && k < rank; k++) {
		compute_root_column(&other, k, x);
		for (size_t j = 0; j < width; j++) {
			size_t input = f->pivot[j];

			linear->root[k * width + input] = x[j] * scale[input];
			linear->slope[input] += x[j] * scale[input] * q[k];
		}
	}
	factors_release(&other);
}

/* |y - X slope|^2 of the rows, without the penalty, from the triangle without ridge. */
static double residual_squares(const struct linear *linear)
{
	size_t width = linear->width, size = width + 2;
	const double *t = linear->triangle, *y = t + (width + 1) * size;
	double sum = y[width + 1] * y[width + 1];

	for (size_t i = 0; i < width; i++) {
		double left = y[i + 1];

		for (size_t j = i; j < width; j++)
			left -= t[(j + 1) * size + i + 1] * linear->slope[j];
		sum += left * left;
	}
	return sum;
}

static void linear_finish(struct linear *linear, const double *ridged, const struct factors *f,
			  const double *scale, const double *q)
{
	size_t size = linear->width + 2;
	double freedom;

	linear_solve(linear, f, scale, q);
	linear->intercept = ridged[(linear->width + 1) * size];
	for (size_t j = 0; j < linear->width; j++)
		linear->intercept -= ridged[(j + 1) * size] * linear->slope[j];
	linear->intercept /= ridged[0];
	freedom = fmax(linear->rows - 1 - (double)linear->rank, 1);
	linear->deviation = sqrt(residual_squares(linear) / freedom);
}

/* Derives everything else from the triangle. */
static void linear_derive(struct linear *linear)
{
	size_t width = linear->width, size = width + 2;
	AUTO_FREE double *ridged = xmalloc(size * size * sizeof(*ridged));
	AUTO_FREE double *scale = xmalloc(width * sizeof(*scale));
	AUTO_FREE double *q = xmalloc(width * sizeof(*q));
	struct factors f;

	memcpy(ridged, linear->triangle, size * size * sizeof(*ridged));
	fold_ridge(ridged, width, linear->ridge);
	factors_init(&f, width, width);
	f.tolerance = RANK_TOLERANCE;
	for (size_t j = 0; j < width; j++) {
		const double *column = ridged + (j + 1) * size;
		double length = sqrt(vector_dot(column + 1, column + 1, j + 1));

		/* Only rounding errors remain of a centered constant. */
		scale[j] = length > RANK_TOLERANCE * hypot(length, column[0]) ? 1 / length : 0;
		for (size_t i = 0; i <= j; i++)
			f.a[j * width + i] = column[i + 1] * scale[j];
		q[j] = ridged[(width + 1) * size + j + 1];
	}
	factorize(&f, q);
	linear_finish(linear, ridged, &f, scale, q);
	factors_release(&f);
}

static struct linear *linear_new(size_t width, double ridge)
{
	struct linear *linear = xcalloc(1, sizeof(*linear));

	linear->width = width;
	linear->ridge = ridge;
	linear->triangle = xcalloc((width + 2) * (width + 2), sizeof(double));
	linear->slope = xcalloc(width, sizeof(double));
	return linear;
}

static void linear_free(void *model)
{
	struct linear *linear = model;

	if (!linear)
		return;
	free(linear->triangle);
	free(linear->root);
	free(linear->slope);
	free(linear);
}

static int linear_fit(void **model, const struct samples *samples, const double *settings,
		      const struct effort *effort, struct err *err)
{
	struct linear *linear;

	(void)effort;
	if (!samples->rows)
		return err_set(err, ENODATA, "linear: no training rows");
	linear = linear_new(samples->width, learner_value(&learner_linear, settings, "ridge"));
	linear->rows = (double)samples->rows;
	fold_rows(linear->triangle, samples);
	linear_derive(linear);
	*model = linear;
	return 0;
}

static int linear_refresh(void *model, const struct samples *more, const struct effort *effort,
			  struct err *err)
{
	struct linear *linear = model;

	(void)effort;
	(void)err;
	linear->rows += (double)more->rows;
	fold_rows(linear->triangle, more);
	linear_derive(linear);
	return 0;
}

static void linear_predict(const void *model, const double *row, double *out)
{
	const struct linear *linear = model;

	out[0] = linear->intercept + vector_dot(row, linear->slope, linear->width);
}

/* The residual deviation, larger for a row far from the training rows (leverage). */
static double linear_spread(const void *model, const double *row)
{
	const struct linear *linear = model;
	size_t width = linear->width, size = width + 2;
	double leverage = 1 / linear->rows;

	for (size_t k = 0; k < linear->rank; k++) {
		double sum = 0;

		for (size_t j = 0; j < width; j++) {
			double mean = linear->triangle[(j + 1) * size] / linear->triangle[0];

			sum += (row[j] - mean) * linear->root[k * width + j];
		}
		leverage += sum * sum;
	}
	return linear->deviation * sqrt(1 + leverage);
}

/* Coefficients times the deviations of their inputs. */
static void linear_importance(const void *model, double *share)
{
	const struct linear *linear = model;
	size_t size = linear->width + 2;
	double sum = 0;

	for (size_t j = 0; j < linear->width; j++) {
		const double *column = linear->triangle + (j + 1) * size + 1;

		share[j] = fabs(linear->slope[j]) * sqrt(vector_dot(column, column, j + 1));
		sum += share[j];
	}
	for (size_t j = 0; j < linear->width; j++)
		share[j] = sum > 0 && isfinite(sum) ? share[j] / sum : 0;
}

static void linear_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct linear *linear = model;

	buf_printf(out, "%.6g", linear->intercept);
	for (size_t j = 0; j < linear->width; j++) {
		if (linear->slope[j] != 0)
			buf_printf(out, " %c %.6g %s", linear->slope[j] < 0 ? '-' : '+',
				   fabs(linear->slope[j]), names[j]);
	}
	buf_printf(out, "\n%.0f rows, rank %zu of %zu, residual deviation %.4g\n", linear->rows,
		   linear->rank, linear->width, linear->deviation);
}

static void linear_save(const void *model, struct buf *buf)
{
	const struct linear *linear = model;
	size_t size = linear->width + 2;

	blob_put_u64(buf, linear->rank);
	blob_put_real(buf, linear->rows);
	blob_put_real(buf, linear->ridge);
	blob_put_real(buf, linear->intercept);
	blob_put_real(buf, linear->deviation);
	blob_put_reals(buf, linear->slope, linear->width);
	blob_put_reals(buf, linear->root, linear->width * linear->rank);
	for (size_t j = 0; j < size; j++)
		blob_put_reals(buf, linear->triangle + j * size, j + 1);
}

static bool linear_valid(const struct linear *linear)
{
	size_t size = linear->width + 2;

	return linear->rows >= 1 && linear->rows < 0x1p53 && linear->ridge >= 0 &&
	       isfinite(linear->ridge) && isfinite(linear->intercept) && linear->deviation >= 0 &&
	       isfinite(linear->deviation) && linear->triangle[0] != 0 &&
	       vector_all_finite(linear->slope, linear->width) &&
	       vector_all_finite(linear->root, linear->width * linear->rank) &&
	       vector_all_finite(linear->triangle, size * size);
}

static int linear_load(void **model, struct blob *blob, size_t width, size_t classes,
		       struct err *err)
{
	size_t rank = blob_take_u64(blob), size = width + 2, left;
	struct linear *linear;

	left = (size_t)(blob->end - blob->at) / sizeof(double);
	/* Check that half of the triangle is present before allocating all of it. */
	if (!blob_expect(blob, !classes && rank <= width && left / (size + 1) >= size / 2))
		return err_set(err, EBADMSG, "linear: the model is damaged");
	linear = linear_new(width, 0);
	linear->rank = rank;
	linear->root = xcalloc(width * rank + 1, sizeof(double));
	linear->rows = blob_take_real(blob);
	linear->ridge = blob_take_real(blob);
	linear->intercept = blob_take_real(blob);
	linear->deviation = blob_take_real(blob);
	blob_take_reals(blob, linear->slope, width);
	blob_take_reals(blob, linear->root, width * rank);
	for (size_t j = 0; j < size; j++)
		blob_take_reals(blob, linear->triangle + j * size, j + 1);
	if (!blob_ok(blob) || !blob_expect(blob, linear_valid(linear))) {
		linear_free(linear);
		return err_set(err, EBADMSG, "linear: the model is damaged");
	}
	*model = linear;
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "ridge",
	  .help = "penalty on the squared coefficients without the intercept; 0: none",
	  .fallback = 0,
	  .least = 0,
	  .most = 1e12,
	  .low = 1e-4,
	  .high = 1e3,
	  .logarithmic = true },
	{ 0 },
};

const struct learner_ops learner_linear = {
	.name = "linear",
	.help = "least squares by QR with optional ridge; updates weigh new rows like old ones, "
		"exactly",
	.tasks = LEARNER_REGRESSES,
	.recipe = "center,scale",
	.settings = settings,
	.fit = linear_fit,
	.predict = linear_predict,
	.spread = linear_spread,
	.importance = linear_importance,
	.refresh = linear_refresh,
	.describe = linear_describe,
	.save = linear_save,
	.load = linear_load,
	.free = linear_free,
};
