/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Keeps the components of Open MPI in memory. At the end of MPI_Finalize, Open MPI 4.1 unloads its
 * PMIx component and only then stops the thread that calls it: on a loaded machine, about one rank
 * in a thousand ends with SIGSEGV (github.com/open-mpi/ompi/issues/10117), or with a damaged heap.
 * MPICH has no components.
 *
 * Like yield.c, this is linked into the programs, so that it does not interfere with the preloaded
 * library under test.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int (*real_dlclose)(void *handle);

static __attribute__((constructor)) void find_real_dlclose(void)
{
	real_dlclose = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
}

/* Reads /proc/self/task/TID/stat, whose third field is the state. */
static int thread_sleeps(long tid)
{
	char path[64], text[256], *end;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", tid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1; /* it has ended */
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	return !end || end[2] == 'S';
}

/* Do all other threads sleep? By system calls that the library under test does not record. */
static int others_sleep(void)
{
	char room[4096];
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = fd < 0 ? 0 : syscall(SYS_getdents64, fd, room, sizeof(room));
	long own = syscall(SYS_gettid);
	int sleep = 1;

	for (long at = 0; at < n;) {
		const struct dirent64 *entry = (const struct dirent64 *)(void *)(room + at);
		long tid = strtol(entry->d_name, NULL, 10); /* 0: "." and ".." */

		if (tid && tid != own && !thread_sleeps(tid))
			sleep = 0;
		at += entry->d_reclen;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return sleep;
}

/* What the thread has to do, it does before Open MPI frees what it uses. */
static void let_others_finish(void)
{
	const struct timespec pause = { 0, 1000000 };

	for (int i = 0, quiet = 0; i < 1000 && quiet < 3; i++) {
		quiet = others_sleep() ? quiet + 1 : 0;
		nanosleep(&pause, NULL);
	}
}

/* Open MPI calls the program's definition instead of libc's. */
int dlclose(void *handle)
{
	struct link_map *object;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &object) != 0 || !strstr(object->l_name, "/mca_"))
		return real_dlclose(handle);
	if (strstr(object->l_name, "/mca_pmix"))
		let_others_finish();
	return 0;
}
