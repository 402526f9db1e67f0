/* SPDX-License-Identifier: BSD-3-Clause
 *
 * k nearest neighbors (learn/math/nearest.h finds them): the mean of their numbers or the shares
 * of their classes.
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
#include "learn/math/nearest.h"

extern const struct learner_ops learner_neighbors;

enum { K_MOST = 256 };

struct neighbors {
	struct nearest nearest;
	size_t classes;
	size_t wanted, k; /* k: at most the number of rows */
	bool by_distance;
	double floor; /* minimum spread */
	double *y;    /* in the order of the rows */
};

/*
 * Computes the weights of the found rows, which sum to 1. By distance: 1/d; an exact match excludes
 * all others.
 */
static void compute_weights(const struct neighbors *n, const struct nearest_found *found,
			    double *weight)
{
	bool met = found[0].distance == 0;
	double sum = 0;

	for (size_t i = 0; i < n->k; i++) {
		weight[i] = 1;
		if (n->by_distance && met)
			weight[i] = found[i].distance == 0;
		else if (n->by_distance && isfinite(found[i].distance))
			weight[i] = 1 / sqrt(found[i].distance);
		sum += weight[i];
	}
	for (size_t i = 0; i < n->k; i++)
		weight[i] /= sum;
}

static void neighbors_predict(const void *model, const double *row, double *out)
{
	const struct neighbors *n = model;
	double weight[K_MOST];
	struct nearest_found found[K_MOST];

	nearest_find(&n->nearest, row, n->k, found);
	compute_weights(n, found, weight);
	memset(out, 0, (n->classes ? n->classes : 1) * sizeof(*out));
	for (size_t i = 0; i < n->k; i++) {
		double y = n->y[found[i].row];

		if (n->classes)
			out[(size_t)y] += weight[i];
		else
			out[0] += weight[i] * y;
	}
}

/* The deviation among the neighbors, never exactly 0. */
static double neighbors_spread(const void *model, const double *row)
{
	const struct neighbors *n = model;
	double mean = 0, square = 0;
	struct nearest_found found[K_MOST];

	nearest_find(&n->nearest, row, n->k, found);
	for (size_t i = 0; i < n->k; i++)
		mean += n->y[found[i].row] / (double)n->k;
	for (size_t i = 0; i < n->k; i++)
		square += (n->y[found[i].row] - mean) * (n->y[found[i].row] - mean);
	square = n->k > 1 ? sqrt(square / (double)(n->k - 1)) : 0;
	return square > n->floor ? square : n->floor;
}

static void neighbors_free(void *model)
{
	struct neighbors *n = model;

	if (!n)
		return;
	free(n->y);
	nearest_release(&n->nearest);
	free(n);
}

/* A thousandth of the deviation of the target, because repeated rows may agree by chance. */
static double minimum_spread(const double *y, size_t rows)
{
	double mean = 0, square = 0;

	for (size_t i = 0; i < rows; i++)
		mean += y[i] / (double)rows;
	for (size_t i = 0; i < rows; i++)
		square += (y[i] - mean) * (y[i] - mean);
	return 1e-3 * sqrt(square / (double)rows);
}

/* Takes ownership of y. */
static struct neighbors *neighbors_new(const double *x, double *y, size_t rows, size_t width,
				       size_t classes, size_t k, bool by_distance)
{
	struct neighbors *n = xcalloc(1, sizeof(*n));

	*n = (struct neighbors){ .classes = classes,
				 .wanted = k,
				 .k = k < rows ? k : rows,
				 .by_distance = by_distance,
				 .floor = classes ? 0 : minimum_spread(y, rows),
				 .y = y };
	nearest_init(&n->nearest, x, rows, width);
	return n;
}

static int neighbors_fit(void **model, const struct samples *samples, const double *settings,
			 const struct effort *effort, struct err *err)
{
	size_t k = (size_t)learner_value(&learner_neighbors, settings, "k");
	bool by_distance = learner_value(&learner_neighbors, settings, "weights") != 0;
	double *y;

	(void)effort;
	if (!samples->rows || samples->rows > NEAREST_ROWS_MAX)
		return err_set(err, samples->rows ? E2BIG : ENODATA,
			       "neighbors: %zu rows; expected 1 to 2^32 - 2", samples->rows);
	if (samples->width > NEAREST_WIDTH_MAX)
		return err_set(err, EINVAL, "neighbors: too many inputs: %zu (at most %d)",
			       samples->width, NEAREST_WIDTH_MAX);
	y = xmalloc(samples->rows * sizeof(*y));
	memcpy(y, samples->y, samples->rows * sizeof(*y));
	*model = neighbors_new(samples->x, y, samples->rows, samples->width, samples->classes, k,
			       by_distance);
	return 0;
}

