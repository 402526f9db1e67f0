/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "check.h"

static void check_escaped(const char *text, const char *also, const char *expected)
{
	AUTO_BUF struct buf out = { 0 };

	escape_text(&out, text, also);
	CHECK_TEXT(buf_text(&out), expected);
	CHECK(*also || escape_is_needed(text) == (strcmp(text, expected) != 0));
}

static void readable_text_stays_as_it_is(void)
{
	check_escaped("", "", "");
	check_escaped("/data/a b\\c\"d'", "", "/data/a b\\c\"d'");
	check_escaped("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf", "",
		      "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf");
	check_escaped("\xc2\xa0\xef\xbf\xbd", "", "\xc2\xa0\xef\xbf\xbd");
}

static void controls_are_escaped(void)
{
	check_escaped("a\x1b[31mb\a", "", "a\\x1b[31mb\\x07");
	check_escaped("\t\n\r\x7f\x01", "", "\\t\\n\\x0d\\x7f\\x01");
	check_escaped("\xc2\x9b"
		      "31m\xc2\x80\xc2\x9f",
		      "",
		      "\\xc2\\x9b"
		      "31m\\xc2\\x80\\xc2\\x9f");
	check_escaped("\xe2\x80\xae\xe2\x80\x8f\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8", "",
		      "\\xe2\\x80\\xae\\xe2\\x80\\x8f\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\xa8");
}

static void invalid_bytes_are_escaped_one_by_one(void)
{
	check_escaped("\x9b"
		      "31m",
		      "",
		      "\\x9b"
		      "31m");
	check_escaped("\xff\xfe\xc3", "", "\\xff\\xfe\\xc3");
	check_escaped("\xc3(\xe2\x82(", "", "\\xc3(\\xe2\\x82(");
	check_escaped("\xc0\xaf\xe0\x80\xaf\xed\xa0\x80", "",
		      "\\xc0\\xaf\\xe0\\x80\\xaf\\xed\\xa0\\x80");
	check_escaped("\xf4\x90\x80\x80\xf8\x88\x80\x80\x80", "",
		      "\\xf4\\x90\\x80\\x80\\xf8\\x88\\x80\\x80\\x80");
}

static void further_characters_get_a_backslash(void)
{
	check_escaped("a\\b\"c\n", "\"\\", "a\\\\b\\\"c\\n");
}

/* Every sequence of two bytes, after a lead byte that expects more of them. */
static void no_bytes_escape_the_escaping(void)
{
	for (unsigned i = 0; i < 0x10000; i++) {
		char text[] = { (char)0xe2, (char)(i >> 8), (char)i, 0 };
		AUTO_BUF struct buf out = { 0 };

		escape_text(&out, text, "");
		CHECK(!escape_is_needed(buf_text(&out)));
	}
}

/* Returns what print() wrote. The caller frees it. */
static char *capture(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	print(out);
	fclose(out);
	return text;
}

static void print_lines(FILE *out)
{
	CHECK_INT(term_printf(out, "\n%s and %.*s\n\n", "a\nb\x1b", 1, "cd"), 17);
	term_printf(out, "%s", "no end");
	term_printf(out, "\n");
	term_printf(out, "\n\n");
	term_lines(out, "one\ntwo\x9b\n\nthree");
}

static void only_line_breaks_of_the_format_are_printed(void)
{
	AUTO_FREE char *text = capture(print_lines);

	CHECK_TEXT(text, "\na\\nb\\x1b and c\n\nno end\n\n\none\ntwo\\x9b\n\nthree\n");
}

static void print_table(FILE *out)
{
	static const char *const titles[] = { "a", "b", NULL };
	struct table table;

	table_init(&table, titles);
	table_add(&table, "%s", "x\ny\x1b");
	table_add(&table, "1");
	table_print(&table, out, 0);
	table_release(&table);
}

static void cells_of_tables_are_escaped(void)
{
	AUTO_FREE char *text = capture(print_table);

	CHECK_TEXT(text, "a         b\nx\\ny\\x1b  1\n");
}

static void print_quoted(FILE *out)
{
	json_quote(out, "\"\\\n\x1b\x7f\xc2\x9b\xe2\x80\xae\xff\xc3\xbc");
}

static void json_is_valid_and_without_controls(void)
{
	AUTO_FREE char *text = capture(print_quoted);

	CHECK_TEXT(text, "\"\\\"\\\\\\n\\u001b\\u007f\\u009b\\u202e\\ufffd\xc3\xbc\"");
}

TESTS(TEST(readable_text_stays_as_it_is), TEST(controls_are_escaped),
      TEST(invalid_bytes_are_escaped_one_by_one), TEST(further_characters_get_a_backslash),
      TEST(no_bytes_escape_the_escaping), TEST(only_line_breaks_of_the_format_are_printed),
      TEST(cells_of_tables_are_escaped), TEST(json_is_valid_and_without_controls))
