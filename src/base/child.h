/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a command until it exits or has to be terminated, and leaves none of its processes behind.
 *
 * The command gets a session of its own, so that neither terminal signals nor job control reach it.
 * Its standard input is empty or a file; its output goes to a file. Its parent is a guardian, a
 * small process that is the reaper of orphans (PR_SET_CHILD_SUBREAPER): all processes that the
 * command starts, even with setsid() or a double fork, remain descendants of the guardian and can
 * be found. If the caller is killed at any moment, the guardian terminates them all. If the
 * guardian is killed, the command receives SIGTERM.
 *
 * A command is terminated in steps, because launchers have to clean up their ranks. The command
 * receives SIGTERM. When it has exited, or after half of the grace period, its remaining
 * descendants receive SIGTERM. After the grace period they receive SIGKILL until none is left.
 *
 * Ranks on other nodes cannot be reached; their launcher has to terminate them.
 */
#ifndef SLUICE_BASE_CHILD_H
#define SLUICE_BASE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

#define CHILD_GRACE_S 4.0
/* How long descendants may outlive the command: ranks that exit late, a collector that writes. */
#define CHILD_LINGER_S 2.0

struct child_options {
	char *const *argv;	  /* argv[0] is searched in $PATH */
	char *const *environment; /* "NAME=VALUE" sets, "NAME" unsets; NULL: no changes */
	const char *input;	  /* file for stdin; NULL: empty */
	const char *output;	  /* file for stdout and stderr; it is overwritten */
	const char *errors;	  /* a file of its own for stderr; NULL: none */
	double limit_s;		  /* INFINITY: no limit */
	const char *begun; /* limit_s counts from when this file exists; NULL: from the start */
	double grace_s;	   /* 0: CHILD_GRACE_S */
	double linger_s;   /* 0: CHILD_LINGER_S */
	/* If not NULL, the command is terminated when a signal handler sets *stop. */
	const volatile sig_atomic_t *stop;
	/*
	 * A file that the guardian keeps open until the last process has ended, even if the caller
	 * is killed, so that a lock on it tells when that is. Then the guardian sets its mode to
	 * 0600 and its time to the current time. 0: none.
	 */
	int lock;
	/* Called a few times per second while the command runs. May be NULL. */
	void (*look)(void *arg);
	void *look_arg;
};

struct child_end {
	int status;	/* as waitpid() returns it */
	double seconds; /* run time of the command itself */
	bool is_late;	/* the command was terminated because of limit_s */
	bool was_alive; /* descendants outlived the command and had to be terminated */
	size_t left;	/* processes that survived SIGKILL, e.g. while a file server hangs */
};

/*
 * Returns 0 if the command ran, whatever its status. Returns -EINTR if *stop was set; the command
 * was then terminated or not started. Any other error means that the command was not started.
 */
int child_run(const struct child_options *options, struct child_end *end, struct err *err);

/*
 * The last lines of a text file, at most `lines` of them, without the final newline; "" if the file
 * cannot be read. The caller frees the text.
 */
char *child_last_lines(const char *path, unsigned lines);

#endif
