/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shell completion. The scripts for bash and zsh ask the program itself (`sluice internal
 * complete`), which reads the tables of commands and options, so they never go stale.
 *
 * The answer has one candidate per line. A tab and a description may follow the candidate. Two
 * lines have a special meaning: ":files" asks the shell for file names, ":commands" for programs.
 */
#ifndef SLUICE_CLI_COMPLETION_H
#define SLUICE_CLI_COMPLETION_H

#include <stdio.h>

/*
 * Prints the candidates for words[index], which may be empty or missing. words[0..count) follow the
 * name of the program.
 */
void completion_print(FILE *out, int index, int count, char **words);

/* Prints a candidate if it begins with `prefix`. `description` may be NULL. */
void completion_offer(FILE *out, const char *prefix, const char *candidate,
		      const char *description);

/* Print the scripts that a shell loads. */
void completion_bash(FILE *out);
void completion_zsh(FILE *out);

#endif
