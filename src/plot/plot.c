/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/plot.h"

const struct plot_kind *const plot_run_kinds[] = {
	&plot_offsets, &plot_heatmap, &plot_bandwidth, &plot_sizes, &plot_causes, &plot_ranks, NULL,
};

static int fill_plot(const struct plot_kind *kind, const struct plot_source *source,
		     struct plot *plot, struct err *err)
{
	*plot = (struct plot){ 0 };
	return kind->draw(source, plot, err);
}

static void plot_release(struct plot *plot)
{
	figure_release(&plot->figure);
	buf_release(&plot->csv);
}

int plot_draw(const struct plot_kind *kind, const struct plot_source *source, struct buf *svg,
	      struct err *err)
{
	struct plot plot;
	int r = fill_plot(kind, source, &plot, err);

	if (r >= 0)
		figure_svg(&plot.figure, source->theme, svg);
	plot_release(&plot);
	return r;
}

int plot_table(const struct plot_kind *kind, const struct plot_source *source, struct buf *csv,
	       struct err *err)
{
	struct plot plot;
	int r = fill_plot(kind, source, &plot, err);

	if (r >= 0)
		buf_add(csv, buf_text(&plot.csv), plot.csv.len);
	plot_release(&plot);
	return r;
}
