/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shell completion. The scripts for bash and zsh ask the program itself (`sluice internal
 * complete`), which reads the tables of commands and options, so they never go stale.
 *
 * An answer is one candidate per line, with a tab and a description after it where there is one.
 * Two lines have a special meaning: ":files" asks the shell for file names, ":commands" for
 * programs.
 */
#ifndef SLUICE_CLI_COMPLETION_H
#define SLUICE_CLI_COMPLETION_H

#include <stdio.h>

/*
 * Prints the candidates for words[index], which may be empty or missing. words[0..count) are those
 * after the name of the program.
 */
void completion_print(FILE *out, int index, int count, char **words);

/* Prints a candidate if it begins with `prefix`. description NULL: none. */
void completion_offer(FILE *out, const char *prefix, const char *candidate,
		      const char *description);

void completion_bash(FILE *out);
void completion_zsh(FILE *out);

#endif
