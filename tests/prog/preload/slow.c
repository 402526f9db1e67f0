/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates storage that becomes slow: pwrite() takes $SLOW_MS milliseconds longer from call
 * $SLOW_FROM on, or while the file $SLOW_WHILE exists. With $SLOW_BYTES it takes so long for each
 * of so many bytes, in each process: storage that is slow per writer. To be preloaded after the
 * library of Sluice.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);

static atomic_long calls;

static void wait_for(const char *ms, size_t n)
{
	const char *bytes = getenv("SLOW_BYTES");
	double times = bytes ? (double)n / atof(bytes) : 1;

	usleep((useconds_t)(times * atof(ms) * 1000));
}

static ssize_t slow_write(int fd, const void *buf, size_t n, off_t offset)
{
	static pwrite_call next;
	const char *from = getenv("SLOW_FROM"), *ms = getenv("SLOW_MS");
	const char *file = getenv("SLOW_WHILE");

	if (!next)
		next = (pwrite_call)dlsym(RTLD_NEXT, "pwrite64");
	if (from && ms && atomic_fetch_add(&calls, 1) >= atol(from))
		wait_for(ms, n);
	/* Not by a function that is recorded. */
	else if (file && ms && syscall(SYS_faccessat, AT_FDCWD, file, F_OK) == 0)
		wait_for(ms, n);
	return next(fd, buf, n, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	return slow_write(fd, buf, n, offset);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off_t offset)
{
	return slow_write(fd, buf, n, offset);
}
