/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/libpq.h"

#ifdef SLUICE_LIBPQ
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

/* Written under pthread_once() and constant afterwards. */
static struct libpq functions;
static bool found;

static void load(void)
{
	void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return;
	found = true;
#define LIBPQ_FIND(name)                                       \
	*(void **)&functions.name = dlsym(handle, "PQ" #name); \
	found = found && functions.name;
	LIBPQ_LIST(LIBPQ_FIND)
#undef LIBPQ_FIND
}

const struct libpq *libpq_load(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (found)
		return &functions;
	err_set(err, ENOSYS,
		"libpq.so.5, the client library of PostgreSQL, is missing; install the package "
		"libpq5");
	return NULL;
}
#endif
