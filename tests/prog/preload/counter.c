/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Another tool's preload library: counts write() and tells the count at the end, in the file
 * "counted".
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
