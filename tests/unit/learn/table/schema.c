/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/table/schema.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

static const char trained[] = "size,op,rate,never\n"
			      "1,write,10,NA\n"
			      "NA,read,20,NA\n"
			      "3,write,inf,NA\n"
			      "10,sync,40,1\n";

static void table_read(struct dataset *dataset, const char *text)
{
	struct err err;

	if (csv_parse(dataset, "t", text, strlen(text), &err) < 0)
		puts(err.text);
	REQUIRE(dataset->values);
}

static void schema_make(struct schema *schema, const size_t *rows, size_t count)
{
	static const size_t columns[] = { 2, 1, 0 };
	AUTO_DATASET struct dataset dataset = { 0 };

	table_read(&dataset, trained);
	REQUIRE(schema_init(schema, &dataset, columns, 3, rows, count, NULL) == 0);
}

static void input_check(const struct schema *schema, size_t input, const char *expected)
{
	AUTO_FREE char *name = schema_input(schema, input);

	CHECK_TEXT(name, expected);
}

static void texts_become_an_input_per_level(void)
{
	struct schema schema;

	schema_make(&schema, NULL, 0);
	CHECK_INT(schema.width, 5);
	input_check(&schema, 0, "rate");
	input_check(&schema, 1, "op=read");
	input_check(&schema, 2, "op=sync");
	input_check(&schema, 3, "op=write");
	input_check(&schema, 4, "size");
	input_check(&schema, 5, "");
	/* The median of the finite values. */
	CHECK(schema.features[0].median == 20);
	CHECK(schema.features[2].median == 3);
	schema_release(&schema);
}

static void only_the_given_rows_are_used(void)
{
	static const size_t rows[] = { 0, 2 };
	struct schema schema;

	schema_make(&schema, rows, 2);
	CHECK_INT(schema.width, 3);
	input_check(&schema, 1, "op=write");
	CHECK(schema.features[0].median == 10);
	CHECK(schema.features[2].median == 2);
	schema_release(&schema);
}

static void another_table_is_read_by_names(void)
{
	static const double expected[] = { 7, 0, 0, 1, 5, 20, 1, 0, 0, 3,
					   9, 0, 0, 0, 8, 9,  0, 0, 0, 8 };
	AUTO_DATASET struct dataset dataset = { 0 };
	size_t strange = 77, missing = 77;
	struct schema schema;
	double out[20];

	schema_make(&schema, NULL, 0);
	table_read(&dataset, "op,other,size,rate\nwrite,x,5,7\nread,y,,inf\nseek,z,8,9\n,z,8,9\n");
	CHECK_INT(schema_inputs(&schema, &dataset, true, out, &strange, &missing, NULL), 0);
	for (size_t i = 0; i < 20; i++)
		CHECK(out[i] == expected[i]);
	CHECK_INT(strange, 1);
	CHECK_INT(missing, 3);
	CHECK_INT(schema_inputs(&schema, &dataset, true, out, NULL, NULL, NULL), 0);
	schema_release(&schema);
}

/* "1" and "2.50" are texts beside "x"; alone they are read as numbers. */
static void numbers_stand_for_texts_of_the_same_digits(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	AUTO_DATASET struct dataset numbers = { 0 };
	static const size_t columns[] = { 0 };
	struct schema schema;
	size_t strange, missing;
	double out[16];

	table_read(&dataset, "id\n1\n2.5\nx\n");
	table_read(&numbers, "id,a\n2.5,1\n1,1\nNA,1\n3,1\n");
	REQUIRE(schema_init(&schema, &dataset, columns, 1, NULL, 0, NULL) == 0);
	CHECK_INT(schema_inputs(&schema, &numbers, true, out, &strange, &missing, NULL), 0);
	CHECK(out[0] == 0);
	CHECK(out[1] == 1);
	CHECK(out[2] == 0);
	CHECK(out[3] == 1);
	CHECK(out[4] == 0);
	CHECK(out[5] == 0);
	CHECK(out[6] == 0);
	CHECK(out[7] == 0);
	CHECK(out[8] == 0);
	CHECK_INT(strange, 1);
	CHECK_INT(missing, 1);
	schema_release(&schema);
}

