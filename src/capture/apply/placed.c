/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/placed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include "capture/apply/weighted_rotation.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"

#define FIRST_BYTES (UINT64_C(1) << 20)	   /* the expected size of the first file */
#define STEP_PAUSE_NS UINT64_C(1000000000) /* a step ends with a pause of this length */
#define STORED 0x8000u /* bit of a descriptor: writes return when the data is stored */

_Static_assert(BACKLOG_FILES < STORED, "the numbers of files do not fit");

/* Calls must cover at least this part of the time from the first cached write to the end of the
 * fsync(); else the kernel may have written between them. */
#define COVERED 0.8

static struct backlog *backlog;

/* The process whose files `placed` has: after a fork, the parent until the child forgets them. */
static _Atomic int32_t holder;

/* By descriptor: the number of the file in the backlog + 1, and STORED; 0: it is not placed. */
static _Atomic uint16_t placed[PLACED_DESCRIPTORS];

/*
 * Cached writes to a file that were not synchronized yet, by the number of the file. The entries of
 * files that this process has not created are not used.
 */
static struct transfer {
	_Atomic uint64_t begin_ns; /* 0: there are none */
	_Atomic uint64_t called_ns, bytes;
	_Atomic uint32_t destination; /* of the file */
} transfers[BACKLOG_FILES];

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int32_t own_pid(void)
{
	return (int32_t)kernel_call(SYS_getpid);
}

static struct control_placement *placement(void)
{
	return &capture_membership.control->placement;
}

static struct backlog *map_backlog(void)
{
	long directory = membership_directory_open(&capture_membership);
	struct backlog *mapped;

	if (directory < 0)
		return NULL;
	mapped = file_map(directory, BACKLOG_NAME, sizeof(*mapped));
	kernel_call(SYS_close, directory);
	if (!mapped || mapped->magic == BACKLOG_MAGIC)
		return mapped;
	kernel_call(SYS_munmap, mapped, sizeof(*mapped));
	return NULL;
}

void placed_join(void)
{
	uint32_t count = placement()->count;

	if (!rules_has(PLACE_LAYOUT) || !count || count > PARAMETERS_DESTINATIONS)
		return;
	if (!backlog)
		backlog = map_backlog();
	if (!backlog)
		return;
	/* A forked child joins with its first record, and may have created a file before. */
	if (atomic_exchange(&holder, own_pid()) != own_pid())
		backlog_remove_process(backlog, own_pid(), now_ns());
	rules_places |= RULES_PLACED;
}

void placed_forget(void)
{
	int32_t pid;

	/* In a sandbox it is off, too: the system call may be forbidden. */
	if (!placed_is_on())
		return;
	pid = own_pid();
	/* Not after the child has created a file: see placed_join(). */
	if (atomic_exchange(&holder, pid) == pid)
		return;
	for (int i = 0; i < PLACED_DESCRIPTORS; i++)
		if (placed[i])
			placed[i] = 0;
}

/* Is this a forked child that has neither joined nor created a file? */
static bool is_forked(void)
{
	return frame_mode() == CAPTURE_DETACHED && holder != own_pid();
}

/* A process that has ended but was not waited for is dead, too. */
static bool is_alive(int32_t pid)
{
	long fd = kernel_call(SYS_pidfd_open, pid, 0);
	struct pollfd ended = { .fd = (int)fd, .events = POLLIN };
	struct timespec none = { 0 };
	long n;

	if (fd < 0)
		return fd != -ESRCH;
	n = kernel_call(SYS_ppoll, &ended, 1, &none, 0, 0);
	kernel_call(SYS_close, fd);
	return n != 1;
}

/* Leaves the burst of the step that has ended in the control page, if it is complete. */
static void end_burst(struct control_placement *p, uint32_t destination)
{
	struct burst_total total;
	uint32_t n;

	if (!burst_take(&p->bursts[destination], &total))
		return;
	total.destination = destination;
	n = atomic_fetch_add_explicit(&p->total_count, 1, memory_order_relaxed);
	p->totals[n % PLACEMENT_TOTALS] = total;
}

