/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice reproduce: tables and figures of the papers on auto-tuning, on collective I/O and on
 * forecasts of storage targets, beside what comes out on described platforms, machines and systems.
 * Nothing is run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "lab/reproduce/reproduce.h"
#include "lab/model/studies.h"
#include "lab/replica/replica.h"

static const struct option reproduce_options[] = {
	{ 's', "search", "NAME", "genetic",
	  "how tuned settings are searched for, in 600 runs at most", OPTION_TEXT,
	  offsetof(struct reproduce_args, search) },
	{ 0, "seed", "N", "1", "the same seed gives the same tables", OPTION_COUNT,
	  offsetof(struct reproduce_args, seed) },
	{ 0, "plots", "DIR", NULL, "isaila, wan: draw the figures there, as SVG", OPTION_TEXT,
	  offsetof(struct reproduce_args, plots) },
	{ 0, "law", REPLICA_LAW_WORDS "|both", "both",
	  "isaila: how the storage of the modelled machine is contended", OPTION_CHOICE,
	  offsetof(struct reproduce_args, law) },
	{ 0, "repetitions", "N", "10", "isaila: repetitions of each study", OPTION_COUNT,
	  offsetof(struct reproduce_args, repetitions) },
	{ 0, "budget", "N", "10", "isaila: candidates per method of learning; 30 in the paper",
	  OPTION_COUNT, offsetof(struct reproduce_args, budget) },
	{ 0, "policy", NOISE_POLICY_WORDS, "allow",
	  "isaila: what becomes of times that noise made negative", OPTION_CHOICE,
	  offsetof(struct reproduce_args, policy) },
	{ 0, "full", NULL, NULL,
	  "isaila: select methods anew in each repetition; takes hours. wan: all targets",
	  OPTION_FLAG, offsetof(struct reproduce_args, full) },
	{ 0, "targets", "N", "12",
	  "wan: storage targets that classifiers are tried on, of each system", OPTION_COUNT,
	  offsetof(struct reproduce_args, targets) },
	{ 0, "quick", NULL, NULL, "wan: two days and four targets: shapes, not numbers",
	  OPTION_FLAG, offsetof(struct reproduce_args, quick) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.reproduce/1",
	  OPTION_FLAG, offsetof(struct reproduce_args, json) },
	{ 0 }
};

void cell_close(struct cell *cell)
{
	space_release(&cell->space);
	platform_close(cell->platform);
}

int cell_open(struct cell *cell, const char *platform, const char *kernel, uint64_t ranks,
	      struct err *err)
{
	const struct param_set nothing = { 0 };
	int r;

	*cell = (struct cell){ 0 };
	r = platform_open(&cell->platform, platform, err);
	if (r >= 0)
		r = workload_of(&cell->workload, kernel, ranks, err);
	if (r >= 0)
		r = workload_space(&cell->workload, cell->platform, &cell->space, err);
	if (r >= 0)
		r = workload_simulate(&cell->workload, cell->platform, &nothing, &cell->initial,
				      err);
	if (r < 0)
		cell_close(cell);
	return r;
}

int cell_optimise(struct cell *cell, struct err *err)
{
	return optimum_find(&cell->workload, cell->platform, &cell->space, cell->best_point,
			    &cell->best, err);
}

int cell_search(struct cell *cell, const struct reproduce_args *args, struct err *err)
{
	size_t point[SPACE_DIMENSIONS];
	struct simulated out;
	struct search *search;
	double cost;
	int r = search_new(&search, args->search, NULL, &cell->space, args->seed, err);

	if (r < 0)
		return r;
	while (r >= 0 && search_counted(search).measured < REPRODUCE_RUNS &&
	       search_ask(search, point)) {
		r = optimum_try(&cell->workload, cell->platform, &cell->space, point, &out, err);
		if (r >= 0)
			search_tell(search, point, out.total);
	}
	if (r >= 0 && search_best(search, cell->found_point, &cost))
		r = optimum_try(&cell->workload, cell->platform, &cell->space, cell->found_point,
				&cell->found, err);
	cell->counts = search_counted(search);
	search_free(search);
	return r;
}

void reproduce_put(struct reproduce_output *output, struct sheet *sheet)
{
	if (output->json) {
		sheet_json(sheet, output->json);
	} else {
		if (output->sheets)
			putchar('\n');
		sheet_print(sheet, stdout);
	}
	output->sheets++;
	sheet_release(sheet);
}

