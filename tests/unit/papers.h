/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reports acceptance checks of the papers; see tests/papers.py. The value is a format with its
 * arguments, which appears in docs/reference/paper-tables.md.
 */
#ifndef SLUICE_TESTS_PAPERS_H
#define SLUICE_TESTS_PAPERS_H

#include "check.h"

#define PAPER_PRINT(id, holds, ...)                                               \
	do {                                                                      \
		printf("paper %s %s: ", id, (holds) ? "holds" : "does not hold"); \
		printf(__VA_ARGS__);                                              \
		printf("\n");                                                     \
	} while (0)

/* The check holds; the test fails if it does not. */
#define PAPER_HOLDS(id, condition, ...)                   \
	do {                                              \
		bool paper_held = (condition);            \
		PAPER_PRINT(id, paper_held, __VA_ARGS__); \
		CHECK(paper_held || !"the check " id);    \
	} while (0)

/* The check does not hold; the test fails if it does, so that the table is corrected. */
#define PAPER_MISSED(id, condition, ...)                                              \
	do {                                                                          \
		bool paper_held = (condition);                                        \
		PAPER_PRINT(id, paper_held, __VA_ARGS__);                             \
		CHECK(!paper_held || !"the check " id " holds now: use PAPER_HOLDS"); \
	} while (0)

/* The result depends on the machine (grade H): it is printed, and not asserted. */
#define PAPER_REPORT(id, condition, ...) PAPER_PRINT(id, condition, __VA_ARGS__)

#endif
