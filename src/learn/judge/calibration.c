/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Platt's sigmoid is fitted by Newton's method with backtracking on standardized scores, so that
 * their unit and offset do not matter. Isotonic regression pools adjacent violators.
 */
#include "learn/judge/calibration.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"

/* 1 / (1 + exp(x)) without overflow. */
static double falling_sigmoid(double x)
{
	double e = exp(-fabs(x));

	return (x > 0 ? e : 1) / (1 + e);
}

/* log(1 + exp(x)) without overflow. */
static double softplus(double x)
{
	return fmax(x, 0) + log1p(exp(-fabs(x)));
}

struct platt {
	const double *truth, *score;
	size_t count;
	double mean, deviation;	   /* mean and deviation of the scores */
	double positive, negative; /* smoothed targets */
	double a, b;		   /* for standardized scores */
};

static double standardized_score(const struct platt *platt, size_t row)
{
	return (platt->score[row] - platt->mean) / platt->deviation;
}

static double smoothed_target(const struct platt *platt, size_t row)
{
	return platt->truth[row] == 1 ? platt->positive : platt->negative;
}

static void platt_init(struct platt *platt, size_t positives)
{
	double n = (double)platt->count, negatives = n - (double)positives, sum = 0;

	for (size_t i = 0; i < platt->count; i++)
		sum += platt->score[i];
	platt->mean = sum / n;
	sum = 0;
	for (size_t i = 0; i < platt->count; i++)
		sum += (platt->score[i] - platt->mean) * (platt->score[i] - platt->mean);
	platt->deviation = sum > 0 ? sqrt(sum / n) : 1;
	platt->positive = ((double)positives + 1) / ((double)positives + 2);
	platt->negative = 1 / (negatives + 2);
	platt->b = log((negatives + 1) / ((double)positives + 1));
}

/* The cross-entropy of the smoothed targets. */
static double platt_loss(const struct platt *platt, double a, double b)
{
	double loss = 0;

	for (size_t i = 0; i < platt->count; i++) {
		double x = a * standardized_score(platt, i) + b;

		loss += softplus(x) - (1 - smoothed_target(platt, i)) * x;
	}
	return loss;
}

/* Takes one Newton step; returns false if it has converged. */
static bool platt_step(struct platt *platt, double *loss)
{
	double ga = 0, gb = 0, haa = 1e-12, hab = 0, hbb = 1e-12, det, da, db, slope;

	for (size_t i = 0; i < platt->count; i++) {
		double z = standardized_score(platt, i),
		       p = falling_sigmoid(platt->a * z + platt->b);
		double off = smoothed_target(platt, i) - p, weight = p * (1 - p);

		ga += z * off;
		gb += off;
		haa += z * z * weight;
		hab += z * weight;
		hbb += weight;
	}
	det = haa * hbb - hab * hab;
	da = -(hbb * ga - hab * gb) / det;
	db = -(haa * gb - hab * ga) / det;
	slope = ga * da + gb * db;
	for (int halvings = 0; halvings < 34; halvings++) {
		double step = ldexp(1, -halvings);
		double tried = platt_loss(platt, platt->a + step * da, platt->b + step * db);

		if (!(tried <= *loss + 1e-4 * step * slope))
			continue;
		platt->a += step * da;
		platt->b += step * db;
		*loss = tried;
		/*
		 * The Newton decrement bounds the remaining loss, and its square root that of the
		 * parameters.
		 */
		return -slope > 1e-18 * (double)platt->count;
	}
	return false;
}

static void platt_fit(struct calibration *calibration, const double *truth, const double *score,
		      size_t count, size_t positives)
{
	struct platt platt = { .truth = truth, .score = score, .count = count };
	double loss;
	int rounds = 0;

	platt_init(&platt, positives);
	loss = platt_loss(&platt, platt.a, platt.b);
	while (rounds++ < 100 && platt_step(&platt, &loss))
		;
	calibration->a = platt.a / platt.deviation;
	calibration->b = platt.b - calibration->a * platt.mean;
}

/* Rows of one score, later of a range of scores, pooled: their mean is the probability. */
struct block {
	double low, high; /* range of scores */
	double sum, weight;
};

static int compare_blocks(const void *a, const void *b)
{
	const struct block *one = a, *other = b;

	return (one->low > other->low) - (one->low < other->low);
}

static void join_blocks(struct block *into, const struct block *next)
{
	into->high = next->high;
	into->sum += next->sum;
	into->weight += next->weight;
}

/* Joins adjacent blocks until the means ascend; returns the number of remaining blocks. */
static size_t pool_blocks(struct block *blocks, size_t count)
{
	size_t used = 0, rows = 0;

	qsort(blocks, count, sizeof(*blocks), compare_blocks);
	for (size_t i = 0; i < count; i++) {
		if (rows && blocks[rows - 1].low == blocks[i].low)
			join_blocks(&blocks[rows - 1], &blocks[i]);
		else
			blocks[rows++] = blocks[i];
	}
	for (size_t i = 0; i < rows; i++) {
		blocks[used++] = blocks[i];
		while (used > 1 && blocks[used - 2].sum * blocks[used - 1].weight >=
					   blocks[used - 1].sum * blocks[used - 2].weight) {
			join_blocks(&blocks[used - 2], &blocks[used - 1]);
			used--;
		}
	}
	return used;
}

