/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 files are written by HDF5, which the test loads; without it only raw files are tested.
 */
#include "tune/content/digest.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"

typedef int64_t hid;
typedef unsigned long long hsize;

static char directory[] = "/tmp/sluice-digest-XXXXXX";
static void *library;

static void prepare(void)
{
	if (!strstr(directory, "XXXXXX"))
		return;
	REQUIRE(mkdtemp(directory));
	library = dlopen("libhdf5_serial.so.103", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen("libhdf5.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		printf("HDF5 is not installed: files of it are not tested\n");
}

/* A function of HDF5 by name, to be called with the given type. */
#define H5(type, name) ((type)(uintptr_t)dlsym(library, name))

static char *path_in(const char *name)
{
	return place_join(directory, name);
}

static void write_raw(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "we");

	REQUIRE(f && fwrite(bytes, 1, n, f) == n);
	fclose(f);
}

/* The manifest of the files, by their base names. */
static struct manifest read_paths(char *const *paths, size_t count)
{
	struct digest_source sources[4];
	struct digest_options options = { .sources = sources, .count = count, .limit_s = 60 };
	struct manifest manifest = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < count; i++)
		sources[i] = (struct digest_source){ .path = paths[i],
						     .name = strrchr(paths[i], '/') + 1 };
	CHECK_INT(digest_files(&manifest, &options, &err), 0);
	return manifest;
}

/* The digest of the files, which the caller frees; "": one could not be read. */
static char *digest_paths(char *const *paths, size_t count)
{
	struct manifest manifest = read_paths(paths, count);
	char *text = xcalloc(MANIFEST_DIGEST, 1);
	bool is_read = true;

	for (size_t i = 0; i < manifest.count; i++)
		is_read = is_read && !manifest.items[i].unread;
	if (is_read)
		manifest_digest(&manifest, text);
	manifest_release(&manifest);
	return text;
}

static char *digest_one(const char *path)
{
	char *paths[] = { (char *)path };

	return digest_paths(paths, 1);
}

static void raw_files_are_compared_by_name_and_bytes(void)
{
	AUTO_FREE char *a = NULL, *b = NULL, *one = NULL, *again = NULL, *swapped = NULL,
		       *changed = NULL;

	prepare();
	a = path_in("a");
	b = path_in("b");
	write_raw(a, "alpha", 5);
	write_raw(b, "beta", 4);
	one = digest_paths((char *[]){ a, b }, 2);
	again = digest_paths((char *[]){ b, a }, 2);
	CHECK_INT(strlen(one), 32);
	CHECK_TEXT(again, one);
	write_raw(a, "beta", 4);
	write_raw(b, "alpha", 5);
	swapped = digest_paths((char *[]){ a, b }, 2);
	CHECK(strcmp(swapped, one) != 0);
	write_raw(a, "alpha", 5);
	write_raw(b, "betb", 4);
	changed = digest_paths((char *[]){ a, b }, 2);
	CHECK(strcmp(changed, one) != 0);
	unlink(a);
	unlink(b);
}

static void texts_have_lines_and_other_files_blocks(void)
{
	AUTO_FREE char *a = NULL, *b = NULL;
	struct manifest m;

	prepare();
	a = path_in("a");
	b = path_in("b");
	write_raw(a, "one\ntwo\nthree", 13);
	write_raw(b, "\0", 1);
	REQUIRE(truncate(b, 3 * MANIFEST_BLOCK_BYTES + 1) == 0);
	m = read_paths((char *[]){ a, b }, 2);
	REQUIRE(m.count == 2);
	CHECK(m.items[0].is_text && m.items[0].block_count == 3 && m.items[0].bytes == 13);
	CHECK(!m.items[1].is_text && m.items[1].block_count == 4);
	CHECK_INT(m.items[1].block_bytes, MANIFEST_BLOCK_BYTES);
	CHECK(m.items[1].blocks[0] == m.items[1].blocks[2]);
	manifest_release(&m);
	REQUIRE(truncate(b, (off_t)MANIFEST_BLOCKS_MAX * MANIFEST_BLOCK_BYTES * 2) == 0);
	m = read_paths((char *[]){ a, b }, 2);
	CHECK(m.items[1].block_count <= MANIFEST_BLOCKS_MAX && m.items[1].block_count > 1000);
	manifest_release(&m);
	unlink(a);
	unlink(b);
}

