/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gradient boosting (Friedman 2001): each small tree is grown on the residuals of those before it.
 * It handles numbers, two classes (one tree per round) and more classes (one tree per class and
 * round), with the rules of scikit-learn. A tree stores its leaf values times the learning rate.
 * Rows are sorted by every input once for all trees, or binned if they are many (histogram.h).
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/learners/trees/histogram.h"
#include "learn/learners/trees/trees.h"
#include "learn/math/random.h"

extern const struct learner_ops learner_boosting;

/* Beyond this number of rows, inputs are binned. */
#define BINNED_ROWS 10000

enum loss { LOSS_SQUARED, LOSS_ABSOLUTE, LOSS_HUBER };

struct boosting {
	struct trees trees;		   /* columns x rounds */
	size_t columns, rounds;		   /* number of trees per round */
	double start[LEARNER_CLASSES_MAX]; /* per column: prediction before the first round */
	double settings[LEARNER_SETTINGS_MAX];
	uint64_t rows; /* number of rows of the first fit */
};

/* The state of a fit. */
struct fitting {
	const struct samples *samples;
	enum loss loss;
	double rate, bag, huber;
	double *raw; /* columns x rows: sum of the trees so far */
	/* More than two classes: log of the sum of exp(raw) at the beginning of the round. */
	double *norm;
	double *residuals; /* residuals for the next tree */
	double *sorted;	   /* workspace of losses that need order statistics */
	double reach;	   /* HUBER: errors beyond it count linearly instead of squared */
	uint16_t *in;	   /* rows of this round; NULL: all */
	struct random random;
	struct growth *growth;	     /* NULL: rows are binned */
	struct histogram *histogram; /* NULL: rows are sorted */
	double *gain;
};

static void boosting_free(void *model)
{
	struct boosting *boosting = model;

	if (boosting)
		trees_release(&boosting->trees);
	free(boosting);
}

static double logistic_sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static size_t trees_per_round(size_t classes)
{
	return classes > 2 ? classes : 1;
}

/* Returns the number with this rank; reorders values. */
static double select_rank(double *values, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i >= j)
				break;
			double kept = values[i];

			values[i++] = values[j];
			values[j--] = kept;
		}
		if (rank <= j)
			high = j;
		else
			low = j + 1;
	}
	return values[rank];
}

/* The smallest value that is not exceeded by at least this share of all values. */
static double quantile_of(double *values, size_t count, double share)
{
	double rank = ceil(share * (double)count) - 1;

	return select_rank(values, count, rank < 0 ? 0 : (size_t)rank);
}

static double median_of_copy(const double *values, size_t count)
{
	AUTO_FREE double *copy = xmalloc(count * sizeof(*copy));
	double upper;

	memcpy(copy, values, count * sizeof(*copy));
	upper = select_rank(copy, count, count / 2);
	return count % 2 ? upper : (upper + select_rank(copy, count, count / 2 - 1)) / 2;
}

/* Sets the best constant, as log-odds for classes; a class without rows is very unlikely. */
static void set_start(struct boosting *boosting, const struct samples *samples, enum loss loss)
{
	double counts[LEARNER_CLASSES_MAX] = { 0 }, sum = 0;

	if (!samples->classes && loss != LOSS_SQUARED) {
		boosting->start[0] = median_of_copy(samples->y, samples->rows);
		return;
	}
	for (size_t i = 0; i < samples->rows; i++) {
		sum += samples->y[i];
		if (samples->classes)
			counts[(size_t)samples->y[i]]++;
	}
	if (!samples->classes) {
		boosting->start[0] = sum / (double)samples->rows;
		return;
	}
	for (size_t c = 0; c < samples->classes; c++) {
		double share = counts[c] / (double)samples->rows;

		share = fmin(fmax(share, FLT_EPSILON), 1 - FLT_EPSILON);
		if (samples->classes > 2)
			boosting->start[c] = log(share);
		else if (c == 1)
			boosting->start[0] = log(share / (1 - share));
	}
}

static void set_norms(struct fitting *fit)
{
	size_t rows = fit->samples->rows;

	for (size_t i = 0; i < rows; i++) {
		double most = fit->raw[i], sum;

		for (size_t c = 1; c < fit->samples->classes; c++)
			most = fmax(most, fit->raw[c * rows + i]);
		sum = exp(fit->raw[i] - most);
		for (size_t c = 1; c < fit->samples->classes; c++)
			sum += exp(fit->raw[c * rows + i] - most);
		fit->norm[i] = most + log(sum);
	}
}

