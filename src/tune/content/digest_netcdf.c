/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/digest_netcdf.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "tune/content/item_writer.h"

#define NAME_BYTES_MAX 4096
#define RANK_MAX 1024
/* The library does not write the padding of the last values. Missing bytes count as zeros. */
#define MISSING_MAX (64u << 10)
#define PIECE_BYTES (1u << 20)

enum { TAG_DIMENSIONS = 10, TAG_VARIABLES = 11, TAG_ATTRIBUTES = 12 };

struct dimension {
	char *name;
	uint64_t length; /* 0: the dimension of records */
};

struct variable {
	char *name;
	uint32_t type;
	size_t rank;
	uint64_t *dimensions; /* indices */
	uint64_t begin;
	uint64_t bytes; /* of one record, or of all values, without padding */
	bool has_records;
};

struct netcdf {
	struct item_writer *writer;
	struct err *err;
	FILE *header;
	int fd;
	int version;
	uint64_t file_bytes, records, record_bytes;
	struct dimension *dimensions;
	size_t dimension_count, dimension_cap;
	struct variable *variables;
	size_t variable_count, variable_cap;
};

bool digest_is_netcdf(int fd)
{
	unsigned char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "CDF", 3) == 0 && (magic[3] == 1 || magic[3] == 2 || magic[3] == 5);
}

static int fail(struct netcdf *n, const char *what)
{
	return err_set(n->err, EBADMSG, "its NetCDF header is broken: %s", what);
}

static int read_u32(struct netcdf *n, uint64_t *number)
{
	uint32_t value;

	if (fread(&value, sizeof(value), 1, n->header) != 1)
		return fail(n, "it is too short");
	*number = be32toh(value);
	return 0;
}

static int read_u64(struct netcdf *n, uint64_t *number)
{
	if (fread(number, sizeof(*number), 1, n->header) != 1)
		return fail(n, "it is too short");
	*number = be64toh(*number);
	return 0;
}

/* A count, length or index. */
static int read_count(struct netcdf *n, uint64_t *count)
{
	return n->version == 5 ? read_u64(n, count) : read_u32(n, count);
}

static int read_offset(struct netcdf *n, uint64_t *offset)
{
	return n->version == 1 ? read_u32(n, offset) : read_u64(n, offset);
}

static int skip_padding(struct netcdf *n, uint64_t bytes)
{
	char padding[3];
	size_t more = (4 - bytes % 4) % 4;

	return fread(padding, 1, more, n->header) == more ? 0 : fail(n, "it is too short");
}

/* The caller frees the name, also after a failure. */
static int read_name(struct netcdf *n, char **name)
{
	uint64_t bytes = 0;
	int r = read_count(n, &bytes);

	if (r < 0)
		return r;
	if (bytes > NAME_BYTES_MAX)
		return fail(n, "a name is too long");
	*name = xcalloc(bytes + 1, 1);
	if (fread(*name, 1, bytes, n->header) != bytes)
		return fail(n, "it is too short");
	return skip_padding(n, bytes);
}

/* The number of elements of a list. */
static int read_list(struct netcdf *n, uint64_t tag, uint64_t *count)
{
	uint64_t found = 0;
	int r = read_u32(n, &found);

	if (r >= 0)
		r = read_count(n, count);
	if (r >= 0 && found != tag && (found || *count))
		r = fail(n, "a list has a wrong tag");
	return r;
}

static uint64_t type_bytes(uint64_t type)
{
	static const unsigned char bytes[] = { 0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8 };

	return type < sizeof(bytes) ? bytes[type] : 0;
}

static int read_dimensions(struct netcdf *n)
{
	uint64_t count = 0;
	int r = read_list(n, TAG_DIMENSIONS, &count);

	for (uint64_t i = 0; r >= 0 && i < count; i++) {
		struct dimension *d;

		n->dimensions = xgrow(n->dimensions, &n->dimension_cap, n->dimension_count + 1,
				      sizeof(*n->dimensions));
		d = &n->dimensions[n->dimension_count++];
		*d = (struct dimension){ 0 };
		r = read_name(n, &d->name);
		if (r >= 0)
			r = read_count(n, &d->length);
	}
	return r;
}

