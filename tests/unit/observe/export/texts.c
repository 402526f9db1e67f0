/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/export/texts.h"

#include "base/escape.h"
#include "check.h"

static void equal_texts_have_one_number(void)
{
	struct texts texts = { 0 };

	CHECK_INT(texts_add(&texts, "a"), 0);
	CHECK_INT(texts_add(&texts, "b"), 1);
	CHECK_INT(texts_add(&texts, "a"), 0);
	CHECK_INT(texts_add(&texts, NULL), 2);
	CHECK_INT(texts_add(&texts, ""), 2);
	CHECK_INT(texts.count, 3);
	texts_release(&texts);
}

static void texts_become_valid_utf8_without_controls(void)
{
	static const char *const hostile[] = { "\xff\xc3", "gr\xc3\xbcn",  "\x1b[31m",
					       "a\nb\tc",  "\xe2\x80\xae", "\xed\xa0\x80" };
	struct texts texts = { 0 };

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		CHECK_INT(texts_add(&texts, hostile[i]), i);
	for (size_t i = 0; i < texts.count; i++)
		CHECK(!escape_is_needed(texts.list[i]));
	CHECK_TEXT(texts.list[0], "\\xff\\xc3");
	CHECK_TEXT(texts.list[1], "gr\xc3\xbcn");
	texts_release(&texts);
}

TESTS(TEST(equal_texts_have_one_number), TEST(texts_become_valid_utf8_without_controls))
