/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_uring by liburing: the functions that create rings, submit operations and get their results. The
 * operations are recorded as children of these calls: capture/libraries/uring.h. docs/reference/interfaces.md explains
 * the marks.
 *
 * With SLUICE_CHECK the compiler compares the prototypes with those of an installed liburing.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_URING_H
#define SLUICE_CAPTURE_INTERFACES_URING_H

/* The newest version whose functions are recorded; `sluice version --json` shows it. */
#define URING_INTERFACE "2.3"

#ifdef SLUICE_CHECK
#include <liburing.h>
#else
#include "capture/libraries/uring.h"
#endif
#include "capture/interfaces/marks.h"

LAYER(POSIX)
LIBRARY(URING)

#define FAILING ERROR(ret < 0, -ret)
#define MAKES_RING AFTER(uring_made(&f, ring, err);)

/* A call that does nothing is not recorded, because programs make such calls in loops. */
#define SUBMITS BEFORE(struct uring_watch watch = uring_submits(&f, ring);)
#define WATCHES BEFORE(struct uring_watch watch = uring_watch(&f, ring);)
#define IF_BUSY KEEP_IF(uring_watched(&watch) || ret)
#define IF_MET KEEP_IF(uring_watched(&watch) || !uring_is_idle(ret)) RESULT(watch.moved)

/* Rings. */
CALL(CONTROL) FAILING MAKES_RING
int io_uring_queue_init(unsigned entries, struct io_uring *ring, FLAGS unsigned flags);
CALL(CONTROL) FAILING MAKES_RING
int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
			       struct io_uring_params *params);
CALL(CONTROL) FAILING MAKES_RING
int io_uring_queue_init_mem(unsigned entries, struct io_uring *ring, struct io_uring_params *params,
			    void *memory, size_t bytes);
CALL(CONTROL) FAILING MAKES_RING
int io_uring_queue_mmap(int fd, struct io_uring_params *params, struct io_uring *ring);
CALL(CONTROL) WATCHES BEFORE(uring_ends(&watch);) void io_uring_queue_exit(struct io_uring *ring);

/* Submitting operations. */
CALL(START) FAILING SUBMITS IF_BUSY int io_uring_submit(struct io_uring *ring);
CALL(START) FAILING SUBMITS IF_BUSY int io_uring_submit_and_get_events(struct io_uring *ring);
CALL(WAIT) FAILING SUBMITS IF_MET
int io_uring_submit_and_wait(struct io_uring *ring, unsigned wait_nr);
CALL(WAIT) FAILING SUBMITS IF_MET
int io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **cqe_ptr,
				     unsigned wait_nr, struct __kernel_timespec *ts,
				     sigset_t *sigmask);
CALL(WAIT) FAILING SUBMITS IF_MET
int io_uring_submit_and_wait_min_timeout(struct io_uring *ring, struct io_uring_cqe **cqe_ptr,
					 unsigned wait_nr, struct __kernel_timespec *ts,
					 unsigned min_wait, sigset_t *sigmask);
CALL(WAIT) FAILING SUBMITS IF_MET
int io_uring_submit_and_wait_reg(struct io_uring *ring, struct io_uring_cqe **cqe_ptr,
				 unsigned wait_nr, int reg_index);

/* Getting results. Operations that some versions submit as well are recorded after the call. */
CALL(WAIT) FAILING WATCHES IF_MET
int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe_ptr, unsigned submit,
		       unsigned wait_nr, sigset_t *sigmask);
CALL(WAIT) FAILING WATCHES IF_MET
int io_uring_wait_cqes(struct io_uring *ring, struct io_uring_cqe **cqe_ptr, unsigned wait_nr,
		       struct __kernel_timespec *ts, sigset_t *sigmask);
CALL(WAIT) FAILING WATCHES IF_MET
int io_uring_wait_cqes_min_timeout(struct io_uring *ring, struct io_uring_cqe **cqe_ptr,
				   unsigned wait_nr, struct __kernel_timespec *ts,
				   unsigned min_wait, sigset_t *sigmask);
CALL(WAIT) FAILING WATCHES IF_MET
int io_uring_wait_cqe_timeout(struct io_uring *ring, struct io_uring_cqe **cqe_ptr,
			      struct __kernel_timespec *ts);
CALL(WAIT) WATCHES KEEP_IF(uring_watched(&watch)) RESULT(watch.moved)
unsigned io_uring_peek_batch_cqe(struct io_uring *ring, struct io_uring_cqe **cqes, unsigned count);
CALL(WAIT) FAILING WATCHES KEEP_IF(uring_watched(&watch) || ret) RESULT(watch.moved)
int io_uring_get_events(struct io_uring *ring);

/* Registered files and buffers. */
CALL(CONTROL) FAILING AFTER(uring_files(ring, 0, files, nr, err);)
int io_uring_register_files(struct io_uring *ring, const int *files, unsigned nr);
CALL(CONTROL) FAILING AFTER(uring_files(ring, 0, files, nr, err);)
int io_uring_register_files_tags(struct io_uring *ring, const int *files, const __u64 *tags,
				 unsigned nr);
CALL(CONTROL) FAILING int io_uring_register_files_sparse(struct io_uring *ring, unsigned nr);
CALL(CONTROL) FAILING AFTER(uring_files(ring, first, files, (unsigned)ret, err);)
int io_uring_register_files_update(struct io_uring *ring, unsigned first, const int *files,
				   unsigned nr);
CALL(CONTROL) FAILING AFTER(uring_files(ring, first, files, (unsigned)ret, err);)
int io_uring_register_files_update_tag(struct io_uring *ring, unsigned first, const int *files,
				       const __u64 *tags, unsigned nr);
CALL(CONTROL) FAILING AFTER(uring_files_end(ring, err);)
int io_uring_unregister_files(struct io_uring *ring);
CALL(CONTROL) FAILING
int io_uring_register_buffers(struct io_uring *ring, IOV const struct iovec *iovecs,
			      IOVCNT unsigned nr);
CALL(CONTROL) FAILING
int io_uring_register_buffers_tags(struct io_uring *ring, IOV const struct iovec *iovecs,
				   const __u64 *tags, IOVCNT unsigned nr);
CALL(CONTROL) FAILING int io_uring_register_buffers_sparse(struct io_uring *ring, unsigned nr);
CALL(CONTROL) FAILING
int io_uring_register_buffers_update_tag(struct io_uring *ring, unsigned first,
					 IOV const struct iovec *iovecs, const __u64 *tags,
					 IOVCNT unsigned nr);
CALL(CONTROL) FAILING int io_uring_unregister_buffers(struct io_uring *ring);

#endif
