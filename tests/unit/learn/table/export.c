/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/table/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char root[] = "/tmp/sluice-export-XXXXXX";

static void text_fill(gzFile file, const void *arg)
{
	gzputs(file, arg);
}

/* The bytes on disk. */
static size_t file_bytes(const char *path, char *bytes, size_t cap)
{
	FILE *file = fopen(path, "re");
	size_t n = 0;

	REQUIRE(file);
	n = fread(bytes, 1, cap - 1, file);
	bytes[n] = 0;
	fclose(file);
	return n;
}

static void the_name_decides_whether_it_is_compressed(void)
{
	AUTO_FREE char *plain = xprintf("%s/plain", root), *packed = xprintf("%s/packed.gz", root);
	char bytes[100], text[100] = "";
	gzFile file;

	CHECK_INT(export_write(plain, text_fill, "a,b\n", NULL), 0);
	file_bytes(plain, bytes, sizeof(bytes));
	CHECK_TEXT(bytes, "a,b\n");
	CHECK_INT(export_write(packed, text_fill, "a,b\n", NULL), 0);
	CHECK(file_bytes(packed, bytes, sizeof(bytes)) > 2);
	CHECK(memcmp(bytes, "\x1f\x8b", 2) == 0);
	file = gzopen(packed, "r");
	REQUIRE(file);
	CHECK_INT(gzread(file, text, sizeof(text) - 1), 4);
	CHECK_TEXT(text, "a,b\n");
	gzclose(file);
	unlink(plain);
	unlink(packed);
}

static void full_disk_is_reported(void)
{
	struct err err = { 0 };

	if (access("/dev/full", W_OK) != 0)
		return;
	CHECK_INT(export_write("/dev/full", text_fill, "text", &err), -ENOSPC);
	CHECK(strstr(err.text, "/dev/full: cannot write: "));
}

static void failed_rename_leaves_no_draft(void)
{
	AUTO_FREE char *missing = xprintf("%s/no/file", root), *taken = xprintf("%s/taken", root);
	struct err err = { 0 };

	CHECK_INT(export_write(missing, text_fill, "text", &err), -ENOENT);
	REQUIRE(mkdir(taken, 0700) == 0);
	CHECK(export_write(taken, text_fill, "text", &err) < 0);
	CHECK_INT(rmdir(taken), 0);
	CHECK_INT(rmdir(root), 0); /* it is empty */
}

static void the_directory_is_made(void)
{
	REQUIRE(mkdtemp(root));
}

TESTS(TEST(the_directory_is_made), TEST(the_name_decides_whether_it_is_compressed),
      TEST(full_disk_is_reported), TEST(failed_rename_leaves_no_draft))
