/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/table/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"
#include "learn/table/dataset.h"

static int parse(struct dataset *dataset, const char *text, struct err *err)
{
	return csv_parse(dataset, "t.csv", text, strlen(text), err);
}

static void refuse(const char *text, const char *words)
{
	struct dataset dataset = { .rows = 77 };
	struct err err = { 0 };

	CHECK(parse(&dataset, text, &err) < 0);
	CHECK_WORDS(err.text, words);
	CHECK_INT(dataset.rows, 77);
}

/* The table as text: names, then rows; a level in angle brackets, missing as "?". */
static void expect(const char *text, const char *expected)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	char got[512] = "";
	size_t n = 0;

	if (parse(&dataset, text, &err) < 0)
		n += (size_t)snprintf(got, sizeof(got), "%s", err.text);
	for (size_t i = 0; i < dataset.width; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s|", dataset.columns[i].name);
	for (size_t i = 0; i < dataset.rows * dataset.width; i++) {
		const struct column *column = &dataset.columns[i % dataset.width];
		double value = dataset.values[i];

		if (i % dataset.width == 0)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "/");
		if (isnan(value))
			n += (size_t)snprintf(got + n, sizeof(got) - n, "?|");
		else if (column->levels)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "<%s>|",
					      column->levels[(size_t)value]);
		else
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%.17g|", value);
	}
	CHECK_TEXT(got, expected);
}

static void numbers_and_texts_are_distinguished(void)
{
	expect("a,b,c\n1,x,2\n-2.5e3,y,\n", "a|b|c|/1|<x>|2|/-2500|<y>|?|");
	/* One text cell turns the whole column into text, as it is written. */
	expect("a\n007\n1.0\nx\n", "a|/<007>|/<1.0>|/<x>|");
	expect("a\n0x10\n", "a|/<0x10>|");
	expect("a,b\n1,inf\n2,-Infinity\n", "a|b|/1|inf|/2|-inf|");
}

static void words_for_missing_are_missing(void)
{
	expect("a,b\nNA,\nn/a,-\nnan,null\n1,\" \"\n", "a|b|/?|?|/?|?|/?|?|/1|< >|");
	expect("a,b\nNA,NaN\n", "a|b|/?|?|");
	expect("a,b\nNAN0,\"\"\n", "a|b|/<NAN0>|?|");
}

static void the_most_frequent_separator_of_the_first_line_is_used(void)
{
	expect("a;b,c;d\n1;2;3\n", "a|b,c|d|/1|2|3|");
	expect("a\tb\n\t1\n", "a|b|/?|1|");
	expect("\"a,b,c\";d\n1;2\n", "a,b,c|d|/1|2|");
	expect("a b  c\n  1 2 3  \n4 \"5 6\"  7\n", "a|b|c|/1|<2>|3|/4|<5 6>|7|");
	/* Names contain blanks; the comma is the separator. */
	expect("one name,another name\n1,2\n", "one name|another name|/1|2|");
}

static void quotes_are_those_of_rfc_4180(void)
{
	expect("a,b\n\"x, \"\"y\"\"\",1\n", "a|b|/<x, \"y\">|1|");
	expect("a,b\n\"two\nlines\",1\n", "a|b|/<two\nlines>|1|");
	expect("a,b\n\"1\" , \"2\"\n", "a|b|/1|2|");
	expect("\"1\",\"2\"\n3,4\n", "1|2|/3|4|");
	expect("a,b\n5\" disk,1\n", "a|b|/<5\" disk>|1|");
}

static void line_ends_and_marks_of_other_systems_are_read(void)
{
	expect("\xef\xbb\xbf"
	       "a,b\r\n1,2\r\n3,4",
	       "a|b|/1|2|/3|4|");
	expect("a,b\r1,2\r3,4\r", "a|b|/1|2|/3|4|");
	expect("\n\na,b\n\n1,2\n  \n\n3,4\n\n", "a|b|/1|2|/3|4|");
}

