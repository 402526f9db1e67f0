/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the methods that grow trees share beside the growing: a model of many trees, its settings,
 * its file, its answers.
 */
#ifndef SLUICE_LEARN_LEARNERS_TREES_TREES_H
#define SLUICE_LEARN_LEARNERS_TREES_TREES_H

#include <stddef.h>

#include "learn/learner.h"
#include "learn/learners/trees/growth.h"

struct trees {
	size_t width, classes, answers; /* answers: numbers per node */
	struct wood *woods;
	size_t count;
	double *share; /* per input: its part in the decrease of impurity; sums to 1 or 0 */
};

void trees_init(struct trees *trees, size_t width, size_t classes, size_t answers, size_t count);
void trees_release(struct trees *trees);

/* Rows of settings that methods have in common. */
#define TREES_SPLIT                                                                          \
	{                                                                                    \
		.name = "split", .help = "fewest rows of a node that is cut", .fallback = 2, \
		.least = 2, .most = 1e9, .low = 2, .high = 2, .whole = true,                 \
	}
#define TREES_CRITERION                                                                      \
	{                                                                                    \
		.name = "criterion", .help = "impurity of classes", .words = "gini|entropy", \
		.most = 1, .whole = true,                                                    \
	}
#define TREES_FEATURES_HELP                                                                      \
	"share of the inputs looked at in a node, drawn at random; 0: the root of their number " \
	"for classes, all for numbers"

/* Settings of these names; one that a method does not have keeps its neutral value. */
void trees_plan(struct growth_plan *plan, const struct learner_ops *learner, const double *settings,
		const struct samples *samples);

/*
 * What trees learn: classes as they are; numbers less their mean, for the sake of digits. The array
 * is new unless it is y itself (classes): free what differs from samples->y.
 */
const double *trees_target(const struct samples *samples, double *centre);

/* Makes shares of sums; leaves zeros alone. */
void trees_share(double *gain, size_t width);

/*
 * Sums over trees to a number or to probabilities: out has rows x answers and gets rows x classes.
 */
void trees_answer(size_t classes, double divisor, size_t rows, double *out);

/* Settings, for a method that needs them again to refresh. A value that is not legal fails. */
void trees_settings_save(const struct learner_ops *learner, const double *settings,
			 struct buf *buf);
void trees_settings_load(const struct learner_ops *learner, double *settings, struct blob *blob);

void trees_save(const struct trees *trees, struct buf *buf);

/* trees must be released even where the blob fails. */
void trees_load(struct trees *trees, size_t width, size_t classes, size_t answers,
		struct blob *blob);

#endif
