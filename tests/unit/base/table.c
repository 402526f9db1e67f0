/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/table.h"

#include "check.h"

/* Prints a table of two rows at a width and returns the text; the caller frees it. */
static char *print_at(const char *columns, int indent)
{
	static const char *const titles[] = { ">calls", ">time", "state", "file", NULL };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct table table;

	REQUIRE(out);
	if (columns)
		setenv("COLUMNS", columns, 1);
	else
		unsetenv("COLUMNS");
	table_init(&table, titles);
	for (int i = 0; i < 2; i++) {
		table_add(&table, "%d", 100 + i);
		table_add(&table, "%d ms", i);
		table_add(&table, "complete");
		table_add(&table, "/home/user/with/a/long/path/to/file%d.dat", i);
	}
	table_print(&table, out, indent);
	table_release(&table);
	fclose(out);
	return text;
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strcspn(text, "\n") > longest)
			longest = strcspn(text, "\n");
	return longest;
}

static void without_a_terminal_nothing_is_shortened(void)
{
	char *text = print_at(NULL, 2);

	CHECK_TEXT(text, "  calls  time  state     file\n"
			 "    100  0 ms  complete  /home/user/with/a/long/path/to/file0.dat\n"
			 "    101  1 ms  complete  /home/user/with/a/long/path/to/file1.dat\n");
	free(text);
}

static void texts_are_shortened_to_the_width(void)
{
	char *text = print_at("60", 2);

	CHECK_INT(longest_line(text), 60);
	CHECK(strstr(text, "file0.dat\n") && strstr(text, "/home/") && strstr(text, "..."));
	CHECK(strstr(text, "  calls  time  state     file\n"));
	free(text);
}

static void rows_are_folded_if_that_is_not_enough(void)
{
	char *text = print_at("40", 4);

	CHECK(longest_line(text) <= 40);
	CHECK_TEXT(text, "    calls  time  state\n"
			 "        file\n"
			 "      100  0 ms  complete\n"
			 "        /home/use...ng/path/to/file0.dat\n"
			 "      101  1 ms  complete\n"
			 "        /home/use...ng/path/to/file1.dat\n");
	free(text);
}

static void characters_of_several_bytes_are_not_cut(void)
{
	static const char *const titles[] = { "name", NULL };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct table table;

	setenv("COLUMNS", "40", 1);
	table_init(&table, titles);
	table_add(&table, "%s",
		  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	table_print(&table, out, 0);
	table_release(&table);
	fclose(out);
	CHECK(strstr(text, "\xc3\xa9...aaa"));
	CHECK(!strstr(text, "\xc3..."));
	free(text);
}

TESTS(TEST(without_a_terminal_nothing_is_shortened), TEST(texts_are_shortened_to_the_width),
      TEST(rows_are_folded_if_that_is_not_enough), TEST(characters_of_several_bytes_are_not_cut))
