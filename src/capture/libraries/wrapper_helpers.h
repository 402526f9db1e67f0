/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers of generated wrappers for functions whose sizes, links or handles are not simply an
 * argument. Guest.
 *
 * Rows of interfaces/ use them in FIELD, RESULT, BEFORE and AFTER. None of them changes errno. None
 * reads memory of the program unless the real call has read it successfully.
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
#include "capture/record/launch.h"
#include "capture/record/socket.h"

#define COLD __attribute__((cold, visibility("hidden")))
#define HIDDEN __attribute__((visibility("hidden")))

static inline int dir_fd(DIR *dir)
{
	return dir ? dirfd(dir) : -1;
}

/* After the record of f: enters both descriptors that a call (pipe, socketpair) has made. */
static inline void handle_pair(const int *fds, enum link_kind kind, const struct frame *f, int err)
{
	if (err)
		return;
	handle_made(fds[0], kind, f);
	handle_made(fds[1], kind, f);
}

/* Removes the descriptors first .. last, up to the highest one that was ever entered. */
COLD void handle_clear(unsigned first, unsigned last);

/* Has the stream failed? As ferror(), but without its lock. */
static inline bool stream_failed(FILE *stream)
{
	return !stream || stream->_flags & _IO_ERR_SEEN;
}

/* The flags of open() for a mode of fopen(). */
HIDDEN int stream_flags(const char *mode);

/* The same for a file that may be created before; 0 for mode "x", where fopen() must create it. */
static inline int stream_makes(const char *mode)
{
	int flags = stream_flags(mode);

	return flags & O_EXCL ? 0 : flags;
}

/* The read buffer before a scan: scanf does not return the bytes that it has read. */
struct scan {
	const char *at, *end;
};

static inline struct scan scan_begin(FILE *stream)
{
	return (struct scan){ stream->_IO_read_ptr, stream->_IO_read_end };
}

/* The bytes of a scan. Too few if the scan has refilled the buffer more than once. */
static inline uint64_t scan_bytes(struct scan was, FILE *stream)
{
	if (stream->_IO_read_end == was.end && stream->_IO_read_ptr >= was.at)
		return (uint64_t)(stream->_IO_read_ptr - was.at);
	return (uint64_t)(was.end - was.at) +
	       (uint64_t)(stream->_IO_read_ptr - stream->_IO_read_base);
}

/* Asks the kernel. For addresses that no call has accepted. */
COLD bool memory_is_readable(const void *start, size_t bytes);

COLD size_t path_bytes_failed(const char *path, int err);

/* Bytes of a path to record. A call that failed may not have read it: then it is probed. */
static inline size_t path_bytes(const char *path, int err)
{
	return likely(!err) ? text_length(path, 0) : path_bytes_failed(path, err);
}

/* The sum of a vector; 0 if the call failed with an error that may mean it is unreadable. */
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

/* The offset at which a call began that advances *at by the bytes moved; all ones if the call uses
 * the file position. */
static inline uint64_t offset_before(const off_t *at, ssize_t moved, int err)
{
	return at && !err ? (uint64_t)(*at - moved) : UINT64_MAX;
}

static inline uint64_t mapping_key(const void *start)
{
	return handle_key(SPACE_MAPPING, (uintptr_t)start);
}

/* After the record of f. A mapping has the kind of the file that it maps. */
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

/* After mremap: the mapping is at its new address, or at the old one if the call failed. */
static inline void mapping_moved(void *from, void *to, uint64_t link, int err)
{
	handle_table_put(mapping_key(err ? from : to), link);
}

static inline void request_started(struct frame *f, const void *request, int err)
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

/* For lio_listio: the bytes of a list of requests, and the start of each. Entries may be NULL. */
HIDDEN uint64_t requests_bytes(struct aiocb *const *list, int count, int err);
HIDDEN void requests_started(struct frame *f, struct aiocb *const *list, int count, int err);

#endif
