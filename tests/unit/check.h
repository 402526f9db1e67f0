/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The smallest harness that can fail usefully. A test is a function whose name is a sentence; a
 *file ends with
 *
 *	TESTS(TEST(full_ring_loses_and_counts), TEST(empty_ring_gives_nothing))
 *
 * CHECK goes on after a failure so that one run shows them all; the program exits 1 if any failed.
 * An argument runs only the tests whose name contains it.
 */
#ifndef SLUICE_TESTS_CHECK_H
#define SLUICE_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			check_failures++;                                               \
			printf("%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, \
			       #condition);                                             \
		}                                                                       \
	} while (0)

#define CHECK_INT(actual, expected)                                                          \
	do {                                                                                 \
		long long check_a = (long long)(actual), check_e = (long long)(expected);    \
		if (check_a != check_e) {                                                    \
			check_failures++;                                                    \
			printf("%s:%d: %s: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
			       __func__, #actual, check_a, check_e);                         \
		}                                                                            \
	} while (0)

#define CHECK_TEXT(actual, expected)                                                             \
	do {                                                                                     \
		const char *check_a = (actual), *check_e = (expected);                           \
		if (!check_a || strcmp(check_a, check_e) != 0) {                                 \
			check_failures++;                                                        \
			printf("%s:%d: %s: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, \
			       __func__, #actual, check_a ? check_a : "(null)", check_e);        \
		}                                                                                \
	} while (0)

/* For what makes going on pointless. */
#define REQUIRE(condition)                                                                \
	do {                                                                              \
		if (!(condition)) {                                                       \
			printf("%s:%d: %s: required: %s\n", __FILE__, __LINE__, __func__, \
			       #condition);                                               \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

struct check_test {
	const char *name;
	void (*run)(void);
};

#define TEST(function)              \
	{                           \
#function, function \
	}

#define TESTS(...)                                                            \
	int main(int argc, char **argv)                                       \
	{                                                                     \
		static const struct check_test tests[] = { __VA_ARGS__ };     \
		size_t count = sizeof(tests) / sizeof(tests[0]), ran = 0;     \
                                                                              \
		for (size_t i = 0; i < count; i++) {                          \
			if (argc > 1 && !strstr(tests[i].name, argv[1]))      \
				continue;                                     \
			tests[i].run();                                       \
			ran++;                                                \
		}                                                             \
		printf("%zu tests, %d checks failed\n", ran, check_failures); \
		return check_failures || !ran;                                \
	}

#endif
