/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/table/dataset.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "check.h"

static const char *const names[] = { "time", "fs_read", "fs_write", "fs_max_read", "odd[1]*" };

static void table_make(struct dataset *dataset, size_t rows)
{
	dataset_init(dataset, rows, 5, names);
	for (size_t i = 0; i < rows * 5; i++)
		dataset->values[i] = (double)i;
}

static void new_table_is_all_missing(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };

	dataset_init(&dataset, 2, 5, names);
	CHECK_INT(dataset.rows, 2);
	CHECK_TEXT(dataset.columns[3].name, "fs_max_read");
	for (size_t i = 0; i < 10; i++)
		CHECK(isnan(dataset.values[i]));
}

static void unknown_name_lists_names_like_it(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err;

	table_make(&dataset, 1);
	CHECK_INT(dataset_find(&dataset, "fs_write", &err), 2);
	CHECK_INT(dataset_find(&dataset, "fs_raed", &err), -ENOENT);
	CHECK(strstr(err.text, "\"fs_raed\"; columns: fs_read"));
	CHECK_INT(dataset_find(&dataset, "READ", &err), -ENOENT);
	CHECK(strstr(err.text, "columns: fs_read, fs_max_read"));
	CHECK_INT(dataset_find(&dataset, "quite else", &err), -ENOENT);
	CHECK(strstr(err.text, "columns: time, fs_read, fs_write"));
	CHECK_INT(dataset_find(&dataset, "time", NULL), 0);
}

static void choose(const struct dataset *dataset, const char *list, const char *expected)
{
	size_t *chosen = NULL, count = 0;
	char got[64] = "";
	struct err err;
	int r = dataset_choose(dataset, list, &chosen, &count, &err);

	if (r < 0)
		snprintf(got, sizeof(got), "%d", r);
	for (size_t i = 0; r >= 0 && i < count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%zu ", chosen[i]);
	CHECK_TEXT(got, expected);
	free(chosen);
}

static void lists_add_and_take_away_in_order(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };

	table_make(&dataset, 1);
	choose(&dataset, "fs_write,time", "2 0 ");
	choose(&dataset, "fs_*", "1 2 3 ");
	choose(&dataset, "fs_*, -fs_max_*,time", "1 2 0 ");
	choose(&dataset, "-time", "1 2 3 4 ");
	choose(&dataset, "-fs_*,fs_read", "0 4 1 ");
	choose(&dataset, "time,time,t*", "0 ");
	choose(&dataset, "odd[1]*", "4 ");
	choose(&dataset, "-odd[1]*,-time", "1 2 3 ");
	choose(&dataset, "", "-22");
	choose(&dataset, "time,-time", "-22");
	choose(&dataset, "time,nothing*", "-2");
	choose(&dataset, "-nothing", "-2");
}

static void taken_rows_are_a_table_of_their_own(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	AUTO_DATASET struct dataset taken = { 0 };
	static const size_t rows[] = { 2, 0, 2 };

	table_make(&dataset, 3);
	dataset.columns[4].levels = calloc(1, sizeof(char *));
	dataset.columns[4].levels[0] = strdup("a");
	dataset.columns[4].level_count = 1;
	dataset_take(&taken, &dataset, rows, 3);
	CHECK_INT(taken.rows, 3);
	CHECK(dataset_row(&taken, 0)[1] == 11);
	CHECK(dataset_row(&taken, 1)[1] == 1);
	CHECK(memcmp(dataset_row(&taken, 0), dataset_row(&taken, 2), 5 * sizeof(double)) == 0);
	CHECK_TEXT(taken.columns[4].levels[0], "a");
	CHECK(taken.columns[4].levels[0] != dataset.columns[4].levels[0]);
}

static void added_column_leaves_the_others_alone(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	static const double values[] = { 7, 8, 9 };
	double column[3];

	table_make(&dataset, 3);
	CHECK_INT(dataset_add(&dataset, "more", values), 5);
	CHECK_INT(dataset_add(&dataset, "empty", NULL), 6);
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 5; j++)
			CHECK(dataset_row(&dataset, i)[j] == (double)(i * 5 + j));
		CHECK(dataset_row(&dataset, i)[5] == values[i]);
		CHECK(isnan(dataset_row(&dataset, i)[6]));
	}
	dataset_column(&dataset, 1, column);
	CHECK(column[0] == 1);
	CHECK(column[1] == 6);
	CHECK(column[2] == 11);
	CHECK_TEXT(dataset.columns[6].name, "empty");
}

static void equal_configurations_are_one_group(void)
{
	static const char *const pair[] = { "a", "b" };
	static const double a[] = { 1, 1, 2, 1, 0, -0.0, NAN, NAN, 1 };
	static const double b[] = { 5, 6, 5, 5, 3, 3, 1, 1, NAN };
	static const double expected[] = { 0, 1, 2, 0, 3, 3, 4, 4, 5 };
	static const size_t both[] = { 0, 1 }, none[1] = { 0 };
	AUTO_DATASET struct dataset dataset = { 0 };
	double group[9];

	dataset_init(&dataset, 9, 2, pair);
	for (size_t i = 0; i < 9; i++) {
		dataset_row(&dataset, i)[0] = a[i];
		dataset_row(&dataset, i)[1] = b[i];
	}
	CHECK_INT(dataset_groups(&dataset, both, 2, group), 6);
	for (size_t i = 0; i < 9; i++)
		CHECK(group[i] == expected[i]);
	CHECK_INT(dataset_groups(&dataset, none, 0, group), 1);
}

static void many_groups_are_distinguished(void)
{
	static const char *const pair[] = { "a", "b" };
	static const size_t both[] = { 0, 1 };
	AUTO_DATASET struct dataset dataset = { 0 };
	static double group[10000];

	dataset_init(&dataset, 10000, 2, pair);
	for (size_t i = 0; i < 10000; i++) {
		dataset_row(&dataset, i)[0] = (double)(i % 50);
		dataset_row(&dataset, i)[1] = (double)(i / 50 % 100);
	}
	CHECK_INT(dataset_groups(&dataset, both, 2, group), 5000);
	for (size_t i = 0; i < 5000; i++)
		CHECK(group[i] == (double)i && group[i + 5000] == (double)i);
}

TESTS(TEST(new_table_is_all_missing), TEST(unknown_name_lists_names_like_it),
      TEST(lists_add_and_take_away_in_order), TEST(taken_rows_are_a_table_of_their_own),
      TEST(added_column_leaves_the_others_alone), TEST(equal_configurations_are_one_group),
      TEST(many_groups_are_distinguished))
