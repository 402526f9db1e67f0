/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses options that select a range of time.
 */
#ifndef SLUICE_CLI_WINDOW_H
#define SLUICE_CLI_WINDOW_H

struct command;

/* Both return COMMAND_GOOD; else the error was printed, and they return COMMAND_MISUSE. */

/* --since and --until; an end that is not given (NULL) is infinite. */
int window_take(const struct command *command, const char *from, const char *to, double *from_s,
		double *to_s);

/* --days in seconds; NAN if it is not given. */
int window_days(const struct command *command, const char *days, double *seconds);

#endif
