/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A minimal test harness. A test is a function whose name is a sentence; a file ends with
 *
 *	TESTS(TEST(full_ring_loses_and_counts), TEST(empty_ring_gives_nothing))
 *
 * The CHECK macros continue after a failure, so that one run shows all failures. The program exits
 * with 1 if a check failed. With an argument it runs only the tests whose name contains it.
 */
#ifndef SLUICE_TESTS_CHECK_H
#define SLUICE_TESTS_CHECK_H

#include <ctype.h>
#include <ftw.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Passes if the numbers differ by at most the tolerance, or are equal infinities. NAN fails. */
#define CHECK_NEAR(actual, expected, tolerance)                                                \
	do {                                                                                   \
		double check_a = (actual), check_e = (expected), check_t = (tolerance);        \
		if (!(fabs(check_a - check_e) <= check_t || check_a == check_e)) {             \
			check_failures++;                                                      \
			printf("%s:%d: %s: %s is %.17g, expected %.17g within %g\n", __FILE__, \
			       __LINE__, __func__, #actual, check_a, check_e, check_t);        \
		}                                                                              \
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

/* Compares n bytes with those of a literal. */
#define CHECK_BYTES(actual, n, literal)                                                     \
	do {                                                                                \
		size_t check_n = (n);                                                       \
		CHECK_INT(check_n, sizeof(literal) - 1);                                    \
		CHECK(check_n == sizeof(literal) - 1 && !memcmp(actual, literal, check_n)); \
	} while (0)

static inline bool check_joins(char a, char b)
{
	return (isalnum((unsigned char)a) || a == '_') && (isalnum((unsigned char)b) || b == '_');
}

/* True if no letter or digit continues the n bytes at `at` on either side. */
static inline bool check_is_word(const char *text, const char *at, size_t n)
{
	return !(at > text && check_joins(at[-1], at[0])) && !check_joins(at[n - 1], at[n]);
}

/*
 * True if the text contains each of the key words, which "|" separates, in any order. A key word
 * may have several words, and is not found inside a longer word or number.
 */
static inline bool check_has_words(const char *text, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, "|");
		const char *at = text;

		while (*at && !(strncmp(at, words, n) == 0 && check_is_word(text, at, n)))
			at++;
		if (!*at)
			return false;
		words += n + (words[n] == '|');
	}
	return true;
}

/* Checks a message without fixing its wording. */
#define CHECK_WORDS(actual, words)                                                         \
	do {                                                                               \
		const char *check_a = (actual), *check_e = (words);                        \
		if (!check_a || !check_has_words(check_a, check_e)) {                      \
			check_failures++;                                                  \
			printf("%s:%d: %s: %s is \"%s\", expected the key words \"%s\"\n", \
			       __FILE__, __LINE__, __func__, #actual,                      \
			       check_a ? check_a : "(null)", check_e);                     \
		}                                                                          \
	} while (0)

/* Ends the program if the condition is false, because the rest of the test makes no sense then. */
#define REQUIRE(condition)                                                                \
	do {                                                                              \
		if (!(condition)) {                                                       \
			printf("%s:%d: %s: required: %s\n", __FILE__, __LINE__, __func__, \
			       #condition);                                               \
			exit(1);                                                          \
		}                                                                         \
	} while (0)

static char check_directory_path[256];
static pid_t check_directory_owner;

static inline int check_remove_entry(const char *path, const struct stat *st, int type,
				     struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void check_remove_directory(void)
{
	if (check_directory_owner == getpid()) /* not in a child that calls exit() */
		nftw(check_directory_path, check_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * A temporary directory, the same for all tests of the program. It is created by the first call and
 * removed with its content when the program exits.
 */
static inline const char *check_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (check_directory_owner)
		return check_directory_path;
	snprintf(check_directory_path, sizeof(check_directory_path), "%s/sluice-test-XXXXXX",
		 parent ? parent : "/tmp");
	REQUIRE(mkdtemp(check_directory_path));
	check_directory_owner = getpid();
	atexit(check_remove_directory);
	return check_directory_path;
}

/* The path of a file in that directory. The caller frees it. */
static inline char *check_path(const char *name)
{
	char *path = NULL;

	REQUIRE(asprintf(&path, "%s/%s", check_directory(), name) > 0);
	return path;
}

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
