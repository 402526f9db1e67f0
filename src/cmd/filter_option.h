/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options by which commands select calls of a trace: one table, which a command includes with
 * OPTION_INCLUDE() in its own.
 */
#ifndef SLUICE_CMD_FILTER_OPTION_H
#define SLUICE_CMD_FILTER_OPTION_H

#include "base/option.h"
#include "trace/format.h"

struct command;

struct filter_args {
	uint64_t rank;
	const char *layers, *file, *collective;
	struct option_span between;
	int64_t min_duration_ns;
};

extern const struct option filter_options[];

/*
 * Sets the filter, which refers to texts of args. Returns COMMAND_GOOD; else prints why and returns
 * the exit code.
 */
int filter_option_parse(const struct command *command, const struct filter_args *args,
			struct trace_filter *filter);

#endif
