/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice site learn: expectations and hint statistics from stored calls.
 */
#include "site/learn.h"

#include "base/interrupt.h"
#include "base/json.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/command.h"
#include "cmd/site/site.h"
#include "site/site.h"
#include "store/durations.h"
#include "trace/format.h"

struct learn_args {
	struct site_args site;
	bool list, json;
};

static const struct option learn_options[] = {
	{ 0, "list", NULL, NULL, "print what was learned instead of learning", OPTION_FLAG,
	  offsetof(struct learn_args, list) },
	OPTION_INCLUDE(site_options, offsetof(struct learn_args, site)),
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.learn/1", OPTION_FLAG,
	  offsetof(struct learn_args, json) },
	{ 0 }
};

static int learn(const struct command *command, struct site_db *site)
{
	const struct learn_args *args = command->args;
	struct learn_totals totals = { 0 };
	struct progress progress;
	struct trace_watch watch = { interrupt_show_progress, &progress };
	struct err err = { 0 };
	struct json json;
	int r;

	progress_start(&progress, "learning", 0);
	r = site_learn(site, command->config, &watch, &totals, &err);
	progress_end(&progress);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	if (!args->json) {
		term_printf(stdout,
			    "learned durations from %llu calls of %llu new run%s, and hints of "
			    "%llu new run%s\n",
			    (unsigned long long)totals.activities, (unsigned long long)totals.runs,
			    totals.runs == 1 ? "" : "s", (unsigned long long)totals.hint_runs,
			    totals.hint_runs == 1 ? "" : "s");
		return COMMAND_GOOD;
	}
	json_start(&json, stdout, "sluice.learn/1");
	json_count(&json, "runs", totals.runs);
	json_count(&json, "activities", totals.activities);
	json_count(&json, "hint_runs", totals.hint_runs);
	json_end(&json);
	return COMMAND_GOOD;
}

struct listing {
	struct table table;
	struct json json;
	bool is_json;
};

static int show_expectation(void *arg, const struct expectation *e)
{
	struct listing *l = arg;
	char size[UNIT_TEXT], median[UNIT_TEXT], slow[UNIT_TEXT];
	double bytes = (double)durations_class_bytes(e->size_class);

	if (l->is_json) {
		json_open(&l->json, NULL, '{');
		json_text(&l->json, "program", e->program);
		json_text(&l->json, "filesystem", *e->filesystem ? e->filesystem : "*");
		json_text(&l->json, "pattern", e->pattern);
		json_text(&l->json, "layer", e->layer);
		json_text(&l->json, "function", e->call);
		json_double(&l->json, "bytes_least", bytes);
		json_count(&l->json, "calls", e->calls);
		json_number(&l->json, "median_ns", e->median_ns);
		json_number(&l->json, "slow_ns", e->slow_ns);
		json_close(&l->json);
		return 0;
	}
	table_add(&l->table, "%s", e->program);
	table_add(&l->table, "%s", *e->filesystem ? e->filesystem : "*");
	table_add(&l->table, "%s", e->layer);
	table_add(&l->table, "%s", e->call);
	table_add(&l->table, "%s", e->pattern);
	table_add(&l->table, "%s", unit_bytes(size, bytes));
	table_add(&l->table, "%llu", (unsigned long long)e->calls);
	table_add(&l->table, "%s", unit_ns(median, e->median_ns));
	table_add(&l->table, "%s", unit_ns(slow, e->slow_ns));
	return 0;
}

static int list(const struct command *command, struct site_db *site)
{
	static const char *const titles[] = { "program", "file system", "layer",  "function",
					      "pattern", ">from bytes", ">calls", ">median",
					      ">99 %",	 NULL };
	const struct learn_args *args = command->args;
	struct listing l = { .is_json = args->json };
	struct err err = { 0 };
	int r;

	table_init(&l.table, titles);
	if (args->json) {
		json_start(&l.json, stdout, "sluice.learn/1");
		json_open(&l.json, "expectations", '[');
	}
	r = site_expectations(site, command->argc ? command->argv[0] : NULL, show_expectation, &l,
			      &err);
	if (args->json)
		json_end(&l.json);
	else if (r >= 0)
		table_print(&l.table, stdout, 0);
	table_release(&l.table);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int learn_run(struct command *command)
{
	const struct learn_args *args = command->args;
	struct site_db *site = NULL;
	struct interrupt stop;
	int ret;

	if (command->argc && !args->list)
		return command_misuse(command, "PROGRAM is only useful with --list");
	ret = site_open_named(command, &args->site, &site);
	if (ret)
		return ret;
	interrupt_catch(&stop);
	ret = (args->list ? list : learn)(command, site);
	interrupt_restore(&stop);
	site_close(site);
	return ret ? ret : command_finish(command);
}

const struct command_ops command_site_learn = {
	.name = "learn",
	.help = "learn how long calls take, and which hints are fast, from the stored calls",
	.operands = "[PROGRAM]",
	.operands_max = 1,
	.about =
		"Reads the calls of runs that were added since the last time, and adds their "
		"durations to histograms per program, file system, access pattern, function and "
		"size, and the "
		"transfer rates of MPI files to the statistics of hints. The setting site.learn "
		"selects the classes of calls and single functions. Run it every night, before "
		"'sluice site archive'. With --list, PROGRAM limits the list to one program and "
		"to the sums over all programs (*); the file system * stands for all file systems.",
	.options = learn_options,
	.args_bytes = sizeof(struct learn_args),
	.run = learn_run,
};
