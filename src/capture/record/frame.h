/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hot path: the code that every generated wrapper runs around the real call. Guest.
 *
 *	struct frame f;
 *	if (!frame_enter(&f))
 *		return the real call;
 *	ret = the real call;
 *	frame_stop(&f);
 *	w = frame_leave(&f, CALL_x, words, error);
 *	w[4], w[5], ... = fields;
 *	frame_commit(&f, w, words);
 *	if (frame_watched(LAYER_x, CLASS_x))
 *		inline_after(&f, CALL_x, ...);
 *
 * It reads the clock twice and writes one record, without a lock, a system call or an allocation. A
 * thread writes to the chunk of its lane. `level` is 1 exactly while guest code is between two
 * stores that belong together. A signal handler that interrupts the guest there sees it and records
 * into the thread's second lane, which has its own thread number. While the real call runs, level
 * is 0: calls that the real call or a handler makes are recorded as its children.
 *
 * Nothing here changes errno.
 * Papers: SIOX-26.
 */
#ifndef SLUICE_CAPTURE_RECORD_FRAME_H
#define SLUICE_CAPTURE_RECORD_FRAME_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "contract/call.h"
#include "contract/clock.h"
#include "contract/spool.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define TLS_FAST __attribute__((tls_model("initial-exec")))

/* The place of an activity that a program has begun (capture/api): above the frames of all calls.
 */
#define FRAME_REGION ((const void *)UINTPTR_MAX)

#define FRAME_SCRATCH_WORDS (RECORD_HEAD_WORDS + RECORD_FIXED_MAX)

struct lane {
	uint64_t *write; /* place of the next record */
	uint64_t *limit; /* end of the chunk; NULL forces frame_refill() */
	struct chunk *chunk;
	uint64_t seq;		/* sequence number of the last call that began */
	uint64_t current;	/* seq of the innermost call that has not ended, 0: none */
	const void *current_at; /* stack address of its frame, or FRAME_REGION */
	uint32_t thread;	/* number of the thread; valid once numbered is set */
	uint64_t costed;	/* seq up to which the overhead is in the spool's header */
	uint32_t starved;	/* calls to skip before the next attempt to get a chunk */
	bool numbered;
	uint8_t cause; /* enum loss_cause: why the lane has no chunk */
};

/* Lane 0 is for the thread itself, lane 1 for signal handlers that interrupt guest code. */
#define LANES 2

/* The innermost current call to a function with two names (MPI_X and PMPI_X), and its frame. */
struct calling {
	uint32_t call;
	const void *at;
};

/* A cache of the slots in which a lane has counted calls recently; see counters.c. */
#define COUNTING_WAYS 4
struct counting {
	uint64_t key, whose;
	struct counters_slot *slot; /* NULL: the entry is empty */
};

/* Calls of a plug-in's hooks in this thread that are not yet in the spool's header. */
struct hook_account {
	uint64_t calls, acts, ticks, worst; /* worst: ticks of the longest call */
};

/* The state of in-line plug-ins in a thread. It belongs to inline/host.c. */
struct hook_state {
	const void *volatile at; /* frame of the call whose hooks are running; NULL: none */
	uint64_t not_before;   /* end of the guest's slow work after a call, which hooks must not be
			    charged   for */
	uint64_t kernel_ticks; /* ticks that the running hook has spent in the kernel */
	uint32_t calls, limit; /* hook calls since the last flush; flush when calls == limit */
	struct hook_account accounts[CONTROL_PLUGINS];
};

#define SELF_RECORDS 16

struct self {
	volatile uint32_t vforked; /* not 0 in a child of vfork, which runs in its parent's thread;
				      must be the first member: see vfork.S */
	volatile uint32_t level;   /* number of lanes that guest code is using now */
	struct lane lanes[LANES];
	int32_t tid;
	bool armed; /* the destructor thread_leave() will run */
	struct calling calling;
	uint64_t moved;	       /* bytes moved by HDF5 calls so far, for libraries on top of HDF5 */
	uint64_t walked;       /* link of the location whose objects an HDF5 call iterates over */
	uint64_t record_ticks; /* overhead of SELF_RECORDS records; see cost.h */
	struct hook_state hooks;
	struct counting counting[LANES][COUNTING_WAYS];
} __attribute__((aligned(64))); /* the flags and lane 0 share a cache line */

