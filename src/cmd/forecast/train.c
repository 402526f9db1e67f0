/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast train: learns a model for every target and write size from probe data.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/date.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/states/forecaster.h"

static const struct option train_options[] = {
	{ 0, "days", "DAYS", NULL, "train on the last DAYS days (default: all)", OPTION_TEXT,
	  offsetof(struct forecast_args, days) },
	{ 'm', "model", "FILE", NULL, "write the model to FILE (default: setting forecast.model)",
	  OPTION_TEXT, offsetof(struct forecast_args, model) },
	{ 'o', "output", "FILE", NULL, "write the model to FILE; same as --model", OPTION_TEXT,
	  offsetof(struct forecast_args, output) },
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	OPTION_INCLUDE(forecast_range_options, 0),
	OPTION_INCLUDE(forecast_choice_options, 0),
	FORECAST_FEATURES_OPTION("recent"),
	OPTION_INCLUDE(forecast_training_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#define FOLDS_MAX 1000

int forecast_plan(const struct command *command, const struct forecast_args *args,
		  struct forecaster_plan *plan)
{
	struct err err = { 0 };

	forecaster_plan_init(plan);
	if (features_plan_parse(&plan->features, args->features, &err) < 0)
		return command_misuse(command, "--features: %s", err.text);
	if (forecaster_plan_method(plan, args->method, args->method_options, &err) < 0)
		return command_misuse(command, "--method: %s", err.text);
	if (plan->choose && !args->folds)
		return command_misuse(command, "--method " FORECAST_AUTO " needs --folds");
	if (!args->threads)
		return command_misuse(command, "--threads must be at least 1");
	if (args->history_ns <= 0)
		return command_misuse(command, "--history must be positive");
	if (args->folds == 1 || args->folds > FOLDS_MAX)
		return command_misuse(command, "--folds must be 0 or from 2 to %d", FOLDS_MAX);
	plan->features.window_s = (double)args->history_ns / NS_PER_S;
	plan->features.horizon_s = (double)args->horizon_ns / NS_PER_S;
	plan->labels.scope = (enum labels_scope)args->scope;
	plan->programs = (enum programs_use)args->programs;
	plan->labels.seed = plan->seed = args->seed;
	plan->folds = args->folds;
	plan->calibration =
		args->folds ? (enum calibration_kind)args->calibration : CALIBRATION_NONE;
	plan->threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads;
	return COMMAND_GOOD;
}

static const struct sheet_column train_columns[] = {
	{ "size", "bytes", 0 },	       { ">targets", "targets", 0 },
	{ ">models", "models", 0 },    { ">rows", "rows", 0 },
	{ ">~busy", "busy_share", 3 }, { ">idle s", "idle_s", 4 },
	{ ">busy s", "busy_s", 4 },    { ">shuffled", "shuffled_accuracy", 3 },
	{ ">AUC", "shuffled_auc", 3 }, { ">blocked", "blocked_accuracy", 3 },
	{ ">AUC", "blocked_auc", 3 },  { ">majority", "majority", 3 },
	{ ">ceiling", "ceiling", 3 },  { 0 },
};

/* Means over the models of one size. */
#define MEANS 7
struct means {
	double sums[MEANS];
	size_t counts[MEANS], models, rows;
};

static void add_to_means(struct means *means, const struct forecaster_model *model)
{
	const double values[MEANS] = { model->busy_share,   model->shuffled_accuracy,
				       model->shuffled_auc, model->accuracy,
				       model->auc,	    model->majority,
				       model->ceiling };

	if (!model->is_known)
		return;
	means->models++;
	means->rows += model->rows;
	for (size_t i = 0; i < MEANS; i++)
		if (!isnan(values[i])) {
			means->sums[i] += values[i];
			means->counts[i]++;
		}
}

static double mean_value(const struct means *means, size_t i)
{
	return means->counts[i] ? means->sums[i] / (double)means->counts[i] : NAN;
}

static void add_size(struct sheet *sheet, const struct forecaster *forecaster, size_t size)
{
	const struct mixture *mixture = states_mixture(&forecaster->states, 0, size);
	bool shared = mixture && forecaster->states.scope == LABELS_SYSTEM;
	struct means means = { 0 };
	char text[UNIT_TEXT];

	for (size_t t = 0; t < forecaster->target_count; t++)
		add_to_means(&means, forecaster_model(forecaster, t, size));
	sheet_text(sheet, "%s", unit_bytes(text, (double)forecaster->sizes[size]));
	sheet_number(sheet, (double)forecaster->target_count);
	sheet_number(sheet, (double)means.models);
	sheet_number(sheet, (double)means.rows);
	sheet_number(sheet, mean_value(&means, 0));
	sheet_number(sheet, shared ? mixture_mean(mixture, 0) : NAN);
	sheet_number(sheet, shared ? mixture_mean(mixture, 1) : NAN);
	for (size_t i = 1; i < MEANS; i++)
		sheet_number(sheet, mean_value(&means, i));
}

/* Counts the models by method; the last row is that of shares. */
#define METHODS_MOST 16
struct method_counts {
	const char *names[METHODS_MOST];
	size_t counts[METHODS_MOST], rejected, few;
	size_t recent; /* forecasts that start from the recent share of busy writes */
};

static void count_methods(const struct forecaster *forecaster, struct method_counts *methods)
{
	*methods = (struct method_counts){ 0 };
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++) {
			const struct forecaster_model *model = forecaster_model(forecaster, t, s);
			size_t i = 0;

			methods->rejected += forecaster_model_is_rejected(model);
			methods->few += !model->is_known && !forecaster_model_is_rejected(model);
			methods->recent += model->recent;
			if (!model->is_known)
				continue;
			while (i + 1 < METHODS_MOST && methods->names[i] &&
			       strcmp(methods->names[i], model->method) != 0)
				i++;
			methods->names[i] = model->method;
			methods->counts[i]++;
		}
}

static void note_methods(struct sheet *sheet, const struct forecaster *forecaster)
{
	AUTO_BUF struct buf text = { 0 };
	struct method_counts methods;

	count_methods(forecaster, &methods);
	for (size_t i = 0; i < METHODS_MOST && methods.names[i]; i++)
		buf_printf(&text, "%s%s %zu", i ? ", " : "", methods.names[i], methods.counts[i]);
	if (text.len)
		sheet_note(sheet, "methods, by targets and sizes: %s", buf_text(&text));
	if (methods.rejected)
		sheet_note(sheet,
			   "for %zu targets and sizes no method was better on later data than the "
			   "share of busy writes, so their forecasts are these shares",
			   methods.rejected);
	if (methods.recent)
		sheet_note(sheet,
			   "forecasts for %zu targets and sizes start from the share of busy among "
			   "the last writes, which follows changes after the training, not from "
			   "that of all training data",
			   methods.recent);
	if (methods.few)
		sheet_note(sheet, "%zu targets and sizes have too few writes for a model",
			   methods.few);
}

static void note_states(struct sheet *sheet, const struct forecaster *forecaster)
{
	size_t single = 0, more = 0;

	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 1; s < forecaster->size_count; s++) {
			size_t count = states_preferred(&forecaster->states, t, s);

			single += count == 1;
			more += count > 2;
		}
	if (single)
		sheet_note(sheet,
			   "the write times of %zu targets and sizes have a single state by BIC; "
			   "idle and busy only divide its variation",
			   single);
	if (more)
		sheet_note(sheet,
			   "the write times of %zu targets and sizes have more than two states by "
			   "BIC; the forecast distinguishes two",
			   more);
}

