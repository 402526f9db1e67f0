/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the program said of itself (include/sluice/instrument.h): for each activity and each phase
 * by its name, how often and how long, and the I/O in it. The I/O of an activity is what its calls
 * cause, directly or inside of activities that it contains. The I/O of a phase is what its process
 * started before the next phase.
 *
 * A phase lasts until the next one of its process, or until the last call of the process ends.
 *
 * Memory is bounded: further names are added up under file 0, and of the beginnings of phases the
 * first are kept.
 */
#ifndef SLUICE_OBSERVE_PROFILE_MARKS_H
#define SLUICE_OBSERVE_PROFILE_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "observe/tally/summary.h"
#include "trace/format.h"

#define MARKS_MAX 4096
#define MARKS_BEGINNINGS 1024

enum mark_kind { MARK_NONE, MARK_ACTIVITY, MARK_PHASE, MARK_MISUSE, MARK_KINDS };

/* All members are words, as they are saved. */
struct mark {
	uint64_t kind; /* enum mark_kind */
	uint64_t name; /* file_id of its text, 0: several */
	uint64_t calls, errors;
	uint64_t data_bytes; /* that the program says it handled */
	int64_t time_ns; /* summed over threads, of phases over processes; without nested ones */
	uint64_t io_calls, bytes[2];
	int64_t io_ns;
};

/* A process enters a phase. */
struct mark_beginning {
	int64_t start_ns;
	uint64_t name;	 /* file_id */
	uint64_t member; /* rank, or process in a run without ranks */
};

struct marks {
	uint8_t *kinds;	      /* enum mark_kind of each call */
	struct map table;     /* struct mark by kind and name */
	struct map processes; /* the phase that each process is in */
	struct mark_beginning *beginnings;
	size_t beginning_count;
};

void marks_init(struct marks *marks, const struct trace_head *head);
void marks_release(struct marks *marks);

/*
 * Adds a call of any layer; call->context and share are known. file of an activity of the
 * application layer must be its name.
 */
void marks_add(struct marks *marks, const struct summary_call *call, int32_t member);

/* Adds those of another profile; files[i] is the number here of its file i. */
void marks_merge(struct marks *marks, const struct marks *other, const file_id *files,
		 int64_t shift_ns, int32_t member_base);

/* Finds the mark, and adds it if it is missing. */
struct mark *marks_get(struct marks *marks, enum mark_kind kind, file_id name);
void marks_put_beginning(struct marks *marks, const struct mark_beginning *beginning);

/* The marks of one kind, the longest first. The caller frees the list. */
const struct mark **marks_list(const struct marks *marks, enum mark_kind kind, size_t *count);

/*
 * The phases of the member with the lowest number that has any, as beginnings in order of time. The
 * caller frees the list.
 */
struct mark_beginning *marks_phases(const struct marks *marks, size_t *count);

#endif
