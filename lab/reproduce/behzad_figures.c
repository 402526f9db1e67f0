/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figure 7 of Behzad et al. (tuning one layer at a time) and Figures 9 to 12 (one size at a time).
 * Papers: ATE-12 to ATE-14.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lab/reproduce/behzad.h"
#include "lab/reproduce/paper.h"

#define MIB 1048576.0

static int add_part(struct sheet *sheet, const struct cell *cell, enum optimum_part part,
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

static int add_parts(struct sheet *sheet, struct cell *cell, struct err *err)
{
	int r = cell_optimize(cell, err);

	if (r < 0)
		return r;
	sheet_text(sheet, "%s", cell->workload.name);
	sheet_text(sheet, "%s", platform_name(cell->platform));
	sheet_number(sheet, cell->initial.rate / REPRODUCE_MB);
	for (int part = 0; part < PART_COUNT && r >= 0; part++)
		r = add_part(sheet, cell, part, err);
	sheet_number(sheet, cell->initial.total / cell->best.total);
	return r;
}

int behzad_figure7(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { "kernel", "kernel", 0 },
						       { "platform", "platform", 0 },
						       { ">~default MB/s", "default_mb_s", 0 },
						       { ">file system", "storage", 2 },
						       { ">MPI-IO", "mpi", 2 },
						       { ">alignment", "alignment", 2 },
						       { ">chunks", "chunk", 2 },
						       { ">all", "all", 2 },
						       { 0 } };
	struct sheet sheet;

	sheet_init(&sheet, "figure7", "Figure 7: speedup of tuning one layer, 2048 ranks", columns);
	for (const struct paper_setting *s = paper_settings; s->kernel; s++) {
		struct cell cell;
		int r = cell_open(&cell, s->platform, s->kernel, BEHZAD_RANKS, err);

		if (r >= 0) {
			r = add_parts(&sheet, &cell, err);
			cell_close(&cell);
		}
		if (r < 0) {
			sheet_release(&sheet);
			return r;
		}
	}
	sheet_note(&sheet,
		   "Each column applies the optimal settings of one layer and the defaults of "
		   "the site otherwise. More stripes lead to more aggregators.");
	reproduce_add_modelled(&behzad->output, &sheet);
	return 0;
}

const struct sweep behzad_sweeps[] = {
	{ "figure9", "Figure 9: buffer (and stripe) size, VPIC-IO on Hopper, 2048 ranks", "hopper",
	  "vpic", "striping_unit", NULL,
	  "Paper: several sizes perform well; 32 MB is best on average, and the best single run "
	  "used 64 MB." },
	{ "figure10", "Figure 10: buffer size, VPIC-IO on Intrepid, 2048 ranks", "intrepid", "vpic",
	  "cb_buffer_size", NULL, "Paper: 128 MB with 512 aggregators is best." },
	{ "figure11", "Figure 11: stripe size, VORPAL-IO on Stampede, 2048 ranks, 160 stripes",
	  "stampede", "vorpal", "striping_unit", "striping_factor=160",
	  "Paper: 2 MB is best, for an unknown reason. The simulation does not reproduce it." },
	{ "figure12", "Figure 12: stripe size, GCRM-IO on Stampede, 2048 ranks, 160 stripes",
	  "stampede", "gcrm", "striping_unit", "striping_factor=160", "Paper: 32 MB is best." },
	{ 0 },
};

/* Rates of all points that have one value of the parameter. */
struct tried {
	double best, sum, count;
};

static size_t find_dimension(const struct space *space, const char *name)
{
	size_t i = 0;

	while (i < space->count && strcmp(space->dimensions[i].tunable->name, name) != 0)
		i++;
	return i;
}

static bool matches_fixed(const struct space *space, const size_t *point, const char *fixed)
{
	size_t n = fixed ? strcspn(fixed, "=") : 0;

	for (size_t i = 0; fixed && i < space->count; i++) {
		const struct space_dimension *d = &space->dimensions[i];

		if (strlen(d->tunable->name) == n && strncmp(d->tunable->name, fixed, n) == 0)
			return strcmp(d->values[point[i]], fixed + n + 1) == 0;
	}
	return true;
}

static int try_all_points(const struct sweep *sweep, const struct cell *cell, size_t dimension,
			  struct tried *tried, struct err *err)
{
	size_t point[SPACE_DIMENSIONS];
	struct simulated out;

	for (uint64_t i = 0; i < space_points(&cell->space); i++) {
		struct tried *t;
		int r;

		space_point(&cell->space, i, point);
		if (!matches_fixed(&cell->space, point, sweep->fixed))
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

static void add_sweep(struct sheet *sheet, const struct space_dimension *dimension,
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

int behzad_sweep(struct behzad *behzad, const struct sweep *sweep, struct err *err)
{
	static const struct sheet_column columns[] = { { ">MiB", "mib", 0 },
						       { ">~best MB/s", "best_mb_s", 0 },
						       { ">% of best", "best_percent", 1 },
						       { ">mean MB/s", "mean_mb_s", 0 },
						       { 0 } };
	struct cell cell;
	struct sheet sheet;
	int r = cell_open(&cell, sweep->platform, sweep->kernel, BEHZAD_RANKS, err);

	if (r >= 0) {
		size_t at = find_dimension(&cell.space, sweep->tunable);
		AUTO_FREE struct tried *tried =
			xcalloc(cell.space.dimensions[at].count, sizeof(*tried));

		r = try_all_points(sweep, &cell, at, tried, err);
		sheet_init(&sheet, sweep->name, sweep->title, columns);
		add_sweep(&sheet, &cell.space.dimensions[at], tried);
		sheet_note(&sheet, "%s", sweep->note);
		sheet_note(&sheet,
			   "Best and mean are taken over all values of the other parameters.");
		reproduce_add_modelled(&behzad->output, &sheet);
		cell_close(&cell);
	}
	return r;
}
