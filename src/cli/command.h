/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A subcommand: one file, one constant `command_NAME`, one entry in the list in main.c.
 *
 * main() parses the options into a struct of args_bytes, reads the configuration and calls run().
 * What the command prints on stdout is its data; everything else goes to stderr through the
 * functions below.
 */
#ifndef SLUICE_CLI_COMMAND_H
#define SLUICE_CLI_COMMAND_H

#include <stddef.h>

#include "base/config.h"
#include "base/err.h"
#include "base/option.h"

enum command_exit {
	COMMAND_GOOD = 0,
	COMMAND_FAILED = 1,
	COMMAND_MISUSE = 2,
	COMMAND_NO_DATA = 3,
	COMMAND_THRESHOLD = 4,
};

enum command_flags {
	COMMAND_HIDDEN = 1,        /* not in the list that help prints */
	COMMAND_JUDGES_CONFIG = 2, /* tells problems of the settings itself; main() does not warn */
};

struct command {
	const struct command_ops *ops;
	const void *args;      /* the struct that ops->options fill */
	int argc;              /* operands only */
	char **argv;           /* ends with NULL */
	struct config *config; /* never NULL; the command may set values in it */
};

struct command_ops {
	const char *name;
	const char *help;             /* one line, lower case, no full stop */
	const char *operands;         /* as in the usage line: "[TRACE]"; "" for none */
	int operands_min, operands_max; /* checked by main(); max -1 for any number */
	const char *about;            /* paragraphs with empty lines between; two blanks: example */
	const struct option *options;
	size_t args_bytes;
	enum option_order order;
	unsigned flags;               /* enum command_flags */
	int (*run)(struct command *command); /* returns the exit code */
};

/* "sluice NAME: message" on stderr. Returns COMMAND_FAILED. */
int command_fail(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, with a pointer to the help. Returns COMMAND_MISUSE. */
int command_misuse(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, for what the user should know but need not act on: "sluice NAME: warning: message". */
void command_warn(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Ends what was written to stdout; COMMAND_FAILED with a message if it could not be written. */
int command_finish(const struct command *command);

/* The list of all commands; ends with NULL. */
extern const struct command_ops *const commands[];

const struct command_ops *command_find(const char *name);

/* Options that stand before the name of the command. */
const struct option *command_main_options(void);

#endif
