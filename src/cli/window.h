/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spans of time as options name them.
 */
#ifndef SLUICE_CLI_WINDOW_H
#define SLUICE_CLI_WINDOW_H

struct command;

/* All return COMMAND_GOOD, or COMMAND_MISUSE when what is wrong has been said. */

/* --from and --to; an end that is not given (NULL) is infinite. */
int window_take(const struct command *command, const char *from, const char *to, double *from_s,
		double *to_s);

/* --days in seconds; NAN: not given. */
int window_days(const struct command *command, const char *days, double *seconds);

#endif