static void set_class_residuals(struct fitting *fit, size_t column)
{
	size_t rows = fit->samples->rows;
	const double *y = fit->samples->y, *raw = fit->raw + column * rows;

	if (!fit->norm) {
		for (size_t i = 0; i < rows; i++)
			fit->residuals[i] = y[i] - logistic_sigmoid(raw[i]);
		return;
	}
	for (size_t i = 0; i < rows; i++)
		fit->residuals[i] = (y[i] == (double)column) - exp(raw[i] - fit->norm[i]);
}

static void set_huber_residuals(struct fitting *fit)
{
	size_t count = 0;

	for (size_t i = 0; i < fit->samples->rows; i++) {
		if (!fit->in || fit->in[i])
			fit->sorted[count++] = fabs(fit->samples->y[i] - fit->raw[i]);
	}
	fit->reach = quantile_of(fit->sorted, count, fit->huber);
	for (size_t i = 0; i < fit->samples->rows; i++) {
		double left = fit->samples->y[i] - fit->raw[i];

		fit->residuals[i] = fabs(left) <= fit->reach ? left : copysign(fit->reach, left);
	}
}

/* Sets the target of the next tree: the negative gradient of the loss. */
static void set_residuals(struct fitting *fit, size_t column)
{
	const double *y = fit->samples->y;

	if (fit->samples->classes) {
		set_class_residuals(fit, column);
		return;
	}
	if (fit->loss == LOSS_HUBER) {
		set_huber_residuals(fit);
		return;
	}
	for (size_t i = 0; i < fit->samples->rows; i++) {
		double left = y[i] - fit->raw[i];

		fit->residuals[i] = fit->loss == LOSS_SQUARED ? left : left > 0 ? 1 : -1;
	}
}

/* One step of Newton's method from the sums of first and second derivatives. */
static double class_leaf_value(const struct fitting *fit, const uint32_t *rows, size_t count,
			       size_t column)
{
	double classes = (double)fit->samples->classes, slope = 0, bend = 0;

	for (size_t i = 0; i < count; i++) {
		size_t row = rows[i];
		double residual = fit->residuals[row], y = fit->samples->y[row];
		double chance = (classes > 2 ? y == (double)column : y) - residual;

		slope += residual;
		bend += chance * (1 - chance);
	}
	if (fabs(bend) < 1e-150)
		return 0;
	return classes > 2 ? slope * (classes - 1) / classes / bend : slope / bend;
}

/* The median of the residuals, and for HUBER also the mean of those near it. */
static double median_leaf_value(const struct fitting *fit, const uint32_t *rows, size_t count)
{
	double median, sum = 0;

	for (size_t i = 0; i < count; i++) {
		size_t row = rows[i];

		fit->sorted[i] = fit->samples->y[row] - fit->raw[row];
	}
	median = quantile_of(fit->sorted, count, 0.5);
	if (fit->loss == LOSS_ABSOLUTE)
		return median;
	for (size_t i = 0; i < count; i++) {
		double off = fit->sorted[i] - median;

		sum += copysign(fmin(fabs(off), fit->reach), off);
	}
	return median + sum / (double)count;
}

static void grow_tree(struct fitting *fit, struct flat_tree *flat)
{
	if (fit->histogram)
		histogram_grow(fit->histogram, fit->residuals, fit->in, &fit->random, flat,
			       fit->gain);
	else
		growth_grow(fit->growth, fit->residuals, fit->in, &fit->random, flat, fit->gain);
}

static const struct growth_leaf *tree_leaves(const struct fitting *fit, size_t *count)
{
	return fit->histogram ? histogram_leaves(fit->histogram, count)
			      : growth_leaves(fit->growth, count);
}

static const uint32_t *leaf_rows(const struct fitting *fit, const struct growth_leaf *leaf,
				 size_t *count)
{
	return fit->histogram ? histogram_rows(fit->histogram, leaf, count)
			      : growth_rows(fit->growth, leaf, count);
}

/* Sets the values of the leaves and updates the rows in them. */
static void set_leaves(struct fitting *fit, struct flat_tree *flat, size_t column)
{
	double *raw = fit->raw + column * fit->samples->rows;
	size_t count;
	const struct growth_leaf *leaves = tree_leaves(fit, &count);

	for (size_t i = 0; i < count; i++) {
		size_t size;
		const uint32_t *rows = leaf_rows(fit, &leaves[i], &size);
		double *value = &flat->values[leaves[i].node];

		if (fit->samples->classes)
			*value = class_leaf_value(fit, rows, size, column);
		else if (fit->loss != LOSS_SQUARED)
			*value = median_leaf_value(fit, rows, size);
		*value *= fit->rate;
		for (size_t j = 0; j < size; j++)
			raw[rows[j]] += *value;
	}
}

