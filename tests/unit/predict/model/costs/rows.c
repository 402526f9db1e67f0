/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-38.
 */
#include "predict/model/costs/rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "store/elements.h"

#define HEAD "platform,operation,nodes,cores,bytes,seconds\n"

static void add_row(struct elements *rows, const char *operation, double bytes, int64_t repetition,
		    double seconds)
{
	struct element row = { .nodes = 1,
			       .cores = 4,
			       .bytes = bytes,
			       .repetition = repetition,
			       .seconds = seconds,
			       .time_ns = 1789000000123456789 };

	strcpy(row.platform, "a \"b\", c");
	strcpy(row.operation, operation);
	elements_add(rows, &row);
}

static const char *refusal(const char *text, size_t bytes)
{
	static struct err err;
	struct elements rows = { 0 };

	err = (struct err){ 0 };
	add_row(&rows, "ar", 1, 0, 1);
	CHECK_INT(rows_parse(&rows, "f.csv", text, bytes, &err), -EINVAL);
	CHECK_INT(rows.count, 1);
	elements_release(&rows);
	return err.text;
}

#define REFUSED(text, words) CHECK_WORDS(refusal(text, sizeof(text) - 1), words)

static void rows_read_back_as_they_were_written(void)
{
	struct elements rows = { 0 }, again = { 0 };
	AUTO_BUF struct buf text = { 0 }, second = { 0 };

	add_row(&rows, "ar", 4, 0, 0.1);
	add_row(&rows, "s_nl_partial", 1e9 / 3, 99, 5e-324);
	strcpy(rows.rows[1].placement, "topology");
	strcpy(rows.rows[1].cache, "within");
	rows.rows[1].writers = 0.3125;
	rows.rows[1].round = 3;
	rows_write(&rows, &text);
	CHECK_INT(rows_parse(&again, "x", buf_text(&text), text.len, NULL), 0);
	REQUIRE(again.count == 2);
	CHECK_TEXT(again.rows[0].platform, "a \"b\", c");
	CHECK(again.rows[1].bytes == rows.rows[1].bytes && again.rows[1].seconds == 5e-324);
	CHECK_INT(again.rows[1].time_ns, 1789000000123456789);
	rows_write(&again, &second);
	CHECK_TEXT(buf_text(&second), buf_text(&text));
	elements_release(&rows);
	elements_release(&again);
}

static void columns_may_be_in_any_order(void)
{
	static const char text[] = "seconds,bytes,cores,nodes,operation,platform,writers\r\n"
				   "\r\n0.5,8e6,16,128,s_lock,\"v\",4.0625\r\n\n";
	struct elements rows = { 0 };

	CHECK_INT(rows_parse(&rows, "x", text, sizeof(text) - 1, NULL), 0);
	REQUIRE(rows.count == 1);
	CHECK_TEXT(rows.rows[0].platform, "v");
	CHECK(rows.rows[0].writers == 4.0625 && rows.rows[0].seconds == 0.5);
	elements_release(&rows);
}

static void errors_name_the_line(void)
{
	REFUSED("", "empty");
	REFUSED("platform,size\n", "f.csv:1:|\"size\"");
	REFUSED("bytes,bytes\n", "twice");
	REFUSED("\nplatform,bytes\n", "f.csv:2:|operation");
	REFUSED(HEAD "p,xx,1,1,1,1\n", "f.csv:2:|operation|\"xx\"");
	REFUSED(HEAD "p,ar,1,1,1,1\n\np,ar,1,1,ten,1\n", "f.csv:4:|bytes|\"ten\"");
	REFUSED(HEAD "p,ar,1,1,1,nan\n", "f.csv:2:|seconds|\"nan\"");
	REFUSED(HEAD "p,ar,1,1,1,-1\n", "f.csv:2:|seconds|\"-1\"");
	REFUSED(HEAD "p,ar,1,1,1,\n", "f.csv:2:|seconds|\"\"");
	REFUSED(HEAD "p,ar,0,1,1,1\n", "f.csv:2:|nodes");
	REFUSED(HEAD "p,ar,1,1,1\n", "fewer fields");
	REFUSED(HEAD "p,ar,1,1,1,1,1\n", "more fields");
	REFUSED(HEAD ",ar,1,1,1,1\n", "f.csv:2:|platform|empty");
	REFUSED(HEAD "\"p,ar,1,1,1,1\n", "f.csv:2:|closing quote");
	REFUSED(HEAD "\"p\"q,ar,1,1,1,1\n", "after|quote");
	REFUSED(HEAD "p\0,ar,1,1,1,1\n", "zero byte");
	REFUSED(HEAD "p\t,ar,1,1,1,1\n", "f.csv:2:|platform|\"p?\"");
	REFUSED(HEAD "0123456789012345678901234567890123456789012345678901234567890123,ar,1,1,1,1",
		"f.csv:2:|platform|\"0123456789012345678901234567890123456789\"|long");
	REFUSED("platform,operation,nodes,cores,bytes,seconds,round\np,ar,1,1,1,1,"
		"99999999999999999999",
		"f.csv:2:|round|\"99999999999999999999\"");
	REFUSED("platform,operation,nodes,cores,bytes,seconds,round\np,ar,1,1,1,1,-1",
		"f.csv:2:|round|\"-1\"");
}

