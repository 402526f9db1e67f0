/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measured durations of test writes and the forecasts for the same times: two heat maps of time and
 * target, over the last day of the data.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "plot/stored/probe_source.h"
#include "plot/stored/stored.h"
#include "predict/forecast/states/forecaster.h"

#define SPAN_S 86400.0
#define COLUMNS 144 /* of ten minutes, if there is a whole day */
#define ROW_HEIGHT 18.0
#define HEIGHT_MAX 420.0
#define NAMED_TARGETS 40
#define LEFT 130.0

/* values[column * targets + target]; NAN: unknown. */
struct outlook {
	const struct chronicle *rows;
	double from_s, to_s;
	size_t size; /* the largest size: that of reference writes */
	double *measured, *busy;
	bool has_forecast;
};

static double column_time(const struct outlook *o, double column)
{
	return o->from_s + (o->to_s - o->from_s) * column / COLUMNS;
}

/* The mean of the writes in each interval. */
static void measure_target(struct outlook *o, size_t target)
{
	const struct chronicle_series *series = chronicle_series(o->rows, target, o->size);
	size_t counts[COLUMNS] = { 0 };

	for (size_t i = 0; i < series->count; i++) {
		double place = (series->time_s[i] - o->from_s) / (o->to_s - o->from_s);
		size_t column = (size_t)(fmax(place, 0) * COLUMNS);
		double *value;

		if (!(place >= 0) || column >= COLUMNS ||
		    sample_outcome(series, i) > SAMPLE_TIMEOUT)
			continue;
		value = &o->measured[column * o->rows->target_count + target];
		*value = counts[column] ? *value : 0;
		*value += ((double)series->seconds[i] - *value) / (double)++counts[column];
	}
}

static void forecast_target(struct outlook *o, const struct forecaster *forecaster,
			    const struct features *features, size_t target)
{
	int at = forecaster_find_target(forecaster, o->rows->targets[target]);
	int size = forecaster_find_size(forecaster, o->rows->sizes[o->size]);

	for (size_t column = 0; at >= 0 && size >= 0 && column < COLUMNS; column++) {
		struct forecast forecast = { .busy = NAN };
		double age = forecaster_predict_at(forecaster, features, (size_t)at, (size_t)size,
						   column_time(o, (double)column + 0.5), &forecast);

		if (isfinite(age) && !isnan(forecast.busy)) {
			o->busy[column * o->rows->target_count + target] = forecast.busy;
			o->has_forecast = true;
		}
	}
}

static void forecast_all(struct outlook *o, const struct plot_source *source,
			 const struct forecast_data *data)
{
	struct forecaster forecaster = { 0 };
	struct features features;

	if (forecaster_load(&forecaster, config_text(source->config, SETTING_FORECAST_MODEL),
			    NULL) < 0)
		return;
	features_init(&features, o->rows, &data->site, &forecaster.features);
	for (size_t t = 0; t < o->rows->target_count; t++)
		forecast_target(o, &forecaster, &features, t);
	features_release(&features);
	forecaster_release(&forecaster);
}

static void init_plan(const struct outlook *o, struct panel_plan *plan, bool is_last)
{
	size_t targets = o->rows->target_count;

	*plan = (struct panel_plan){ .height = fmin(ROW_HEIGHT * (double)targets, HEIGHT_MAX),
				     .no_y = true,
				     .y_down = true,
				     .left = LEFT,
				     .x_title = is_last ? "time (UTC)" : NULL };
	scale_init(&plan->x, SCALE_DATE, o->from_s, o->to_s);
	scale_init(&plan->y, SCALE_NUMBER, 0, (double)targets);
}

static void put_map(struct plot *plot, const struct outlook *o, const char *title,
		    const struct scale *ramp, const double *values, bool is_last)
{
	size_t targets = o->rows->target_count;
	AUTO_FREE const char **classes = xcalloc(COLUMNS * targets + 1, sizeof(*classes));
	struct panel_plan plan;
	struct panel panel;

	for (size_t i = 0; i < COLUMNS * targets; i++)
		if (!isnan(values[i]))
			classes[i] = style_ramp(fmax(scale_place(ramp, values[i]), 0));
	init_plan(o, &plan, is_last);
	figure_ramp(&plot->figure, title, ramp);
	figure_panel(&plot->figure, &panel, &plan);
	panel_cells(&panel, COLUMNS, targets, classes);
	for (size_t t = 0; targets <= NAMED_TARGETS && t < targets; t++)
		panel_row_name(&panel, (double)t + 0.5, o->rows->targets[t]);
}

