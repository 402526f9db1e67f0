/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/term.h"

#include "check.h"

static char *print_at(const char *columns, int hang, const char *text)
{
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	REQUIRE(out);
	if (columns)
		setenv("COLUMNS", columns, 1);
	else
		unsetenv("COLUMNS");
	term_paragraph(out, hang, text);
	fclose(out);
	return printed;
}

static void check_paragraph(const char *columns, int hang, const char *text, const char *expected)
{
	char *printed = print_at(columns, hang, text);

	CHECK_TEXT(printed, expected);
	free(printed);
}

#define TEN "123456789 "

static void paragraphs_fit_the_width(void)
{
	check_paragraph("40", 2, TEN TEN TEN TEN TEN, TEN TEN TEN "123456789\n  123456789\n");
	check_paragraph("40", 4, "  label  " TEN TEN TEN, "  label  " TEN TEN "123456789\n");
	check_paragraph(NULL, 2, TEN TEN TEN TEN TEN, TEN TEN TEN TEN "123456789\n");
	check_paragraph("40", 0, "", "\n");
}

static void long_words_are_not_broken(void)
{
	check_paragraph("40", 2, "see /a/path/that/is/longer/than/a/line/of/this/terminal now",
			"see\n  /a/path/that/is/longer/than/a/line/of/this/terminal\n  now\n");
}

static void hostile_text_is_escaped(void)
{
	check_paragraph(NULL, 0, "a\033[31m\nb", "a\\x1b[31m\\nb\n");
}

static void the_width_has_limits(void)
{
	setenv("COLUMNS", "60", 1);
	CHECK_INT(term_width(stdout), 60);
	setenv("COLUMNS", "3", 1);
	CHECK_INT(term_width(stdout), TERM_WIDTH_LEAST);
	setenv("COLUMNS", "x", 1);
	CHECK_INT(term_width(fopen("/dev/null", "w")), 0);
	setenv("COLUMNS", "99999999999999999999", 1);
	CHECK_INT(term_width(fopen("/dev/null", "w")), 0);
}

TESTS(TEST(paragraphs_fit_the_width), TEST(long_words_are_not_broken),
      TEST(hostile_text_is_escaped), TEST(the_width_has_limits))
