/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab evaluate: compares the hybrid model with other ways to choose settings, on a simulated
 * machine or on measured runs.
 * Papers: HYB-21, HYB-58.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "lab/model/bluegene.h"
#include "lab/model/evaluation.h"
#include "learn/learner.h"

#define EVALUATE_SCHEMA "sluice.lab.evaluate/1"

struct evaluate_args {
	const char *machine, *measured, *rows, *learners, *coverage;
	uint64_t candidates, folds, repeat, seed, threads;
	int contention, policy, message, incomplete, single, rounds;
	bool no_lookup, full, json;
};

#define FIELD(name) offsetof(struct evaluate_args, name)

static const struct option evaluate_options[] = {
	{ 0, "machine", "NAME|FILE", "vesta", "description of the machine", OPTION_TEXT,
	  FIELD(machine) },
	{ 0, "contention", REPLICA_CONTENTION_WORDS, "queue",
	  "contention model of the simulated storage", OPTION_CHOICE, FIELD(contention) },
	{ 0, "measured", "CSV", NULL, "judge by measured runs instead of a simulated machine",
	  OPTION_TEXT, FIELD(measured) },
	{ 0, "rows", "CSV", NULL, "with --measured: elemental measurements of that machine",
	  OPTION_TEXT, FIELD(rows) },
	{ 0, "learners", "METHODS", NULL, "choose among these methods, such as linear,svm",
	  OPTION_TEXT, FIELD(learners) },
	{ 0, "candidates", "N", "30", "candidate models per method", OPTION_COUNT,
	  FIELD(candidates) },
	{ 'k', "folds", "N", "10", "cross-validation folds", OPTION_COUNT, FIELD(folds) },
	{ 0, "repeat", "N", "10", "repetitions of each study", OPTION_COUNT, FIELD(repeat) },
	{ 0, "policy", NOISE_POLICY_WORDS, "allow", "treatment of times that noise makes negative",
	  OPTION_CHOICE, FIELD(policy) },
	{ 0, "full", NULL, NULL, "select methods again in each repetition; takes hours",
	  OPTION_FLAG, FIELD(full) },
	{ 0, "no-lookup", NULL, NULL,
	  "predict from the learned model even for measured configurations", OPTION_FLAG,
	  FIELD(no_lookup) },
	{ 0, "message", RULE_MESSAGE_WORDS, "literal",
	  "Blue Gene: message size as the paper states it, or what one process holds",
	  OPTION_CHOICE, FIELD(message) },
	{ 0, "incomplete", RULE_INCOMPLETE_WORDS, "partial",
	  "Blue Gene: cost of the last, incomplete round; naive: all rounds alike, without locks",
	  OPTION_CHOICE, FIELD(incomplete) },
	{ 0, "single", RULE_SINGLE_WORDS, "published", "Blue Gene: cost of a single round",
	  OPTION_CHOICE, FIELD(single) },
	{ 0, "rounds", RULE_ROUNDS_WORDS, "published",
	  "Blue Gene: rounds as in the paper, or as ROMIO makes them on GPFS", OPTION_CHOICE,
	  FIELD(rounds) },
	{ 0, "coverage", "SHARE", "0.9", "coverage of the prediction interval", OPTION_TEXT,
	  FIELD(coverage) },
	{ 0, "seed", "N", "1", "seed; the same seed gives the same tables", OPTION_COUNT,
	  FIELD(seed) },
	{ 'T', "threads", "N", NULL, "number of threads (default: all cores)", OPTION_COUNT,
	  FIELD(threads) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema " EVALUATE_SCHEMA, OPTION_FLAG,
	  FIELD(json) },
	{ 0 }
};

#undef FIELD

static void print_evaluation(const struct evaluation *evaluation)
{
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		struct sheet sheet;

		evaluation_make_sheet(evaluation, s, &sheet);
		if (s != evaluation_sheets)
			putchar('\n');
		sheet_print(&sheet, stdout);
		sheet_release(&sheet);
	}
}

