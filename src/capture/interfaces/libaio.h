/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asynchronous I/O of the kernel by libaio: the functions that submit requests and get their events.
 * The requests are recorded as children of these calls: capture/libraries/libaio.h. docs/reference/interfaces.md
 * explains the marks.
 *
 * With SLUICE_CHECK the compiler compares the prototypes with those of an installed libaio.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_LIBAIO_H
#define SLUICE_CAPTURE_INTERFACES_LIBAIO_H

#ifdef SLUICE_CHECK
#include <libaio.h>
#else
#include "capture/libraries/libaio.h"
#endif
#include "capture/interfaces/marks.h"

LAYER(POSIX)
LIBRARY(LIBAIO)

#define FAILING ERROR(ret < 0, -ret)

/* A call that finds no event is not recorded, because programs make such calls in loops. */
#define GETS_EVENTS            \
	BEFORE(uint64_t moved; \
	) KEEP_IF((moved = libaio_ended(&f, events, ret), ret != 0)) RESULT(moved)

CALL(CONTROL) FAILING int io_setup(int maxevents, io_context_t *ctxp);
CALL(CONTROL) FAILING int io_queue_init(int maxevents, io_context_t *ctxp);
CALL(CONTROL) FAILING int io_destroy(io_context_t ctx);
CALL(CONTROL) FAILING int io_queue_release(io_context_t ctx);

CALL(START) FAILING BEFORE(long seen = libaio_submits(&f, nr, ios);)
AFTER(libaio_submitted(&f, seen, ios, ret, err);)
int io_submit(io_context_t ctx, long nr, struct iocb *ios[]);
CALL(WAIT) FAILING GETS_EVENTS
int io_getevents(io_context_t ctx_id, long min_nr, long nr, struct io_event *events,
		 struct timespec *timeout);
CALL(WAIT) FAILING GETS_EVENTS
int io_pgetevents(io_context_t ctx_id, long min_nr, long nr, struct io_event *events,
		  struct timespec *timeout, sigset_t *sigmask);
CALL(CONTROL) FAILING AFTER(if (!err) libaio_ended(&f, evt, 1);)
int io_cancel(io_context_t ctx, struct iocb *iocb, struct io_event *evt);

#endif
