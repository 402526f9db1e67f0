/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file: row groups, and the footer that describes them. The numbers of fields and enumerations
 * are those of parquet.thrift.
 */
#include "trace/parquet/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/trusted.h"
#include "trace/container/wire.h"
#include "trace/parquet/chunk.h"
#include "trace/parquet/thrift.h"

#define MAGIC "PAR1"
#define CODEC_ZSTD 6
#define FORMAT_VERSION 2
#define LOGICAL_TEXT 1
#define LOGICAL_TIMESTAMP 8
#define UNIT_MICROS 2
#define PARALLEL_ROWS 16384 /* a smaller group takes less time than starting threads */

/* The physical type, and the older annotation, which some readers still need; -1: none. */
static const struct {
	int32_t physical, converted;
} types[] = {
	[PARQUET_BOOL] = { 0, -1 }, [PARQUET_INT32] = { 1, -1 }, [PARQUET_INT64] = { 2, -1 },
	[PARQUET_TIME] = { 2, 10 }, [PARQUET_TEXT] = { 6, 0 },
};

struct parquet_encoder {
	unsigned threads;
	struct chunk_scratch *scratch; /* one per thread */
	struct chunk *chunks;	       /* one per column */
	int *results;
	size_t count;
};

struct parquet_encoder *parquet_encoder_new(unsigned threads)
{
	struct parquet_encoder *encoder = xcalloc(1, sizeof(*encoder));

	encoder->threads = threads ? threads : 1;
	encoder->scratch = xcalloc(encoder->threads, sizeof(*encoder->scratch));
	return encoder;
}

void parquet_encoder_free(struct parquet_encoder *encoder)
{
	if (!encoder)
		return;
	for (unsigned i = 0; i < encoder->threads; i++)
		chunk_scratch_release(&encoder->scratch[i]);
	for (size_t i = 0; i < encoder->count; i++)
		chunk_release(&encoder->chunks[i]);
	free(encoder->scratch);
	free(encoder->chunks);
	free(encoder->results);
	free(encoder);
}

static void reserve_chunks(struct parquet_encoder *encoder, size_t count)
{
	if (count <= encoder->count)
		return;
	encoder->chunks = xrealloc(encoder->chunks, count, sizeof(*encoder->chunks));
	encoder->results = xrealloc(encoder->results, count, sizeof(*encoder->results));
	memset(encoder->chunks + encoder->count, 0,
	       (count - encoder->count) * sizeof(*encoder->chunks));
	encoder->count = count;
}

struct encode_work {
	struct parquet_encoder *encoder;
	const struct parquet_schema *schema;
	const struct parquet_rows *rows;
};

static void encode_column(void *arg, size_t column, unsigned worker)
{
	const struct encode_work *work = arg;
	struct chunk_scratch *scratch = &work->encoder->scratch[worker];
	struct parquet_values *values = chunk_prepare(scratch, work->rows->count);

	work->rows->fill(work->rows->arg, column, values);
	work->encoder->results[column] =
		chunk_encode(&work->encoder->chunks[column], scratch, &work->schema->fields[column],
			     work->rows->count);
}

/* All columns of a group, in the encoder's chunks. */
static int encode_group(struct parquet_encoder *encoder, const struct parquet_schema *schema,
			const struct parquet_rows *rows)
{
	struct encode_work work = { encoder, schema, rows };

	reserve_chunks(encoder, schema->count);
	parallel_for(rows->count < PARALLEL_ROWS ? 1 : encoder->threads, schema->count,
		     encode_column, &work);
	for (size_t i = 0; i < schema->count; i++)
		if (encoder->results[i] < 0)
			return encoder->results[i];
	return 0;
}

static void put_statistics(struct thrift *t, int field, const struct chunk *chunk)
{
	thrift_open(t, field);
	thrift_i64(t, 3, (int64_t)chunk->nulls);
	if (chunk->has_range) {
		thrift_binary(t, 5, buf_text(&chunk->max), chunk->max.len);
		thrift_binary(t, 6, buf_text(&chunk->min), chunk->min.len);
	}
	thrift_close(t);
}

