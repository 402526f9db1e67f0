/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 files are written by HDF5, which the test loads; without it only raw files are tested.
 */
#include "tune/trial/digest.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int digest_paths(char *const *paths, size_t count, struct digest *digest, struct err *err)
{
	struct digest_options options = {
		.paths = paths,
		.count = count,
		.directory = directory,
		.limit_s = 60,
	};

	return digest_files(digest, &options, err);
}

/* The checksum of one file, which the caller frees. */
static char *digest_one(const char *path)
{
	char *paths[] = { (char *)path };
	struct digest digest;
	struct err err = { 0 };
	char *text;

	if (digest_paths(paths, 1, &digest, &err) < 0) {
		printf("%s\n", err.text);
		return xstrdup("");
	}
	text = xstrdup(digest.text);
	digest_release(&digest);
	return text;
}

static void raw_files_are_compared_by_name_and_bytes(void)
{
	AUTO_FREE char *a = NULL, *b = NULL;
	struct digest one, swapped, changed, again;
	struct err err = { 0 };

	prepare();
	a = path_in("a");
	b = path_in("b");
	write_raw(a, "alpha", 5);
	write_raw(b, "beta", 4);
	{
		char *paths[] = { a, b }, *back[] = { b, (char *)"/nonexistent", a };

		CHECK_INT(digest_paths(paths, 2, &one, &err), 0);
		CHECK_INT(digest_paths(back, 3, &again, &err), 0);
		CHECK_INT(strlen(one.text), 32);
		CHECK_TEXT(again.text, one.text);
		CHECK(!one.note && !one.skipped);
		write_raw(a, "beta", 4);
		write_raw(b, "alpha", 5);
		CHECK_INT(digest_paths(paths, 2, &swapped, &err), 0);
		CHECK(strcmp(swapped.text, one.text) != 0);
		write_raw(a, "alpha", 5);
		write_raw(b, "betb", 4);
		CHECK_INT(digest_paths(paths, 2, &changed, &err), 0);
		CHECK(strcmp(changed.text, one.text) != 0);
	}
	unlink(a);
	unlink(b);
}

static void an_empty_list_of_files_has_a_checksum(void)
{
	struct digest digest;
	struct err err = { 0 };

	prepare();
	CHECK_INT(digest_paths(NULL, 0, &digest, &err), 0);
	CHECK_INT(strlen(digest.text), 32);
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

static void skipped_objects_are_counted(void)
{
	AUTO_FREE char *path = NULL;
	struct layout l = plain;
	struct digest digest;
	struct err err = { 0 };

	prepare();
	if (!library)
		return;
	path = path_in("data.h5");
	l.sequences = true;
	write_hdf5(path, &l);
	CHECK_INT(digest_paths(&path, 1, &digest, &err), 0);
	CHECK_INT(digest.skipped, 1);
	CHECK(digest.note && strstr(digest.note, "1 objects"));
	digest_release(&digest);
	unlink(path);
}

/* Each byte of the file in turn is changed: the file is read or reported as broken, without a
 * crash. */
static void a_broken_file_is_an_error_not_a_crash(void)
{
	AUTO_FREE char *path = NULL;
	struct digest digest;
	struct err err = { 0 };
	unsigned bad = 0;
	struct stat st;
	int fd;

	prepare();
	if (!library)
		return;
	path = path_in("broken.h5");
	write_hdf5(path, &plain);
	REQUIRE(stat(path, &st) == 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	for (off_t at = 8; at < 2048; at += 61) {
		char old[8], new[8] = "\xff\xfe\xff\xff\xff\xff\xff\x7f";
		int r;

		REQUIRE(pread(fd, old, sizeof(old), at) == (ssize_t)sizeof(old));
		REQUIRE(pwrite(fd, new, sizeof(new), at) == (ssize_t)sizeof(new));
		r = digest_paths(&path, 1, &digest, &err);
		CHECK(r == 0 || r == -EBADMSG || r == -ETIME);
		CHECK(r == 0 || strstr(err.text, "broken.h5"));
		bad += r < 0;
		if (r == 0)
			digest_release(&digest);
		REQUIRE(pwrite(fd, old, sizeof(old), at) == (ssize_t)sizeof(old));
	}
	CHECK(bad > 0);
	/* Truncated, as after a crash of the writer. */
	REQUIRE(ftruncate(fd, st.st_size / 2) == 0);
	CHECK_INT(digest_paths(&path, 1, &digest, &err), -EBADMSG);
	close(fd);
	unlink(path);
}

static void a_checksum_stops_at_a_limit_and_at_an_interrupt(void)
{
	static volatile sig_atomic_t stop = 1;
	AUTO_FREE char *path = NULL;
	struct digest_options options = { .count = 1, .limit_s = 0, .directory = directory };
	struct digest digest;
	struct err err = { 0 };

	prepare();
	path = path_in("large");
	write_raw(path, "x", 1);
	REQUIRE(truncate(path, (off_t)1 << 36) == 0);
	options.paths = &path;
	CHECK_INT(digest_files(&digest, &options, &err), -ETIME);
	CHECK(strstr(err.text, "large"));
	options.limit_s = INFINITY;
	options.stop = &stop;
	CHECK_INT(digest_files(&digest, &options, &err), -EINTR);
	unlink(path);
	rmdir(directory);
}

TESTS(TEST(raw_files_are_compared_by_name_and_bytes), TEST(an_empty_list_of_files_has_a_checksum),
      TEST(the_layout_of_a_file_does_not_matter), TEST(a_dataset_is_read_in_pieces),
      TEST(values_attributes_and_types_matter), TEST(skipped_objects_are_counted),
      TEST(a_broken_file_is_an_error_not_a_crash),
      TEST(a_checksum_stops_at_a_limit_and_at_an_interrupt))