/* Begins a new step after a pause, or after a mark of the program. */
static void begin_step(struct control_placement *p, uint64_t now)
{
	uint64_t last = atomic_exchange_explicit(&p->last_ns, now, memory_order_relaxed);
	uint64_t mark = atomic_load_explicit(&p->mark, memory_order_relaxed);
	uint64_t begun = atomic_load_explicit(&p->begun, memory_order_relaxed);

	if (mark == begun && last && now < last + STEP_PAUSE_NS)
		return;
	/* Only one process begins the step of a mark. */
	if (mark != begun && !atomic_compare_exchange_strong(&p->begun, &begun, mark))
		return;
	atomic_fetch_add_explicit(&p->steps, 1, memory_order_relaxed);
	for (uint32_t i = 0; i < p->count; i++) {
		atomic_store_explicit(&p->step_files[i], 0, memory_order_relaxed);
		end_burst(p, i);
	}
}

/* The mean size of the files so far. */
static uint64_t expected_bytes(const struct control_placement *p)
{
	uint64_t files = atomic_load_explicit(&p->closed_files, memory_order_relaxed);
	uint64_t bytes = atomic_load_explicit(&p->closed_bytes, memory_order_relaxed);

	if (!files)
		return FIRST_BYTES;
	return bytes / files ? bytes / files : 1;
}

/* Is the list placed by the backlog? */
static bool is_placed_list(const struct parameters_line *rule)
{
	return rules_places & RULES_PLACED &&
	       parameters_destinations_key(rule->value) == placement()->list;
}

/* The question for the destination of a new file. */
static struct backlog_choice make_choice(const struct control_placement *p)
{
	return (struct backlog_choice){ .count = p->count,
					.targets = p->targets,
					.weights = p->weights,
					.bytes = expected_bytes(p),
					.now_ns = now_ns(),
					.most = p->most,
					.least = p->least,
					.files = p->step_files,
					.is_alive = is_alive };
}

struct backlog_file *placed_choose(const struct parameters_line *rule, uint64_t *turn,
				   struct backlog_view *view)
{
	struct control_placement *p = placement();
	struct backlog_choice choice;
	unsigned chosen;

	if (!is_placed_list(rule))
		return NULL;
	placed_forget();
	choice = make_choice(p);
	choice.turn = *turn;
	begin_step(p, choice.now_ns);
	chosen = backlog_choose(backlog, &choice, view);
	*turn = WEIGHTED_ROTATION_INDEX | chosen;
	return backlog_add_file(backlog, p->targets[chosen], own_pid(), choice.bytes,
				choice.now_ns);
}

bool placed_shares(const struct parameters_line *rule, double shares[PARAMETERS_DESTINATIONS],
		   struct backlog_view *view)
{
	struct backlog_choice choice;

	if (!is_placed_list(rule))
		return false;
	placed_forget();
	choice = make_choice(placement());
	backlog_shares(backlog, &choice, view, shares);
	return true;
}

void placed_cancel(struct backlog_file **file)
{
	if (*file)
		backlog_remove_file(backlog, *file, now_ns());
	*file = NULL;
}

void placed_open(struct backlog_file *file, uint64_t turn, int fd, int flags)
{
	struct control_placement *p = placement();
	uint64_t chosen = turn & ~WEIGHTED_ROTATION_INDEX;
	bool is_stored = flags & (O_DIRECT | O_SYNC | O_DSYNC);

	if (!(turn & WEIGHTED_ROTATION_INDEX) || chosen >= p->count)
		return;
	atomic_fetch_add_explicit(&p->step_files[chosen], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->files[chosen], 1, memory_order_relaxed);
	if (!file)
		return;
	if (fd >= PLACED_DESCRIPTORS) {
		/* Nothing of what is written to it will be known. */
		burst_spoil(&p->bursts[chosen], now_ns());
		placed_cancel(&file);
		return;
	}
	atomic_store(&transfers[file - backlog->files].begin_ns, 0);
	atomic_store(&transfers[file - backlog->files].bytes, 0);
	atomic_store(&transfers[file - backlog->files].called_ns, 0);
	atomic_store(&transfers[file - backlog->files].destination, (uint32_t)chosen);
	placed[fd] = (uint16_t)((file - backlog->files) + 1) | (is_stored ? STORED : 0);
}

