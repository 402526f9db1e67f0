/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gaussian naive Bayes: every input is normally distributed within a class and independent of the
 * others. The model is the count, mean and sum of squared deviations of each class, so that updates
 * are exact: learning in parts equals learning at once.
 *
 * Rows are read once, in pieces that fit into the cache. Within a piece the mean comes first and
 * the squares around it second; then the pieces are merged (Chan, Golub and LeVeque 1983). Nothing
 * is lost to cancellation, however far a column is from zero.
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
#include "learn/math/softmax.h"

extern const struct learner_ops learner_bayes;

enum { PIECE_BYTES = 32 << 10 };

/* Sums over the rows of each class. */
struct moments {
	double *count;	/* classes */
	double *mean;	/* classes x width */
	double *square; /* classes x width: sums of squared deviations from the mean */
};

struct bayes {
	size_t width, classes;
	double smoothing;
	struct moments seen;
	double *weight; /* classes x width: 1 / (2 variance) */
	/* Per class: logarithm of the prior and of the normalization of the densities. */
	double *constant;
};

static void moments_init(struct moments *moments, size_t classes, size_t width)
{
	moments->count = xcalloc(classes, sizeof(double));
	moments->mean = xcalloc(classes * width, sizeof(double));
	moments->square = xcalloc(classes * width, sizeof(double));
}

static void moments_release(struct moments *moments)
{
	free(moments->count);
	free(moments->mean);
	free(moments->square);
}

/* Computes the moments of the rows alone, replacing those in moments. */
static void moments_measure(struct moments *moments, const double *x, const double *y, size_t rows,
			    size_t width, size_t classes)
{
	memset(moments->count, 0, classes * sizeof(double));
	memset(moments->mean, 0, classes * width * sizeof(double));
	memset(moments->square, 0, classes * width * sizeof(double));
	for (size_t i = 0; i < rows; i++) {
		double *restrict mean = moments->mean + (size_t)y[i] * width;
		const double *restrict row = x + i * width;

		moments->count[(size_t)y[i]]++;
		for (size_t j = 0; j < width; j++)
			mean[j] += row[j];
	}
	for (size_t c = 0; c < classes; c++) {
		for (size_t j = 0; moments->count[c] && j < width; j++)
			moments->mean[c * width + j] /= moments->count[c];
	}
	for (size_t i = 0; i < rows; i++) {
		const double *restrict mean = moments->mean + (size_t)y[i] * width;
		double *restrict square = moments->square + (size_t)y[i] * width;
		const double *restrict row = x + i * width;

		for (size_t j = 0; j < width; j++)
			square[j] += (row[j] - mean[j]) * (row[j] - mean[j]);
	}
}

static void moments_merge(struct moments *to, const struct moments *from, size_t classes,
			  size_t width)
{
	for (size_t c = 0; c < classes; c++) {
		double old = to->count[c], more = from->count[c], all = old + more;
		size_t at = c * width;

		if (!more)
			continue;
		to->count[c] = all;
		for (size_t j = at; j < at + width; j++) {
			double shift = from->mean[j] - to->mean[j];

			to->mean[j] += shift * (more / all);
			to->square[j] += from->square[j] + shift * shift * (old * more / all);
		}
	}
}

static void moments_add(struct moments *moments, const struct samples *samples)
{
	size_t width = samples->width, piece = PIECE_BYTES / (width * sizeof(double)) + 1;
	struct moments part;

	moments_init(&part, samples->classes, width);
	for (size_t i = 0; i < samples->rows; i += piece) {
		size_t rows = samples->rows - i < piece ? samples->rows - i : piece;

		moments_measure(&part, samples->x + i * width, samples->y + i, rows, width,
				samples->classes);
		moments_merge(moments, &part, samples->classes, width);
	}
	moments_release(&part);
}

