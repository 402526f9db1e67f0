/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends Open MPI 4.1 in good order. Two of its defects show in short programs on a loaded machine,
 * in about one rank of a thousand (github.com/open-mpi/ompi/issues/10117):
 *
 * - At the end of MPI_Finalize, it unloads its PMIx component and only then stops the thread that
 *   calls it, which ends with SIGSEGV. So components stay in memory.
 * - MPI_Init declares its programming model by an event that two threads handle one after the
 * other. If PMIx_Finalize frees the queue of events before they are done, the last one writes into
 * memory that was freed: "malloc_consolidate(): unaligned fastbin chunk detected". So the threads
 * get the time to finish, just before PMIx_Finalize and again before its component is closed.
 *
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

/* Constructors of libraries may call it, before those of the program. */
static int call_real_dlclose(void *handle)
{
	static int (*real)(void *handle);

	if (!real)
		real = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	return real(handle);
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
		return call_real_dlclose(handle);
	/* The component of errmgr is the last one that is closed before PMIx_Finalize. */
	if (strstr(object->l_name, "/mca_errmgr") || strstr(object->l_name, "/mca_pmix"))
		let_others_finish();
	return 0;
}
