/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations are recorded before the call that submits them, so that the thread that finds the
 * result also finds the operation. At that time the kernel has not checked the addresses in them.
 * So vectors, messages and paths are read only if a test shows that their memory is readable.
 * Papers: SIOX-10.
 */
#include "capture/libraries/uring.h"

#include <sys/socket.h>

#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/capture.h"
#include "contract/call.h"
#include "contract/calls.h"

/*
 * The state of a ring, in its handle entry. Several threads may be in calls on one ring: they share
 * the work by advancing these positions.
 */
#define RING_SEEN note	 /* position in the completion ring up to which results were seen */
#define RING_OWNER count /* number of the process that uses it plus 1; 0: ignored */
#define RING_BEGUN \
	more[0] /* position in the submission ring up to which operations were recorded */
#define RING_SPILLED more[1] /* pending operations with a key beyond the first ones */

/* In a list of files to register: removes the index, whereas -2 leaves it unchanged. */
#define FILE_NONE (-1)

/* The kernel's limit, UIO_MAXIOV. */
#define VECTOR_MAX 1024

/*
 * Operations with the same user data are distributed over several keys, because the table has room
 * for a few entries per key only. Even keys are for operations that move bytes. The first key of
 * each kind is always searched, the others only if RING_SPILLED is not 0.
 */
#define KEYS 32
#define FIRST_KEYS 2

/* Which member of an operation holds its size. */
enum size { SIZE_NONE, SIZE_LEN, SIZE_VECTOR, SIZE_MESSAGE, SIZE_ADDR, SIZE_OFF };

/*
 * The kernel's operation codes. Those with call 0 are not I/O: timeouts, polls, futexes, and
 * operations on the ring itself. Unknown codes are recorded as io_uring_other.
 */
