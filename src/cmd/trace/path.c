/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace path: prints the path of a run's trace, for use in scripts.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cmd/run_argument.h"

struct path_args {
	bool json;
};

static const struct option path_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.trace.path/1",
	  OPTION_FLAG, offsetof(struct path_args, json) },
	{ 0 }
};

static int path_run(struct command *command)
{
	const struct path_args *args = command->args;
	AUTO_FREE char *path = NULL;
	int ret = run_argument_path(command, command->argc ? command->argv[0] : NULL, &path);
	struct json json;

	if (ret)
		return ret;
	if (args->json) {
		json_start(&json, stdout, "sluice.trace.path/1");
		json_text(&json, "path", path);
		json_end(&json);
	} else {
		puts(path);
	}
	return command_finish(command);
}

const struct command_ops command_trace_path = {
	.name = "path",
	.help = "print the path of a run's trace file",
	.operands = "[RUN]",
	.operands_max = 1,
	.about = "Without RUN, the latest run is used.\n\n"
		 "  cp \"$(sluice trace path)\" latest.sluice",
	.options = path_options,
	.args_bytes = sizeof(struct path_args),
	.run = path_run,
	.complete = run_argument_complete,
};