static void print_evaluation_json(const struct evaluation *evaluation)
{
	const struct evaluation_plan *plan = &evaluation->plan;
	struct json json;

	json_start(&json, stdout, EVALUATE_SCHEMA);
	json_text(&json, "machine", evaluation->contest.machine.name);
	json_bool(&json, "modelled", evaluation->replica != NULL);
	json_text(&json, "contention",
		  evaluation->replica ? plan->contention == REPLICA_SHARE ? "share" : "queue"
				      : NULL);
	json_text(&json, "measured", plan->times);
	json_text(&json, "rows", plan->rows);
	json_count(&json, "seed", plan->study.seed);
	json_count(&json, "repetitions", plan->study.repetitions);
	json_open(&json, "sheets", '[');
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		struct sheet sheet;

		evaluation_make_sheet(evaluation, s, &sheet);
		sheet_json(&sheet, &json);
		sheet_release(&sheet);
	}
	json_end(&json);
}

static int check_args(const struct command *command)
{
	const struct evaluate_args *args = command->args;

	if (!args->candidates)
		return command_misuse(command, "--candidates must be at least 1");
	if (args->folds < 2)
		return command_misuse(command, "--folds must be at least 2");
	if (!args->threads)
		return command_misuse(command, "--threads must be at least 1");
	if (!args->repeat || args->repeat > 1000)
		return command_misuse(command, "--repeat must be from 1 to 1000");
	if (args->measured && !args->rows)
		return command_misuse(command, "--measured requires --rows");
	if (args->rows && !args->measured)
		return command_misuse(command, "--rows requires --measured");
	return COMMAND_GOOD;
}

static int parse_coverage(const struct command *command, double *coverage)
{
	const struct evaluate_args *args = command->args;
	char *end;

	*coverage = strtod(args->coverage, &end);
	if (end == args->coverage || *end || !(*coverage > 0 && *coverage < 1))
		return command_misuse(command,
				      "--coverage: expected a number between 0 and 1, got \"%s\"",
				      args->coverage);
	return COMMAND_GOOD;
}

static struct evaluation_plan make_plan(const struct evaluate_args *args)
{
	return (struct evaluation_plan){
		.machine = args->machine,
		.contention = (enum replica_contention)args->contention,
		.times = args->measured,
		.rows = args->rows,
		.policy = (enum noise_policy)args->policy,
		.study = { .rules = { (enum rule_message)args->message,
				      (enum rule_incomplete)args->incomplete,
				      (enum rule_single)args->single,
				      (enum rule_rounds)args->rounds },
			   .repetitions = args->repeat,
			   .budget = args->candidates,
			   .folds = args->folds,
			   .full = args->full,
			   .surrogates_alone = args->no_lookup,
			   .seed = args->seed,
			   .threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads },
	};
}

static int evaluate_run(struct command *command)
{
	const struct evaluate_args *args = command->args;
	AUTO_FREE const struct learner_ops **methods = NULL;
	struct evaluation_plan plan = make_plan(args);
	struct evaluation evaluation;
	struct err err = { 0 };
	int r = check_args(command);

	if (!r)
		r = parse_coverage(command, &plan.study.coverage);
	if (r)
		return r;
	if (args->learners &&
	    learner_find_all(args->learners, LEARNER_REGRESSES, &methods, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	plan.study.learners = methods;
	r = evaluation_open(&evaluation, &plan, &err);
	if (r < 0) {
		command_fail(command, "%s", err.text);
		return r == -ENODATA || r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
	}
	if (args->json)
		print_evaluation_json(&evaluation);
	else
		print_evaluation(&evaluation);
	evaluation_close(&evaluation);
	return command_finish(command);
}

const struct command_ops command_evaluate = {
	.name = "evaluate",
	.help = "compare the hybrid model with other ways to choose settings",
	.about =
		"Compares the model with a black box that learns from runs of the program, with "
		"random "
		"and default settings and with the optimum, and adds noise to the training data or "
		"removes rows from it. The machine is simulated, or --measured names a CSV file of "
		"measured runs with the columns nodes, rank_bytes, aggregators, buffer_bytes and "
		"seconds (and optionally ranks).",
	.options = evaluate_options,
	.args_bytes = sizeof(struct evaluate_args),
	.run = evaluate_run,
};
