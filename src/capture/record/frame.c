/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The out-of-line parts of the hot path: entering while the gate is not open, and changing chunks.
 */
#include "capture/record/frame.h"

#include <errno.h>
#include <signal.h>

#include "capture/record/capture.h"
#include "capture/record/cost.h"
#include "capture/record/hooks.h"
#include "capture/record/kernel.h"
#include "capture/record/old_libc.h"
#include "capture/record/sandbox.h"
#include "capture/record/site.h"
#include "contract/call.h"
#include "contract/calls.h"

/* In counters mode, the control page is read for a change of mode once in this many calls. */
#define FOLLOW_CALLS 64
/* Calls to wait after a failed search for a chunk before the next search. */
#define STARVED_CALLS 32

static struct gate detached;
struct gate *capture_gate = &detached;
__thread struct self capture_self TLS_FAST;

/* PTHREAD_KEY_2NDLEVEL_SIZE of glibc */
#define FIRST_BLOCK_KEYS 32

static pthread_key_t leave_key;
static bool leave_key_made;

/*
 * A handler that leaves guest code by longjmp leaves level raised, and the interrupted frame is
 * below any live one. On an alternate signal stack addresses cannot be compared; there level is
 * trusted.
 */
static bool level_is_stale(const struct self *s, const struct frame *f)
{
	const void *at = s->lanes[s->level - 1].current_at;
	stack_t stack;

	if (s->level > LANES || !at || (uintptr_t)at > (uintptr_t)f || sandbox_is_sealed())
		return false;
	return kernel_call(SYS_sigaltstack, NULL, &stack) == 0 && !(stack.ss_flags & SS_ONSTACK);
}

bool frame_enter_slow(struct frame *f)
{
	struct self *s = &capture_self;
	uint32_t level;

	if (s->vforked)
		return false;
	if (frame_mode() == CAPTURE_DETACHED && !attach())
		return false;
	if (frame_mode() < CAPTURE_COUNTERS)
		return false;
	while (s->level && level_is_stale(s, f))
		s->level--;
	level = s->level;
	if (level >= LANES) {
		count_lost_record(LOSS_NESTED);
		return false;
	}
	if (frame_mode() == CAPTURE_COUNTERS)
		s->lanes[level].limit = NULL;
	frame_begin(f, s, level);
	f->start = clock_ticks(capture_gate->clock);
	return true;
}

/* Adds what the thread has counted so far to the spool's header. */
static void flush_accounts(struct self *s)
{
	for (int i = 0; i < LANES; i++)
		cost_flush(s, &s->lanes[i], 0);
	record_hooks.flush(s);
}

/* The thread ends: gives its chunks to the collector. If a later destructor makes a call, it gets a
 * new chunk. */
static void thread_leave(void *unused)
{
	struct self *s = &capture_self;

	(void)unused;
	s->armed = false;
	/* In a forked child that has not attached, the chunks are those of the parent. */
	if (frame_mode() == CAPTURE_DETACHED)
		return;
	s->level++;
	signal_fence();
	for (int i = 0; i < LANES; i++)
		spool_yield(&s->lanes[i]);
	flush_accounts(s);
	signal_fence();
	s->level--;
}

/* The destructor thread_leave() does not run in the thread that ends the process. */
__attribute__((destructor)) static void process_leave(void)
{
	if (!capture_self.vforked)
		flush_accounts(&capture_self);
}

__attribute__((constructor(101))) static void create_leave_key(void)
{
	/* With an old libc, a program that has not loaded libpthread has no threads. */
	if (libc_has(pthread_key_create) && libc_has(pthread_setspecific))
		leave_key_made = pthread_key_create(&leave_key, thread_leave) == 0;
}

/* glibc stores keys below FIRST_BLOCK_KEYS in the thread itself, so setting one allocates nothing.
 */
static void thread_arm_destructor(struct self *s)
{
	if (s->armed || !leave_key_made || leave_key >= FIRST_BLOCK_KEYS)
		return;
	s->armed = pthread_setspecific(leave_key, s) == 0;
}

bool lane_number(struct self *s, struct lane *l)
{
	struct spool_header *h = capture_membership.header;
	uint32_t number;

	if (l->numbered)
		return true;
	if (!s->tid && !sandbox_is_sealed())
		s->tid = (int32_t)kernel_call(SYS_gettid);
	number = atomic_fetch_add(&h->threads, 1);
	if (number > ID_THREAD_MAX) {
		atomic_fetch_sub(&h->threads, 1);
		atomic_fetch_add(&h->lost_threads, 1);
		l->cause = LOSS_THREADS;
		return false;
	}
	l->thread = number;
	l->numbered = true;
	return true;
}

/* In counters mode only calls that make handles are recorded, because they name the files of the
 * counters, and the parameters that files were opened with. */
