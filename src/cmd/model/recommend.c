/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model recommend: prints the settings with the shortest predicted time, their speedup, and
 * whether it is significant.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "params/set.h"
#include "predict/model/access_words.h"
#include "predict/model/hybrid/advice.h"

static const struct option recommend_options[] = {
	OPTION_INCLUDE(model_access_options, 0),
	OPTION_INCLUDE(model_file_options, 0),
	OPTION_INCLUDE(model_space_options, 0),
	OPTION_INCLUDE(model_coverage_options, 0),
	{ 't', "top", "N", "5", "show the N best settings", OPTION_COUNT,
	  offsetof(struct model_args, top) },
	{ 'o', "output", "FILE", NULL, "write the settings to FILE as hints", OPTION_TEXT,
	  offsetof(struct model_args, output) },
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 }
};

/* What was asked for, and the advice. */
struct asked {
	const struct model_args *args;
	struct hybrid hybrid;
	struct advice advice;
};

static void print_verdict(const struct asked *asked)
{
	const char *output = asked->args->output;
	AUTO_BUF struct buf text = { 0 };
	char *rest, *line;

	advice_verdict(&asked->advice, &text);
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			term_sentence(stdout, "%s\n", line);
	if (asked->advice.recommendation.keep)
		return;
	if (output)
		term_printf(stdout, "To apply it: sluice run --params %s -- mpiexec ...\n", output);
	else
		printf("To apply it, write the settings with -o best.hints, then: sluice run "
		       "--params best.hints -- mpiexec ...\n");
}

static void add_times(struct table *table, const struct advice *a, double seconds, double low,
		      double high)
{
	char time[UNIT_TEXT], from[UNIT_TEXT], to[UNIT_TEXT];

	table_add(table, "%s", model_show_seconds(time, seconds));
	table_add(table, "%s to %s", model_show_seconds(from, low), model_show_seconds(to, high));
	table_add(table, "%.2f", a->recommendation.initial_seconds / seconds);
}

static void print_top(const struct advice *a)
{
	static const char *const titles[] = { ">predicted", ">interval", ">speedup", "settings",
					      NULL };
	struct table table;

	if (!a->row_count)
		return;
	table_init(&table, titles);
	add_times(&table, a, a->recommendation.initial_seconds, a->initial_low, a->initial_high);
	table_add(&table, "current settings");
	for (size_t i = 0; i < a->row_count; i++) {
		const struct advice_row *row = &a->rows[i];
		AUTO_FREE char *line = settings_text(&a->choices.list[row->choice],
						     &a->hybrid->machine, &a->access);

		add_times(&table, a, row->seconds, row->low, row->high);
		table_add(&table, "%s", line);
	}
	term_sentence(stdout, "\nTop %zu of %zu:\n", a->row_count, a->choices.count);
	table_print(&table, stdout, 2);
	table_release(&table);
}

static void print_advice(const struct asked *asked)
{
	const struct advice *a = &asked->advice;
	char access[ACCESS_TEXT];

	access_text(&a->access, access);
	term_printf(stdout, "%s.\n", access);
	print_verdict(asked);
	print_top(a);
	if (a->recommendation.is_outside)
		term_sentence(stdout,
			      "\n"
			      "Part of this access is outside the measured range, which widens the "
			      "intervals.\n");
	if (a->choices.unknown.len)
		term_sentence(stdout, "\nThe model does not know %s; they were left unset.\n",
			      buf_text(&a->choices.unknown));
}

static void print_advice_json(const struct advice *a)
{
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	advice_json(a, &json);
	json_end(&json);
}

/*
 * Writes a hints file, which ROMIO and `sluice run --params` read, unless no change is recommended.
 */
static int write_advice(const struct command *command, const struct asked *asked)
{
	const struct advice *a = &asked->advice;
	const char *output = asked->args->output;
	struct param_set set = { 0 };
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	int r;

	if (!output)
		return COMMAND_GOOD;
	if (a->recommendation.keep) {
		command_warn(command, "%s was not written because no change is recommended",
			     output);
		return COMMAND_GOOD;
	}
	r = settings_to_params(&a->choices.list[a->recommendation.best], &a->hybrid->machine,
			       &a->access, &set, &err);
	if (r >= 0)
		r = param_hints.write(&set, &text, &err);
	param_set_release(&set);
	if (r >= 0)
		r = file_write_all(output, text.data, text.len, &err);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int give_advice(const struct command *command, struct asked *asked)
{
	const struct machine *machine = &asked->hybrid.machine;
	struct advice *a = &asked->advice;
	struct err err = { 0 };
	int ret = model_access(command, asked->args, machine, &asked->hybrid, &a->access), r;

	if (!ret)
		ret = model_settings(command, asked->args, machine, &a->access, &a->initial, NULL);
	if (ret)
		return ret;
	r = advice_find(a, &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	ret = write_advice(command, asked);
	if (ret)
		return ret;
	model_warn(command, &asked->hybrid);
	if (asked->args->json)
		print_advice_json(a);
	else
		print_advice(asked);
	return command_finish(command);
}

static int recommend_run(struct command *command)
{
	const struct model_args *args = command->args;
	struct asked asked = {
		.args = args,
		.advice = { .hybrid = &asked.hybrid, .space = args->space, .top = args->top },
	};
	int ret = model_coverage(command, args, &asked.advice.coverage);

	if (!ret)
		ret = model_open(command, args, &asked.hybrid);
	if (!ret)
		ret = give_advice(command, &asked);
	advice_release(&asked.advice);
	hybrid_release(&asked.hybrid);
	return ret;
}

const struct command_ops command_model_recommend = {
	.name = "recommend",
	.help = "recommend settings for a collective access",
	.about = "Prints the settings with the shortest predicted time and their speedup over the "
		 "current settings: the machine's defaults, or --param. If the prediction "
		 "interval includes a loss, no change is recommended. --output writes the "
		 "settings as a hints file for 'sluice run --params FILE' or for ROMIO_HINTS.\n\n"
		 "  sluice model recommend -n 64 -s 16M -o best.hints",
	.options = recommend_options,
	.args_bytes = sizeof(struct model_args),
	.run = recommend_run,
	.complete = run_argument_complete,
};
