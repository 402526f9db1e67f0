/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a trace does not contain, and why: calls that were lost and processes that were not
 * recorded, by cause. A trace stores the number of lost calls of each process as a loss_info, and
 * the causes as notes:
 *
 *   kind              name     value
 *   NOTE_LOST         cause    number of calls of the process
 *   NOTE_UNRECORDED   cause    number of processes, a blank, path of their program (may be empty)
 */
#ifndef SLUICE_OBSERVE_TALLY_LOSSES_H
#define SLUICE_OBSERVE_TALLY_LOSSES_H

#include "contract/loss.h"
#include "trace/format.h"

#define LOSSES_SOURCE "capture"

struct loss_text {
	const char *name;   /* in notes and in JSON */
	const char *what;   /* follows "3 calls were lost:" or "3 processes were not recorded:" */
	const char *brief;  /* the same in a word or two */
	const char *remedy; /* follows a semicolon; NULL: there is none */
};

extern const struct loss_text loss_texts[LOSS_CAUSES];

/* The unrecorded processes of one cause. */
struct unrecorded {
	uint64_t processes;
	const char *program; /* one of their programs, or ""; owned by the head */
	bool has_others;     /* they ran different programs */
};

struct losses {
	uint64_t records, threads;	/* over all recorded processes */
	uint64_t processes;		/* recorded processes with losses */
	uint64_t counted;		/* calls that were counted but not recorded */
	uint64_t by_cause[LOSS_CAUSES]; /* the sum is `records` */
	uint64_t unrecorded_processes;
	struct unrecorded unrecorded[LOSS_CAUSES];
};

/* The head must outlive the result. */
struct losses losses_sum(const struct trace_head *head);

#endif
