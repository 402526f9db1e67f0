/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Durations of test writes: a histogram per size, and the mixture of states that fits it
 * (learn/states/mixture.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "learn/math/vector.h"
#include "learn/states/mixture.h"
#include "plot/stored/probe_source.h"
#include "plot/stored/stored.h"

#define HEIGHT 190.0
#define BINS 80
#define CURVE 240
#define LEAST 40 /* writes of a histogram */
#define SEED 1
/* A few extreme values must not squeeze the rest; they are counted in a text. */
#define OUTSIDE 0.001

/* The completed writes of one size to all targets, ascending. */
static double *gather_writes(const struct chronicle *rows, size_t size, size_t *count)
{
	double *seconds = NULL;
	size_t cap = 0;

	*count = 0;
	for (size_t t = 0; t < rows->target_count; t++) {
		const struct chronicle_series *series = chronicle_series(rows, t, size);

		seconds = xgrow(seconds, &cap, *count + series->count + 1, sizeof(*seconds));
		for (size_t i = 0; i < series->count; i++)
			if (sample_outcome(series, i) == SAMPLE_DONE && series->seconds[i] > 0)
				seconds[(*count)++] = (double)series->seconds[i];
	}
	vector_sort(seconds, *count);
	return seconds;
}

/* Bins of equal width on the logarithmic axis. */
static double bin_edge(const struct scale *x, double place)
{
	return x->low * pow(x->high / x->low, place);
}

/* The share of writes per bin that a mixture, or one component (-1: all), expects at a place. */
static double expect_share(const struct mixture *mixture, int component, const struct scale *x,
			   double place)
{
	struct mixture one = *mixture;
	double value = bin_edge(x, place);

	for (size_t c = 0; component >= 0 && c < one.count; c++)
		one.components[c].weight *= (size_t)component == c;
	return mixture_density(&one, value) * value * log(x->high / x->low) / BINS;
}

static void put_curves(struct panel *panel, const struct mixture *mixture)
{
	double x[CURVE], y[CURVE];

	for (int c = -1; c < (int)mixture->count; c++) {
		for (int i = 0; i < CURVE; i++) {
			double place = (i + 0.5) / CURVE;

			x[i] = bin_edge(&panel->x, place);
			y[i] = expect_share(mixture, c, &panel->x, place);
		}
		panel_line(panel, c < 0 ? 7 : c == 0 ? 2 : 3, c < 0 ? "thin" : "", x, y, CURVE);
	}
}

static void count_bins(const double *seconds, size_t count, const struct scale *x, double *shares)
{
	for (size_t i = 0; i < count; i++) {
		double place = scale_place(x, seconds[i]);

		if (place >= 0 && place < 1)
			shares[(size_t)(place * BINS)] += 1 / (double)count;
	}
}

static void put_rows(struct plot *plot, uint64_t bytes, const struct scale *x, const double *shares,
		     const struct mixture *mixture)
{
	for (size_t i = 0; i < BINS; i++) {
		buf_printf(&plot->csv, "%" PRIu64 ",%.9g,%.9g,%.9g,", bytes,
			   bin_edge(x, (double)i / BINS), bin_edge(x, (double)(i + 1) / BINS),
			   shares[i]);
		if (mixture)
			buf_printf(&plot->csv, "%.9g",
				   expect_share(mixture, -1, x, ((double)i + 0.5) / BINS));
		buf_putc(&plot->csv, '\n');
	}
}

static char *make_title(uint64_t bytes, size_t count, const struct mixture *mixture)
{
	AUTO_BUF struct buf title = { 0 };
	char size[UNIT_TEXT], mean[UNIT_TEXT];

	buf_printf(&title, "writes of %s: %zu", unit_bytes(size, (double)bytes), count);
	for (size_t c = 0; mixture && c < mixture->count; c++)
		buf_printf(&title, "%s %.0f %% %s, mean %s", c ? "," : ";",
			   100 * mixture->components[c].weight, c ? "busy" : "idle",
			   unit_ns(mean, (int64_t)(1e9 * mixture_mean(mixture, c))));
	return buf_take(&title);
}

static void put_size(struct plot *plot, uint64_t bytes, const double *seconds, size_t count)
{
	size_t cut = (size_t)(OUTSIDE * (double)count);
	struct mixture_plan states = { .family = MIXTURE_LOGNORMAL, .count = 2, .seed = SEED };
	struct mixture mixture;
	bool fits = mixture_fit(&mixture, &states, seconds, count, NULL) >= 0;
	AUTO_FREE char *title = make_title(bytes, count, fits ? &mixture : NULL);
	struct panel_plan plan = { .title = title, .height = HEIGHT, .x_title = "duration" };
	double shares[BINS] = { 0 }, most = 0;
	struct panel panel;

	scale_init_logarithmic(&plan.x, SCALE_SECONDS, seconds[cut] / 1.05,
			       seconds[count - 1 - cut] * 1.05);
	count_bins(seconds, count, &plan.x, shares);
	for (size_t i = 0; i < BINS; i++)
		most = fmax(most, shares[i]);
	scale_init(&plan.y, SCALE_SHARE, 0, most);
	scale_round(&plan.y, 4);
	figure_panel(&plot->figure, &panel, &plan);
	for (size_t i = 0; i < BINS; i++)
		if (shares[i] > 0)
			panel_rect(&panel, "c0 soft", bin_edge(&plan.x, (double)i / BINS),
				   bin_edge(&plan.x, (double)(i + 1) / BINS), 0, shares[i], NULL);
	if (fits)
		put_curves(&panel, &mixture);
	put_rows(plot, bytes, &plan.x, shares, fits ? &mixture : NULL);
}

static int draw_chronicle(const struct forecast_data *data, struct plot *plot, struct err *err)
{
	static const struct figure_key keys[] = { { 0, "share of writes", false },
						  { 2, "idle", true },
						  { 3, "busy", true },
						  { 7, "both states", true } };
	const struct chronicle *rows = forecast_data_rows(data);
	bool any = false;

	probe_source_start(data, &plot_writes,
			   "One histogram per size: durations of test writes to all targets, with "
			   "two log-normal states, idle and busy, that were fitted to them.",
			   plot);
	figure_legend(&plot->figure, keys, sizeof(keys) / sizeof(*keys));
	buf_puts(&plot->csv, "bytes,from_s,to_s,share,mixture_share\n");
	for (size_t size = 0; size < rows->size_count; size++) {
		size_t count;
		AUTO_FREE double *seconds = gather_writes(rows, size, &count);

		if (count >= LEAST)
			put_size(plot, rows->sizes[size], seconds, count);
		any = any || count >= LEAST;
	}
	return any ? 0
		   : err_set(err, ENODATA,
			     "fewer than %d test writes of each size; 'sluice forecast probe' "
			     "collects them",
			     LEAST);
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
	.help = "histogram of the durations of test writes, with the states idle and busy",
	.subject = PLOT_PROBES,
	.draw = draw_writes,
};
