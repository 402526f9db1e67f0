/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sizes of requests: one histogram per layer, in powers of two.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "plot/run_plot.h"

#define HEIGHT 110.0
#define BINS_LEAST 12

struct sizes {
	uint64_t counts[LAYER_COUNT][2][CELL_SIZE_BINS];
	uint64_t sums[LAYER_COUNT]; /* requests that are not empty */
	uint64_t empty;
	unsigned first, last; /* bins that are used */
};

static void add_cell(struct sizes *sizes, const struct cell *cell)
{
	for (int way = READING; way <= WRITING; way++)
		for (unsigned bin = 0; bin < CELL_SIZE_BINS; bin++) {
			uint64_t count = cell->sizes[way][bin];

			sizes->counts[cell->layer][way][bin] += count;
			if (!count)
				continue;
			if (!bin) {
				sizes->empty += count;
				continue;
			}
			sizes->sums[cell->layer] += count;
			sizes->first = bin < sizes->first ? bin : sizes->first;
			sizes->last = bin > sizes->last ? bin : sizes->last;
		}
}

static void gather_sizes(struct sizes *sizes, const struct plot_source *source)
{
	size_t count;
	AUTO_FREE const struct cell **cells = cell_table_list(&source->profile->cells, &count);

	*sizes = (struct sizes){ .first = CELL_SIZE_BINS };
	for (size_t i = 0; i < count; i++)
		if (run_plot_selects(source, cells[i]->file))
			add_cell(sizes, cells[i]);
}

/* A histogram of few sizes has empty bins around them, so that bars are not too wide. */
static void widen_range(struct sizes *sizes)
{
	while (sizes->last - sizes->first + 1 < BINS_LEAST) {
		sizes->first -= sizes->first > 1;
		sizes->last += sizes->last < CELL_SIZE_BINS - 1;
	}
}

static double bin_edge(unsigned bin)
{
	return (double)cell_bin_bytes(bin);
}

/* If the layer has both directions, each has half of the bin. */
static void put_bar(struct panel *panel, unsigned bin, int way, bool is_shared, uint64_t count)
{
	double low = bin_edge(bin), middle = low * M_SQRT2, high = 2 * low;
	double from = (is_shared && way == WRITING ? middle : low * 1.05);
	double to = (is_shared && way == READING ? middle : high / 1.05);
	char tip[128], size[UNIT_TEXT];

	snprintf(tip, sizeof(tip), "%" PRIu64 " of %s to twice as much, %s", count,
		 unit_bytes(size, low), way == READING ? "read" : "written");
	panel_rect(panel, style_fill(way == READING ? PLOT_READ_COLOR : PLOT_WRITE_COLOR), from, to,
		   0, (double)count, tip);
}

static void put_layer(struct plot *plot, const struct sizes *sizes, unsigned layer, bool is_last)
{
	char title[128];
	struct panel_plan plan = { .title = title,
				   .height = HEIGHT,
				   .x_title = is_last ? "size of a request" : NULL,
				   .no_x_labels = !is_last };
	uint64_t most = 1, sums[2] = { 0, 0 };
	struct panel panel;

	for (int way = READING; way <= WRITING; way++)
		for (unsigned bin = 1; bin < CELL_SIZE_BINS; bin++) {
			most = u64_max(most, sizes->counts[layer][way][bin]);
			sums[way] += sizes->counts[layer][way][bin];
		}
	snprintf(title, sizeof(title), "%s: %" PRIu64 " request%s", names_layer(layer),
		 sizes->sums[layer], sizes->sums[layer] == 1 ? "" : "s");
	scale_init_logarithmic(&plan.x, SCALE_BYTES, bin_edge(sizes->first),
			       2 * bin_edge(sizes->last));
	scale_init(&plan.y, SCALE_COUNT, 0, (double)most);
	scale_round(&plan.y, 3);
	figure_panel(&plot->figure, &panel, &plan);
	for (int way = READING; way <= WRITING; way++)
		for (unsigned bin = 1; bin < CELL_SIZE_BINS; bin++)
			if (sizes->counts[layer][way][bin])
				put_bar(&panel, bin, way, sums[READING] && sums[WRITING],
					sizes->counts[layer][way][bin]);
}

static void put_rows(struct plot *plot, const struct sizes *sizes, unsigned layer)
{
	for (unsigned bin = 0; bin < CELL_SIZE_BINS; bin++) {
		const uint64_t reads = sizes->counts[layer][READING][bin];
		const uint64_t writes = sizes->counts[layer][WRITING][bin];

		if (reads || writes)
			buf_printf(&plot->csv, "%s,%.0f,%.0f,%" PRIu64 ",%" PRIu64 "\n",
				   names_layer(layer), bin_edge(bin), bin ? 2 * bin_edge(bin) : 1,
				   reads, writes);
	}
}

static int draw_sizes(const struct plot_source *source, struct plot *plot, struct err *err)
{
	unsigned last = LAYER_COUNT;
	struct sizes sizes;

	gather_sizes(&sizes, source);
	run_plot_start(plot, source, &plot_sizes,
		       "One histogram per layer: the number of requests by size, for reading and "
		       "for writing.");
	for (unsigned layer = LAYER_COUNT; layer-- > 0;)
		last = sizes.sums[layer] ? layer : last;
	if (last == LAYER_COUNT)
		return run_plot_no_data(err, "transfers");
	widen_range(&sizes);
	run_plot_directions(plot);
	buf_puts(&plot->csv, "layer,from_bytes,below_bytes,reads,writes\n");
	for (unsigned layer = LAYER_COUNT; layer-- > 0;) {
		if (sizes.sums[layer])
			put_layer(plot, &sizes, layer, layer == last);
		put_rows(plot, &sizes, layer);
	}
	if (sizes.empty)
		figure_text(&plot->figure,
			    "%" PRIu64 " request%s that transferred no data %s not shown.",
			    sizes.empty, sizes.empty == 1 ? "" : "s",
			    sizes.empty == 1 ? "is" : "are");
	return 0;
}

const struct plot_kind plot_sizes = {
	.name = "sizes",
	.title = "Sizes of requests",
	.help = "histogram of request sizes, per layer",
	.subject = PLOT_RUN,
	.draw = draw_sizes,
};
