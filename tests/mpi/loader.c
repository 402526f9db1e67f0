/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that loads its libraries at run time. No library is linked.
 *
 *	loader two A B      loads two modules with RTLD_LOCAL and uses them alternately: A writes
 *	                    a.h5 with 100 numbers, B writes b.h5 with 200
 *	loader late LIB     loads HDF5 or MPI with RTLD_GLOBAL and calls functions by name
 *	loader direct LIB   the same with RTLD_LOCAL, calling the library directly
 */
#include <dlfcn.h>

#include "module.h"
#include "must.h"

#define NUMBERS 200
#define CREATE_ANEW 2 /* H5F_ACC_TRUNC */

struct module {
	__typeof__(&module_begin) begin;
	__typeof__(&module_write) write;
	__typeof__(&module_end) end;
};

static void *load(const char *path, int flags)
{
	void *library = dlopen(path, RTLD_NOW | flags);

	if (!library)
		must_fail(__FILE__, __LINE__, path, dlerror());
	return library;
}

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		must_fail(__FILE__, __LINE__, name, dlerror());
	return found;
}

static struct module module_load(const char *path)
{
	void *library = load(path, RTLD_LOCAL);

	return (struct module){ find(library, "module_begin"), find(library, "module_write"),
				find(library, "module_end") };
}

static void two(const char *first, const char *second)
{
	struct module a = module_load(first), b = module_load(second);
	int numbers[NUMBERS];

	numbers_make(numbers, NUMBERS, 1);
	MUST(!a.begin("a.h5", 100) && !b.begin("b.h5", 200));
	MUST(!a.write(numbers) && !b.write(numbers) && !b.write(numbers) && !a.write(numbers));
	MUST(!b.end() && !a.end());
}

static void hdf5(void *library)
{
	int64_t (*create)(const char *, unsigned, int64_t, int64_t) = find(library, "H5Fcreate");
	int (*done)(int64_t) = find(library, "H5Fclose");
	int64_t file = create("late.h5", CREATE_ANEW, 0, 0);

	MUST(file >= 0 && done(file) >= 0);
}

static void mpi(void *library)
{
	int (*begin)(int *, char ***) = find(library, "MPI_Init");
	int (*end)(void) = find(library, "MPI_Finalize");

	MUST(!begin(NULL, NULL) && !end());
}

int main(int argc, char **argv)
{
	bool direct = argc == 3 && !strcmp(argv[1], "direct");
	void *library;

	if (argc == 4 && !strcmp(argv[1], "two")) {
		two(argv[2], argv[3]);
		return 0;
	}
	MUST(direct || (argc == 3 && !strcmp(argv[1], "late")));
	library = load(argv[2], direct ? RTLD_LOCAL : RTLD_GLOBAL);
	if (dlsym(library, "H5Fcreate"))
		hdf5(direct ? library : RTLD_DEFAULT);
	else
		mpi(direct ? library : RTLD_DEFAULT);
	return 0;
}
