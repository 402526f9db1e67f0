/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast: which storage target will be busy, for which size of write, with what chance.
 * Here are the options and what the verbs share.
 */
#include "cmd/forecast/forecast.h"

#include "cli/verb.h"
#include "learn/judge/calibration.h"
#include "predict/forecast/states/labels.h"
#include "predict/forecast/place/placement.h"

#define FIELD(name) offsetof(struct forecast_args, name)

static const struct option forecast_options[] = {
	{ 0, "now", NULL, NULL, "what the model says of this minute; so it is without a verb",
	  OPTION_FLAG, FIELD(now) },
	{ 's', "system", "NAME", NULL, "whose probes; else the only one of the store", OPTION_TEXT,
	  FIELD(system) },
	{ 0, "site", "NAME|FILE", NULL, "description of the site: queues and size classes",
	  OPTION_TEXT, FIELD(site) },
	{ 0, "on", "modelled:NAME", NULL,
	  "train, evaluate: go by a generated system, such as modelled:titan", OPTION_TEXT,
	  FIELD(on) },
	{ 'f', "file", "FILE", NULL,
	  "go by a file of 'sluice probe export' instead of the store; may be repeated",
	  OPTION_LIST, FIELD(files) },
	{ 0, "targets", "N", NULL, "evaluate, --on: so many targets only", OPTION_COUNT,
	  FIELD(targets) },
	{ 'm', "model", "MODEL", NULL, "the model; else that of the setting forecast.model",
	  OPTION_TEXT, FIELD(model) },
	{ 'M', "method", "METHODS", "svm",
	  "train: how it is learnt; evaluate: methods with commas, or all", OPTION_TEXT,
	  FIELD(method) },
	{ 0, "settings", "NAME=VALUE,...", NULL,
	  "train: settings of the method, such as cost=2 (see 'sluice learn')", OPTION_TEXT,
	  FIELD(settings) },
	{ 0, "features", "SETS", NULL,
	  "paper, recent, all, or groups with commas; train, watch: recent, else paper",
	  OPTION_TEXT, FIELD(features) },
	{ 0, "window", "TIME", "10m", "probes that count for a forecast", OPTION_TIME,
	  FIELD(window_ns) },
	{ 0, "horizon", "TIME", "0", "how far ahead is forecast", OPTION_TIME, FIELD(horizon_ns) },
	{ 0, "states", LABELS_SCOPES, "system",
	  "idle and busy mean the same for all targets, or are found for each", OPTION_CHOICE,
	  FIELD(scope) },
	{ 0, "from", "TIME", NULL, "first moment that counts, in seconds since 1970 or as a date",
	  OPTION_TEXT, FIELD(from) },
	{ 0, "to", "TIME", NULL, "and the end; --now: the moment it is about", OPTION_TEXT,
	  FIELD(to) },
	{ 'd', "days", "DAYS", NULL,
	  "train: go by the last so many days; evaluate: train on the first, test on the others",
	  OPTION_TEXT, FIELD(days) },
	{ 'k', "folds", "N", "8", "parts to judge by; 0 to train only", OPTION_COUNT,
	  FIELD(folds) },
	{ 0, "calibration", CALIBRATION_WORDS, "platt", "how scores become chances", OPTION_CHOICE,
	  FIELD(calibration) },
	{ 0, "size", "SIZE", NULL,
	  "evaluate: writes of this size only; place, simulate: else the largest", OPTION_SIZE,
	  FIELD(size) },
	{ 0, "bound", "SHARE", "0.7", "evaluate: count targets whose accuracy is above",
	  OPTION_TEXT, FIELD(bound) },
	{ 0, "each", NULL, NULL, "evaluate: every target by itself, too", OPTION_FLAG,
	  FIELD(each) },
	{ 0, "csv", "FILE", NULL, "evaluate: write the rows, with labels, folds and features",
	  OPTION_TEXT, FIELD(csv) },
	{ 0, "every", "TIME", "5m", "watch: from check to check", OPTION_TIME, FIELD(every_ns) },
	{ 0, "once", NULL, NULL, "watch: one check, for cron", OPTION_FLAG, FIELD(once) },
	{ 0, "retrain", "TIME", "24h", "watch: train again by schedule; 0 for on drift only",
	  OPTION_TIME, FIELD(retrain_ns) },
	{ 0, "answers", "N", "2000", "watch: look for drift in the last so many forecasts",
	  OPTION_COUNT, FIELD(answers) },
	{ 0, "seed", "N", "1", "the same seed gives the same labels and models", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "threads to work with; else as many as there are cores",
	  OPTION_COUNT, FIELD(threads) },
	{ 'o', "output", "FILE", NULL, "train: the model; else as --model", OPTION_TEXT,
	  FIELD(output) },
	{ 'b', "bytes", "SIZE", NULL, "place: how much is to be written in all", OPTION_SIZE,
	  FIELD(bytes) },
	{ 0, "rule", PLACEMENT_WORDS, "hedged", "place: how shares are made (docs/placement.md)",
	  OPTION_CHOICE, FIELD(rule) },
	{ 0, "stripe", "SIZE", "1M", "place: shares are rounded to multiples of it", OPTION_SIZE,
	  FIELD(stripe) },
	{ 0, "params", "FILE", NULL, "place: write parameters for 'sluice run --params'",
	  OPTION_TEXT, FIELD(params) },
	{ 0, "busy-from", "CHANCE", "0.5",
	  "place, simulate: chance from which a target counts as busy", OPTION_TEXT,
	  FIELD(busy_from) },
	{ 0, "points", "N", "100", "simulate: steps of a run", OPTION_COUNT, FIELD(points) },
	{ 0, "repetitions", "N", "100", "simulate: runs", OPTION_COUNT, FIELD(repetitions) },
	{ 0, "feedback", "POWERS", "0", "simulate: how much load slows a target, such as 0,0.5,1",
	  OPTION_TEXT, FIELD(feedback) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " FORECAST_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

/* ---- verbs ---- */

static const struct {
	struct verb verb;
	int (*run)(struct command *command, const struct forecast_args *args);
} verbs[] = {
	{ { "now", "", 0, 0 }, forecast_now },
	{ { "train", "", 0, 0 }, forecast_train },
	{ { "evaluate", "", 0, 0 }, forecast_evaluate },
	{ { "watch", "", 0, 0 }, forecast_watch },
	{ { "place", "", 0, 0 }, forecast_place },
	{ { "simulate", "", 0, 0 }, forecast_simulate },
	{ .verb = { 0 } },
};

static int forecast_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	const char *name = command->argc ? command->argv[0] : "now";
	int row;

	if (args->now && command->argc)
		return command_misuse(command, "--now stands alone, without \"%s\"", name);
	row = verb_choose(command, name, &verbs[0].verb, sizeof(verbs[0]));
	if (row < 0)
		return COMMAND_MISUSE;
	if (!args->threads)
		return command_misuse(command, "--threads: there must be one at least");
	return verbs[row].run(command, args);
}

const struct command_ops command_forecast = {
	.name = "forecast",
	.help = "tell which storage targets will be busy, and learn it from probes",
	.operands = "[now|train|evaluate|watch|place|simulate]",
	.operands_min = 0,
	.operands_max = -1,
	.about =
		"Learns from probes of storage targets, and from the jobs that ran meanwhile "
		"('sluice probe'), which targets will be idle or busy for writes of which size. "
		"Idle and busy are found in the write times themselves, as two log-normal "
		"distributions; so a forecast of the state is one of the time, too.\n\n"
		"  sluice forecast train                     learn from what is in the store\n"
		"  sluice forecast                           the forecast of this minute\n"
		"  sluice forecast --now --json              the same for programs\n"
		"  sluice forecast evaluate -M all -d 8      compare methods: 8 days train\n"
		"  sluice forecast watch                     score forecasts, and train again\n"
		"  sluice forecast place -b 288G             how much to write where\n"
		"  sluice forecast simulate -d 8             what that would have gained\n\n"
		"Every target and size has a model of its own. A target that has too few writes is "
		"told by its shares of states. A forecast goes by probes of the last ten minutes "
		"(--window); where the newest is older than two windows, it says so and exits "
		"with 3.\n\n"
		"train and evaluate print accuracy with two kinds of folds. Shuffled folds are "
		"the paper's; they flatter, since neighbours in time are alike. Folds that are "
		"blocks of time are honest, as are the days after the training. The ceiling is "
		"what an oracle would reach that knows the write times: labels are drawn at "
		"random where states overlap.\n\n"
		"watch scores each forecast when the write that it was about has been measured, "
		"trains again once a day, or when answers are worse than in training, or there "
		"are new targets; the model before is kept as MODEL.previous. --once does one "
		"check.\n\n"
		"place divides bytes among the targets so that all is written soonest: in equal "
		"shares, by classes (the paper's: idle or busy), by the time that is expected of "
		"each target, or hedged, which does not lose where forecasts are wrong. It keeps "
		"to the site's [placement]. simulate trains on the first days (4 of 5, or --days) "
		"and replays the writes that were measured on the others.\n\n"
		"Times are UTC.",
	.options = forecast_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = forecast_run,
};
