/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asynchronous I/O of the kernel, by wrapping libaio: a program submits requests (struct iocb) and
 * gets an event for each one that has ended. Guest.
 *
 * Each submitted request gets a record (libaio_pread, libaio_fsync, ..., of class START) as a child
 * of io_submit(). Each event gets a "completed" record as a child of the call that returned it,
 * linked to the request. Requests are identified by their address. Their layout is that of the
 * kernel's ABI.
 *
 * libaio calls itself through the same symbols, so io_queue_run() and io_queue_wait() have no
 * wrappers: the io_getevents() that they call is recorded.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_LIBAIO_H
#define SLUICE_CAPTURE_LIBRARIES_LIBAIO_H

#include <signal.h>
#include <time.h>

#include <linux/aio_abi.h>

#include "capture/record/frame.h"

struct io_context;
typedef struct io_context *io_context_t;

#pragma GCC visibility push(hidden)

/*
 * Before the call in f submits requests: records them, because another thread may get the event of
 * one before the call returns. At that time the kernel has not checked the addresses, so only
 * memory that is readable is looked at. Returns how many requests were looked at.
 */
long libaio_submits(struct frame *f, long count, struct iocb *const *list);

/* After the kernel has taken `taken` of them, or none because of err: the others that were seen
 * have ended without effect. */
void libaio_submitted(struct frame *f, long seen, struct iocb *const *list, long taken, int err);

/* Records the requests that have ended; returns the bytes that they have moved. */
uint64_t libaio_ended(struct frame *f, const struct io_event *events, long count);

#pragma GCC visibility pop

/* libaio has one implementation, so there is nothing to detect. */
INLINE void libaio_bind(const void *called)
{
	(void)called;
}

#endif
