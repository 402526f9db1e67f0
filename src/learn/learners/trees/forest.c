/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A random forest (Breiman 2001): each tree is grown on rows drawn with replacement, and each node
 * considers a few inputs. The prediction is the mean over the trees, as in scikit-learn.
 *
 * Trees are grown in parallel, each with its own stream of random numbers. Every thread needs
 * memory per row, so the number of threads is limited by the memory bound of learner.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/file/blob.h"
#include "learn/learners/trees/trees.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_forest;

struct forest {
	struct trees trees; /* oldest tree first */
	double settings[LEARNER_SETTINGS_MAX];
	uint64_t rows;	/* number of rows of the first fit */
	uint64_t grown; /* number of trees ever grown; the next random stream */
};

/*
 * Shares are summed as integers, so that the sum does not depend on which thread grew which tree.
 */
#define SHARE_ONE 0x1p40

struct crew_member {
	struct growth *growth;
	uint16_t *weights;
	double *gain;
	uint64_t *shares;
};

struct crew {
	const struct samples *samples;
	const double *target;
	uint64_t seed, stream;
	bool bootstrap;
	struct flat_tree *flat;
	struct crew_member *members;
};

static void forest_free(void *model)
{
	struct forest *forest = model;

	if (forest)
		trees_release(&forest->trees);
	free(forest);
}

/*
 * Draws as many rows as there are. Using the upper half of a product has a bias below rows / 2^32.
 */
static void draw_rows(uint16_t *weights, size_t rows, struct random *random)
{
	memset(weights, 0, rows * sizeof(*weights));
	for (size_t i = 0; i < rows; i++) {
		uint16_t *weight = &weights[(random_u64(random) >> 32) * rows >> 32];

		*weight += *weight < UINT16_MAX;
	}
}

static void grow_tree(void *arg, size_t piece, unsigned worker)
{
	struct crew *crew = arg;
	struct crew_member *member = &crew->members[worker];
	size_t width = crew->samples->width;
	struct random random;

	random_stream(&random, crew->seed, crew->stream + piece);
	if (crew->bootstrap)
		draw_rows(member->weights, crew->samples->rows, &random);
	memset(member->gain, 0, width * sizeof(*member->gain));
	growth_grow(member->growth, crew->target, crew->bootstrap ? member->weights : NULL, &random,
		    &crew->flat[piece], member->gain);
	trees_share(member->gain, width);
	for (size_t i = 0; i < width; i++)
		member->shares[i] += (uint64_t)(member->gain[i] * SHARE_ONE);
}

/*
 * Drawing with replacement selects two thirds of the rows. A tree in progress has some unused room
 * for nodes.
 */
static unsigned crew_size(const struct samples *samples, unsigned threads, size_t trees,
			  bool bootstrap)
{
	double part = bootstrap ? 0.66 : 1, spare = sizeof(struct flat_tree_node) / 4.0;
	double rows = (double)samples->rows, width = (double)samples->width;
	double room = 8 * rows * (width + 1) + 0x1p20;
	double taken = rows * (2 * width + (samples->classes ? 0 : 8));
	double each = rows * (GROWTH_BYTES_PER_ROW * part + spare + sizeof(uint16_t)) + 0x1p16;
	double fit = floor((room - taken) / each);

	if (threads > fit)
		threads = fit > 1 ? (unsigned)fit : 1;
	if (threads > trees)
		threads = (unsigned)trees;
	return threads ? threads : 1;
}

static void crew_init(struct crew *crew, unsigned size, struct growth_ranks *ranks,
		      const struct growth_plan *plan)
{
	size_t rows = crew->samples->rows, width = crew->samples->width;

	crew->members = xcalloc(size, sizeof(*crew->members));
	for (unsigned i = 0; i < size; i++)
		crew->members[i] = (struct crew_member){
			.growth = growth_new(ranks, plan, false),
			.weights = xmalloc(rows * sizeof(uint16_t)),
			.gain = xmalloc(width * sizeof(double)),
			.shares = xcalloc(width, sizeof(uint64_t)),
		};
}

/* Adds the shares of all members to share. */
static void crew_release(struct crew *crew, unsigned size, double *share)
{
	size_t width = crew->samples->width;

	for (size_t f = 0; f < width; f++) {
		uint64_t sum = 0;

		for (unsigned i = 0; i < size; i++)
			sum += crew->members[i].shares[f];
		share[f] = (double)sum;
	}
	trees_share(share, width);
	for (unsigned i = 0; i < size; i++) {
		growth_free(crew->members[i].growth);
		free(crew->members[i].weights);
		free(crew->members[i].gain);
		free(crew->members[i].shares);
	}
	free(crew->members);
}

/* Grows count trees into flat and their importance into share. */
static void grow_trees(const struct samples *samples, const double *settings,
		       const struct effort *effort, uint64_t stream, struct flat_tree *flat,
		       size_t count, double *share)
{
	struct growth_plan plan;
	struct growth_ranks ranks;
	struct crew crew = {
		.samples = samples, .seed = effort->seed, .stream = stream, .flat = flat
	};
	unsigned size;

	trees_plan(&plan, &learner_forest, settings, samples);
	crew.bootstrap = learner_value(&learner_forest, settings, "bootstrap") == 0;
	size = crew_size(samples, effort->threads, count, crew.bootstrap);
	crew.target = trees_target(samples, &plan.center);
	growth_ranks_init(&ranks, samples, false, plan.criterion == SPLIT_VARIANCE);
	crew_init(&crew, size, &ranks, &plan);
	parallel_for(size, count, grow_tree, &crew);
	crew_release(&crew, size, share);
	growth_ranks_release(&ranks);
	if (crew.target != samples->y)
		free((void *)crew.target);
}

