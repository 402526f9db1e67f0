/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses options that select a range of time.
 */
#ifndef SLUICE_CLI_WINDOW_H
#define SLUICE_CLI_WINDOW_H

struct command;

/* Both functions return COMMAND_GOOD, or print an error and return COMMAND_MISUSE. */

/* Parses --since and --until; NULL means an infinite end. */
int window_parse(const struct command *command, const char *since, const char *until,
		 double *from_s, double *to_s);

/* Parses --days and converts it to seconds; NAN if `days` is NULL. */
int window_parse_days(const struct command *command, const char *days, double *seconds);

#endif
