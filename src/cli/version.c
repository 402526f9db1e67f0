/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice version: the version of the program.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/command.h"

struct version_args {
	bool json;
};

static const struct option version_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.version/1", OPTION_FLAG,
	  offsetof(struct version_args, json) },
	{ 0 }
};

static int version_run(struct command *command)
{
	const struct version_args *args = command->args;
	struct json json;

	if (args->json) {
		json_start(&json, stdout, "sluice.version/1");
		json_text(&json, "version", SLUICE_VERSION);
		json_end(&json);
	} else {
		puts("sluice " SLUICE_VERSION);
	}
	return command_finish(command);
}

const struct command_ops command_version = {
	.name = "version",
	.help = "print the version",
	.operands = "",
	.options = version_options,
	.args_bytes = sizeof(struct version_args),
	.run = version_run,
};
