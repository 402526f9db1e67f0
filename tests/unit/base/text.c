/* SPDX-License-Identifier: BSD-3-Clause
 *
 * buf, err, mem, json, table, term and text: the modules that produce and compare text.
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/text.h"
#include "check.h"

static void text_is_escaped_for_csv_and_xml(void)
{
	AUTO_BUF struct buf b = { 0 };

	buf_put_csv_cell(&b, "plain");
	buf_put_csv_cell(&b, "a,b");
	buf_put_csv_cell(&b, "say \"no\"\n");
	CHECK_TEXT(buf_text(&b), "plain\"a,b\"\"say \"\"no\"\"\\n\"");
	buf_clear(&b);
	buf_put_xml(&b, "a<b & \"c\">\t.\xEF\xBB\xBF\xEF");
	CHECK_TEXT(buf_text(&b), "a&lt;b &amp; &quot;c&quot;&gt; .&#xFEFF;\xEF\xBF\xBD");
}

static void a_buffer_grows_and_stays_a_string(void)
{
	AUTO_BUF struct buf b = { 0 };
	char *taken;

	CHECK_TEXT(buf_text(&b), "");
	buf_puts(&b, "ab");
	buf_putc(&b, 'c');
	buf_printf(&b, "%d-%s", 7, "x");
	CHECK_TEXT(buf_text(&b), "abc7-x");
	buf_clear(&b);
	CHECK_TEXT(buf_text(&b), "");
	buf_printf(&b, "%0500d", 1);
	CHECK_INT(b.len, 500);
	CHECK_INT(strlen(b.data), 500);
	buf_printf(&b, "%s", "");
	CHECK_INT(b.len, 500);
	taken = buf_take(&b);
	CHECK(!b.data && !b.len);
	free(taken);
	taken = buf_take(&b);
	CHECK_TEXT(taken, "");
	free(taken);
}

static void a_word_is_quoted_only_where_a_shell_needs_it(void)
{
	AUTO_BUF struct buf b = { 0 };

	buf_put_shell_word(&b, "plain-1.0/x=y,z");
	buf_putc(&b, ' ');
	buf_put_shell_word(&b, "");
	buf_putc(&b, ' ');
	buf_put_shell_word(&b, "it's $5");
	CHECK_TEXT(buf_text(&b), "plain-1.0/x=y,z '' 'it'\\''s $5'");
}

static void an_error_carries_its_message(void)
{
	struct err err = { 0 };

	CHECK_INT(err_set(&err, ENOENT, "%s is gone", "x"), -ENOENT);
	CHECK_INT(err_prefix(&err, "line %d", 3), -ENOENT);
	CHECK_TEXT(err.text, "line 3: x is gone");
	CHECK_INT(err_set(NULL, EINVAL, "the message is dropped"), -EINVAL);
	CHECK_INT(err_set(&err, 0, "an error is never 0"), -EIO);
}

static void an_array_grows_by_doubling(void)
{
	size_t cap = 0;
	int *array = NULL;

	array = xgrow(array, &cap, 1, sizeof(*array));
	CHECK_INT(cap, 16);
	array = xgrow(array, &cap, 100, sizeof(*array));
	CHECK_INT(cap, 128);
	free(array);
}

/* The output of write() as text, which the caller frees. */
static char *capture(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	REQUIRE(out);
	write(out);
	fclose(out);
	return text;
}

static void write_object(FILE *out)
{
	struct json j;

	json_start(&j, out, "sluice.test/1");
	json_open(&j, "list", '[');
	json_number(&j, NULL, -1);
	json_count(&j, NULL, UINT64_MAX);
	json_open(&j, NULL, '{');
	json_close(&j);
	json_close(&j);
	json_double(&j, "real", 0.5);
	json_double(&j, "nan", NAN);
	json_bool(&j, "truth", true);
	json_text(&j, "nothing", NULL);
	json_open(&j, "left open", '{');
	json_end(&j);
}

