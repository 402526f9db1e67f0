/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model evaluate: the hybrid model against others who choose settings, on a modelled machine
 * or on a site's own measured times.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "lab/model/evaluation.h"
#include "cmd/model/model.h"
#include "learn/learner.h"

static void evaluation_print(const struct evaluation *evaluation)
{
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		struct sheet sheet;

		s->make(evaluation, &sheet);
		if (s != evaluation_sheets)
			putchar('\n');
		sheet_print(&sheet, stdout);
		sheet_release(&sheet);
	}
}

static void evaluation_json(const struct evaluation *evaluation)
{
	const struct evaluation_plan *plan = &evaluation->plan;
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	json_text(&json, "machine", evaluation->contest.machine.name);
	json_text(&json, "law",
		  evaluation->replica ? plan->law == REPLICA_SHARE ? "share" : "queue" : NULL);
	json_text(&json, "times", plan->times);
	json_text(&json, "rows", plan->rows);
	json_count(&json, "seed", plan->study.seed);
	json_count(&json, "repetitions", plan->study.repetitions);
	json_open(&json, "sheets", '[');
	for (const struct evaluation_sheet *s = evaluation_sheets; s->name; s++) {
		struct sheet sheet;

		s->make(evaluation, &sheet);
		sheet_json(&sheet, &json);
		sheet_release(&sheet);
	}
	json_end(&json);
}

static int plan_check(const struct command *command, const struct model_args *args)
{
	if (!args->budget || args->folds < 2)
		return command_misuse(command, "--budget must be 1 at least, --folds 2");
	if (!args->repetitions || args->repetitions > 1000)
		return command_misuse(command, "--repetitions must be 1 to 1000");
	if (args->times && !args->rows)
		return command_misuse(command, "--times: name the benchmarks of that machine by "
					       "--rows as well");
	if (args->times && !args->machine)
		return command_misuse(command, "--times: name the machine by --machine");
	if (args->rows && !args->times)
		return command_misuse(command, "--rows: name the times to judge by as well "
					       "(--times)");
	return COMMAND_GOOD;
}

int model_evaluate_choices(struct command *command, const struct model_args *args)
{
	AUTO_FREE const struct learner_ops **methods = NULL;
	struct evaluation_plan plan = {
		.machine = args->times ? args->machine : args->on,
		.law = (enum replica_law)args->law,
		.times = args->times,
		.rows = args->rows,
		.policy = (enum noise_policy)args->policy,
		.study = { .rules = model_rules(args),
			   .repetitions = args->repetitions,
			   .budget = args->budget,
			   .folds = args->folds,
			   .full = args->full,
			   .surrogates_alone = args->alone,
			   .seed = args->seed,
			   .threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads },
	};
	struct evaluation evaluation;
	struct err err = { 0 };
	int r = plan_check(command, args);

	if (r != COMMAND_GOOD)
		return r;
	r = model_coverage(command, args, &plan.study.coverage);
	if (r != COMMAND_GOOD)
		return r;
	if (args->learners &&
	    learner_find_all(args->learners, LEARNER_REGRESSES, &methods, &err) < 0)
		return command_misuse(command, "--learners: %s", err.text);
	plan.study.learners = methods;
	r = evaluation_open(&evaluation, &plan, &err);
	if (r < 0)
		return model_fail(command, r, &err);
	if (args->json)
		evaluation_json(&evaluation);
	else
		evaluation_print(&evaluation);
	evaluation_close(&evaluation);
	return command_finish(command);
}
