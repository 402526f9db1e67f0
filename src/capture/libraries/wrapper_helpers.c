/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The helpers of generated wrappers that are too long or too rarely used to be inline. Guest.
 */
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

#include <fcntl.h>

#define PAGE_BYTES 4096u /* the smallest page size; larger pages are only probed more often */

/*
 * Can the kernel read the page of p? A sealed process cannot find out. rt_sigprocmask copies the
 * set before it rejects the invalid first argument, so the call changes nothing.
 */
static bool page_is_readable(const char *p)
{
	const char *word = (const char *)((uintptr_t)p & ~(uintptr_t)7);

	if (sandbox_is_sealed())
		return false;
	return kernel_call(SYS_rt_sigprocmask, ~0L, word, NULL, 8) != -EFAULT;
}

bool memory_is_readable(const void *start, size_t bytes)
{
	uintptr_t at = (uintptr_t)start, end = at + bytes;
	bool readable = bytes && end > at;

	for (; readable && at < end; at = (at | (PAGE_BYTES - 1)) + 1)
		readable = page_is_readable((const char *)at);
	return readable;
}

static size_t probe_length(const char *path)
{
	size_t length = 0;

	while (length < RECORD_STRING_MAX && page_is_readable(path + length)) {
		size_t room = PAGE_BYTES - ((uintptr_t)(path + length) & (PAGE_BYTES - 1));
		size_t left = RECORD_STRING_MAX - length;
		size_t here = strnlen(path + length, room < left ? room : left);

		length += here;
		if (here < room)
			break;
	}
	return length;
}

size_t path_bytes_failed(const char *path, int err)
{
	switch (err) {
	case ENOENT:
	case EACCES:
	case EEXIST:
	case ENOTDIR:
	case EISDIR: /* the kernel has read the path */
		return text_length(path, 0);
	case EFAULT:
		return 0;
	}
	return path ? probe_length(path) : 0;
}

int stream_flags(const char *mode)
{
	int flags;

	if (!mode)
		return 0;
	flags = *mode == 'w'   ? O_WRONLY | O_CREAT | O_TRUNC
		: *mode == 'a' ? O_WRONLY | O_CREAT | O_APPEND
			       : O_RDONLY;
	/* glibc reads up to six more letters, and stops at a comma. */
	for (int i = 1; i < 7 && mode[i] && mode[i] != ','; i++) {
		if (mode[i] == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (mode[i] == 'x')
			flags |= O_EXCL;
		else if (mode[i] == 'e')
			flags |= O_CLOEXEC;
	}
	return flags;
}

void handle_clear(unsigned first, unsigned last)
{
	int high = atomic_load_explicit(&capture_handles_high, memory_order_relaxed);

	for (unsigned fd = first; high >= 0 && fd <= last && fd <= (unsigned)high; fd++) {
		if (handle_peek((int)fd))
			handle_take((int)fd);
	}
}

uint64_t requests_bytes(struct aiocb *const *list, int count, int err)
{
	uint64_t sum = 0;

	for (int i = 0; !err && i < count; i++) {
		if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
			sum += list[i]->aio_nbytes;
	}
	return sum;
}

void requests_started(struct frame *f, struct aiocb *const *list, int count, int err)
{
	for (int i = 0; !err && i < count; i++) {
		if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
			request_started(f, list[i], 0);
	}
}
