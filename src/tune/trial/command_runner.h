/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the trials of a real command line. Each trial runs the command once under `sluice run
 * --params` in the working directory, and is judged by its trace (tune/trial/objective.h). The
 * plug-ins that act on a program (history, read_ahead) are off.
 *
 * The runner touches these files:
 * - Its own files are in a scratch directory: the given one, or a new one in $TMPDIR that close()
 *   removes. In a given one the output of failed trials stays as failed-NUMBER.log.
 * - Spools are in a directory of their own, which close() removes. Directories that a killed runner
 *   has left are removed by the next runner.
 * - After each trial the files that it created are removed, so that all trials start alike. A file
 *   is removed if it is a regular file (never a link), the trace shows it as written, the user owns
 *   it, and it was born after the start of the trial. Births are compared by the clock of the file
 *   system of the working directory, where a probe file is created to read it, and by the local
 *   clock on other local file systems. Directories that the trial created are removed if empty.
 * - A file that existed before a trial is never removed, nor a file whose name existed before: one
 *   that the program deleted or renamed first and then created again stays. Files on another
 *   server, on a file system without birth times, and files that the program wrote under another
 *   name and then renamed stay as well. With `keep` everything stays.
 * - The program itself overwrites existing files as it always does.
 *
 * A trial is SLOW if it was aborted at the limit; CRASHED if a signal ended the program, or its
 * exit code is 128 plus a signal's number, as launchers report it; FAILED for any other exit code
 * but 0; UNSEEN if no file access could be recorded; WRONG if the verify command fails, or data
 * that could be read after earlier trials cannot be read any more. The reason contains the last
 * lines of the program's output.
 */
#ifndef SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H
#define SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H

#include <signal.h>

#include "tune/trial/trial.h"

struct err;

/* The texts and argv must outlive the runner. */
struct command_runner_options {
	char *const *argv;
	const char *scratch;		   /* NULL: a new directory in $TMPDIR */
	const char *sluice;		   /* path of sluice; NULL: beside the running program */
	const char *platform;		   /* setting tune.platform; NULL: named by the machine */
	const char *verify;		   /* for `sh -c` after each trial; NULL: none */
	bool check;			   /* make checksums of the data */
	bool keep;			   /* do not remove the files that trials create */
	const volatile sig_atomic_t *stop; /* not 0: abort the trial, -EINTR; NULL: never */
};

/*
 * Fills all of *runner; context and uses are complete after the first good trial. *runner must not
 * move until its close(), which also frees program, platform and fingerprint.
 */
int command_runner_open(struct trial_runner *runner, const struct command_runner_options *options,
			struct err *err);

/* Says what the checksums leave out, or why there are none; NULL: they are complete. */
const char *command_runner_note(const struct trial_runner *runner);

#endif
