/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/operation.h"

#include <math.h>

#include "check.h"

static void every_operation_is_found_by_its_name(void)
{
	for (int i = 0; i < OPERATIONS; i++) {
		CHECK(operations[i].name && operations[i].title);
		/* Derived operations have no rows, so no row may name them. */
		CHECK_INT(operation_by_name(operations[i].name), operations[i].is_derived ? -1 : i);
	}
	CHECK_INT(operation_by_name("s_nl"), -1);
	CHECK_INT(operation_by_name(""), -1);
}

static void features_include_logarithms(void)
{
	struct elemental at = { 128, 16, 2048, 136, 1.0625, 1 << 20 };
	double values[OPERATION_FEATURES];
	const char *names[OPERATION_FEATURES];

	CHECK_INT(operation_features(OPERATION_ALLTOALLV, &at, values, names), 10);
	for (size_t i = 0; i < 10; i += 2) {
		CHECK(values[i + 1] == log2(values[i]));
		CHECK(strncmp(names[i + 1], "log_", 4) == 0);
		CHECK_TEXT(names[i + 1] + 4, names[i]);
	}
	CHECK_TEXT(names[4], "senders");
	CHECK(values[4] == 2048 && values[6] == 136 && values[8] == 1 << 20);
}

static void an_operation_has_the_arguments_of_its_kind(void)
{
	struct elemental at = { 128, 16, 2048, 136, 1.0625, 4 };
	double values[OPERATION_FEATURES];

	CHECK_INT(operation_features(OPERATION_ALLREDUCE, &at, values, NULL), 6);
	CHECK(values[4] == 4);
	CHECK_INT(operation_features(OPERATION_WRITE_FULL, &at, values, NULL), 12);
	CHECK(values[4] == 1.0625 && values[6] == 4);
	CHECK(values[8] == 2048 && values[10] == 136);
	CHECK_INT(operation_features(OPERATION_READ_FIRST, NULL, NULL, NULL), 12);
	CHECK_INT(operation_features(OPERATION_PIECE_WRITE, &at, values, NULL), 8);
	CHECK(values[4] == 1.0625);
}

static void the_logarithm_of_zero_is_zero(void)
{
	struct elemental at = { .nodes = 1, .cores = 2 };
	double values[OPERATION_FEATURES];

	operation_features(OPERATION_BARRIER, &at, values, NULL);
	CHECK(values[4] == 0 && values[5] == 0);
}

TESTS(TEST(every_operation_is_found_by_its_name), TEST(features_include_logarithms),
      TEST(an_operation_has_the_arguments_of_its_kind), TEST(the_logarithm_of_zero_is_zero))
