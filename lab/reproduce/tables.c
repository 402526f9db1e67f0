/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lab/reproduce/reproduce.h"
#include "lab/reproduce/paper.h"

#define GIB 1073741824.0

/* ---- table 2: volumes ---- */

int reproduce_table2(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { ">ranks", "ranks", 0 },
						       { ">paper", "printed", 0 },
						       { ">bytes", "bytes", 0 },
						       { ">GiB", "gib", 2 },
						       { ">MB per rank", "rank_mb", 3 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "table2", "Table 2: what the kernels write", columns);
	for (const struct paper_volume *v = paper_volumes; v->kernel; v++) {
		struct workload workload;
		int r = workload_of(&workload, v->kernel, v->ranks, err);

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
	reproduce_put(output, &sheet);
	return 0;
}

/* ---- table 3: spaces ---- */

static const struct space_dimension *dimension_of(const struct space *space, const char *name)
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

static void range_put(struct sheet *sheet, const struct cell *cell, const struct paper_range *range)
{
	const struct space_dimension *d = dimension_of(&cell->space, range->tunable);

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

static int ranges(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = { { "platform", "platform", 0 },
						       { "parameter", "parameter", 0 },
						       { "paper", "printed_range", 0 },
						       { ">values", "printed_values", 0 },
						       { ">ours", "values", 0 },
						       { ">first", "first", 0 },
						       { ">last", "last", 0 },
						       { "tied to", "tied_to", 0 },
						       { 0 } };
	static const char *const platforms[] = { "hopper", "intrepid", "stampede" };
	struct sheet sheet;

	sheet_init(&sheet, "table3", "Table 3: what is tried", columns);
	for (size_t p = 0; p < 3; p++)
		for (const struct paper_range *g = paper_ranges; g->name; g++) {
			struct cell cell;
			const char *kernel = strcmp(g->name, "chunk_size") ? "vpic" : "gcrm";
			int r = cell_open(&cell, platforms[p], kernel, 2048, err);

			if (r < 0) {
				sheet_release(&sheet);
				return r;
			}
			range_put(&sheet, &cell, g);
			cell_close(&cell);
		}
	sheet_note(&sheet,
		   "Of cb_nds the paper prints 12 values up to 256, and found 512 and 1024.");
	reproduce_put(output, &sheet);
	return 0;
}

static int spaces(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { "platform", "platform", 0 },
						       { ">points", "points", 0 },
						       { ">600 runs are %", "share_percent", 1 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "spaces", "Sizes of the spaces", columns);
	for (size_t i = 0; paper_settings[i].kernel; i++) {
		struct cell cell;
		int r = cell_open(&cell, paper_settings[i].platform, paper_settings[i].kernel, 2048,
				  err);
		double points;

		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
		points = (double)space_points(&cell.space);
		sheet_text(&sheet, "%s", paper_settings[i].kernel);
		sheet_text(&sheet, "%s", paper_settings[i].platform);
		sheet_number(&sheet, points);
		sheet_number(&sheet, fmin(100 * REPRODUCE_RUNS / points, 100));
		cell_close(&cell);
	}
	reproduce_put(output, &sheet);
	return 0;
}

int reproduce_table3(struct reproduce_output *output, struct err *err)
{
	int r = ranges(output, err);

	return r < 0 ? r : spaces(output, err);
}

/* ---- table 4: rates ---- */

struct gains {
	double found[PAPER_CELLS], best[PAPER_CELLS];
};

static void rates_put(struct sheet *sheet, const struct paper_cell *paper, const struct cell *cell)
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

static int rates(struct reproduce_output *output, struct gains *gains, struct err *err)
{
	static const struct sheet_column columns[] = { { ">ranks", "ranks", 0 },
						       { "platform", "platform", 0 },
						       { "kernel", "kernel", 0 },
						       { ">paper: default", "paper_default_mb_s",
							 0 },
						       { ">tuned", "paper_tuned_mb_s", 0 },
						       { ">gain", "paper_gain", 2 },
						       { ">ours: default", "default_mb_s", 0 },
						       { ">tuned", "tuned_mb_s", 0 },
						       { ">gain", "gain", 2 },
						       { ">runs", "asked", 0 },
						       { ">different", "measured", 0 },
						       { ">best of all", "best_mb_s", 0 },
						       { ">gain", "best_gain", 2 },
						       { ">missed %", "missed_percent", 1 },
						       { ">% of peak", "peak_percent", 1 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "table4", "Table 4: rates in MB/s", columns);
	for (size_t i = 0; i < PAPER_CELLS; i++) {
		const struct paper_cell *paper = &paper_cells[i];
		struct cell cell;
		int r = cell_open(&cell, paper->platform, paper->kernel, paper->ranks, err);

		if (r >= 0) {
			r = cell_search(&cell, output->args, err);
			if (r >= 0)
				r = cell_optimise(&cell, err);
			if (r >= 0)
				rates_put(&sheet, paper, &cell);
			gains->found[i] = cell.initial.total / cell.found.total;
			gains->best[i] = cell.initial.total / cell.best.total;
			cell_close(&cell);
		}
		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
	}
	sheet_note(&sheet,
		   "tuned: the best that the %s search found; best of all: every point "
		   "tried; missed: how much longer the search's takes.",
		   output->args->search);
	sheet_note(&sheet, "Rates of the paper were measured, ours come from a model "
			   "(docs/platforms.md says what of it was fitted to them).");
	reproduce_put(output, &sheet);
	return 0;
}

/* Of the cells of a group: by the table as printed, and by ours. */
static void mean_put(struct sheet *sheet, const struct paper_mean *group, const struct gains *gains)
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

int reproduce_table4(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = { { "group", "group", 0 },
						       { ">ranks", "ranks", 0 },
						       { ">cells", "cells", 0 },
						       { ">paper: printed", "printed", 2 },
						       { ">by its table", "recomputed", 2 },
						       { ">ours: found", "found", 2 },
						       { ">best of all", "best", 2 },
						       { 0 } };
	struct gains gains;
	struct sheet sheet;
	int r = rates(output, &gains, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "means", "Mean gains", columns);
	for (const struct paper_mean *m = paper_means; m->recomputed; m++)
		mean_put(&sheet, m, &gains);
	sheet_note(&sheet, "Five of the six means that the paper prints do not follow from its "
			   "table.");
	reproduce_put(output, &sheet);
	return 0;
}

/* ---- table 5: settings ---- */

static void settings_put(struct sheet *sheet, const struct cell *cell, const char *whose,
			 const char *settings, double rate)
{
	sheet_text(sheet, "%s", cell->workload.name);
	sheet_text(sheet, "%s", platform_name(cell->platform));
	sheet_text(sheet, "%s", whose);
	sheet_number(sheet, rate / REPRODUCE_MB);
	sheet_text(sheet, "%s", settings);
}

static void point_put(struct sheet *sheet, const struct cell *cell, const char *whose,
		      const size_t *point, const struct simulated *simulated)
{
	AUTO_BUF struct buf line = { 0 };

	space_line(&cell->space, point, &line);
	settings_put(sheet, cell, whose, buf_text(&line), simulated->rate);
}

/* Settings as in paper_settings: NAME=VALUE with blanks between. */
static int set_read(struct param_set *set, const char *settings, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(settings);
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

/* The paper's settings in our model, too: what they are worth there. */
static int paper_put(struct sheet *sheet, const struct cell *cell, const char *settings,
		     struct err *err)
{
	struct param_set set = { 0 };
	struct simulated out = { 0 };
	int r = set_read(&set, settings, err);

	if (r >= 0)
		r = workload_simulate(&cell->workload, cell->platform, &set, &out, err);
	param_set_release(&set);
	if (r >= 0)
		settings_put(sheet, cell, "paper", settings, out.rate);
	return r;
}

int reproduce_table5(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = {
		{ "kernel", "kernel", 0 }, { "platform", "platform", 0 }, { "whose", "whose", 0 },
		{ ">MB/s", "mb_s", 0 },	   { "settings", "settings", 0 }, { 0 }
	};
	struct sheet sheet;

	sheet_init(&sheet, "table5",
		   "Table 5: tuned settings at 2048 ranks, and what they are "
		   "worth in the model",
		   columns);
	for (const struct paper_setting *s = paper_settings; s->kernel; s++) {
		struct cell cell;
		int r = cell_open(&cell, s->platform, s->kernel, 2048, err);

		if (r >= 0) {
			r = paper_put(&sheet, &cell, s->settings, err);
			if (r >= 0)
				r = cell_search(&cell, output->args, err);
			if (r >= 0)
				r = cell_optimise(&cell, err);
			if (r >= 0) {
				point_put(&sheet, &cell, "found", cell.found_point, &cell.found);
				point_put(&sheet, &cell, "best", cell.best_point, &cell.best);
			}
			cell_close(&cell);
		}
		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
	}
	sheet_note(&sheet, "The paper calls its chunk (1, 26, 1048760) 1 GB; it has 104 MiB.");
	reproduce_put(output, &sheet);
	return 0;
}
