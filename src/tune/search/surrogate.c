/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/search/surrogate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "params/space.h"
#include "tune/search/draw.h"

void surrogate_init(struct surrogate *surrogate, const struct space *space)
{
	*surrogate = (struct surrogate){ 0 };
	encoding_init(&surrogate->encoding, space);
}

void surrogate_release(struct surrogate *surrogate)
{
	encoding_release(&surrogate->encoding);
	gaussian_release(&surrogate->gaussian);
	free(surrogate->points);
	free(surrogate->rows);
	free(surrogate->costs);
	*surrogate = (struct surrogate){ 0 };
}

void surrogate_add(struct surrogate *surrogate, const size_t *point, double cost)
{
	size_t n = surrogate->count, dimensions = surrogate->encoding.space->count;
	size_t width = surrogate->encoding.width;

	surrogate->costs = xgrow(surrogate->costs, &surrogate->cap, n + 1, sizeof(double));
	surrogate->points = xgrow(surrogate->points, &surrogate->points_cap, (n + 1) * dimensions,
				  sizeof(size_t));
	surrogate->rows =
		xgrow(surrogate->rows, &surrogate->rows_cap, (n + 1) * width, sizeof(double));
	memcpy(surrogate->points + n * dimensions, point, dimensions * sizeof(*point));
	encoding_row(&surrogate->encoding, point, surrogate->rows + n * width, 1);
	surrogate->costs[n] = draw_log(cost);
	surrogate->count++;
}

bool surrogate_has(const struct surrogate *surrogate, const size_t *point)
{
	size_t dimensions = surrogate->encoding.space->count;

	for (size_t i = 0; i < surrogate->count; i++)
		if (memcmp(surrogate->points + i * dimensions, point,
			   dimensions * sizeof(*point)) == 0)
			return true;
	return false;
}

size_t surrogate_best(const struct surrogate *surrogate)
{
	size_t best = surrogate->count;

	for (size_t i = 0; i < surrogate->count; i++)
		if (isfinite(surrogate->costs[i]) &&
		    (best == surrogate->count || surrogate->costs[i] < surrogate->costs[best]))
			best = i;
	return best;
}

/* The costs with failures at the worst that was seen; how many were good. */
static size_t targets_make(const struct surrogate *surrogate, double *targets)
{
	double worst = -INFINITY;
	size_t good = 0;

	for (size_t i = 0; i < surrogate->count; i++) {
		if (!isfinite(surrogate->costs[i]))
			continue;
		worst = fmax(worst, surrogate->costs[i]);
		good++;
	}
	for (size_t i = 0; i < surrogate->count; i++)
		targets[i] = isfinite(surrogate->costs[i]) ? surrogate->costs[i] : worst;
	return good;
}

int surrogate_fit(struct surrogate *surrogate, uint64_t seed, struct err *err)
{
	AUTO_FREE double *targets = xcalloc(surrogate->count + 1, sizeof(*targets));
	AUTO_FREE double *scales = xcalloc(surrogate->encoding.width + 1, sizeof(*scales));
	bool thorough = !surrogate->is_fitted || 4 * surrogate->count >= 5 * surrogate->fitted;
	struct gaussian_plan plan = { .family = COVARIANCE_MATERN52,
				      .category = surrogate->encoding.category,
				      .start = { 1, 1e-3, 0.1, scales },
				      .restarts = thorough ? 3 : 0,
				      .rounds = thorough ? 60 : 15,
				      .seed = seed };
	struct gaussian made;
	int r;

	if (targets_make(surrogate, targets) < 2)
		return err_set(err, ENODATA, "fewer than two trials were good");
	for (size_t i = 0; i < surrogate->encoding.width; i++)
		scales[i] = surrogate->is_fitted ? surrogate->gaussian.hyper.scales[i] : 1;
	if (surrogate->is_fitted) {
		plan.start = surrogate->gaussian.hyper;
		plan.start.scales = scales;
	}
	r = gaussian_init(&made, &plan, surrogate->rows, targets, surrogate->count,
			  surrogate->encoding.width, err);
	if (r < 0)
		return r;
	gaussian_release(&surrogate->gaussian);
	surrogate->gaussian = made;
	surrogate->is_fitted = true;
	if (thorough)
		surrogate->fitted = surrogate->count;
	return 0;
}