static void put_maps(struct plot *plot, const struct outlook *o)
{
	size_t cells = COLUMNS * o->rows->target_count;
	double low = INFINITY, high = 0;
	char size[UNIT_TEXT];
	AUTO_FREE char *title = xprintf("measured duration of writes of %s",
					unit_bytes(size, (double)o->rows->sizes[o->size]));
	struct scale ramp;

	for (size_t i = 0; i < cells; i++)
		if (o->measured[i] > 0) {
			low = fmin(low, o->measured[i]);
			high = fmax(high, o->measured[i]);
		}
	scale_init_logarithmic(&ramp, SCALE_SECONDS, low, high);
	put_map(plot, o, title, &ramp, o->measured, !o->has_forecast);
	if (!o->has_forecast) {
		figure_text(&plot->figure,
			    "There is no forecast for these targets; train a model with 'sluice "
			    "forecast train'.");
		return;
	}
	scale_init(&ramp, SCALE_SHARE, 0, 1);
	put_map(plot, o, "forecast: probability that the target is busy", &ramp, o->busy, true);
}

static void put_rows(struct plot *plot, const struct outlook *o)
{
	buf_puts(&plot->csv, "target,from,to,measured_s,busy\n");
	for (size_t t = 0; t < o->rows->target_count; t++)
		for (size_t column = 0; column < COLUMNS; column++) {
			size_t i = column * o->rows->target_count + t;

			if (isnan(o->measured[i]) && isnan(o->busy[i]))
				continue;
			buf_put_csv_cell(&plot->csv, o->rows->targets[t]);
			buf_printf(&plot->csv, ",%.3f,%.3f,", column_time(o, (double)column),
				   column_time(o, (double)column + 1));
			if (!isnan(o->measured[i]))
				buf_printf(&plot->csv, "%.9g", o->measured[i]);
			buf_putc(&plot->csv, ',');
			if (!isnan(o->busy[i]))
				buf_printf(&plot->csv, "%.6g", o->busy[i]);
			buf_putc(&plot->csv, '\n');
		}
}

static int draw_outlook(struct outlook *o, const struct plot_source *source,
			const struct forecast_data *data, struct plot *plot, struct err *err)
{
	size_t cells = COLUMNS * o->rows->target_count;
	double first_s;

	if (!o->rows->size_count || !o->rows->target_count ||
	    !chronicle_span(o->rows, &first_s, &o->to_s))
		return err_set(err, ENODATA,
			       "no test writes yet; 'sluice forecast probe' makes them");
	o->from_s = fmax(first_s, o->to_s - SPAN_S);
	o->to_s = fmax(o->to_s, o->from_s + 1);
	o->size = o->rows->size_count - 1;
	o->measured = xcalloc(cells + 1, sizeof(*o->measured));
	o->busy = xcalloc(cells + 1, sizeof(*o->busy));
	for (size_t i = 0; i < cells; i++)
		o->measured[i] = o->busy[i] = NAN;
	for (size_t t = 0; t < o->rows->target_count; t++)
		measure_target(o, t);
	forecast_all(o, source, data);
	probe_source_start(data, &plot_forecast,
			   "Heat maps: columns are times, lines are storage targets; color shows "
			   "the measured duration of test writes, and the forecast probability "
			   "that the target is busy.",
			   plot);
	if (first_s < o->from_s)
		figure_text(&plot->figure, "The last 24 hours are shown.");
	put_maps(plot, o);
	put_rows(plot, o);
	return 0;
}

static int draw_forecast(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct forecast_data data = { 0 };
	struct outlook outlook = { 0 };
	int r = probe_source_open(&data, source, -INFINITY, err);

	if (r >= 0) {
		outlook.rows = forecast_data_rows(&data);
		r = draw_outlook(&outlook, source, &data, plot, err);
	}
	free(outlook.measured);
	free(outlook.busy);
	forecast_data_close(&data);
	return r;
}

const struct plot_kind plot_forecast = {
	.name = "forecast",
	.title = "Storage targets over time",
	.help = "measured and forecast state of each storage target over the last day",
	.subject = PLOT_PROBES,
	.draw = draw_forecast,
};
