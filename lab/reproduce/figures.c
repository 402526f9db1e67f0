/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lab/reproduce/reproduce.h"
#include "lab/reproduce/paper.h"

#define MIB 1048576.0

/* ---- figure 7: partial tuning ---- */

static int part_put(struct sheet *sheet, const struct cell *cell, enum optimum_part part,
		    struct err *err)
{
	struct param_set set;
	struct simulated out;
	int r = 0;

	if (optimum_part_set(&cell->space, cell->best_point, part, &set)) {
		r = workload_simulate(&cell->workload, cell->platform, &set, &out, err);
		sheet_number(sheet, cell->initial.total / out.total);
	} else {
		sheet_number(sheet, NAN);
	}
	param_set_release(&set);
	return r;
}

static int parts_put(struct sheet *sheet, struct cell *cell, struct err *err)
{
	int r = cell_optimise(cell, err);

	if (r < 0)
		return r;
	sheet_text(sheet, "%s", cell->workload.name);
	sheet_text(sheet, "%s", platform_name(cell->platform));
	sheet_number(sheet, cell->initial.rate / REPRODUCE_MB);
	for (int part = 0; part < PART_COUNT && r >= 0; part++)
		r = part_put(sheet, cell, part, err);
	sheet_number(sheet, cell->initial.total / cell->best.total);
	return r;
}

int reproduce_figure7(struct reproduce_output *output, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { "platform", "platform", 0 },
						       { ">default MB/s", "default_mb_s", 0 },
						       { ">file system", "storage", 2 },
						       { ">MPI-IO", "mpi", 2 },
						       { ">alignment", "alignment", 2 },
						       { ">chunks", "chunk", 2 },
						       { ">all", "all", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure7", "Figure 7: gain of one layer at a time, 2048 ranks", columns);
	for (const struct paper_setting *s = paper_settings; s->kernel; s++) {
		struct cell cell;
		int r = cell_open(&cell, s->platform, s->kernel, 2048, err);

		if (r >= 0) {
			r = parts_put(&sheet, &cell, err);
			cell_close(&cell);
		}
		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
	}
	sheet_note(&sheet, "Each column sets of the best settings what belongs to that layer, the "
			   "rest as the site has it. With more stripes come more aggregators.");
	reproduce_put(output, &sheet);
	return 0;
}

/* ---- figures 9 to 12: one size at a time ---- */

const struct sweep reproduce_sweeps[] = {
	{ "figure9", "Figure 9: buffer (and stripe) size, VPIC-IO on Hopper, 2048 ranks", "hopper",
	  "vpic", "striping_unit", NULL,
	  "The paper: several do well, 32 MB is best on average, 64 MB the single best." },
	{ "figure10", "Figure 10: buffer size, VPIC-IO on Intrepid, 2048 ranks", "intrepid", "vpic",
	  "cb_buffer_size", NULL, "The paper: 128 MB is best, with 512 aggregators." },
	{ "figure11", "Figure 11: stripe size, VORPAL-IO on Stampede, 2048 ranks, 160 stripes",
	  "stampede", "vorpal", "striping_unit", "striping_factor=160",
	  "The paper: 2 MB is best, and why was not understood. The model does not show it." },
	{ "figure12", "Figure 12: stripe size, GCRM-IO on Stampede, 2048 ranks, 160 stripes",
	  "stampede", "gcrm", "striping_unit", "striping_factor=160", "The paper: 32 MB is best." },
	{ 0 },
};

struct tried {
	double best, sum, count;
};

static size_t dimension_number(const struct space *space, const char *name)
{
	size_t i = 0;

	while (i < space->count && strcmp(space->dimensions[i].tunable->name, name) != 0)
		i++;
	return i;
}

static bool is_fixed(const struct space *space, const size_t *point, const char *fixed)
{
	size_t n = fixed ? strcspn(fixed, "=") : 0;

	for (size_t i = 0; fixed && i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		if (strlen(d->tunable->name) == n && strncmp(d->tunable->name, fixed, n) == 0)
			return strcmp(d->values[point[i]], fixed + n + 1) == 0;
	}
	return true;
}

static int sweep_try(const struct sweep *sweep, const struct cell *cell, size_t dimension,
		     struct tried *tried, struct err *err)
{
	size_t point[SPACE_DIMENSIONS];
	struct simulated out;

	for (uint64_t i = 0; i < space_points(&cell->space); i++) {
		struct tried *t;
		int r;

		space_point(&cell->space, i, point);
		if (!is_fixed(&cell->space, point, sweep->fixed))
			continue;
		r = optimum_try(&cell->workload, cell->platform, &cell->space, point, &out, err);
		if (r < 0)
			return r;
		t = &tried[point[dimension]];
		t->best = fmax(t->best, out.rate);
		t->sum += out.rate;
		t->count++;
	}
	return 0;
}

static void sweep_put(struct sheet *sheet, const struct space_dimension *dimension,
		      const struct tried *tried)
{
	double most = 0;

	for (size_t i = 0; i < dimension->count; i++)
		most = fmax(most, tried[i].best);
	for (size_t i = 0; i < dimension->count; i++) {
		sheet_number(sheet, atof(dimension->values[i]) / MIB);
		sheet_number(sheet, tried[i].best / REPRODUCE_MB);
		sheet_number(sheet, 100 * tried[i].best / most);
		sheet_number(sheet, tried[i].sum / tried[i].count / REPRODUCE_MB);
	}
}

int reproduce_sweep(struct reproduce_output *output, const struct sweep *sweep, struct err *err)
{
	static const struct sheet_column columns[] = { { ">MiB", "mib", 0 },
						       { ">best MB/s", "best_mb_s", 0 },
						       { ">% of the best", "best_percent", 1 },
						       { ">mean MB/s", "mean_mb_s", 0 },
						       { 0 } };
	struct cell cell;
	struct sheet sheet;
	int r = cell_open(&cell, sweep->platform, sweep->kernel, 2048, err);

	if (r >= 0) {
		size_t at = dimension_number(&cell.space, sweep->tunable);
		AUTO_FREE struct tried *tried =
			xcalloc(cell.space.dimensions[at].count, sizeof(*tried));

		r = sweep_try(sweep, &cell, at, tried, err);
		sheet_init(&sheet, sweep->name, sweep->title, columns);
		sweep_put(&sheet, &cell.space.dimensions[at], tried);
		sheet_note(&sheet, "%s", sweep->note);
		sheet_note(&sheet, "best and mean: over all other parameters of the space");
		reproduce_put(output, &sheet);
		cell_close(&cell);
	}
	return r;
}
