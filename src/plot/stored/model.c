/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicted against measured times of the performance model: the accesses that it was calibrated
 * with (predict/model/hybrid/validation.h), or without calibration, the benchmarks it was learned
 * from.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "plot/stored/stored.h"
#include "predict/model/hybrid/hybrid.h"
#include "predict/model/hybrid/pairs.h"

#define HEIGHT 420.0
#define SIDE 250.0 /* margins that make the panel about square */
#define COVERAGE 0.9

static const unsigned colors[PAIR_GROUPS] = {
	[PAIR_WRITE] = 1, [PAIR_READ] = 0, [PAIR_HELD] = 4, [PAIR_COMMUNICATION] = 2
};

static void put_keys(const struct pairs *pairs, struct plot *plot)
{
	struct figure_key keys[PAIR_GROUPS];
	size_t count = 0;

	for (int group = 0; group < PAIR_GROUPS; group++)
		for (size_t i = 0; i < pairs->count; i++)
			if ((int)pairs->list[i].group == group) {
				keys[count++] =
					(struct figure_key){ colors[group], pair_group_names[group],
							     false };
				break;
			}
	figure_legend(&plot->figure, keys, count);
}

static void put_dots(const struct pairs *pairs, struct panel *panel)
{
	AUTO_FREE double *x = xcalloc(pairs->count + 1, sizeof(*x));
	AUTO_FREE double *y = xcalloc(pairs->count + 1, sizeof(*y));

	for (int group = 0; group < PAIR_GROUPS; group++) {
		size_t count = 0;

		for (size_t i = 0; i < pairs->count; i++)
			if ((int)pairs->list[i].group == group) {
				x[count] = pairs->list[i].predicted;
				y[count++] = pairs->list[i].measured;
			}
		if (count)
			panel_dots(panel, colors[group], "soft", x, y, count);
	}
}

/* The diagonal, and the interval around it, which is a constant factor. */
static void put_diagonal(struct panel *panel, double factor)
{
	double low = panel->x.low, high = panel->x.high;
	double xs[2] = { low, high }, ys[2] = { low, high };

	panel_line(panel, 7, "thin", xs, ys, 2);
	for (int side = 0; factor > 1 && isfinite(factor) && side < 2; side++) {
		double shift = side ? factor : 1 / factor;
		/* The ends stay inside the panel, or the line would bend. */
		double from = fmax(low, low / shift), to = fmin(high, high / shift);
		double x[2] = { from, to }, y[2] = { from * shift, to * shift };

		panel_line(panel, 6, "rule", x, y, 2);
	}
}

static void put_scatter(const struct pairs *pairs, struct plot *plot, double factor)
{
	struct panel_plan plan = { .title = "measured time",
				   .height = HEIGHT,
				   .x_title = "predicted time",
				   .left = 80,
				   .right = SIDE };
	double low = INFINITY, high = 0;
	struct panel panel;

	for (size_t i = 0; i < pairs->count; i++) {
		low = fmin(low, fmin(pairs->list[i].predicted, pairs->list[i].measured));
		high = fmax(high, fmax(pairs->list[i].predicted, pairs->list[i].measured));
	}
	scale_init_logarithmic(&plan.x, SCALE_SECONDS, low / 1.3, high * 1.3);
	plan.y = plan.x;
	figure_panel(&plot->figure, &panel, &plan);
	put_diagonal(&panel, factor);
	panel_right_name(&panel, panel.y.high, "prediction = measurement");
	put_dots(pairs, &panel);
}

static void put_rows(const struct pairs *pairs, struct plot *plot)
{
	buf_puts(&plot->csv, "group,operation,predicted_s,measured_s\n");
	for (size_t i = 0; i < pairs->count; i++)
		buf_printf(&plot->csv, "%s,%s,%.9g,%.9g\n", pair_group_names[pairs->list[i].group],
			   pairs->list[i].what, pairs->list[i].predicted, pairs->list[i].measured);
}

static void start_figure(const struct hybrid *hybrid, const struct pairs *pairs, struct plot *plot)
{
	figure_init(&plot->figure, plot_model.title,
		    "A scatter plot of measured over predicted times with the diagonal on which "
		    "both are equal.");
	if (hybrid->validation.count)
		figure_text(&plot->figure,
			    "%zu accesses of the real library, each measured %llu times; "
			    "dashed: %.0f %% prediction interval",
			    pairs->count, (unsigned long long)hybrid->validation.repeat,
			    100 * COVERAGE);
	else
		figure_text(&plot->figure,
			    "%zu benchmarks that the model was learned from, so this is no test "
			    "of it; 'sluice model calibrate' measures real accesses",
			    pairs->count);
}

static int draw_hybrid(struct hybrid *hybrid, struct plot *plot, struct err *err)
{
	struct pairs pairs;
	double factor = 1;
	int r = 0;

	pairs_init(&pairs, hybrid);
	if (hybrid->validation.count)
		factor = exp(validation_margin(&hybrid->validation, VALIDATION_TIMES, COVERAGE));
	if (pairs.count) {
		start_figure(hybrid, &pairs, plot);
		put_keys(&pairs, plot);
		put_scatter(&pairs, plot, factor);
		put_rows(&pairs, plot);
	} else {
		r = err_set(err, ENODATA, "the model has no measurements to compare with");
	}
	pairs_release(&pairs);
	return r;
}

static int draw_model(const struct plot_source *source, struct plot *plot, struct err *err)
{
	const char *path =
		source->name ? source->name : config_text(source->config, SETTING_MODEL_PATH);
	struct hybrid hybrid = { 0 };
	int r = hybrid_load(&hybrid, path, err);

	if (r == -ENOENT && !source->name)
		return err_set(err, ENODATA,
			       "no model of this machine yet (%s): run 'sluice model measure' and "
			       "'sluice model fit' once",
			       path);
	if (r < 0)
		return r;
	r = draw_hybrid(&hybrid, plot, err);
	hybrid_release(&hybrid);
	return r;
}

const struct plot_kind plot_model = {
	.name = "model",
	.title = "Predicted and measured times",
	.help = "predictions of the performance model against measurements",
	.subject = PLOT_MODEL,
	.draw = draw_model,
};