static void isotonic_fit(struct calibration *calibration, const double *truth, const double *score,
			 size_t count)
{
	AUTO_FREE struct block *blocks = xmalloc(count * sizeof(*blocks));
	size_t used, knots = 0;

	for (size_t i = 0; i < count; i++)
		blocks[i] = (struct block){ score[i], score[i], truth[i] == 1, 1 };
	used = pool_blocks(blocks, count);
	calibration->score = xmalloc(2 * used * sizeof(*calibration->score));
	calibration->chance = xmalloc(2 * used * sizeof(*calibration->chance));
	for (size_t i = 0; i < used; i++) {
		calibration->score[knots] = blocks[i].low;
		calibration->chance[knots++] = blocks[i].sum / blocks[i].weight;
		if (blocks[i].low == blocks[i].high)
			continue;
		calibration->score[knots] = blocks[i].high;
		calibration->chance[knots++] = blocks[i].sum / blocks[i].weight;
	}
	calibration->knots = knots;
}

static double isotonic_apply(const struct calibration *calibration, double score)
{
	const double *s = calibration->score, *c = calibration->chance;
	size_t low = 0, high = calibration->knots - 1;

	if (score <= s[low])
		return c[low];
	if (score >= s[high])
		return c[high];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s[middle] <= score)
			low = middle;
		else
			high = middle;
	}
	return low == high ? c[low]
			   : c[low] + (c[high] - c[low]) / (s[high] - s[low]) * (score - s[low]);
}

int calibration_fit(struct calibration *calibration, enum calibration_kind kind,
		    const double *truth, const double *score, size_t count, struct err *err)
{
	struct calibration made = { .kind = kind };
	size_t positives = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(score[i]))
			return err_set(err, EDOM, "calibration: a score is not finite");
		positives += truth[i] == 1;
	}
	if (kind != CALIBRATION_NONE && (!positives || positives == count))
		return err_set(err, ENODATA, "calibration needs rows of both classes");
	if (kind == CALIBRATION_PLATT)
		platt_fit(&made, truth, score, count, positives);
	else if (kind == CALIBRATION_ISOTONIC)
		isotonic_fit(&made, truth, score, count);
	*calibration = made;
	return 0;
}

void calibration_release(struct calibration *calibration)
{
	free(calibration->score);
	free(calibration->chance);
	*calibration = (struct calibration){ 0 };
}

double calibration_apply(const struct calibration *calibration, double score)
{
	switch (calibration->kind) {
	case CALIBRATION_PLATT:
		return falling_sigmoid(calibration->a * score + calibration->b);
	case CALIBRATION_ISOTONIC:
		return isotonic_apply(calibration, score);
	default:
		return score;
	}
}

void calibration_save(const struct calibration *calibration, struct buf *buf)
{
	blob_put_u32(buf, calibration->kind);
	blob_put_real(buf, calibration->a);
	blob_put_real(buf, calibration->b);
	blob_put_u64(buf, calibration->knots);
	blob_put_reals(buf, calibration->score, calibration->knots);
	blob_put_reals(buf, calibration->chance, calibration->knots);
}

static bool knots_are_valid(const struct calibration *calibration)
{
	for (size_t i = 0; i < calibration->knots; i++) {
		if (!isfinite(calibration->score[i]) ||
		    !(calibration->chance[i] >= 0 && calibration->chance[i] <= 1))
			return false;
		if (i && (!(calibration->score[i - 1] < calibration->score[i]) ||
			  calibration->chance[i - 1] > calibration->chance[i]))
			return false;
	}
	return (calibration->knots > 0) == (calibration->kind == CALIBRATION_ISOTONIC);
}

int calibration_load(struct calibration *calibration, struct blob *blob, struct err *err)
{
	struct calibration made = { 0 };
	unsigned kind = blob_take_u32(blob);

	made.a = blob_take_real(blob);
	made.b = blob_take_real(blob);
	made.knots = blob_take_count(blob, 2 * sizeof(double));
	made.score = xmalloc(made.knots * sizeof(*made.score));
	made.chance = xmalloc(made.knots * sizeof(*made.chance));
	blob_take_reals(blob, made.score, made.knots);
	blob_take_reals(blob, made.chance, made.knots);
	blob_expect(blob, kind <= CALIBRATION_ISOTONIC);
	made.kind = blob_ok(blob) ? (enum calibration_kind)kind : CALIBRATION_NONE;
	if (!blob_expect(blob, blob_ok(blob) && isfinite(made.a) && isfinite(made.b) &&
				       knots_are_valid(&made))) {
		calibration_release(&made);
		return err_set(err, EBADMSG, "its calibration is damaged");
	}
	*calibration = made;
	return 0;
}
