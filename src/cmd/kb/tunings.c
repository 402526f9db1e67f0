/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb tunings: lists the tunings in the store, or the runs of one of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cmd/recovered.h"
#include "store/studies.h"
#include "tune/loop/outcome.h"
#include "tune/loop/session.h"

struct tunings_args {
	bool forget, json;
};

static const struct option tunings_options[] = {
	{ 0, "forget", NULL, NULL, "delete tuning ID and its runs from the store", OPTION_FLAG,
	  offsetof(struct tunings_args, forget) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " TUNE_SCHEMA, OPTION_FLAG,
	  offsetof(struct tunings_args, json) },
	{ 0 }
};

/* A study, kept until its runs can be read. */
struct listed {
	int64_t id, begun_ns;
	char *command, *state, *plan;
	size_t runs;
	double gain, low, high; /* proved; NAN: none */
	char *compared;		/* of the last run that has it; NULL: none */
};

struct listing {
	struct listed *list;
	size_t count, cap;
};

static int append_study(void *arg, const struct study *study)
{
	struct listing *listing = arg;

	listing->list =
		xgrow(listing->list, &listing->cap, listing->count + 1, sizeof(*listing->list));
	listing->list[listing->count++] = (struct listed){
		.id = study->id,
		.begun_ns = study->begun_ns,
		.command = xstrdup(study->command),
		.state = xstrdup(study->state),
		.plan = xstrdup(study->plan),
		.gain = study->gain,
		.low = study->gain_low,
		.high = study->gain_high,
	};
	return 0;
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		free(listing->list[i].command);
		free(listing->list[i].state);
		free(listing->list[i].plan);
		free(listing->list[i].compared);
	}
	free(listing->list);
}

static int count_run(void *arg, const struct study_run *run)
{
	struct listed *listed = arg;

	listed->runs++;
	if (*run->compared) {
		free(listed->compared);
		listed->compared = xstrdup(run->compared);
	}
	return 0;
}

static int read_studies(struct store *store, struct listing *listing, struct err *err)
{
	int r = study_list(store, append_study, listing, err);

	for (size_t i = 0; r >= 0 && i < listing->count; i++)
		r = study_runs(store, listing->list[i].id, count_run, &listing->list[i], err);
	return r;
}

static void print_studies(const struct listing *listing)
{
	static const char *const titles[] = {
		">id", "started", "state", ">runs", ">confirmed speedup", "data", "command", NULL
	};
	struct table table;
	char when[FORMAT_TIME];

	table_init(&table, titles);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *l = &listing->list[i];

		table_add(&table, "%" PRId64, l->id);
		table_add(&table, "%s", format_local_time(when, l->begun_ns));
		table_add(&table, "%s", l->state);
		table_add(&table, "%zu", l->runs);
		if (isnan(l->gain))
			table_add(&table, "-");
		else
			table_add(&table, "%.2f (%.2f to %.2f)", l->gain, l->low, l->high);
		table_add(&table, "%.*s", l->compared ? (int)strcspn(l->compared, ":") : 1,
			  l->compared ? l->compared : "-");
		table_add(&table, "%s", l->command);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void print_studies_json(const struct listing *listing)
{
	struct json json;

	json_start(&json, stdout, TUNE_SCHEMA);
	json_open(&json, "tunings", '[');
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *l = &listing->list[i];

		json_open(&json, NULL, '{');
		json_number(&json, "id", l->id);
		json_number(&json, "begun_ns", l->begun_ns);
		json_text(&json, "state", l->state);
		json_count(&json, "runs", l->runs);
		json_double(&json, "gain", l->gain);
		json_double(&json, "gain_low", l->low);
		json_double(&json, "gain_high", l->high);
		json_text(&json, "compared", l->compared);
		json_text(&json, "command", l->command);
		json_close(&json);
	}
	json_end(&json);
}

static int list_tunings(struct command *command, struct store *store)
{
	const struct tunings_args *args = command->args;
	struct listing listing = { 0 };
	struct err err = { 0 };
	int r = read_studies(store, &listing, &err);

	if (r < 0)
		r = command_fail(command, "%s", err.text);
	else if (args->json)
		print_studies_json(&listing);
	else if (listing.count)
		print_studies(&listing);
	if (!r && !listing.count) {
		command_warn(command, "no tuning yet; start one with 'sluice tune -- COMMAND'");
		r = COMMAND_NO_DATA;
	}
	listing_release(&listing);
	return r ? r : command_finish(command);
}

struct showing {
	struct table table;
	struct json json;
	bool is_json;
	enum cost_kind objective;
};

/* Appends "a=1 b=2" for the JSON of a parameter set, or the text itself if it is invalid. */
static void append_parameters(const char *text, struct buf *out)
{
	struct param_set set = { 0 };

	if (param_set_read_text(&set, "run", text, strlen(text), NULL, NULL, NULL) < 0)
		buf_puts(out, text);
	else if (set.count)
		param_set_line(&set, out);
	else
		buf_puts(out, "-");
	param_set_release(&set);
}