static void names_of_rows_get_a_column(void)
{
	expect("a,b\n0,1,2\n1,3,4\n", "column1|a|b|/0|1|2|/1|3|4|");
	expect(",a\n0,1\n", "column1|a|/0|1|");
	expect("column1,,b\n0,1,2\n", "column1|column2|b|/0|1|2|");
	expect("column2,,b\n0,1,2\n", "column2|column2_|b|/0|1|2|");
	/* A separator at the end of every line does not make a column. */
	expect("a,b,\n1,2,\n3,4,\n", "a|b|/1|2|/3|4|");
	expect("a,b\n1,2,\n3,4,\n", "a|b|/1|2|/3|4|");
}

static void table_without_rows_is_read(void)
{
	expect("a,b\n", "a|b|");
	expect("a", "a|");
}

static void numbers_are_read_to_the_last_bit(void)
{
	static const char *const texts[] = {
		"0.1",
		"123456789.123456789",
		"1e22",
		"1e23",
		"9007199254740993",
		"1.7976931348623157e308",
		"5e-324",
		"2.2250738585072011e-308",
		"0.000000000000000000000000000001",
		"-0",
		"1234567890123456789012345678901234567890",
		"1e-400",
		"1e400",
		".5",
		"5.",
		"+7",
		"00000000000000000000000000000000000000012.5",
		"0.30000000000000004",
		"1E5",
		"8.41e+21",
		"0.000000000000000000000000000000000000000000000000123456789012345678",
		"9e15",
		"1e-22",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		AUTO_DATASET struct dataset dataset = { 0 };
		AUTO_FREE char *text = xprintf("a\n%s\n", texts[i]);
		double expected = strtod(texts[i], NULL);

		REQUIRE(parse(&dataset, text, NULL) >= 0);
		CHECK(!dataset.columns[0].levels);
		CHECK(memcmp(&dataset.values[0], &expected, sizeof(expected)) == 0);
	}
	expect("a\n1e\n", "a|/<1e>|");
	expect("a\n.\n", "a|/<.>|");
	expect("a\n1e+\n", "a|/<1e+>|");
	expect("a\n1.2.3\n", "a|/<1.2.3>|");
	expect("a\n+-1\n", "a|/<+-1>|");
}

static void errors_say_where_and_what(void)
{
	refuse("", "t.csv|empty");
	refuse("\n\n", "t.csv|empty");
	refuse("1,2\n3,4\n", "t.csv:1:|columns");
	refuse(",\n,\n", "neither");
	refuse("a,b,c\n1,2,3\n\n1,2\n", "t.csv:4:|2 fields|first|3");
	refuse("a;b\n1\n", "t.csv:2:|1 field|first|2");
	refuse("a,b\n1,2,3\n1,2\n", "t.csv:3:|2 fields|row|3");
	refuse("a,b\n1,2,3,4\n", "t.csv:2:|4 fields|first|2");
	refuse("a,b\n1,2\n3,\"x\ny\nz", "t.csv:3:|unterminated");
	refuse("a,b\n\"p\nq\"r,2\n", "t.csv:3:|closing");
	refuse("a,b,a\n1,2,3\n", "t.csv:1:|two columns");
	CHECK(csv_parse(&(struct dataset){ 0 }, "t", "a\n1\0", 4, NULL) == -EINVAL);
}

static void endless_cell_is_rejected(void)
{
	size_t n = (1 << 20) + 100;
	AUTO_FREE char *text = xmalloc(n + 1);
	struct dataset dataset = { 0 };
	struct err err;

	memset(text, 'x', n);
	text[n] = 0;
	memcpy(text, "a\n\"", 3);
	CHECK_INT(parse(&dataset, text, &err), -EINVAL);
	CHECK_WORDS(err.text, "t.csv:2:|cell");
}

static char directory[] = "/tmp/learn_csv.XXXXXX";

static void directory_remove(void)
{
	AUTO_FREE char *command = xprintf("rm -rf %s", directory);

	if (system(command) != 0)
		printf("%s is left\n", directory);
}

static char *in_directory(const char *name)
{
	static bool made;

	if (!made) {
		REQUIRE(mkdtemp(directory));
		atexit(directory_remove);
	}
	made = true;
	return xprintf("%s/%s", directory, name);
}

