/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A = QR, block by block: the triangle R of the rows so far is stacked on top of the next rows. R
 * has the singular values and the right singular vectors of A. The covariance matrix would need
 * less work, but its condition number is the square, so small components would drown in rounding
 * errors.
 */
#include "learn/math/components.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/library.h"
#include "learn/math/moments.h"

/* A column-major matrix with room for `room` rows, of which `filled` are in use. */
struct stack {
	const struct lapack *lapack;
	double *a, *tau, *work;
	int room, filled, width, work_count;
};

static void stack_init(struct stack *stack, const struct lapack *lapack, size_t rows, size_t width)
{
	size_t room = width * 2 > 256 ? width * 2 : 256;

	*stack = (struct stack){ .lapack = lapack, .width = (int)width };
	stack->room = (int)(room < rows ? room : rows);
	/*
	 * Enough for all routines to work on blocks of columns; they need at least 5 per row or
	 * column.
	 */
	stack->work_count = 32 * (stack->room > stack->width ? stack->room : stack->width) + 64;
	stack->a = xcalloc((size_t)stack->room * width, sizeof(double));
	stack->tau = xcalloc(width, sizeof(double));
	stack->work = xcalloc((size_t)stack->work_count, sizeof(double));
}

static void stack_release(struct stack *stack)
{
	free(stack->a);
	free(stack->tau);
	free(stack->work);
}

/* Replaces the rows by their triangle if that is smaller. */
static int stack_reduce(struct stack *stack)
{
	int info = 0;

	if (stack->filled <= stack->width)
		return 0;
	stack->lapack->dgeqrf(&stack->filled, &stack->width, stack->a, &stack->room, stack->tau,
			      stack->work, &stack->work_count, &info);
	stack->filled = stack->width;
	for (int j = 0; j < stack->width; j++) {
		for (int i = j + 1; i < stack->width; i++)
			stack->a[(size_t)j * (size_t)stack->room + (size_t)i] = 0;
	}
	return info;
}

static int stack_push(struct stack *stack, const double *row, const double *mean)
{
	int r = stack->filled == stack->room ? stack_reduce(stack) : 0;

	for (int j = 0; j < stack->width; j++)
		stack->a[(size_t)j * (size_t)stack->room + (size_t)stack->filled] =
			row[j] - mean[j];
	stack->filled++;
	return r;
}

/* Computes the singular values; the right singular vectors become the rows of a. */
static int stack_decompose(struct stack *stack, double *singular)
{
	int info = stack_reduce(stack), one = 1;

	if (info)
		return info;
	stack->lapack->dgesvd("N", "O", &stack->filled, &stack->width, stack->a, &stack->room,
			      singular, NULL, &one, NULL, &one, stack->work, &stack->work_count,
			      &info);
	return info;
}

static size_t choose_count(const double *singular, size_t count, size_t rows, size_t width,
			   double wanted)
{
	double least = singular[0] * DBL_EPSILON * (double)(rows > width ? rows : width);
	double total = 0, sum = 0;
	size_t rank = 1;

	while (rank < count && singular[rank] > least)
		rank++;
	if (wanted == 0)
		return rank;
	if (wanted >= 1)
		return wanted < (double)rank ? (size_t)wanted : rank;
	for (size_t i = 0; i < count; i++)
		total += singular[i] * singular[i];
	for (size_t i = 0; i < rank; i++) {
		sum += singular[i] * singular[i];
		if (sum > wanted * total)
			return i + 1;
	}
	return rank;
}

/* The convention of scikit-learn's svd_flip(). */
static void fix_signs(struct components *components, double *x, size_t rows)
{
	size_t count = components->count, width = components->width;

	for (size_t c = 0; c < count; c++) {
		double farthest = 0;

		for (size_t i = 0; i < rows; i++) {
			if (fabs(x[i * count + c]) > fabs(farthest))
				farthest = x[i * count + c];
		}
		for (size_t i = 0; farthest < 0 && i < rows; i++)
			x[i * count + c] = -x[i * count + c];
		for (size_t j = 0; farthest < 0 && j < width; j++)
			components->loading[c * width + j] = -components->loading[c * width + j];
	}
}

