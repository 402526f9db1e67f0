/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The history of SIOX (GenericHistory): learns which rate files reach under which hints, and gives
 * MPI files that are opened without hints those that were best. This half learns, as an
 * asynchronous plug-in; the half that answers is capture/inline/history.h in the guest, told before
 * the run by history_prepare() what to say (answers.h).
 *
 * Each opening of a file with MPI_File_open is one sample for reading and one for writing, and of
 * either apart for calls that ranks make together (read_all, write_all): the
 * bytes that all ranks moved over the time of the rank that took longest. The time of a rank is
 * that in which any of its accesses was under way, from the start of a non-blocking one to its
 * completion; opening, closing and flushing are not in it. It is credited, once all have closed the
 * file or the run ends, to the operation, the user, the extension of the file's name
 * (contract/hints.h), the size class of an average access, and the hints in force, which includes what
 * the program sets itself.
 *
 * Options, in [plugin.history]:
 *   by_user = yes        learn from the user's own files only
 *   by_extension = yes   a file tells nothing about those with another extension
 *   learn = 1            how often a set must have been seen to count
 *   margin = 5%          so much faster than the defaults a set must be
 *   explore = 0%         share of opens, over all runs, that try one of the sets below
 *   sets =               sets of hints to be tried: KEY=VALUE;KEY=VALUE | KEY=VALUE | ...
 *   store = PATH         the setting store.path
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HISTORY_H
#define SLUICE_OBSERVE_PLUGINS_HISTORY_H

#include <sluice/plugin.h>

struct config;
struct err;

extern const struct sluice_plugin plugin_history;

/* Before the run: leaves for the guests in its directory what they are to answer. */
int history_prepare(const struct config *config, const char *directory, struct err *err);

#endif
