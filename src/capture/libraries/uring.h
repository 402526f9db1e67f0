/* SPDX-License-Identifier: BSD-3-Clause
 *
 * io_uring, by wrapping liburing: a program puts operations into a ring in shared memory, and finds
 * their results in another ring. Guest.
 *
 * Every wrapper of a function on a ring looks at both rings. Each submitted operation gets a record
 * (io_uring_read, io_uring_fsync, ..., of class START) as a child of the call. Each new result gets
 * a "completed" record as a child of the call that found it, linked to the operation. liburing
 * takes ready results without a function call, so a result may be found later than the program took
 * it, and by another call.
 *
 * Operations are identified by their ring and user data. If several pending ones have the same, a
 * result is assigned to any of them.
 *
 * The program's rings are only read. Their layout is that of liburing since 2.0 and of the kernel's
 * ABI; tests/lint/uring.sh compares it with the installed version. Rings with another layout, and
 * rings whose creation was not seen, are ignored.
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
	int32_t splice_fd_in; /* or the index of a registered file plus 1 */
	uint64_t pad[2];
};

#define URING_SQE_FIXED_FILE (1u << 0)	 /* fd is the index of a registered file */
#define URING_SQE_SKIP_SUCCESS (1u << 6) /* there is a result only if it fails */

/* An entry of the completion ring. */
struct uring_cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags; /* URING_CQE_* */
};

#define URING_CQE_MORE (1u << 1)  /* the operation will have further results */
#define URING_CQE_NOTIF (1u << 3) /* not a result: a buffer is free again */

/* struct io_uring, the part that all versions have in common. */
struct uring_ring {
	struct {
		unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *kdropped, *array;
		struct uring_sqe *sqes;
		unsigned sqe_head, sqe_tail; /* entries before head are submitted, those before tail
						prepared */
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
#define URING_SETUP_KNOWN ((1u << 18) - 1) /* with further flags, entries have mixed sizes */

/* The state of one wrapped call on a ring. */
struct uring_watch {
	struct frame *f;
	struct handle_entry *state; /* handle entry of the ring; NULL: it is ignored */
	const struct uring_ring *ring;
	uint32_t head;	/* sqe_head before the call */
	uint64_t moved; /* bytes moved by the operations that were found complete */
	bool found;	/* the call has a child record */
};

#pragma GCC visibility push(hidden)

/* After the call in f has created a ring. */
void uring_made(const struct frame *f, const struct io_uring *ring, int err);

/*
 * Before a call on the ring: records new results. uring_submits() is for calls that always submit
 * the prepared operations; it records these, too, because another thread may find a result before
 * the call returns.
 */
struct uring_watch uring_watch(struct frame *f, const struct io_uring *ring);
struct uring_watch uring_submits(struct frame *f, const struct io_uring *ring);

/* After the call: records new results, and operations that a waiting call has submitted. True if
 * the call has a child record: then it must be recorded, too. */
bool uring_watched(struct uring_watch *watch);

/* Before a ring is closed: drops its pending operations. */
void uring_ends(struct uring_watch *watch);

/* Files were registered from index `first` on; operations use the index as descriptor. */
void uring_files(const struct io_uring *ring, unsigned first, const int *files, unsigned count,
		 int err);
void uring_files_end(const struct io_uring *ring, int err);

#pragma GCC visibility pop

/* Has the call found nothing? Programs poll in this way, so it is not recorded. */
static inline bool uring_is_idle(int ret)
{
	return ret == -EAGAIN || ret == -ETIME || ret == -EINTR;
}

/* liburing has one implementation, so there is nothing to detect. */
INLINE void uring_bind(const void *called)
{
	(void)called;
}

#endif