static void transform_rows(struct components *components, double *x, size_t rows)
{
	size_t width = components->width, count = components->count;
	AUTO_FREE double *row = xcalloc(width, sizeof(*row));
	AUTO_FREE double *out = xcalloc(count, sizeof(*out));

	for (size_t i = 0; i < rows; i++) {
		memcpy(row, x + i * width, width * sizeof(*row));
		components_apply(components, row, out);
		memcpy(x + i * count, out, count * sizeof(*out));
	}
	fix_signs(components, x, rows);
}

static void copy_loading(struct components *components, const struct stack *stack)
{
	components->loading = xcalloc(components->count, components->width * sizeof(double));
	for (size_t c = 0; c < components->count; c++) {
		for (size_t j = 0; j < components->width; j++)
			components->loading[c * components->width + j] =
				stack->a[j * (size_t)stack->room + c];
	}
}

int components_fit(struct components *components, double wanted, double *x, size_t rows,
		   size_t width, struct err *err)
{
	const struct lapack *lapack = library_lapack(err);
	struct components made = { .width = width };
	AUTO_FREE double *singular = xcalloc(width, sizeof(*singular));
	struct stack stack;
	int r = 0;

	if (!lapack)
		return -ENOENT;
	if (wanted > (double)width)
		return err_set(err, EINVAL, "pca=%g exceeds the number of inputs (%zu)", wanted,
			       width);
	made.mean = xcalloc(width, sizeof(*made.mean));
	moments_mean(x, rows, width, made.mean);
	stack_init(&stack, lapack, rows, width);
	for (size_t i = 0; i < rows && !r; i++)
		r = stack_push(&stack, x + i * width, made.mean);
	r = r ? r : stack_decompose(&stack, singular);
	if (!r) {
		made.count = choose_count(singular, (size_t)stack.filled, rows, width, wanted);
		copy_loading(&made, &stack);
	}
	stack_release(&stack);
	if (r) {
		components_release(&made);
		return err_set(err, EDOM,
			       "pca: the singular value decomposition failed (LAPACK info %d)", r);
	}
	transform_rows(&made, x, rows);
	*components = made;
	return 0;
}

void components_release(struct components *components)
{
	free(components->mean);
	free(components->loading);
	*components = (struct components){ 0 };
}

void components_apply(const struct components *components, double *in, double *out)
{
	size_t width = components->width;

	for (size_t j = 0; j < width; j++)
		in[j] -= components->mean[j];
	for (size_t c = 0; c < components->count; c++) {
		const double *loading = components->loading + c * width;
		double a = 0, b = 0;
		size_t j = 0;

		/* Two independent sums hide the latency of the addition. */
		for (; j + 2 <= width; j += 2) {
			a += loading[j] * in[j];
			b += loading[j + 1] * in[j + 1];
		}
		out[c] = a + b + (j < width ? loading[j] * in[j] : 0);
	}
}

void components_save(const struct components *components, struct buf *buf)
{
	blob_put_u64(buf, components->count);
	blob_put_reals(buf, components->mean, components->width);
	blob_put_reals(buf, components->loading, components->count * components->width);
}

void components_load(struct components *components, size_t width, struct blob *blob)
{
	size_t count = blob_take_count(blob, width * sizeof(double));

	if (!blob_expect(blob, count >= 1 && count <= width))
		return;
	*components = (struct components){ .width = width, .count = count };
	components->mean = xcalloc(width, sizeof(double));
	components->loading = xcalloc(count * width, sizeof(double));
	blob_take_finite(blob, components->mean, width);
	blob_take_finite(blob, components->loading, count * width);
}
