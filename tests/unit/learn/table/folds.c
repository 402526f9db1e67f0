/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-44.
 */
#include "learn/table/folds.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "base/err.h"
#include "check.h"
#include "learn/math/random.h"

enum { MAX = 1000 };

struct split {
	size_t train[MAX], test[MAX], train_count, test_count;
};

static void split(const struct folds *folds, size_t fold, struct split *split)
{
	folds_split(folds, fold, split->train, &split->train_count, split->test,
		    &split->test_count);
}

/* Every row is tested once and trains in all other folds; rows are in ascending order. */
static void check_partition(const struct folds *folds)
{
	size_t tested[MAX] = { 0 };
	struct split s;

	for (size_t fold = 0; fold < folds->count; fold++) {
		split(folds, fold, &s);
		CHECK(s.test_count > 0);
		CHECK(s.train_count + s.test_count == folds->rows);
		for (size_t i = 0; i < s.test_count; i++) {
			tested[s.test[i]]++;
			CHECK(!i || s.test[i - 1] < s.test[i]);
		}
		for (size_t i = 1; i < s.train_count; i++)
			CHECK(s.train[i - 1] < s.train[i]);
	}
	for (size_t i = 0; i < folds->rows; i++)
		CHECK_INT(tested[i], 1);
}

static size_t fold_size(const struct folds *folds, size_t fold)
{
	size_t size = 0;

	for (size_t i = 0; i < folds->rows; i++)
		size += folds->of[i] == fold;
	return size;
}

static void plain_folds_differ_by_one_row_at_most(void)
{
	struct folds folds, again, other;

	REQUIRE(folds_init(&folds, FOLDS_PLAIN, 10, 103, NULL, 1, NULL) == 0);
	REQUIRE(folds_init(&again, FOLDS_PLAIN, 10, 103, NULL, 1, NULL) == 0);
	REQUIRE(folds_init(&other, FOLDS_PLAIN, 10, 103, NULL, 2, NULL) == 0);
	check_partition(&folds);
	for (size_t i = 0; i < 10; i++)
		CHECK(fold_size(&folds, i) == 10 + (i < 3));
	CHECK(memcmp(folds.of, again.of, 103 * sizeof(*folds.of)) == 0);
	CHECK(memcmp(folds.of, other.of, 103 * sizeof(*folds.of)) != 0);
	folds_release(&folds);
	folds_release(&again);
	folds_release(&other);
}

static void stratified_folds_keep_the_shares(void)
{
	double key[200];
	struct folds folds;

	for (size_t i = 0; i < 200; i++)
		key[i] = i % 10 == 0 ? 1 : i % 7 == 0 ? 2 : 0;
	REQUIRE(folds_init(&folds, FOLDS_STRATIFIED, 8, 200, key, 3, NULL) == 0);
	check_partition(&folds);
	for (double class = 0; class < 3; class ++) {
		size_t total = 0, least = MAX, most = 0;

		for (size_t fold = 0; fold < 8; fold++) {
			size_t count = 0;

			for (size_t i = 0; i < 200; i++)
				count += folds.of[i] == fold && key[i] == class;
			total += count;
			least = count < least ? count : least;
			most = count > most ? count : most;
		}
		CHECK(total / 8 == least);
		CHECK(most <= least + 1);
	}
	for (size_t fold = 0; fold < 8; fold++)
		CHECK_INT(fold_size(&folds, fold), 25);
	folds_release(&folds);
}

/* sklearn.model_selection, 1.2.1: KFold(5) and TimeSeriesSplit(4) of the rows in time order. */
static const double scrambled[23] = { 0,  7,  14, 21, 5,  12, 19, 3,  10, 17, 1, 8,
				      15, 22, 6,  13, 20, 4,  11, 18, 2,  9,  16 };
static const uint32_t kfold[23] = { 0, 1, 2, 4, 1, 2, 4, 0, 2, 3, 0, 1,
				    3, 4, 1, 2, 4, 0, 2, 3, 0, 1, 3 };
static const uint32_t time_series[23] = { 0, 1, 2, 4, 0, 2, 4, 0, 1, 3, 0, 1,
					  3, 4, 0, 2, 4, 0, 2, 3, 0, 1, 3 };

static void blocks_are_those_of_the_reference(void)
{
	struct folds folds;

	REQUIRE(folds_init(&folds, FOLDS_BLOCKED, 5, 23, scrambled, 0, NULL) == 0);
	CHECK(memcmp(folds.of, kfold, sizeof(kfold)) == 0);
	check_partition(&folds);
	folds_release(&folds);
	REQUIRE(folds_init(&folds, FOLDS_FORWARD, 4, 23, scrambled, 0, NULL) == 0);
	CHECK(memcmp(folds.of, time_series, sizeof(time_series)) == 0);
	folds_release(&folds);
	/* Without a key, the order of rows is the order in time. */
	REQUIRE(folds_init(&folds, FOLDS_BLOCKED, 5, 23, NULL, 0, NULL) == 0);
	for (size_t i = 1; i < 23; i++)
		CHECK(folds.of[i] >= folds.of[i - 1]);
	folds_release(&folds);
}

static void forward_never_looks_ahead(void)
{
	struct random random;
	double time[300];
	struct folds folds;
	struct split s;

	random_init(&random, 7);
	for (size_t i = 0; i < 300; i++)
		time[i] = (double)random_below(&random, 60);
	REQUIRE(folds_init(&folds, FOLDS_FORWARD, 6, 300, time, 0, NULL) == 0);
	for (size_t fold = 0, before = 0; fold < 6; fold++) {
		double latest = -INFINITY, earliest = INFINITY;

		split(&folds, fold, &s);
		CHECK(s.train_count > before);
		CHECK(s.test_count > 0);
		before = s.train_count;
		for (size_t i = 0; i < s.train_count; i++)
			latest = fmax(latest, time[s.train[i]]);
		for (size_t i = 0; i < s.test_count; i++)
			earliest = fmin(earliest, time[s.test[i]]);
		CHECK(latest < earliest);
	}
	folds_release(&folds);
}