static void update_rows_outside(struct fitting *fit, const struct flat_tree *flat, size_t column)
{
	const struct samples *samples = fit->samples;

	for (size_t i = 0; i < samples->rows; i++) {
		if (!fit->in[i])
			fit->raw[column * samples->rows + i] +=
				flat->values[flat_tree_leaf(flat, samples->x + i * samples->width)];
	}
}

/* Draws a subset of the rows; each subset is equally likely. */
static void draw_rows(struct fitting *fit)
{
	size_t left = fit->samples->rows;
	size_t wanted = (size_t)fmax(floor(fit->bag * (double)left), 1);

	for (; left; left--) {
		bool take = random_below(&fit->random, left) < wanted;

		fit->in[left - 1] = take;
		wanted -= take;
	}
}

static void grow_round(struct fitting *fit, struct flat_tree *const *flat, size_t columns)
{
	if (fit->in)
		draw_rows(fit);
	if (fit->norm)
		set_norms(fit);
	for (size_t column = 0; column < columns; column++) {
		set_residuals(fit, column);
		grow_tree(fit, flat[column]);
		set_leaves(fit, flat[column], column);
		if (fit->in)
			update_rows_outside(fit, flat[column], column);
	}
}

static void fitting_init(struct fitting *fit, const struct boosting *boosting,
			 const struct samples *samples)
{
	const double *settings = boosting->settings;
	size_t rows = samples->rows;

	*fit = (struct fitting){
		.samples = samples,
		.loss = (enum loss)learner_value(&learner_boosting, settings, "loss"),
		.rate = learner_value(&learner_boosting, settings, "rate"),
		.bag = learner_value(&learner_boosting, settings, "sample"),
		.huber = learner_value(&learner_boosting, settings, "huber"),
		.raw = xmalloc(boosting->columns * rows * sizeof(double)),
		.residuals = xmalloc(rows * sizeof(double)),
		.gain = xcalloc(samples->width, sizeof(double)),
	};
	if (boosting->columns > 1)
		fit->norm = xmalloc(rows * sizeof(double));
	if (!samples->classes && fit->loss != LOSS_SQUARED)
		fit->sorted = xmalloc(rows * sizeof(double));
	if (fit->bag < 1)
		fit->in = xmalloc(rows * sizeof(uint16_t));
}

static void fitting_release(struct fitting *fit)
{
	free(fit->raw);
	free(fit->norm);
	free(fit->residuals);
	free(fit->sorted);
	free(fit->in);
	free(fit->gain);
}

/* Grows rounds from `first` on into empty trees. fit->raw includes the earlier rounds already. */
static void grow_rounds(struct boosting *boosting, struct fitting *fit, size_t first)
{
	size_t bins = (size_t)learner_value(&learner_boosting, boosting->settings, "bins");
	bool binned = bins && fit->samples->rows > BINNED_ROWS;
	struct growth_ranks ranks = { 0 };
	struct growth_plan plan;

	trees_plan(&plan, &learner_boosting, boosting->settings, fit->samples);
	plan.criterion = SPLIT_VARIANCE;
	plan.classes = 0;
	plan.leaves = true;
	if (binned) {
		fit->histogram = histogram_new(fit->samples, &plan, bins);
	} else {
		growth_ranks_init(&ranks, fit->samples, true, true);
		fit->growth = growth_new(&ranks, &plan, false);
	}
	for (size_t round = first; round < boosting->rounds; round++) {
		struct flat_tree *flat[LEARNER_CLASSES_MAX];

		for (size_t c = 0; c < boosting->columns; c++)
			flat[c] = &boosting->trees.flat[c * boosting->rounds + round];
		grow_round(fit, flat, boosting->columns);
	}
	histogram_free(fit->histogram);
	growth_free(fit->growth);
	growth_ranks_release(&ranks);
}

