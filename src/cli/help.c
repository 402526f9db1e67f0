/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice help: the overview, or the help of one command.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/manual.h"

struct help_args {
	bool json;
};

static const struct option help_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.help/2", OPTION_FLAG,
	  offsetof(struct help_args, json) },
	{ 0 },
};

static void json_option(struct json *json, const struct option *row)
{
	char letter[2] = { row->letter, 0 };

	json_open(json, NULL, '{');
	json_text(json, "name", row->name);
	json_text(json, "letter", *letter ? letter : NULL);
	json_text(json, "value", row->value);
	json_text(json, "default", row->fallback);
	json_text(json, "help", row->help);
	json_close(json);
}

/* The JSON that is printed, and the command whose leaves it lists. */
struct listing {
	struct json json;
	const char *path; /* "" for all commands */
};

static bool is_below(const char *path, const char *parent)
{
	size_t n = strlen(parent);

	return strncmp(path, parent, n) == 0 && (!n || !path[n] || path[n] == ' ');
}

static void json_command(const char *path, const struct command_ops *ops, void *arg)
{
	struct listing *listing = arg;
	struct json *json = &listing->json;
	struct option_walk walk;
	const struct option *row;

	if (ops->subcommands || !is_below(path, listing->path))
		return;
	json_open(json, NULL, '{');
	json_text(json, "name", path);
	json_text(json, "help", ops->help);
	json_text(json, "operands", text_or_empty(ops->operands));
	json_bool(json, "json", !(ops->flags & COMMAND_NO_JSON));
	json_open(json, "options", '[');
	option_walk_start(&walk, ops->options);
	while ((row = option_walk_next(&walk)))
		json_option(json, row);
	json_close(json);
	json_close(json);
}

/* Prints the leaves at or below the command. */
static void print_json(const char *path)
{
	struct listing listing = { .path = path };

	json_start(&listing.json, stdout, "sluice.help/2");
	json_open(&listing.json, "commands", '[');
	command_visit(json_command, &listing);
	json_end(&listing.json);
}

static int help_run(struct command *command)
{
	const struct help_args *args = command->args;
	AUTO_BUF struct buf path = { 0 };
	const struct command_ops *ops;
	int used;

	ops = command_descend(command->argv, command->argc, &used);
	if (used < command->argc)
		return command_misuse(command, "unknown command \"%s\"", command->argv[used]);
	for (int i = 0; i < used; i++)
		buf_printf(&path, "%s%s", i ? " " : "", command->argv[i]);
	if (args->json)
		print_json(buf_text(&path));
	else if (ops)
		manual_help(stdout, buf_text(&path), ops);
	else
		manual_overview(stdout);
	return command_finish(command);
}

const struct command_ops command_help = {
	.name = "help",
	.help = "show help for the program or for a command",
	.operands = "[COMMAND [SUBCOMMAND]...]",
	.operands_max = -1,
	.options = help_options,
	.args_bytes = sizeof(struct help_args),
	.run = help_run,
};