static const struct operation {
	uint16_t call;
	uint8_t size; /* enum size */
} operations[] = {
	[0 /* NOP */] = { 0, 0 },
	[1 /* READV */] = { CALL_io_uring_readv, SIZE_VECTOR },
	[2 /* WRITEV */] = { CALL_io_uring_writev, SIZE_VECTOR },
	[3 /* FSYNC */] = { CALL_io_uring_fsync, 0 },
	[4 /* READ_FIXED */] = { CALL_io_uring_read_fixed, SIZE_LEN },
	[5 /* WRITE_FIXED */] = { CALL_io_uring_write_fixed, SIZE_LEN },
	[6 /* POLL_ADD */] = { 0, 0 },
	[7 /* POLL_REMOVE */] = { 0, 0 },
	[8 /* SYNC_FILE_RANGE */] = { CALL_io_uring_sync_file_range, SIZE_LEN },
	[9 /* SENDMSG */] = { CALL_io_uring_sendmsg, SIZE_MESSAGE },
	[10 /* RECVMSG */] = { CALL_io_uring_recvmsg, SIZE_MESSAGE },
	[11 /* TIMEOUT */] = { 0, 0 },
	[12 /* TIMEOUT_REMOVE */] = { 0, 0 },
	[13 /* ACCEPT */] = { CALL_io_uring_accept, 0 },
	[14 /* ASYNC_CANCEL */] = { 0, 0 },
	[15 /* LINK_TIMEOUT */] = { 0, 0 },
	[16 /* CONNECT */] = { CALL_io_uring_connect, 0 },
	[17 /* FALLOCATE */] = { CALL_io_uring_fallocate, SIZE_ADDR },
	[18 /* OPENAT */] = { CALL_io_uring_openat, 0 },
	[19 /* CLOSE */] = { CALL_io_uring_close, 0 },
	[20 /* FILES_UPDATE */] = { 0, 0 },
	[21 /* STATX */] = { CALL_io_uring_statx, 0 },
	[22 /* READ */] = { CALL_io_uring_read, SIZE_LEN },
	[23 /* WRITE */] = { CALL_io_uring_write, SIZE_LEN },
	[24 /* FADVISE */] = { CALL_io_uring_fadvise, SIZE_LEN },
	[25 /* MADVISE */] = { 0, 0 },
	[26 /* SEND */] = { CALL_io_uring_send, SIZE_LEN },
	[27 /* RECV */] = { CALL_io_uring_recv, SIZE_LEN },
	[28 /* OPENAT2 */] = { CALL_io_uring_openat2, 0 },
	[29 /* EPOLL_CTL */] = { 0, 0 },
	[30 /* SPLICE */] = { CALL_io_uring_splice, SIZE_LEN },
	[31 /* PROVIDE_BUFFERS */] = { 0, 0 },
	[32 /* REMOVE_BUFFERS */] = { 0, 0 },
	[33 /* TEE */] = { CALL_io_uring_tee, SIZE_LEN },
	[34 /* SHUTDOWN */] = { CALL_io_uring_shutdown, 0 },
	[35 /* RENAMEAT */] = { CALL_io_uring_renameat, 0 },
	[36 /* UNLINKAT */] = { CALL_io_uring_unlinkat, 0 },
	[37 /* MKDIRAT */] = { CALL_io_uring_mkdirat, 0 },
	[38 /* SYMLINKAT */] = { CALL_io_uring_symlinkat, 0 },
	[39 /* LINKAT */] = { CALL_io_uring_linkat, 0 },
	[40 /* MSG_RING */] = { 0, 0 },
	[41 /* FSETXATTR */] = { CALL_io_uring_other, 0 },
	[42 /* SETXATTR */] = { CALL_io_uring_other, 0 },
	[43 /* FGETXATTR */] = { CALL_io_uring_other, 0 },
	[44 /* GETXATTR */] = { CALL_io_uring_other, 0 },
	[45 /* SOCKET */] = { CALL_io_uring_socket, 0 },
	[46 /* URING_CMD */] = { CALL_io_uring_other, 0 },
	[47 /* SEND_ZC */] = { CALL_io_uring_send, SIZE_LEN },
	[48 /* SENDMSG_ZC */] = { CALL_io_uring_sendmsg, SIZE_MESSAGE },
	[49 /* READ_MULTISHOT */] = { CALL_io_uring_read, SIZE_LEN },
	[50 /* WAITID */] = { 0, 0 },
	[51 /* FUTEX_WAIT */] = { 0, 0 },
	[52 /* FUTEX_WAKE */] = { 0, 0 },
	[53 /* FUTEX_WAITV */] = { 0, 0 },
	[54 /* FIXED_FD_INSTALL */] = { 0, 0 },
	[55 /* FTRUNCATE */] = { CALL_io_uring_ftruncate, SIZE_OFF },
	[56 /* BIND */] = { CALL_io_uring_other, 0 },
	[57 /* LISTEN */] = { CALL_io_uring_other, 0 },
	[58 /* RECV_ZC */] = { CALL_io_uring_recv, SIZE_LEN },
	[59 /* EPOLL_WAIT */] = { 0, 0 },
	[60 /* READV_FIXED */] = { CALL_io_uring_readv, SIZE_VECTOR },
	[61 /* WRITEV_FIXED */] = { CALL_io_uring_writev, SIZE_VECTOR },
};

static struct operation operation_find(const struct uring_sqe *sqe)
{
	static const struct operation other = { CALL_io_uring_other, SIZE_NONE };

	return sqe->opcode < sizeof(operations) / sizeof(operations[0]) ? operations[sqe->opcode]
									: other;
}

/* The upper bits of a key are a hash of its ring, so that all entries of a ring can be dropped. */

#define RING_BITS 20
#define RING_SHIFT 40
#define RING_KEY_MASK (UINT64_MAX << RING_SHIFT)

static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* A ring is identified by its shared memory, because the struct may be copied. */
static uint64_t ring_key(const struct uring_ring *ring)
{
	return handle_key(SPACE_URING, (uintptr_t)ring->cq.khead);
}

static uint64_t part_key(enum space space, const struct uring_ring *ring, uint64_t value)
{
	uint64_t hash = mix_bits((uintptr_t)ring->cq.khead) & ((1u << RING_BITS) - 1);

	return handle_key(space, hash << RING_SHIFT) | (value & ~RING_KEY_MASK);
}