static int boosting_fit(void **model, const struct samples *samples, const double *settings,
			const struct effort *effort, struct err *err)
{
	struct boosting *boosting = xcalloc(1, sizeof(*boosting));
	struct fitting fit;

	(void)err;
	memcpy(boosting->settings, settings,
	       learner_setting_count(&learner_boosting) * sizeof(*settings));
	boosting->columns = trees_per_round(samples->classes);
	boosting->rounds = (size_t)learner_value(&learner_boosting, settings, "trees");
	boosting->rows = samples->rows;
	trees_init(&boosting->trees, samples->width, samples->classes, 1,
		   boosting->columns * boosting->rounds);
	fitting_init(&fit, boosting, samples);
	set_start(boosting, samples, fit.loss);
	for (size_t i = 0; i < boosting->columns * samples->rows; i++)
		fit.raw[i] = boosting->start[i / samples->rows];
	random_stream(&fit.random, effort->seed, 0);
	grow_rounds(boosting, &fit, 0);
	memcpy(boosting->trees.share, fit.gain, samples->width * sizeof(double));
	trees_share(boosting->trees.share, samples->width);
	fitting_release(&fit);
	*model = boosting;
	return 0;
}

/* Converts sums to probabilities in place; out has room for all classes. */
static void convert_raw(size_t classes, double *out)
{
	double most, sum = 0;

	if (classes == 2) {
		out[1] = logistic_sigmoid(out[0]);
		out[0] = 1 - out[1];
		return;
	}
	most = out[learner_best(out, classes)];
	for (size_t c = 0; c < classes; c++)
		sum += out[c] = exp(out[c] - most);
	for (size_t c = 0; c < classes; c++)
		out[c] /= sum;
}

static void boosting_predict(const void *model, const double *row, double *out)
{
	const struct boosting *boosting = model;
	const struct flat_tree *flat = boosting->trees.flat;

	for (size_t c = 0; c < boosting->columns; c++, flat += boosting->rounds) {
		out[c] = boosting->start[c];
		flat_tree_sum(flat, boosting->rounds, 1, row, &out[c]);
	}
	if (boosting->trees.classes)
		convert_raw(boosting->trees.classes, out);
}

static void boosting_importance(const void *model, double *share)
{
	trees_importance(&((const struct boosting *)model)->trees, share);
}

/* Adds room for more rounds after those of every column. */
static void add_rounds(struct boosting *boosting, size_t more)
{
	struct trees *trees = &boosting->trees;
	size_t rounds = boosting->rounds + more;
	struct flat_tree *flat = xcalloc(boosting->columns * rounds, sizeof(*flat));

	for (size_t c = 0; c < boosting->columns; c++)
		memcpy(flat + c * rounds, trees->flat + c * boosting->rounds,
		       boosting->rounds * sizeof(*flat));
	free(trees->flat);
	trees->flat = flat;
	trees->count = boosting->columns * rounds;
	boosting->rounds = rounds;
}

/* Adds rounds that are trained on the new rows, in proportion to the rows of the first fit. */
static int boosting_refresh(void *model, const struct samples *more, const struct effort *effort,
			    struct err *err)
{
	struct boosting *boosting = model;
	size_t before = boosting->rounds, columns = boosting->columns;
	double first = learner_value(&learner_boosting, boosting->settings, "trees");
	double part = fmin((double)more->rows / (double)boosting->rows, 1), kept, added;
	size_t rounds = (size_t)fmax(round(part * first), 1);
	struct fitting fit;

	if (!more->rows)
		return err_set(err, ENODATA, "no training rows");
	if ((double)(before + rounds) > 3 * first)
		return err_set(err, ENOSPC,
			       "%zu rounds were added already; fit it again on recent rows",
			       before - (size_t)first);
	fitting_init(&fit, boosting, more);
	for (size_t c = 0; c < columns; c++) {
		double *raw = fit.raw + c * more->rows;

		for (size_t i = 0; i < more->rows; i++)
			raw[i] = boosting->start[c];
		flat_tree_sum_rows(boosting->trees.flat + c * before, before, 1, more->x,
				   more->width, more->rows, raw);
	}
	add_rounds(boosting, rounds);
	random_stream(&fit.random, effort->seed, before);
	grow_rounds(boosting, &fit, before);
	trees_share(fit.gain, more->width);
	kept = (double)before / (double)boosting->rounds;
	added = (double)rounds / (double)boosting->rounds;
	for (size_t i = 0; i < more->width; i++)
		boosting->trees.share[i] = kept * boosting->trees.share[i] + added * fit.gain[i];
	trees_share(boosting->trees.share, more->width);
	fitting_release(&fit);
	return 0;
}

