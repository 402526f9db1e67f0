/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state below is written under pthread_once() and is constant afterwards.
 */
#include "trace/darshan/bzip2.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

static struct bzip2 loaded;
static bool is_found;

static void load_library(void)
{
	void *handle = dlopen("libbz2.so.1.0", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		handle = dlopen("libbz2.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	*(void **)&loaded.init = dlsym(handle, "BZ2_bzDecompressInit");
	*(void **)&loaded.decompress = dlsym(handle, "BZ2_bzDecompress");
	*(void **)&loaded.end = dlsym(handle, "BZ2_bzDecompressEnd");
	is_found = loaded.init && loaded.decompress && loaded.end;
}

const struct bzip2 *bzip2_load(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_library);
	if (is_found)
		return &loaded;
	err_set(err, ENOTSUP,
		"the log is compressed with bzip2, but libbz2 was not found; install libbz2-1.0");
	return NULL;
}
