/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/data_comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "tune/content/item_writer.h"

/* Adds an output with the given content. */
static void add(struct manifest *m, const char *file, const char *object, const void *bytes,
		size_t n, bool is_text)
{
	FILE *stream = tmpfile();
	struct item_writer w;

	REQUIRE(stream);
	item_writer_init(&w, stream);
	item_writer_file(&w, file, strcmp(file, "stdout") == 0 ? MANIFEST_STDOUT : MANIFEST_OUTPUT);
	if (!bytes) {
		item_writer_unread(&w, object, "gone");
	} else {
		if (is_text)
			item_writer_begin_text(&w, object, 2);
		else
			item_writer_begin(&w, object, n);
		item_writer_data(&w, bytes, n);
		item_writer_end(&w);
	}
	item_writer_release(&w);
	rewind(stream);
	item_writer_read(m, stream);
	fclose(stream);
	manifest_sort(m);
}

static void add_text(struct manifest *m, const char *file, const char *text)
{
	add(m, file, "", text, strlen(text), true);
}

static void baseline(struct data_comparison *c, const char *file, const char *text)
{
	struct manifest m = { 0 };

	if (file)
		add_text(&m, file, text);
	data_comparison_add_baseline(c, &m);
	CHECK(!m.count && !m.items);
}

/* Checks a run that writes one text; "": it passes, else the word of the reason. */
static void check_run(const struct data_comparison *c, const char *file, const char *text,
		      const char *expected)
{
	struct manifest m = { 0 };
	char *why = NULL;

	if (file)
		add_text(&m, file, text);
	CHECK_INT(data_comparison_check(c, &m, &why), !*expected);
	CHECK_WORDS(why ? why : "", expected);
	free(why);
	manifest_release(&m);
}

static void check_description(const struct data_comparison *c, const char *expected)
{
	struct manifest m = { 0 };
	AUTO_FREE char *text = data_comparison_describe(c, &m);

	if (strncmp(text, expected, strlen(expected)) != 0)
		printf("\"%s\", expected \"%s\"\n", text, expected);
	CHECK(strncmp(text, expected, strlen(expected)) == 0);
}

static void equal_outputs_are_identical_and_others_are_found(void)
{
	struct data_comparison c = { 0 };

	baseline(&c, "out", "a\nb\n");
	baseline(&c, "out", "a\nb\n");
	check_run(&c, "out", "a\nb\n", "");
	check_run(&c, "out", "a\nc\n", "line 2");
	check_run(&c, "out", "a\nb\nc\n", "instead");
	check_run(&c, "out", "", "instead");
	check_run(&c, NULL, NULL, "missing");
	check_run(&c, "other", "x", "out is missing");
	check_description(&c, "identical: 1 file, 4 B");
	data_comparison_release(&c);
}

static void an_additional_output_is_a_difference(void)
{
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };
	char *why = NULL;

	baseline(&c, "out", "a\n");
	add_text(&m, "out", "a\n");
	add_text(&m, "more", "a\n");
	CHECK(!data_comparison_check(&c, &m, &why));
	CHECK_WORDS(why, "more is not written by the baseline");
	free(why);
	manifest_release(&m);
	data_comparison_release(&c);
}

static void lines_that_vary_are_left_out(void)
{
	struct data_comparison c = { 0 };

	baseline(&c, "out", "12:00\nb\n");
	check_run(&c, "out", "12:01:00\nb\n", "line 1");
	baseline(&c, "out", "12:01:00\nb\n");
	check_run(&c, "out", "1\nb\n", "");
	check_run(&c, "out", "1\nc\n", "line 2");
	check_description(&c, "partly: 1 file, ");
	baseline(&c, "out", "12:01:00\nc\n");
	check_run(&c, "out", "1\nd\n", "");
	check_description(&c, "not compared: no file could be compared; out differs");
	data_comparison_release(&c);
}

static void blocks_that_vary_are_left_out(void)
{
	char bytes[5 * MANIFEST_BLOCK_BYTES] = { 0 };
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };
	char *why = NULL;

	add(&m, "out", "", bytes, sizeof(bytes), false);
	CHECK(data_comparison_add_baseline(&c, &m));
	bytes[2 * MANIFEST_BLOCK_BYTES] = 1;
	add(&m, "out", "", bytes, sizeof(bytes), false);
	CHECK(data_comparison_add_baseline(&c, &m));
	add(&m, "out", "", bytes, sizeof(bytes), false);
	CHECK(!data_comparison_add_baseline(&c, &m));
	bytes[2 * MANIFEST_BLOCK_BYTES + 7] = 2;
	add(&m, "out", "", bytes, sizeof(bytes), false);
	CHECK(data_comparison_check(&c, &m, &why));
	manifest_release(&m);
	check_description(&c, "partly: 1 file, 16.0 KiB; 4.00 KiB of out differ");
	bytes[sizeof(bytes) - 1] = 1;
	add(&m, "out", "", bytes, sizeof(bytes), false);
	CHECK(!data_comparison_check(&c, &m, &why));
	CHECK_WORDS(why, "out differs at byte 16384");
	free(why);
	manifest_release(&m);
	data_comparison_release(&c);
}

