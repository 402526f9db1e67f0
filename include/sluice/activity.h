/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The activity: one completed call as every host-side program and every asynchronous plug-in sees
 * it, whatever it came from. Part of the plug-in ABI.
 *
 * The collector makes activities of raw records: links are resolved to files, and positions of
 * calls that move the file pointer are derived from what went before.
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
	uint64_t parent; /* id of the enclosing call, or of that which a plug-in acted after; 0:
			    none */
	uint64_t link;	 /* id of the call that made the handle, 0 for none */
	uint64_t link2;	 /* the second handle's: source of a copy, base of a relative path */
	int64_t result;	 /* bytes for READ, WRITE and COPY; else what the call returned */
	int64_t handle;	 /* descriptor number used or made, -1 where unknown */
	int64_t size;
	int64_t offset; /* given, or derived by the collector */
	int64_t flags;	/* open flags, whence, command, advice: what the call's row marks FLAGS */
	int64_t mode;
	int64_t span;	     /* bytes from the first to behind the last, holes included */
	int64_t variable;    /* number of a variable inside a file */
	uint64_t collective; /* the same on all ranks that take part; 0 for none */
	uint32_t process;    /* index in the trace's process table */
	file_id file, file2;
	file_id name;	  /* an object inside the file: a text of the same table, not a path */
	file_id hints;	  /* KEY=VALUE;KEY=VALUE: likewise; 0 for none */
	int32_t error;	  /* errno or a library's code, which may be negative; 0 for none */
	uint16_t call;	  /* index in the trace's call table */
	uint16_t present; /* PRESENT() bits */
	uint8_t layer;	  /* enum layer */
};

#endif
