/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spelling.h"

#include "check.h"

static const char *closest(const char *word)
{
	static const char *const names[] = { "run", "report", "tune", "recommend", "ls", "rm" };
	struct spelling spelling;

	spelling_start(&spelling, word);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		spelling_offer(&spelling, names[i]);
	return spelling.best;
}

static void typos_find_the_word_that_was_meant(void)
{
	CHECK_TEXT(closest("rnu"), "run");
	CHECK_TEXT(closest("tun"), "tune");
	CHECK_TEXT(closest("reprot"), "report");
	CHECK_TEXT(closest("recomend"), "recommend");
	CHECK_TEXT(closest("run"), "run");
}

static void words_that_resemble_nothing_get_no_suggestion(void)
{
	CHECK(!closest("xyzzy"));
	CHECK(!closest("a-word-that-is-much-longer-than-any-name-of-a-command"));
	CHECK(!closest(""));
}

TESTS(TEST(typos_find_the_word_that_was_meant), TEST(words_that_resemble_nothing_get_no_suggestion))