static int neighbors_refresh(void *model, const struct samples *more, const struct effort *effort,
			     struct err *err)
{
	struct neighbors *n = model;
	size_t old = n->nearest.rows, rows = old + more->rows;

	(void)effort;
	if (rows > NEAREST_ROWS_MAX)
		return err_set(err, E2BIG, "neighbors: too many rows (at most 2^32 - 2)");
	n->y = xrealloc(n->y, rows, sizeof(*n->y));
	memcpy(n->y + old, more->y, more->rows * sizeof(*n->y));
	nearest_add(&n->nearest, more->x, more->rows);
	n->k = n->wanted < rows ? n->wanted : rows;
	n->floor = n->classes ? 0 : minimum_spread(n->y, rows);
	return 0;
}

static void neighbors_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct neighbors *n = model;

	(void)names;
	buf_printf(out, "%zu nearest of %zu rows, weighted %s; %s\n", n->k, n->nearest.rows,
		   n->by_distance ? "by distance" : "evenly",
		   n->nearest.node_count ? "tree search" : "exhaustive search");
}

static void neighbors_save(const void *model, struct buf *buf)
{
	const struct neighbors *n = model;

	blob_put_u32(buf, (uint32_t)n->wanted);
	blob_put_u32(buf, n->by_distance);
	blob_put_u64(buf, n->nearest.rows);
	blob_put_reals(buf, n->nearest.x, n->nearest.rows * n->nearest.width);
	blob_put_reals(buf, n->y, n->nearest.rows);
}

static bool rows_are_valid(const double *x, const double *y, size_t rows, size_t width,
			   size_t classes)
{
	for (size_t i = 0; i < rows * width; i++) {
		if (!isfinite(x[i]))
			return false;
	}
	for (size_t i = 0; i < rows; i++) {
		if (!isfinite(y[i]) ||
		    (classes && (y[i] != floor(y[i]) || y[i] < 0 || y[i] >= (double)classes)))
			return false;
	}
	return rows > 0;
}

/* The tree is not stored, because building it takes no longer than reading it. */
static int neighbors_load(void **model, struct blob *blob, size_t width, size_t classes,
			  struct err *err)
{
	uint32_t k = blob_take_u32(blob), by_distance = blob_take_u32(blob);
	size_t rows = blob_take_count(blob, (width + 1) * sizeof(double));
	AUTO_FREE double *x = NULL;
	double *y;

	if (!blob_expect(blob, k >= 1 && k <= K_MOST && by_distance <= 1 &&
				       rows <= NEAREST_ROWS_MAX && width <= NEAREST_WIDTH_MAX))
		rows = 0;
	x = xmalloc(rows * width * sizeof(*x) + 1);
	y = xmalloc(rows * sizeof(*y) + 1);
	blob_take_reals(blob, x, rows * width);
	blob_take_reals(blob, y, rows);
	if (!blob_ok(blob) || !blob_expect(blob, rows_are_valid(x, y, rows, width, classes))) {
		free(y);
		return err_set(err, EBADMSG, "neighbors: the model is damaged");
	}
	*model = neighbors_new(x, y, rows, width, classes, k, by_distance);
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "k",
	  .help = "number of neighbors; all rows if there are fewer",
	  .fallback = 5,
	  .least = 1,
	  .most = K_MOST,
	  .low = 1,
	  .high = 25,
	  .whole = true },
	{ .name = "weights",
	  .help = "weight of a neighbor: equal, or 1/distance",
	  .words = "uniform|distance",
	  .fallback = 0,
	  .least = 0,
	  .most = 1,
	  .low = 0,
	  .high = 1,
	  .whole = true },
	{ 0 },
};

const struct learner_ops learner_neighbors = {
	.name = "neighbors",
	.help = "exact k nearest neighbors; updates add the new rows",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "center,scale",
	.settings = settings,
	.fit = neighbors_fit,
	.predict = neighbors_predict,
	.spread = neighbors_spread,
	.refresh = neighbors_refresh,
	.describe = neighbors_describe,
	.save = neighbors_save,
	.load = neighbors_load,
	.free = neighbors_free,
};
