/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice config show: the current settings and the source of each value.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"

struct config_args {
	bool show_origin, json;
};

static const struct option config_options[] = {
	{ 0, "show-origin", NULL, NULL,
	  "show the file and line, variable or option that set each value", OPTION_FLAG,
	  offsetof(struct config_args, show_origin) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.config/1", OPTION_FLAG,
	  offsetof(struct config_args, json) },
	{ 0 }
};

/* Selects settings by "section" or "section.key"; NULL selects every setting. */
static bool is_wanted(const char *section, const char *key, const char *want)
{
	AUTO_FREE char *name = xprintf("%s.%s", section, key);

	return !want || strcmp(want, section) == 0 || strcmp(want, name) == 0;
}

/* A setting, or a key of a plug-in's own section (row NULL). */
struct shown {
	const struct setting *row;
	const char *section, *key, *text, *origin;
};

/* Finds the next wanted setting, starting at *at; false at the end. */
static bool find_next(const struct config *config, const char *want, size_t *at,
		      struct shown *shown)
{
	for (; *at < SETTING_COUNT + config->extra_count; ++*at) {
		if (*at < SETTING_COUNT) {
			const struct config_value *value = &config->values[*at];
			const struct setting *row = &settings[*at];

			*shown = (struct shown){ row, row->section, row->key, value->text,
						 value->origin };
		} else {
			const struct config_extra *extra = &config->extras[*at - SETTING_COUNT];

			*shown = (struct shown){ NULL, extra->section, extra->key, extra->text,
						 extra->origin };
		}
		if (is_wanted(shown->section, shown->key, want)) {
			++*at;
			return true;
		}
	}
	return false;
}

static void show_text(const struct config *config, const char *want, bool origin)
{
	struct shown shown;

	for (size_t at = 0; find_next(config, want, &at, &shown);) {
		if (origin)
			term_printf(stdout, "%s", shown.origin), putchar('\t');
		term_printf(stdout, "%s.%s = %s\n", shown.section, shown.key, shown.text);
	}
}

static void show_json(const struct config *config, const char *want)
{
	struct shown shown;
	struct json json;

	json_start(&json, stdout, "sluice.config/1");
	json_open(&json, "settings", '[');
	for (size_t at = 0; find_next(config, want, &at, &shown);) {
		json_open(&json, NULL, '{');
		json_text(&json, "section", shown.section);
		json_text(&json, "key", shown.key);
		json_text(&json, "value", shown.text);
		json_text(&json, "origin", shown.origin);
		if (shown.row) {
			json_text(&json, "default", shown.row->fallback);
			json_text(&json, "environment", shown.row->environment);
			json_text(&json, "help", shown.row->help);
		}
		json_close(&json);
	}
	json_close(&json);
	json_open(&json, "problems", '[');
	for (size_t i = 0; i < config->problem_count; i++)
		json_text(&json, NULL, config->problems[i]);
	json_end(&json);
}

/* The current name of a setting, which may be given by a name of an earlier version. */
static char *current_name(const char *name)
{
	int id = config_find(name, NULL);

	return id < 0 ? xstrdup(name) : xprintf("%s.%s", settings[id].section, settings[id].key);
}

static int config_run(struct command *command)
{
	const struct config_args *args = command->args;
	const struct config *config = command->config;
	AUTO_FREE char *want = command->argc ? current_name(command->argv[0]) : NULL;
	struct shown shown;
	size_t at = 0;
	int ret;

	if (!find_next(config, want, &at, &shown))
		return command_misuse(command, "unknown setting \"%s\"", want);
	if (args->json)
		show_json(config, want);
	else
		show_text(config, want, args->show_origin);
	ret = command_finish(command);
	for (size_t i = 0; i < config->problem_count; i++)
		ret = command_fail(command, "%s", config->problems[i]);
	return ret;
}

const struct command_ops command_config_show = {
	.name = "show",
	.help = "show the current settings and the source of each value",
	.operands = "[SECTION[.KEY]]",
	.operands_max = 1,
	.about = "A later source overrides an earlier one: the default, /etc/sluice.conf, "
		 "${XDG_CONFIG_HOME:-~/.config}/sluice/config, the file that SLUICE_CONFIG names, "
		 "the environment, the command line (sluice --set). If a source contains a "
		 "mistake, it is described on standard error and the exit status is 1. A name "
		 "that a setting had in an earlier version still works and shows the current "
		 "name.\n\n"
		 "The contents of [plugins.LAYER] and [plugin.NAME] follow the other settings. "
		 "Only plug-ins that plugins.act (or plugins.load) names act on programs; by "
		 "default none does:\n\n"
		 "  [plugins]\n"
		 "  act = history read_ahead",
	.options = config_options,
	.args_bytes = sizeof(struct config_args),
	.flags = COMMAND_CHECKS_CONFIG,
	.run = config_run,
};
