/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_uring as the guest sees it through liburing: operations that a program puts into a ring in
 * shared memory, and results that it finds in another. Guest.
 *
 * Every wrapper of a ring looks at both. What has been handed over gets a record of its own beneath
 * the call (io_uring_read, io_uring_fsync, ..., of class START); each result that was not there the
 * last time gets a "completed" beneath the call that met it, linked to that record. liburing takes
 * results without any call where some are ready, so that "met" may be later than "taken", and the
 * call another one.
 *
 * Operations are told apart by their ring and user data. Where several under way have the same,
 * any of them stands for the one that is complete.
 *
 * The program's rings are only read. The layout is liburing's since 2.0 and the kernel's ABI;
 * tests/lint/uring.sh compares both with what is installed. A ring that does not fit it, or that
 * we have not seen being made, is left alone.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_URING_H
#define SLUICE_CAPTURE_LIBRARIES_URING_H

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>

#include <linux/types.h>

#include "capture/record/frame.h"

struct io_uring;
struct io_uring_cqe;
struct io_uring_params;
struct __kernel_timespec;

/* An entry of the submission ring. */
struct uring_sqe {
	uint8_t opcode;
	uint8_t flags; /* URING_SQE_* */
	uint16_t ioprio;
	int32_t fd;
	uint64_t off; /* or a second address */
	uint64_t addr;
	uint32_t len;
	uint32_t op_flags;
	uint64_t user_data;
	uint16_t buf_index;
	uint16_t personality;
	int32_t splice_fd_in; /* or one more than the index of a registered file */
	uint64_t pad[2];
};

#define URING_SQE_FIXED_FILE (1u << 0)	 /* fd is the index of a registered file */
#define URING_SQE_SKIP_SUCCESS (1u << 6) /* a result only if it fails */

/* An entry of the completion ring. */
struct uring_cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags; /* URING_CQE_* */
};

#define URING_CQE_MORE (1u << 1)  /* the operation will have further results */
#define URING_CQE_NOTIF (1u << 3) /* not a result, but that a buffer is free again */

/* struct io_uring. The masks and numbers of entries behind pointers are there in every version. */
struct uring_ring {
	struct {
		unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *kdropped, *array;
		struct uring_sqe *sqes;
		unsigned sqe_head, sqe_tail; /* known to the kernel; filled in by the program */
		size_t ring_sz;
		void *ring_ptr;
		unsigned pad[4];
	} sq;
	struct {
		unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *koverflow;
		struct uring_cqe *cqes;
		size_t ring_sz;
		void *ring_ptr;
		unsigned pad[4];
	} cq;
	unsigned flags; /* URING_SETUP_* */
	int ring_fd;
};

#define URING_SETUP_SQE128 (1u << 10)
#define URING_SETUP_CQE32 (1u << 11)
#define URING_SETUP_KNOWN ((1u << 18) - 1) /* beyond, entries are of mixed sizes */

/* What one wrapped call has to do with its ring. */
struct uring_watch {
	struct frame *f;
	struct handle_entry *state; /* of the ring, NULL: left alone */
	const struct uring_ring *ring;
	uint32_t head;	/* of what was handed over before the call */
	uint64_t moved; /* bytes that operations found complete have transferred */
	bool found;	/* anything was recorded beneath */
};

#pragma GCC visibility push(hidden)

/* After a ring was made by the call in f. */
void uring_made(const struct frame *f, const struct io_uring *ring, int err);

/*
 * Before a call on the ring: looks for results. uring_submits() is for calls that surely hand over
 * what the program has prepared; it records that, too, because another thread may meet the result
 * before the call has returned.
 */
struct uring_watch uring_watch(struct frame *f, const struct io_uring *ring);
struct uring_watch uring_submits(struct frame *f, const struct io_uring *ring);

/* After the call: looks again, also for what a call that waits has handed over by the way. Was
 * anything recorded beneath? Then the call must be, too. */
bool uring_watched(struct uring_watch *watch);

/* Before a ring ends: what is still under way will have no result. */
void uring_ends(struct uring_watch *watch);

/* Registered files, from `first` on; an index takes the place of their descriptors. */
void uring_files(const struct io_uring *ring, unsigned first, const int *files, unsigned count,
		 int err);
void uring_files_end(const struct io_uring *ring, int err);

#pragma GCC visibility pop

/* A wait that ends for want of a result says nothing; programs poll in this way. */
static inline bool uring_is_idle(int ret)
{
	return ret == -EAGAIN || ret == -ETIME || ret == -EINTR;
}

/* Every implementation is alike. */
INLINE void uring_bind(const void *called)
{
	(void)called;
}

#endif
