/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-10.
 */
#include "capture/libraries/libaio.h"

#include "capture/libraries/wrapper_helpers.h"
#include "contract/call.h"
#include "contract/calls.h"

/* More requests than this at once are not looked at; the kernel takes no longer vectors
 * (UIO_MAXIOV). */
#define REQUESTS_MAX 65536
#define VECTOR_MAX 1024

/* The record of a request; CALL_none: it is not I/O. */
static unsigned request_call(const struct iocb *request)
{
	switch (request->aio_lio_opcode) {
	case IOCB_CMD_PREAD:
		return CALL_libaio_pread;
	case IOCB_CMD_PREADV:
		return CALL_libaio_preadv;
	case IOCB_CMD_PWRITE:
		return CALL_libaio_pwrite;
	case IOCB_CMD_PWRITEV:
		return CALL_libaio_pwritev;
	case IOCB_CMD_FSYNC:
		return CALL_libaio_fsync;
	case IOCB_CMD_FDSYNC:
		return CALL_libaio_fdsync;
	default:
		return CALL_none;
	}
}

static bool is_vectored(unsigned call)
{
	return call == CALL_libaio_preadv || call == CALL_libaio_pwritev;
}

static uint64_t request_bytes(const struct iocb *request, unsigned call)
{
	const struct iovec *vector = (const struct iovec *)(uintptr_t)request->aio_buf;
	uint64_t count = request->aio_nbytes;

	if (!is_vectored(call))
		return count;
	if (count > VECTOR_MAX || !memory_is_readable(vector, count * sizeof(*vector)))
		return 0;
	return iov_bytes(vector, count, 0);
}

/* Writes the record of a request as a child of the call in f, with the same start. */
static void put_request(const struct frame *f, const struct iocb *request, unsigned call)
{
	/* In the order of the fields; a flush has the first one only. An unknown descriptor gets an
	 * "inherited" record, so they are collected before the record is begun. */
	uint64_t values[] = { handle_link((int)request->aio_fildes, 0),
			      request_bytes(request, call), (uint64_t)request->aio_offset,
			      (uint64_t)request->aio_rw_flags };
	unsigned count = call_table[call].field_count;
	unsigned words = RECORD_HEAD_WORDS + count;
	struct frame own;
	uint64_t *w;

	if (!frame_enter(&own))
		return;
	own.start = own.stop = f->start;
	w = frame_leave(&own, call, words, 0);
	memcpy(w + RECORD_HEAD_WORDS, values, count * sizeof(values[0]));
	frame_commit(&own, w, words);
	request_started(&own, request, 0);
}

long libaio_submits(struct frame *f, long count, struct iocb *const *list)
{
	long i = 0;

	if (count <= 0 || count > REQUESTS_MAX ||
	    !memory_is_readable(list, (size_t)count * sizeof(*list)))
		return 0;
	for (; i < count && memory_is_readable(list[i], sizeof(**list)); i++) {
		unsigned call = request_call(list[i]);

		if (call != CALL_none)
			put_request(f, list[i], call);
	}
	return i;
}

void libaio_submitted(struct frame *f, long seen, struct iocb *const *list, long taken, int err)
{
	for (long i = taken > 0 ? taken : 0; i < seen; i++) {
		uint64_t link = request_take(list[i]);

		if (link)
			frame_completed(f, CALL_completed_POSIX, link, 0, err ? err : EAGAIN);
	}
}

uint64_t libaio_ended(struct frame *f, const struct io_event *events, long count)
{
	uint64_t moved = 0;

	for (long i = 0; events && i < count; i++) {
		uint64_t link = request_take((const void *)(uintptr_t)events[i].obj);
		int64_t result = events[i].res;

		if (!link)
			continue;
		frame_completed(f, CALL_completed_POSIX, link, result,
				result < 0 ? (int)-result : 0);
		moved += result > 0 ? (uint64_t)result : 0;
	}
	return moved;
}
