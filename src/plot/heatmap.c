/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The heat map of a run: time by rank, one panel each for the time in I/O, reading and writing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"
#include "observe/tally/traffic.h"
#include "plot/run_plot.h"

/* Rows that have names; with more, the axis has numbers. */
#define NAMED_ROWS 24
#define ROW_HEIGHT 18.0
#define HEIGHT_MIN 36.0
#define HEIGHT_MAX 300.0

enum heat { HEAT_TIME, HEAT_READ, HEAT_WRITTEN, HEATS };

static const char *const heat_titles[HEATS] = { "time in I/O", "read", "written" };

static double row_members(const struct timeline *t, size_t row)
{
	return (double)i64_max(timeline_row_first(t, row + 1) - timeline_row_first(t, row), 1);
}

/* The mean over the members of the row. */
static double heat_value(const struct timeline *t, enum heat heat, size_t row, size_t bin)
{
	const struct timeline_cell *cell = &t->rows[row * TIMELINE_BINS + bin];
	double bin_s = (double)t->bin_ns / 1e9, members = row_members(t, row);

	if (heat == HEAT_TIME)
		return (double)cell->time_ns / 1e9 / bin_s / members;
	return (double)cell->bytes[heat == HEAT_READ ? READING : WRITING] / bin_s / members;
}

static double find_most(const struct timeline *t, enum heat heat, size_t bins)
{
	double most = 0;

	for (size_t row = 0; row < t->row_count; row++)
		for (size_t bin = 0; bin < bins; bin++) {
			double value = heat_value(t, heat, row, bin);

			most = value > most ? value : most;
		}
	return most;
}

static void put_row_names(struct panel *panel, const struct profile *profile)
{
	const struct timeline *t = &profile->timeline;

	for (size_t row = 0; row < t->row_count; row++) {
		AUTO_FREE char *name = run_plot_member_name(profile, timeline_row_first(t, row));

		panel_row_name(panel, (double)row + 0.5, name);
	}
}

static void put_heat(struct plot *plot, const struct profile *profile, enum heat heat, size_t bins,
		     double most)
{
	const struct timeline *t = &profile->timeline;
	AUTO_FREE const char **classes = xcalloc(bins * t->row_count + 1, sizeof(*classes));
	bool named = t->row_count <= NAMED_ROWS;
	struct panel_plan plan = { .no_y = named, .y_down = true, .is_time = true, .left = 120 };
	struct panel panel;
	struct scale ramp;

	plan.height = (double)t->row_count * ROW_HEIGHT;
	plan.height = plan.height < HEIGHT_MIN	 ? HEIGHT_MIN
		      : plan.height > HEIGHT_MAX ? HEIGHT_MAX
						 : plan.height;
	scale_init(&ramp, heat == HEAT_TIME ? SCALE_SHARE : SCALE_RATE, 0, most);
	scale_init(&plan.x, SCALE_SECONDS, run_plot_time_s(t, 0), run_plot_time_s(t, bins));
	scale_init(&plan.y, SCALE_COUNT, 0, (double)(named ? (int64_t)t->row_count : t->members));
	for (size_t row = 0; row < t->row_count; row++)
		for (size_t bin = 0; bin < bins; bin++) {
			double value = heat_value(t, heat, row, bin);

			if (value > 0)
				classes[bin * t->row_count + row] =
					style_ramp(scale_place(&ramp, value));
		}
	figure_ramp(&plot->figure, heat_titles[heat], &ramp);
	figure_panel(&plot->figure, &panel, &plan);
	panel_cells(&panel, bins, t->row_count, classes);
	if (named)
		put_row_names(&panel, profile);
}

static void put_rows(struct plot *plot, const struct profile *profile, size_t bins)
{
	const struct timeline *t = &profile->timeline;

	buf_printf(&plot->csv, "from_s,to_s,first_%s,%ss,io_s,read_bytes,written_bytes\n",
		   run_plot_member_word(profile), run_plot_member_word(profile));
	for (size_t row = 0; row < t->row_count; row++)
		for (size_t bin = 0; bin < bins; bin++) {
			const struct timeline_cell *cell = &t->rows[row * TIMELINE_BINS + bin];

			if (!cell->time_ns && !cell->bytes[READING] && !cell->bytes[WRITING])
				continue;
			buf_printf(&plot->csv,
				   "%.9g,%.9g,%" PRId64 ",%.0f,%.9f,%" PRIu64 ",%" PRIu64 "\n",
				   run_plot_time_s(t, bin), run_plot_time_s(t, bin + 1),
				   timeline_row_first(t, row), row_members(t, row),
				   (double)cell->time_ns / 1e9, cell->bytes[READING],
				   cell->bytes[WRITING]);
		}
}

static int draw_heatmap(const struct plot_source *source, struct plot *plot, struct err *err)
{
	const struct profile *profile = source->profile;
	const struct timeline *t = &profile->timeline;
	size_t bins = run_plot_bins(t, profile->head);
	bool any = false;

	run_plot_start(plot, source, &plot_heatmap,
		       "Heat maps: columns are intervals of the run, lines are ranks or processes; "
		       "color shows the share of time in I/O, and the bytes read and written per "
		       "second.");
	for (int heat = 0; heat < HEATS; heat++) {
		double most = find_most(t, (enum heat)heat, bins);

		if (most > 0)
			put_heat(plot, profile, (enum heat)heat, bins, most);
		any = any || most > 0;
	}
	put_rows(plot, profile, bins);
	return any ? 0 : run_plot_no_data(err, "I/O calls");
}

const struct plot_kind plot_heatmap = {
	.name = "heatmap",
	.title = "I/O over time and ranks",
	.help = "time in I/O and bytes, over time and ranks",
	.subject = PLOT_RUN,
	.is_over_time = true,
	.draw = draw_heatmap,
};
