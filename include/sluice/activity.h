/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The activity: one completed call, in the form that host programs and asynchronous plug-ins get.
 * Part of the plug-in ABI.
 *
 * The collector converts raw records to activities: it resolves links to files, and derives the
 * offsets of calls that use the file position from earlier calls.
 */
#ifndef SLUICE_ACTIVITY_H
#define SLUICE_ACTIVITY_H

#include <stdint.h>

#include <sluice/call.h>

/* Index of a path in the trace's file table; 0 is "no file known". */
typedef uint32_t file_id;

/* Bit FIELD_x of activity.present: the field holds a value. RESULT is always present. */
#define PRESENT(field) (1u << FIELD_##field)

struct activity {
	int64_t start_ns; /* since the start of the run */
	int64_t duration_ns;
	uint64_t id;	 /* thread and sequence number, see contract/record.h */
	uint64_t parent; /* id of the enclosing call, or of the call whose hook made this one;
			    0: none */
	uint64_t link;	 /* id of the call that made the handle, 0: none */
	uint64_t link2;	 /* same for the second handle: source of a copy, base of a path */
	int64_t result;	 /* bytes for READ, WRITE and COPY; else the value returned */
	int64_t handle;	 /* descriptor used or made, -1 if unknown */
	int64_t size;
	int64_t offset; /* in the file: an argument, or derived by the collector */
	int64_t flags;	/* open flags, whence, command or advice */
	int64_t mode;
	int64_t span;	     /* bytes from the first to the end of the last, holes included */
	int64_t variable;    /* number of a variable inside a file */
	uint64_t collective; /* the same on all ranks of a collective call; 0: none */
	uint32_t process;    /* index in the trace's process table */
	file_id file, file2;
	file_id name;	  /* an object inside the file: a text in the file table, not a path */
	file_id hints;	  /* KEY=VALUE;KEY=VALUE, a text in the file table; 0: none */
	int32_t error;	  /* errno, or a library's code, which may be negative; 0: none */
	uint16_t call;	  /* index in the trace's call table */
	uint16_t present; /* PRESENT() bits */
	uint8_t layer;	  /* enum layer */
};

#endif
