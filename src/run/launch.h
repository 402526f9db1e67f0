/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the three processes of `sluice run` share:
 *
 *   launcher   the process that the user started (run/launcher.h); it waits and forwards signals
 *   program    waits until the recorder is ready, then executes the program
 *   recorder   everything else: options, settings, collector, watcher, summary (run/session.h)
 *
 * They share one page of memory and three pipes. Each pipe also shows that a process is gone,
 * because the kernel closes its end. Any of the three may be killed at any moment:
 *
 *   - Without the launcher, the recorder starts the program and records it to its end.
 *   - Without the recorder, the program runs to its end. The launcher starts another recorder if
 *     the program has not started yet; otherwise the trace is recovered after the program's end.
 *   - Without both, the program's process becomes a launcher, or continues the program.
 *
 * This header is the recorder's side of it.
 */
#ifndef SLUICE_RUN_LAUNCH_H
#define SLUICE_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "contract/spool.h"

#define LAUNCH_PRELOAD_BYTES 16384
#define LAUNCH_ENVIRONMENT_BYTES 16384
#define LAUNCH_PREFIX_BYTES 8192

enum launch_state {
	LAUNCH_PREPARING, /* the program waits */
	LAUNCH_READY,	  /* the program may start */
	LAUNCH_REFUSED,	  /* the program must not start, because the command line is wrong */
};

/* The shared page. The recorder writes what is above the line, and the launcher the rest. */
struct launch {
	_Atomic int state;		  /* enum launch_state; set last */
	int refusal;			  /* exit code after LAUNCH_REFUSED */
	bool is_quiet;			  /* the launcher prints no warnings */
	bool is_shared;			  /* the directory belongs to the collector of a job */
	char directory[SPOOL_TEXT_BYTES]; /* of the spools; "": there is none */
	/* Environment of the program; SLUICE_SPOOL "": the environment does not change. */
	char spool[SPOOL_TEXT_BYTES];
	char preload[LAUNCH_PRELOAD_BYTES]; /* value of LD_PRELOAD; "": it does not change */
	/* Further variables, "NAME=VALUE" with a zero byte after each and after the last. */
	char environment[LAUNCH_ENVIRONMENT_BYTES];
	/* See launch_move_command(). */
	size_t move_to;
	char prefix[LAUNCH_PREFIX_BYTES];

	/* ---- */
	pid_t launcher, program;
	time_t started;	     /* when the launcher started, for the name of the trace */
	int killed_by;	     /* signal that ended the recorder; this one has to recover the trace */
	_Atomic int is_over; /* the program has ended, and exit_code is set */
	int exit_code;
};

/* The recorder's end of the pipes. */
struct launch_link {
	struct launch *launch;
	int go;	       /* a byte tells the program's process to look at the page */
	int up;	       /* a byte tells the launcher to look at the page */
	int life;      /* the launcher closes it when the program has ended, or by being killed */
	int pidfd;     /* of the program's process; -1: the kernel has no pidfds */
	bool is_alone; /* the launcher is gone */
};

/* The link of this process; NULL if it is not a recorder. */
struct launch_link *launch_link(void);
void launch_set_link(struct launch_link *link);

/* The spool directory exists from now on, and must be removed or recovered if the recorder dies. */
void launch_set_directory(struct launch_link *link, const char *directory, bool is_shared);

/* The program gets these variables if it is recorded: "NAME=VALUE" texts, each ended by a zero
 * byte. Returns -ENOSPC if they are too long; nothing was done then. */
int launch_set_environment(struct launch_link *link, const char *variables, size_t bytes);

/* Like launch_set_environment(), but keeps the variables that were set before. */
int launch_add_environment(struct launch_link *link, const char *variables, size_t bytes);

/*
 * The program starts others, which shall run this command: the words of `prefix`, each ended by a
 * zero byte, and then the options of the command line of this process come before argv[at] of the
 * program. `sluice run -q -- srun ./app` becomes `srun PREFIX run -q -- ./app` with at = 1. Returns
 * -ENOSPC if the words are too long; nothing was done then.
 */
int launch_move_command(struct launch_link *link, size_t at, const char *prefix, size_t bytes);

/* Lets the program start, with spool and preload (NULL: none) in its environment. spool NULL: the
 * program runs unrecorded. Returns -ENAMETOOLONG if a text is too long; nothing was done then. */
int launch_start_program(struct launch_link *link, const char *spool, const char *preload);

/* The program must not run: its process exits with this code. */
void launch_refuse(struct launch_link *link, int code);

/* Sleeps for that long, or until the program has ended. Returns true if it has. */
bool launch_wait(struct launch_link *link, unsigned microseconds);

/* After launch_wait() has returned true: the exit code of the program, or -1 if it is unknown,
 * because the launcher was killed. */
int launch_exit_code(const struct launch_link *link);

#endif