static void json_is_written_piece_by_piece(void)
{
	AUTO_FREE char *text = capture(write_object);

	CHECK_TEXT(text, "{\"schema\": \"sluice.test/1\", \"list\": [-1, 18446744073709551615, "
			 "{}], \"real\": 0.5, "
			 "\"nan\": null, \"truth\": true, \"nothing\": null, \"left open\": {}}\n");
}

static void write_texts(FILE *out)
{
	json_quote(out, "a\"b\\c\n\x01\x7F");
	json_quote(out, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
	json_quote(out, "\xFFx\xC3");		 /* a stray byte, and a truncated sequence */
	json_quote(out, "\xC0\xAF\xED\xA0\x80"); /* overlong, surrogate */
	json_quote(out, "\xF4\x90\x80\x80");	 /* beyond Unicode */
}

static void json_texts_are_always_valid(void)
{
	AUTO_FREE char *text = capture(write_texts);

	CHECK_TEXT(text, "\"a\\\"b\\\\c\\n\\u0001\\u007f\""
			 "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""
			 "\"\\ufffdx\\ufffd\""
			 "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""
			 "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void write_table(FILE *out)
{
	static const char *const titles[] = { "name", ">n", "what", NULL };
	struct table t;

	table_init(&t, titles);
	table_add(&t, "%s", "\xC3\xA4");
	table_add(&t, "%d", 5);
	table_add(&t, "x");
	table_add(&t, "longer");
	table_add(&t, "%d", 1234);
	table_add(&t, "much longer");
	table_add(&t, "%s", "");
	table_add(&t, "%d", 6);
	table_add(&t, "%s", "");
	table_print(&t, out, 2);
	table_release(&t);
}

static void table_columns_line_up(void)
{
	AUTO_FREE char *text = capture(write_table);

	CHECK_TEXT(text, "  name       n  what\n"
			 "  \xC3\xA4          5  x\n"
			 "  longer  1234  much longer\n"
			 "             6\n");
}

static void write_empty_table(FILE *out)
{
	static const char *const titles[] = { "a", ">b", NULL };
	struct table t;

	table_init(&t, titles);
	table_print(&t, out, 0);
	table_release(&t);
}

static void an_empty_table_has_titles(void)
{
	AUTO_FREE char *text = capture(write_empty_table);

	CHECK_TEXT(text, "a  b\n");
}

static void color_and_progress_need_a_terminal(void)
{
	FILE *f = tmpfile();
	struct progress p;

	REQUIRE(f);
	CHECK_TEXT(term_bold(f), "");
	CHECK_TEXT(term_plain(f), "");
	term_set_color(TERM_COLOR_ALWAYS);
	CHECK_TEXT(term_plain(f), "\033[0m");
	term_set_color(TERM_COLOR_AUTO);
	CHECK_TEXT(term_plain(f), "");
	fclose(f);
	progress_start(&p, "x", 10);
	progress_show(&p, 5);
	CHECK(!p.is_drawn);
	progress_end(&p);
}

static void texts_are_compared_with_null(void)
{
	CHECK(text_equal(NULL, NULL));
	CHECK(!text_equal(NULL, ""));
	CHECK(!text_equal("a", NULL));
	CHECK(text_equal("a", "a"));
	CHECK(!text_equal("a", "b"));
}

static void starts_and_ends_are_compared(void)
{
	CHECK(text_starts_with("file.txt", "file"));
	CHECK(!text_starts_with("fi", "file"));
	CHECK(text_ends_with("file.txt", ".txt"));
	CHECK(text_ends_with("file", ""));
	CHECK(!text_ends_with("txt", ".txt"));
}

TESTS(TEST(texts_are_compared_with_null), TEST(starts_and_ends_are_compared),
      TEST(a_buffer_grows_and_stays_a_string), TEST(text_is_escaped_for_csv_and_xml),
      TEST(a_word_is_quoted_only_where_a_shell_needs_it), TEST(an_error_carries_its_message),
      TEST(an_array_grows_by_doubling), TEST(json_is_written_piece_by_piece),
      TEST(json_texts_are_always_valid), TEST(table_columns_line_up),
      TEST(an_empty_table_has_titles), TEST(color_and_progress_need_a_terminal))