/* Copies the values of an attribute to the current item. */
static int copy_values(struct netcdf *n, uint64_t bytes)
{
	char piece[4096];

	for (uint64_t left = bytes; left;) {
		size_t part = left < sizeof(piece) ? (size_t)left : sizeof(piece);

		if (fread(piece, 1, part, n->header) != part)
			return fail(n, "it is too short");
		item_writer_data(n->writer, piece, part);
		left -= part;
	}
	return skip_padding(n, bytes);
}

static int write_attribute(struct netcdf *n, const char *of)
{
	AUTO_FREE char *name = NULL, *path = NULL;
	uint64_t type = 0, count = 0, bytes;
	int r = read_name(n, &name);

	if (r >= 0)
		r = read_u32(n, &type);
	if (r >= 0)
		r = read_count(n, &count);
	if (r < 0)
		return r;
	if (!type_bytes(type) || __builtin_mul_overflow(count, type_bytes(type), &bytes))
		return fail(n, "an attribute has an unknown type");
	path = xprintf("%s@%s", of, name);
	item_writer_begin(n->writer, path, bytes);
	item_writer_shape(n->writer, &type, sizeof(type));
	r = copy_values(n, bytes);
	item_writer_end(n->writer);
	return r;
}

static int write_attributes(struct netcdf *n, const char *of)
{
	uint64_t count = 0;
	int r = read_list(n, TAG_ATTRIBUTES, &count);

	for (uint64_t i = 0; r >= 0 && i < count; i++)
		r = write_attribute(n, of);
	return r;
}

/* Computes the size of a variable, and whether it has records. */
static int measure_variable(struct netcdf *n, struct variable *v)
{
	v->bytes = type_bytes(v->type);
	if (!v->bytes)
		return fail(n, "a variable has an unknown type");
	for (size_t i = 0; i < v->rank; i++) {
		uint64_t length;

		if (v->dimensions[i] >= n->dimension_count)
			return fail(n, "a variable has an unknown dimension");
		length = n->dimensions[v->dimensions[i]].length;
		v->has_records = v->has_records || (i == 0 && !length);
		if (!(i == 0 && !length) && __builtin_mul_overflow(v->bytes, length, &v->bytes))
			return fail(n, "a variable is too large");
	}
	return 0;
}

static int read_variable(struct netcdf *n)
{
	struct variable *v;
	uint64_t rank = 0, type = 0, ignored;
	int r;

	n->variables =
		xgrow(n->variables, &n->variable_cap, n->variable_count + 1, sizeof(*n->variables));
	v = &n->variables[n->variable_count++];
	*v = (struct variable){ 0 };
	r = read_name(n, &v->name);
	if (r >= 0)
		r = read_count(n, &rank);
	if (r >= 0 && rank > RANK_MAX)
		r = fail(n, "a variable has too many dimensions");
	if (r < 0)
		return r;
	v->rank = (size_t)rank;
	v->dimensions = xcalloc(v->rank + 1, sizeof(*v->dimensions));
	for (size_t i = 0; r >= 0 && i < v->rank; i++)
		r = read_count(n, &v->dimensions[i]);
	if (r >= 0)
		r = write_attributes(n, v->name);
	if (r >= 0)
		r = read_u32(n, &type);
	if (r >= 0)
		r = read_count(n, &ignored); /* the size with padding, which may be wrong */
	if (r >= 0)
		r = read_offset(n, &v->begin);
	v->type = (uint32_t)type;
	return r < 0 ? r : measure_variable(n, v);
}

static int read_variables(struct netcdf *n)
{
	uint64_t count = 0;
	int r = read_list(n, TAG_VARIABLES, &count);

	for (uint64_t i = 0; r >= 0 && i < count; i++)
		r = read_variable(n);
	return r;
}

