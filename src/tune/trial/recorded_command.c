/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/recorded_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/call.h"
#include "tune/trial/command_template.h"

static void add_word(struct recorded_command *c, const char *word)
{
	c->argv = xgrow(c->argv, &c->capacity, c->argc + 2, sizeof(*c->argv));
	c->argv[c->argc++] = xstrdup(word);
	c->argv[c->argc] = NULL;
}

static void add_setting(struct recorded_command *c, const char *assignment)
{
	add_word(c, "--set");
	add_word(c, assignment);
}

/* Overrides the user's settings. No statistics of the machine are collected. */
void recorded_command_init(struct recorded_command *c, const char *sluice, const char *spool,
			   const char *trace, const char *params)
{
	static const char *const settings[] = { "capture.skip=",
						"plugins.load=",
						"plugins.act=",
						"params.allow=semantics",
						"params.authority=parameters",
						"overhead.budget=0",
						"stats.period=0",
						"run.summary=no",
#define LAYER_SETTING(name, text) "plugins." text ".load=",
						LAYER_LIST(LAYER_SETTING)
#undef LAYER_SETTING
	};
	const char *const words[] = { "run", "--mode", "trace",	   "--tune", "off",
				      "-o",  trace,    "--params", params };

	*c = (struct recorded_command){ 0 };
	add_word(c, sluice);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		add_setting(c, settings[i]);
	c->mode_at = c->argc + 2;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		add_word(c, words[i]);
	if (spool) {
		add_word(c, "--spool-dir");
		add_word(c, spool);
	}
	add_word(c, "--");
	c->command_at = c->argc;
}

void recorded_command_release(struct recorded_command *c)
{
	for (size_t i = 0; i < c->argc; i++)
		free(c->argv[i]);
	free(c->argv);
}

static void set_mode(struct recorded_command *c, bool is_unrecorded)
{
	free(c->argv[c->mode_at]);
	c->argv[c->mode_at] = xstrdup(is_unrecorded ? "off" : "trace");
}

void recorded_command_set(struct recorded_command *c, char *const *argv,
			  const struct param_set *set, const struct param_set *defaults,
			  bool is_unrecorded)
{
	char **command = command_template_fill(argv, set, defaults);

	set_mode(c, is_unrecorded);
	while (c->argc > c->command_at)
		free(c->argv[--c->argc]);
	for (char **word = command; *word; word++)
		add_word(c, *word);
	command_template_free(command);
}

int recorded_command_write_params(const char *path, const struct param_set *set, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	FILE *f;
	int r = param_json.write(set, &text, err);

	if (r < 0)
		return r;
	f = fopen(path, "we");
	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	fwrite(text.data, 1, text.len, f);
	if (ferror(f) | (fclose(f) != 0))
		return err_set(err, ENOSPC, "%s: %s", path, strerror(errno));
	return 0;
}