static void repetitions_make_one_cell(void)
{
	struct elements rows = { 0 }, means = { 0 };
	struct rows_cell *cells;

	add_row(&rows, "ar", 8, 0, 2);
	add_row(&rows, "aa", 8, 0, 7);
	add_row(&rows, "ar", 8, 1, 4);
	add_row(&rows, "ar", 4, 0, 1);
	add_row(&rows, "ar", 8, 2, 6);
	CHECK_INT(rows_cells(&rows, &cells), 3);
	CHECK_INT(cells[0].first, 0);
	CHECK_INT(cells[0].count, 3);
	CHECK(cells[0].mean == 4 && cells[0].deviation == 2);
	CHECK_INT(cells[1].first, 1);
	CHECK(cells[1].deviation == 0);
	free(cells);
	rows_means(&rows, &means);
	REQUIRE(means.count == 3);
	CHECK(means.rows[0].seconds == 4 && means.rows[2].bytes == 4);
	CHECK(rows_spread(&rows, "ar") == 0.5);
	CHECK(isnan(rows_spread(&rows, "aa")));
	elements_release(&rows);
	elements_release(&means);
}

static void rows_that_differ_in_seconds_only_are_numbered(void)
{
	static const int64_t expected[] = { 0, 1, 5, 6, 0, 2 };
	struct elements rows = { 0 };

	add_row(&rows, "ar", 8, 0, 2);
	add_row(&rows, "ar", 8, 0, 4);
	add_row(&rows, "ar", 8, 5, 6);
	add_row(&rows, "ar", 8, 5, 6);
	add_row(&rows, "ar", 4, 0, 1);
	add_row(&rows, "ar", 8, 0, 7);
	for (int twice = 0; twice < 2; twice++) {
		rows_number(&rows);
		for (size_t i = 0; i < rows.count; i++)
			CHECK_INT(rows.rows[i].repetition, expected[i]);
	}
	elements_release(&rows);
}

static void no_rows_make_no_cells(void)
{
	struct elements none = { 0 }, means = { 0 };
	struct rows_cell *cells;

	CHECK_INT(rows_cells(&none, &cells), 0);
	free(cells);
	rows_means(&none, &means);
	CHECK_INT(means.count, 0);
}

static void files_are_written_completely_or_not_at_all(void)
{
	char directory[] = "/tmp/sluice-rows.XXXXXX";
	AUTO_FREE char *path = NULL, *nowhere = NULL;
	struct elements rows = { 0 }, again = { 0 };
	struct err err = { 0 };

	REQUIRE(mkdtemp(directory));
	path = xprintf("%s/rows.csv", directory);
	nowhere = xprintf("%s/none/rows.csv", directory);
	add_row(&rows, "ba", 0, 0, 1e-6);
	CHECK_INT(rows_save(&rows, nowhere, &err), -ENOENT);
	CHECK(strstr(err.text, nowhere) != NULL);
	CHECK_INT(rows_read(&again, path, &err), -ENOENT);
	CHECK_INT(rows_save(&rows, path, &err), 0);
	CHECK_INT(rows_read(&again, path, &err), 0);
	CHECK_INT(again.count, 1);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(rmdir(directory), 0);
	elements_release(&rows);
	elements_release(&again);
}

TESTS(TEST(rows_read_back_as_they_were_written), TEST(columns_may_be_in_any_order),
      TEST(errors_name_the_line), TEST(repetitions_make_one_cell),
      TEST(rows_that_differ_in_seconds_only_are_numbered), TEST(no_rows_make_no_cells),
      TEST(files_are_written_completely_or_not_at_all))
