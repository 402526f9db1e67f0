/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Commands form a tree. A leaf has one option table and one run() function; a group has
 * subcommands. Each is a constant `command_NAME`, listed by its parent: the program's root is the
 * list in main.c.
 *
 * cli_main() (cli/dispatch.c) finds the leaf, parses its options into a struct of args_bytes, reads
 * the configuration and calls run(). A command prints its data on stdout. Everything else goes to
 * stderr through the functions below.
 */
#ifndef SLUICE_CLI_COMMAND_H
#define SLUICE_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/config.h"
#include "base/err.h"
#include "base/option.h"

enum command_exit {
	COMMAND_GOOD = 0,
	COMMAND_FAILED = 1,
	COMMAND_MISUSE = 2,
	COMMAND_NO_DATA = 3,
	COMMAND_THRESHOLD = 4,
	COMMAND_NOT_EXECUTABLE = 126, /* the program that was to be run, as in shells */
	COMMAND_NOT_FOUND = 127,
	COMMAND_SIGNAL = 128, /* plus the number of the signal that ended the command */
};

enum command_flags {
	COMMAND_HIDDEN = 1, /* help does not list it */
	/* The command reports problems of the settings itself, so no warnings precede it. */
	COMMAND_CHECKS_CONFIG = 2,
	COMMAND_NO_JSON = 4, /* it has no --json */
};

struct command {
	const struct command_ops *ops;
	const char *name;      /* with its parents, without the program: "model fit" */
	const char *program;   /* "sluice", "sluice lab" */
	const void *args;      /* the struct that ops->options fill */
	int argc;	       /* number of operands */
	char **argv;	       /* the operands, terminated by NULL */
	struct config *config; /* never NULL; the command may set values in it */
};

struct command_ops {
	const char *name;
	const char *help;  /* one line, lower case, starts with a verb, no period */
	const char *about; /* paragraphs separated by empty lines; two leading blanks: an example */
	const char *exit_status; /* sentences for the man page; NULL: the values of command_exit */
	unsigned flags;		 /* enum command_flags */

	/* A group. */
	const struct command_ops *const *subcommands; /* ends with NULL; NULL: this is a leaf */
	const char *fallback; /* subcommand to run if the user names none; NULL: show the help */

	/* A leaf. */
	const char *operands;		/* as in the usage line: "[RUN]"; "" or NULL for none */
	int operands_min, operands_max; /* checked before run(); max -1 for any number */
	const struct option *options;
	size_t args_bytes;
	enum option_order order;
	int (*run)(struct command *command); /* returns the exit code */

	/* Optional; for shell completion (cli/completion.h). */
	/* Offers values for a placeholder such as "RUN"; false: it knows none for it. */
	bool (*complete)(FILE *out, const char *placeholder, const char *prefix);
	/* Completes the operands itself, because they are those of another program. */
	void (*complete_words)(FILE *out, int count, char **words, const char *prefix);
};

/* A heading of the overview and the names of the root's commands below it. */
struct command_section {
	const char *title;
	const char *names; /* separated by blanks */
};

/* An old or short spelling: the words that are replaced, and their replacement. */
struct command_alias {
	const char *from, *to;
};

/* A program: "sluice", or "sluice lab", which is a program of its own. */
struct program {
	const char *name;    /* as the user types it */
	const char *page;    /* name of its man page; prefix of those of its commands */
	const char *summary; /* one line for help and man page */
	const struct command_ops *const *commands;
	const struct command_section *sections; /* ends with an empty row */
	const struct command_alias *aliases;	/* ends with an empty row; NULL for none */
	const char *fallback; /* command to run if the user names none; NULL: show the overview */
};

/* The program that is running; defined beside its main(). */
extern const struct program cli_program;

/* Runs the command that argv names. Returns the exit code. */
int cli_main(int argc, char **argv);

/*
 * Index in argv of the first operand of a leaf at the root; 0 if argv names another command, asks
 * for help, or has no operand. Allocates nothing and prints nothing.
 */
int cli_find_operand(int argc, char **argv, const struct command_ops *leaf);

/* Prints "sluice NAME: message" on stderr. Returns COMMAND_FAILED. */
int command_fail(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints err. `r` is the negative errno of the failure. Returns COMMAND_NO_DATA for -ENODATA and
 * -ENOENT, else COMMAND_FAILED.
 */
int command_fail_err(const struct command *command, int r, const struct err *err);

/* Like command_fail(), followed by a reference to the help. Returns COMMAND_MISUSE. */
int command_misuse(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Checks that a program that is to be run can be found and executed. Returns COMMAND_GOOD; else
 * prints why and returns COMMAND_NOT_FOUND or COMMAND_NOT_EXECUTABLE.
 */
int command_check_program(const struct command *command, const char *program);

/* Prints "sluice NAME: warning: message" on stderr. */
void command_warn(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Flushes stdout. Returns COMMAND_FAILED, with a message, if it could not be written. */
int command_finish(const struct command *command);

/* The command with that name in a list; NULL if there is none. */
const struct command_ops *command_find(const struct command_ops *const *list, const char *name);

/*
 * Follows words[0..count) down the tree as far as they name commands. *used receives the number of
 * words that did. NULL if the first word names no command.
 */
const struct command_ops *command_descend(char **words, int count, int *used);

/*
 * Calls visit() for every command that help lists, groups before their members. `path` is its name
 * with its parents.
 */
void command_visit(void (*visit)(const char *path, const struct command_ops *ops, void *arg),
		   void *arg);

#endif
