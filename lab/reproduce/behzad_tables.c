/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables 2 to 5 of Behzad et al., each beside the numbers of Sluice.
 * Papers: ATE-6, ATE-10, ATE-16.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lab/reproduce/behzad.h"
#include "lab/reproduce/paper.h"

#define GIB 1073741824.0

int behzad_table2(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { ">ranks", "ranks", 0 },
						       { ">paper", "printed", 0 },
						       { ">bytes", "bytes", 0 },
						       { ">GiB", "gib", 2 },
						       { ">MB per rank", "rank_mb", 3 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "table2", "Table 2: data written by the kernels", columns);
	for (const struct paper_volume *v = paper_volumes; v->kernel; v++) {
		struct workload workload;
		int r = workload_find(&workload, v->kernel, v->ranks, err);

		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
		sheet_text(&sheet, "%s", v->kernel);
		sheet_number(&sheet, (double)v->ranks);
		sheet_text(&sheet, "%s", v->printed);
		sheet_number(&sheet, (double)workload_bytes(&workload));
		sheet_number(&sheet, (double)workload_bytes(&workload) / GIB);
		sheet_number(&sheet, (double)workload.rank_bytes / REPRODUCE_MB);
	}
	reproduce_add_sheet(&behzad->output, &sheet);
	return 0;
}

static const struct space_dimension *find_dimension(const struct space *space, const char *name)
{
	for (size_t i = 0; i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		if (strcmp(d->tunable->name, name) == 0)
			return d;
		for (size_t k = 0; k < d->tie_count; k++)
			if (strcmp(d->ties[k]->name, name) == 0)
				return d;
	}
	return NULL;
}

static void add_range(struct sheet *sheet, const struct cell *cell, const struct paper_range *range)
{
	const struct space_dimension *d = find_dimension(&cell->space, range->tunable);

	if (!d)
		return;
	sheet_text(sheet, "%s", platform_name(cell->platform));
	sheet_text(sheet, "%s", range->tunable);
	sheet_text(sheet, "%s..%s", range->min, range->max);
	sheet_number(sheet, (double)range->values);
	sheet_number(sheet, (double)d->count);
	sheet_text(sheet, "%s", d->values[0]);
	sheet_text(sheet, "%s", d->values[d->count - 1]);
	sheet_text(sheet, "%s", strcmp(d->tunable->name, range->tunable) ? d->tunable->name : "-");
}

static int make_ranges(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { "platform", "platform", 0 },
						       { "parameter", "parameter", 0 },
						       { "paper", "printed_range", 0 },
						       { ">values", "printed_values", 0 },
						       { ">Sluice", "values", 0 },
						       { ">first", "first", 0 },
						       { ">last", "last", 0 },
						       { "tied to", "tied_to", 0 },
						       { 0 } };
	static const char *const platforms[] = { "hopper", "intrepid", "stampede" };
	struct sheet sheet;

	sheet_init(&sheet, "table3", "Table 3: parameter ranges", columns);
	for (size_t p = 0; p < 3; p++)
		for (const struct paper_range *g = paper_ranges; g->name; g++) {
			struct cell cell;
			const char *kernel = strcmp(g->name, "chunk_size") ? "vpic" : "gcrm";
			int r = cell_open(&cell, platforms[p], kernel, BEHZAD_RANKS, err);

			if (r < 0) {
				sheet_release(&sheet);
				return r;
			}
			add_range(&sheet, &cell, g);
			cell_close(&cell);
		}
	sheet_note(&sheet, "For cb_nds the paper lists 12 values up to 256, but reports tuned "
			   "values of 512 and 1024.");
	reproduce_add_sheet(&behzad->output, &sheet);
	return 0;
}

static int make_spaces(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { "platform", "platform", 0 },
						       { ">points", "points", 0 },
						       { ">600 runs in %", "share_percent", 1 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "spaces", "Sizes of the search spaces", columns);
	for (size_t i = 0; paper_settings[i].kernel; i++) {
		struct cell cell;
		int r = cell_open(&cell, paper_settings[i].platform, paper_settings[i].kernel,
				  BEHZAD_RANKS, err);
		double points;

		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
		points = (double)space_points(&cell.space);
		sheet_text(&sheet, "%s", paper_settings[i].kernel);
		sheet_text(&sheet, "%s", paper_settings[i].platform);
		sheet_number(&sheet, points);
		sheet_number(&sheet, fmin(100 * BEHZAD_RUNS / points, 100));
		cell_close(&cell);
	}
	reproduce_add_sheet(&behzad->output, &sheet);
	return 0;
}

