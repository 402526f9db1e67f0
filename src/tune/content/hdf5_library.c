/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/content/hdf5_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static const struct {
	const char *name, *other;
	size_t offset;
} symbols[] = {
#define SYMBOL(result, name, there, other, arguments) { there, other, offsetof(struct hdf5, name) },
	HDF5_FUNCTIONS(SYMBOL)
#undef SYMBOL
};

/* Prefers a library without MPI, but any can read the files. */
static void *library_open(void)
{
	static const char *const names[] = {
		"libhdf5_serial.so.103",
		"libhdf5.so.103",
		"libhdf5.so.310",
		"libhdf5.so.200",
		"libhdf5_serial.so.310",
		"libhdf5_serial.so",
		"libhdf5.so",
		"libhdf5_mpich.so.103",
		"libhdf5_openmpi.so.103",
		"libhdf5_mpich.so.310",
		"libhdf5_openmpi.so.310",
		"libhdf5_mpich.so",
		"libhdf5_openmpi.so",
		NULL,
	};
	void *library = NULL;

	/* The files are only read, and the program has exited. */
	setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
	for (const char *const *name = names; !library && *name; name++)
		library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
	return library;
}

int hdf5_load(struct hdf5 *h, struct err *err)
{
	void *library = library_open();
	unsigned major = 0, minor = 0, patch = 0;

	if (!library)
		return err_set(err, ENOENT, "HDF5 is not installed (on Debian 12: libhdf5-103-1, on Debian 13: libhdf5-310)");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		if (!address && symbols[i].other)
			address = dlsym(library, symbols[i].other);
		if (!address)
			return err_set(err, ENOENT, "HDF5 has no %s", symbols[i].name);
		memcpy((char *)h + symbols[i].offset, &address, sizeof(address));
	}
	h->access_class = dlsym(library, "H5P_CLS_DATASET_ACCESS_ID_g");
	if (!h->access_class || h->open() < 0 || h->version(&major, &minor, &patch) < 0 ||
	    (major == 1 && minor < 10))
		return err_set(err, ENOENT, "HDF5 is older than 1.10");
	h->quiet(0, NULL, NULL);
	return 0;
}
