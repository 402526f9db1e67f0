/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps the components of Open MPI in memory. At the end of MPI_Finalize, Open MPI 4.1 unloads its
 * PMIx component and only then stops the thread that calls it: on a loaded machine, about one rank
 * in a thousand ends with SIGSEGV (github.com/open-mpi/ompi/issues/10117). MPICH has no components.
 *
 * Like yield.c, this is linked into the programs, so that it does not interfere with the preloaded
 * library under test.
 */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

static int (*real_dlclose)(void *handle);

static __attribute__((constructor)) void find_real_dlclose(void)
{
	real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
}

/* Open MPI calls the program's definition instead of libc's. */
int dlclose(void *handle)
{
	struct link_map *object;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &object) == 0 && strstr(object->l_name, "/mca_"))
		return 0;
	return real_dlclose(handle);
}