static void missing_and_lost_files_are_items_without_content(void)
{
	struct digest_source lost = { .name = (char *)"lost" };
	struct digest_options options = { .sources = &lost, .count = 1, .limit_s = 60 };
	struct manifest m;

	prepare();
	m = read_paths((char *[]){ (char *)"/nonexistent" }, 1);
	REQUIRE(m.count == 1 && m.items[0].unread);
	CHECK_WORDS(m.items[0].unread, "not exist");
	manifest_release(&m);
	CHECK_INT(digest_files(&m, &options, NULL), 0);
	CHECK(m.count == 1 && m.items[0].unread);
	manifest_release(&m);
}

/* A file of the classic format: a variable of three shorts, and one or two with records. */
struct classic {
	int version;
	unsigned gap;	  /* bytes that are reserved after the header */
	char padding;	  /* value of the padding bytes */
	bool is_streamed; /* the number of records is unknown */
	short last;	  /* value */
	const char *date; /* of an attribute, 4 characters */
	bool has_two;	  /* variables with records */
};

static void put_number(struct buf *out, uint64_t number, size_t bytes)
{
	while (bytes--)
		buf_putc(out, (char)(number >> 8 * bytes));
}

static size_t count_bytes(const struct classic *c)
{
	return c->version == 5 ? 8 : 4;
}

static void put_name(struct buf *out, const struct classic *c, const char *name)
{
	size_t n = strlen(name);

	put_number(out, n, count_bytes(c));
	buf_puts(out, name);
	put_number(out, 0, (4 - n % 4) % 4);
}

static void put_list(struct buf *out, const struct classic *c, unsigned tag, size_t n)
{
	put_number(out, tag, 4);
	put_number(out, n, count_bytes(c));
}

static void put_variable(struct buf *out, const struct classic *c, const char *name, int dimension,
			 uint64_t begin)
{
	put_name(out, c, name);
	put_number(out, 1, count_bytes(c));
	put_number(out, (uint64_t)dimension, count_bytes(c));
	put_list(out, c, 0, 0);
	put_number(out, 3, 4); /* NC_SHORT */
	put_number(out, 4, count_bytes(c));
	put_number(out, begin, c->version == 1 ? 4 : 8);
}

static void write_classic(const char *path, const struct classic *c, uint64_t data)
{
	size_t records = 2;
	struct buf out = { 0 };

	buf_printf(&out, "CDF%c", c->version);
	put_number(&out, c->is_streamed ? UINT64_MAX : records, count_bytes(c));
	put_list(&out, c, 10, 2);
	put_name(&out, c, "time");
	put_number(&out, 0, count_bytes(c));
	put_name(&out, c, "x");
	put_number(&out, 3, count_bytes(c));
	put_list(&out, c, 12, 1);
	put_name(&out, c, "date");
	put_number(&out, 2, 4);
	put_name(&out, c, c->date);
	put_list(&out, c, 11, c->has_two ? 3 : 2);
	put_variable(&out, c, "fixed", 1, data);
	put_variable(&out, c, "first", 0, data + 8);
	if (c->has_two)
		put_variable(&out, c, "second", 0, data + 12);
	while (out.len < data)
		buf_putc(&out, c->padding);
	put_number(&out, 1, 2);
	put_number(&out, 2, 2);
	put_number(&out, (uint64_t)c->last, 2);
	put_number(&out, (uint64_t)c->padding, 2);
	for (size_t i = 0; i < records; i++)
		for (int v = 0; v < (c->has_two ? 2 : 1); v++) {
			put_number(&out, 10 * i + (size_t)v, 2);
			if (c->has_two)
				put_number(&out, (uint64_t)c->padding, 2);
		}
	write_raw(path, out.data, out.len);
	buf_release(&out);
}

static char *digest_classic(struct classic c)
{
	AUTO_FREE char *path = path_in("data.nc");
	char *text;

	write_classic(path, &c, 400 + c.gap);
	text = digest_one(path);
	unlink(path);
	return text;
}