static void table_fill(struct dataset *dataset, size_t rows)
{
	static const char *const names[] = { "number", "a \"text\", quoted", "gap" };
	static const char *const levels[] = { " blank", "x,y", "line\nend", "plain", "\"" };
	struct random random;

	dataset_init(dataset, rows, 3, names);
	dataset->columns[1].levels = calloc(5, sizeof(char *));
	dataset->columns[1].level_count = 5;
	for (size_t i = 0; i < 5; i++)
		dataset->columns[1].levels[i] = strdup(levels[i]);
	random_init(&random, 1);
	for (size_t i = 0; i < rows; i++) {
		uint64_t bits = random_u64(&random);
		double *row = dataset_row(dataset, i);

		memcpy(&row[0], &bits, sizeof(bits));
		if (!isfinite(row[0]))
			row[0] = random_real(&random);
		row[1] = (double)random_below(&random, 5);
		row[2] = i % 3 ? (double)i / 10 : NAN;
	}
}

static void tables_agree(const struct dataset *a, const struct dataset *b)
{
	REQUIRE(a->rows == b->rows && a->width == b->width);
	for (size_t i = 0; i < a->width; i++)
		CHECK_TEXT(a->columns[i].name, b->columns[i].name);
	for (size_t i = 0; i < a->rows; i++) {
		const double *x = dataset_row(a, i), *y = dataset_row(b, i);

		CHECK(memcmp(&x[0], &y[0], sizeof(double)) == 0);
		CHECK_TEXT(a->columns[1].levels[(size_t)x[1]], b->columns[1].levels[(size_t)y[1]]);
		CHECK(x[2] == y[2] || (isnan(x[2]) && isnan(y[2])));
	}
}

static void written_table_reads_the_same(void)
{
	static const char *const files[] = { "t.csv", "t.csv.gz" };
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };

	table_fill(&dataset, 2000);
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *path = in_directory(files[i]);
		AUTO_DATASET struct dataset again = { 0 };
		AUTO_FCLOSE FILE *file = NULL;

		CHECK_INT(csv_write(&dataset, path, &err), 0);
		CHECK_INT(csv_read(&again, path, &err), 0);
		tables_agree(&dataset, &again);
		/* Levels are sorted, independent of the order in the table. */
		CHECK_TEXT(again.columns[1].levels[0], " blank");
		CHECK_TEXT(again.columns[1].levels[4], "x,y");
		file = fopen(path, "rb");
		REQUIRE(file);
		CHECK((getc(file) == 0x1f) == (i == 1));
	}
}

static void write_leaves_no_draft_and_no_half_file(void)
{
	AUTO_FREE char *path = in_directory("absent/t.csv"), *blocked = in_directory("blocked");
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };

	table_fill(&dataset, 3);
	CHECK_INT(csv_write(&dataset, path, &err), -ENOENT);
	CHECK_WORDS(err.text, "absent/t.csv|No such file");
	REQUIRE(mkdir(blocked, 0700) == 0);
	CHECK_INT(csv_write(&dataset, blocked, &err), -EISDIR);
	CHECK_INT(csv_write(&dataset, "/dev/full", &err), -ENOSPC);
	CHECK_INT(csv_write(&dataset, "/dev/null", &err), 0);
}

static void truncated_gzip_is_an_error(void)
{
	AUTO_FREE char *path = in_directory("cut.csv.gz");
	AUTO_DATASET struct dataset dataset = { 0 };
	struct dataset again = { 0 };
	struct err err = { 0 };
	struct stat status;

	table_fill(&dataset, 2000);
	REQUIRE(csv_write(&dataset, path, &err) == 0 && stat(path, &status) == 0);
	REQUIRE(truncate(path, status.st_size / 2) == 0);
	CHECK_INT(csv_read(&again, path, &err), -EBADMSG);
	CHECK_WORDS(err.text, "cut.csv.gz|truncated");
	CHECK(!again.values);
}