static void print_run_json(struct json *json, const struct study_run *run)
{
	AUTO_BUF struct buf line = { 0 };

	append_parameters(run->parameters, &line);
	json_open(json, NULL, '{');
	json_number(json, "number", run->number);
	json_text(json, "phase", run->phase);
	json_text(json, "state", run->state);
	json_double(json, "cost", run->cost);
	json_double(json, "run_s", run->run_s);
	json_double(json, "io_s", run->io_s);
	json_double(json, "read_bytes", run->read_bytes);
	json_double(json, "write_bytes", run->write_bytes);
	json_text(json, "parameters", buf_text(&line));
	json_text(json, "effective", run->effective);
	json_text(json, "digest", run->digest);
	json_text(json, "compared", *run->compared ? run->compared : NULL);
	json_text(json, "reason", *run->reason ? run->reason : NULL);
	json_number(json, "begun_ns", run->begun_ns);
	json_close(json);
}

static int print_run(void *arg, const struct study_run *run)
{
	struct showing *showing = arg;
	AUTO_BUF struct buf line = { 0 }, cost = { 0 };
	char text[UNIT_TEXT];

	if (showing->is_json) {
		print_run_json(&showing->json, run);
		return 0;
	}
	append_parameters(run->parameters, &line);
	cost_text(showing->objective, run->cost, &cost);
	table_add(&showing->table, "%" PRId64, run->number);
	table_add(&showing->table, "%s", run->phase);
	table_add(&showing->table, "%s", run->state);
	table_add(&showing->table, "%s", buf_text(&cost));
	table_add(&showing->table, "%s", format_seconds(text, run->run_s));
	table_add(&showing->table, "%s", buf_text(&line));
	return 0;
}

static int print_runs(const struct listed *study, struct store *store, bool json, struct err *err)
{
	static const char *const titles[] = { ">run",	   "phase",	 "state", ">cost",
					      ">duration", "parameters", NULL };
	struct showing showing = { .is_json = json };
	struct tuning_plan plan = { 0 };
	int r;

	/* Runs are shown even if this version cannot read the plan. */
	if (tuning_plan_read(&plan, study->plan, NULL) >= 0)
		showing.objective = plan.objective;
	table_init(&showing.table, titles);
	if (json) {
		json_start(&showing.json, stdout, TUNE_SCHEMA);
		json_number(&showing.json, "id", study->id);
		json_text(&showing.json, "command", study->command);
		json_text(&showing.json, "state", study->state);
		json_text(&showing.json, "objective", cost_name(showing.objective));
		json_text(&showing.json, "plan", study->plan);
		json_open(&showing.json, "runs", '[');
	} else {
		term_sentence(stdout, "tuning %" PRId64 " (%s) of %s; cost: %s time\n", study->id,
			      study->state, study->command, cost_label(showing.objective));
	}
	r = study_runs(store, study->id, print_run, &showing, err);
	if (json)
		json_end(&showing.json);
	else
		table_print(&showing.table, stdout, 0);
	table_release(&showing.table);
	tuning_plan_release(&plan);
	return r;
}

static int show_tuning(struct command *command, struct store *store, int64_t id)
{
	const struct tunings_args *args = command->args;
	struct listing listing = { 0 };
	struct err err = { 0 };
	int r = study_get(store, id, append_study, &listing, &err);

	if (r >= 0)
		r = print_runs(&listing.list[0], store, args->json, &err);
	listing_release(&listing);
	if (r < 0)
		return command_fail_err(command, r, &err);
	return command_finish(command);
}

static int forget_tuning(struct command *command, struct store *store, int64_t id)
{
	struct err err = { 0 };

	if (study_forget(store, id, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static int tunings_run(struct command *command)
{
	const struct tunings_args *args = command->args;
	struct store *store = NULL;
	struct err err = { 0 };
	uint64_t id = 0;
	int r;

	if (command->argc && (unit_parse_count(command->argv[0], &id) < 0 || id > INT64_MAX))
		return command_misuse(command, "\"%s\" is not the id of a tuning",
				      command->argv[0]);
	if (args->forget && !command->argc)
		return command_misuse(command, "--forget requires the ID of a tuning");
	r = tuning_recover_files(command->config, &err);
	recovered_show(command, r, &err);
	r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	if (args->forget)
		r = forget_tuning(command, store, (int64_t)id);
	else if (command->argc)
		r = show_tuning(command, store, (int64_t)id);
	else
		r = list_tunings(command, store);
	store_close(store);
	return r;
}

const struct command_ops command_kb_tunings = {
	.name = "tunings",
	.help = "list earlier tunings, or show the runs of a tuning",
	.operands = "[ID]",
	.operands_max = 1,
	.options = tunings_options,
	.args_bytes = sizeof(struct tunings_args),
	.run = tunings_run,
};
