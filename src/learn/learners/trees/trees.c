/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared code of tree.c, forest.c and boosting.c.
 */
#include "learn/learners/trees/trees.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"

void trees_init(struct trees *trees, size_t width, size_t classes, size_t answers, size_t count)
{
	*trees = (struct trees){ .width = width,
				 .classes = classes,
				 .answers = answers,
				 .flat = xcalloc(count, sizeof(*trees->flat)),
				 .count = count,
				 .share = xcalloc(width, sizeof(*trees->share)) };
}

void trees_release(struct trees *trees)
{
	for (size_t i = 0; i < trees->count; i++)
		flat_tree_release(&trees->flat[i]);
	free(trees->flat);
	free(trees->share);
	*trees = (struct trees){ 0 };
}

/* The number of inputs per node from a share; 0: the square root for classes, all for numbers. */
static size_t inputs_per_node(double share, const struct samples *samples)
{
	size_t width = samples->width;
	double tries = share > 0	  ? round(share * (double)width)
		       : samples->classes ? floor(sqrt((double)width))
					  : (double)width;

	return tries < 1 ? 1 : tries > (double)width ? width : (size_t)tries;
}

static double setting_or(const struct learner_ops *learner, const double *settings,
			 const char *name, double fallback)
{
	double value = learner_value(learner, settings, name);

	return isnan(value) ? fallback : value;
}

void trees_plan(struct growth_plan *plan, const struct learner_ops *learner, const double *settings,
		const struct samples *samples)
{
	double depth = setting_or(learner, settings, "depth", 0);
	bool entropy = setting_or(learner, settings, "criterion", 0) != 0;

	*plan = (struct growth_plan){
		.criterion = !samples->classes	     ? SPLIT_VARIANCE
			     : entropy		     ? SPLIT_ENTROPY
			     : samples->classes == 2 ? SPLIT_VARIANCE
						     : SPLIT_GINI,
		.classes = samples->classes,
		.tries = inputs_per_node(setting_or(learner, settings, "features", 1), samples),
		.depth_most = depth > 0 ? (uint32_t)depth : UINT32_MAX,
		.split_least = (size_t)setting_or(learner, settings, "split", 2),
		.leaf_least = (size_t)setting_or(learner, settings, "leaf", 1),
	};
}

const double *trees_target(const struct samples *samples, double *center)
{
	double sum = 0, *target;

	*center = 0;
	if (samples->classes)
		return samples->y;
	for (size_t i = 0; i < samples->rows; i++)
		sum += samples->y[i];
	*center = sum / (double)samples->rows;
	target = xmalloc(samples->rows * sizeof(*target));
	for (size_t i = 0; i < samples->rows; i++)
		target[i] = samples->y[i] - *center;
	return target;
}

void trees_share(double *gain, size_t width)
{
	double sum = 0;

	for (size_t i = 0; i < width; i++)
		sum += gain[i];
	for (size_t i = 0; sum > 0 && i < width; i++)
		gain[i] /= sum;
}

void trees_importance(const struct trees *trees, double *share)
{
	memcpy(share, trees->share, trees->width * sizeof(*share));
}

int trees_check_loaded(const struct blob *blob, struct err *err)
{
	return blob_ok(blob) ? 0 : err_set(err, EBADMSG, "its trees are damaged");
}

/* Works from the last row to the first, because two probabilities replace one number. */
void trees_answer(size_t classes, double divisor, size_t rows, double *out)
{
	if (divisor != 1) {
		for (size_t i = 0; i < rows * growth_answers(classes); i++)
			out[i] /= divisor;
	}
	for (size_t i = rows; classes == 2 && i-- > 0;) {
		double second = out[i];

		out[2 * i + 1] = second;
		out[2 * i] = 1 - second;
	}
}

void trees_settings_save(const double *settings, size_t count, struct buf *buf)
{
	blob_put_reals(buf, settings, count);
}

void trees_settings_load(const struct learner_ops *learner, double *settings, size_t count,
			 struct blob *blob)
{
	for (size_t i = 0; i < count; i++) {
		const struct learner_setting *setting = &learner->settings[i];

		settings[i] = blob_take_real(blob);
		blob_expect(blob, settings[i] >= setting->least && settings[i] <= setting->most);
	}
}

void trees_save(const struct trees *trees, struct buf *buf)
{
	blob_put_reals(buf, trees->share, trees->width);
	blob_put_u64(buf, trees->count);
	for (size_t i = 0; i < trees->count; i++)
		flat_tree_save(&trees->flat[i], trees->answers, buf);
}

void trees_load(struct trees *trees, size_t width, size_t classes, size_t answers,
		struct blob *blob)
{
	AUTO_FREE double *share = xcalloc(width, sizeof(*share));
	size_t count;

	blob_take_reals(blob, share, width);
	for (size_t i = 0; i < width; i++)
		blob_expect(blob, share[i] >= 0 && share[i] <= 1 + 1e-9);
	count = blob_take_count(blob, 2 * sizeof(uint64_t));
	trees_init(trees, width, classes, answers, count);
	memcpy(trees->share, share, width * sizeof(*share));
	blob_expect(blob, count > 0);
	for (size_t i = 0; i < count && blob_ok(blob); i++)
		flat_tree_load(&trees->flat[i], answers, width, blob);
}
