/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What generated wrappers need beside the frame: the sizes, links and tables of odd functions.
 * Guest.
 *
 * Rows of interfaces/ name these helpers in FIELD, RESULT, BEFORE and AFTER. None of them changes
 * errno, and none reads memory of the application that the real call may not have read
 * successfully.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_WRAPPER_HELPERS_H
#define SLUICE_CAPTURE_LIBRARIES_WRAPPER_HELPERS_H

#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "capture/record/handle_table.h"
#include "capture/record/handles.h"

#define COLD __attribute__((cold, visibility("hidden")))
#define HIDDEN __attribute__((visibility("hidden")))

/* Handles. */

static inline int dir_fd(DIR *dir)
{
	return dir ? dirfd(dir) : -1;
}

/* After the record of f: remembers both descriptors that a call (pipe, socketpair) has filled in.
 */
static inline void handle_pair(const int *fds, enum link_kind kind, const struct frame *f, int err)
{
	if (err)
		return;
	handle_made(fds[0], kind, f);
	handle_made(fds[1], kind, f);
}

/* Forgets first .. last, both included; walks no further than descriptors were ever entered. */
COLD void handle_clear(unsigned first, unsigned last);

/* Streams. */

/* Tells a failure from a clean end of file, as ferror() would but without its lock. */
static inline bool stream_failed(FILE *stream)
{
	return !stream || stream->_flags & _IO_ERR_SEEN;
}

/* The flags of open() that a mode of fopen() stands for. */
HIDDEN int stream_flags(const char *mode);

/* The same of one that may be made before; 0 where it has to be the stream that makes it. */
static inline int stream_makes(const char *mode)
{
	int flags = stream_flags(mode);

	return flags & O_EXCL ? 0 : flags;
}

/* Before and after a scan: how many bytes it took, which scanf does not say. */
struct scan {
	const char *at, *end;
};

static inline struct scan scan_begin(FILE *stream)
{
	return (struct scan){ stream->_IO_read_ptr, stream->_IO_read_end };
}

/* Right while the scan refilled the buffer at most once; an item longer than that is counted short.
 */
static inline uint64_t scan_bytes(struct scan was, FILE *stream)
{
	if (stream->_IO_read_end == was.end && stream->_IO_read_ptr >= was.at)
		return (uint64_t)(stream->_IO_read_ptr - was.at);
	return (uint64_t)(was.end - was.at) +
	       (uint64_t)(stream->_IO_read_ptr - stream->_IO_read_base);
}

/* The application's memory, after the call. */

/* Asks the kernel. For addresses that no call has proved. */
COLD bool memory_is_readable(const void *start, size_t bytes);

COLD size_t path_bytes_failed(const char *path, int err);

/* Length of a path to record. A call that failed may not have come as far as to look at it. */
static inline size_t path_bytes(const char *path, int err)
{
	return likely(!err) ? text_length(path, 0) : path_bytes_failed(path, err);
}

/* Sum of a vector; 0 when the call failed in a way that does not prove the vector readable. */
static inline uint64_t iov_bytes(const struct iovec *iov, uint64_t count, int err)
{
	uint64_t sum = 0;

	if (unlikely(err) && err != EAGAIN && err != ENOSPC && err != EPIPE)
		return 0;
	for (uint64_t i = 0; i < count; i++)
		sum += iov[i].iov_len;
	return sum;
}

static inline uint64_t msg_bytes(const struct msghdr *msg, int err)
{
	return err ? 0 : iov_bytes(msg->msg_iov, msg->msg_iovlen, 0);
}

/* Bytes moved by the first `count` messages; a negative count is passed through. */
static inline uint64_t mmsg_bytes(const struct mmsghdr *messages, int count)
{
	uint64_t sum = 0;

	if (count < 0)
		return (uint64_t)count;
	for (int i = 0; i < count; i++)
		sum += messages[i].msg_len;
	return sum;
}

/* Where a call began that moves *at on by what it transfers; all ones when the file's own position
 * counts. */
static inline uint64_t offset_before(const off_t *at, ssize_t moved, int err)
{
	return at && !err ? (uint64_t)(*at - moved) : UINT64_MAX;
}

/* Mappings of files, and asynchronous requests: known by address. */

static inline uint64_t mapping_key(const void *start)
{
	return handle_key(SPACE_MAPPING, (uintptr_t)start);
}

/* After the record of f. A mapping is of the same kind as what it maps. */
static inline void mapping_made(struct frame *f, void *start, uint64_t link, int err)
{
	uint64_t id = frame_id(f);

	if (!err && id)
		handle_table_put(mapping_key(start), link_make(link_kind(link), id));
}

static inline uint64_t mapping_link(void *start)
{
	return handle_entry_link(handle_table_find(mapping_key(start)));
}

static inline uint64_t mapping_take(void *start)
{
	return handle_table_take(mapping_key(start));
}

/* After mremap: at its new place, or still at the old one if that failed. */
static inline void mapping_moved(void *from, void *to, uint64_t link, int err)
{
	handle_table_put(mapping_key(err ? from : to), link);
}

static inline void request_began(struct frame *f, const void *request, int err)
{
	uint64_t id = frame_id(f);

	if (!err && id)
		handle_table_put(handle_key(SPACE_AIO, (uintptr_t)request),
				 link_make(LINK_UNKNOWN, id));
}

static inline uint64_t request_take(const void *request)
{
	return handle_table_take(handle_key(SPACE_AIO, (uintptr_t)request));
}

/* lio_listio: the sum of a list of requests, and the beginning of each. Empty places are allowed.
 */
HIDDEN uint64_t requests_bytes(struct aiocb *const *list, int count, int err);
HIDDEN void requests_began(struct frame *f, struct aiocb *const *list, int count, int err);

#endif
