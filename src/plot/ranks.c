/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The imbalance of ranks: time in I/O and bytes of each rank.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/integer.h"
#include "base/mem.h"
#include "observe/tally/traffic.h"
#include "plot/run_plot.h"

#define HEIGHT 150.0
#define RIGHT 90.0

/* Each row of the timeline stands for one or several ranks; values are means over them. */
struct rank_row {
	double time_s, bytes[2];
};

struct rank_rows {
	struct rank_row *list;
	double *edges; /* count + 1 */
	size_t count;
};

static void gather_rows(struct rank_rows *rows, const struct timeline *t)
{
	rows->count = t->row_count;
	rows->list = xcalloc(t->row_count + 1, sizeof(*rows->list));
	rows->edges = xcalloc(t->row_count + 1, sizeof(*rows->edges));
	for (size_t i = 0; i <= t->row_count; i++)
		rows->edges[i] = (double)timeline_row_first(t, i) - 0.5;
	for (size_t i = 0; i < t->row_count; i++) {
		double members = fmax(rows->edges[i + 1] - rows->edges[i], 1);

		for (size_t bin = 0; bin < TIMELINE_BINS; bin++) {
			const struct timeline_cell *cell = &t->rows[i * TIMELINE_BINS + bin];

			rows->list[i].time_s += (double)cell->time_ns / 1e9 / members;
			rows->list[i].bytes[READING] += (double)cell->bytes[READING] / members;
			rows->list[i].bytes[WRITING] += (double)cell->bytes[WRITING] / members;
		}
	}
}

static void release_rows(struct rank_rows *rows)
{
	free(rows->list);
	free(rows->edges);
}

static double mean_of(const double *values, const double *edges, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i] * (edges[i + 1] - edges[i]);
	return sum / (edges[count] - edges[0]);
}

static size_t find_highest(const double *values, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		best = values[i] > values[best] ? i : best;
	return best;
}

/* Columns with gaps if they are wide enough, else one outline. */
static void put_columns(struct panel *panel, unsigned color, const struct rank_rows *rows,
			const double *base, const double *top)
{
	double width = panel->width / (double)rows->count;

	if (width < 5) {
		panel_steps(panel, color, rows->edges, base, top, rows->count);
		return;
	}
	for (size_t i = 0; i < rows->count; i++) {
		double middle = (rows->edges[i] + rows->edges[i + 1]) / 2;
		double half = (rows->edges[i + 1] - rows->edges[i]) * fmin(0.4, 30 / width);

		panel_rect(panel, style_fill(color), middle - half, middle + half,
			   base ? base[i] : 0, top[i], NULL);
	}
}

static void put_panel(struct plot *plot, struct panel *panel, const struct rank_rows *rows,
		      const char *title, enum scale_unit unit, const double *tops, bool is_last)
{
	struct panel_plan plan = { .title = title,
				   .height = HEIGHT,
				   .right = RIGHT,
				   .x_title = is_last ? "rank" : NULL,
				   .no_x_labels = !is_last };

	scale_init(&plan.x, SCALE_COUNT, rows->edges[0], rows->edges[rows->count]);
	scale_init(&plan.y, unit, 0, tops[find_highest(tops, rows->count)]);
	scale_round(&plan.y, 3);
	figure_panel(&plot->figure, panel, &plan);
}

static void put_time(struct plot *plot, const struct rank_rows *rows)
{
	AUTO_FREE double *times = xcalloc(rows->count + 1, sizeof(*times));
	AUTO_FREE char *title = NULL;
	struct panel panel;
	size_t slowest;
	double mean;

	for (size_t i = 0; i < rows->count; i++)
		times[i] = rows->list[i].time_s;
	slowest = find_highest(times, rows->count);
	mean = mean_of(times, rows->edges, rows->count);
	title = mean > 0 ? xprintf("time in I/O: rank %.0f has the most, %.2f times the mean",
				   rows->edges[slowest] + 0.5, times[slowest] / mean)
			 : xprintf("time in I/O");
	put_panel(plot, &panel, rows, title, SCALE_SECONDS, times, false);
	put_columns(&panel, 2, rows, NULL, times);
	if (mean > 0)
		panel_level(&panel, mean, "mean");
	else
		panel_empty(&panel, "not known by rank");
}

static void put_bytes(struct plot *plot, const struct rank_rows *rows)
{
	AUTO_FREE double *reads = xcalloc(rows->count + 1, sizeof(*reads));
	AUTO_FREE double *tops = xcalloc(rows->count + 1, sizeof(*tops));
	struct panel panel;
	double mean;

	for (size_t i = 0; i < rows->count; i++) {
		reads[i] = rows->list[i].bytes[READING];
		tops[i] = reads[i] + rows->list[i].bytes[WRITING];
	}
	mean = mean_of(tops, rows->edges, rows->count);
	put_panel(plot, &panel, rows, "bytes that the program requested", SCALE_BYTES, tops, true);
	put_columns(&panel, PLOT_READ_COLOR, rows, NULL, reads);
	put_columns(&panel, PLOT_WRITE_COLOR, rows, reads, tops);
	if (mean > 0)
		panel_level(&panel, mean, "mean");
}

static void put_rows(struct plot *plot, const struct rank_rows *rows)
{
	buf_puts(&plot->csv, "first_rank,ranks,io_s,read_bytes,written_bytes\n");
	for (size_t i = 0; i < rows->count; i++) {
		const struct rank_row *row = &rows->list[i];

		buf_printf(&plot->csv, "%.0f,%.0f,%.9f,%.0f,%.0f\n", rows->edges[i] + 0.5,
			   rows->edges[i + 1] - rows->edges[i], row->time_s, row->bytes[READING],
			   row->bytes[WRITING]);
	}
}

static int draw_ranks(const struct plot_source *source, struct plot *plot, struct err *err)
{
	const struct profile *profile = source->profile;
	struct rank_rows rows;

	if (profile->summary.ranks.count < 2)
		return err_set(err, ENODATA, "this run has no MPI ranks to compare");
	gather_rows(&rows, &profile->timeline);
	run_plot_start(plot, source, &plot_ranks,
		       "Two bar charts by rank: time in I/O, and bytes read and written.");
	run_plot_directions(plot);
	put_time(plot, &rows);
	put_bytes(plot, &rows);
	put_rows(plot, &rows);
	if (profile->timeline.members > (int64_t)rows.count)
		figure_text(&plot->figure, "Each column is the mean of several ranks.");
	release_rows(&rows);
	return 0;
}

const struct plot_kind plot_ranks = {
	.name = "ranks",
	.title = "Imbalance of ranks",
	.help = "time in I/O and bytes of each rank",
	.subject = PLOT_RUN,
	.draw = draw_ranks,
};
