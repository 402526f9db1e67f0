/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/run_argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "observe/profile/profile_parts.h"
#include "observe/report/loss.h"
#include "trace/runs/runs.h"

int run_argument_path(const struct command *command, const char *name, char **path)
{
	struct err err = { 0 };

	*path = runs_find(config_text(command->config, SETTING_TRACE_DIR), name, &err);
	if (*path)
		return COMMAND_GOOD;
	command_fail(command, "%s", err.text);
	return err.code == ENOENT && !name ? COMMAND_NO_DATA : COMMAND_FAILED;
}

int run_argument_open(const struct command *command, struct trace *trace,
		      const struct trace_filter *filter)
{
	AUTO_FREE char *path = NULL;
	struct err err = { 0 };
	int ret;

	*trace = (struct trace){ 0 };
	ret = run_argument_path(command, command->argc ? command->argv[0] : NULL, &path);
	if (ret)
		return ret;
	if (trace_open(trace, path, filter, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static void show_progress(void *progress, uint64_t done)
{
	progress_show(progress, done);
}

int run_argument_read(const struct command *command, struct profile *profile, struct trace *trace)
{
	struct progress progress;
	struct err err = { 0 };
	int ret;

	progress_start(&progress, "reading", trace->head.activities);
	ret = profile_load(profile, trace, parallel_cores(), show_progress, &progress, &err);
	progress_end(&progress);
	return ret < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static void warn_lines(const struct command *command, struct buf *text)
{
	char *rest = NULL;

	if (!text->len)
		return;
	for (char *line = strtok_r(text->data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		command_warn(command, "%s", line);
}

void run_argument_warn_losses(const struct command *command, const struct trace_head *head)
{
	AUTO_BUF struct buf text = { 0 };

	loss_describe(&text, head);
	warn_lines(command, &text);
}

void run_argument_warn_causes(const struct command *command, const struct trace_head *head)
{
	AUTO_BUF struct buf text = { 0 };

	loss_describe_causes(&text, head);
	warn_lines(command, &text);
}

bool run_argument_complete(FILE *out, const char *placeholder, const char *prefix)
{
	struct config config;
	struct runs runs = { 0 };
	bool is_path = strchr(prefix, '/');
	bool found;

	if (!strstr(placeholder, "RUN") || is_path)
		return false;
	config_load(&config);
	runs_read(&runs, config_text(&config, SETTING_TRACE_DIR), NULL);
	for (size_t i = 0; i < runs.count; i++) {
		char id[RUNS_ID_DIGITS + 1];

		snprintf(id, sizeof(id), "%.*s", runs.id_digits, runs.list[i].id);
		completion_offer(out, prefix, id, runs.list[i].name);
	}
	found = runs.count > 0;
	runs_release(&runs);
	config_release(&config);
	return found;
}
