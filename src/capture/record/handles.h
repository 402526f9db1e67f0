/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which call made a descriptor: a table from descriptor to LINK word (contract/record.h). Guest.
 *
 * A stream (FILE *) is found by its descriptor. A descriptor without an entry was made by a
 * function that is not wrapped, or before the process was captured. When a call on it succeeds, an
 * "inherited" record with its path is written, which this and later calls link to.
 */
#ifndef SLUICE_CAPTURE_RECORD_HANDLES_H
#define SLUICE_CAPTURE_RECORD_HANDLES_H

#include <stdio.h>

#include "capture/record/frame.h"

#define HANDLES_MAX (1u << 20) /* higher descriptors are recorded without a link */

/* HANDLES_MAX entries of reserved memory, allocated on use; NULL until attached. */
extern _Atomic uint64_t *capture_handles __attribute__((visibility("hidden")));

/* The highest descriptor that ever had an entry: the end of loops over the table. */
extern _Atomic int capture_handles_high __attribute__((visibility("hidden")));

/* Writes the "inherited" record of fd and returns its LINK word; 0 on failure. */
__attribute__((cold, visibility("hidden"))) uint64_t handle_inherit(int fd);

/* The LINK word of fd if it is in the table, else 0. */
INLINE uint64_t handle_peek(int fd)
{
	if (unlikely((unsigned)fd >= HANDLES_MAX))
		return 0;
	return atomic_load_explicit(&capture_handles[fd], memory_order_relaxed);
}

/* The LINK word of fd after a call on it. Writes an "inherited" record for an unknown descriptor,
 * unless the call failed. */
INLINE uint64_t handle_link(int fd, int error)
{
	uint64_t link = handle_peek(fd);

	if (unlikely(!link) && fd >= 0 && !error)
		link = handle_inherit(fd);
	return link;
}

/* Removes fd and returns its LINK word. To be called before the real close, as another thread may
 * get the same number right after it. */
INLINE uint64_t handle_take(int fd)
{
	/* Programs that close all possible descriptors must not allocate pages of the table. */
	if (!handle_peek(fd))
		return 0;
	return atomic_exchange_explicit(&capture_handles[fd], 0, memory_order_relaxed);
}

INLINE void handle_put(int fd, uint64_t link)
{
	if (unlikely((unsigned)fd >= HANDLES_MAX))
		return;
	atomic_store_explicit(&capture_handles[fd], link, memory_order_relaxed);
	/* A race of two threads may lose the higher value until that descriptor is put again. */
	if (unlikely(fd > atomic_load_explicit(&capture_handles_high, memory_order_relaxed)))
		atomic_store_explicit(&capture_handles_high, fd, memory_order_relaxed);
}

/* Enters that the call in f made fd. Without a record of the call, fd stays unknown. */
INLINE void handle_made(int fd, enum link_kind kind, const struct frame *f)
{
	uint64_t id = frame_id(f);

	handle_put(fd, id ? link_make(kind, id) : 0);
}

/* The descriptor of a stream; -1 for NULL, memory streams and cookies. */
INLINE int stream_fd(FILE *stream)
{
	return stream ? stream->_fileno : -1;
}

#endif
