/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site forget, archive: remove data, and move calls to the archive.
 */
#include "site/forget.h"

#include <errno.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cmd/site/site.h"
#include "site/archive.h"
#include "site/rows.h"
#include "site/site.h"
#include "trace/format.h"

struct forget_args {
	struct site_args site;
	bool user, json;
};

static const struct option forget_options[] = {
	{ 0, "user", NULL, NULL, "the operands are users, even if they look like ids of runs",
	  OPTION_FLAG, offsetof(struct forget_args, user) },
	OPTION_INCLUDE(site_options, offsetof(struct forget_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.forget/1", OPTION_FLAG,
	  offsetof(struct forget_args, json) },
	{ 0 }
};

static bool is_run(const char *word)
{
	return strlen(word) == ROWS_UUID_DIGITS &&
	       strspn(word, "0123456789abcdef") == ROWS_UUID_DIGITS;
}

static void print_forgotten(const struct command *command, const struct forget_totals *totals)
{
	const struct forget_args *args = command->args;
	struct json json;

	if (!args->json) {
		term_printf(stdout, "removed %llu run%s, %llu of them also from the archive\n",
			    (unsigned long long)totals->runs, totals->runs == 1 ? "" : "s",
			    (unsigned long long)totals->archives);
		return;
	}
	json_start(&json, stdout, "sluice.forget/1");
	json_count(&json, "runs", totals->runs);
	json_count(&json, "archives", totals->archives);
	json_count(&json, "partitions", totals->partitions);
	json_end(&json);
}

static int forget_all(const struct command *command, struct site_db *site)
{
	const struct forget_args *args = command->args;
	const char *archive = config_text(command->config, SETTING_SITE_ARCHIVE);
	struct forget_totals totals = { 0 };
	struct err err = { 0 };
	int r = 0;

	for (int i = 0; i < command->argc && r >= 0; i++) {
		const char *what = command->argv[i];

		r = !args->user && is_run(what) ? forget_run(site, archive, what, &totals, &err)
						: forget_user(site, archive, what, &totals, &err);
	}
	if (r >= 0)
		r = forget_compact(site, &totals.partitions, &err);
	if (r >= 0)
		r = forget_vacuum(site, &err);
	print_forgotten(command, &totals);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

static int forget_command(struct command *command)
{
	const struct forget_args *args = command->args;
	struct site_db *site = NULL;
	int ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	ret = forget_all(command, site);
	site_close(site);
	return ret ? ret : command_finish(command);
}

struct archive_args {
	struct site_args site;
	bool json;
};

static const struct option archive_options[] = {
	OPTION_INCLUDE(site_options, offsetof(struct archive_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.archive/1", OPTION_FLAG,
	  offsetof(struct archive_args, json) },
	{ 0 }
};

static void print_archived(const struct command *command, const struct archive_totals *totals)
{
	const struct archive_args *args = command->args;
	char size[UNIT_TEXT];
	struct json json;

	if (!args->json) {
		term_printf(
			stdout,
			"archived %llu calls of %llu run%s (%s); removed %llu old run%s; "
			"dropped %llu empty partition%s\n",
			(unsigned long long)totals->activities, (unsigned long long)totals->runs,
			totals->runs == 1 ? "" : "s", unit_bytes(size, (double)totals->bytes),
			(unsigned long long)totals->removed, totals->removed == 1 ? "" : "s",
			(unsigned long long)totals->partitions, totals->partitions == 1 ? "" : "s");
		return;
	}
	json_start(&json, stdout, "sluice.archive/1");
	json_count(&json, "runs", totals->runs);
	json_count(&json, "activities", totals->activities);
	json_count(&json, "bytes", totals->bytes);
	json_count(&json, "removed", totals->removed);
	json_count(&json, "partitions", totals->partitions);
	json_end(&json);
}

static int archive_all(const struct command *command, struct site_db *site)
{
	const char *archive = config_text(command->config, SETTING_SITE_ARCHIVE);
	struct archive_totals totals = { 0 };
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct err err = { 0 };
	int r = 0;

	progress_start(&progress, "archiving", 0);
	for (int i = 0; i < command->argc && r >= 0; i++)
		r = archive_run(site, archive, command->argv[i], &totals, &err);
	if (!command->argc)
		r = archive_retain(site, command->config, &watch, &totals, &err);
	else if (r >= 0)
		r = forget_compact(site, &totals.partitions, &err);
	progress_end(&progress);
	print_archived(command, &totals);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

static int archive_command(struct command *command)
{
	const struct archive_args *args = command->args;
	struct site_db *site = NULL;
	struct interrupt stop;
	int ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	ret = archive_all(command, site);
	interrupt_restore(&stop);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_forget = {
	.name = "forget",
	.help = "remove users or runs from the database and the archive",
	.operands = "USER|RUN...",
	.operands_min = 1,
	.operands_max = -1,
	.about = "RUN is the complete id of a run, 32 hexadecimal digits; everything else is the "
		 "name of a user. All rows and archived files are removed. What nodes still send "
		 "of these runs, or of earlier runs of the user, is refused. Users can remove "
		 "their own runs; run the command as the owner of the archive to remove archived "
		 "calls.\n\n"
		 "Traces that users keep in their own directories are not touched; use 'sluice "
		 "rm'.",
	.options = forget_options,
	.args_bytes = sizeof(struct forget_args),
	.run = forget_command,
};

const struct command_ops command_site_archive = {
	.name = "archive",
	.help = "move old calls to Parquet files, and remove old runs",
	.operands = "[RUN...]",
	.operands_max = -1,
	.about = "Without RUN, the settings site.keep_activities, site.keep_size and "
		 "site.keep_runs decide what moves and what is removed; run the command every "
		 "night. Calls of a run move to the directory run=ID of the archive (setting "
		 "site.archive); its sums and findings stay in the database. "
		 "docs/reference/site.md shows how DuckDB queries the archive.",
	.options = archive_options,
	.args_bytes = sizeof(struct archive_args),
	.run = archive_command,
};