static void rows_of_one_time_stay_in_one_block(void)
{
	/* The ideal cuts are after 4 and 8 of 12 rows. */
	static const double time[12] = { 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 4, 5 };
	static const uint32_t expected[12] = { 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2 };
	/* A long run comes first; each block still gets at least one time. */
	static const double front[6] = { 1, 1, 1, 1, 2, 3 };
	static const uint32_t front_expected[6] = { 0, 0, 0, 0, 1, 2 };
	struct folds folds;
	struct err err;

	REQUIRE(folds_init(&folds, FOLDS_BLOCKED, 3, 12, time, 0, NULL) == 0);
	CHECK(memcmp(folds.of, expected, sizeof(expected)) == 0);
	folds_release(&folds);
	REQUIRE(folds_init(&folds, FOLDS_BLOCKED, 3, 6, front, 0, NULL) == 0);
	CHECK(memcmp(folds.of, front_expected, sizeof(front_expected)) == 0);
	folds_release(&folds);
	CHECK_INT(folds_init(&folds, FOLDS_BLOCKED, 4, 6, front, 0, &err), -EINVAL);
	CHECK_WORDS(err.text, "4 blocks");
}

static void groups_are_never_split_and_sizes_balance(void)
{
	struct random random;
	double key[600];
	struct folds folds, other;

	random_init(&random, 5);
	for (size_t i = 0; i < 600; i++)
		key[i] = floor(40 * pow(random_real(&random), 2)) * 1.5 - 7;
	REQUIRE(folds_init(&folds, FOLDS_GROUPED, 5, 600, key, 1, NULL) == 0);
	REQUIRE(folds_init(&other, FOLDS_GROUPED, 5, 600, key, 2, NULL) == 0);
	check_partition(&folds);
	for (size_t i = 0; i < 600; i++) {
		for (size_t j = 0; j < i; j++)
			CHECK(key[i] != key[j] || folds.of[i] == folds.of[j]);
	}
	for (size_t i = 0; i < 5; i++)
		CHECK(fold_size(&folds, i) >= 115 && fold_size(&folds, i) <= 125);
	CHECK(memcmp(folds.of, other.of, 600 * sizeof(*folds.of)) != 0);
	folds_release(&folds);
	folds_release(&other);
}

static void given_folds_are_used_unchanged(void)
{
	static const double key[] = { 2, 0, 1, 1, 2 }, odd[] = { 0, 1, 0.5 }, gap[] = { 0, 2, 2 };
	struct folds folds;
	struct err err;

	REQUIRE(folds_init(&folds, FOLDS_GIVEN, 3, 5, key, 0, NULL) == 0);
	for (size_t i = 0; i < 5; i++)
		CHECK_INT(folds.of[i], key[i]);
	folds_release(&folds);
	CHECK_INT(folds_init(&folds, FOLDS_GIVEN, 2, 3, odd, 0, &err), -EINVAL);
	CHECK_WORDS(err.text, "row 3|0.5");
	CHECK_INT(folds_init(&folds, FOLDS_GIVEN, 3, 3, gap, 0, &err), -EINVAL);
	CHECK(strstr(err.text, "fold 1"));
	CHECK_INT(folds_init(&folds, FOLDS_GIVEN, 2, 3, gap, 0, &err), -EINVAL);
}

static void invalid_folds_are_rejected(void)
{
	static const double key[] = { 1, 1, NAN, 2 };
	struct folds folds = { .rows = 77 };
	struct err err;

	CHECK_INT(folds_init(&folds, FOLDS_PLAIN, 5, 4, NULL, 0, &err), -EINVAL);
	CHECK_WORDS(err.text, "5 folds");
	CHECK_INT(folds_init(&folds, FOLDS_PLAIN, 1, 4, NULL, 0, &err), -EINVAL);
	CHECK_INT(folds_init(&folds, FOLDS_PLAIN, 0, 0, NULL, 0, &err), -EINVAL);
	CHECK_INT(folds_init(&folds, FOLDS_FORWARD, 4, 4, NULL, 0, &err), -EINVAL);
	CHECK_INT(folds_init(&folds, FOLDS_STRATIFIED, 2, 4, NULL, 0, &err), -EINVAL);
	CHECK_INT(folds_init(&folds, FOLDS_BLOCKED, 2, 4, key, 0, &err), -EINVAL);
	CHECK(strstr(err.text, "row 3"));
	CHECK_INT(folds_init(&folds, FOLDS_GROUPED, 3, 2, key, 0, &err), -EINVAL);
	CHECK_INT(folds_init(&folds, FOLDS_GROUPED, 2, 2, key, 0, &err), -EINVAL);
	CHECK_WORDS(err.text, "2 folds");
	CHECK_INT(folds.rows, 77);
}

TESTS(TEST(plain_folds_differ_by_one_row_at_most), TEST(stratified_folds_keep_the_shares),
      TEST(blocks_are_those_of_the_reference), TEST(forward_never_looks_ahead),
      TEST(rows_of_one_time_stay_in_one_block), TEST(groups_are_never_split_and_sizes_balance),
      TEST(given_folds_are_used_unchanged), TEST(invalid_folds_are_rejected))
