/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command to its end, or ends it: nothing of it is left behind.
 *
 * The command gets a session of its own, so that neither the terminal's signals nor job control
 * reach it; standard input is empty or a file, output goes to a file. While it runs, we are the
 * reaper of its orphans (PR_SET_CHILD_SUBREAPER): whatever it starts, also with setsid() or a
 * double fork, stays below us and can be found. Should we be killed ourselves, it gets SIGTERM.
 *
 * Ended in steps, because launchers have to clean up their ranks: SIGTERM to the command; as soon
 * as it has gone, or half of the grace, SIGTERM to what is left of it; after the grace SIGKILL
 * until nothing is left. Only processes are signalled that descend from the command: children that
 * the caller had before are left alone. The caller starts no others meanwhile.
 *
 * On other nodes it is the launcher that ends its ranks: they are out of our reach.
 */
#ifndef SLUICE_BASE_CHILD_H
#define SLUICE_BASE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

#define CHILD_GRACE_S 4.0
/* How long what outlives the command may go on: ranks that are dying, a collector that writes. */
#define CHILD_LINGER_S 2.0

struct child_options {
	char *const *argv;		   /* argv[0] is looked for in $PATH */
	char *const *environment;	   /* "NAME=VALUE" to set, "NAME" to unset; NULL: as ours */
	const char *input;		   /* file for stdin; NULL: empty */
	const char *output;		   /* file for stdout and stderr, made anew */
	double limit_s;			   /* INFINITY: none */
	double grace_s;			   /* 0: CHILD_GRACE_S */
	double linger_s;		   /* 0: CHILD_LINGER_S */
	const volatile sig_atomic_t *stop; /* not 0: end it. Set by the caller's handlers. NULL:
					      never */
	void (*look)(void *arg); /* some times a second while it runs, e.g. at its output. NULL:
				    nobody looks */
	void *look_arg;
};

struct child_end {
	int status;	/* as waitpid() has it */
	double seconds; /* from start to end of the command itself */
	bool is_late;	/* it was ended because of the limit */
	bool was_alive; /* something outlived it and had to be ended */
	size_t left;	/* processes that even SIGKILL has not ended (a dead file server): 0 */
};

/*
 * 0 when the command has run, whatever came of it. -EINTR: *stop was set, and it was ended. Else it
 * was not started.
 */
int child_run(const struct child_options *options, struct child_end *end, struct err *err);

/* The last lines of a file of text, at most so many, without the final newline; the caller frees.
 */
char *child_last_lines(const char *path, unsigned lines);

#endif
