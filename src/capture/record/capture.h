/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's private state: this process's place in the run. Everything here is reached from the
 * slow paths only. Guest law: libc only; never print, wait, exit or allocate; errno is always put
 * back.
 *
 *   attach.c    joining a run, at start and after a fork
 *   spool.c     chunks and segments
 *   frame.c     the slow halves of frame.h
 *   handles.c   descriptors that nobody opened
 *   cost.c      what all that costs the program
 *   rules.c     the parameters of the run; inject_*.c, layout.c and spread.c apply them
 *   inline/     plug-ins that act in the calling thread
 *   counters.c  calls that are counted instead of recorded
 *   vfork.S     vfork, which returns twice on one stack
 */
#ifndef SLUICE_CAPTURE_RECORD_CAPTURE_H
#define SLUICE_CAPTURE_RECORD_CAPTURE_H

#include "capture/record/frame.h"
#include "contract/spool.h"

#pragma GCC visibility push(hidden)

/* What this process knows of its run. Valid while the gate is not CAPTURE_DETACHED. */
struct membership {
	struct control *control;
	struct spool_header *header;
	uint32_t number;		  /* of our spool */
	char path[SPOOL_TEXT_BYTES];	  /* of our spool; absolute */
	char directory[SPOOL_TEXT_BYTES]; /* of the run's spools */
	_Atomic(unsigned char *) segments[SPOOL_SEGMENTS_MAX];
};

extern struct membership capture_membership;

/* Joins the run named by the environment, once per process; true if the gate then says what to do.
 */
bool attach(void);

/* Looks a symbol up in the libraries after ours; NULL if there is none. */
void *real_find(const char *name);

/* Generated: fills the table of real functions. */
void real_resolve(void *(*find)(const char *name));

/*
 * Holds signals back while we do what must not be left half done: a handler may jump away or fork,
 * and a pending signal interrupts the allocation of a file. Slow paths only.
 */
typedef uint64_t signal_mask;
signal_mask signals_hold(void);
void signals_release(signal_mask old);

/*
 * Allocates the bytes of a file before they are mapped: then a full disk is a failure here and not
 * a SIGBUS later. Refuses what the process's own limit on file sizes would punish with SIGXFSZ.
 */
bool file_allocate(long fd, uint64_t offset, uint64_t bytes);

/* Takes an empty chunk for the lane, growing the spool if need be. False: no room, the record is
 * lost. */
bool spool_claim(struct lane *lane);

/* Gives the lane a thread number of this process, if it has none; false: there are no more. */
bool lane_number(struct self *s, struct lane *lane);

/* Leaves the lane's chunk to the collector. */
void spool_yield(struct lane *lane);

/* Adds a segment; false leaves the spool as it is, and what does not fit is counted as lost. */
bool spool_grow(void);

/* Forgets the parent's segments in a forked child. */
void spool_forget(void);

/* Adds the call in f, whose words are in its scratch, to the counters of its handle. */
void counters_add(struct self *s, const struct frame *f);

/* Forgets the parent's counters in a forked child. */
void counters_forget(void);

#pragma GCC visibility pop

#endif
