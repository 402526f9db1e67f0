/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A real command line as a test bed: each trial runs it once under `sluice run --params`, in the
 * working directory, with the plug-ins that act on a program (history, read_ahead) switched off,
 * and judges it by its trace (tune/trial/objective.h).
 *
 * What of the file system is touched:
 * - A directory for our own files: scratch, or one of our own in $TMPDIR that is removed at close.
 *   In a given one the output of failed trials stays, as failed-NUMBER.log.
 * - A directory for records under way, removed at close. Directories of our own that a killed one
 *   has left are removed by the next.
 * - After a trial, files that it has made are removed, so that every trial starts alike: regular
 *   files (never links) that are ours, that the trace shows as written, and that were born after
 *   the start of the trial: by the clock of the file system of the working directory, where a file
 *   is made for a moment to learn it, or by ours on other local ones. Directories that it has made
 *   are removed if they are empty then. What was there before is never removed, nor a file whose
 *   name was: one that the program has deleted or moved away first and then made again stays. So
 *   does what lies on another server, or on a file system that does not know when a file was born;
 *   and everything if `keep` is set. A file that a program writes under another name and then
 *   renames stays.
 * - The program itself does to its files what it always does: those that are there already are
 *   overwritten if it overwrites them.
 *
 * A trial is SLOW if it was ended at the limit, CRASHED if a signal ended the program (or, by
 * launchers' custom, its exit code is 128 and the signal's number), FAILED for any other exit code
 * but 0, UNSEEN if no file was used in a way that could be recorded, WRONG if the verifying command
 * returns anything but 0 or data that could be read before cannot be read any more. The reason has
 * the last lines of the program's output.
 */
#ifndef SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H
#define SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H

#include <signal.h>

#include "tune/trial/trial.h"

struct err;

/* Texts and argv must outlive the bed. */
struct command_runner_options {
	char *const *argv;
	const char *scratch;		   /* NULL: one of our own */
	const char *sluice;		   /* the program; NULL: that beside the running one */
	const char *platform;		   /* setting tune.platform; NULL: by the machine */
	const char *verify;		   /* for `sh -c`, after each trial; NULL: none */
	bool check;			   /* make checksums of data */
	bool keep;			   /* leave what trials have made */
	const volatile sig_atomic_t *stop; /* not 0: end the trial, -EINTR; NULL: never */
};

/*
 * Fills all of *bed; context and uses after the first good run. The bed must stay where it is until
 * its close(), which also frees program, platform and fingerprint.
 */
int command_runner_open(struct trial_runner *runner, const struct command_runner_options *options,
			struct err *err);

/* What checksums leave out, or why there are none, in a sentence; NULL: nothing is to be said. */
const char *command_runner_note(const struct trial_runner *runner);

#endif
