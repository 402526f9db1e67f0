/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher is the process that the user starts as `sluice run`. It does as little as possible,
 * so that nothing in Sluice can harm the program: it starts the program's process and the recorder
 * (run/launch.h), forwards signals, waits, and returns the exit code of the program, whatever
 * happens to the recorder. It allocates no memory. If it cannot start processes, the program
 * replaces it and runs unrecorded.
 *
 * Signals: launcher_hold_signals() is the first instruction of the command. Signals stay pending
 * until the program's process exists, and pending in that process until it executes the program, so
 * a signal at any moment has the effect that it has on the program. The program inherits the signal
 * mask and the signal actions that the command was started with. Signals that the kernel sends to
 * the whole process group of a terminal, such as Ctrl-C, are not forwarded, because the program
 * receives them itself.
 *
 * A process runs one launcher, from its only thread.
 */
#ifndef SLUICE_RUN_LAUNCHER_H
#define SLUICE_RUN_LAUNCHER_H

struct launcher_options {
	const char *name; /* of the command, for messages */
	char **argv;	  /* the program and its arguments, terminated by NULL */
	/*
	 * Runs in the recorder's process, where launch_link() is set. Its return value is the exit
	 * code if it did not call launch_start_program(): the program does not run then.
	 */
	int (*record)(void *arg);
	void *arg;
	/* The words of this command, which end where argv begins; for launch_move_command(). */
	char **command;
};

/* Blocks the signals that a launcher forwards. */
void launcher_hold_signals(void);

/* Undoes launcher_hold_signals(), for commands that launch no program. */
void launcher_release_signals(void);

/*
 * Runs the program and returns its exit code; 128 plus the number of the signal if a signal ended
 * it; 126 or 127, as in a shell, if it could not be executed.
 */
int launcher_run(const struct launcher_options *options);

#endif
