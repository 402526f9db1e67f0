/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/fuse.h"

#include <linux/fuse.h>
#include <sys/sysmacros.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"
#include "contract/calls.h"

#define DEVICE_MAJOR 10 /* of miscellaneous devices */
#define DEVICE_MINOR 229

#define PLACES 1024 /* a power of two */

_Atomic bool capture_fuse_seen;

/*
 * LINK words of descriptors of /dev/fuse, each at the place of its number. The next descriptor with
 * this number gets another LINK word, so nothing has to be removed when one is closed.
 */
static _Atomic uint64_t devices[PLACES];

/* The pipe that the thread uses for requests and replies, and what it has put there. */
struct pipe {
	uint64_t link;	 /* LINK word of the pipe; 0: none */
	uint64_t device; /* of a request: where it comes from; 0: there is none */
	uint64_t bytes;	 /* of the request */
	uint64_t unique; /* number of a request that is replied to; 0: there is no reply */
};

static __thread struct pipe own_pipe TLS_FAST;

static bool is_device(int fd, uint64_t link)
{
	return link &&
	       atomic_load_explicit(&devices[(unsigned)fd % PLACES], memory_order_relaxed) == link;
}

bool fuse_is_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(DEVICE_MAJOR, DEVICE_MINOR);
}

void fuse_enter(int fd, uint64_t link)
{
	atomic_store_explicit(&devices[(unsigned)fd % PLACES], link, memory_order_relaxed);
	atomic_store_explicit(&capture_fuse_seen, true, memory_order_relaxed);
}

void fuse_enter_opened(int fd)
{
	uint64_t link = handle_peek(fd);
	struct stat st;

	if (link && !sandbox_is_sealed() && kernel_call(SYS_fstat, fd, &st) == 0 &&
	    fuse_is_device(&st))
		fuse_enter(fd, link);
}

/* Makes a child of the call; w[4], w[5], ... = values. */
static void put_child(const struct frame *call, unsigned number, const uint64_t *values,
		      unsigned count)
{
	uint64_t enclosing, *w;
	struct frame f;

	if (!call->seq || !frame_enter(&f))
		return;
	f.start = f.stop = call->stop;
	enclosing = f.parent;
	f.parent = f.lane == call->lane ? call->seq : 0;
	w = frame_leave(&f, number, RECORD_HEAD_WORDS + count, 0);
	f.parent = enclosing;
	for (unsigned i = 0; i < count; i++)
		w[RECORD_HEAD_WORDS + i] = values[i];
	frame_commit(&f, w, RECORD_HEAD_WORDS + count);
}

/* Of a request of `total` bytes; `bytes` of them are at `at`. */
static void put_request(const struct frame *f, uint64_t device, const void *at, size_t bytes,
			uint64_t total)
{
	struct {
		struct fuse_in_header in;
		struct fuse_read_in transfer; /* that of a write begins with the same members */
	} head;
	uint64_t size = 0, offset = UINT64_MAX;

	if (bytes < sizeof(head.in))
		return;
	memcpy(&head, at, bytes < sizeof(head) ? bytes : sizeof(head));
	if (head.in.len != total)
		return;
	if (bytes >= sizeof(head) &&
	    (head.in.opcode == FUSE_READ || head.in.opcode == FUSE_WRITE)) {
		size = head.transfer.size;
		offset = head.transfer.offset;
	}
	put_child(f, CALL_fuse_request,
		  (uint64_t[]){ head.in.unique, device, size, offset, head.in.opcode, head.in.pid },
		  6);
}

static void put_reply(const struct frame *f, uint64_t device, uint64_t unique)
{
	put_child(f, CALL_fuse_reply, (uint64_t[]){ unique, device }, 2);
}

static bool is_pipe(uint64_t link)
{
	return link_kind(link) == LINK_NETWORK;
}

/* `bytes` of `total` bytes at `at` were read from the device, or from the pipe. */
static void see_request(const struct frame *f, int fd, uint64_t link, const void *at, size_t bytes,
			uint64_t total)
{
	struct pipe *p = &own_pipe;

	if (is_device(fd, link)) {
		put_request(f, link, at, bytes, total);
	} else if (link && link == p->link && p->device) {
		put_request(f, p->device, at, bytes, p->bytes);
		p->device = 0;
	}
}

/* `bytes` of `total` bytes at `at` were written to the device. */
static void see_reply(const struct frame *f, int fd, uint64_t link, const void *at, size_t bytes,
		      uint64_t total)
{
	struct fuse_out_header head;

	if (bytes < sizeof(head) || !is_device(fd, link))
		return;
	memcpy(&head, at, sizeof(head));
	if (head.len == total && head.unique)
		put_reply(f, link, head.unique);
}

/* How many of the bytes that were transferred are in the first buffer. */
static size_t first_bytes(const struct iovec *iov, int count, ssize_t bytes)
{
	if (bytes <= 0 || count <= 0)
		return 0;
	return iov->iov_len < (size_t)bytes ? iov->iov_len : (size_t)bytes;
}

void fuse_read(const struct frame *f, int fd, uint64_t link, const void *buf, ssize_t bytes)
{
	if (bytes > 0)
		see_request(f, fd, link, buf, (size_t)bytes, (uint64_t)bytes);
}

void fuse_readv(const struct frame *f, int fd, uint64_t link, const struct iovec *iov, int count,
		ssize_t bytes)
{
	size_t first = first_bytes(iov, count, bytes);

	if (first)
		see_request(f, fd, link, iov->iov_base, first, (uint64_t)bytes);
}

void fuse_write(const struct frame *f, int fd, uint64_t link, const void *buf, ssize_t bytes)
{
	if (bytes > 0)
		see_reply(f, fd, link, buf, (size_t)bytes, (uint64_t)bytes);
}

void fuse_writev(const struct frame *f, int fd, uint64_t link, const struct iovec *iov, int count,
		 ssize_t bytes)
{
	size_t first = first_bytes(iov, count, bytes);

	if (first)
		see_reply(f, fd, link, iov->iov_base, first, (uint64_t)bytes);
}

void fuse_vmsplice(uint64_t link, const struct iovec *iov, size_t count, ssize_t bytes)
{
	struct fuse_out_header head;

	if (!count || bytes < (ssize_t)sizeof(head) || iov->iov_len < sizeof(head))
		return;
	memcpy(&head, iov->iov_base, sizeof(head));
	/* Data follows. */
	if (head.len >= (uint64_t)bytes)
		own_pipe = (struct pipe){ .link = link, .unique = head.unique };
}

void fuse_splice(const struct frame *f, int in, uint64_t from, int out, uint64_t to, ssize_t bytes)
{
	struct pipe *p = &own_pipe;

	if (bytes <= 0)
		return;
	if (is_device(in, from) && is_pipe(to)) {
		*p = (struct pipe){ .link = to, .device = from, .bytes = (uint64_t)bytes };
	} else if (is_device(out, to) && is_pipe(from)) {
		if (p->link == from && p->unique)
			put_reply(f, to, p->unique);
		*p = (struct pipe){ 0 };
	}
}
