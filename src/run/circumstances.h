/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notes in the trace what a run depends on beside its input (NOTE_PROGRAM of trace/format.h): which
 * build of which program, its arguments, the machine, its kernel, the file system, and variables
 * that MPI and I/O libraries heed. Comparisons of runs say by these which of them changed.
 */
#ifndef SLUICE_RUN_CIRCUMSTANCES_H
#define SLUICE_RUN_CIRCUMSTANCES_H

struct collector;
struct config;

/* Values of variables are cut to so many bytes, and so many variables are noted at most. */
#define CIRCUMSTANCES_VALUE 512
#define CIRCUMSTANCES_VARIABLES 64

/*
 * argv is the command line that is run. To be called when the program may already run, so that it
 * does not wait for this.
 */
void circumstances_note(struct collector *collector, const struct config *config,
			char *const *argv);

#endif
