/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/reproduce/behzad.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/place.h"
#include "lab/reproduce/paper.h"

static const struct option behzad_options[] = {
	{ 0, "search", "NAME", "genetic", "search for tuned settings with this algorithm",
	  OPTION_TEXT, offsetof(struct behzad_args, search) },
	REPRODUCE_PLOTS(behzad_args),
	REPRODUCE_SEED(behzad_args),
	REPRODUCE_JSON(behzad_args),
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
		r = workload_find(&cell->workload, kernel, ranks, err);
	if (r >= 0)
		r = workload_space(&cell->workload, cell->platform, &cell->space, err);
	if (r >= 0)
		r = workload_simulate(&cell->workload, cell->platform, &nothing, &cell->initial,
				      err);
	if (r < 0)
		cell_close(cell);
	return r;
}

int cell_optimize(struct cell *cell, struct err *err)
{
	return optimum_find(&cell->workload, cell->platform, &cell->space, cell->best_point,
			    &cell->best, err);
}

int cell_search(struct cell *cell, const struct behzad_args *args, struct err *err)
{
	size_t point[SPACE_DIMENSIONS];
	struct simulated out;
	struct search *search;
	double cost;
	int r = search_new(&search, args->search, NULL, &cell->space, args->seed, err);

	if (r < 0)
		return r;
	while (r >= 0 && search_get_counts(search).measured < BEHZAD_RUNS &&
	       search_ask(search, point)) {
		r = optimum_try(&cell->workload, cell->platform, &cell->space, point, &out, err);
		if (r < 0)
			break;
		search_tell(search, point, out.total);
		if (cell->tried_count < BEHZAD_RUNS)
			cell->tried[cell->tried_count++] = out.rate;
	}
	if (r >= 0 && search_best(search, cell->found_point, &cost))
		r = optimum_try(&cell->workload, cell->platform, &cell->space, cell->found_point,
				&cell->found, err);
	cell->counts = search_get_counts(search);
	search_free(search);
	return r;
}

int behzad_cells(struct behzad *behzad, struct err *err)
{
	int r = 0;

	if (!behzad->cells)
		behzad->cells = xcalloc(PAPER_CELLS, sizeof(*behzad->cells));
	while (r >= 0 && behzad->cell_count < PAPER_CELLS) {
		const struct paper_cell *paper = &paper_cells[behzad->cell_count];
		struct cell *cell = &behzad->cells[behzad->cell_count];

		r = cell_open(cell, paper->platform, paper->kernel, paper->ranks, err);
		if (r < 0)
			break;
		behzad->cell_count++;
		r = cell_search(cell, behzad->args, err);
		if (r >= 0)
			r = cell_optimize(cell, err);
	}
	return r;
}

static void release_cells(struct behzad *behzad)
{
	for (size_t i = 0; i < behzad->cell_count; i++)
		cell_close(&behzad->cells[i]);
	free(behzad->cells);
}

/* Figures that vary one size are rows of behzad_sweeps. */
static const struct result {
	const char *name;
	int (*make)(struct behzad *behzad, struct err *err);
} results[] = {
	{ "table2", behzad_table2 },
	{ "table3", behzad_table3 },
	{ "table4", behzad_table4 },
	{ "table5", behzad_table5 },
	{ "figure6", behzad_figure6 },
	{ "figure7", behzad_figure7 },
	{ "figure8", behzad_figure8 },
	{ "figure13", behzad_figure13 },
	{ 0 },
};

static bool is_known(const char *name)
{
	for (const struct result *w = results; w->name; w++)
		if (strcmp(w->name, name) == 0)
			return true;
	for (const struct sweep *w = behzad_sweeps; w->name; w++)
		if (strcmp(w->name, name) == 0)
			return true;
	return strcmp(name, "all") == 0;
}

static bool is_wanted(const struct command *command, const char *name)
{
	for (int i = 0; i < command->argc; i++)
		if (strcmp(command->argv[i], name) == 0 || strcmp(command->argv[i], "all") == 0)
			return true;
	return !command->argc;
}

static int make_results(const struct command *command, struct behzad *behzad, struct err *err)
{
	int r = 0;

	for (const struct result *w = results; w->name && r >= 0; w++)
		if (is_wanted(command, w->name))
			r = w->make(behzad, err);
	for (const struct sweep *w = behzad_sweeps; w->name && r >= 0; w++)
		if (is_wanted(command, w->name))
			r = behzad_sweep(behzad, w, err);
	return r;
}

static int behzad_run(struct command *command)
{
	const struct behzad_args *args = command->args;
	struct behzad behzad = { .args = args };
	struct err err = { 0 };
	int r;

	for (int i = 0; i < command->argc; i++)
		if (!is_known(command->argv[i]))
			return command_misuse(command,
					      "unknown result \"%s\" (expected table2 to table5, "
					      "figure6 to figure13 or all)",
					      command->argv[i]);
	if (args->plots && place_make_dir(args->plots, 0777, &err) < 0)
		return command_fail(command, "%s", err.text);
	reproduce_start(&behzad.output, args->json, args->seed, args->search);
	r = make_results(command, &behzad, &err);
	release_cells(&behzad);
	return reproduce_finish(command, &behzad.output, r, &err);
}

const struct command_ops command_behzad = {
	.name = "behzad",
	.help = "reproduce auto-tuning of parallel I/O (Behzad et al., SC 2013)",
	.operands = "[WHAT]...",
	.operands_max = -1,
	.about =
		"WHAT is table2 to table5, figure6 to figure13, or all (the default). --plots "
		"draws "
		"Figures 6, 8 and 13.\n\n"
		"The rates come from simulated platforms: Hopper, Intrepid and Stampede are "
		"descriptions that can be read and changed. SLUICE_PLATFORMS names a directory "
		"with "
		"other descriptions. A search makes at most 600 runs, as in the paper; the optimum "
		"is found by trying all settings.\n\n"
		"  sluice lab reproduce behzad table4\n"
		"  sluice lab reproduce behzad figure6 figure8 figure13 --plots figures\n"
		"  sluice lab reproduce behzad --search random --json",
	.options = behzad_options,
	.args_bytes = sizeof(struct behzad_args),
	.run = behzad_run,
};
