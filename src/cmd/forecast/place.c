/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast place: computes how much to write to each target, according to the current
 * forecast and within the policy of the site, and the expected gain.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/date.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/unit.h"
#include "cli/sheet.h"
#include "cmd/forecast/forecast.h"
#include "params/set.h"
#include "predict/forecast/place/steps.h"
#include "predict/forecast/service/outlook.h"
#include "predict/forecast/states/forecaster.h"
#include "run/placing.h"

#define FIELD(name) offsetof(struct forecast_args, name)

static const struct option place_options[] = {
	{ 0, "total", "SIZE", NULL, "number of bytes to write to all targets together (required)",
	  OPTION_SIZE, FIELD(total) },
	{ 0, "rule", PLACEMENT_WORDS, "expected", "rule that computes the share of each target",
	  OPTION_CHOICE, FIELD(rule) },
	{ 's', "size", "SIZE", NULL,
	  "size of one write whose forecasts are used (default: the largest)", OPTION_SIZE,
	  FIELD(size) },
	{ 0, "stripe", "SIZE", "1M", "round the share of each target to a multiple of this size",
	  OPTION_SIZE, FIELD(stripe) },
	OPTION_INCLUDE(forecast_busy_options, 0),
	{ 'p', "params", "FILE", NULL,
	  "write the placement to a parameter file for 'sluice run --params'", OPTION_TEXT,
	  FIELD(params) },
	OPTION_INCLUDE(forecast_model_options, 0),
	OPTION_INCLUDE(forecast_data_options, 0),
	OPTION_INCLUDE(forecast_simulated_options, 0),
	{ 0, "seed", "N", "1", "with --simulate: seed of the random numbers", OPTION_COUNT,
	  FIELD(seed) },
	{ 0, "until", "TIME", NULL,
	  "ignore later data, and use the forecast for this time instead of now; a date or "
	  "seconds since 1970 (UTC)",
	  OPTION_TEXT, FIELD(until) },
	OPTION_INCLUDE(forecast_json_options, 0),
	{ 0 }
};

#undef FIELD

/* A placement and what it was made from. */
struct proposal {
	const struct forecaster *forecaster;
	const struct site *site;
	enum placement_rule rule;
	size_t size; /* index of the write size */
	uint64_t total, stripe;
	double now_s; /* the time of the forecast */
	double age_s; /* of the newest probe; INFINITY: there is none */
	struct placement_limits limits;
	size_t count, allowed, unknown;
	struct placement_target *targets;
	double *shares;
	uint64_t *bytes;
	struct placement_result expected, equal; /* with these and with equal shares; seconds */
};

static void proposal_release(struct proposal *proposal)
{
	free(proposal->targets);
	free(proposal->shares);
	free(proposal->bytes);
}

int forecast_limits(const struct command *command, const struct forecast_args *args,
		    const struct site *site, struct placement_limits *limits)
{
	char *end;

	*limits = (struct placement_limits){ .most = site->most_extra, .least = site->least };
	limits->busy_from = strtod(args->busy_threshold, &end);
	if (end == args->busy_threshold || *end ||
	    !(limits->busy_from > 0 && limits->busy_from <= 1))
		return command_misuse(
			command, "--busy-threshold: expected a number between 0 and 1, got \"%s\"",
			args->busy_threshold);
	return COMMAND_GOOD;
}

/* Chooses the write size: --size, else the largest. */
static int choose_size(const struct command *command, const struct forecast_args *args,
		       struct proposal *proposal)
{
	const struct forecaster *forecaster = proposal->forecaster;
	int size = (int)forecaster->size_count - 1;
	char text[UNIT_TEXT];

	if (args->size != OPTION_NONE)
		size = forecaster_find_size(forecaster, args->size);
	if (size < 1) {
		command_fail(command, "the model has no forecasts for writes of %s",
			     unit_bytes(text, args->size == OPTION_NONE ? 0 : (double)args->size));
		return COMMAND_NO_DATA;
	}
	proposal->size = (size_t)size;
	return COMMAND_GOOD;
}