/*
 * The settings in a file, which only a refresh uses. Those that were added later are not among
 * them, so that the files of all versions can be read.
 */
enum { SETTINGS_SAVED = 9 };

static void boosting_save(const void *model, struct buf *buf)
{
	const struct boosting *boosting = model;

	trees_settings_save(boosting->settings, SETTINGS_SAVED, buf);
	blob_put_u64(buf, boosting->rows);
	blob_put_reals(buf, boosting->start, boosting->columns);
	trees_save(&boosting->trees, buf);
}

static int boosting_load(void **model, struct blob *blob, size_t width, size_t classes,
			 struct err *err)
{
	struct boosting *boosting = xcalloc(1, sizeof(*boosting));
	int r;

	boosting->columns = trees_per_round(classes);
	learner_defaults(&learner_boosting, boosting->settings);
	trees_settings_load(&learner_boosting, boosting->settings, SETTINGS_SAVED, blob);
	boosting->rows = blob_take_u64(blob);
	blob_expect(blob, boosting->rows > 0);
	blob_take_reals(blob, boosting->start, boosting->columns);
	for (size_t c = 0; c < boosting->columns; c++)
		blob_expect(blob, isfinite(boosting->start[c]));
	trees_load(&boosting->trees, width, classes, 1, blob);
	boosting->rounds = boosting->trees.count / boosting->columns;
	blob_expect(blob, boosting->trees.count % boosting->columns == 0);
	r = trees_check_loaded(blob, err);
	if (r < 0)
		boosting_free(boosting);
	else
		*model = boosting;
	return r;
}

/* The search ranges are those of caret's gbm and of a typical random search. */
static const struct learner_setting boosting_settings[] = {
	{ .name = "trees",
	  .help = "rounds",
	  .fallback = 100,
	  .least = 1,
	  .most = 100000,
	  .low = 50,
	  .high = 600,
	  .whole = true,
	  .logarithmic = true },
	{ .name = "depth",
	  .help = "maximum depth of a tree",
	  .fallback = 3,
	  .least = 1,
	  .most = 1000,
	  .low = 1,
	  .high = 10,
	  .whole = true },
	{ .name = "rate",
	  .help = "learning rate: share of each tree that is added",
	  .fallback = 0.1,
	  .least = 1e-6,
	  .most = 1,
	  .low = 0.01,
	  .high = 0.6,
	  .logarithmic = true },
	{ .name = "leaf",
	  .help = "minimum number of rows of a leaf",
	  .fallback = 1,
	  .least = 1,
	  .most = 1e9,
	  .low = 1,
	  .high = 25,
	  .whole = true },
	TREES_SPLIT,
	{ .name = "sample",
	  .help = "share of the rows that each round uses, drawn at random",
	  .fallback = 1,
	  .least = 0.01,
	  .most = 1,
	  .low = 0.5,
	  .high = 1 },
	{ .name = "features",
	  .help = "share of the inputs considered per node, drawn at random",
	  .fallback = 1,
	  .least = 1e-6,
	  .most = 1,
	  .low = 0.3,
	  .high = 1 },
	{ .name = "loss",
	  .help = "loss for regression; classes always use the log loss",
	  .words = "squared|absolute|huber",
	  .most = 2,
	  .high = 2,
	  .whole = true },
	{ .name = "huber",
	  .help = "share of the errors that huber squares",
	  .fallback = 0.9,
	  .least = 0.01,
	  .most = 1,
	  .low = 0.9,
	  .high = 0.9 },
	{ .name = "bins",
	  .help = "maximum number of bins of an input if there are more than 10,000 rows; 0: "
		  "cuts are possible between all values",
	  .fallback = 255,
	  .least = 0,
	  .most = HISTOGRAM_BINS_MAX,
	  .low = 255,
	  .high = 255,
	  .whole = true },
	{ 0 },
};

const struct learner_ops learner_boosting = {
	.name = "boosting",
	.help = "gradient boosting of small trees; updates add rounds on the new rows, up to "
		"three times the first ones; needs 8 more bytes per row, 8 for a loss other than "
		"squared, 10 if rows are drawn, 8 for each of more than two classes",
	.tasks = LEARNER_REGRESSES | LEARNER_CLASSIFIES,
	.recipe = "",
	.settings = boosting_settings,
	.fit = boosting_fit,
	.predict = boosting_predict,
	.importance = boosting_importance,
	.refresh = boosting_refresh,
	.save = boosting_save,
	.load = boosting_load,
	.free = boosting_free,
};
