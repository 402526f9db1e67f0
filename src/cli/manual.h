/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Help texts, man pages and the reference, all generated from the tables of commands, options and
 * settings, so that each option is described once. `path` is a command's name with its parents.
 */
#ifndef SLUICE_CLI_MANUAL_H
#define SLUICE_CLI_MANUAL_H

#include <stdio.h>

struct command_ops;

void manual_overview(FILE *out);					      /* `sluice help` */
void manual_help(FILE *out, const char *path, const struct command_ops *ops); /* `... --help` */

/* A man page in roff; ops NULL: the page of the program itself. */
void manual_page(FILE *out, const char *path, const struct command_ops *ops);

/* "sluice-model-fit" for "model fit"; "sluice" for NULL. The caller frees. */
char *manual_page_name(const char *path);

/* Every command and every setting in one Markdown document. */
void manual_markdown(FILE *out);

#endif
