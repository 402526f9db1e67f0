/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The preload library of another tool that wraps some functions of HDF5, as Darshan does: it is not
 * linked with HDF5 and finds the functions behind it with RTLD_NEXT. It stores the number of calls
 * that it saw in the file "counted" at exit.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

typedef int64_t hid_t;

static long count;

static void *find_next(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next)
		_exit(93);
	count++;
	return next;
}

#define NEXT(name) ((__typeof__(&name))find_next(#name))

hid_t H5Fcreate(const char *path, unsigned flags, hid_t creation, hid_t access)
{
	return NEXT(H5Fcreate)(path, flags, creation, access);
}

hid_t H5Fopen(const char *path, unsigned flags, hid_t access)
{
	return NEXT(H5Fopen)(path, flags, access);
}

int H5Fclose(hid_t file)
{
	return NEXT(H5Fclose)(file);
}

hid_t H5Dcreate2(hid_t place, const char *name, hid_t type, hid_t space, hid_t links,
		 hid_t creation, hid_t access)
{
	return NEXT(H5Dcreate2)(place, name, type, space, links, creation, access);
}

hid_t H5Dopen2(hid_t place, const char *name, hid_t access)
{
	return NEXT(H5Dopen2)(place, name, access);
}

int H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, void *data)
{
	return NEXT(H5Dread)(dataset, type, memory, file, transfer, data);
}

int H5Dwrite(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void *data)
{
	return NEXT(H5Dwrite)(dataset, type, memory, file, transfer, data);
}

int H5Dclose(hid_t dataset)
{
	return NEXT(H5Dclose)(dataset);
}

/* One that the guest itself calls. */
int H5Pclose(hid_t list)
{
	return NEXT(H5Pclose)(list);
}

__attribute__((destructor)) static void store_count(void)
{
	FILE *f = fopen("counted", "w");

	if (!f || fprintf(f, "%ld\n", count) < 0 || fclose(f) != 0)
		_exit(92);
}
