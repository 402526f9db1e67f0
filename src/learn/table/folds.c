/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All kinds come down to one order of the rows, cut into pieces. In time, rows of equal time make a
 * run, and cuts fall between runs only.
 */
#include "learn/table/folds.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/maths/random.h"

/* ---- orders ---- */

static int key_compare(const void *a, const void *b, void *arg)
{
	const double *key = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (key[i] != key[j])
		return key[i] < key[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

static size_t *rows_new(size_t rows)
{
	size_t *order = xcalloc(rows, sizeof(*order));

	for (size_t i = 0; i < rows; i++)
		order[i] = i;
	return order;
}

/* By ascending key; equal ones in the order of rows. NULL: the order of rows. */
static size_t *rows_sorted(size_t rows, const double *key)
{
	size_t *order = rows_new(rows);

	if (key)
		qsort_r(order, rows, sizeof(*order), key_compare, (void *)key);
	return order;
}

static size_t *rows_shuffled(size_t rows, uint64_t seed)
{
	size_t *order = rows_new(rows);
	struct random random;

	random_init(&random, seed);
	random_shuffle(&random, order, rows);
	return order;
}

/* ---- cuts in time ---- */

struct runs {
	size_t *starts; /* of each run in the order; one more at the end: rows */
	size_t count;
};

static void runs_release(struct runs *runs)
{
	free(runs->starts);
}

#define AUTO_RUNS __attribute__((cleanup(runs_release)))

static void runs_find(struct runs *runs, const size_t *order, const double *key, size_t rows)
{
	runs->count = 0;
	runs->starts = xcalloc(rows + 1, sizeof(*runs->starts));
	for (size_t i = 0; i < rows; i++) {
		if (!i || !key || key[order[i]] != key[order[i - 1]])
			runs->starts[runs->count++] = i;
	}
	runs->starts[runs->count] = rows;
}

/* The run in [first, last] that begins nearest to where a cut is wanted; the later of two. */
static size_t run_nearest(const struct runs *runs, size_t wanted, size_t first, size_t last)
{
	size_t low = first, high = last;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->starts[middle] >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	if (low > first && runs->starts[low] > wanted &&
	    wanted - runs->starts[low - 1] < runs->starts[low] - wanted)
		low--;
	return low;
}

/*
 * Sizes of scikit-learn's KFold: the first rows % blocks have one more; those of its
 * TimeSeriesSplit: the first block has all that is over.
 */
static size_t cut_wanted(size_t rows, size_t blocks, size_t cut, bool forward)
{
	size_t size = rows / blocks, over = rows % blocks;

	return cut * size + (forward || cut > over ? over : cut);
}

static int cut_in_time(struct folds *folds, size_t blocks, const double *key, struct err *err)
{
	AUTO_FREE size_t *order = rows_sorted(folds->rows, key);
	AUTO_RUNS struct runs runs = { 0 };
	size_t run = 0, next;

	runs_find(&runs, order, key, folds->rows);
	if (runs.count < blocks)
		return err_set(err, EINVAL,
			       "%zu different times are too few for %zu blocks in time", runs.count,
			       blocks);
	for (size_t block = 0; block < blocks; block++, run = next) {
		size_t wanted =
			cut_wanted(folds->rows, blocks, block + 1, folds->kind == FOLDS_FORWARD);

		/* Every later block keeps a run. */
		next = run_nearest(&runs, wanted, run + 1, runs.count - (blocks - 1 - block));
		for (size_t i = runs.starts[run]; i < runs.starts[next]; i++)
			folds->of[order[i]] = (uint32_t)block;
	}
	return 0;
}

/* ---- the other kinds ---- */

static int deal_plain(struct folds *folds, uint64_t seed)
{
	AUTO_FREE size_t *order = rows_shuffled(folds->rows, seed);

	for (size_t i = 0; i < folds->rows; i++)
		folds->of[order[i]] = (uint32_t)(i % folds->count);
	return 0;
}

/* Shuffled within each class, then dealt like cards: classes and sizes differ by one at most. */
static int deal_stratified(struct folds *folds, const double *key, uint64_t seed)
{
	AUTO_FREE size_t *order = rows_sorted(folds->rows, key);
	struct random random;
	size_t from = 0;

	random_init(&random, seed);
	for (size_t i = 1; i <= folds->rows; i++) {
		if (i < folds->rows && key[order[i]] == key[order[from]])
			continue;
		random_shuffle(&random, order + from, i - from);
		from = i;
	}
	for (size_t i = 0; i < folds->rows; i++)
		folds->of[order[i]] = (uint32_t)(i % folds->count);
	return 0;
}

struct group {
	size_t start, size; /* in the order */
	uint64_t lot;	    /* decides between groups of one size */
};

static int group_compare(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->size != right->size)
		return left->size < right->size ? 1 : -1;
	if (left->lot != right->lot)
		return left->lot < right->lot ? -1 : 1;
	return left->start < right->start ? -1 : left->start > right->start;
}

static struct group *groups_draw(const struct runs *runs, uint64_t seed)
{
	struct group *groups = xcalloc(runs->count, sizeof(*groups));
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < runs->count; i++)
		groups[i] = (struct group){ .start = runs->starts[i],
					    .size = runs->starts[i + 1] - runs->starts[i],
					    .lot = random_u64(&random) };
	qsort(groups, runs->count, sizeof(*groups), group_compare);
	return groups;
}

static size_t smallest(const size_t *sizes, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++) {
		if (sizes[i] < sizes[best])
			best = i;
	}
	return best;
}

