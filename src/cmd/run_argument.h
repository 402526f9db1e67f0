/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The RUN argument of commands: a path, a run id, a unique prefix of an id, or nothing, which means
 * the latest run (trace/runs/runs.h).
 */
#ifndef SLUICE_CMD_RUN_ARGUMENT_H
#define SLUICE_CMD_RUN_ARGUMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/format.h"

struct command;
struct profile;

/*
 * The path of the trace that `name` means; NULL name: the latest run. Returns COMMAND_GOOD and the
 * path, which the caller frees; else prints why and returns the exit code.
 */
int run_argument_path(const struct command *command, const char *name, char **path);

/*
 * Opens the trace that the command's first operand means. Returns COMMAND_GOOD; else prints why,
 * zeroes *trace and returns the exit code.
 */
int run_argument_open(const struct command *command, struct trace *trace,
		      const struct trace_filter *filter);

/*
 * Initializes a profile with an open trace, which may be a saved profile, and shows the progress.
 * Returns COMMAND_GOOD; else prints why and returns the exit code; there is nothing to release
 * then.
 */
int run_argument_read(const struct command *command, struct profile *profile, struct trace *trace);

/*
 * Warns about what the trace does not contain. Call it after everything was read, because damage is
 * found while reading.
 */
void run_argument_warn_losses(const struct command *command, const struct trace_head *head);

/* Warns about lost calls and unrecorded processes only. */
void run_argument_warn_causes(const struct command *command, const struct trace_head *head);

/* Offers run ids to the shell for the placeholder RUN (struct command_ops). */
bool run_argument_complete(FILE *out, const char *placeholder, const char *prefix);

#endif