int behzad_table3(struct behzad *behzad, struct err *err)
{
	int r = make_ranges(behzad, err);

	return r < 0 ? r : make_spaces(behzad, err);
}

/* Speedups of all cells: of the search and of the optimum. */
struct gains {
	double found[PAPER_CELLS], best[PAPER_CELLS];
};

static void add_rates(struct sheet *sheet, const struct paper_cell *paper, const struct cell *cell)
{
	sheet_number(sheet, (double)paper->ranks);
	sheet_text(sheet, "%s", paper->platform);
	sheet_text(sheet, "%s", paper->kernel);
	sheet_number(sheet, paper->initial);
	sheet_number(sheet, paper->tuned);
	sheet_number(sheet, paper->speedup);
	sheet_number(sheet, cell->initial.rate / REPRODUCE_MB);
	sheet_number(sheet, cell->found.rate / REPRODUCE_MB);
	sheet_number(sheet, cell->initial.total / cell->found.total);
	sheet_number(sheet, (double)cell->counts.asked);
	sheet_number(sheet, (double)cell->counts.measured);
	sheet_number(sheet, cell->best.rate / REPRODUCE_MB);
	sheet_number(sheet, cell->initial.total / cell->best.total);
	sheet_number(sheet, 100 * (cell->found.total / cell->best.total - 1));
	sheet_number(sheet, 100 * cell->best.rate / platform_peak(cell->platform));
}

static const struct sheet_column rate_columns[] = { { ">ranks", "ranks", 0 },
						    { "platform", "platform", 0 },
						    { "kernel", "kernel", 0 },
						    { ">paper: default", "paper_default_mb_s", 0 },
						    { ">tuned", "paper_tuned_mb_s", 0 },
						    { ">speedup", "paper_gain", 2 },
						    { ">~default", "default_mb_s", 0 },
						    { ">tuned", "tuned_mb_s", 0 },
						    { ">speedup", "gain", 2 },
						    { ">runs", "asked", 0 },
						    { ">distinct", "measured", 0 },
						    { ">optimum", "best_mb_s", 0 },
						    { ">speedup", "best_gain", 2 },
						    { ">gap %", "missed_percent", 1 },
						    { ">% of peak", "peak_percent", 1 },
						    { 0 } };

static int make_rates(struct behzad *behzad, struct gains *gains, struct err *err)
{
	struct sheet sheet;
	int r = behzad_cells(behzad, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "table4", "Table 4: rates in MB/s", rate_columns);
	for (size_t i = 0; i < PAPER_CELLS; i++) {
		const struct cell *cell = &behzad->cells[i];

		add_rates(&sheet, &paper_cells[i], cell);
		gains->found[i] = cell->initial.total / cell->found.total;
		gains->best[i] = cell->initial.total / cell->best.total;
	}
	sheet_note(&sheet,
		   "tuned: the best settings that the %s search found; distinct: runs with "
		   "different settings; optimum: the best of all settings; gap: additional time "
		   "of the tuned settings over the optimum.",
		   behzad->args->search);
	sheet_note(&sheet, "The rates of the paper were measured. "
			   "docs/reference/simulated/platforms.md lists the parameters that were "
			   "fitted to the paper.");
	reproduce_add_modelled(&behzad->output, &sheet);
	return 0;
}

/* Adds the mean speedups of a group of cells: of the paper and of Sluice. */
static void add_mean(struct sheet *sheet, const struct paper_mean *group, const struct gains *gains)
{
	double paper = 0, found = 0, best = 0, count = 0;

	for (size_t i = 0; i < PAPER_CELLS; i++) {
		if (!paper_is_in(group, &paper_cells[i]))
			continue;
		paper += paper_cells[i].speedup;
		found += gains->found[i];
		best += gains->best[i];
		count++;
	}
	sheet_text(sheet, "%s",
		   group->platform ? group->platform : (group->kernel ? group->kernel : "all"));
	if (group->ranks)
		sheet_number(sheet, (double)group->ranks);
	else
		sheet_text(sheet, "all");
	sheet_number(sheet, count);
	sheet_number(sheet, group->printed ? group->printed : NAN);
	sheet_number(sheet, paper / count);
	sheet_number(sheet, found / count);
	sheet_number(sheet, best / count);
}

