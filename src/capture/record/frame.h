/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hot path: what every generated wrapper does around the real call. Guest.
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
 * Two counter reads and one record, no lock, no system call, no allocation. A thread writes to the
 *chunk of its lane. `level` is 1 exactly while our own code is between two stores that belong
 *together; a signal handler that lands there finds it set and records into the thread's second
 *lane, which has a thread number of its own. While the real call runs level is 0: calls made
 *beneath it, by it or by a handler, are recorded as its children.
 *
 * Nothing here changes errno.
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

#define FRAME_SCRATCH_WORDS (RECORD_HEAD_WORDS + RECORD_FIXED_MAX)

struct lane {
	uint64_t *write,
		*limit; /* where the next record goes; limit is NULL to force frame_refill() */
	struct chunk *chunk;
	uint64_t seq;		/* of the last call that began */
	uint64_t current;	/* seq of the innermost call that has not ended, 0 for none */
	const void *current_at; /* stack address of its frame */
	uint32_t thread;	/* number of the thread; valid once numbered is set */
	uint64_t costed;	/* seq up to which the cost is in the spool's header */
	uint32_t starved; /* so many calls are not even tried: there was no room a moment ago */
	bool numbered;
};

/* Lane 0 is for the thread itself, lane 1 for signal handlers that interrupt our own code. */
#define LANES 2

/* The innermost call under way of those that exist under two names, and its frame. */
struct calling {
	uint32_t call;
	const void *at;
};

/* The slots that a lane has counted calls in lately; see counters.c. */
#define COUNTING_WAYS 4
struct counting {
	uint64_t key, whose;
	struct counters_slot *slot; /* NULL: nothing is here */
};

/* What hooks of plug-ins did in this thread since it was last added to the spool's accounts. */
struct hook_account {
	uint64_t calls, acts, ticks, worst;
};

/* The plug-ins' side of a thread; see inline/host.h. */
struct hooking {
	const void *volatile at; /* frame of the call whose hooks run now; NULL for none */
	uint64_t late;		 /* when slow work after a call ended: hooks begin no earlier */
	uint64_t outside;	 /* ticks of the hook that runs which are the kernel's */
	uint32_t calls, limit;	 /* of hooks since the accounts were added, and when to add them */
	struct hook_account accounts[CONTROL_PLUGINS];
};

#define SELF_RECORDS 16

struct self {
	volatile uint32_t vforked; /* set in a child of vfork, which borrows its parent's thread;
				      first: see vfork.S */
	volatile uint32_t level;   /* lanes in use by our own code right now */
	struct lane lanes[LANES];
	int32_t tid;
	bool armed; /* the thread's destructor will run */
	struct calling calling;
	uint64_t moved;	       /* bytes by calls of HDF5 so far: for libraries that use it */
	uint64_t record_ticks; /* what SELF_RECORDS records cost; see cost.h */
	struct hooking hooking;
	struct counting counting[LANES][COUNTING_WAYS];
} __attribute__((aligned(64))); /* the flags and lane 0 share a cache line */

/* The page that a fork empties: after any kind of fork the mode reads CAPTURE_DETACHED. */
struct gate {
	_Atomic uint32_t mode; /* enum capture_mode */
	uint32_t clock;	       /* enum capture_clock */
	uint32_t messages;     /* not 0: those of MPI-IO are recorded; see messages.h */
	/* Of which calls a plug-in wants to be told: by layer, a bit per enum call_class. */
	_Atomic uint32_t watched[LAYER_COUNT];
};

/* The state of one wrapped call, on the caller's stack. */
struct frame {
	uint64_t start, stop;
	uint64_t seq, parent; /* parent is 0 for none; seq becomes 0 when no record was made */
	const void *parent_at;
	struct lane *lane;
	uint32_t level;			       /* of the lane */
	uint64_t scratch[FRAME_SCRATCH_WORDS]; /* takes the words of a call that is not recorded */
};

extern struct gate *capture_gate __attribute__((visibility("hidden")));
extern __thread struct self capture_self __attribute__((visibility("hidden"))) TLS_FAST;

