/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice version: the version of the program, and with --json how it was built.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/facts.h"

struct version_args {
	bool json;
};

static const struct option version_options[] = {
	{ 'j', "json", NULL, NULL,
	  "print one JSON object of schema sluice.version/1, with the facts of the build",
	  OPTION_FLAG, offsetof(struct version_args, json) },
	{ 0 }
};

static void put_facts(struct json *json, const char *key, const struct fact *facts)
{
	json_open(json, key, '{');
	for (; facts->name; facts++)
		json_text(json, facts->name, facts->value);
	json_close(json);
}

static void print_json(void)
{
	const struct build_facts *facts = &build_facts;
	struct json json;

	json_start(&json, stdout, "sluice.version/1");
	json_text(&json, "version", SLUICE_VERSION);
	json_text(&json, "commit", facts->commit);
	json_bool(&json, "modified", facts->is_modified);
	json_open(&json, "build", '{');
	json_text(&json, "compiler", facts->compiler);
	json_text(&json, "type", facts->type);
	json_text(&json, "flags", facts->flags);
	json_text(&json, "architecture", facts->architecture);
	json_close(&json);
	json_open(&json, "abi", '{');
	json_count(&json, "plugin", facts->plugin_abi);
	json_count(&json, "instrument", facts->instrument_abi);
	json_close(&json);
	put_facts(&json, "interfaces", facts->interfaces);
	put_facts(&json, "libraries", facts->libraries);
	json_open(&json, "parts", '{');
	json_bool(&json, "web", facts->has_web);
	json_bool(&json, "postgresql", facts->has_postgresql);
	json_close(&json);
	json_end(&json);
}

static int version_run(struct command *command)
{
	const struct version_args *args = command->args;

	if (args->json)
		print_json();
	else
		puts("sluice " SLUICE_VERSION);
	return command_finish(command);
}

const struct command_ops command_version = {
	.name = "version",
	.help = "print the version, or how this Sluice was built",
	.operands = "",
	.options = version_options,
	.args_bytes = sizeof(struct version_args),
	.run = version_run,
};