static void query_forecasts(struct proposal *proposal, const struct forecast_data *source)
{
	const struct forecaster *forecaster = proposal->forecaster;
	struct features features;

	features_init(&features, forecast_data_rows(source), &source->site, &forecaster->features);
	for (size_t t = 0; t < proposal->count; t++) {
		const char *name = forecaster->targets[t];
		struct forecast answer;
		double age = forecaster_predict_at(forecaster, &features, t, proposal->size,
						   proposal->now_s, &answer);
		struct placement_target *target = &proposal->targets[t];

		proposal->age_s = fmin(proposal->age_s, age);
		*target = steps_target(&answer);
		target->is_allowed =
			!*source->site.allow || site_name_matches(source->site.allow, name);
		proposal->allowed += target->is_allowed;
		proposal->unknown += target->is_allowed && isnan(answer.busy);
	}
	features_release(&features);
}

static void scale_seconds(struct placement_result *result, double by)
{
	result->slower_group *= by;
	result->late *= by;
	result->slowest *= by;
}

/* Computes the shares, and scales the results from one unit per target to all bytes. */
static int compute_shares(struct proposal *proposal, struct err *err)
{
	AUTO_FREE double *equal = xcalloc(proposal->count + 1, sizeof(*equal));
	double units = (double)proposal->total /
		       (double)proposal->forecaster->sizes[proposal->size] /
		       (double)proposal->count;
	int r = placement_shares(proposal->rule, proposal->targets, proposal->count,
				 &proposal->limits, proposal->shares, err);

	if (r < 0)
		return r;
	r = placement_shares(PLACEMENT_EQUAL, proposal->targets, proposal->count, &proposal->limits,
			     equal, err);
	if (r < 0)
		return r;
	placement_bytes(proposal->shares, proposal->count, proposal->total, proposal->stripe,
			proposal->bytes);
	placement_predict(proposal->shares, proposal->targets, proposal->count, &proposal->limits,
			  &proposal->expected);
	placement_predict(equal, proposal->targets, proposal->count, &proposal->limits,
			  &proposal->equal);
	scale_seconds(&proposal->expected, units);
	scale_seconds(&proposal->equal, units);
	return 0;
}

static int make_proposal(const struct command *command, const struct forecast_args *args,
			 const struct forecast_data *source, struct proposal *proposal)
{
	struct err err = { 0 };
	int ret = choose_size(command, args, proposal), r;

	if (!ret)
		ret = forecast_limits(command, args, &source->site, &proposal->limits);
	if (ret)
		return ret;
	proposal->site = &source->site;
	proposal->count = proposal->forecaster->target_count;
	proposal->targets = xcalloc(proposal->count + 1, sizeof(*proposal->targets));
	proposal->shares = xcalloc(proposal->count + 1, sizeof(*proposal->shares));
	proposal->bytes = xcalloc(proposal->count + 1, sizeof(*proposal->bytes));
	query_forecasts(proposal, source);
	r = compute_shares(proposal, &err);
	return r < 0 ? command_fail_err(command, r, &err) : COMMAND_GOOD;
}

/*
 * Writes the file of --params, by which 'sluice run' distributes new files. The site describes how
 * a file is created on a target.
 */
static int write_params(const struct command *command, const struct forecast_args *args,
			const struct forecast_data *source, const struct proposal *proposal)
{
	AUTO_FREE struct placement_target *rows =
		xcalloc(source->site.target_count + 1, sizeof(*rows));
	AUTO_BUF struct buf text = { 0 };
	struct param_set set = { 0 };
	struct err err = { 0 };
	struct features features;
	int r;

	features_init(&features, forecast_data_rows(source), &source->site,
		      &proposal->forecaster->features);
	placing_ask(proposal->forecaster, &features, &source->site, proposal->now_s, rows);
	features_release(&features);
	r = placing_set(&source->site, proposal->rule, rows, &set, &err);
	if (r >= 0)
		r = param_json.write(&set, &text, &err);
	param_set_release(&set);
	if (r < 0)
		return command_fail_err(command, r, &err);
	if (file_write_all(args->params, text.data, text.len, &err) < 0)
		return command_fail(command, "%s", err.text);
	return COMMAND_GOOD;
}