#define HANDLE_CLASSES (1u << CLASS_OPEN | 1u << CLASS_DUP | 1u << CLASS_CONNECT)

INLINE bool is_recorded(uint32_t mode, unsigned call)
{
	return mode == CAPTURE_TRACE || HANDLE_CLASSES >> call_table[call].class & 1 ||
	       (call >= CALL_MPI_File_parameters && call <= CALL_posix_parameters);
}

/* Reads the mode from the control page and updates the gate. */
static uint32_t mode_update(void)
{
	uint32_t mode =
		atomic_load_explicit(&capture_membership.control->mode, memory_order_relaxed);
	uint32_t seen = frame_mode();

	/* OFF is final: the program may have lost its clock. */
	if (seen == CAPTURE_OFF)
		return seen;
	/* By compare-and-swap: a child that a handler forks here must find the gate detached. */
	if (mode != seen && seen != CAPTURE_DETACHED)
		atomic_compare_exchange_strong(&capture_gate->mode, &seen, mode);
	return mode;
}

/* Gets a new chunk for the lane. A failed search is expensive and is not repeated at once. */
static bool lane_get_chunk(struct lane *l)
{
	struct self *s = &capture_self;
	struct signals_held held;
	uint64_t start;
	bool fed;

	if (l->starved) {
		l->starved--;
		return false;
	}
	start = cost_cpu_ticks();
	held = signals_hold();
	spool_yield(l);
	thread_arm_destructor(s);
	fed = spool_claim(l);
	site_follow(&capture_membership);
	if (fed)
		cost_measure(s, l->chunk);
	else
		l->starved = STARVED_CALLS;
	l->cause = fed ? LOSS_UNKNOWN : (uint8_t)spool_failure();
	signals_release(held);
	cost_flush(s, l, cost_cpu_ticks() - start);
	s->hooks.not_before = clock_ticks(capture_gate->clock);
	return fed;
}

uint64_t *frame_refill(struct frame *f, unsigned call, unsigned words)
{
	struct lane *l = f->lane;
	bool owns = l->numbered && l->chunk; /* not after a fork: the chunk may be the parent's */
	uint32_t mode = CAPTURE_DETACHED, used;

	/* The common case in counters mode; the control page is read now and then only. */
	if (likely(frame_mode() == CAPTURE_COUNTERS && !is_recorded(CAPTURE_COUNTERS, call) &&
		   f->seq % FOLLOW_CALLS))
		return f->scratch;
	l->limit = NULL;
	/* Detached: this is a forked child, and the call is recorded in the parent. */
	if (frame_mode() != CAPTURE_DETACHED)
		mode = mode_update();
	if (mode < CAPTURE_COUNTERS || !is_recorded(mode, call) || !lane_number(&capture_self, l))
		return f->scratch;
	used = owns ? atomic_load_explicit(&l->chunk->committed, memory_order_relaxed)
		    : CHUNK_WORDS;
	if (used + words > CHUNK_WORDS) {
		if (!lane_get_chunk(l))
			return f->scratch;
		used = 0;
	}
	l->write = l->chunk->words + used;
	if (mode == CAPTURE_TRACE)
		l->limit = l->chunk->words + CHUNK_WORDS;
	return l->write;
}

void frame_count(struct frame *f)
{
	uint32_t mode = frame_mode();

	if (mode >= CAPTURE_COUNTERS) {
		unsigned call = record_call(f->scratch);

		if (is_recorded(mode, call))
			count_lost_record(f->lane->cause);
		counters_add(&capture_self, f);
		if (mode == CAPTURE_COUNTERS)
			cost_count(&capture_self, f);
		/* The following hooks are not charged for the time until now. */
		if (frame_watched(call_table[call].layer, call_table[call].class))
			capture_self.hooks.not_before = clock_ticks(capture_gate->clock);
	}
	f->seq = 0;
}

void frame_completed(const struct frame *wait, unsigned call, uint64_t link, int64_t result,
		     int error)
{
	uint64_t enclosing, *w;
	struct frame f;

	if (!wait->seq || !frame_enter(&f))
		return;
	f.start = f.stop = wait->stop;
	enclosing = f.parent;
	f.parent = f.lane == wait->lane ? wait->seq : 0;
	w = frame_leave(&f, call, RECORD_HEAD_WORDS + 2, error);
	f.parent = enclosing;
	w[4] = (uint64_t)result;
	w[5] = link;
	frame_commit(&f, w, RECORD_HEAD_WORDS + 2);
}

/* vfork.S jumps here if the system call fails. */
__attribute__((visibility("hidden"))) long vfork_failed(long result);

long vfork_failed(long result)
{
	errno = (int)-result;
	return -1;
}