/* In a page that fork wipes: in the child of any kind of fork the mode reads CAPTURE_DETACHED. */
struct gate {
	_Atomic uint32_t mode; /* enum capture_mode */
	uint32_t clock;	       /* enum capture_clock */
	uint32_t messages;     /* not 0: MPI messages are recorded; see libraries/messages.h */
	/* The calls that some in-line plug-in wants: by layer, a bit per enum call_class. */
	_Atomic uint32_t watched[LAYER_COUNT];
};

/* The state of one wrapped call, on the stack of its wrapper. */
struct frame {
	uint64_t start, stop;
	uint64_t seq, parent; /* parent 0: none; seq becomes 0 if no record was made */
	const void *parent_at;
	struct lane *lane;
	uint32_t level;			       /* index of the lane */
	uint64_t scratch[FRAME_SCRATCH_WORDS]; /* for the words of a call that is not recorded */
};

extern struct gate *capture_gate __attribute__((visibility("hidden")));
extern __thread struct self capture_self __attribute__((visibility("hidden"))) TLS_FAST;

/* Orders the guest's stores as seen by a signal handler of the same thread. */
INLINE void signal_fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* Attaches to the run, or uses the second lane. False: the wrapper only calls the real function. */
__attribute__((cold, visibility("hidden"))) bool frame_enter_slow(struct frame *f);

/* Finds room for a record in another chunk; returns scratch if the call is not recorded. */
__attribute__((cold, visibility("hidden"))) uint64_t *frame_refill(struct frame *f, unsigned call,
								   unsigned words);

/* Adds a call that was not recorded to the counters of its file. */
__attribute__((cold, visibility("hidden"))) void frame_count(struct frame *f);

/*
 * Starts a call in the lane of this level. current_at is set to f before level is raised and stays
 * until level is lowered again, so a raised level always belongs to the frame that current_at
 * names.
 */
INLINE void frame_begin(struct frame *f, struct self *s, uint32_t level)
{
	struct lane *l = &s->lanes[level];
	/* The frame of a live caller is above f; longjmp has abandoned one that is below. */
	bool live = (uintptr_t)l->current_at > (uintptr_t)f;

	f->lane = l;
	f->level = level;
	f->parent = live ? l->current : 0;
	f->parent_at = live ? l->current_at : NULL;
	l->current_at = f;
	signal_fence();
	s->level = level + 1;
	signal_fence();
	f->seq = ++l->seq;
	l->current = f->seq;
	signal_fence();
	s->level = level;
}

INLINE uint32_t frame_mode(void)
{
	return atomic_load_explicit(&capture_gate->mode, memory_order_relaxed);
}

/* If true, all real functions are resolved (attach.c), and a wrapper only calls its function. */
INLINE bool frame_is_off(void)
{
	return frame_mode() == CAPTURE_OFF;
}

/* Does an in-line plug-in want this call? One load and one test, as both arguments are constants.
 */
INLINE bool frame_watched(enum layer layer, enum call_class class)
{
	return atomic_load_explicit(&capture_gate->watched[layer], memory_order_relaxed) >> class &
	       1;
}

INLINE bool frame_enter(struct frame *f)
{
	struct self *s = &capture_self;

	if (unlikely(frame_mode() != CAPTURE_TRACE))
		return frame_enter_slow(f);
	if (unlikely(s->level | s->vforked))
		return frame_enter_slow(f);
	/*
	 * Prefetches during the real call the two cache lines that frame_leave() and frame_commit()
	 * store to: the collector used them last, and a system call drains the store buffer, so the
	 * stores would have to wait for them.
	 */
	__builtin_prefetch(s->lanes[0].write, 1);
	__builtin_prefetch(s->lanes[0].chunk, 1);
	frame_begin(f, s, 0);
	f->start = clock_ticks(capture_gate->clock);
	return true;
}

INLINE void frame_stop(struct frame *f)
{
	f->stop = clock_ticks(capture_gate->clock);
}

/*
 * Returns the place for a record of `words` words and fills in its head; raises level until
 * frame_commit(). The place may be f->scratch, which has FRAME_SCRATCH_WORDS only: write strings
 * with frame_text(), which takes care of that.
 */
INLINE uint64_t *frame_leave(struct frame *f, unsigned call, unsigned words, int error)
{
	struct lane *l = f->lane;
	uint64_t *w;

	capture_self.level = f->level + 1;
	signal_fence();
	/* Read once: a child that a handler forks after this line clears it (attach.c). */
	w = *(uint64_t *volatile *)&l->write;
	/* Checks the gate again: the real call may have returned in a forked child. */
	if (unlikely(l->limit - w < (ptrdiff_t)words) || unlikely(frame_mode() != CAPTURE_TRACE))
		w = frame_refill(f, call, words);
	w[0] = record_word0(f->seq, call);
	w[1] = f->start;
	w[2] = record_word2(f->stop - f->start, words);
	w[3] = record_word3(f->parent, error);
	return w;
}