static void classic_netcdf_is_compared_by_variable(void)
{
	static const struct classic one = { .version = 1, .date = "1999" };
	static const struct classic two = { .version = 2, .date = "1999", .has_two = true };
	AUTO_FREE char *same = NULL, *wide = NULL, *both = NULL;

	prepare();
	same = digest_classic(one);
	both = digest_classic(two);
	CHECK_INT(strlen(same), 32);
	CHECK(strcmp(same, both) != 0);
	wide = digest_classic((struct classic){ .version = 5, .date = "1999" });
	CHECK_TEXT(wide, same);
	for (int i = 0; i < 6; i++) {
		struct classic c = i < 3 ? one : two;
		AUTO_FREE char *text = NULL;

		c.gap = i == 0 ? 512 : 0;
		c.padding = i == 1 || i == 3 ? 'p' : 0;
		c.is_streamed = i == 2 || i == 4;
		c.last = i == 5;
		text = digest_classic(c);
		CHECK_INT(strcmp(text, i < 3 ? same : both) == 0, i != 5);
	}
	free(both);
	both = digest_classic((struct classic){ .version = 1, .date = "2000" });
	CHECK(strcmp(both, same) != 0);
}

static void a_broken_netcdf_header_is_not_read(void)
{
	AUTO_FREE char *path = NULL;
	struct manifest m;

	prepare();
	path = path_in("broken.nc");
	write_classic(path, &(struct classic){ .version = 1, .date = "1999" }, 400);
	REQUIRE(truncate(path, 60) == 0);
	m = read_paths(&path, 1);
	REQUIRE(m.count);
	CHECK_WORDS(m.items[0].unread ? m.items[0].unread : "", "NetCDF");
	manifest_release(&m);
	unlink(path);
}

/* The layout and the content of a file. */
struct layout {
	size_t rows;
	hsize chunk;	  /* 0: contiguous */
	hsize alignment;  /* 0: none */
	const char *type; /* in the file */
	bool latest;	  /* format */
	double last;	  /* the last value */
	const char *text; /* of an attribute */
	bool sequences;	  /* add values of variable length */
};

#define ROWS 100
#define ROWS_MANY 2500 /* more than one piece, and not a multiple of it */
#define COLUMNS 900

static void write_values(hid file, const struct layout *l)
{
	hsize extents[2] = { l->rows, COLUMNS }, chunk[2] = { l->chunk, l->chunk };
	hid space =
		H5(hid(*)(int, const hsize *, const hsize *), "H5Screate_simple")(2, extents, NULL);
	hid class = *H5(hid *, "H5P_CLS_DATASET_CREATE_ID_g");
	hid list = H5(hid(*)(hid), "H5Pcreate")(class), dataset;
	double *values = xmalloc(sizeof(*values) * l->rows * COLUMNS);

	for (size_t i = 0; i < l->rows * COLUMNS; i++)
		values[i] = (double)i / 8;
	values[l->rows * COLUMNS - 1] = l->last;
	if (l->chunk)
		REQUIRE(H5(int (*)(hid, int, const hsize *), "H5Pset_chunk")(list, 2, chunk) >= 0);
	dataset = H5(hid(*)(hid, const char *, hid, hid, hid, hid, hid),
		     "H5Dcreate2")(file, "values", *H5(hid *, l->type), space, 0, list, 0);
	REQUIRE(dataset >= 0);
	REQUIRE(H5(int (*)(hid, hid, hid, hid, hid, const void *),
		   "H5Dwrite")(dataset, *H5(hid *, "H5T_NATIVE_DOUBLE_g"), 0, 0, 0, values) >= 0);
	H5(int (*)(hid), "H5Dclose")(dataset);
	H5(int (*)(hid), "H5Pclose")(list);
	H5(int (*)(hid), "H5Sclose")(space);
	free(values);
}

static void write_text(hid file, const struct layout *l)
{
	hid space = H5(hid(*)(int), "H5Screate")(0);
	hid type = H5(hid(*)(hid), "H5Tcopy")(*H5(hid *, "H5T_C_S1_g")), attribute;

	H5(int (*)(hid, size_t), "H5Tset_size")(type, (size_t)-1);
	attribute = H5(hid(*)(hid, const char *, hid, hid, hid, hid),
		       "H5Acreate2")(file, "title", type, space, 0, 0);
	REQUIRE(attribute >= 0);
	REQUIRE(H5(int (*)(hid, hid, const void *), "H5Awrite")(attribute, type, &l->text) >= 0);
	H5(int (*)(hid), "H5Aclose")(attribute);
	H5(int (*)(hid), "H5Tclose")(type);
	H5(int (*)(hid), "H5Sclose")(space);
}

