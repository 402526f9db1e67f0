/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site import, export: traces into the database, and runs of the database as traces.
 */
#include "site/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cmd/run_argument.h"
#include "cmd/site/site.h"
#include "site/build.h"
#include "observe/stats/mount_table.h"
#include "site/reader.h"
#include "site/site.h"
#include "trace/format.h"

struct import_args {
	struct site_args site;
	uint64_t sample;
	const char *owner, *job, *partition;
	bool json;
};

static const struct option import_options[] = {
	{ 0, "sample", "N", NULL,
	  "store one of N calls; 1: all, 0: none (default: the setting site.sample)", OPTION_COUNT,
	  offsetof(struct import_args, sample) },
	{ 0, "owner", "USER", NULL, "user whose runs they are (default: the user in the trace)",
	  OPTION_TEXT, offsetof(struct import_args, owner) },
	{ 0, "job", "ID", NULL, "job of the scheduler that the runs belong to", OPTION_TEXT,
	  offsetof(struct import_args, job) },
	{ 0, "partition", "NAME", NULL, "partition of the job", OPTION_TEXT,
	  offsetof(struct import_args, partition) },
	OPTION_INCLUDE(site_options, offsetof(struct import_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.import/1", OPTION_FLAG,
	  offsetof(struct import_args, json) },
	{ 0 }
};

static int import_run_named(const struct command *command, struct site_db *site, const char *name,
			    struct import_totals *totals)
{
	const struct import_args *args = command->args;
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct mount_table mounts = { 0 };
	char host[256] = "";
	struct build_options options = {
		.config = command->config,
		.owner = args->owner,
		.job = args->job,
		.partition = args->partition,
		.sample = args->sample == OPTION_NONE
				  ? config_number(command->config, SETTING_SITE_SAMPLE)
				  : args->sample,
		.mounts = &mounts,
		.mounts_host = host,
		.watch = &watch,
	};
	AUTO_FREE char *path = NULL;
	struct err err = { 0 };
	int ret = run_argument_path(command, name, &path);

	if (ret)
		return ret;
	gethostname(host, sizeof(host) - 1);
	mount_table_load(&mounts);
	progress_start(&progress, "importing", 0);
	ret = site_import(site, path, &options, totals, &err);
	progress_end(&progress);
	mount_table_release(&mounts);
	return ret < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static void print_totals(const struct command *command, const struct import_totals *totals)
{
	const struct import_args *args = command->args;
	struct json json;

	if (!args->json) {
		term_printf(stdout, "imported %llu run%s with %llu calls\n",
			    (unsigned long long)totals->runs, totals->runs == 1 ? "" : "s",
			    (unsigned long long)totals->activities);
		return;
	}
	json_start(&json, stdout, "sluice.import/1");
	json_count(&json, "runs", totals->runs);
	json_count(&json, "activities", totals->activities);
	json_count(&json, "bytes", totals->rows_bytes);
	json_end(&json);
}

static int import_run(struct command *command)
{
	const struct import_args *args = command->args;
	struct import_totals totals = { 0 };
	struct site_db *site = NULL;
	struct interrupt stop;
	int ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	for (int i = 0; i < (command->argc ? command->argc : 1) && !ret; i++)
		ret = import_run_named(command, site, command->argc ? command->argv[i] : NULL,
				       &totals);
	interrupt_restore(&stop);
	site_close(site);
	print_totals(command, &totals);
	return ret ? ret : command_finish(command);
}

struct export_args {
	struct site_args site;
};

static const struct option site_export_options[] = {
	OPTION_INCLUDE(site_options, offsetof(struct export_args, site)), { 0 }
};

static int convert_run(const struct command *command, struct site_db *site)
{
	const char *path = command->argv[1];
	const struct trace_format *format = trace_format_by_suffix(path);
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct err err = { 0 };
	struct trace trace;
	int r = site_read(&trace, site, command->argv[0], &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	progress_start(&progress, "exporting", trace.head.activities);
	r = trace_convert(&trace, format ? format : &trace_container, path, &watch, &err);
	progress_end(&progress);
	trace_close(&trace);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int export_run(struct command *command)
{
	const struct export_args *args = command->args;
	struct site_db *site = NULL;
	struct interrupt stop;
	int ret = site_open_named(command, &args->site, &site);

	if (ret)
		return ret;
	interrupt_catch(&stop);
	ret = convert_run(command, site);
	interrupt_restore(&stop);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_import = {
	.name = "import",
	.help = "add recorded runs to the database",
	.operands = "[RUN...]",
	.operands_max = -1,
	.about = "Without RUN, the latest run is imported. A log of Darshan can take the place of "
		 "a RUN. The database receives the run, its processes, files, node statistics and "
		 "notes, its sums per rank, file and layer, its findings, and its calls as "
		 "--sample says. A run that the database has already is replaced. Users can import "
		 "their own runs only; the daemon and administrators import those of everybody.\n\n"
		 "The settings site.paths and site.commands decide whether paths are hashed and "
		 "command lines omitted.",
	.options = import_options,
	.args_bytes = sizeof(struct import_args),
	.run = import_run,
	.complete = run_argument_complete,
};

const struct command_ops command_site_export = {
	.name = "export",
	.help = "write a run of the database as a trace",
	.operands = "RUN OUT",
	.operands_min = 2,
	.operands_max = 2,
	.about = "RUN is the id of the run, or a unique prefix of it. The suffix of OUT decides "
		 "the format, as for 'sluice trace convert'. If the database has only a sample of "
		 "the calls, so has the trace.",
	.flags = COMMAND_NO_JSON,
	.options = site_export_options,
	.args_bytes = sizeof(struct export_args),
	.run = export_run,
};
