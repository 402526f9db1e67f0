/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Announces the programs that this process starts, so that those that do not join the run are
 * counted (contract/launch.h). Guest: usable in a child of vfork, in a signal handler and before
 * the process has joined; nothing here allocates memory, and errno is preserved.
 */
#ifndef SLUICE_CAPTURE_RECORD_LAUNCH_H
#define SLUICE_CAPTURE_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "contract/loss.h"

#pragma GCC visibility push(hidden)

/* A program that is about to start. */
struct launch {
	int directory;		  /* where `path` starts; AT_FDCWD: the working directory */
	const char *path;	  /* "": the file `directory` itself */
	bool searched;		  /* `path` is looked up in PATH if it contains no slash */
	char *const *envp;	  /* environment of the program */
	uint64_t time;		  /* set by launch_begin() */
	struct launch_note *note; /* set by launch_exec() */
};

/* Call before the program starts. False: there is nothing to announce. */
bool launch_begin(struct launch *launch);

/* This process is about to become the program. If that fails, call launch_withdraw(). */
void launch_exec(struct launch *launch);
void launch_withdraw(const struct launch *launch);

/* The process `pid` has become the program. */
void launch_spawned(const struct launch *launch, pid_t pid);

/* libc is about to start a shell with the environment of this process. */
void launch_shell(void);

/* This process could not join the run. */
void launch_failed(enum loss_cause cause);

#pragma GCC visibility pop

#endif
