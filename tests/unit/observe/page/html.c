/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/page/html.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "check.h"

static size_t count_text(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

static void text_never_becomes_markup(void)
{
	AUTO_BUF struct buf out = { 0 };

	html_text(&out, "</script><a b=\"c\">&\n\x1b\xff\xe2\x80\xae");
	CHECK_TEXT(buf_text(&out), "&lt;/script&gt;&lt;a b=&quot;c&quot;&gt;&amp;\\n\\x1b\\xff"
				   "\\xe2\\x80\\xae");
}

/* The limit is in the middle of a character of two bytes. */
static void a_long_text_is_cut_between_characters(void)
{
	AUTO_BUF struct buf text = { 0 };
	AUTO_BUF struct buf out = { 0 };

	buf_putc(&text, 'x');
	while (text.len < HTML_TEXT_MAX + 1000)
		buf_puts(&text, "\xc3\xa4");
	html_text(&out, buf_text(&text));
	CHECK_INT(out.len, HTML_TEXT_MAX - 1 + 4);
	CHECK_TEXT(buf_text(&out) + out.len - 6, "\xc3\xa4 ...");
}

static void lists_have_one_item_per_line_and_a_limit(void)
{
	AUTO_BUF struct buf out = { 0 };

	html_lines(&out, "notes", "", 100);
	CHECK_INT(out.len, 0);
	html_lines(&out, "notes", "a<b\nc\n", 100);
	CHECK_TEXT(buf_text(&out), "<ul class=\"notes\">\n<li>a&lt;b</li>\n<li>c</li>\n</ul>\n");
	buf_clear(&out);
	html_lines(&out, "notes", "a\nb\nc\n", 20);
	CHECK(strstr(buf_text(&out), "<li>...</li>"));
	CHECK(!strstr(buf_text(&out), "<li>c</li>"));
}

static const char *const titles[] = { ">calls", ">of time", "file", NULL };
static const struct html_table spec = { "files", "Files", "All <files>.", "file",
					NULL,	 "files", 100000 };

static void a_table_starts_with_the_column_that_names_its_rows(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct table table;
	const char *text;

	table_init(&table, titles);
	table_add_number(&table, 12, "%d", 12);
	table_add_number(&table, 0.25, "25.0%%");
	table_add(&table, "/data/<b>/out");
	html_table(&out, &spec, &table, 1);
	text = buf_text(&out);
	CHECK(strstr(text, "<th scope=\"col\">file</th><th scope=\"col\" class=\"n\">calls</th>"));
	CHECK(strstr(text, "<span class=\"d\">/data/&lt;b&gt;/</span>out</th><td data-v>12</td>"));
	CHECK(strstr(text, "<td data-v=\"0.25\">"));
	CHECK(strstr(text, "width=\"25.0%\""));
	CHECK(strstr(text, "All &lt;files&gt;."));
	CHECK(!strstr(text, "class=\"more\""));
	table_release(&table);
}

static void the_column_after_the_names_can_be_chosen(void)
{
	struct html_table chosen = spec;
	AUTO_BUF struct buf out = { 0 };
	struct table table;

	chosen.next = "of time";
	table_init(&table, titles);
	html_table(&out, &chosen, &table, 0);
	CHECK(strstr(buf_text(&out), ">file</th><th scope=\"col\" class=\"n\">of time</th>"
				     "<th scope=\"col\" class=\"n\">calls</th>"));
	table_release(&table);
}

static void a_table_beyond_its_limit_says_how_many_rows_are_missing(void)
{
	struct html_table limited = spec;
	AUTO_BUF struct buf out = { 0 };
	struct table table;
	size_t shown;
	char *more;

	limited.max_bytes = 2000;
	table_init(&table, titles);
	for (int i = 0; i < 100; i++) {
		table_add_number(&table, i, "%d", i);
		table_add_number(&table, NAN, "-");
		table_add(&table, "file %d", i);
	}
	html_table(&out, &limited, &table, 150);
	shown = count_text(buf_text(&out), "<th scope=\"row\">");
	CHECK(shown > 10 && shown < 50);
	more = xprintf("%zu more files", 150 - shown);
	CHECK(strstr(buf_text(&out), more));
	free(more);
	table_release(&table);
}

TESTS(TEST(text_never_becomes_markup), TEST(a_long_text_is_cut_between_characters),
      TEST(lists_have_one_item_per_line_and_a_limit),
      TEST(a_table_starts_with_the_column_that_names_its_rows),
      TEST(the_column_after_the_names_can_be_chosen),
      TEST(a_table_beyond_its_limit_says_how_many_rows_are_missing))
