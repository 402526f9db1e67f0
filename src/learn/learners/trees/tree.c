/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A single decision tree (CART, Breiman and others 1984) with the rules of scikit-learn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/learners/trees/trees.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_tree;

static void tree_free(void *model)
{
	if (model)
		trees_release(model);
	free(model);
}

static int tree_fit(void **model, const struct samples *samples, const double *settings,
		    const struct effort *effort, struct err *err)
{
	struct trees *tree = xmalloc(sizeof(*tree));
	struct growth_ranks ranks;
	struct growth_plan plan;
	struct growth *growth;
	struct random random;
	const double *target;

	(void)err;
	trees_init(tree, samples->width, samples->classes, growth_answers(samples->classes), 1);
	trees_plan(&plan, &learner_tree, settings, samples);
	target = trees_target(samples, &plan.center);
	random_stream(&random, effort->seed, 0);
	growth_ranks_init(&ranks, samples, true, plan.criterion == SPLIT_VARIANCE);
	growth = growth_new(&ranks, &plan, true);
	growth_grow(growth, target, NULL, &random, &tree->flat[0], tree->share);
	trees_share(tree->share, samples->width);
	growth_free(growth);
	growth_ranks_release(&ranks);
	if (target != samples->y)
		free((void *)target);
	*model = tree;
	return 0;
}

static void tree_predict(const void *model, const double *row, double *out)
{
	const struct trees *tree = model;
	const struct flat_tree *flat = tree->flat;

	memcpy(out, flat->values + flat_tree_leaf(flat, row) * tree->answers,
	       tree->answers * sizeof(*out));
	trees_answer(tree->classes, 1, 1, out);
}

static void tree_importance(const void *model, double *share)
{
	trees_importance(model, share);
}

static void tree_describe(const void *model, const char *const *names, struct buf *out)
{
	const struct trees *tree = model;
	size_t leaves = (tree->flat->count + 1) / 2;

	buf_printf(out, "%zu leaves%s\n", leaves,
		   tree->classes == 2 ? "; a number is the probability of the second class" : "");
	flat_tree_describe(tree->flat, tree->answers, names, 5, out);
}

static void tree_save(const void *model, struct buf *buf)
{
	trees_save(model, buf);
}

static int tree_load(void **model, struct blob *blob, size_t width, size_t classes, struct err *err)
{
	struct trees *tree = xmalloc(sizeof(*tree));
	int r;

	trees_load(tree, width, classes, growth_answers(classes), blob);
	blob_expect(blob, tree->count == 1);
	r = trees_check_loaded(blob, err);
	if (r < 0)
		tree_free(tree);
	else
		*model = tree;
	return r;
}

/* The search ranges reach from a stump to a tree that is grown until its leaves are pure. */
static const struct learner_setting tree_settings[] = {
	TREES_CRITERION,
	{ .name = "depth",
	  .help = "maximum depth; 0: no limit",
	  .most = 1000,
	  .low = 2,
	  .high = 20,
	  .whole = true },
	TREES_SPLIT,
	{ .name = "leaf",
	  .help = "minimum number of rows of a leaf",
	  .fallback = 1,
	  .least = 1,
	  .most = 1e9,
	  .low = 1,
	  .high = 50,
	  .whole = true,
	  .logarithmic = true },
	{ .name = "features",
	  .help = TREES_FEATURES_HELP,
	  .fallback = 1,
	  .most = 1,
	  .low = 1,
	  .high = 1 },
	{ 0 },
};

const struct learner_ops learner_tree = {
	.name = "tree",
	.help = "one decision tree (CART); cannot be updated",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "",
	.settings = tree_settings,
	.fit = tree_fit,
	.predict = tree_predict,
	.importance = tree_importance,
	.describe = tree_describe,
	.save = tree_save,
	.load = tree_load,
	.free = tree_free,
};
