/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice forecast: which storage target will be busy, for which size of write, with what chance.
 * Here are the options and what the verbs share.
 */
#include "cmd/forecast.h"

#include <string.h>

#include "base/buf.h"
#include "learn/judge/calibration.h"
#include "predict/forecast/labels.h"
#include "predict/forecast/placement.h"

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
	{ 0, "features", "SETS", "paper", "what is gone by: paper, paper,ewm,clock or all",
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
	{ 0, "seed", "N", "1", "the same seed gives the same labels and models", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "threads to work with; else as many as there are cores",
	  OPTION_COUNT, FIELD(threads) },
	{ 'o', "output", "FILE", NULL, "train: the model; else as --model", OPTION_TEXT,
	  FIELD(output) },
	{ 'b', "bytes", "SIZE", NULL, "place: how much is to be written in all", OPTION_SIZE,
	  FIELD(bytes) },
	{ 0, "size", "SIZE", NULL,
	  "place, simulate: size of write to go by; else the largest that is known", OPTION_SIZE,
	  FIELD(size) },
	{ 0, "rule", PLACEMENT_WORDS, "hedged", "place: how shares are made (docs/placement.md)",
	  OPTION_CHOICE, FIELD(rule) },
	{ 0, "stripe", "SIZE", "1M", "place: shares are rounded to multiples of it", OPTION_SIZE,
	  FIELD(stripe) },
	{ 0, "params", "FILE", NULL, "place: write parameters for 'sluice run --params'",
	  OPTION_TEXT, FIELD(params) },
	{ 0, "busy-from", "CHANCE", "0.5",
	  "place, simulate: from this chance on a target counts as busy for the rule of classes",
	  OPTION_TEXT, FIELD(busy_from) },
	{ 0, "points", "N", "100", "simulate: steps of a run", OPTION_COUNT, FIELD(points) },
	{ 0, "repetitions", "N", "100", "simulate: runs", OPTION_COUNT, FIELD(repetitions) },
	{ 0, "feedback", "POWERS", "0",
	  "simulate: how much a target slows by the load that is put on it, such as 0,0.5,1",
	  OPTION_TEXT, FIELD(feedback) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " FORECAST_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

/* ---- verbs ---- */

static const struct verb {
	const char *name, *operands;
	int least, most; /* operands behind it */
	int (*run)(struct command *command, const struct forecast_args *args);
} verbs[] = {
	{ "now", "", 0, 0, forecast_now },
	{ "train", "", 0, 0, forecast_train },
	{ "place", "", 0, 0, forecast_place },
	{ "simulate", "", 0, 0, forecast_simulate },
	{ 0 },
};

static int verb_unknown(const struct command *command)
{
	AUTO_BUF struct buf names = { 0 };

	for (size_t i = 0; verbs[i].name; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", verbs[i].name);
	return command_misuse(command, "\"%s\" is none of %s", command->argv[0], buf_text(&names));
}

static int forecast_run(struct command *command)
{
	const struct forecast_args *args = command->args;
	const char *name = command->argc && !args->now ? command->argv[0] : "now";
	const struct verb *verb = verbs;
	int operands = command->argc ? command->argc - 1 : 0;

	while (verb->name && strcmp(verb->name, name) != 0)
		verb++;
	if (!verb->name)
		return verb_unknown(command);
	if (args->now && command->argc)
		return command_misuse(command, "--now stands alone, without \"%s\"",
				      command->argv[0]);
	if (operands < verb->least || operands > verb->most)
		return command_misuse(command, "usage: sluice forecast %s %s", verb->name,
				      verb->operands);
	if (!args->threads)
		return command_misuse(command, "--threads: there must be one at least");
	return verb->run(command, args);
}

const struct command_ops command_forecast = {
	.name = "forecast",
	.help = "tell which storage targets will be busy, and learn it from probes",
	.operands = "[now|train|evaluate|watch|place|simulate]",
	.operands_min = 0,
	.operands_max = -1,
	.about = "Learns from probes of storage targets and from the jobs that ran meanwhile "
		 "('sluice "
		 "probe') which targets will be busy for writes of which size.\n\n"
		 "  sluice forecast train           learn from what is in the store\n"
		 "  sluice forecast                 the forecast of this minute\n"
		 "  sluice forecast place -b 288G   how much to write where, to be done soonest\n"
		 "  sluice forecast simulate        what placement would have gained\n",
	.options = forecast_options,
	.args_bytes = sizeof(struct forecast_args),
	.run = forecast_run,
};