static void write_sequences(hid file)
{
	hid space = H5(hid(*)(int), "H5Screate")(0);
	hid type = H5(hid(*)(hid), "H5Tvlen_create")(*H5(hid *, "H5T_NATIVE_INT_g")), dataset;

	dataset = H5(hid(*)(hid, const char *, hid, hid, hid, hid, hid),
		     "H5Dcreate2")(file, "sequences", type, space, 0, 0, 0);
	REQUIRE(dataset >= 0);
	H5(int (*)(hid), "H5Dclose")(dataset);
	H5(int (*)(hid), "H5Tclose")(type);
	H5(int (*)(hid), "H5Sclose")(space);
}

/* A group that contains the root: the walk must end. */
static void write_cycle(hid file)
{
	hid group =
		H5(hid(*)(hid, const char *, hid, hid, hid), "H5Gcreate2")(file, "group", 0, 0, 0);

	REQUIRE(group >= 0);
	REQUIRE(H5(int (*)(hid, const char *, hid, const char *, hid, hid),
		   "H5Lcreate_hard")(file, "/", group, "up", 0, 0) >= 0);
	REQUIRE(H5(int (*)(const char *, hid, const char *, hid, hid),
		   "H5Lcreate_soft")("/nowhere", group, "soft", 0, 0) >= 0);
	H5(int (*)(hid), "H5Gclose")(group);
}

static void write_hdf5(const char *path, const struct layout *l)
{
	hid list, file;

	H5(int (*)(void), "H5open")();
	list = H5(hid(*)(hid), "H5Pcreate")(*H5(hid *, "H5P_CLS_FILE_ACCESS_ID_g"));
	if (l->alignment)
		H5(int (*)(hid, hsize, hsize), "H5Pset_alignment")(list, 0, l->alignment);
	if (l->latest)
		H5(int (*)(hid, int, int), "H5Pset_libver_bounds")(list, 2, 2);
	file = H5(hid(*)(const char *, unsigned, hid, hid), "H5Fcreate")(path, 2, 0, list);
	REQUIRE(file >= 0);
	write_values(file, l);
	write_text(file, l);
	write_cycle(file);
	if (l->sequences)
		write_sequences(file);
	H5(int (*)(hid), "H5Fclose")(file);
	H5(int (*)(hid), "H5Pclose")(list);
}

static const struct layout plain = {
	.rows = ROWS, .type = "H5T_IEEE_F64LE_g", .last = 1, .text = "title"
};

static char *digest_layout(struct layout layout)
{
	AUTO_FREE char *path = path_in("data.h5");
	char *text;

	write_hdf5(path, &layout);
	text = digest_one(path);
	unlink(path);
	return text;
}

static void the_layout_of_a_file_does_not_matter(void)
{
	AUTO_FREE char *same = NULL, *chunked = NULL, *aligned = NULL, *swapped = NULL,
		       *latest = NULL;
	struct layout l = plain;

	prepare();
	if (!library)
		return;
	same = digest_layout(plain);
	CHECK_INT(strlen(same), 32);
	l.chunk = 77;
	chunked = digest_layout(l);
	CHECK_TEXT(chunked, same);
	l = plain;
	l.alignment = 65536;
	aligned = digest_layout(l);
	CHECK_TEXT(aligned, same);
	l = plain;
	l.type = "H5T_IEEE_F64BE_g";
	swapped = digest_layout(l);
	CHECK_TEXT(swapped, same);
	l = plain;
	l.latest = true;
	latest = digest_layout(l);
	CHECK_TEXT(latest, same);
}

static void a_dataset_is_read_in_pieces(void)
{
	AUTO_FREE char *whole = NULL, *chunked = NULL, *other = NULL;
	struct layout l = plain;

	prepare();
	if (!library)
		return;
	l.rows = ROWS_MANY;
	whole = digest_layout(l);
	l.chunk = 77;
	chunked = digest_layout(l);
	CHECK_TEXT(chunked, whole);
	l.last = 2;
	other = digest_layout(l);
	CHECK(strlen(other) == 32 && strcmp(other, whole) != 0);
}

