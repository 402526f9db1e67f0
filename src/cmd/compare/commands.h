/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs two commands by turns and gives the accounts of their runs. The order within a pair
 * alternates (A B, B A, A B), so that neither a drift of the machine nor the state that one command
 * leaves behind favors a side.
 */
#ifndef SLUICE_CMD_COMPARE_COMMANDS_H
#define SLUICE_CMD_COMPARE_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/compare/contrast.h"

struct command;

/* Runs of both sides, oldest first. Zeroed: none. */
struct run_list {
	struct account *accounts;
	size_t count, cap;
};

void run_list_release(struct run_list *list);

/* Makes room for another run and returns it, zeroed. */
struct account *run_list_add(struct run_list *list);

struct commands_options {
	char **argv[SIDES];  /* each terminated by NULL */
	uint64_t runs;	     /* of each command */
	uint64_t warmup;     /* runs of each command before, which are not measured */
	const char *prepare; /* for `sh -c` before each run; NULL: none */
	bool record;
	bool ignore_failure; /* a run that fails is measured as well */
};

/* Reads a recorded run into the account; returns COMMAND_GOOD, or prints an error. */
typedef int (*commands_read)(const struct command *command, const char *path,
			     struct account *account);

/*
 * Returns COMMAND_GOOD; 128 plus the number of a signal that interrupted it; 126 or 127 if a
 * command cannot be executed or found; or another exit code after a failure, which it prints.
 * The runs up to then are in `lists`.
 */
int commands_run(const struct command *command, const struct commands_options *options,
		 commands_read read, struct run_list lists[SIDES]);

#endif