/* The largest variance of an input over all classes together. */
static double largest_variance(const struct bayes *bayes, double rows)
{
	const struct moments *seen = &bayes->seen;
	double largest = 0;

	for (size_t j = 0; j < bayes->width; j++) {
		double mean = 0, square = 0;

		for (size_t c = 0; c < bayes->classes; c++)
			mean += seen->count[c] / rows * seen->mean[c * bayes->width + j];
		for (size_t c = 0; c < bayes->classes; c++) {
			double shift = seen->mean[c * bayes->width + j] - mean;

			square += seen->square[c * bayes->width + j];
			square += seen->count[c] * shift * shift;
		}
		if (square / rows > largest)
			largest = square / rows;
	}
	return largest;
}

static double rows_seen(const struct bayes *bayes)
{
	double rows = 0;

	for (size_t c = 0; c < bayes->classes; c++)
		rows += bayes->seen.count[c];
	return rows;
}

/* Derives the coefficients of predict() from the moments. */
static void derive_coefficients(struct bayes *bayes)
{
	double rows = rows_seen(bayes), floor = largest_variance(bayes, rows);

	/* If all inputs are constant, any width of the distributions works. */
	floor = bayes->smoothing * (floor > 0 ? floor : 1);
	for (size_t c = 0; c < bayes->classes; c++) {
		double count = bayes->seen.count[c], sum = 0;
		size_t at = c * bayes->width;

		for (size_t j = at; j < at + bayes->width; j++) {
			double variance = floor + (count ? bayes->seen.square[j] / count : 0);

			bayes->weight[j] = 0.5 / variance;
			sum += log(2 * M_PI * variance);
		}
		bayes->constant[c] = count ? log(count / rows) - sum / 2 : -INFINITY;
	}
}

static struct bayes *bayes_new(size_t width, size_t classes, double smoothing)
{
	struct bayes *bayes = xcalloc(1, sizeof(*bayes));

	bayes->width = width;
	bayes->classes = classes;
	bayes->smoothing = smoothing;
	moments_init(&bayes->seen, classes, width);
	bayes->weight = xcalloc(classes * width, sizeof(double));
	bayes->constant = xcalloc(classes, sizeof(double));
	return bayes;
}

static void bayes_free(void *model)
{
	struct bayes *bayes = model;

	if (!bayes)
		return;
	moments_release(&bayes->seen);
	free(bayes->weight);
	free(bayes->constant);
	free(bayes);
}

static int bayes_fit(void **model, const struct samples *samples, const double *settings,
		     const struct effort *effort, struct err *err)
{
	struct bayes *bayes;

	(void)effort;
	if (!samples->rows)
		return err_set(err, ENODATA, "bayes: no training rows");
	bayes = bayes_new(samples->width, samples->classes,
			  learner_value(&learner_bayes, settings, "smoothing"));
	moments_add(&bayes->seen, samples);
	derive_coefficients(bayes);
	*model = bayes;
	return 0;
}

static int bayes_refresh(void *model, const struct samples *more, const struct effort *effort,
			 struct err *err)
{
	struct bayes *bayes = model;

	(void)effort;
	(void)err;
	moments_add(&bayes->seen, more);
	derive_coefficients(bayes);
	return 0;
}

static void bayes_predict(const void *model, const double *row, double *out)
{
	const struct bayes *bayes = model;
	const double *mean = bayes->seen.mean, *weight = bayes->weight;

	for (size_t c = 0; c < bayes->classes; c++) {
		double score = bayes->constant[c];

		for (size_t j = 0; j < bayes->width; j++)
			score -= (row[j] - mean[j]) * (row[j] - mean[j]) * weight[j];
		out[c] = score;
		mean += bayes->width;
		weight += bayes->width;
	}
	softmax(out, bayes->classes);
}

/*
 * How well an input alone separates the classes: Jeffreys' divergence of their normal
 * distributions, over pairs of classes weighted by their shares.
 */
static double input_divergence(const struct bayes *bayes, size_t input)
{
	double sum = 0;

	for (size_t a = 0; a < bayes->classes; a++) {
		for (size_t b = a + 1; b < bayes->classes; b++) {
			size_t i = a * bayes->width + input, j = b * bayes->width + input;
			double shift = bayes->seen.mean[i] - bayes->seen.mean[j];
			double ratio = bayes->weight[i] / bayes->weight[j];

			sum += bayes->seen.count[a] * bayes->seen.count[b] *
			       ((ratio + 1 / ratio - 2) / 2 +
				shift * shift * (bayes->weight[i] + bayes->weight[j]));
		}
	}
	return sum;
}

