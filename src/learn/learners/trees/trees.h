/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Code that tree, forest and boosting share besides growing: a model of many trees, its settings,
 * its file format and its predictions.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_TREES_H
#define SLUICE_LEARN_LEARNERS_TREES_TREES_H

#include <stddef.h>

#include "learn/learner.h"
#include "learn/learners/trees/growth.h"

struct trees {
	size_t width, classes, answers; /* answers: numbers per node */
	struct flat_tree *flat;
	size_t count;
	/* Importance of each input: its share of the decrease of impurity; sums to 1 or 0. */
	double *share;
};

void trees_init(struct trees *trees, size_t width, size_t classes, size_t answers, size_t count);
void trees_release(struct trees *trees);

/* Settings that several methods have. */
#define TREES_SPLIT                                                                         \
	{                                                                                   \
		.name = "split", .help = "minimum number of rows of a node to split",       \
		.fallback = 2, .least = 2, .most = 1e9, .low = 2, .high = 2, .whole = true, \
	}
#define TREES_CRITERION                                                      \
	{                                                                    \
		.name = "criterion", .help = "impurity measure for classes", \
		.words = "gini|entropy", .most = 1, .whole = true,           \
	}
#define TREES_FEATURES_HELP                                                                      \
	"share of the inputs considered per node, drawn at random; 0: the square root of their " \
	"number for classes, all for numbers"

/*
 * Fills a plan from the settings of a method; a setting that the method lacks keeps a neutral
 * value.
 */
void trees_plan(struct growth_plan *plan, const struct learner_ops *learner, const double *settings,
		const struct samples *samples);

/*
 * The target for trees: classes unchanged, numbers minus their mean (to preserve digits). The
 * result is samples->y itself for classes; otherwise the caller frees it.
 */
const double *trees_target(const struct samples *samples, double *center);

/* Copies the importance of each input, for learner_ops.importance. */
void trees_importance(const struct trees *trees, double *share);

/* Returns 0, or -EBADMSG and sets err if reading a model of trees failed. */
int trees_check_loaded(const struct blob *blob, struct err *err);

/* Normalizes sums to shares; leaves zeros unchanged. */
void trees_share(double *gain, size_t width);

/*
 * Converts sums over trees to a number or to probabilities: out holds rows x answers on entry and
 * rows x classes on return.
 */
void trees_answer(size_t classes, double divisor, size_t rows, double *out);

/*
 * The first `count` settings of a method that needs them again for refresh. An invalid value marks
 * the blob as failed.
 */
void trees_settings_save(const double *settings, size_t count, struct buf *buf);
void trees_settings_load(const struct learner_ops *learner, double *settings, size_t count,
			 struct blob *blob);

void trees_save(const struct trees *trees, struct buf *buf);

/* trees must be released even if the blob is marked as failed. */
void trees_load(struct trees *trees, size_t width, size_t classes, size_t answers,
		struct blob *blob);

#endif