/* A single variable with records is not padded. */
static int measure_records(struct netcdf *n)
{
	size_t with_records = 0;
	uint64_t packed = 0, first = UINT64_MAX;

	for (size_t i = 0; i < n->variable_count; i++) {
		const struct variable *v = &n->variables[i];
		uint64_t padded;

		if (!v->has_records)
			continue;
		with_records++;
		packed = v->bytes;
		first = v->begin < first ? v->begin : first;
		if (__builtin_add_overflow(v->bytes, (4 - v->bytes % 4) % 4, &padded) ||
		    __builtin_add_overflow(n->record_bytes, padded, &n->record_bytes))
			return fail(n, "a record is too large");
	}
	if (with_records == 1)
		n->record_bytes = packed;
	if (n->records == (n->version == 5 ? UINT64_MAX : UINT32_MAX))
		n->records = n->record_bytes && first < n->file_bytes
				     ? (n->file_bytes - first) / n->record_bytes
				     : 0;
	return 0;
}

/* Adds values to the current item. Bytes after the end of the file count as zeros. */
static int copy_range(struct netcdf *n, char *piece, uint64_t offset, uint64_t bytes)
{
	uint64_t end;

	if (__builtin_add_overflow(offset, bytes, &end) || end > n->file_bytes + MISSING_MAX)
		return err_set(n->err, EBADMSG, "values are beyond the end of the file");
	for (uint64_t left = bytes; left;) {
		size_t part = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
		ssize_t got = pread(n->fd, piece, part, (off_t)offset);

		if (got < 0)
			return err_set(n->err, EBADMSG, "it cannot be read (%s)", strerror(errno));
		if (got == 0)
			memset(piece, 0, part);
		else
			part = (size_t)got;
		item_writer_data(n->writer, piece, part);
		offset += part;
		left -= part;
	}
	return 0;
}

static void write_shape(struct netcdf *n, const struct variable *v)
{
	item_writer_shape(n->writer, &v->type, sizeof(v->type));
	for (size_t i = 0; i < v->rank; i++) {
		const struct dimension *d = &n->dimensions[v->dimensions[i]];
		uint64_t length = d->length ? d->length : n->records;

		item_writer_shape(n->writer, d->name, strlen(d->name) + 1);
		item_writer_shape(n->writer, &length, sizeof(length));
	}
}

static int write_variable(struct netcdf *n, const struct variable *v, char *piece)
{
	uint64_t count = v->has_records ? n->records : 1, all;
	int r = 0;

	if (__builtin_mul_overflow(count, v->has_records ? n->record_bytes : v->bytes, &all) ||
	    all > n->file_bytes + MISSING_MAX)
		return err_set(n->err, EBADMSG, "values are beyond the end of the file");
	item_writer_begin(n->writer, v->name, count * v->bytes);
	write_shape(n, v);
	for (uint64_t i = 0; r >= 0 && v->bytes && i < count; i++)
		r = copy_range(n, piece, v->begin + i * n->record_bytes, v->bytes);
	item_writer_end(n->writer);
	return r;
}

static int write_items(struct netcdf *n)
{
	AUTO_FREE char *piece = xmalloc(PIECE_BYTES);
	unsigned char magic[4];
	int r;

	if (fread(magic, sizeof(magic), 1, n->header) != 1)
		return fail(n, "it is too short");
	n->version = magic[3];
	r = read_count(n, &n->records);
	if (r >= 0)
		r = read_dimensions(n);
	if (r >= 0)
		r = write_attributes(n, "");
	if (r >= 0)
		r = read_variables(n);
	if (r >= 0)
		r = measure_records(n);
	for (size_t i = 0; r >= 0 && i < n->variable_count; i++)
		r = write_variable(n, &n->variables[i], piece);
	return r;
}

static void release(struct netcdf *n)
{
	for (size_t i = 0; i < n->dimension_count; i++)
		free(n->dimensions[i].name);
	for (size_t i = 0; i < n->variable_count; i++) {
		free(n->variables[i].name);
		free(n->variables[i].dimensions);
	}
	free(n->dimensions);
	free(n->variables);
	fclose(n->header);
}

int digest_netcdf(struct item_writer *writer, int fd, struct err *err)
{
	struct netcdf n = { .writer = writer, .err = err, .fd = fd };
	struct stat st;
	int r;

	n.header = fdopen(dup(fd), "re");
	if (!n.header || fstat(fd, &st) != 0)
		return err_set(err, errno, "it cannot be read (%s)", strerror(errno));
	rewind(n.header);
	n.file_bytes = (uint64_t)st.st_size;
	r = write_items(&n);
	release(&n);
	return r;
}
