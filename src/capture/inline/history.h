/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's half of history: answers MPI_File_open from what the host left in the run's directory
 * (HINTS_ANSWERS_NAME, contract/hints.h), by the extension of the file and the mode of access. The
 * host's half, which learns, is observe/plugins/history.h. Guest.
 *
 * Trials are a bounded share of the opens, counted over the runs that the file tells of and this
 * one; only where the program sets none of the hints to be tried.
 */
#ifndef SLUICE_CAPTURE_INLINE_HISTORY_H
#define SLUICE_CAPTURE_INLINE_HISTORY_H

#include <sluice/plugin.h>

struct control;

#pragma GCC visibility push(hidden)

extern const struct sluice_plugin inline_history;

/* The same from a text in memory, for tests. */
bool history_suggest(const char *answers, struct control *control, const struct sluice_query *query,
		     struct sluice_answer *answer);

#pragma GCC visibility pop

#endif