static void bayes_importance(const void *model, double *share)
{
	const struct bayes *bayes = model;
	double sum = 0;

	for (size_t j = 0; j < bayes->width; j++) {
		share[j] = input_divergence(bayes, j);
		sum += share[j];
	}
	for (size_t j = 0; j < bayes->width; j++)
		share[j] = sum > 0 ? share[j] / sum : 0;
}

static void bayes_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct bayes *bayes = model;

	for (size_t c = 0; c < bayes->classes; c++) {
		buf_printf(out, "class %zu: %.0f rows; mean (deviation):", c, bayes->seen.count[c]);
		for (size_t j = 0; j < bayes->width; j++) {
			size_t at = c * bayes->width + j;

			buf_printf(out, " %s %.4g (%.4g)", names[j], bayes->seen.mean[at],
				   sqrt(0.5 / bayes->weight[at]));
		}
		buf_putc(out, '\n');
	}
}

static void bayes_save(const void *model, struct buf *buf)
{
	const struct bayes *bayes = model;

	blob_put_real(buf, bayes->smoothing);
	blob_put_reals(buf, bayes->seen.count, bayes->classes);
	blob_put_reals(buf, bayes->seen.mean, bayes->classes * bayes->width);
	blob_put_reals(buf, bayes->seen.square, bayes->classes * bayes->width);
}

static bool moments_are_valid(const struct bayes *bayes)
{
	for (size_t c = 0; c < bayes->classes; c++) {
		if (!(bayes->seen.count[c] >= 0 && bayes->seen.count[c] < 0x1p53))
			return false;
	}
	for (size_t i = 0; i < bayes->classes * bayes->width; i++) {
		if (!isfinite(bayes->seen.mean[i]) || !isfinite(bayes->seen.square[i]) ||
		    bayes->seen.square[i] < 0)
			return false;
	}
	return rows_seen(bayes) >= 1;
}

static int bayes_load(void **model, struct blob *blob, size_t width, size_t classes,
		      struct err *err)
{
	double smoothing = blob_take_real(blob);
	struct bayes *bayes;

	if (!blob_expect(blob, smoothing > 0 && smoothing <= 1) ||
	    !blob_expect(blob, classes >= 2) ||
	    !blob_expect(blob, (size_t)(blob->end - blob->at) / sizeof(double) / classes > width))
		return err_set(err, EBADMSG, "bayes: the model is damaged");
	bayes = bayes_new(width, classes, smoothing);
	blob_take_reals(blob, bayes->seen.count, classes);
	blob_take_reals(blob, bayes->seen.mean, classes * width);
	blob_take_reals(blob, bayes->seen.square, classes * width);
	if (!blob_ok(blob) || !blob_expect(blob, moments_are_valid(bayes))) {
		bayes_free(bayes);
		return err_set(err, EBADMSG, "bayes: the model is damaged");
	}
	derive_coefficients(bayes);
	*model = bayes;
	return 0;
}

static const struct learner_setting settings[] = {
	{ .name = "smoothing",
	  .help = "share of the largest variance that is added to all variances",
	  .fallback = 1e-9,
	  .least = 1e-15,
	  .most = 1,
	  .low = 1e-9,
	  .high = 0.1,
	  .logarithmic = true },
	{ 0 },
};

const struct learner_ops learner_bayes = {
	.name = "bayes",
	.help = "Gaussian naive Bayes; updates are exact and weigh new rows like old ones",
	.tasks = LEARNER_CLASSIFIES,
	.recipe = "center,scale",
	.settings = settings,
	.fit = bayes_fit,
	.predict = bayes_predict,
	.importance = bayes_importance,
	.refresh = bayes_refresh,
	.describe = bayes_describe,
	.save = bayes_save,
	.load = bayes_load,
	.free = bayes_free,
};