static const struct sheet_column target_columns[] = {
	{ "target", "target", 0 },	    { ">~busy", "busy", 3 },
	{ ">seconds", "seconds", 3 },	    { ">share", "share", 5 },
	{ ">times equal", "of_equal", 3 },  { ">bytes", "bytes", 0 },
	{ ">done after s", "finish_s", 2 }, { 0 },
};

static const struct sheet_column metric_columns[] = {
	{ "metric", "metric", 0 },
	{ ">~equal shares s", "equal_s", 2 },
	{ ">this placement s", "expected_s", 2 },
	{ ">gain", "gain", 3 },
	{ 0 },
};

static double finish_seconds(const struct proposal *p, size_t t)
{
	return placement_expected_s(&p->targets[t]) * (double)p->bytes[t] /
	       (double)p->forecaster->sizes[p->size];
}

static void add_target(struct sheet *sheet, const struct proposal *p, size_t t)
{
	const struct placement_target *target = &p->targets[t];

	sheet_text(sheet, "%s", p->forecaster->targets[t]);
	sheet_number(sheet, target->busy);
	sheet_number(sheet, placement_expected_s(target));
	sheet_number(sheet, p->shares[t]);
	sheet_number(sheet, p->shares[t] * (double)p->allowed);
	sheet_number(sheet, (double)p->bytes[t]);
	sheet_number(sheet, finish_seconds(p, t));
}

static void add_metrics(struct sheet *sheet, const struct proposal *p)
{
	for (size_t m = 0; m < PLACEMENT_METRICS; m++) {
		double equal = placement_metric(&p->equal, m);
		double expected = placement_metric(&p->expected, m);

		sheet_text(sheet, "%s", placement_metrics[m]);
		sheet_number(sheet, equal);
		sheet_number(sheet, expected);
		sheet_number(sheet, equal / expected - 1);
	}
	sheet_note(sheet, "means over write times drawn from the forecasts; they are as reliable "
			  "as the forecasts");
}

/* Adds a note for each limit of the site. */
static void add_policy_notes(struct sheet *sheet, const struct proposal *p)
{
	if (p->allowed < p->count)
		sheet_note(sheet, "site %s: files may be placed on %zu of %zu targets (%s)",
			   p->site->name, p->allowed, p->count, p->site->allow);
	if (p->limits.least > 0 || p->limits.most > 0)
		sheet_note(sheet, "site %s: each target gets %g to %g times an equal share",
			   p->site->name, p->limits.least,
			   p->limits.most > 0 ? p->limits.most : INFINITY);
	if (p->unknown)
		sheet_note(sheet,
			   "%zu targets have no forecast; the mean of the others is used for them",
			   p->unknown);
}

/* Prints bytes exactly; a sheet would round them. */
static void json_target(struct json *json, const struct proposal *p, size_t t)
{
	const struct placement_target *target = &p->targets[t];

	json_open(json, NULL, '{');
	json_text(json, "target", p->forecaster->targets[t]);
	json_bool(json, "is_allowed", target->is_allowed);
	json_double(json, "busy", target->busy);
	json_double(json, "seconds", placement_expected_s(target));
	json_double(json, "share", p->shares[t]);
	json_double(json, "of_equal", p->shares[t] * (double)p->allowed);
	json_count(json, "bytes", p->bytes[t]);
	json_double(json, "finish_s", finish_seconds(p, t));
	json_close(json);
}