static int forest_fit(void **model, const struct samples *samples, const double *settings,
		      const struct effort *effort, struct err *err)
{
	struct forest *forest = xcalloc(1, sizeof(*forest));
	size_t count = (size_t)learner_value(&learner_forest, settings, "trees");

	(void)err;
	memcpy(forest->settings, settings,
	       learner_setting_count(&learner_forest) * sizeof(*settings));
	forest->rows = samples->rows;
	forest->grown = count;
	trees_init(&forest->trees, samples->width, samples->classes,
		   growth_answers(samples->classes), count);
	grow_trees(samples, settings, effort, 0, forest->trees.flat, count, forest->trees.share);
	*model = forest;
	return 0;
}

static void forest_predict(const void *model, const double *row, double *out)
{
	const struct trees *trees = &((const struct forest *)model)->trees;

	for (size_t i = 0; i < trees->answers; i++)
		out[i] = 0;
	flat_tree_sum(trees->flat, trees->count, trees->answers, row, out);
	trees_answer(trees->classes, (double)trees->count, 1, out);
}

static void forest_predict_rows(const void *model, const double *x, size_t rows, double *out)
{
	const struct trees *trees = &((const struct forest *)model)->trees;

	memset(out, 0, rows * trees->answers * sizeof(*out));
	flat_tree_sum_rows(trees->flat, trees->count, trees->answers, x, trees->width, rows, out);
	trees_answer(trees->classes, (double)trees->count, rows, out);
}

/* The deviation of the predictions among the trees. */
static double forest_spread(const void *model, const double *row)
{
	const struct trees *trees = &((const struct forest *)model)->trees;
	double mean = 0, squares = 0;

	for (size_t i = 0; i < trees->count; i++) {
		const struct flat_tree *flat = &trees->flat[i];
		double value = flat->values[flat_tree_leaf(flat, row)], off = value - mean;

		mean += off / (double)(i + 1);
		squares += off * (value - mean);
	}
	return sqrt(squares / (double)trees->count);
}

static void forest_importance(const void *model, double *share)
{
	trees_importance(&((const struct forest *)model)->trees, share);
}

/* Works like a sliding window with the row count of the first fit. */
static int forest_refresh(void *model, const struct samples *more, const struct effort *effort,
			  struct err *err)
{
	struct forest *forest = model;
	struct trees *trees = &forest->trees;
	double part = fmin((double)more->rows / (double)forest->rows, 1);
	size_t fresh = (size_t)fmax(round(part * (double)trees->count), 1);
	size_t kept = trees->count - fresh;
	AUTO_FREE double *share = NULL;

	if (!more->rows)
		return err_set(err, ENODATA, "no training rows");
	share = xmalloc(trees->width * sizeof(*share));
	for (size_t i = 0; i < fresh; i++)
		flat_tree_release(&trees->flat[i]);
	memmove(trees->flat, trees->flat + fresh, kept * sizeof(*trees->flat));
	grow_trees(more, forest->settings, effort, forest->grown, trees->flat + kept, fresh, share);
	forest->grown += fresh;
	for (size_t i = 0; i < trees->width; i++)
		trees->share[i] = (trees->share[i] * (double)kept + share[i] * (double)fresh) /
				  (double)trees->count;
	trees_share(trees->share, trees->width);
	return 0;
}

static void forest_save(const void *model, struct buf *buf)
{
	const struct forest *forest = model;

	trees_settings_save(forest->settings, learner_setting_count(&learner_forest), buf);
	blob_put_u64(buf, forest->rows);
	blob_put_u64(buf, forest->grown);
	trees_save(&forest->trees, buf);
}

static int forest_load(void **model, struct blob *blob, size_t width, size_t classes,
		       struct err *err)
{
	struct forest *forest = xcalloc(1, sizeof(*forest));
	int r;

	trees_settings_load(&learner_forest, forest->settings,
			    learner_setting_count(&learner_forest), blob);
	forest->rows = blob_take_u64(blob);
	forest->grown = blob_take_u64(blob);
	blob_expect(blob, forest->rows > 0);
	trees_load(&forest->trees, width, classes, growth_answers(classes), blob);
	r = trees_check_loaded(blob, err);
	if (r < 0)
		forest_free(forest);
	else
		*model = forest;
	return r;
}

static const struct learner_setting forest_settings[] = {
	{ .name = "trees",
	  .help = "number of trees",
	  .fallback = 50,
	  .least = 1,
	  .most = 10000,
	  .low = 50,
	  .high = 200,
	  .whole = true },
	{ .name = "features", .help = TREES_FEATURES_HELP, .most = 1, .low = 0.05, .high = 1 },
	{ .name = "leaf",
	  .help = "minimum number of rows of a leaf",
	  .fallback = 1,
	  .least = 1,
	  .most = 1e9,
	  .low = 1,
	  .high = 25,
	  .whole = true,
	  .logarithmic = true },
	TREES_SPLIT,
	{ .name = "depth", .help = "maximum depth; 0: no limit", .most = 1000, .whole = true },
	TREES_CRITERION,
	{ .name = "bootstrap",
	  .help = "draw the rows of a tree with replacement instead of using all",
	  .words = "yes|no",
	  .most = 1,
	  .whole = true },
	{ 0 },
};

const struct learner_ops learner_forest = {
	.name = "forest",
	.help = "random forest; updates replace the oldest trees by trees of the new rows",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "",
	.settings = forest_settings,
	.fit = forest_fit,
	.predict = forest_predict,
	.predict_rows = forest_predict_rows,
	.spread = forest_spread,
	.importance = forest_importance,
	.refresh = forest_refresh,
	.save = forest_save,
	.load = forest_load,
	.free = forest_free,
};
