/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast train: a model of every target and size from what was probed.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/forecast/forecast.h"
#include "cli/sheet.h"
#include "base/interrupt.h"
#include "cli/window.h"
#include "predict/forecast/states/forecaster.h"

int forecast_plan(const struct command *command, const struct forecast_args *args,
		  const char *features, struct forecaster_plan *plan)
{
	struct err err = { 0 };

	forecaster_plan_init(plan);
	if (forecast_method_plan(&plan->pipeline, args->method, args->settings, &err) < 0)
		return command_misuse(command, "--method, --settings: %s", err.text);
	if (features_plan_parse(&plan->features, args->features ? args->features : features, &err) <
	    0)
		return command_misuse(command, "--features: %s", err.text);
	if (args->window_ns <= 0)
		return command_misuse(command, "--window must be longer than nothing");
	if (args->folds == 1 || args->folds > 1000)
		return command_misuse(command, "--folds must be 0, or 2 to 1000");
	plan->features.window_s = 1e-9 * (double)args->window_ns;
	plan->features.horizon_s = 1e-9 * (double)args->horizon_ns;
	plan->labels.scope = (enum labels_scope)args->scope;
	plan->labels.seed = plan->seed = args->seed;
	plan->folds = args->folds;
	plan->calibration =
		args->folds ? (enum calibration_kind)args->calibration : CALIBRATION_NONE;
	plan->threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads;
	return COMMAND_GOOD;
}

/* ---- what was learnt ---- */

static const struct sheet_column train_columns[] = {
	{ "size", "bytes", 0 },	       { ">targets", "targets", 0 },
	{ ">models", "models", 0 },    { ">rows", "rows", 0 },
	{ ">busy", "busy_share", 3 },  { ">idle s", "idle_s", 4 },
	{ ">busy s", "busy_s", 4 },    { ">shuffled", "shuffled_accuracy", 3 },
	{ ">AUC", "shuffled_auc", 3 }, { ">blocked", "blocked_accuracy", 3 },
	{ ">AUC", "blocked_auc", 3 },  { ">majority", "majority", 3 },
	{ ">ceiling", "ceiling", 3 },  { 0 },
};

/* Means over the models of a size. */
struct means {
	double sums[7];
	size_t counts[7], models, rows;
};

static void means_add(struct means *means, const struct forecaster_model *model)
{
	const double values[] = { model->busy_share,   model->shuffled_accuracy,
				  model->shuffled_auc, model->accuracy,
				  model->auc,	       model->majority,
				  model->ceiling };

	if (!model->is_known)
		return;
	means->models++;
	means->rows += model->rows;
	for (size_t i = 0; i < 7; i++)
		if (!isnan(values[i])) {
			means->sums[i] += values[i];
			means->counts[i]++;
		}
}

static double means_of(const struct means *means, size_t i)
{
	return means->counts[i] ? means->sums[i] / (double)means->counts[i] : NAN;
}

static void size_add(struct sheet *sheet, const struct forecaster *forecaster, size_t size)
{
	const struct mixture *mixture = states_mixture(&forecaster->states, 0, size);
	bool shared = mixture && forecaster->states.scope == LABELS_SYSTEM;
	struct means means = { 0 };
	char text[UNIT_TEXT];

	for (size_t t = 0; t < forecaster->target_count; t++)
		means_add(&means, forecaster_model(forecaster, t, size));
	sheet_text(sheet, "%s", unit_bytes(text, (double)forecaster->sizes[size]));
	sheet_number(sheet, (double)forecaster->target_count);
	sheet_number(sheet, (double)means.models);
	sheet_number(sheet, (double)means.rows);
	sheet_number(sheet, means_of(&means, 0));
	sheet_number(sheet, shared ? mixture_mean(mixture, 0) : NAN);
	sheet_number(sheet, shared ? mixture_mean(mixture, 1) : NAN);
	for (size_t i = 1; i < 7; i++)
		sheet_number(sheet, means_of(&means, i));
}

static void train_show(const struct forecast_args *args, const struct forecaster *forecaster,
		       const char *path, double seconds)
{
	char from[DATE_TEXT], to[DATE_TEXT];
	struct sheet sheet;
	struct json json;

	sheet_init(&sheet, "sizes", "accuracy, mean over targets", train_columns);
	for (size_t s = 1; s < forecaster->size_count; s++)
		size_add(&sheet, forecaster, s);
	sheet_note(&sheet,
		   "shuffled: folds as the paper's, which flatter, since neighbours in time "
		   "are alike. blocked: folds are blocks of time; go by these.");
	sheet_note(&sheet, "ceiling: what who knows the write times would reach, as labels are "
			   "drawn at random. majority: who always says the more frequent.");
	if (args->json) {
		json_start(&json, stdout, FORECAST_SCHEMA);
		json_text(&json, "path", path);
		json_text(&json, "system", forecaster->system);
		json_text(&json, "method", forecaster->method);
		json_text(&json, "settings", forecaster->settings);
		json_real(&json, "from", forecaster->from_s);
		json_real(&json, "to", forecaster->to_s);
		json_count(&json, "generation", forecaster->generation);
		json_real(&json, "seconds", seconds);
		json_open(&json, "sheets", '[');
		sheet_json(&sheet, &json);
		json_end(&json);
	} else {
		printf("%s, %s to %s UTC, by %s\n\n", forecaster->system,
		       date_text(from, forecaster->from_s), date_text(to, forecaster->to_s),
		       forecaster->method);
		sheet_print(&sheet, stdout);
	}
	sheet_release(&sheet);
}

/* ---- training ---- */

/* A model of the same system that is replaced is the generation before. */
static uint64_t generation_after(const char *path, const char *system)
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
	return r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
}

/* The last so many days before the end, where days are given. */
static void window_choose(const struct chronicle *chronicle, double days_s,
			  struct labels_plan *labels)
{
	double from = 0, to = 0;

	if (isnan(days_s))
		return;
	chronicle_span(chronicle, &from, &to);
	labels->from_s = fmax(labels->from_s, fmin(labels->to_s, to) - days_s);
}

static double wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int forecast_train(struct command *command, const struct forecast_args *args)
{
	AUTO_FREE char *path = args->output ? xstrdup(args->output) : forecast_path(command, args);
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct forecaster_plan plan;
	double start, seconds, days_s;
	int ret = forecast_plan(command, args, "recent", &plan);

	if (!ret)
		ret = window_days(command, args->days, &days_s);
	if (!ret)
		ret = window_take(command, args->from, args->to, &plan.labels.from_s,
				  &plan.labels.to_s);
	if (!ret)
		ret = forecast_open(command, args, plan.labels.from_s, plan.labels.to_s, &source);
	plan.shuffled = args->folds >= 2;
	start = wall_s();
	if (!ret) {
		window_choose(forecast_data_rows(&source), days_s, &plan.labels);
		ret = forecast_fit(command, &source, &plan, &forecaster);
	}
	seconds = wall_s() - start;
	if (!ret) {
		forecaster.generation = generation_after(path, forecaster.system);
		forecaster.made_s = (int64_t)time(NULL);
		ret = forecast_keep(command, args, &forecaster, path);
	}
	if (!ret) {
		train_show(args, &forecaster, path, seconds);
		ret = command_finish(command);
	}
	if (!ret)
		fprintf(stderr, "sluice forecast: written to %s\n", path);
	forecaster_release(&forecaster);
	forecast_data_close(&source);
	return ret;
}
