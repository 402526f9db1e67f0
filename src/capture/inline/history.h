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
 * Papers: SIOX-39.
 */
#ifndef SLUICE_CAPTURE_INLINE_HISTORY_H
#define SLUICE_CAPTURE_INLINE_HISTORY_H

#include <sluice/plugin.h>

struct control;

#pragma GCC visibility push(hidden)

extern const struct sluice_plugin inline_history;

/* Answers a query of a program from the text of an answers file. Exported for unit tests. */
bool history_suggest(const char *answers, const char *program, struct control *control,
		     const struct sluice_query *query, struct sluice_answer *answer);

#pragma GCC visibility pop

#endif