static struct transfer *transfer_of(const struct backlog_file *file)
{
	return &transfers[file - backlog->files];
}

static struct burst *burst_of(const struct backlog_file *file)
{
	return &placement()->bursts[transfer_of(file)->destination];
}

/* Before a call. A cached write may be the first of a transfer. */
static void begin_transfer(const struct backlog_file *file, enum backlog_call call, uint64_t now)
{
	uint64_t none = 0;

	if (call == BACKLOG_STORED_WRITE ||
	    (call == BACKLOG_CACHED_WRITE &&
	     atomic_compare_exchange_strong(&transfer_of(file)->begin_ns, &none, now)))
		burst_begin(burst_of(file), now);
}

/* Everything that was written before is stored. */
static void end_transfer(const struct backlog_file *file, uint64_t now)
{
	struct transfer *transfer = transfer_of(file);
	uint64_t begin = atomic_exchange(&transfer->begin_ns, 0);
	uint64_t bytes = atomic_exchange(&transfer->bytes, 0);
	uint64_t called = atomic_exchange(&transfer->called_ns, 0);

	if (!begin)
		return;
	if ((double)called < COVERED * (double)(now - begin))
		burst_spoil(burst_of(file), now);
	burst_end(burst_of(file), bytes, now);
}

/* What was written is not known to be stored. */
static void drop_transfer(const struct backlog_file *file, uint64_t now)
{
	if (!atomic_exchange(&transfer_of(file)->begin_ns, 0))
		return;
	burst_spoil(burst_of(file), now);
	burst_end(burst_of(file), 0, now);
}

/* After a call, with its result as in placed_end(). */
static void note_call(const struct placed_call *call, int64_t result, uint64_t now)
{
	struct transfer *transfer = transfer_of(call->file);
	uint64_t bytes = result > 0 ? (uint64_t)result : 0;

	if (result < 0)
		burst_spoil(burst_of(call->file), now);
	atomic_fetch_add_explicit(&transfer->called_ns, now - call->begin_ns, memory_order_relaxed);
	if (call->call == BACKLOG_STORED_WRITE)
		burst_end(burst_of(call->file), bytes, now);
	else if (call->call == BACKLOG_CACHED_WRITE)
		atomic_fetch_add_explicit(&transfer->bytes, bytes, memory_order_relaxed);
	else if (call->call == BACKLOG_SYNC)
		end_transfer(call->file, now);
}

static struct backlog_file *file_of(uint16_t entry)
{
	unsigned number = entry & ~STORED;

	return number && number <= BACKLOG_FILES ? &backlog->files[number - 1] : NULL;
}

/* Takes a descriptor away from its file. Returns the file if that was the last one. A forked child
 * that has not joined yet must not release the files of its parent. */
static struct backlog_file *drop_descriptor(int fd)
{
	struct backlog_file *file = file_of(atomic_exchange(&placed[fd], 0));

	if (!file || (int32_t)(file->owner >> 32) != own_pid())
		return NULL;
	return atomic_fetch_sub(&file->references, 1) == 1 ? file : NULL;
}

static uint64_t written_bytes(const struct backlog_file *file)
{
	return atomic_load_explicit(&file->written, memory_order_relaxed);
}

/* Counts the file, which has this size when it is closed, for its target and for the size of the
 * next files. Bytes that no measured call has written are in the cache. */