static void damaged_gzip_is_an_error(void)
{
	AUTO_FREE char *path = in_directory("bad.csv.gz");
	AUTO_DATASET struct dataset dataset = { 0 };
	struct dataset again = { 0 };
	struct err err = { 0 };
	struct stat status;
	int fd;

	table_fill(&dataset, 2000);
	REQUIRE(csv_write(&dataset, path, &err) == 0 && stat(path, &status) == 0);
	fd = open(path, O_WRONLY);
	/* Only the checksum at the end is wrong. */
	REQUIRE(fd >= 0 && pwrite(fd, "\x55\xaa\x55", 3, status.st_size - 8) == 3);
	close(fd);
	CHECK_INT(csv_read(&again, path, &err), -EBADMSG);
	CHECK_WORDS(err.text, "bad.csv.gz|damaged");
}

static void absent_file_and_directory_are_errors(void)
{
	struct dataset dataset = { 0 };
	struct err err = { 0 };

	CHECK_INT(csv_read(&dataset, "/nowhere/t.csv", &err), -ENOENT);
	CHECK(strstr(err.text, "/nowhere/t.csv"));
	CHECK_INT(csv_read(&dataset, "/tmp", &err), -EISDIR);
	CHECK_INT(csv_read(&dataset, "/dev/null", &err), -ENODATA);
}

static void *pipe_write(void *arg)
{
	AUTO_FCLOSE FILE *file = fdopen(*(int *)arg, "w");

	fputs("a,b\n", file);
	for (int i = 0; i < 50000; i++)
		fprintf(file, "%d,level %d\n", i, i % 7);
	return NULL;
}

static void standard_input_is_read_though_it_cannot_be_rewound(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	pthread_t thread;
	int ends[2];

	REQUIRE(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	close(ends[0]);
	REQUIRE(pthread_create(&thread, NULL, pipe_write, &ends[1]) == 0);
	CHECK_INT(csv_read(&dataset, "-", &err), 0);
	pthread_join(thread, NULL);
	CHECK_INT(dataset.rows, 50000);
	CHECK(dataset_row(&dataset, 49999)[0] == 49999);
	CHECK(dataset_row(&dataset, 49999)[1] == 5);
	CHECK_INT(dataset.columns[1].level_count, 7);
}

/* Chunks end inside cells, quotes and line ends; the table must be the same for any size. */
static void cells_across_chunks_are_whole(void)
{
	AUTO_FREE char *path = in_directory("long.csv");
	AUTO_DATASET struct dataset dataset = { 0 };
	struct err err = { 0 };
	FILE *file = fopen(path, "w");

	REQUIRE(file);
	fputs("n,text\r\n", file);
	for (int i = 0; i < 30000; i++)
		fprintf(file, "%d.5,\"q\"\"%d\"\"\r\nz\"\r\n", i, i % 10);
	fclose(file);
	CHECK_INT(csv_read(&dataset, path, &err), 0);
	CHECK_INT(dataset.rows, 30000);
	CHECK_INT(dataset.columns[1].level_count, 10);
	CHECK_TEXT(dataset.columns[1].levels[3], "q\"3\"\r\nz");
	for (size_t i = 0; i < dataset.rows; i++)
		CHECK(dataset_row(&dataset, i)[0] == (double)i + 0.5 &&
		      dataset_row(&dataset, i)[1] == (double)(i % 10));
}

TESTS(TEST(numbers_and_texts_are_distinguished), TEST(words_for_missing_are_missing),
      TEST(the_most_frequent_separator_of_the_first_line_is_used),
      TEST(quotes_are_those_of_rfc_4180), TEST(line_ends_and_marks_of_other_systems_are_read),
      TEST(names_of_rows_get_a_column), TEST(table_without_rows_is_read),
      TEST(numbers_are_read_to_the_last_bit), TEST(errors_say_where_and_what),
      TEST(endless_cell_is_rejected), TEST(written_table_reads_the_same),
      TEST(write_leaves_no_draft_and_no_half_file), TEST(truncated_gzip_is_an_error),
      TEST(damaged_gzip_is_an_error), TEST(absent_file_and_directory_are_errors),
      TEST(standard_input_is_read_though_it_cannot_be_rewound), TEST(cells_across_chunks_are_whole))