static void values_attributes_and_types_matter(void)
{
	AUTO_FREE char *same = NULL, *value = NULL, *text = NULL, *type = NULL;
	struct layout l = plain;

	prepare();
	if (!library)
		return;
	same = digest_layout(plain);
	l.last = 2;
	value = digest_layout(l);
	CHECK(strlen(value) == 32 && strcmp(value, same) != 0);
	l = plain;
	l.text = "another";
	text = digest_layout(l);
	CHECK(strlen(text) == 32 && strcmp(text, same) != 0);
	l = plain;
	l.type = "H5T_IEEE_F32LE_g";
	type = digest_layout(l);
	CHECK(strlen(type) == 32 && strcmp(type, same) != 0);
}

static void objects_that_cannot_be_read_are_named(void)
{
	AUTO_FREE char *path = NULL;
	struct layout l = plain;
	struct manifest m;
	size_t unread = 0;

	prepare();
	if (!library)
		return;
	path = path_in("data.h5");
	l.sequences = true;
	write_hdf5(path, &l);
	m = read_paths(&path, 1);
	for (size_t i = 0; i < m.count; i++) {
		if (!m.items[i].unread)
			continue;
		unread++;
		CHECK_TEXT(m.items[i].object, "/sequences");
	}
	CHECK_INT(unread, 1);
	manifest_release(&m);
	unlink(path);
}

/* Each byte of the file in turn is changed: the file is read or reported as broken, without a
 * crash. */
static void a_broken_file_is_not_read_and_others_are(void)
{
	AUTO_FREE char *path = NULL, *good = NULL, *text = NULL;
	unsigned bad = 0;
	struct stat st;
	struct manifest m;
	int fd;

	prepare();
	if (!library)
		return;
	path = path_in("broken.h5");
	good = path_in("good");
	write_raw(good, "good", 4);
	write_hdf5(path, &plain);
	REQUIRE(stat(path, &st) == 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	for (off_t at = 8; at < 2048; at += 61) {
		char old[8], new[8] = "\xff\xfe\xff\xff\xff\xff\xff\x7f";

		REQUIRE(pread(fd, old, sizeof(old), at) == (ssize_t)sizeof(old));
		REQUIRE(pwrite(fd, new, sizeof(new), at) == (ssize_t)sizeof(new));
		m = read_paths((char *[]){ path, good }, 2);
		REQUIRE(m.count >= 2);
		CHECK_TEXT(m.items[m.count - 1].file, "good");
		CHECK(!m.items[m.count - 1].unread);
		bad += m.items[0].unread != NULL;
		manifest_release(&m);
		REQUIRE(pwrite(fd, old, sizeof(old), at) == (ssize_t)sizeof(old));
	}
	CHECK(bad > 0);
	/* Truncated, as after a crash of the writer. */
	REQUIRE(ftruncate(fd, st.st_size / 2) == 0);
	text = digest_one(path);
	CHECK_TEXT(text, "");
	close(fd);
	unlink(path);
	unlink(good);
}

static void reading_stops_at_a_limit_and_at_an_interrupt(void)
{
	static volatile sig_atomic_t stop = 1;
	AUTO_FREE char *path = NULL;
	struct digest_source sources[2] = { { .name = (char *)"large" }, { .name = (char *)"b" } };
	struct digest_options options = { .sources = sources, .count = 2, .limit_s = 0 };
	struct manifest m = { 0 };
	struct err err = { 0 };

	prepare();
	path = path_in("large");
	write_raw(path, "x", 1);
	REQUIRE(truncate(path, (off_t)1 << 36) == 0);
	sources[0].path = sources[1].path = path;
	CHECK_INT(digest_files(&m, &options, &err), 0);
	REQUIRE(m.count == 2);
	CHECK_WORDS(m.items[1].unread ? m.items[1].unread : "", "too long");
	manifest_release(&m);
	options.limit_s = INFINITY;
	options.stop = &stop;
	CHECK_INT(digest_files(&m, &options, &err), -EINTR);
	manifest_release(&m);
	unlink(path);
	rmdir(directory);
}

TESTS(TEST(raw_files_are_compared_by_name_and_bytes), TEST(texts_have_lines_and_other_files_blocks),
      TEST(missing_and_lost_files_are_items_without_content),
      TEST(classic_netcdf_is_compared_by_variable), TEST(a_broken_netcdf_header_is_not_read),
      TEST(the_layout_of_a_file_does_not_matter), TEST(a_dataset_is_read_in_pieces),
      TEST(values_attributes_and_types_matter), TEST(objects_that_cannot_be_read_are_named),
      TEST(a_broken_file_is_not_read_and_others_are),
      TEST(reading_stops_at_a_limit_and_at_an_interrupt))