static void unsuitable_tables_are_rejected(void)
{
	AUTO_DATASET struct dataset absent = { 0 };
	AUTO_DATASET struct dataset texts = { 0 };
	AUTO_DATASET struct dataset dataset = { 0 };
	static const size_t columns[] = { 0, 3 }, rows[] = { 0, 1 };
	struct schema schema, other = { .count = 77 };
	double out[20];
	struct err err;

	schema_make(&schema, NULL, 0);
	table_read(&absent, "op,rates,size\nwrite,1,2\n");
	CHECK_INT(schema_inputs(&schema, &absent, true, out, NULL, NULL, &err), -ENOENT);
	CHECK(strstr(err.text, "\"rate\"; columns: rates"));
	table_read(&texts, "op,rate,size\nwrite,1,2\nread,fast,1\n");
	CHECK_INT(schema_inputs(&schema, &texts, true, out, NULL, NULL, &err), -EINVAL);
	CHECK_WORDS(err.text, "\"rate\"|\"1\"");
	schema_release(&schema);
	table_read(&dataset, trained);
	CHECK_INT(schema_init(&other, &dataset, columns, 2, rows, 2, &err), -ENODATA);
	CHECK_WORDS(err.text, "\"never\"|value");
	CHECK_INT(other.count, 77);
}

static void saved_schema_reads_the_same(void)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	AUTO_BUF struct buf bytes = { 0 };
	struct schema schema, loaded;
	double a[20], b[20];
	struct blob blob;

	schema_make(&schema, NULL, 0);
	schema_save(&schema, &bytes);
	blob_init(&blob, bytes.data, bytes.len);
	REQUIRE(schema_load(&loaded, &blob, NULL) == 0);
	CHECK(blob.at == blob.end);
	CHECK_INT(loaded.width, schema.width);
	table_read(&dataset, trained);
	CHECK_INT(schema_inputs(&schema, &dataset, true, a, NULL, NULL, NULL), 0);
	CHECK_INT(schema_inputs(&loaded, &dataset, true, b, NULL, NULL, NULL), 0);
	CHECK(memcmp(a, b, sizeof(a)) == 0);
	schema_release(&schema);
	schema_release(&loaded);
}

static void try_load(const char *bytes, size_t n, int must_fail)
{
	AUTO_DATASET struct dataset dataset = { 0 };
	AUTO_FREE double *out = NULL;
	struct schema loaded;
	struct blob blob;
	int r;

	blob_init(&blob, bytes, n);
	r = schema_load(&loaded, &blob, NULL);
	CHECK(!must_fail || r < 0);
	if (r < 0)
		return;
	table_read(&dataset, trained);
	out = xcalloc(dataset.rows * loaded.width + 1, sizeof(*out));
	schema_inputs(&loaded, &dataset, true, out, NULL, NULL, NULL);
	schema_release(&loaded);
}

static void damaged_schema_is_rejected_or_harmless(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct schema schema;
	struct random random;

	schema_make(&schema, NULL, 0);
	schema_save(&schema, &bytes);
	schema_release(&schema);
	random_init(&random, 2);
	for (size_t n = 0; n < bytes.len; n++) {
		AUTO_FREE char *cut = xmalloc(n);

		memcpy(cut, bytes.data, n);
		try_load(cut, n, 1);
	}
	for (size_t i = 0; i < 5000; i++) {
		AUTO_FREE char *flipped = xmalloc(bytes.len);

		memcpy(flipped, bytes.data, bytes.len);
		for (size_t j = 0; j <= i % 3; j++)
			flipped[random_below(&random, bytes.len)] ^=
				(char)(1 << random_below(&random, 8));
		try_load(flipped, bytes.len, 0);
	}
}

TESTS(TEST(texts_become_an_input_per_level), TEST(only_the_given_rows_are_used),
      TEST(another_table_is_read_by_names), TEST(numbers_stand_for_texts_of_the_same_digits),
      TEST(unsuitable_tables_are_rejected), TEST(saved_schema_reads_the_same),
      TEST(damaged_schema_is_rejected_or_harmless))
