/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each library is loaded once. The state below is written under pthread_once() and is constant
 * afterwards.
 */
#include "learn/math/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"

struct symbol {
	const char *name;
	size_t offset; /* offset of the pointer in the table to fill */
};

#define LAPACK(name)                                     \
	{                                                \
#name "_", offsetof(struct lapack, name) \
	}
static const struct symbol lapack_symbols[] = {
	LAPACK(dgeqrf), LAPACK(dpotrf), LAPACK(dpotrs), LAPACK(dpotri), LAPACK(dgesvd), { 0 },
};
#undef LAPACK

static const struct symbol svm_symbols[] = {
	{ "svm_train", offsetof(struct svm, train) },
	{ "svm_free_and_destroy_model", offsetof(struct svm, free) },
	{ "svm_check_parameter", offsetof(struct svm, check) },
	{ 0 },
};

static struct {
	struct lapack lapack;
	struct svm svm;
	bool lapack_found, svm_found;
} loaded;

static void *open_first_library(const char *const *names)
{
	void *handle = NULL;

	while (!handle && *names)
		handle = dlopen(*names++, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static bool resolve_symbols(void *handle, const struct symbol *symbols, void *table)
{
	for (; symbols->name; symbols++) {
		void *address = dlsym(handle, symbols->name);

		if (!address)
			return false;
		*(void **)((char *)table + symbols->offset) = address;
	}
	return true;
}

static void load_lapack(void)
{
	/* Without OpenBLAS any LAPACK works; dlsym() also searches the BLAS that it depends on. */
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "liblapack.so.3",
					     NULL };
	void *handle = open_first_library(names);
	void (*set_threads)(int);

	if (!handle || !resolve_symbols(handle, lapack_symbols, &loaded.lapack))
		return;
	*(void **)&set_threads = dlsym(handle, "openblas_set_num_threads");
	if (set_threads)
		set_threads(1);
	loaded.lapack_found = true;
}

static void print_nothing(const char *text)
{
	(void)text;
}

static void load_svm(void)
{
	static const char *const names[] = { "libsvm.so.3", "libsvm.so.2", "libsvm.so", NULL };
	void *handle = open_first_library(names);
	void (*set_print)(void (*)(const char *));

	if (!handle || !resolve_symbols(handle, svm_symbols, &loaded.svm))
		return;
	*(void **)&set_print = dlsym(handle, "svm_set_print_string_function");
	if (set_print)
		set_print(print_nothing);
	loaded.svm_found = true;
}

const struct lapack *library_lapack(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_lapack);
	if (loaded.lapack_found)
		return &loaded.lapack;
	err_set(err, ENOENT,
		"OpenBLAS or LAPACK is not installed; install it (Debian package libopenblas0)");
	return NULL;
}

const struct svm *library_svm(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_svm);
	if (loaded.svm_found)
		return &loaded.svm;
	err_set(err, ENOENT, "libsvm is not installed; install it (Debian package libsvm3)");
	return NULL;
}