static int deal_groups(struct folds *folds, const double *key, uint64_t seed, struct err *err)
{
	AUTO_FREE size_t *order = rows_sorted(folds->rows, key), *sizes = NULL;
	AUTO_FREE struct group *groups = NULL;
	AUTO_RUNS struct runs runs = { 0 };

	runs_find(&runs, order, key, folds->rows);
	if (runs.count < folds->count)
		return err_set(err, EINVAL, "%zu groups are too few for %zu folds", runs.count,
			       folds->count);
	groups = groups_draw(&runs, seed);
	sizes = xcalloc(folds->count, sizeof(*sizes));
	for (size_t i = 0; i < runs.count; i++) {
		size_t fold = smallest(sizes, folds->count);

		for (size_t j = 0; j < groups[i].size; j++)
			folds->of[order[groups[i].start + j]] = (uint32_t)fold;
		sizes[fold] += groups[i].size;
	}
	return 0;
}

static int take_given(struct folds *folds, const double *key, struct err *err)
{
	AUTO_FREE bool *used = xcalloc(folds->count, sizeof(*used));

	for (size_t i = 0; i < folds->rows; i++) {
		if (!(key[i] >= 0 && key[i] < (double)folds->count) || key[i] != floor(key[i]))
			return err_set(err, EINVAL, "row %zu: %g is not a fold of 0 to %zu", i + 1,
				       key[i], folds->count - 1);
		folds->of[i] = (uint32_t)key[i];
		used[folds->of[i]] = true;
	}
	for (size_t i = 0; i < folds->count; i++) {
		if (!used[i])
			return err_set(err, EINVAL, "fold %zu has no rows", i);
	}
	return 0;
}

/* ---- folds ---- */

static int folds_check(enum folds_kind kind, size_t count, size_t rows, const double *key,
		       struct err *err)
{
	size_t least = kind == FOLDS_FORWARD ? 1 : 2, blocks = count + (kind == FOLDS_FORWARD);

	if (count < least || count > UINT32_MAX - 1)
		return err_set(err, EINVAL, "%zu folds: there must be %zu at least", count, least);
	if (rows < blocks)
		return err_set(err, EINVAL, "%zu rows are too few for %zu folds", rows, count);
	if (!key && (kind == FOLDS_STRATIFIED || kind == FOLDS_GROUPED || kind == FOLDS_GIVEN))
		return err_set(err, EINVAL, "folds of this kind need a column to go by");
	if (kind == FOLDS_PLAIN)
		return 0;
	for (size_t i = 0; key && i < rows; i++) {
		if (isnan(key[i]))
			return err_set(err, EINVAL,
				       "row %zu has no value in the column that folds go by",
				       i + 1);
	}
	return 0;
}

int folds_init(struct folds *folds, enum folds_kind kind, size_t count, size_t rows,
	       const double *key, uint64_t seed, struct err *err)
{
	struct folds made = { .kind = kind, .count = count, .rows = rows };
	int r = folds_check(kind, count, rows, key, err);

	if (r < 0)
		return r;
	made.of = xcalloc(rows, sizeof(*made.of));
	switch (kind) {
	case FOLDS_PLAIN:
		r = deal_plain(&made, seed);
		break;
	case FOLDS_STRATIFIED:
		r = deal_stratified(&made, key, seed);
		break;
	case FOLDS_BLOCKED:
		r = cut_in_time(&made, count, key, err);
		break;
	case FOLDS_GROUPED:
		r = deal_groups(&made, key, seed, err);
		break;
	case FOLDS_FORWARD:
		r = cut_in_time(&made, count + 1, key, err);
		break;
	case FOLDS_GIVEN:
		r = take_given(&made, key, err);
		break;
	}
	if (r < 0) {
		folds_release(&made);
		return r;
	}
	*folds = made;
	return 0;
}

void folds_release(struct folds *folds)
{
	free(folds->of);
	*folds = (struct folds){ 0 };
}

void folds_split(const struct folds *folds, size_t fold, size_t *train, size_t *train_count,
		 size_t *test, size_t *test_count)
{
	bool forward = folds->kind == FOLDS_FORWARD;
	size_t tested = forward ? fold + 1 : fold;

	*train_count = *test_count = 0;
	for (size_t i = 0; i < folds->rows; i++) {
		if (folds->of[i] == tested)
			test[(*test_count)++] = i;
		else if (!forward || folds->of[i] < tested)
			train[(*train_count)++] = i;
	}
}

int folds_cut(size_t rows, double share, const double *time, uint64_t seed, size_t *train,
	      size_t *train_count, size_t *test, size_t *test_count, struct err *err)
{
	AUTO_FREE size_t *order = NULL;
	AUTO_FREE bool *trains = NULL;
	AUTO_RUNS struct runs runs = { 0 };
	size_t cut;

	if (!(share > 0 && share < 1))
		return err_set(err, EINVAL, "the share of rows that train is between 0 and 1");
	for (size_t i = 0; time && i < rows; i++) {
		if (isnan(time[i]))
			return err_set(err, EINVAL, "row %zu has no time", i + 1);
	}
	order = time ? rows_sorted(rows, time) : rows_shuffled(rows, seed);
	runs_find(&runs, order, time, rows);
	if (runs.count < 2)
		return err_set(err, EINVAL, "%zu row%s of %zu time%s cannot be cut in two", rows,
			       rows == 1 ? "" : "s", runs.count, runs.count == 1 ? "" : "s");
	cut = runs.starts[run_nearest(&runs, (size_t)(share * (double)rows + 0.5), 1,
				      runs.count - 1)];
	trains = xcalloc(rows, sizeof(*trains));
	for (size_t i = 0; i < cut; i++)
		trains[order[i]] = true;
	*train_count = *test_count = 0;
	for (size_t i = 0; i < rows; i++) {
		if (trains[i])
			train[(*train_count)++] = i;
		else
			test[(*test_count)++] = i;
	}
	return 0;
}