static void show_json(const struct proposal *p, const struct sheet *metrics)
{
	struct json json;

	json_start(&json, stdout, FORECAST_SCHEMA);
	forecast_json_system(&json, p->forecaster->system);
	json_text(&json, "site", p->site->name);
	json_text(&json, "rule", placement_names[p->rule]);
	json_double(&json, "time", p->now_s);
	json_double(&json, "age_s", p->age_s);
	json_count(&json, "size", p->forecaster->sizes[p->size]);
	json_count(&json, "bytes", p->total);
	json_count(&json, "stripe", p->stripe);
	json_count(&json, "targets", p->count);
	json_count(&json, "allowed", p->allowed);
	json_double(&json, "most", p->limits.most);
	json_double(&json, "least", p->limits.least);
	json_open(&json, "placement", '[');
	for (size_t t = 0; t < p->count; t++)
		json_target(&json, p, t);
	json_close(&json);
	json_open(&json, "sheets", '[');
	sheet_json(metrics, &json);
	json_end(&json);
}

static void show_proposal(const struct forecast_args *args, const struct proposal *p)
{
	char when[DATE_TEXT], total[UNIT_TEXT], size[UNIT_TEXT];
	struct sheet targets, metrics;

	sheet_init(&targets, "placement", "bytes per target", target_columns);
	for (size_t t = 0; t < p->count; t++)
		add_target(&targets, p, t);
	add_policy_notes(&targets, p);
	targets.is_modelled = forecast_is_modelled(p->forecaster->system);
	sheet_init(&metrics, "metrics", "expected time until all bytes are written",
		   metric_columns);
	metrics.is_modelled = targets.is_modelled;
	add_metrics(&metrics, p);
	if (args->json) {
		show_json(p, &metrics);
	} else {
		term_sentence(stdout, "%s at %s UTC: %s, rule \"%s\", seconds per %s\n\n",
			      p->forecaster->system, date_text(when, p->now_s),
			      unit_bytes(total, (double)p->total), placement_names[p->rule],
			      unit_bytes(size, (double)p->forecaster->sizes[p->size]));
		sheet_print(&targets, stdout);
		sheet_print(&metrics, stdout);
	}
	sheet_release(&targets);
	sheet_release(&metrics);
}

static int check_args(const struct command *command, const struct forecast_args *args)
{
	if (args->total == OPTION_NONE || !args->total)
		return command_misuse(command, "missing --total SIZE");
	if (!args->stripe)
		return command_misuse(command, "--stripe must be positive");
	return COMMAND_GOOD;
}

static int place_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	struct forecast_data source = { 0 };
	struct forecaster forecaster = { 0 };
	struct proposal proposal = { .forecaster = &forecaster,
				     .rule = (enum placement_rule)args->rule,
				     .total = args->total,
				     .stripe = args->stripe,
				     .age_s = INFINITY };
	int ret = check_args(command, args);

	if (!ret)
		ret = forecast_model(command, args, &forecaster);
	if (!ret)
		ret = forecast_latest(command, args, &forecaster, &source, &proposal.now_s);
	if (!ret)
		ret = make_proposal(command, args, &source, &proposal);
	if (!ret && args->params)
		ret = write_params(command, args, &source, &proposal);
	if (!ret) {
		show_proposal(args, &proposal);
		ret = command_finish(command);
		if (!ret &&
		    !(proposal.age_s <= OUTLOOK_STALE_WINDOWS * forecaster.features.window_s))
			command_warn(
				command,
				"there is no recent probe, so this placement follows typical "
				"instead of current times; is 'sluice forecast probe' running?");
	}
	proposal_release(&proposal);
	forecast_data_close(&source);
	forecaster_release(&forecaster);
	return ret;
}

const struct command_ops command_forecast_place = {
	.name = "place",
	.help = "compute how much to write to each target",
	.about = "Distributes bytes over the targets so that the last of them is written as early "
		 "as possible. Rules: equal shares; classes (idle or busy, as in the paper); the "
		 "expected time of each target; or hedged, which limits the loss if forecasts are "
		 "wrong. The limits in the [placement] section of the site's file apply.\n\n"
		 "  sluice forecast place --total 288G",
	.options = place_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = place_run,
};
