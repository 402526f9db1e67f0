/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/info.h"

#include <string.h>

/* The functions of the library that are called: name, type. */
#define USES(X)                                                                  \
	X(PMPI_Info_get_nkeys, int (*)(MPI_Info, int *))                         \
	X(PMPI_Info_get_nthkey, int (*)(MPI_Info, int, char *))                  \
	X(PMPI_Info_get_valuelen, int (*)(MPI_Info, const char *, int *, int *)) \
	X(PMPI_Info_get, int (*)(MPI_Info, const char *, int, char *, int *))    \
	X(PMPI_Info_create, int (*)(MPI_Info *))                                 \
	X(PMPI_Info_dup, int (*)(MPI_Info, MPI_Info *))                          \
	X(PMPI_Info_set, int (*)(MPI_Info, const char *, const char *))          \
	X(PMPI_Info_free, int (*)(MPI_Info *))                                   \
	X(ompi_mpi_info_null, void *)

LIBRARY_USES(USES)

/* More than the limits of all implementations. */
#define KEY_BYTES 256
#define VALUE_BYTES 1025

bool info_is_valid(const void *near, MPI_Info info)
{
	mpi_bind(near);
	if (!mpi_is_used())
		return false;
	if (!mpi_kind.is_open)
		return mpich_handle_is_valid(info, MPICH_INFO);
	return info && info != (intptr_t)use_of(near, USE_ompi_mpi_info_null);
}

/* While the text is being written, every entry ends with a semicolon. */
static size_t entry_bytes(const char *entry)
{
	return strcspn(entry, ";") + 1;
}

static bool entry_is_before(const char *entry, const char *key)
{
	size_t n = strcspn(entry, "="), k = strlen(key);
	int order = memcmp(entry, key, n < k ? n : k);

	return order < 0 || (!order && n < k);
}

bool info_text_put(struct info_text *to, const char *key, const char *value)
{
	size_t k = strlen(key), v = strlen(value), bytes = k + v + 2, at = 0;

	if (!k || strpbrk(key, "=;\n") || strpbrk(value, ";\n") ||
	    bytes > sizeof(to->text) - 1 - to->used)
		return false;
	while (at < to->used && entry_is_before(to->text + at, key))
		at += entry_bytes(to->text + at);
	memmove(to->text + at + bytes, to->text + at, to->used - at);
	memcpy(to->text + at, key, k);
	to->text[at + k] = '=';
	memcpy(to->text + at + k + 1, value, v);
	to->text[at + bytes - 1] = ';';
	to->used += bytes;
	to->text[to->used] = 0;
	return true;
}

const char *info_text_end(struct info_text *to)
{
	if (to->used)
		to->used--;
	to->text[to->used] = 0;
	return to->text;
}

/* Reads the value of a hint; false if it is not set or too long. */
static bool value_get(const void *near, MPI_Info info, const char *key, char value[VALUE_BYTES])
{
	type_PMPI_Info_get_valuelen length = USE(near, PMPI_Info_get_valuelen);
	type_PMPI_Info_get get = USE(near, PMPI_Info_get);
	int n = 0, found = 0;

	if (!length || !get || length(info, key, &n, &found) != MPI_SUCCESS || !found || n < 0 ||
	    n >= VALUE_BYTES)
		return false;
	memset(value, 0, VALUE_BYTES);
	return get(info, key, n, value, &found) == MPI_SUCCESS && found;
}

const char *info_read(struct info_text *to, const void *near, MPI_Info info, int err)
{
	type_PMPI_Info_get_nkeys count = USE(near, PMPI_Info_get_nkeys);
	type_PMPI_Info_get_nthkey nth = USE(near, PMPI_Info_get_nthkey);
	char key[KEY_BYTES], value[VALUE_BYTES];
	int n = 0;

	to->used = 0;
	to->text[0] = 0;
	if (err || !info_is_valid(near, info) || !count || !nth || count(info, &n) != MPI_SUCCESS)
		return to->text;
	for (int i = 0; i < n; i++) {
		memset(key, 0, sizeof(key));
		if (nth(info, i, key) == MPI_SUCCESS && value_get(near, info, key, value))
			info_text_put(to, key, value);
	}
	return info_text_end(to);
}

bool info_has(const void *near, MPI_Info info, const char *key)
{
	type_PMPI_Info_get_valuelen length = USE(near, PMPI_Info_get_valuelen);
	int n = 0, found = 0;

	return length && length(info, key, &n, &found) == MPI_SUCCESS && found;
}

bool info_is(const void *near, MPI_Info info, const char *key, const char *value)
{
	char found[VALUE_BYTES];

	return value_get(near, info, key, found) && !strcmp(found, value);
}

bool info_get(const void *near, MPI_Info info, const char *key, char *value, size_t bytes)
{
	char found[VALUE_BYTES];
	size_t n;

	if (!value_get(near, info, key, found))
		return false;
	n = strnlen(found, bytes - 1);
	memcpy(value, found, n);
	value[n] = 0;
	return true;
}

bool info_copy(const void *near, MPI_Info info, MPI_Info *copy)
{
	type_PMPI_Info_create create = USE(near, PMPI_Info_create);
	type_PMPI_Info_dup dup = USE(near, PMPI_Info_dup);

	*copy = 0; /* also the upper half, which an MPI with int handles does not write */
	if (info_is_valid(near, info))
		return dup && dup(info, copy) == MPI_SUCCESS;
	return create && create(copy) == MPI_SUCCESS;
}

bool info_set(const void *near, MPI_Info info, const char *key, const char *value)
{
	type_PMPI_Info_set set = USE(near, PMPI_Info_set);

	return set && set(info, key, value) == MPI_SUCCESS;
}

void info_free(const void *near, MPI_Info *info)
{
	type_PMPI_Info_free release = USE(near, PMPI_Info_free);

	if (release)
		release(info);
}