static void count_file(struct backlog_file *file, uint64_t size)
{
	struct control_placement *p = placement();
	uint32_t target = atomic_load_explicit(&file->target, memory_order_relaxed);
	uint64_t written = written_bytes(file);

	if (size > written) {
		atomic_fetch_add_explicit(&file->cached, size - written, memory_order_relaxed);
		burst_spoil(burst_of(file), now_ns());
	}
	drop_transfer(file, now_ns());
	atomic_fetch_add_explicit(&p->closed_files, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->closed_bytes, size, memory_order_relaxed);
	for (uint32_t i = 0; i < p->count; i++)
		if (p->targets[i] == target)
			atomic_fetch_add_explicit(&p->bytes[i], size, memory_order_relaxed);
}

/* Takes a descriptor that is being closed away from its file. Returns the file, which is counted,
 * if that was the last descriptor. */
static struct backlog_file *close_descriptor(int fd)
{
	struct backlog_file *file = drop_descriptor(fd);
	struct stat st = { 0 };
	bool is_known;

	if (!file)
		return NULL;
	is_known = kernel_call(SYS_fstat, fd, &st) == 0;
	count_file(file, is_known ? (uint64_t)st.st_size : written_bytes(file));
	return file;
}

void placed_yield(int fd)
{
	struct control_placement *p = placement();
	struct backlog_file *file;
	uint32_t destination;

	if (!placed_is_on() || (unsigned)fd >= PLACED_DESCRIPTORS || is_forked())
		return;
	file = drop_descriptor(fd);
	if (!file)
		return;
	destination = transfer_of(file)->destination;
	drop_transfer(file, now_ns());
	atomic_fetch_sub_explicit(&p->files[destination], 1, memory_order_relaxed);
	backlog_remove_file(backlog, file, now_ns());
}

void placed_begin_slow(struct placed_call *call, uint64_t bytes)
{
	uint16_t entry;

	if ((unsigned)call->fd >= PLACED_DESCRIPTORS || capture_self.vforked)
		return;
	entry = placed[call->fd];
	if (!entry || is_forked())
		return;
	if (call->call == BACKLOG_CLOSE) {
		/* Before the real close, as another thread may get the same number right after. */
		call->file = close_descriptor(call->fd);
	} else {
		call->file = file_of(entry);
	}
	if (call->call == BACKLOG_CACHED_WRITE && entry & STORED)
		call->call = BACKLOG_STORED_WRITE;
	if (!call->file)
		return;
	call->begin_ns = now_ns();
	backlog_begin_call(call->file, call->call, bytes, call->begin_ns);
	begin_transfer(call->file, call->call, call->begin_ns);
}

void placed_end_slow(struct placed_call *call, int64_t result)
{
	uint64_t now = now_ns();

	note_call(call, result, now);
	backlog_end_call(backlog, call->file, call->call, result > 0 ? (uint64_t)result : 0,
			 call->begin_ns, now);
	if (call->call == BACKLOG_CLOSE)
		backlog_remove_file(backlog, call->file, now);
	atomic_store_explicit(&placement()->last_ns, now, memory_order_relaxed);
}

void placed_copy_slow(int fd, int to)
{
	struct backlog_file *file;

	if (fd == to || (unsigned)fd >= PLACED_DESCRIPTORS || (unsigned)to >= PLACED_DESCRIPTORS ||
	    capture_self.vforked || is_forked())
		return;
	/* The file that `to` was before cannot be asked for its size any more. */
	file = drop_descriptor(to);
	if (file) {
		count_file(file, written_bytes(file));
		backlog_remove_file(backlog, file, now_ns());
	}
	file = file_of(placed[fd]);
	if (!file)
		return;
	atomic_fetch_add(&file->references, 1);
	placed[to] = placed[fd];
}

void placed_close_range_slow(unsigned first, unsigned last)
{
	if (capture_self.vforked || is_forked())
		return;
	for (unsigned fd = first; fd <= last && fd < PLACED_DESCRIPTORS; fd++) {
		struct backlog_file *file = placed[fd] ? close_descriptor((int)fd) : NULL;

		if (file)
			backlog_remove_file(backlog, file, now_ns());
	}
}