static void names_that_vary_are_compared_by_content(void)
{
	struct data_comparison c = { 0 };

	baseline(&c, "out.17", "a\nb\n");
	baseline(&c, "out.18", "a\nb\n");
	check_run(&c, "out.19", "a\nb\n", "");
	check_run(&c, "out.19", "a\nx\n", "missing");
	check_description(&c, "identical: 1 file, 4 B");
	baseline(&c, "out.20", "c\n");
	check_run(&c, "out.21", "x\n", "");
	check_description(&c, "not compared: ");
	data_comparison_release(&c);
}

static void content_that_cannot_be_read_is_not_identical(void)
{
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };
	char *why = NULL;

	add_text(&m, "out", "a\n");
	add(&m, "lost", "", NULL, 0, false);
	data_comparison_add_baseline(&c, &m);
	add_text(&m, "out", "a\n");
	CHECK(data_comparison_check(&c, &m, &why));
	check_description(&c, "partly: 1 of 2 files, 2 B; lost: gone");
	manifest_release(&m);
	add(&m, "out", "", NULL, 0, false);
	CHECK(!data_comparison_check(&c, &m, &why));
	CHECK_WORDS(why, "out: gone");
	free(why);
	manifest_release(&m);
	data_comparison_release(&c);
}

static void gaps_are_reported(void)
{
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };

	add_text(&m, "out", "a\n");
	manifest_add_gap(&m, "2 processes were not recorded");
	data_comparison_add_baseline(&c, &m);
	check_description(&c, "partly: 1 file, 2 B; 2 processes were not recorded");
	data_comparison_release(&c);
}

static void standard_output_counts_if_there_is_nothing_else(void)
{
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };
	char *why = NULL;

	baseline(&c, "stdout", "a\nb\n");
	baseline(&c, "stdout", "a\nb\n");
	check_run(&c, "stdout", "a\nb\n", "");
	check_run(&c, "stdout", "a\nc\n", "line 2");
	check_description(&c, "identical: standard output, 2 of 2 lines");
	baseline(&c, "stdout", "a\nc\n");
	check_description(&c, "partly: standard output, 1 of 2 lines");
	baseline(&c, "stdout", "x\ny\n");
	check_description(&c, "not compared: the program wrote no file; the standard output");
	data_comparison_release(&c);
	/* The times that a program prints are not its data. */
	add_text(&m, "stdout", "1 s\n");
	add_text(&m, "out", "a\n");
	data_comparison_add_baseline(&c, &m);
	add_text(&m, "stdout", "2 s\n");
	add_text(&m, "out", "a\n");
	CHECK(data_comparison_check(&c, &m, &why));
	check_description(&c, "identical: 1 file, 2 B");
	manifest_release(&m);
	data_comparison_release(&c);
}

static void nothing_is_never_identical(void)
{
	struct data_comparison c = { 0 };

	baseline(&c, NULL, NULL);
	baseline(&c, NULL, NULL);
	check_description(&c, "not compared: the program wrote no file");
	check_run(&c, "out", "x\n", "out");
	data_comparison_release(&c);
	baseline(&c, "out", "");
	baseline(&c, "out", "");
	check_description(&c, "not compared: all files are empty");
	check_run(&c, "out", "x\n", "instead");
	data_comparison_release(&c);
}

static void objects_are_compared_one_by_one(void)
{
	struct data_comparison c = { 0 };
	struct manifest m = { 0 };
	char *why = NULL;

	for (int i = 0; i < 2; i++) {
		add(&m, "out.h5", "/x", "values", 6, false);
		add(&m, "out.h5", "/x@date", i ? "1" : "2", 1, false);
		data_comparison_add_baseline(&c, &m);
	}
	add(&m, "out.h5", "/x", "values", 6, false);
	add(&m, "out.h5", "/x@date", "3", 1, false);
	CHECK(data_comparison_check(&c, &m, &why));
	check_description(&c, "partly: 1 file, 6 B; out.h5:/x@date differs");
	manifest_release(&m);
	add(&m, "out.h5", "/x", "valuer", 6, false);
	CHECK(!data_comparison_check(&c, &m, &why));
	CHECK_WORDS(why, "out.h5:/x differs");
	free(why);
	manifest_release(&m);
	data_comparison_release(&c);
}

TESTS(TEST(equal_outputs_are_identical_and_others_are_found),
      TEST(an_additional_output_is_a_difference), TEST(lines_that_vary_are_left_out),
      TEST(blocks_that_vary_are_left_out), TEST(names_that_vary_are_compared_by_content),
      TEST(content_that_cannot_be_read_is_not_identical), TEST(gaps_are_reported),
      TEST(standard_output_counts_if_there_is_nothing_else), TEST(nothing_is_never_identical),
      TEST(objects_are_compared_one_by_one))
