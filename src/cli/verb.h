/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The verb of a command that has several, such as `sluice probe list`. A command has rows of them
 * that begin with a struct verb, and knows itself what it does with the row that was chosen.
 */
#ifndef SLUICE_CLI_VERB_H
#define SLUICE_CLI_VERB_H

#include <stddef.h>

struct command;

struct verb {
	const char *name;     /* NULL: the end of the rows */
	const char *operands; /* as in the usage line: "FILE..."; "" for none */
	int least, most;      /* operands behind it; most -1: any number */
};

/*
 * The number of the row of that name, if the operands behind command->argv[0] are as many as it
 * takes; else -1, and what is wrong was said: COMMAND_MISUSE. verbs is the first of rows that are
 * row_bytes apart.
 */
int verb_choose(const struct command *command, const char *name, const struct verb *verbs,
		size_t row_bytes);

#endif