static uint64_t operation_key(const struct uring_ring *ring, uint64_t user_data, unsigned key_index)
{
	return part_key(SPACE_URING_REQUEST, ring, mix_bits(mix_bits(user_data) + key_index));
}

static void part_forget(enum space space, const struct uring_ring *ring)
{
	uint64_t links[64];

	while (handle_table_count(space) &&
	       handle_table_take_all(RING_KEY_MASK, part_key(space, ring, 0), links, 64) == 64)
		;
}

static void operation_keep(struct handle_entry *state, const struct uring_ring *ring,
			   uint64_t user_data, uint64_t link, bool moves)
{
	for (unsigned key_index = moves ? 0 : 1; key_index < KEYS; key_index += 2) {
		if (!handle_table_add(operation_key(ring, user_data, key_index), link))
			continue;
		if (key_index >= FIRST_KEYS)
			atomic_fetch_add_explicit(&state->RING_SPILLED, 1, memory_order_relaxed);
		return;
	}
}

static uint64_t operation_take(struct handle_entry *state, const struct uring_ring *ring,
			       uint64_t user_data, bool *moves)
{
	for (unsigned key_index = 0; key_index < KEYS; key_index++) {
		uint64_t link;

		if (key_index == FIRST_KEYS &&
		    !atomic_load_explicit(&state->RING_SPILLED, memory_order_relaxed))
			return 0;
		link = handle_table_take(operation_key(ring, user_data, key_index));
		if (!link)
			continue;
		if (key_index >= FIRST_KEYS)
			atomic_fetch_sub_explicit(&state->RING_SPILLED, 1, memory_order_relaxed);
		*moves = key_index % 2 == 0;
		return link;
	}
	return 0;
}

static void operations_forget(struct handle_entry *state, const struct uring_ring *ring)
{
	part_forget(SPACE_URING_REQUEST, ring);
	atomic_store_explicit(&state->RING_SPILLED, 0, memory_order_relaxed);
}

static uint64_t file_link(const struct uring_ring *ring, int fd, bool is_index)
{
	if (!is_index)
		return handle_link(fd, 0);
	return handle_entry_link(handle_table_find(part_key(SPACE_URING_FILE, ring, (uint32_t)fd)));
}

/* Removes the descriptor before the close is submitted, because its number may then be reused. */
static uint64_t close_link(const struct uring_ring *ring, const struct uring_sqe *sqe)
{
	if (sqe->splice_fd_in)
		return handle_table_take(
			part_key(SPACE_URING_FILE, ring, (uint32_t)sqe->splice_fd_in - 1));
	return handle_take(sqe->fd);
}

static uint64_t operation_link(const struct uring_ring *ring, const struct uring_sqe *sqe,
			       unsigned call)
{
	if (call == CALL_io_uring_close)
		return close_link(ring, sqe);
	return file_link(ring, sqe->fd, sqe->flags & URING_SQE_FIXED_FILE);
}

#define SPLICE_FD_IN_FIXED (1u << 31)

/* The source of the data, or the directory that a path starts from. */
static uint64_t operation_link2(const struct uring_ring *ring, const struct uring_sqe *sqe,
				unsigned call)
{
	if (call == CALL_io_uring_splice || call == CALL_io_uring_tee)
		return file_link(ring, sqe->splice_fd_in, sqe->op_flags & SPLICE_FD_IN_FIXED);
	return handle_link(sqe->fd, 0);
}

static uint64_t vector_bytes(const void *at, uint64_t count)
{
	const struct iovec *iov = at;

	if (count > VECTOR_MAX || !memory_is_readable(iov, count * sizeof(*iov)))
		return 0;
	return iov_bytes(iov, count, 0);
}

static uint64_t message_bytes(const void *at)
{
	const struct msghdr *msg = at;

	return memory_is_readable(msg, sizeof(*msg)) ? vector_bytes(msg->msg_iov, msg->msg_iovlen)
						     : 0;
}

static uint64_t operation_size(const struct uring_sqe *sqe, enum size size)
{
	switch (size) {
	case SIZE_LEN:
		return sqe->len;
	case SIZE_VECTOR:
		return vector_bytes((const void *)(uintptr_t)sqe->addr, sqe->len);
	case SIZE_MESSAGE:
		return message_bytes((const void *)(uintptr_t)sqe->addr);
	case SIZE_ADDR:
		return sqe->addr;
	case SIZE_OFF:
		return sqe->off;
	default:
		return 0;
	}
}

