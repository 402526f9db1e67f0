/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completes the commands and code of a finding: replaces the words in braces of its rule, and
 * leaves out fixes that cannot apply, such as those for MPI in a serial run.
 *
 *   {command}    command of the run, as it was started      {value}      number of the fix
 *   {run}        the run, as a user names it                {rank}       first rank concerned
 *   {file}       path of the first file                     {directory}  its directory
 *   {mode}       "r", "w" or "r+", as for fopen(): what the calls do
 *   {verb}       "read" or "write"                          {put}        "get" or "put"
 *
 * Commands that apply parameters keep those that the run was given, because a tuning may have found
 * them. In commands, paths are quoted for the shell; in code, quotes and backslashes are escaped.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_FILL_H
#define SLUICE_OBSERVE_DIAGNOSE_FILL_H

#include "observe/diagnose/rule.h"

void fill_query(struct finding *finding, const struct diagnosis *d, const struct match *m);

/*
 * Leaves out fixes that undo a parameter which Sluice set in the run, and adds these parameters to
 * `undone`, as injected.h says.
 */
void fill_fixes(struct finding *finding, const struct diagnosis *d, const struct match *m,
		struct buf *undone);

#endif
