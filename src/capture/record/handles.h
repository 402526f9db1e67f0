/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which call made a descriptor: a flat table from descriptor to LINK word (contract/record.h). Guest.
 *
 * A stream (FILE *) is found through its descriptor. A descriptor without an entry was made by
 * something that we do not wrap, or before us; when a call on it succeeds it is looked up once, and
 * an "inherited" record with its path is written, which later calls link to.
 */
#ifndef SLUICE_CAPTURE_RECORD_HANDLES_H
#define SLUICE_CAPTURE_RECORD_HANDLES_H

#include <stdio.h>

#include "capture/record/frame.h"

#define HANDLES_MAX (1u << 20) /* descriptors beyond are recorded without a link */

/* Reserved address space, touched only where used; NULL until attached. */
extern _Atomic uint64_t *capture_handles __attribute__((visibility("hidden")));

/* The highest descriptor that ever had an entry: bounds walks over the table. */
extern _Atomic int capture_handles_high __attribute__((visibility("hidden")));

/* Out of line: writes the "inherited" record of fd and returns its LINK word; 0 if it cannot be
 * known. */
__attribute__((cold, visibility("hidden"))) uint64_t handle_inherit(int fd);

/* The LINK word of fd without a lookup: 0 when it was never seen. */
INLINE uint64_t handle_peek(int fd)
{
	if (unlikely((unsigned)fd >= HANDLES_MAX))
		return 0;
	return atomic_load_explicit(&capture_handles[fd], memory_order_relaxed);
}

/* The LINK word of fd after a call on it; an unknown descriptor is looked up unless the call
 * failed. */
INLINE uint64_t handle_link(int fd, int error)
{
	uint64_t link = handle_peek(fd);

	if (unlikely(!link) && fd >= 0 && !error)
		link = handle_inherit(fd);
	return link;
}

/* Forgets fd and returns what it was. Before the real close: afterwards the number may be
 * another's. */
INLINE uint64_t handle_take(int fd)
{
	/* Loops that close whatever may be open must not dirty the table. */
	if (!handle_peek(fd))
		return 0;
	return atomic_exchange_explicit(&capture_handles[fd], 0, memory_order_relaxed);
}

INLINE void handle_put(int fd, uint64_t link)
{
	if (unlikely((unsigned)fd >= HANDLES_MAX))
		return;
	atomic_store_explicit(&capture_handles[fd], link, memory_order_relaxed);
	/* Two threads may race here; the loser's descriptor is lower by then or puts itself again.
	 */
	if (unlikely(fd > atomic_load_explicit(&capture_handles_high, memory_order_relaxed)))
		atomic_store_explicit(&capture_handles_high, fd, memory_order_relaxed);
}

/* Remembers that the call in f made fd. A call without a record leaves the descriptor unknown. */
INLINE void handle_made(int fd, enum link_kind kind, const struct frame *f)
{
	uint64_t id = frame_id(f);

	handle_put(fd, id ? link_make(kind, id) : 0);
}

/* Descriptor of a stream, -1 for one without (memory streams, cookies). A NULL stream has none. */
INLINE int stream_fd(FILE *stream)
{
	return stream ? stream->_fileno : -1;
}

#endif
