/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The requests of a FUSE server, by which its calls are related to those of its clients. Guest.
 *
 * The kernel puts a head before each request that a server reads from /dev/fuse: the number and the
 * kind of the request, the thread that made the call, and for a transfer its offset and size. The
 * server puts the number before its reply. After the record of such a read or write, a child record
 * with these values is made, CALL_fuse_request or CALL_fuse_reply. Names and data are not looked
 * at.
 *
 * A descriptor of /dev/fuse is recognized once, when it is opened by that name or first used. Calls
 * of processes that have had none test one flag more; in a server, the LINK word of each call,
 * which the wrapper has loaded anyway, is compared with that of the device that last had the number
 * of the descriptor. A server may also move
 * requests and replies through a pipe by splice(): the head of a request is then taken when the
 * same thread reads it from the pipe, and that of a reply when the thread puts it there.
 */
#ifndef SLUICE_CAPTURE_RECORD_FUSE_H
#define SLUICE_CAPTURE_RECORD_FUSE_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "capture/record/handles.h"

/* Has the process had a descriptor of /dev/fuse? */
extern _Atomic bool capture_fuse_seen __attribute__((visibility("hidden")));

INLINE bool fuse_is_seen(void)
{
	return unlikely(atomic_load_explicit(&capture_fuse_seen, memory_order_relaxed));
}

#pragma GCC visibility push(hidden)

/* Is it /dev/fuse? */
bool fuse_is_device(const struct stat *st);

/* Enters a descriptor of /dev/fuse and its LINK word. A server with more than 1,024 descriptors may
 * have two at one place; then the earlier one is not recognized any more. */
void fuse_enter(int fd, uint64_t link);

/* The same if fd, which open() or dup() has returned, is one. */
__attribute__((cold)) void fuse_enter_opened(int fd);

/*
 * After a call f on the descriptor with this LINK word that has transferred `bytes` bytes, if
 * fuse_is_seen(). The memory is that of the program, which the kernel has just read or written.
 */
__attribute__((cold)) void fuse_read(const struct frame *f, int fd, uint64_t link, const void *buf,
				     ssize_t bytes);
__attribute__((cold)) void fuse_readv(const struct frame *f, int fd, uint64_t link,
				      const struct iovec *iov, int count, ssize_t bytes);
__attribute__((cold)) void fuse_write(const struct frame *f, int fd, uint64_t link, const void *buf,
				      ssize_t bytes);
__attribute__((cold)) void fuse_writev(const struct frame *f, int fd, uint64_t link,
				       const struct iovec *iov, int count, ssize_t bytes);
__attribute__((cold)) void fuse_vmsplice(uint64_t link, const struct iovec *iov, size_t count,
					 ssize_t bytes);
__attribute__((cold)) void fuse_splice(const struct frame *f, int in, uint64_t from, int out,
				       uint64_t to, ssize_t bytes);

#pragma GCC visibility pop

/* After an open() of the path that has returned fd. */
INLINE void fuse_opened(int fd, const char *path)
{
	if (unlikely(fd >= 0 && !strcmp(path, "/dev/fuse")))
		fuse_enter_opened(fd);
}

/* Statements after the record of a wrapped call. */
#define FUSE_CALL(function, ...) \
	if (fuse_is_seen())      \
		function(&f, fd, link, __VA_ARGS__);
#define FUSE_COPIED(to)     \
	if (fuse_is_seen()) \
		fuse_enter_opened(to);

#endif