int behzad_table4(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { "group", "group", 0 },
						       { ">ranks", "ranks", 0 },
						       { ">cells", "cells", 0 },
						       { ">paper: printed", "printed", 2 },
						       { ">recomputed", "recomputed", 2 },
						       { ">~search", "found", 2 },
						       { ">optimum", "best", 2 },
						       { 0 } };
	struct gains gains;
	struct sheet sheet;
	int r = make_rates(behzad, &gains, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "means", "Mean speedups", columns);
	for (const struct paper_mean *m = paper_means; m->recomputed; m++)
		add_mean(&sheet, m, &gains);
	sheet_note(&sheet, "Five of the six means in the paper do not agree with its own table; "
			   "\"recomputed\" is the mean of that table.");
	reproduce_add_modelled(&behzad->output, &sheet);
	return 0;
}

static void add_settings(struct sheet *sheet, const struct cell *cell, const char *whose,
			 const char *parameters, double rate)
{
	sheet_text(sheet, "%s", cell->workload.name);
	sheet_text(sheet, "%s", platform_name(cell->platform));
	sheet_text(sheet, "%s", whose);
	sheet_number(sheet, rate / REPRODUCE_MB);
	sheet_text(sheet, "%s", parameters);
}

static void add_point(struct sheet *sheet, const struct cell *cell, const char *whose,
		      const size_t *point, const struct simulated *simulated)
{
	AUTO_BUF struct buf line = { 0 };

	space_line(&cell->space, point, &line);
	add_settings(sheet, cell, whose, buf_text(&line), simulated->rate);
}

/* Parses settings of paper_settings: NAME=VALUE, separated by blanks. */
static int parse_settings(struct param_set *set, const char *parameters, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(parameters);
	char *rest = copy;

	for (char *word; (word = strsep(&rest, " "));) {
		char *value = strchr(word, '=');
		int r;

		*value++ = 0;
		r = param_set_put(set, tunable_by_name(word), value, NULL, NULL, 0, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds the paper's settings with their simulated rate. */
static int add_paper_settings(struct sheet *sheet, const struct cell *cell, const char *parameters,
			      struct err *err)
{
	struct param_set set = { 0 };
	struct simulated out = { 0 };
	int r = parse_settings(&set, parameters, err);

	if (r >= 0)
		r = workload_simulate(&cell->workload, cell->platform, &set, &out, err);
	param_set_release(&set);
	if (r >= 0)
		add_settings(sheet, cell, "paper", parameters, out.rate);
	return r;
}

/* Adds the rows of the paper, of the search and of the optimum for one kernel and platform. */
static int make_settings(struct sheet *sheet, const struct behzad *behzad,
			 const struct paper_setting *setting, struct err *err)
{
	struct cell cell;
	int r = cell_open(&cell, setting->platform, setting->kernel, BEHZAD_RANKS, err);

	if (r < 0)
		return r;
	r = add_paper_settings(sheet, &cell, setting->settings, err);
	if (r >= 0)
		r = cell_search(&cell, behzad->args, err);
	if (r >= 0)
		r = cell_optimize(&cell, err);
	if (r >= 0) {
		add_point(sheet, &cell, "found", cell.found_point, &cell.found);
		add_point(sheet, &cell, "best", cell.best_point, &cell.best);
	}
	cell_close(&cell);
	return r;
}

int behzad_table5(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = {
		{ "kernel", "kernel", 0 }, { "platform", "platform", 0 }, { "source", "whose", 0 },
		{ ">~MB/s", "mb_s", 0 },   { "settings", "settings", 0 }, { 0 }
	};
	struct sheet sheet;
	int r = 0;

	sheet_init(&sheet, "table5", "Table 5: tuned settings at 2048 ranks and their rates",
		   columns);
	for (const struct paper_setting *s = paper_settings; s->kernel && r >= 0; s++)
		r = make_settings(&sheet, behzad, s, err);
	if (r < 0) {
		sheet_release(&sheet);
		return r;
	}
	sheet_note(&sheet,
		   "The paper gives 1 GB as the size of the chunk (1, 26, 1048760), which is "
		   "104 MiB.");
	reproduce_add_modelled(&behzad->output, &sheet);
	return 0;
}