INLINE void frame_commit(struct frame *f, uint64_t *w, unsigned words)
{
	struct lane *l = f->lane;

	if (likely(w != f->scratch)) {
		l->write = w + words;
		/* Publishes the record; pairs with the acquire in spool_pending(). */
		atomic_store_explicit(&l->chunk->committed, (uint32_t)(l->write - l->chunk->words),
				      memory_order_release);
	} else {
		frame_count(f);
	}
	signal_fence();
	capture_self.level = f->level;
	signal_fence();
	l->current = f->parent;
	l->current_at = f->parent_at;
}

/*
 * Ends a call without a record and releases its sequence number. Fails if a nested call has got a
 * number: its record names this call as its parent, so this call has to be recorded.
 */
INLINE bool frame_drop(struct frame *f)
{
	struct lane *l = f->lane;
	bool last;

	/* Keeps signal handlers from using the next number between the test and the decrement. */
	capture_self.level = f->level + 1;
	signal_fence();
	last = l->seq == f->seq;
	if (last)
		l->seq--;
	signal_fence();
	capture_self.level = f->level;
	signal_fence();
	if (!last)
		return false;
	l->current = f->parent;
	l->current_at = f->parent_at;
	f->seq = 0;
	return true;
}

/*
 * After the record of a waiting call: adds a child record for one operation that it found complete.
 * call is one of CALL_completed_*, link is the LINK word of the call that started the operation.
 */
__attribute__((cold, visibility("hidden"))) void frame_completed(const struct frame *wait,
								 unsigned call, uint64_t link,
								 int64_t result, int error);

/*
 * A function with two names (MPI_X and PMPI_X) may be entered twice if another tool is between
 * them; only the outer call is recorded. A frame below this one was abandoned by longjmp.
 */
INLINE bool call_is_inner(uint32_t call)
{
	const struct calling *c = &capture_self.calling;

	return unlikely(c->call == call) &&
	       (uintptr_t)c->at > (uintptr_t)__builtin_frame_address(0);
}

INLINE struct calling call_begin(uint32_t call, const struct frame *f)
{
	struct calling outer = capture_self.calling;

	capture_self.calling = (struct calling){ call, f };
	return outer;
}

INLINE void call_end(struct calling outer)
{
	capture_self.calling = outer;
}

/* The id of the call in f, 0 if it is not recorded. Valid from frame_leave() to the end of the
 * wrapper. */
INLINE uint64_t frame_id(const struct frame *f)
{
	return f->seq ? id_make(f->lane->thread, f->seq) : 0;
}

/* Bytes to record of a string that the call has used; 0 if it is NULL or not readable. */
static inline size_t text_length(const char *text, int error)
{
	/* After EFAULT, the kernel could not read it either. */
	if (!text || error == EFAULT)
		return 0;
	return strnlen(text, RECORD_STRING_MAX);
}

static inline unsigned text_words(size_t length)
{
	return 1 + (unsigned)((length + 7) / 8);
}

/* Stores a string at w, in the record or in scratch. Returns the place behind it. */
static inline uint64_t *frame_text(struct frame *f, uint64_t *w, const char *text, size_t length)
{
	if (w >= f->scratch && w < f->scratch + FRAME_SCRATCH_WORDS)
		return w;
	*w++ = length;
	if (length) {
		w[(length - 1) / 8] = 0;
		memcpy(w, text, length);
	}
	return w + (length + 7) / 8;
}

#pragma GCC visibility push(hidden)
bool frame_enter_called(struct frame *f);
void frame_stop_called(struct frame *f);
uint64_t *frame_leave_called(struct frame *f, unsigned call, unsigned words, int error);
void frame_commit_called(struct frame *f, uint64_t *w, unsigned words);
uint64_t *frame_text_called(struct frame *f, uint64_t *w, const char *text, size_t length);
#pragma GCC visibility pop

/* Libraries with hundreds of functions that take microseconds: code size matters more than speed.
 */
#ifdef SLUICE_COMPACT
#define frame_enter frame_enter_called
#define frame_stop frame_stop_called
#define frame_leave frame_leave_called
#define frame_commit frame_commit_called
#define frame_text frame_text_called
#endif

#endif
