/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Both kinds use an order statistic of absolute errors. The k-th smallest of n errors, with k =
 * ceil((n + 1) * coverage), covers the next of n + 1 exchangeable errors with at least that
 * probability.
 */
#include "learn/judge/conformal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/vector.h"

/* Products such as 100 * 0.07 exceed the intended integer by a few units in the last place. */
static double order_statistic(const double *sorted, size_t count, double coverage)
{
	double rank = ceil((double)(count + 1) * coverage - 1e-9);

	if (!(rank <= (double)count))
		return INFINITY;
	return rank < 1 ? 0 : sorted[(size_t)rank - 1];
}

int conformal_fit(struct conformal *conformal, const double *truth, const double *guess,
		  const double *spread, size_t count, struct err *err)
{
	AUTO_FREE double *errors = xmalloc(count * sizeof(*errors));

	for (size_t i = 0; i < count; i++) {
		if (spread && !(spread[i] > 0 && isfinite(spread[i])))
			return err_set(err, EDOM, "expected deviation %g is not positive",
				       spread[i]);
		errors[i] = fabs(truth[i] - guess[i]) / (spread ? spread[i] : 1);
		if (!isfinite(errors[i]))
			return err_set(err, EDOM, "a prediction error is not finite");
	}
	vector_sort(errors, count);
	*conformal = (struct conformal){ .errors = errors, .count = count };
	errors = NULL;
	return 0;
}

void conformal_release(struct conformal *conformal)
{
	free(conformal->errors);
	*conformal = (struct conformal){ 0 };
}

double conformal_margin(const struct conformal *conformal, double coverage)
{
	return order_statistic(conformal->errors, conformal->count, coverage);
}

void conformal_save(const struct conformal *conformal, struct buf *buf)
{
	blob_put_u64(buf, conformal->count);
	blob_put_reals(buf, conformal->errors, conformal->count);
}

int conformal_load(struct conformal *conformal, struct blob *blob, struct err *err)
{
	size_t count = blob_take_count(blob, sizeof(double));
	AUTO_FREE double *errors = xmalloc(count * sizeof(*errors));
	double least = 0;

	blob_take_reals(blob, errors, count);
	for (size_t i = 0; blob_ok(blob) && i < count; i++) {
		blob_expect(blob, errors[i] >= least && isfinite(errors[i]));
		least = errors[i];
	}
	if (!blob_ok(blob))
		return err_set(err, EBADMSG, "its prediction intervals are damaged");
	*conformal = (struct conformal){ .errors = errors, .count = count };
	errors = NULL;
	return 0;
}

void adaptive_init(struct adaptive *adaptive, double coverage, double step, size_t window)
{
	*adaptive = (struct adaptive){
		.coverage = coverage,
		.step = step,
		.missing = 1 - coverage,
		.errors = xmalloc(window * sizeof(*adaptive->errors)),
		.sorted = xmalloc(window * sizeof(*adaptive->sorted)),
		.window = window,
	};
}

void adaptive_release(struct adaptive *adaptive)
{
	free(adaptive->errors);
	free(adaptive->sorted);
	*adaptive = (struct adaptive){ 0 };
}

double adaptive_margin(const struct adaptive *adaptive)
{
	if (adaptive->missing <= 0)
		return INFINITY;
	return order_statistic(adaptive->sorted, adaptive->count, fmax(1 - adaptive->missing, 0));
}

/* The first position whose error is not below this one. */
static size_t find_place(const struct adaptive *adaptive, double error)
{
	size_t low = 0, high = adaptive->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (adaptive->sorted[middle] < error)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop_oldest(struct adaptive *adaptive)
{
	size_t place = find_place(adaptive, adaptive->errors[adaptive->next]);

	adaptive->count--;
	memmove(adaptive->sorted + place, adaptive->sorted + place + 1,
		(adaptive->count - place) * sizeof(*adaptive->sorted));
}

void adaptive_seed(struct adaptive *adaptive, double error)
{
	size_t place;

	if (isnan(error))
		return;
	if (adaptive->count == adaptive->window)
		drop_oldest(adaptive);
	place = find_place(adaptive, error);
	memmove(adaptive->sorted + place + 1, adaptive->sorted + place,
		(adaptive->count - place) * sizeof(*adaptive->sorted));
	adaptive->sorted[place] = error;
	adaptive->count++;
	adaptive->errors[adaptive->next] = error;
	adaptive->next = (adaptive->next + 1) % adaptive->window;
}

void adaptive_learn(struct adaptive *adaptive, double margin, double error)
{
	double missed = error > margin;

	if (isnan(error))
		return;
	/* The level is not clipped: a level outside [0, 1] stores the coverage to make up for. */
	adaptive->missing += adaptive->step * (1 - adaptive->coverage - missed);
	adaptive->seen++;
	adaptive->covered += !missed;
	adaptive_seed(adaptive, error);
}
