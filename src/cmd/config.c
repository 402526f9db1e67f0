/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice config: the settings in force and who set them.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/command.h"

struct config_args {
	bool show_origin, json;
};

static const struct option config_options[] = {
	{ 'o', "show-origin", NULL, NULL,
	  "show which file and line, variable or option set each value", OPTION_FLAG,
	  offsetof(struct config_args, show_origin) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.config/1", OPTION_FLAG,
	  offsetof(struct config_args, json) },
	{ 0 }
};

/* NULL wants everything; else "section" or "section.key". */
static bool is_wanted(const struct setting *row, const char *want)
{
	AUTO_FREE char *name = xprintf("%s.%s", row->section, row->key);

	return !want || strcmp(want, row->section) == 0 || strcmp(want, name) == 0;
}

static void show_text(const struct config *config, const char *want, bool origin)
{
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct config_value *value = &config->values[id];

		if (!is_wanted(&settings[id], want))
			continue;
		if (origin)
			printf("%s\t", value->origin);
		printf("%s.%s = %s\n", settings[id].section, settings[id].key, value->text);
	}
}

static void show_json(const struct config *config, const char *want)
{
	struct json json;

	json_start(&json, stdout, "sluice.config/1");
	json_open(&json, "settings", '[');
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct setting *row = &settings[id];

		if (!is_wanted(row, want))
			continue;
		json_open(&json, NULL, '{');
		json_text(&json, "section", row->section);
		json_text(&json, "key", row->key);
		json_text(&json, "value", config->values[id].text);
		json_text(&json, "origin", config->values[id].origin);
		json_text(&json, "default", row->fallback);
		json_text(&json, "environment", row->environment);
		json_text(&json, "help", row->help);
		json_close(&json);
	}
	json_close(&json);
	json_open(&json, "problems", '[');
	for (size_t i = 0; i < config->problem_count; i++)
		json_text(&json, NULL, config->problems[i]);
	json_end(&json);
}

static int config_run(struct command *command)
{
	const struct config_args *args = command->args;
	const struct config *config = command->config;
	const char *want = command->argc ? command->argv[0] : NULL;
	bool known = false;
	int ret;

	for (int id = 0; id < SETTING_COUNT; id++)
		known |= is_wanted(&settings[id], want);
	if (!known)
		return command_misuse(command, "there is no setting \"%s\"", want);
	if (args->json)
		show_json(config, want);
	else
		show_text(config, want, args->show_origin);
	ret = command_finish(command);
	for (size_t i = 0; i < config->problem_count; i++)
		ret = command_fail(command, "%s", config->problems[i]);
	return ret;
}

const struct command_ops command_config = {
	.name = "config",
	.help = "show the settings in force, and where each comes from",
	.operands = "[SECTION[.KEY]]",
	.operands_max = 1,
	.about = "A later source wins: the default, /etc/sluice.conf, "
		 "${XDG_CONFIG_HOME:-~/.config}/sluice/config, the file that SLUICE_CONFIG "
		 "names, the environment, the command line (sluice --set). Exit status 1 tells "
		 "that a source holds something wrong; each case is named on standard error.",
	.options = config_options,
	.args_bytes = sizeof(struct config_args),
	.flags = COMMAND_JUDGES_CONFIG,
	.run = config_run,
};
