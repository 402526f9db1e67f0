/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/preserve/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/kernel.h"

#define RANGE_BYTES (UINT64_C(1) << 30)

static long copy_link(const char *from, const char *to, char *buffer, size_t bytes)
{
	long n = kernel_call(SYS_readlinkat, AT_FDCWD, from, buffer, bytes - 1);

	if (n < 0)
		return n;
	buffer[n] = 0;
	return kernel_call(SYS_symlinkat, buffer, AT_FDCWD, to);
}

/* Writes all bytes at the offset. */
static long write_all(long to, const char *buffer, long n, off_t at)
{
	for (long done = 0; done < n;) {
		long wrote = kernel_call(SYS_pwrite64, to, buffer + done, n - done, at + done);

		if (wrote < 0 && wrote != -EINTR)
			return wrote;
		done += wrote > 0 ? wrote : 0;
	}
	return 0;
}

static long copy_bytes(long from, long to, off_t at, off_t end, char *buffer, size_t bytes)
{
	long result = 0;

	while (at < end && result == 0) {
		long n = kernel_call(SYS_pread64, from, buffer,
				     end - at < (off_t)bytes ? end - at : (off_t)bytes, at);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n;
		result = write_all(to, buffer, n, at);
		at += n;
	}
	return result;
}

/* Copies at .. end-1, inside the kernel if it can. */
static long copy_range(long from, long to, off_t at, off_t end, char *buffer, size_t bytes)
{
	while (at < end) {
		off_t in = at, out = at;
		long n = kernel_call(
			SYS_copy_file_range, from, &in, to, &out,
			end - at < (off_t)RANGE_BYTES ? (uint64_t)(end - at) : RANGE_BYTES, 0);

		if (n == -EINTR)
			continue;
		if (n == -ENOSPC || n == -EDQUOT)
			return n;
		if (n <= 0)
			return copy_bytes(from, to, at, end, buffer, bytes);
		at += n;
	}
	return 0;
}

/* Copies the parts that are not holes. */
static long copy_data(long from, long to, off_t size, char *buffer, size_t bytes)
{
	long result = kernel_call(SYS_ftruncate, to, size);

	for (off_t at = 0; result == 0 && at < size;) {
		long start = kernel_call(SYS_lseek, from, at, SEEK_DATA);
		long end = start >= 0 ? kernel_call(SYS_lseek, from, start, SEEK_HOLE) : size;

		if (start == -ENXIO)
			break;
		start = start >= 0 ? start : at;
		result = copy_range(from, to, start, end > start ? end : size, buffer, bytes);
		at = end > start ? end : size;
	}
	return result;
}

static long copy_open(long from, long to, const struct stat *st, uint64_t limit, char *buffer,
		      size_t bytes)
{
	if (kernel_call(SYS_ioctl, to, FICLONE, from) == 0)
		return 0;
	if ((uint64_t)st->st_size > limit)
		return -EFBIG;
	return copy_data(from, to, st->st_size, buffer, bytes);
}

long copy_file(const char *from, const char *to, uint64_t limit, char *buffer, size_t bytes)
{
	/* Only the owner may read without changing the time of the last access. */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME;
	struct stat st;
	long in, out, result;

	result = kernel_call(SYS_newfstatat, AT_FDCWD, from, &st, AT_SYMLINK_NOFOLLOW);
	if (result == 0 && S_ISLNK(st.st_mode))
		return copy_link(from, to, buffer, bytes);
	in = kernel_call(SYS_openat, AT_FDCWD, from, flags);
	if (in == -EPERM)
		in = kernel_call(SYS_openat, AT_FDCWD, from, flags & ~O_NOATIME);
	if (in < 0)
		return in;
	out = kernel_call(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	result = out < 0 ? out : kernel_call(SYS_fstat, in, &st);
	if (result == 0)
		result = S_ISREG(st.st_mode) ? copy_open(in, out, &st, limit, buffer, bytes)
					     : -EINVAL;
	if (out >= 0)
		kernel_call(SYS_close, out);
	kernel_call(SYS_close, in);
	return result;
}
