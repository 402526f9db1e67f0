/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The preload library of another tool: counts calls of write() and stores the count in the file
 * "counted" at exit.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static long count;

ssize_t write(int fd, const void *buf, size_t n)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	count++;
	return next(fd, buf, n);
}

__attribute__((destructor)) static void tell(void)
{
	FILE *f = fopen("counted", "w");

	if (!f || fprintf(f, "%ld\n", count) < 0 || fclose(f) != 0)
		_exit(92);
}
