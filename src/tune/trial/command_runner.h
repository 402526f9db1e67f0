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
 * - After each trial the user's files are as they were before the first one
 * (tune/trial/snapshot.h): what trials created is removed, what they changed, renamed or deleted is
 * restored. If a file cannot be preserved, the call that would change it fails, and so does the
 * runner. With a restore command it does not: such files are that command's task.
 * - A trial in which the content of files was copied to preserve it is repeated, because the copy
 *   took time.
 * - With `workdir` a copy of the directory, DIRECTORY.sluice-tune-NAME, is made before each trial
 * and removed after it. The trial and the verify command run there.
 * - With `keep` everything stays as trials leave it.
 * - If the command or `launcher` starts its programs through Slurm, the files of a trial are in the
 *   journal in the working directory, which the nodes must share, and spools are where `sluice run`
 *   puts them on each node. What is known of this node's processors does not count then.
 *
 * A trial is SLOW if it was aborted at the limit; CRASHED if a signal ended the program, or its
 * exit code is 128 plus a signal's number, as launchers report it; FAILED for any other exit code
 * but 0; UNSEEN if no file access could be recorded; WRONG if the verify command fails, or if its
 * data differs from that of the baseline, the runs without parameters (tune/trial/outputs.h says
 * what its data is). A difference counts only if a further run of the baseline, which the runner
 * makes by itself, does not vary in the same place. The reason contains the last lines of the
 * program's output.
 */
#ifndef SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H
#define SLUICE_TUNE_TRIAL_COMMAND_RUNNER_H

#include <signal.h>

#include "tune/trial/trial.h"

struct err;

/* The texts, argv and defaults must outlive the runner. */
struct command_runner_options {
	char *const *argv;
	const struct param_set *defaults; /* of {NAME} in argv: tune/trial/command_template.h */
	const char *launcher; /* of tune/trial/batch_job.h; NULL: trials are started directly */
	const char *scratch;  /* NULL: a new directory in $TMPDIR */
	const char *sluice;   /* path of sluice; NULL: beside the running program */
	const char *platform; /* setting tune.platform; NULL: named by the machine */
	const char *verify;   /* for `sh -c` after each trial; NULL: none */
	const char *restore;  /* for `sh -c` before each trial and at the end; NULL: none */
	const char *workdir;  /* each trial runs in a fresh copy of this directory; NULL: here */
	const char *state;    /* of tune/trial/snapshot.h; NULL: none */
	uint64_t copy_limit;  /* likewise; 0: files are not copied */
	bool check;	      /* compare the data with that of the baseline */
	bool keep;	      /* do not remove the files that trials create */
	const volatile sig_atomic_t *stop; /* not 0: abort the trial, -EINTR; NULL: never */
	/* Called a few times per second while the command runs. May be NULL. */
	void (*look)(void *arg);
	void *look_arg;
};

/*
 * Fills all of *runner; context and uses are complete after the first good trial. *runner must not
 * move until its close(), which also frees program, platform and fingerprint.
 */
int command_runner_open(struct trial_runner *runner, const struct command_runner_options *options,
			struct err *err);

#endif
