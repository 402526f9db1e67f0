/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The in-line plug-in history: suggests hints for MPI_File_open by the name of the program
 * (contract/program.h), the extension of the file and the access mode. It reads them from the
 * answers file that the host has written into the run's directory (contract/hints.h). The host's
 * part, which learns them, is observe/plugins/history.h. Guest.
 *
 * A limited share of the opens is a trial of other hints; the share counts the opens of this run
 * and of the earlier runs that the file lists. Hints are tried only if the program sets none of
 * them.
 *
 * For some files it knows the best hints for each kind of accesses: a plan, by which the hints of
 * the open file change (capture/inline/access_hints.h). Such a file may be opened without hints.
 * Papers: SIOX-39.
 */
#ifndef SLUICE_CAPTURE_INLINE_HISTORY_H
#define SLUICE_CAPTURE_INLINE_HISTORY_H

#include <sluice/plugin.h>

#include "contract/hints.h"

struct control;

#define HISTORY_CHOICES 127 /* further lines of a plan are not used */

/* The lines of the answers file for the accesses to a file. Choice 1 is the first of them. */
struct history_plan {
	const char *first, *end; /* NULL: there are none. They enclose lines of other files, too. */
	const char *calls;	 /* the watched calls, up to the end of the line; NULL: all */
	uint32_t changes;	 /* at most so many */
	char extension[HINTS_EXTENSION_BYTES];
	char mode;
	bool alone;  /* one rank has opened the file */
	bool beside; /* the file is opened with the best hints for it, else without any */
};

/* An access that is about to be made. */
struct history_access {
	const char *call;     /* the name of the function */
	uint64_t bytes, span; /* span: from the first byte in the file to the last one */
	bool is_write, is_collective, is_strided;
};

#pragma GCC visibility push(hidden)

extern const struct sluice_plugin inline_history;

/* Answers a query of a program from the text of an answers file. Exported for unit tests. */
bool history_suggest(const char *answers, const char *program, struct control *control,
		     const struct sluice_query *query, struct sluice_answer *answer);

/* Finds the plan for a file in the text of an answers file, which must stay in place. */
bool history_plan_find(struct history_plan *plan, const char *answers, const char *program,
		       const struct sluice_query *query);

/* The same in the answers file of the run. *opened: the hints that the file has to be opened with.
 */
bool history_plan_make(struct history_plan *plan, const struct sluice_query *query,
		       struct sluice_answer *opened);

/* The best choice for the access; 0: what the file was opened with. False: the plan does not
 * consider it. */
bool history_plan_choose(const struct history_plan *plan, const struct history_access *access,
			 unsigned *choice);

/* The hints of a choice, up to the end of the line; NULL for 0. */
const char *history_plan_hints(const struct history_plan *plan, unsigned choice);

#pragma GCC visibility pop

#endif
