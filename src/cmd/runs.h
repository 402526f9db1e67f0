/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The traces of past runs: the files of trace.dir, and how a command opens the one it was asked
 * for.
 */
#ifndef SLUICE_CMD_RUNS_H
#define SLUICE_CMD_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

struct command;
struct err;

struct run_file {
	char *path;
	int64_t modified_ns; /* since the epoch */
	uint64_t bytes;
};

/*
 * Newest first. A directory that does not exist holds no runs. The caller frees with runs_free().
 */
int runs_list(const char *directory, struct run_file **runs, size_t *count, struct err *err);
void runs_free(struct run_file *runs, size_t count);

/* Path of the newest run; NULL with a sentence in err where there is none. The caller frees. */
char *runs_last(const char *directory, struct err *err);

/*
 * Opens the command's first operand, or the last run. Returns COMMAND_GOOD; else the message is
 * printed, *trace is zeroed, and the exit code is returned.
 */
int runs_open(const struct command *command, struct trace *trace,
	      const struct trace_filter *filter);

/*
 * Tells on stderr what the trace does not hold. To be called when all was read: damage is found on
 * the way.
 */
void runs_tell_losses(const struct command *command, const struct trace_head *head);

#endif