static void note_programs(struct sheet *sheet, const struct forecaster *forecaster)
{
	if (!forecaster->program_rows)
		return;
	sheet_note(sheet, "%zu writes are those of programs (sluice run --place)%s",
		   forecaster->program_rows,
		   forecaster->features.ignores_programs
			   ? "; they are ignored, because forecasts of probes are worse with them, "
			     "or by --programs"
			   : "");
}

static void show_training(const struct forecast_args *args, const struct forecaster *forecaster,
			  const char *path, double seconds)
{
	char from[DATE_TEXT], to[DATE_TEXT];
	struct sheet sheet;
	struct json json;

	sheet_init(&sheet, "sizes", "accuracy, mean over targets", train_columns);
	sheet.is_modelled = forecast_is_modelled(forecaster->system);
	for (size_t s = 1; s < forecaster->size_count; s++)
		add_size(&sheet, forecaster, s);
	sheet_note(&sheet, "shuffled: accuracy in random folds, as in the paper; optimistic, "
			   "because neighbors in time are alike");
	sheet_note(&sheet, "blocked: accuracy in folds that are blocks of time; realistic");
	sheet_note(&sheet, "majority: accuracy of always predicting the more frequent state; "
			   "ceiling: upper bound, because labels are random where the states "
			   "overlap");
	note_methods(&sheet, forecaster);
	note_states(&sheet, forecaster);
	note_programs(&sheet, forecaster);
	if (args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		json_text(&json, "path", path);
		forecast_json_system(&json, forecaster->system);
		json_text(&json, "method", forecaster->method);
		json_text(&json, "settings", forecaster->settings);
		json_double(&json, "from", forecaster->from_s);
		json_double(&json, "to", forecaster->to_s);
		json_count(&json, "generation", forecaster->generation);
		json_double(&json, "seconds", seconds);
		json_count(&json, "program_rows", forecaster->program_rows);
		json_bool(&json, "uses_programs",
			  forecaster->program_rows && !forecaster->features.ignores_programs);
		json_open(&json, "sheets", '[');
		sheet_json(&sheet, &json);
		json_end(&json);
	} else {
		term_sentence(stdout, "%s, %s to %s UTC, method %s\n\n", forecaster->system,
			      date_text(from, forecaster->from_s), date_text(to, forecaster->to_s),
			      forecaster->method);
		sheet_print(&sheet, stdout);
	}
	sheet_release(&sheet);
}

