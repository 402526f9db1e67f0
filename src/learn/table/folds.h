/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rows train and which test. A split is reproducible by its seed and never looks ahead where
 * rows are in time.
 */
#ifndef SLUICE_LEARN_TABLE_FOLDS_H
#define SLUICE_LEARN_TABLE_FOLDS_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum folds_kind {
	FOLDS_PLAIN,	  /* shuffled; sizes differ by one at most */
	FOLDS_STRATIFIED, /* shuffled; each fold has its share of every class (key: the class) */
	FOLDS_BLOCKED,	  /* consecutive in time (key: the time; NULL: the order of rows) */
	FOLDS_GROUPED,	  /* rows of one group stay together (key: the group); sizes balanced */
	FOLDS_FORWARD,	  /* blocks in time; a block is tested by what came before it only */
	FOLDS_GIVEN,	  /* key is the fold's number, 0 .. count - 1 */
};
#define FOLDS_WORDS "plain|stratified|blocked|grouped|forward|given"

struct folds {
	enum folds_kind kind;
	size_t count; /* of folds; FORWARD has one block more, the first, that is never tested */
	size_t rows;
	uint32_t *of; /* per row: its fold; FORWARD: its block */
};

/*
 * Blocks in time have the sizes of scikit-learn's KFold (BLOCKED) and TimeSeriesSplit (FORWARD), as
 * far as rows of equal time, which stay together, allow. Fails where a fold would be empty or the
 * key is missing a value.
 */
int folds_init(struct folds *folds, enum folds_kind kind, size_t count, size_t rows,
	       const double *key, uint64_t seed, struct err *err);
void folds_release(struct folds *folds);

/*
 * Rows that train and test fold number `fold`, in ascending order. Arrays have room for all rows.
 */
void folds_split(const struct folds *folds, size_t fold, size_t *train, size_t *train_count,
		 size_t *test, size_t *test_count);

/*
 * One split: `share` of the rows train. In time (time not NULL): the earlier ones; rows of equal
 * time stay on one side. Else at random. Arrays as above.
 */
int folds_cut(size_t rows, double share, const double *time, uint64_t seed, size_t *train,
	      size_t *train_count, size_t *test, size_t *test_count, struct err *err);

#endif
