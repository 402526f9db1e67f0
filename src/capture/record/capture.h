/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's private state: the membership of this process in a run. Only slow paths use it.
 *
 * Rules for all guest code: it uses libc only; it never prints, waits, exits or allocates memory.
 * It makes system calls by kernel.h, which does not change errno, and none at all once the process
 * is sealed (sandbox.h). A wrapper and everything below it need less than 2 KiB of stack, which
 * tests/lint/stack.sh checks.
 *
 * These files implement one recorder together:
 *
 *   attach.c         joins a run, at start-up and after a fork
 *   spool.c          allocates chunks and segments
 *   frame.c          the out-of-line parts of frame.h
 *   counters.c       counts calls that are not recorded
 *   cost.c           measures the overhead
 *   files.c          opens and maps the files of the run
 *   site.c           joins by the policy of the site, and hands the spool to its daemon
 *   symbols.c        finds the real functions
 *   sandbox.c        notices that the program gives up system calls
 *   handles.c        finds out what a descriptor is that no wrapped call has opened
 *   handle_table.c   maps handles of libraries, requests and mappings to the calls that made them
 *   launch.c         announces the programs that this process starts
 *   exec.c           wraps the functions that start programs
 *   hooks.h          the events that the other folders of the guest act on
 *   vfork.S          wraps vfork, which returns twice on one stack
 * Papers: SIOX-2, SIOX-64.
 */
#ifndef SLUICE_CAPTURE_RECORD_CAPTURE_H
#define SLUICE_CAPTURE_RECORD_CAPTURE_H

#include "capture/record/files.h"
#include "capture/record/frame.h"
#include "contract/handover.h"
#include "contract/policy.h"
#include "contract/spool.h"

#pragma GCC visibility push(hidden)

/* The run that this process is part of. Valid while the gate is not CAPTURE_DETACHED. */
struct membership {
	struct control *control;
	struct spool_header *header;
	uint32_t number;		  /* of this process's spool */
	char name[HANDOVER_NAME_BYTES];	  /* of the spool's file */
	char directory[SPOOL_TEXT_BYTES]; /* that holds all spools of the run; absolute */
	struct file_id directory_id, spool_id;
	_Atomic(unsigned char *) segments[SPOOL_SEGMENTS_MAX];
	/* If the site's policy made the process join (site.h): */
	const struct policy *policy;   /* NULL: it was started by `sluice run` */
	uint32_t directory_owner;      /* who may own the directory */
	_Atomic uint32_t epoch;	       /* of the policy, when the daemon got the files */
	_Atomic uint32_t wanted, done; /* handovers; equal if the daemon has all files */
};

extern struct membership capture_membership;

/* Opens the directory of the run's files. Returns a descriptor, or -errno. */
static inline long membership_directory_open(struct membership *m)
{
	return m->policy ? directory_open_shared(m->directory, &m->directory_id, m->directory_owner)
			 : directory_open(m->directory, &m->directory_id);
}

/* Adds without ordering. Skips 0, so that the cache line is not modified. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* A call that was not recorded although it should have been. */
static inline void count_lost_record(enum loss_cause cause)
{
	counter_add(&capture_membership.header->lost_records[cause], 1);
}

/* Joins the run that the environment names, once per process. True if the gate is set. */
bool attach(void);

/* Is this program in a list of names that are not captured, one per line? */
bool program_is_skipped(const char *skip, size_t bytes);

/* Looks up a symbol in the libraries after this one; NULL if it does not exist. Only reads memory.
 */
void *real_find(const char *name);

/* Generated: fills the table of real functions. */
void real_resolve(void *(*find)(const char *name));

/*
 * Blocks all signals during work that must not be interrupted: a handler may longjmp or fork, and
 * a pending signal interrupts the allocation of a file. For slow paths only. In a sealed process
 * signals stay as they are.
 */
struct signals_held {
	uint64_t mask; /* before */
	bool is_held;
};
struct signals_held signals_hold(void);
void signals_release(struct signals_held held);

/* Claims an empty chunk for the lane and grows the spool if necessary. False: there is no room, and
 * the record is lost. */
bool spool_claim(struct lane *lane);

/* Assigns a thread number to the lane if it has none; false if all numbers are used. */
bool lane_number(struct self *s, struct lane *lane);

/* Gives the lane's chunk to the collector. */
void spool_yield(struct lane *lane);

/* Adds a segment. On failure the spool is unchanged; records that do not fit are counted as lost.
 */
bool spool_grow(void);

/* The cause that an error number of a failed system call stands for. */
enum loss_cause loss_cause_of(int error);

/* Why the last attempt to grow has failed. */
enum loss_cause spool_failure(void);

/* In a forked child: forgets the parent's segments. */
void spool_forget(void);

/* Adds the call in f->scratch to the counters of its handle. */
void counters_add(struct self *s, const struct frame *f);

/* In a forked child: forgets the parent's counters. */
void counters_forget(void);

#pragma GCC visibility pop

#endif
