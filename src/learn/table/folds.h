/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splits rows into training and test rows. A split is reproducible by its seed, and a split in time
 * never trains on rows that are later than the tested ones.
 */
#ifndef SLUICE_LEARN_TABLE_FOLDS_H
#define SLUICE_LEARN_TABLE_FOLDS_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum folds_kind {
	FOLDS_PLAIN,	  /* shuffled; fold sizes differ by at most one */
	FOLDS_STRATIFIED, /* shuffled; each fold has its share of every class (key: the class) */
	FOLDS_BLOCKED,	  /* consecutive in time (key: the time; NULL: the order of rows) */
	FOLDS_GROUPED,	  /* rows of one group stay together (key: the group); balanced sizes */
	FOLDS_FORWARD,	  /* blocks in time; a tested block is trained on earlier blocks only */
	FOLDS_GIVEN,	  /* the key is the fold, 0 .. count - 1 */
};
#define FOLDS_WORDS "plain|stratified|blocked|grouped|forward|given"

struct folds {
	enum folds_kind kind;
	/* Number of folds; FORWARD has one more block, the first, which is never tested. */
	size_t count;
	size_t rows;
	uint32_t *of; /* the fold of each row; FORWARD: its block */
};

/*
 * Blocks in time have the sizes of scikit-learn's KFold (BLOCKED) and TimeSeriesSplit (FORWARD),
 * except that rows of equal time stay together. Fails if a fold would be empty or the key has a
 * missing value.
 */
int folds_init(struct folds *folds, enum folds_kind kind, size_t count, size_t rows,
	       const double *key, uint64_t seed, struct err *err);
void folds_release(struct folds *folds);

/*
 * Lists the training and the test rows of a fold in ascending order. Each array has room for all
 * rows.
 */
void folds_split(const struct folds *folds, size_t fold, size_t *train, size_t *train_count,
		 size_t *test, size_t *test_count);

#endif
