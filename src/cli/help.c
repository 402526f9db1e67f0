/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice help: the manual of the program or of one command.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/manual.h"

struct help_args {
	bool json;
};

static const struct option help_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.help/1", OPTION_FLAG,
	  offsetof(struct help_args, json) },
	{ 0 }
};

static void help_json(const struct command_ops *only)
{
	struct json json;

	json_start(&json, stdout, "sluice.help/1");
	json_open(&json, "commands", '[');
	for (size_t i = 0; commands[i]; i++) {
		if (only ? commands[i] != only : commands[i]->flags & COMMAND_HIDDEN)
			continue;
		json_open(&json, NULL, '{');
		json_text(&json, "name", commands[i]->name);
		json_text(&json, "help", commands[i]->help);
		json_text(&json, "operands", commands[i]->operands);
		json_open(&json, "options", '[');
		for (const struct option *row = commands[i]->options; row && row->name; row++) {
			json_open(&json, NULL, '{');
			json_text(&json, "name", row->name);
			json_text(&json, "value", row->value);
			json_text(&json, "default", row->fallback);
			json_text(&json, "help", row->help);
			json_close(&json);
		}
		json_close(&json);
		json_close(&json);
	}
	json_end(&json);
}

static int help_run(struct command *command)
{
	const struct help_args *args = command->args;
	const struct command_ops *ops = command->argc ? command_find(command->argv[0]) : NULL;

	if (command->argc && !ops)
		return command_misuse(command, "there is no command \"%s\"", command->argv[0]);
	if (args->json)
		help_json(ops);
	else if (ops)
		manual_help(stdout, ops);
	else
		manual_overview(stdout);
	return command_finish(command);
}

const struct command_ops command_help = {
	.name = "help",
	.help = "explain sluice or one of its commands",
	.operands = "[COMMAND]",
	.operands_max = 1,
	.options = help_options,
	.args_bytes = sizeof(struct help_args),
	.run = help_run,
};