/* Orders our own stores as a signal handler of the same thread sees them. */
INLINE void signal_fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* Out of line: attaches, steps aside, or takes the second lane. False: do the real call and nothing
 * else. */
__attribute__((cold, visibility("hidden"))) bool frame_enter_slow(struct frame *f);

/* Out of line: finds room for a record in another chunk; scratch if it is to be counted or lost. */
__attribute__((cold, visibility("hidden"))) uint64_t *frame_refill(struct frame *f, unsigned call,
								   unsigned words);

/* Out of line: adds a call that was not recorded to the counters of its file. */
__attribute__((cold, visibility("hidden"))) void frame_count(struct frame *f);

/*
 * Starts a call in the lane of this level. current_at is f before level is raised and until after
 * it is lowered again: so a raised level always belongs to the frame that current_at names.
 */
INLINE void frame_begin(struct frame *f, struct self *s, uint32_t level)
{
	struct lane *l = &s->lanes[level];
	/* A live caller's frame lies above ours; one below was left by longjmp: nobody's parent. */
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

/* Then every real function is known (attach.c), and a wrapper has nothing to do but call it. */
INLINE bool frame_is_off(void)
{
	return frame_mode() == CAPTURE_OFF;
}

/* Both are constants in a wrapper: this is one load and one test. */
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
	 * The real call is the time to fetch the two lines that frame_leave() and frame_commit()
	 * store to. The collector had them last, and a system call does not let us wait for them in
	 * the store buffer.
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
 * Gives the place of a record of so many words and fills in its head; raises level until
 * frame_commit(). In scratch only the first FRAME_SCRATCH_WORDS exist: write strings by
 * frame_text() alone, which knows.
 */
INLINE uint64_t *frame_leave(struct frame *f, unsigned call, unsigned words, int error)
{
	struct lane *l = f->lane;
	uint64_t *w;

	capture_self.level = f->level + 1;
	signal_fence();
	/* The gate is asked again: the real call may have come back in a child of its process. */
	if (likely(l->limit - l->write >= (ptrdiff_t)words) &&
	    likely(frame_mode() == CAPTURE_TRACE))
		w = l->write;
	else
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
		/* Publishes the record to the collector; pairs with the acquire in spool_pending().
		 */
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
 * Ends a call that is not to be recorded after all, and gives its number back. False, and it is to
 * be recorded, where a call inside it has got a number: that one names it as its cause.
 */
INLINE bool frame_drop(struct frame *f)
{
	struct lane *l = f->lane;
	bool last;

	/* No signal handler may take a number between the question and the answer. */
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
 * After the record of a call that waits, which of what it waited for is complete: one record
 * beneath it. call is one of CALL_completed_*, link the LINK word of what began it.
 */
__attribute__((cold, visibility("hidden"))) void frame_completed(const struct frame *wait,
								 unsigned call, uint64_t link,
								 int64_t result, int error);

/*
 * A function with two names (MPI_X and PMPI_X) may be reached by one through the other, when
 * another tool stands between: it is recorded once. A frame below ours was left by longjmp.
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

/* The id of the call in f; valid between frame_leave() and the end of the wrapper. 0 when not
 * recorded. */
INLINE uint64_t frame_id(const struct frame *f)
{
	return f->seq ? id_make(f->lane->thread, f->seq) : 0;
}

/* Bytes to record of a string that the call has just used; 0 when it is not there or not readable.
 */
static inline size_t text_length(const char *text, int error)
{
	if (!text || error == EFAULT /* the kernel could not read it either */)
		return 0;
	return strnlen(text, RECORD_STRING_MAX);
}

static inline unsigned text_words(size_t length)
{
	return 1 + (unsigned)((length + 7) / 8);
}

/* Stores a string at w, which lies in the record or in scratch. Returns the place after it. */
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

/* Wrappers by the hundred around calls that take microseconds: small ones are better than fast
 * ones.
 */
#ifdef SLUICE_COMPACT
#define frame_enter frame_enter_called
#define frame_stop frame_stop_called
#define frame_leave frame_leave_called
#define frame_commit frame_commit_called
#define frame_text frame_text_called
#endif

#endif
