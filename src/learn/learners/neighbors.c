/* SPDX-License-Identifier: BSD-3-Clause
 *
 * k nearest neighbours (data/nearest.h finds them): the mean of their numbers or the shares of
 * their classes.
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
#include "learn/maths/nearest.h"

extern const struct learner_ops learner_neighbours;

enum { K_MOST = 256 };

struct neighbours {
	struct nearest nearest;
	size_t classes;
	size_t wanted, k; /* k: no more than there are rows */
	bool by_distance;
	double floor; /* least spread */
	double *y;    /* in the order of learning */
};

/* Weights of the found, summing to 1. By distance: 1/d; a row that is met exactly counts alone. */
static void weights_make(const struct neighbours *n, const struct nearest_found *found,
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

static void neighbours_predict(const void *model, const double *row, double *out)
{
	const struct neighbours *n = model;
	double weight[K_MOST];
	struct nearest_found found[K_MOST];

	nearest_find(&n->nearest, row, n->k, found);
	weights_make(n, found, weight);
	memset(out, 0, (n->classes ? n->classes : 1) * sizeof(*out));
	for (size_t i = 0; i < n->k; i++) {
		double y = n->y[found[i].row];

		if (n->classes)
			out[(size_t)y] += weight[i];
		else
			out[0] += weight[i] * y;
	}
}

/* Deviation among the neighbours, never quite 0. */
static double neighbours_spread(const void *model, const double *row)
{
	const struct neighbours *n = model;
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

static void neighbours_free(void *model)
{
	struct neighbours *n = model;

	if (!n)
		return;
	free(n->y);
	nearest_release(&n->nearest);
	free(n);
}

/* A thousandth of the target's deviation: repeated rows may agree by chance. */
static double floor_of(const double *y, size_t rows)
{
	double mean = 0, square = 0;

	for (size_t i = 0; i < rows; i++)
		mean += y[i] / (double)rows;
	for (size_t i = 0; i < rows; i++)
		square += (y[i] - mean) * (y[i] - mean);
	return 1e-3 * sqrt(square / (double)rows);
}

/* Takes y over. */
static struct neighbours *neighbours_new(const double *x, double *y, size_t rows, size_t width,
					 size_t classes, size_t k, bool by_distance)
{
	struct neighbours *n = xcalloc(1, sizeof(*n));

	*n = (struct neighbours){ .classes = classes,
				  .wanted = k,
				  .k = k < rows ? k : rows,
				  .by_distance = by_distance,
				  .floor = classes ? 0 : floor_of(y, rows),
				  .y = y };
	nearest_init(&n->nearest, x, rows, width);
	return n;
}

static int neighbours_fit(void **model, const struct samples *samples, const double *settings,
			  const struct effort *effort, struct err *err)
{
	size_t k = (size_t)learner_value(&learner_neighbours, settings, "k");
	bool by_distance = learner_value(&learner_neighbours, settings, "weights") != 0;
	double *y;

	(void)effort;
	if (!samples->rows || samples->rows > NEAREST_ROWS_MAX)
		return err_set(err, samples->rows ? E2BIG : ENODATA,
			       "neighbours: %zu rows: there must be 1 to 2^32 - 2", samples->rows);
	if (samples->width > NEAREST_WIDTH_MAX)
		return err_set(err, EINVAL, "neighbours: %zu inputs: there may be %d at most",
			       samples->width, NEAREST_WIDTH_MAX);
	y = xmalloc(samples->rows * sizeof(*y));
	memcpy(y, samples->y, samples->rows * sizeof(*y));
	*model = neighbours_new(samples->x, y, samples->rows, samples->width, samples->classes, k,
				by_distance);
	return 0;
}

static int neighbours_refresh(void *model, const struct samples *more, const struct effort *effort,
			      struct err *err)
{
	struct neighbours *n = model;
	size_t old = n->nearest.rows, rows = old + more->rows;

	(void)effort;
	if (rows > NEAREST_ROWS_MAX)
		return err_set(err, E2BIG, "neighbours: there may be 2^32 - 2 rows at most");
	n->y = xrealloc(n->y, rows, sizeof(*n->y));
	memcpy(n->y + old, more->y, more->rows * sizeof(*n->y));
	nearest_add(&n->nearest, more->x, more->rows);
	n->k = n->wanted < rows ? n->wanted : rows;
	n->floor = n->classes ? 0 : floor_of(n->y, rows);
	return 0;
}

static void neighbours_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct neighbours *n = model;

	(void)names;
	buf_printf(out, "%zu nearest of %zu rows, weighted %s; %s\n", n->k, n->nearest.rows,
		   n->by_distance ? "by distance" : "evenly",
		   n->nearest.node_count ? "found by a tree" : "all are looked at");
}

static void neighbours_save(const void *model, struct buf *buf)
{
	const struct neighbours *n = model;

	blob_put_u32(buf, (uint32_t)n->wanted);
	blob_put_u32(buf, n->by_distance);
	blob_put_u64(buf, n->nearest.rows);
	blob_put_reals(buf, n->nearest.x, n->nearest.rows * n->nearest.width);
	blob_put_reals(buf, n->y, n->nearest.rows);
}

static bool rows_valid(const double *x, const double *y, size_t rows, size_t width, size_t classes)
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

/* The tree is not in the file: it is made as quickly as it is read. */
static int neighbours_load(void **model, struct blob *blob, size_t width, size_t classes,
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
	if (!blob_ok(blob) || !blob_expect(blob, rows_valid(x, y, rows, width, classes))) {
		free(y);
		return err_set(err, EBADMSG, "neighbours: the model is damaged");
	}
	*model = neighbours_new(x, y, rows, width, classes, k, by_distance);
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "k",
	  .help = "neighbours that are asked; all rows where there are fewer",
	  .fallback = 5,
	  .least = 1,
	  .most = K_MOST,
	  .low = 1,
	  .high = 25,
	  .whole = true },
	{ .name = "weights",
	  .help = "how they count: all the same, or by 1/distance",
	  .words = "uniform|distance",
	  .fallback = 0,
	  .least = 0,
	  .most = 1,
	  .low = 0,
	  .high = 1,
	  .whole = true },
	{ 0 },
};

const struct learner_ops learner_neighbours = {
	.name = "neighbours",
	.help = "k nearest neighbours, exactly; further rows stand beside the first ones",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "centre,scale",
	.settings = settings,
	.fit = neighbours_fit,
	.predict = neighbours_predict,
	.spread = neighbours_spread,
	.refresh = neighbours_refresh,
	.describe = neighbours_describe,
	.save = neighbours_save,
	.load = neighbours_load,
	.free = neighbours_free,
};