/* One more than the generation of the model of the same system that is replaced. */
static uint64_t next_generation(const char *path, const char *system)
{
	struct forecaster before = { 0 };
	uint64_t generation = 1;

	if (forecaster_load(&before, path, NULL) < 0)
		return 1;
	if (strcmp(before.system, system) == 0)
		generation = before.generation + 1;
	forecaster_release(&before);
	return generation;
}

int forecast_fit(const struct command *command, const struct forecast_data *source,
		 struct forecaster_plan *plan, struct forecaster *forecaster)
{
	struct progress progress;
	struct err err = { 0 };
	struct interrupt stop;
	int r;

	plan->progress = interrupt_show_progress;
	plan->progress_arg = &progress;
	progress_start(&progress, "training", 0);
	interrupt_catch(&stop);
	r = forecaster_fit(forecaster, forecast_data_rows(source), &source->site, plan, &err);
	interrupt_restore(&stop);
	progress_end(&progress);
	plan->progress_arg = NULL;
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

/* Restricts the training data to the last days_s seconds, unless NAN. */
static void restrict_to_last_days(const struct chronicle *chronicle, double days_s,
				  struct labels_plan *labels)
{
	double from = 0, to = 0;

	if (isnan(days_s))
		return;
	chronicle_span(chronicle, &from, &to);
	labels->from_s = fmax(labels->from_s, fmin(labels->to_s, to) - days_s);
}

static int train_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	AUTO_FREE char *path = args->output ? xstrdup(args->output) : forecast_path(command, args);
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct forecaster_plan plan;
	double start, seconds, days_s;
	int ret = forecast_plan(command, args, &plan);

	if (!ret)
		ret = window_parse_days(command, args->days, &days_s);
	if (!ret)
		ret = window_parse(command, args->since, args->until, &plan.labels.from_s,
				   &plan.labels.to_s);
	if (!ret)
		ret = forecast_open(command, args, plan.labels.from_s, plan.labels.to_s, &source);
	plan.shuffled = args->folds >= 2;
	start = clock_now_s();
	if (!ret) {
		restrict_to_last_days(forecast_data_rows(&source), days_s, &plan.labels);
		ret = forecast_fit(command, &source, &plan, &forecaster);
	}
	seconds = clock_now_s() - start;
	if (!ret) {
		forecaster.generation = next_generation(path, forecaster.system);
		forecaster.made_s = (int64_t)time(NULL);
		ret = forecast_keep(command, args, &forecaster, path);
	}
	if (!ret) {
		show_training(args, &forecaster, path, seconds);
		ret = command_finish(command);
	}
	if (!ret)
		term_printf(stderr, "sluice forecast train: wrote %s\n", path);
	forecaster_release(&forecaster);
	forecast_data_close(&source);
	return ret;
}

const struct command_ops command_forecast_train = {
	.name = "train",
	.help = "learn a model for every target and write size",
	.about = "Prints the accuracy with two kinds of cross-validation. Shuffled folds are "
		 "those of the paper; they are optimistic, because neighbors in time are alike. "
		 "Blocked folds are blocks of time and are realistic. The ceiling is the accuracy "
		 "of an oracle that knows the write times: labels are random where the two states "
		 "overlap.\n\n"
		 "  sluice forecast train --days 8",
	.options = train_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = train_run,
};
