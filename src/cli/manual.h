/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The manual, written from the rows: --help, man pages, shell completions, and the settings. What a
 * row says is said nowhere else.
 */
#ifndef SLUICE_CLI_MANUAL_H
#define SLUICE_CLI_MANUAL_H

#include <stdio.h>

struct command_ops;

void manual_overview(FILE *out);                             /* `sluice help` */
void manual_help(FILE *out, const struct command_ops *ops);  /* `sluice COMMAND --help` */

void manual_page(FILE *out, const struct command_ops *ops);  /* roff; ops NULL: sluice(1) itself */
void manual_markdown(FILE *out); /* all commands and settings on one page */
void manual_bash(FILE *out);
void manual_zsh(FILE *out);

#endif
