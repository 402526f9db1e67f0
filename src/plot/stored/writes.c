/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Durations of test writes: a histogram per size, and the states that fit it
 * (predict/forecast/states/description.h).
 * Papers: WAN-14.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "plot/stored/histogram.h"
#include "plot/stored/probe_source.h"
#include "plot/stored/stored.h"
#include "predict/forecast/states/description.h"

#define HEIGHT 190.0
#define BINS HISTOGRAM_BINS
#define CURVE 240
/* A few extreme values must not squeeze the rest; they are counted in a text. */
#define OUTSIDE 0.001

/* The share of writes per bin that a mixture, or one component (-1: all), expects at a place. */
static double expect_share(const struct mixture *mixture, int component, const struct scale *x,
			   double place)
{
	struct mixture one = *mixture;
	double value = histogram_edge(x, place);

	for (size_t c = 0; component >= 0 && c < one.count; c++)
		one.components[c].weight *= (size_t)component == c;
	return mixture_density(&one, value) * value * log(x->high / x->low) / BINS;
}

/* The sum is thin; the states have the colors of the legend. */
static void put_curves(struct panel *panel, const struct mixture *mixture)
{
	static const unsigned colors[DESCRIPTION_STATES] = { 2, 3, 4 };
	double x[CURVE], y[CURVE];

	for (int c = -1; c < (int)mixture->count; c++) {
		for (int i = 0; i < CURVE; i++) {
			double place = (i + 0.5) / CURVE;

			x[i] = histogram_edge(&panel->x, place);
			y[i] = expect_share(mixture, c, &panel->x, place);
		}
		panel_line(panel, c < 0 ? 7 : colors[c], c < 0 ? "thin" : "", x, y, CURVE);
	}
}

static void put_rows(struct plot *plot, uint64_t bytes, const struct scale *x, const double *shares,
		     const struct mixture *mixture)
{
	for (size_t i = 0; i < BINS; i++) {
		buf_printf(&plot->csv, "%" PRIu64 ",%.9g,%.9g,%.9g,", bytes,
			   histogram_edge(x, (double)i / BINS),
			   histogram_edge(x, (double)(i + 1) / BINS), shares[i]);
		if (mixture)
			buf_printf(&plot->csv, "%.9g",
				   expect_share(mixture, -1, x, ((double)i + 0.5) / BINS));
		buf_putc(&plot->csv, '\n');
	}
}

static char *make_title(uint64_t bytes, size_t count, const struct mixture *mixture)
{
	AUTO_BUF struct buf title = { 0 };
	char size[UNIT_TEXT], mode[UNIT_TEXT];

	buf_printf(&title, "writes of %s: %zu", unit_bytes(size, (double)bytes), count);
	for (size_t c = 0; mixture && c < mixture->count; c++)
		buf_printf(&title, "%s %.0f %% %s, mode %s", c ? "," : ";",
			   100 * mixture->components[c].weight,
			   mixture->count == 1 ? "in a single state"
					       : description_state(mixture, c),
			   unit_ns(mode, (int64_t)(1e9 * description_mode(mixture, c))));
	return buf_take(&title);
}

static void put_size(struct plot *plot, uint64_t bytes, const struct description_writes *writes)
{
	size_t count = writes->count, cut = (size_t)(OUTSIDE * (double)count);
	const struct mixture *mixture = writes->has_states ? &writes->mixture : NULL;
	AUTO_FREE char *title = make_title(bytes, count, mixture);
	struct panel_plan plan = { .title = title, .height = HEIGHT, .x_title = "duration" };
	double shares[BINS];
	struct panel panel;

	scale_init_logarithmic(&plan.x, SCALE_SECONDS, writes->seconds[cut] / 1.05,
			       writes->seconds[count - 1 - cut] * 1.05);
	histogram_panel(&plot->figure, &panel, &plan, writes->seconds, count, shares);
	if (mixture)
		put_curves(&panel, mixture);
	put_rows(plot, bytes, &plan.x, shares, mixture);
}

static int draw_chronicle(const struct forecast_data *data, struct plot *plot, struct err *err)
{
	static const struct figure_key keys[] = { { 0, "share of writes", false },
						  { 2, "first state", true },
						  { 3, "second state", true },
						  { 4, "third state", true },
						  { 7, "all states", true } };
	const struct chronicle *rows = forecast_data_rows(data);
	bool any = false;

	probe_source_start(data, &plot_writes,
			   "One histogram per size: durations of test writes to all targets, with "
			   "the log-normal states that were fitted to them; BIC selects their "
			   "number.",
			   plot);
	figure_legend(&plot->figure, keys, sizeof(keys) / sizeof(*keys));
	buf_puts(&plot->csv, "bytes,from_s,to_s,share,mixture_share\n");
	for (size_t size = 0; size < rows->size_count; size++) {
		struct description_writes writes;

		description_writes_init(&writes, rows, size);
		if (writes.count >= DESCRIPTION_LEAST) {
			put_size(plot, rows->sizes[size], &writes);
			any = true;
		}
		description_writes_release(&writes);
	}
	return any ? 0
		   : err_set(err, ENODATA,
			     "fewer than %d test writes of each size; 'sluice forecast probe' "
			     "collects them",
			     DESCRIPTION_LEAST);
}

static int draw_writes(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct forecast_data data = { 0 };
	int r = probe_source_open(&data, source, -INFINITY, err);

	if (r >= 0)
		r = draw_chronicle(&data, plot, err);
	forecast_data_close(&data);
	return r;
}

const struct plot_kind plot_writes = {
	.name = "writes",
	.title = "Durations of test writes",
	.help = "histogram of the durations of test writes, with the states that fit them",
	.subject = PLOT_PROBES,
	.draw = draw_writes,
};