static void put_encodings(struct thrift *t, int field, const struct chunk *chunk)
{
	bool dictionary = chunk->dictionary_bytes;

	thrift_list(t, field, THRIFT_I32, dictionary ? 3 : 2);
	thrift_i32(t, 0, ENCODING_RLE);
	thrift_i32(t, 0, chunk->encoding);
	if (dictionary)
		thrift_i32(t, 0, ENCODING_PLAIN);
}

static void put_column(struct thrift *t, const struct parquet_field *field,
		       const struct chunk *chunk, uint64_t offset, size_t rows)
{
	thrift_open(t, 0);
	thrift_i64(t, 2, (int64_t)offset);
	thrift_open(t, 3);
	thrift_i32(t, 1, types[field->type].physical);
	put_encodings(t, 2, chunk);
	thrift_list(t, 3, THRIFT_BINARY, 1);
	thrift_text(t, 0, field->name);
	thrift_i32(t, 4, CODEC_ZSTD);
	thrift_i64(t, 5, (int64_t)rows);
	thrift_i64(t, 6, (int64_t)chunk->raw_bytes);
	thrift_i64(t, 7, (int64_t)chunk->bytes.len);
	thrift_i64(t, 9, (int64_t)(offset + chunk->dictionary_bytes));
	if (chunk->dictionary_bytes)
		thrift_i64(t, 11, (int64_t)offset);
	put_statistics(t, 12, chunk);
	thrift_close(t);
	thrift_close(t);
}

static void put_sorting(struct thrift *t, int field, int sorted)
{
	if (!sorted)
		return;
	thrift_list(t, field, THRIFT_STRUCT, 1);
	thrift_open(t, 0);
	thrift_i32(t, 1, sorted - 1);
	thrift_bool(t, 2, false); /* not descending */
	thrift_bool(t, 3, false); /* nulls last */
	thrift_close(t);
}

/* Notes the group that starts at file->bytes. */
static void put_group(struct parquet *file, const struct parquet_encoder *encoder, size_t rows)
{
	struct thrift t = { .out = &file->groups };
	uint64_t offset = file->bytes, raw = 0;

	thrift_list(&t, 1, THRIFT_STRUCT, file->schema->count);
	for (size_t i = 0; i < file->schema->count; i++) {
		put_column(&t, &file->schema->fields[i], &encoder->chunks[i], offset, rows);
		offset += encoder->chunks[i].bytes.len;
		raw += encoder->chunks[i].raw_bytes;
	}
	thrift_i64(&t, 2, (int64_t)raw);
	thrift_i64(&t, 3, (int64_t)rows);
	put_sorting(&t, 4, file->schema->sorted);
	thrift_i64(&t, 5, (int64_t)file->bytes);
	thrift_i64(&t, 6, (int64_t)(offset - file->bytes));
	thrift_close(&t);
	file->group_count++;
	file->rows += rows;
}

void parquet_init(struct parquet *file, const char *path, const struct parquet_schema *schema)
{
	*file = (struct parquet){ .path = xstrdup(path), .schema = schema };
}

void parquet_release(struct parquet *file)
{
	free(file->path);
	buf_release(&file->groups);
	*file = (struct parquet){ 0 };
}

static int fail_write(const struct parquet *file, int r, struct err *err)
{
	return err_set(err, -r, "%s: cannot write: %s", file->path, strerror(-r));
}

static int append(struct parquet *file, int fd, const void *bytes, size_t n, struct err *err)
{
	int r = file_write_fd(fd, bytes, n);

	if (r < 0)
		return fail_write(file, r, err);
	file->bytes += n;
	return 0;
}

