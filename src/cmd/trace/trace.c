/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace: commands that work on trace files.
 */
#include "cli/command.h"

extern const struct command_ops command_trace_convert, command_trace_export, command_trace_merge,
	command_trace_path, command_trace_recover;

static const struct command_ops *const subcommands[] = {
	&command_trace_convert, &command_trace_export, &command_trace_merge,
	&command_trace_recover, &command_trace_path,   NULL,
};

const struct command_ops command_trace = {
	.name = "trace",
	.help = "convert, export, merge and recover trace files",
	.subcommands = subcommands,
};
