/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The history of SIOX (GenericHistory): learns the transfer rate of a program's files with
 * different hints, and applies the best hints to MPI files that the program opens without hints. It
 * does so only if the settings name it. This part learns, as an asynchronous plug-in. The part that
 * applies hints is capture/inline/history.h in the guest; history_prepare() writes the choices for
 * it before the run (hint_choice.h).
 *
 * Each open of a file with MPI_File_open yields a sample for each kind of accesses: the bytes that
 * all ranks transferred, divided by the time of the slowest rank. A kind is the operation (read,
 * write, and separately for collective calls read_all, write_all), the size class of a rank's part
 * of the access, whether that is contiguous in the file (contract/hints.h), and the hints in force,
 * including those that the program sets itself. The time of a rank is the time during which at
 * least one of its accesses was in progress, from the start of a non-blocking access to its
 * completion. It excludes opening, closing and flushing. When all ranks have closed the file or the
 * run ends, the samples are stored with the user, the program (contract/program.h) and the
 * extension of the file's name (contract/hints.h).
 *
 * The hints of an open file may change before an access if other ones suit it better
 * (capture/inline/access_hints.h).
 *
 * Options, in [plugin.history]:
 *   by_user = yes        learn from the user's own files only
 *   by_extension = yes   do not apply what was learned to files with another extension
 *   learn = 3            runs with a hint set, and with the defaults, before they are compared
 *   margin = 5%          a set must be faster than the defaults by this much
 *   explore = 0%         share of opens, over all runs, that try one of the sets below
 *   calls = NAMES        accesses that are watched, such as MPI_File_write_all; default: all
 *   attributes = volume offset
 *                        what tells accesses apart: their size class, and whether they are strided
 *   changes = 32         how often the hints of an open file change at most; 0: never
 *   sets =               hint sets to try: KEY=VALUE;KEY=VALUE | KEY=VALUE | ...
 *   store = PATH         default: the setting store.path
 * Papers: SIOX-39.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HISTORY_H
#define SLUICE_OBSERVE_PLUGINS_HISTORY_H

#include <sluice/plugin.h>

struct config;
struct err;

extern const struct sluice_plugin plugin_history;

/* Before the run: writes the choices for the guests into the run's directory. */
int history_prepare(const struct config *config, const char *directory, struct err *err);

#endif
