/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reliability of the forecast: how often writes were busy, over the probability that was predicted
 * for them. The methods are chosen and trained on the first part of the stored probe data, as in
 * `sluice forecast evaluate --method auto`, and predict the rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "learn/judge/drift.h"
#include "plot/stored/probe_source.h"
#include "plot/stored/stored.h"
#include "predict/forecast/states/judgment.h"

#define HEIGHT 300.0
#define SIDE 370.0 /* margin that makes the panel about square */
#define TRAINING_SHARE 0.8
#define CONFIDENCE 0.975 /* one-sided, for intervals of 95 % */
/* The choice of a method takes a second per target and size. */
#define MAX_TARGETS 12

static void put_bins(struct plot *plot, struct panel *panel, uint64_t bytes,
		     const struct judgment_reliability *reliability)
{
	double x[JUDGMENT_BINS], y[JUDGMENT_BINS];
	size_t count = 0;

	for (size_t i = 0; i < JUDGMENT_BINS; i++) {
		const struct metrics_bin *bin = &reliability->bins[i];
		double rows = (double)bin->count, low, high;

		if (!bin->count)
			continue;
		/* The edges of a share of 0 or 1 are not exact. */
		low = fmax(fmin(drift_share_low(bin->observed, rows, CONFIDENCE), bin->observed),
			   0);
		high = 1 - drift_share_low(1 - bin->observed, rows, CONFIDENCE);
		high = fmin(fmax(high, bin->observed), 1);
		panel_line(panel, 0, "thin", (double[]){ bin->predicted, bin->predicted },
			   (double[]){ low, high }, 2);
		x[count] = bin->predicted;
		y[count++] = bin->observed;
		buf_printf(&plot->csv, "%" PRIu64 ",%.9g,%.9g,%.9g,%.9g,%zu\n", bytes,
			   bin->predicted, bin->observed, low, high, bin->count);
	}
	panel_dots(panel, 0, "", x, y, count);
}

static void put_size(struct plot *plot, uint64_t bytes,
		     const struct judgment_reliability *reliability)
{
	AUTO_BUF struct buf title = { 0 }, sentence = { 0 };
	struct panel_plan plan = { .height = HEIGHT,
				   .x_title = "predicted probability of busy",
				   .left = 80,
				   .right = SIDE };
	double ends[2] = { 0, 1 };
	struct panel panel;
	char text[UNIT_TEXT];

	judgment_reliability_text(reliability, &sentence);
	figure_text(&plot->figure, "%s", buf_text(&sentence));
	buf_printf(&title, "observed share of busy, %zu writes of %s", reliability->rows,
		   unit_bytes(text, (double)bytes));
	plan.title = buf_text(&title);
	scale_init(&plan.x, SCALE_SHARE, 0, 1);
	scale_init(&plan.y, SCALE_SHARE, 0, 1);
	figure_panel(&plot->figure, &panel, &plan);
	panel_line(&panel, 7, "thin", ends, ends, 2);
	panel_right_name(&panel, 1, "predicted = observed");
	put_bins(plot, &panel, bytes, reliability);
}

static void draw_judgment(const struct forecast_data *data, const struct judgment *judgment,
			  struct plot *plot)
{
	static const struct figure_key keys[] = { { 0, "share of busy writes, with a 95 % interval",
						    false } };
	const struct chronicle *rows = forecast_data_rows(data);
	struct judgment_reliability reliability;

	probe_source_start(data, &plot_reliability,
			   "One scatter plot per size: the share of writes that were busy over the "
			   "predicted probability, with the diagonal on which both are equal.",
			   plot);
	figure_text(&plot->figure, "trained on the first %.0f %% of the time, tested on the rest",
		    100 * TRAINING_SHARE);
	figure_legend(&plot->figure, keys, sizeof(keys) / sizeof(*keys));
	buf_puts(&plot->csv, "bytes,predicted,observed,low,high,writes\n");
	for (size_t size = 1; size < rows->size_count; size++) {
		judgment_reliability(judgment, size, JUDGMENT_AUTO, &reliability);
		if (reliability.rows)
			put_size(plot, rows->sizes[size], &reliability);
	}
}

/* Evaluates some of the targets, chosen evenly. */
static int evaluate(const struct forecast_data *data, struct judgment *judgment, struct err *err)
{
	const struct chronicle *rows = forecast_data_rows(data);
	size_t targets[MAX_TARGETS], all = rows->target_count;
	struct judgment_plan plan;
	double from_s, to_s;

	if (!chronicle_span(rows, &from_s, &to_s))
		return err_set(err, ENODATA, "no probe data; 'sluice forecast probe' collects it");
	judgment_plan_init(&plan);
	plan.methods = FORECAST_AUTO;
	plan.features.earlier_rounds = true;
	plan.labels.from_s = from_s;
	plan.labels.to_s = from_s + TRAINING_SHARE * (to_s - from_s);
	plan.test_to_s = nextafter(to_s, INFINITY);
	plan.target_count = all < MAX_TARGETS ? all : MAX_TARGETS;
	for (size_t i = 0; i < plan.target_count; i++)
		targets[i] = i * all / plan.target_count;
	plan.targets = targets;
	return judgment_run(judgment, rows, &data->site, &plan, err);
}

static int draw_reliability(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct forecast_data data = { 0 };
	struct judgment judgment = { 0 };
	int r = probe_source_open(&data, source, -INFINITY, err);

	if (r >= 0)
		r = evaluate(&data, &judgment, err);
	if (r >= 0)
		draw_judgment(&data, &judgment, plot);
	judgment_release(&judgment);
	forecast_data_close(&data);
	return r;
}

const struct plot_kind plot_reliability = {
	.name = "reliability",
	.title = "Reliability of the forecast",
	.help = "share of busy writes over the predicted probability, on later data",
	.subject = PLOT_PROBES,
	.draw = draw_reliability,
};
