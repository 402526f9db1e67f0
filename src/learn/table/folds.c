/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every kind of fold cuts one order of the rows into pieces. In time, rows of equal time form a
 * run, and cuts fall only between runs.
 */
#include "learn/table/folds.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/random.h"

static int compare_keys(const void *a, const void *b, void *arg)
{
	const double *key = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (key[i] != key[j])
		return key[i] < key[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

static size_t *list_rows(size_t rows)
{
	size_t *order = xcalloc(rows, sizeof(*order));

	for (size_t i = 0; i < rows; i++)
		order[i] = i;
	return order;
}

/* Row indices by ascending key; equal keys keep the order of rows. NULL: the order of rows. */
static size_t *sort_rows(size_t rows, const double *key)
{
	size_t *order = list_rows(rows);

	if (key)
		qsort_r(order, rows, sizeof(*order), compare_keys, (void *)key);
	return order;
}

static size_t *shuffle_rows(size_t rows, uint64_t seed)
{
	size_t *order = list_rows(rows);
	struct random random;

	random_init(&random, seed);
	random_shuffle(&random, order, rows);
	return order;
}

struct runs {
	size_t *starts; /* start of each run in the order, then the number of rows */
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

/* Finds the run in [first, last] that begins nearest to the wanted cut; the later one of two. */
static size_t find_nearest_run(const struct runs *runs, size_t wanted, size_t first, size_t last)
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
 * The cuts of scikit-learn's KFold give one more row to the first rows % blocks blocks; those of
 * its TimeSeriesSplit give all extra rows to the first block.
 */
static size_t ideal_cut(size_t rows, size_t blocks, size_t cut, bool forward)
{
	size_t size = rows / blocks, over = rows % blocks;

	return cut * size + (forward || cut > over ? over : cut);
}

static int cut_in_time(struct folds *folds, size_t blocks, const double *key, struct err *err)
{
	AUTO_FREE size_t *order = sort_rows(folds->rows, key);
	AUTO_RUNS struct runs runs = { 0 };
	size_t run = 0, next;

	runs_find(&runs, order, key, folds->rows);
	if (runs.count < blocks)
		return err_set(err, EINVAL, "%zu distinct times are too few for %zu blocks in time",
			       runs.count, blocks);
	for (size_t block = 0; block < blocks; block++, run = next) {
		size_t wanted =
			ideal_cut(folds->rows, blocks, block + 1, folds->kind == FOLDS_FORWARD);

		/* Leave at least one run for every later block. */
		next = find_nearest_run(&runs, wanted, run + 1, runs.count - (blocks - 1 - block));
		for (size_t i = runs.starts[run]; i < runs.starts[next]; i++)
			folds->of[order[i]] = (uint32_t)block;
	}
	return 0;
}

static int deal_plain(struct folds *folds, uint64_t seed)
{
	AUTO_FREE size_t *order = shuffle_rows(folds->rows, seed);

	for (size_t i = 0; i < folds->rows; i++)
		folds->of[order[i]] = (uint32_t)(i % folds->count);
	return 0;
}

/* Shuffles each class and deals the rows in turn: class counts and sizes differ by at most one. */
static int deal_stratified(struct folds *folds, const double *key, uint64_t seed)
{
	AUTO_FREE size_t *order = sort_rows(folds->rows, key);
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
	size_t start, size; /* position in the order */
	uint64_t lot;	    /* breaks ties of equal size */
};

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a, *right = b;

	if (left->size != right->size)
		return left->size < right->size ? 1 : -1;
	if (left->lot != right->lot)
		return left->lot < right->lot ? -1 : 1;
	return left->start < right->start ? -1 : left->start > right->start;
}

static struct group *make_groups(const struct runs *runs, uint64_t seed)
{
	struct group *groups = xcalloc(runs->count, sizeof(*groups));
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < runs->count; i++)
		groups[i] = (struct group){ .start = runs->starts[i],
					    .size = runs->starts[i + 1] - runs->starts[i],
					    .lot = random_u64(&random) };
	qsort(groups, runs->count, sizeof(*groups), compare_groups);
	return groups;
}

static size_t find_smallest(const size_t *sizes, size_t count)
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
	AUTO_FREE size_t *order = sort_rows(folds->rows, key), *sizes = NULL;
	AUTO_FREE struct group *groups = NULL;
	AUTO_RUNS struct runs runs = { 0 };

	runs_find(&runs, order, key, folds->rows);
	if (runs.count < folds->count)
		return err_set(err, EINVAL, "%zu groups are too few for %zu folds", runs.count,
			       folds->count);
	groups = make_groups(&runs, seed);
	sizes = xcalloc(folds->count, sizeof(*sizes));
	for (size_t i = 0; i < runs.count; i++) {
		size_t fold = find_smallest(sizes, folds->count);

		for (size_t j = 0; j < groups[i].size; j++)
			folds->of[order[groups[i].start + j]] = (uint32_t)fold;
		sizes[fold] += groups[i].size;
	}
	return 0;
}

static int assign_given(struct folds *folds, const double *key, struct err *err)
{
	AUTO_FREE bool *used = xcalloc(folds->count, sizeof(*used));

	for (size_t i = 0; i < folds->rows; i++) {
		if (!(key[i] >= 0 && key[i] < (double)folds->count) || key[i] != floor(key[i]))
			return err_set(err, EINVAL, "row %zu: invalid fold %g; expected 0 to %zu",
				       i + 1, key[i], folds->count - 1);
		folds->of[i] = (uint32_t)key[i];
		used[folds->of[i]] = true;
	}
	for (size_t i = 0; i < folds->count; i++) {
		if (!used[i])
			return err_set(err, EINVAL, "fold %zu has no rows", i);
	}
	return 0;
}

static int check_arguments(enum folds_kind kind, size_t count, size_t rows, const double *key,
			   struct err *err)
{
	size_t least = kind == FOLDS_FORWARD ? 1 : 2, blocks = count + (kind == FOLDS_FORWARD);

	if (count < least || count > UINT32_MAX - 1)
		return err_set(err, EINVAL, "%zu folds are too few; at least %zu are needed", count,
			       least);
	if (rows < blocks)
		return err_set(err, EINVAL, "%zu rows are too few for %zu folds", rows, count);
	if (!key && (kind == FOLDS_STRATIFIED || kind == FOLDS_GROUPED || kind == FOLDS_GIVEN))
		return err_set(err, EINVAL, "this kind of folds needs a key column");
	if (kind == FOLDS_PLAIN)
		return 0;
	for (size_t i = 0; key && i < rows; i++) {
		if (isnan(key[i]))
			return err_set(err, EINVAL,
				       "row %zu has no value in the key column of the folds",
				       i + 1);
	}
	return 0;
}

int folds_init(struct folds *folds, enum folds_kind kind, size_t count, size_t rows,
	       const double *key, uint64_t seed, struct err *err)
{
	struct folds made = { .kind = kind, .count = count, .rows = rows };
	int r = check_arguments(kind, count, rows, key, err);

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
		r = assign_given(&made, key, err);
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
