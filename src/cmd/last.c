/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice last: the path of the newest trace, for use in other commands.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cmd/runs.h"

struct last_args {
	bool json;
};

static const struct option last_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.last/1", OPTION_FLAG,
	  offsetof(struct last_args, json) },
	{ 0 }
};

static int last_run(struct command *command)
{
	const struct last_args *args = command->args;
	struct err err = { 0 };
	AUTO_FREE char *path = runs_last(config_text(command->config, SETTING_TRACE_DIR), &err);
	struct json json;

	if (!path) {
		command_fail(command, "%s", err.text);
		return err.code == ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	if (args->json) {
		json_start(&json, stdout, "sluice.last/1");
		json_text(&json, "path", path);
		json_end(&json);
	} else {
		puts(path);
	}
	return command_finish(command);
}

const struct command_ops command_last = {
	.name = "last",
	.help = "print the path of the newest trace",
	.operands = "",
	.options = last_options,
	.args_bytes = sizeof(struct last_args),
	.run = last_run,
};
