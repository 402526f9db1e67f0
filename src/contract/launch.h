/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launch notes: a process of the run announces a program before it starts it. If that program does
 * not join the run, the collector counts it as unrecorded and finds out why; see
 * observe/collect/launches.h. The notes are in a table of the control page. Guest-safe.
 *
 *   free --a process claims it--> writing --it publishes the note--> ready
 *   ready --the collector takes it--> reading --> free
 *   ready --the program could not be started--> free
 *
 * Nobody waits: if no entry is free, the launch is only counted.
 */
#ifndef SLUICE_CONTRACT_LAUNCH_H
#define SLUICE_CONTRACT_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCH_NOTES 256
#define LAUNCH_PATH_BYTES 280

enum launch_note_state {
	LAUNCH_NOTE_FREE,
	LAUNCH_NOTE_WRITING,
	LAUNCH_NOTE_READY,
	LAUNCH_NOTE_READING,
};

enum launch_kind {
	LAUNCH_STARTS,	  /* the process `pid` executes the program at `path` */
	LAUNCH_WITHDRAWN, /* it did not: the call failed after the collector had taken the note */
	LAUNCH_HIDDEN,	  /* a process that cannot join, with a pid that is not known */
	LAUNCH_FAILED,	  /* the process `pid` runs `path` and could not join because of `cause` */
};

/* What the new program will find. */
enum launch_flag {
	LAUNCH_NO_ENVIRONMENT = 1, /* the variables of the run are missing */
	LAUNCH_OTHER_USER = 2,	   /* the effective user is not the one who started the run */
	LAUNCH_UNREACHABLE = 4,	   /* the spool directory cannot be reached by its path */
	LAUNCH_SANDBOXED = 8,	   /* a seccomp filter is installed */
	LAUNCH_SMALL_MEMORY = 16,  /* there is a limit on the address space */
};

struct launch_note {
	_Atomic uint32_t state;	      /* enum launch_note_state */
	uint16_t kind;		      /* enum launch_kind */
	uint16_t flags;		      /* set of enum launch_flag */
	int32_t pid;		      /* in its PID namespace */
	uint32_t cause;		      /* enum loss_cause, for LAUNCH_FAILED */
	uint64_t pid_namespace;	      /* inode of /proc/self/ns/pid, 0 if unknown */
	uint64_t time;		      /* ticks; the program joins later than this */
	char path[LAUNCH_PATH_BYTES]; /* terminated; absolute if possible; may be truncated */
};

struct launch_table {
	_Atomic uint32_t next;	   /* where to look for a free entry */
	_Atomic uint64_t overflow; /* launches that found no free entry */
	struct launch_note notes[LAUNCH_NOTES];
};

/* Claims a free entry; NULL if there is none, which is counted. */
static inline struct launch_note *launch_claim(struct launch_table *table)
{
	uint32_t first = atomic_fetch_add_explicit(&table->next, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < LAUNCH_NOTES; i++) {
		struct launch_note *note = &table->notes[(first + i) % LAUNCH_NOTES];
		uint32_t state = LAUNCH_NOTE_FREE;

		/* Pairs with the release in launch_free(). */
		if (atomic_compare_exchange_strong_explicit(
			    &note->state, &state, LAUNCH_NOTE_WRITING, memory_order_acquire,
			    memory_order_relaxed))
			return note;
	}
	atomic_fetch_add_explicit(&table->overflow, 1, memory_order_relaxed);
	return NULL;
}

/* The note is complete; pairs with the acquire in launch_take(). */
static inline void launch_publish(struct launch_note *note)
{
	atomic_store_explicit(&note->state, LAUNCH_NOTE_READY, memory_order_release);
}

static inline void launch_free(struct launch_note *note)
{
	atomic_store_explicit(&note->state, LAUNCH_NOTE_FREE, memory_order_release);
}

/* Claims a published note, to read or to withdraw it; false if another process was faster. */
static inline bool launch_take(struct launch_note *note)
{
	uint32_t state = LAUNCH_NOTE_READY;

	return atomic_compare_exchange_strong_explicit(&note->state, &state, LAUNCH_NOTE_READING,
						       memory_order_acquire, memory_order_relaxed);
}

#endif