struct text {
	const char *at;
	size_t length;
};

/* Paths have the order of the system call's arguments: symlinkat has the target first. */
static struct text operation_path(const struct uring_sqe *sqe, unsigned call, enum field field)
{
	bool second = (field == FIELD_PATH2) != (call == CALL_io_uring_symlinkat);
	const char *at = (const char *)(uintptr_t)(second ? sqe->off : sqe->addr);

	return (struct text){ at, path_bytes(at, -1) }; /* -1: it may be unreadable */
}

static uint64_t operation_field(const struct uring_ring *ring, const struct uring_sqe *sqe,
				struct operation op, enum field field)
{
	switch (field) {
	case FIELD_LINK:
		return operation_link(ring, sqe, op.call);
	case FIELD_LINK2:
		return operation_link2(ring, sqe, op.call);
	case FIELD_SIZE:
		return operation_size(sqe, op.size);
	case FIELD_OFFSET:
		return sqe->off;
	case FIELD_FLAGS:
		return op.call == CALL_io_uring_other ? sqe->opcode : sqe->op_flags;
	default: /* MODE */
		return sqe->len;
	}
}

/* The contents of a record. They are collected before the record is begun, because an unknown
 * descriptor first gets an "inherited" record. */
struct draft {
	uint64_t values[CALL_FIELDS_MAX];
	struct text texts[2];
	unsigned value_count, text_count, words;
	enum link_kind kind;
};

static void draft_make(struct draft *d, const struct uring_ring *ring, const struct uring_sqe *sqe,
		       struct operation op)
{
	const struct call_info *info = &call_table[op.call];

	*d = (struct draft){ .words = RECORD_HEAD_WORDS };
	for (unsigned i = 0; i < info->field_count; i++) {
		enum field field = info->fields[i];

		if (field == FIELD_PATH || field == FIELD_PATH2) {
			struct text text = operation_path(sqe, op.call, field);

			d->texts[d->text_count++] = text;
			d->words += text_words(text.length);
			continue;
		}
		d->values[d->value_count++] = operation_field(ring, sqe, op, field);
		d->words++;
		if (field == FIELD_LINK)
			d->kind = link_kind(d->values[d->value_count - 1]);
	}
}

/* Writes the record as a child of the call in f, with the same start. Its LINK word, 0: none. */
static uint64_t draft_write(const struct draft *d, const struct frame *f, unsigned call)
{
	struct frame own;
	uint64_t *w, *text, id;

	if (!frame_enter(&own))
		return 0;
	own.start = own.stop = f->start;
	w = frame_leave(&own, call, d->words, 0);
	memcpy(w + RECORD_HEAD_WORDS, d->values, d->value_count * sizeof(d->values[0]));
	text = w + RECORD_HEAD_WORDS + d->value_count;
	for (unsigned i = 0; i < d->text_count; i++)
		text = frame_text(&own, text, d->texts[i].at, d->texts[i].length);
	frame_commit(&own, w, d->words);
	id = frame_id(&own);
	return id ? link_make(d->kind, id) : 0;
}

/* An operation that opens a file may store it at an index instead of making a descriptor. */
static void index_fill(const struct uring_ring *ring, const struct uring_sqe *sqe, unsigned call,
		       uint64_t link)
{
	enum link_kind kind =
		call == CALL_io_uring_openat || call == CALL_io_uring_openat2  ? LINK_FILE
		: call == CALL_io_uring_accept || call == CALL_io_uring_socket ? LINK_NETWORK
									       : LINK_UNKNOWN;

	if (kind != LINK_UNKNOWN && sqe->splice_fd_in > 0)
		handle_table_put(part_key(SPACE_URING_FILE, ring, (uint32_t)sqe->splice_fd_in - 1),
				 link_make(kind, link & ID_MASK));
}