/* Opens the file to append to it; creates it at the first call. */
static int open_file(struct parquet *file, struct err *err)
{
	int fd, r;

	if (file->bytes) {
		fd = open(file->path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? fail_write(file, -errno, err) : fd;
	}
	fd = trusted_create_file(AT_FDCWD, file->path, err);
	if (fd < 0)
		return fd;
	r = append(file, fd, MAGIC, strlen(MAGIC), err);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

int parquet_add(struct parquet *file, struct parquet_encoder *encoder,
		const struct parquet_rows *rows, struct err *err)
{
	AUTO_CLOSE int fd = open_file(file, err);
	int r = fd < 0 ? fd : encode_group(encoder, file->schema, rows);

	if (fd < 0)
		return fd;
	if (r < 0)
		return fail_write(file, r, err);
	put_group(file, encoder, rows->count);
	for (size_t i = 0; i < file->schema->count && !r; i++)
		r = append(file, fd, buf_text(&encoder->chunks[i].bytes),
			   encoder->chunks[i].bytes.len, err);
	return r;
}

static void put_logical_type(struct thrift *t, int field, enum parquet_type type)
{
	if (type != PARQUET_TEXT && type != PARQUET_TIME)
		return;
	thrift_open(t, field);
	thrift_open(t, type == PARQUET_TEXT ? LOGICAL_TEXT : LOGICAL_TIMESTAMP);
	if (type == PARQUET_TIME) {
		thrift_bool(t, 1, true); /* adjusted to UTC */
		thrift_open(t, 2);
		thrift_open(t, UNIT_MICROS);
		thrift_close(t);
		thrift_close(t);
	}
	thrift_close(t);
	thrift_close(t);
}

static void put_schema(struct thrift *t, int field, const struct parquet_schema *schema)
{
	thrift_list(t, field, THRIFT_STRUCT, schema->count + 1);
	thrift_open(t, 0);
	thrift_text(t, 4, "schema");
	thrift_i32(t, 5, (int32_t)schema->count);
	thrift_close(t);
	for (size_t i = 0; i < schema->count; i++) {
		const struct parquet_field *column = &schema->fields[i];

		thrift_open(t, 0);
		thrift_i32(t, 1, types[column->type].physical);
		thrift_i32(t, 3, column->nullable);
		thrift_text(t, 4, column->name);
		if (types[column->type].converted >= 0)
			thrift_i32(t, 6, types[column->type].converted);
		put_logical_type(t, 10, column->type);
		thrift_close(t);
	}
}

static void put_pairs(struct thrift *t, int field, const struct parquet_pair *pairs)
{
	size_t count = 0;

	while (pairs[count].key)
		count++;
	thrift_list(t, field, THRIFT_STRUCT, count);
	for (; pairs->key; pairs++) {
		thrift_open(t, 0);
		thrift_text(t, 1, pairs->key);
		thrift_text(t, 2, pairs->value);
		thrift_close(t);
	}
}

/* Without these, readers ignore the minimum and the maximum of a column. */
static void put_orders(struct thrift *t, int field, size_t count)
{
	thrift_list(t, field, THRIFT_STRUCT, count);
	for (size_t i = 0; i < count; i++) {
		thrift_open(t, 0);
		thrift_open(t, 1);
		thrift_close(t);
		thrift_close(t);
	}
}

static void put_footer(struct buf *out, const struct parquet *file,
		       const struct parquet_pair *pairs)
{
	struct thrift t = { .out = out };
	uint8_t length[4];

	thrift_i32(&t, 1, FORMAT_VERSION);
	put_schema(&t, 2, file->schema);
	thrift_i64(&t, 3, (int64_t)file->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, file->group_count);
	buf_add(out, buf_text(&file->groups), file->groups.len);
	put_pairs(&t, 5, pairs);
	thrift_text(&t, 6, "sluice version " SLUICE_VERSION);
	put_orders(&t, 7, file->schema->count);
	thrift_close(&t);
	store_u32(length, (uint32_t)out->len);
	buf_add(out, length, sizeof(length));
	buf_puts(out, MAGIC);
}

int parquet_finish(struct parquet *file, const struct parquet_pair *pairs, struct err *err)
{
	AUTO_CLOSE int fd = open_file(file, err);
	AUTO_BUF struct buf footer = { 0 };
	int r;

	if (fd < 0)
		return fd;
	put_footer(&footer, file, pairs);
	r = append(file, fd, footer.data, footer.len, err);
	if (!r && fsync(fd) < 0)
		r = fail_write(file, -errno, err);
	return r;
}
