/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/hints_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "capture/libraries/mpi.h"
#include "capture/record/kernel.h"

#define SITE_FILE "/etc/romio-hints"

/* Written once by hints_file_load(). */
static char contents[HINTS_FILE_BYTES + 1];
static bool is_named;

/* Reads a file into `contents`. False: it cannot be opened. */
static bool text_read(const char *path)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), n;

	if (fd < 0)
		return false;
	n = kernel_call(SYS_read, fd, contents, HINTS_FILE_BYTES);
	contents[n > 0 ? n : 0] = 0;
	kernel_call(SYS_close, fd);
	return true;
}

void hints_file_load(void)
{
	const char *path = getenv("ROMIO_HINTS");

	is_named = path;
	if (!path || !text_read(path))
		text_read(SITE_FILE);
}

bool hints_file_is_given(void)
{
	return is_named || contents[0];
}

uint64_t hints_file_hash(void)
{
	return mpi_text_hash(contents) | 1;
}

bool hints_file_has(const char *key)
{
	return hints_file_text_has(contents, key);
}

/* Has the line exactly two words, of which the first is the key? */
static bool line_sets(const char *line, size_t bytes, const char *key)
{
	static const char blanks[] = " \t";
	const char *end = line + bytes, *word, *value;

	if (!bytes || line[0] == '#')
		return false;
	word = line + strspn(line, blanks);
	value = word + strcspn(word, " \t\n");
	if (value >= end || (size_t)(value - word) != strlen(key) ||
	    memcmp(word, key, strlen(key)) != 0)
		return false;
	value += strspn(value, blanks);
	if (value >= end)
		return false;
	value += strcspn(value, " \t\n");
	return value + strspn(value, blanks) >= end;
}

bool hints_file_text_has(const char *at, const char *key)
{
	for (; *at; at += *at == '\n') {
		size_t n = strcspn(at, "\n");

		if (line_sets(at, n, key))
			return true;
		at += n;
	}
	return false;
}