static void record_operation(struct uring_watch *watch, const struct uring_sqe *sqe)
{
	struct operation op = operation_find(sqe);
	struct draft draft;
	uint64_t link;

	if (!op.call)
		return;
	draft_make(&draft, watch->ring, sqe, op);
	link = draft_write(&draft, watch->f, op.call);
	if (!link)
		return;
	watch->found = true;
	index_fill(watch->ring, sqe, op.call, link);
	if (!(sqe->flags & URING_SQE_SKIP_SUCCESS))
		operation_keep(watch->state, watch->ring, sqe->user_data, link,
			       op.size != SIZE_NONE);
}

/*
 * Records the operations up to `end`. It starts at the head before the call: operations before it
 * were submitted by a function that is not wrapped. Those before RING_BEGUN are recorded already.
 */
static void record_operations(struct uring_watch *watch, uint32_t end)
{
	const struct uring_ring *ring = watch->ring;
	uint32_t mask = *ring->sq.kring_mask;
	unsigned shift = ring->flags & URING_SETUP_SQE128 ? 1 : 0;
	uint64_t begun = atomic_load_explicit(&watch->state->RING_BEGUN, memory_order_relaxed);

	for (;;) {
		uint32_t at = (uint32_t)begun;

		if ((int32_t)(watch->head - at) > 0)
			at = watch->head;
		if ((int32_t)(end - at) <= 0 || end - at > mask + 1)
			return;
		if (atomic_compare_exchange_strong_explicit(&watch->state->RING_BEGUN, &begun,
							    (uint64_t)at + 1, memory_order_relaxed,
							    memory_order_relaxed)) {
			record_operation(watch, &ring->sq.sqes[(at & mask) << shift]);
			begun = (uint64_t)at + 1;
		}
	}
}

static void record_result(struct uring_watch *watch, const struct uring_cqe *cqe)
{
	bool moves = false;
	uint64_t link = operation_take(watch->state, watch->ring, cqe->user_data, &moves);

	if (!link)
		return;
	if (cqe->flags & URING_CQE_MORE)
		operation_keep(watch->state, watch->ring, cqe->user_data, link, moves);
	if (cqe->flags & URING_CQE_NOTIF)
		return;
	frame_completed(watch->f, CALL_completed_POSIX, link, cqe->res,
			cqe->res < 0 ? -cqe->res : 0);
	watch->found = true;
	watch->moved += moves && cqe->res > 0 ? (uint64_t)cqe->res : 0;
}

/*
 * Records the results since RING_SEEN. They stay readable after the program has taken them, until
 * the kernel overwrites them. If some were overwritten, all pending operations are dropped:
 * programs reuse user data, so a later result could be assigned to a wrong operation.
 */
static void record_results(struct uring_watch *watch)
{
	const struct uring_ring *ring = watch->ring;
	uint32_t entries = *ring->cq.kring_entries, mask = *ring->cq.kring_mask, tail, at;
	unsigned shift = ring->flags & URING_SETUP_CQE32 ? 1 : 0;
	struct uring_cqe cqe;
	uint64_t met;

	for (;;) {
		met = atomic_load_explicit(&watch->state->RING_SEEN, memory_order_relaxed);
		at = (uint32_t)met;
		/* Pairs with the kernel's release of new results. */
		tail = __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE);
		if ((int32_t)(tail - at) <= 0)
			return;
		if (tail - at > entries) {
			/* Another thread may have recorded them since. */
			if (atomic_load(&watch->state->RING_SEEN) != met)
				continue;
			operations_forget(watch->state, ring);
			atomic_compare_exchange_strong(&watch->state->RING_SEEN, &met,
						       (uint64_t)(tail - entries));
			continue;
		}
		cqe = ring->cq.cqes[(at & mask) << shift];
		atomic_thread_fence(memory_order_acquire);
		/* The kernel may have overwritten it meanwhile. */
		if (__atomic_load_n(ring->cq.ktail, __ATOMIC_RELAXED) - at > entries)
			continue;
		if (atomic_compare_exchange_strong(&watch->state->RING_SEEN, &met,
						   (uint64_t)(at + 1u)))
			record_result(watch, &cqe);
	}
}

static uint64_t process_number(void)
{
	return (uint64_t)capture_membership.number + 1;
}