/* Figures that sweep a size are rows of reproduce_sweeps. */
static const struct work {
	const char *name;
	int (*make)(struct reproduce_output *output, struct err *err);
} works[] = {
	{ "table2", reproduce_table2 },	  { "table3", reproduce_table3 },
	{ "table4", reproduce_table4 },	  { "table5", reproduce_table5 },
	{ "figure7", reproduce_figure7 }, { 0 },
};

static bool is_known(const char *name)
{
	for (const struct work *w = works; w->name; w++)
		if (strcmp(w->name, name) == 0)
			return true;
	for (const struct sweep *w = reproduce_sweeps; w->name; w++)
		if (strcmp(w->name, name) == 0)
			return true;
	return strcmp(name, "all") == 0 || strcmp(name, "isaila") == 0 || strcmp(name, "wan") == 0;
}

static bool is_named(const struct command *command, const char *name)
{
	for (int i = 0; i < command->argc; i++)
		if (strcmp(command->argv[i], name) == 0)
			return true;
	return false;
}

static bool is_wanted(const struct command *command, const char *name)
{
	return is_named(command, name) || is_named(command, "all");
}

static int reproduce_run(struct command *command)
{
	const struct reproduce_args *args = command->args;
	struct reproduce_output output = { .args = args };
	struct err err = { 0 };
	struct json json;
	int r = 0;

	for (int i = 0; i < command->argc; i++)
		if (!is_known(command->argv[i]))
			return command_misuse(command,
					      "there is no \"%s\"; there are table2 to table5, "
					      "figure7, figure9 to figure12, all, isaila and wan",
					      command->argv[i]);
	if (args->json) {
		json_start(&json, stdout, "sluice.reproduce/1");
		json_count(&json, "seed", args->seed);
		json_text(&json, "search", args->search);
		json_open(&json, "sheets", '[');
		output.json = &json;
	}
	for (const struct work *w = works; w->name && r >= 0; w++)
		if (is_wanted(command, w->name))
			r = w->make(&output, &err);
	for (const struct sweep *w = reproduce_sweeps; w->name && r >= 0; w++)
		if (is_wanted(command, w->name))
			r = reproduce_sweep(&output, w, &err);
	/* Other papers, and minutes of work: only who asks for one gets it. */
	if (r >= 0 && is_named(command, "isaila"))
		r = reproduce_isaila(&output, &err);
	if (r >= 0 && is_named(command, "wan"))
		r = reproduce_wan(&output, &err);
	if (args->json)
		json_end(&json);
	if (r < 0)
		return command_fail(command, "%s", err.text);
	return command_finish(command);
}

const struct command_ops command_reproduce = {
	.name = "reproduce",
	.help = "print tables and figures of papers beside ours",
	.operands = "WHAT...",
	.operands_min = 1,
	.operands_max = -1,
	.about =
		"Computes tables 2 to 5 and figures 7 and 9 to 12 of the paper on auto-tuning "
		"parallel I/O (Behzad et al., SC 2013) on modelled platforms, and prints them "
		"beside what the paper has. WHAT is table2, table3, table4, table5, figure7, "
		"figure9, figure10, figure11, figure12 or all.\n\n"
		"isaila is another paper, on predicting collective I/O (Isaila et al., 2015): its "
		"table 2 and figures 4 to 11 on a modelled machine, Vesta, under two laws of "
		"contention. It learns what benchmarks of that machine teach, which takes "
		"minutes; --plots draws the figures.\n\n"
		"wan is a third, on forecasting which storage targets are busy (Wan et al., 2019): "
		"its table I and figures 4 to 12 on generated traces of Titan and Cori, with "
		"baselines and ceilings. Every target of Titan gets a model for placement; "
		"classifiers are compared on --targets of them, or all with --full. It takes a "
		"minute or two.\n\n"
		"Nothing is run: Hopper, Intrepid and Stampede are descriptions that can be read "
		"and changed; SLUICE_PLATFORMS names the folder of others.\n\n"
		"  sluice reproduce table4\n"
		"  sluice reproduce all --json\n"
		"  sluice reproduce isaila --plots figures\n"
		"  sluice reproduce wan --plots figures",
	.options = reproduce_options,
	.args_bytes = sizeof(struct reproduce_args),
	.run = reproduce_run,
};
