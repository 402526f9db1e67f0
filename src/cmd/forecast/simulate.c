/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast simulate: computes the gain that placement would have had on days that the models
 * were not trained on, by rule, by knowledge of the states, and by metric.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cli/window.h"
#include "cmd/forecast/forecast.h"
#include "predict/forecast/place/steps.h"
#include "predict/forecast/states/forecaster.h"

#define FIELD(name) offsetof(struct forecast_args, name)

static const struct option simulate_options[] = {
	{ 0, "days", "DAYS", NULL,
	  "train on the first DAYS days and replay the others (default: 80% of the time)",
	  OPTION_TEXT, FIELD(days) },
	{ 's', "size", "SIZE", NULL, "size of one write to replay (default: the largest)",
	  OPTION_SIZE, FIELD(size) },
	{ 0, "points", "N", "100", "number of steps of a simulated run", OPTION_COUNT,
	  FIELD(points) },
	{ 0, "repeat", "N", "100", "number of simulated runs", OPTION_COUNT, FIELD(repeat) },
	{ 0, "feedback", "EXPONENTS", "0",
	  "exponents by which added load slows a target, such as 0,0.5,1", OPTION_TEXT,
	  FIELD(feedback) },
	OPTION_INCLUDE(forecast_busy_options, 0),
	{ 'm', "model", "FILE", NULL, "fitted model (default: train one)", OPTION_TEXT,
	  FIELD(model) },
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	OPTION_INCLUDE(forecast_range_options, 0),
	OPTION_INCLUDE(forecast_method_options, 0),
	FORECAST_FEATURES_OPTION("paper"),
	OPTION_INCLUDE(forecast_training_options, 0),
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#undef FIELD

#define FEEDBACK_MAX 10
#define STEPS_MAX 1000000

static int parse_feedback(const struct command *command, const struct forecast_args *args,
			  struct steps_plan *plan)
{
	const char *at = args->feedback;

	plan->feedback_count = 0;
	for (;;) {
		char *end;
		double power = strtod(at, &end);

		if (end == at || (*end && *end != ',') || !(power >= 0 && power <= FEEDBACK_MAX) ||
		    plan->feedback_count == STEPS_FEEDBACKS)
			return command_misuse(command,
					      "--feedback: expected up to %d exponents between 0 "
					      "and %d, got \"%s\"",
					      STEPS_FEEDBACKS, FEEDBACK_MAX, args->feedback);
		plan->feedbacks[plan->feedback_count++] = power;
		if (!*end)
			return COMMAND_GOOD;
		at = end + 1;
	}
}

static int make_plan(const struct command *command, const struct forecast_args *args,
		     const struct site *site, struct steps_plan *plan)
{
	int ret = forecast_limits(command, args, site, &plan->limits);

	if (!args->points || !args->repeat || args->points > STEPS_MAX || args->repeat > STEPS_MAX)
		return command_misuse(command, "--points and --repeat must be from 1 to %d",
				      STEPS_MAX);
	plan->points = args->points;
	plan->repetitions = args->repeat;
	plan->seed = args->seed;
	plan->threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads;
	return ret ? ret : parse_feedback(command, args, plan);
}

/* Removes all write sizes but the probes' and the one to replay, so that no models are trained for
 * them. */
static int keep_one_size(const struct command *command, const struct forecast_args *args,
			 struct forecast_data *source)
{
	struct chronicle *chronicle =
		source->is_generated ? &source->generated.chronicle : &source->chronicle;
	int size = (int)chronicle->size_count - 1;
	char text[UNIT_TEXT];

	if (args->size != OPTION_NONE)
		size = chronicle_find_size(chronicle, args->size);
	if (size < 1) {
		command_fail(command, "the data has no writes of %s",
			     args->size == OPTION_NONE ? "another size than the probes"
						       : unit_bytes(text, (double)args->size));
		return COMMAND_NO_DATA;
	}
	for (size_t t = 0; t < chronicle->target_count; t++) {
		struct chronicle_series *series = chronicle_series(chronicle, t, 0);
		struct chronicle_series wanted = series[size];
		uint8_t **busy =
			source->is_generated ? source->generated.busy + t * CHRONICLE_SIZES : NULL;
		uint8_t *states = busy ? busy[size] : NULL;

		/* The series are exchanged, not dropped, so that all of them are released later. */
		series[size] = series[1];
		series[1] = wanted;
		if (busy) {
			busy[size] = busy[1];
			busy[1] = states;
		}
	}
	chronicle->sizes[1] = chronicle->sizes[size];
	chronicle->size_count = 2;
	return COMMAND_GOOD;
}

/* Divides the data into training [from, middle) and test [middle, to). */
static int split_days(const struct command *command, const struct forecast_args *args,
		      const struct chronicle *chronicle, double *from_s, double *middle_s,
		      double *to_s)
{
	double days;
	int ret = window_parse_days(command, args->days, &days);

	if (ret)
		return ret;
	if (!chronicle_span(chronicle, from_s, to_s)) {
		command_fail(command, "the data has no rows to learn from");
		return COMMAND_NO_DATA;
	}
	*to_s = nextafter(*to_s, INFINITY);
	*middle_s = *from_s + (isnan(days) ? FORECAST_TRAINING_SHARE * (*to_s - *from_s) : days);
	if (*middle_s >= *to_s)
		return command_misuse(command, "--days leaves no data for the test");
	return COMMAND_GOOD;
}

/* Loads the model of --model, or trains one on the first days. */
static int get_model(const struct command *command, const struct forecast_args *args,
		     const struct forecast_data *source, struct forecaster *forecaster,
		     double *middle_s, double *to_s)
{
	struct forecaster_plan plan;
	double from_s;
	int ret = split_days(command, args, forecast_data_rows(source), &from_s, middle_s, to_s);

	if (ret)
		return ret;
	if (args->model) {
		ret = forecast_model(command, args, forecaster);
		*middle_s = ret ? *middle_s : fmax(*middle_s, forecaster->to_s);
		return ret;
	}
	ret = forecast_plan(command, args, &plan);
	if (ret)
		return ret;
	plan.labels.from_s = from_s;
	plan.labels.to_s = *middle_s;
	return forecast_fit(command, source, &plan, forecaster);
}

static const struct sheet_column columns[] = {
	{ "rule", "rule", 0 },
	{ "states from", "source", 0 },
	{ ">feedback", "feedback", 2 },
	{ ">~gain %", "gain_percent", 1 },
	{ ">low", "low_percent", 1 },
	{ ">high", "high_percent", 1 },
	{ ">faster %", "faster_percent", 1 },
	{ ">slower %", "slower_percent", 1 },
	{ ">worst %", "worst_percent", 1 },
	{ ">overall %", "total_percent", 1 },
	{ ">seconds", "seconds", 3 },
	{ ">equal s", "equal_seconds", 3 },
	{ 0 },
};

static void add_row(struct sheet *sheet, const struct steps_row *row, size_t metric)
{
	const struct steps_gain *gain = &row->gains[metric];
	const double shares[] = { gain->mean, gain->low,   gain->high, gain->won,
				  gain->lost, gain->worst, gain->total };

	sheet_text(sheet, "%s", placement_names[row->rule]);
	sheet_text(sheet, "%s", steps_sources[row->source]);
	sheet_number(sheet, row->feedback);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		sheet_number(sheet, 100 * shares[i]);
	sheet_number(sheet, row->seconds[metric]);
	sheet_number(sheet, row->equal_seconds[metric]);
}

static const struct metric_text {
	const char *name, *title;
} metric_texts[PLACEMENT_METRICS] = {
	{ "slower_group", "slower group: mean finish time of the idle or of the busy targets, "
			  "whichever is later (the metric of the paper)" },
	{ "late", "95th percentile: time until 95 % of the targets have finished" },
	{ "slowest", "slowest target: time until all targets have finished (the makespan)" },
};

static void add_notes(struct sheet *sheet)
{
	sheet_note(sheet,
		   "gain: increase in throughput over equal shares, mean over all steps; low, "
		   "high: 95 %% interval over runs; overall: computed from the total time of all "
		   "steps");
	sheet_note(sheet, "faster, slower: share of steps; worst: smallest gain of a step; "
			  "seconds, equal: mean time of a step with this placement and with equal "
			  "shares");
	sheet_note(sheet, "states from: how the states of a step are known before it; \"measured "
			  "times\" is the upper bound");
}

struct findings {
	const struct forecaster *forecaster;
	const struct steps *steps;
	const struct steps_plan *plan;
	double middle_s, to_s;
};

static void show_json(const struct findings *f, const struct sheet *sheets)
{
	struct json json;

	json_start(&json, stdout, FORECAST_SCHEMA);
	forecast_json_system(&json, f->forecaster->system);
	json_text(&json, "method", f->forecaster->method);
	json_double(&json, "from", f->middle_s);
	json_double(&json, "to", f->to_s);
	json_count(&json, "bytes", f->forecaster->sizes[f->forecaster->size_count - 1]);
	json_count(&json, "targets", f->steps->targets);
	json_count(&json, "moments", f->steps->points);
	json_count(&json, "left_out", f->steps->left_out);
	json_count(&json, "points", f->plan->points);
	json_count(&json, "repetitions", f->plan->repetitions);
	json_double(&json, "accuracy", steps_accuracy(f->steps, f->steps->labels));
	json_double(&json, "latent", steps_accuracy(f->steps, f->steps->truth));
	json_open(&json, "sheets", '[');
	for (size_t m = 0; m < PLACEMENT_METRICS; m++)
		sheet_json(&sheets[m], &json);
	json_end(&json);
}

static void show_text(const struct findings *f, const struct sheet *sheets)
{
	char from[DATE_TEXT], to[DATE_TEXT], truth[64] = "";
	double latent = steps_accuracy(f->steps, f->steps->truth);

	term_sentence(stdout, "%s, %s to %s UTC, method %s: %zu runs of %zu steps\n",
		      f->forecaster->system, date_text(from, f->middle_s), date_text(to, f->to_s),
		      f->forecaster->method, f->plan->repetitions, f->plan->points);
	if (!isnan(latent))
		snprintf(truth, sizeof(truth), " and %.1f %% of the true states", 100 * latent);
	term_sentence(stdout,
		      "all %zu targets were measured at %zu times, of which %zu were ignored; "
		      "forecasts agree with %.1f %% of the labels%s\n\n",
		      f->steps->targets, f->steps->points, f->steps->left_out,
		      100 * steps_accuracy(f->steps, f->steps->labels), truth);
	for (size_t m = 0; m < PLACEMENT_METRICS; m++)
		sheet_print(&sheets[m], stdout);
}

static int show_findings(const struct command *command, const struct forecast_args *args,
			 const struct findings *f)
{
	AUTO_FREE struct steps_row *rows = NULL;
	struct err err = { 0 };
	struct sheet sheets[PLACEMENT_METRICS];
	int n = steps_run(f->steps, f->plan, &rows, &err);

	if (n < 0)
		return command_fail_err(command, n, &err);
	for (size_t m = 0; m < PLACEMENT_METRICS; m++) {
		sheet_init(&sheets[m], metric_texts[m].name, metric_texts[m].title, columns);
		sheets[m].is_modelled = forecast_is_modelled(f->forecaster->system);
		for (int i = 0; i < n; i++)
			add_row(&sheets[m], &rows[i], m);
	}
	add_notes(&sheets[PLACEMENT_METRICS - 1]);
	if (args->json)
		show_json(f, sheets);
	else
		show_text(f, sheets);
	for (size_t m = 0; m < PLACEMENT_METRICS; m++)
		sheet_release(&sheets[m]);
	return command_finish(command);
}

static int run_simulation(const struct command *command, const struct forecast_args *args,
			  const struct forecast_data *source, const struct steps_plan *plan,
			  struct findings *findings)
{
	const struct chronicle *chronicle = forecast_data_rows(source);
	struct steps steps = { 0 };
	struct err err = { 0 };
	struct features features;
	struct steps_origin origin = {
		.forecaster = findings->forecaster,
		.features = &features,
		.bytes = chronicle->sizes[1],
		.from_s = findings->middle_s,
		.to_s = findings->to_s,
		.busy = source->is_generated ? source->generated.busy : NULL,
		.label_seed = args->seed,
		.threads = plan->threads,
	};
	int r, ret;

	features_init(&features, chronicle, &source->site, &findings->forecaster->features);
	r = steps_gather(&steps, &origin, &err);
	features_release(&features);
	if (r < 0)
		return command_fail_err(command, r, &err);
	for (size_t i = 0; i < steps.points * steps.targets; i++)
		steps.forecasts[i].is_allowed =
			!*source->site.allow ||
			site_name_matches(source->site.allow,
					  chronicle->targets[i % steps.targets]);
	findings->steps = &steps;
	findings->plan = plan;
	ret = show_findings(command, args, findings);
	findings->steps = NULL;
	steps_release(&steps);
	return ret;
}

static int simulate_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct findings findings = { .forecaster = &forecaster };
	struct steps_plan plan = { 0 };
	double from_s, to_s;
	int ret = window_parse(command, args->since, args->until, &from_s, &to_s);

	if (!ret)
		ret = forecast_open(command, args, from_s, to_s, &source);
	if (!ret)
		ret = make_plan(command, args, &source.site, &plan);
	if (!ret)
		ret = keep_one_size(command, args, &source);
	if (!ret)
		ret = get_model(command, args, &source, &forecaster, &findings.middle_s,
				&findings.to_s);
	if (!ret)
		ret = run_simulation(command, args, &source, &plan, &findings);
	forecast_data_close(&source);
	forecaster_release(&forecaster);
	return ret;
}

const struct command_ops command_forecast_simulate = {
	.name = "simulate",
	.help = "compute what placement would have gained on past days",
	.about = "Trains on the first days and replays the writes that were measured on the "
		 "others.\n\n"
		 "  sluice forecast simulate --days 8",
	.options = simulate_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = simulate_run,
};