/* Starts at the current positions; earlier operations belong to another process. */
static void state_start(struct handle_entry *state, const struct uring_ring *ring)
{
	atomic_store(&state->RING_SEEN, __atomic_load_n(ring->cq.ktail, __ATOMIC_ACQUIRE));
	atomic_store(&state->RING_BEGUN, ring->sq.sqe_head);
	atomic_store(&state->RING_OWNER, process_number());
}

static bool is_within(const void *at, const void *start, size_t bytes)
{
	return (uintptr_t)at - (uintptr_t)start < bytes;
}

/* Does the struct have the expected layout? Then its pointers lie in its mappings. */
static bool ring_fits(const struct uring_ring *ring)
{
	return !(ring->flags & ~URING_SETUP_KNOWN) &&
	       is_within(ring->sq.khead, ring->sq.ring_ptr, ring->sq.ring_sz) &&
	       is_within(ring->sq.kring_mask, ring->sq.ring_ptr, ring->sq.ring_sz) &&
	       is_within(ring->cq.ktail, ring->cq.ring_ptr, ring->cq.ring_sz) &&
	       is_within(ring->cq.kring_mask, ring->cq.ring_ptr, ring->cq.ring_sz) &&
	       is_within(ring->cq.cqes, ring->cq.ring_ptr, ring->cq.ring_sz);
}

void uring_made(const struct frame *f, const struct io_uring *made, int err)
{
	const struct uring_ring *ring = (const struct uring_ring *)made;
	uint64_t id = frame_id(f);
	struct handle_entry *state;

	if (err || !id || !ring_fits(ring))
		return;
	state = handle_table_put(ring_key(ring), link_make(LINK_UNKNOWN, id));
	if (state)
		state_start(state, ring);
}

/* A forked child shares the ring with its parent; operations of the parent are dropped in it. */
static struct handle_entry *ring_state(const struct uring_ring *ring)
{
	struct handle_entry *state =
		handle_table_count(SPACE_URING) ? handle_table_find(ring_key(ring)) : NULL;
	uint64_t owner = state ? atomic_load(&state->RING_OWNER) : 0;

	if (owner && unlikely(owner != process_number())) {
		operations_forget(state, ring);
		state_start(state, ring);
	}
	return owner ? state : NULL;
}

struct uring_watch uring_watch(struct frame *f, const struct io_uring *watched)
{
	const struct uring_ring *ring = (const struct uring_ring *)watched;
	struct uring_watch watch = { .f = f, .ring = ring, .state = ring_state(ring) };

	f->stop = f->start;
	if (watch.state) {
		watch.head = ring->sq.sqe_head;
		record_results(&watch);
	}
	return watch;
}

struct uring_watch uring_submits(struct frame *f, const struct io_uring *ring)
{
	struct uring_watch watch = uring_watch(f, ring);
	int saved = errno;

	if (watch.state)
		record_operations(&watch, watch.ring->sq.sqe_tail);
	errno = saved;
	return watch;
}

bool uring_watched(struct uring_watch *watch)
{
	if (!watch->state)
		return false;
	record_operations(watch, watch->ring->sq.sqe_head);
	record_results(watch);
	return watch->found;
}

void uring_ends(struct uring_watch *watch)
{
	if (!watch->state)
		return;
	operations_forget(watch->state, watch->ring);
	part_forget(SPACE_URING_FILE, watch->ring);
	handle_table_take(ring_key(watch->ring));
}

void uring_files(const struct io_uring *of, unsigned first, const int *files, unsigned count,
		 int err)
{
	const struct uring_ring *ring = (const struct uring_ring *)of;

	if (err || !ring_state(ring))
		return;
	for (unsigned i = 0; i < count; i++) {
		uint64_t key = part_key(SPACE_URING_FILE, ring, first + i);

		if (files[i] >= 0)
			handle_table_put(key, handle_link(files[i], 0));
		else if (files[i] == FILE_NONE)
			handle_table_take(key);
	}
}

void uring_files_end(const struct io_uring *ring, int err)
{
	if (!err)
		part_forget(SPACE_URING_FILE, (const struct uring_ring *)ring);
}
