/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures 6, 8 and 13 of Behzad et al.: the rates and speedups of Table 4, as sheets and as charts.
 * Papers: ATE-15.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/place.h"
#include "chart/chart.h"
#include "lab/reproduce/behzad.h"
#include "lab/reproduce/paper.h"
#include "learn/judge/metrics.h"

#define KERNELS 3		       /* consecutive cells are the kernels of a group */
#define GROUPS (PAPER_CELLS / KERNELS) /* a platform at a scale */

static int save_chart(struct chart *chart, const struct behzad *behzad, const char *name,
		      struct err *err)
{
	AUTO_FREE char *file = xprintf("behzad-%s.svg", name);
	AUTO_FREE char *path = place_join(behzad->args->plots, file);
	int r = chart_write(chart, path, err);

	chart_release(chart);
	return r;
}

static void add_cell(struct sheet *sheet, size_t i)
{
	sheet_number(sheet, (double)paper_cells[i].ranks);
	sheet_text(sheet, "%s", paper_cells[i].platform);
	sheet_text(sheet, "%s", paper_cells[i].kernel);
}

/* One chart per scale. */
static int plot_rates(const struct behzad *behzad, uint64_t ranks, struct err *err)
{
	AUTO_FREE char *title = xprintf("Figure 6: rates of default and tuned settings, %" PRIu64
					" ranks (simulated platforms)",
					ranks);
	AUTO_FREE char *name = xprintf("figure6-%" PRIu64, ranks);
	static const char *const names[] = { "paper: default", "paper: tuned", "default", "tuned" };
	struct chart chart;
	size_t series[4];

	chart_init(&chart, title, "platform and kernel", "MB/s");
	chart.logarithmic = true;
	for (size_t k = 0; k < 4; k++)
		series[k] = chart_series(&chart, CHART_BARS, names[k]);
	for (size_t i = 0; i < PAPER_CELLS; i++) {
		const struct cell *cell = &behzad->cells[i];

		if (paper_cells[i].ranks != ranks)
			continue;
		chart_category(&chart, "%s %s", paper_cells[i].platform, paper_cells[i].kernel);
		chart_value(&chart, series[0], paper_cells[i].initial);
		chart_value(&chart, series[1], paper_cells[i].tuned);
		chart_value(&chart, series[2], cell->initial.rate / REPRODUCE_MB);
		chart_value(&chart, series[3], cell->found.rate / REPRODUCE_MB);
	}
	return save_chart(&chart, behzad, name, err);
}

int behzad_figure6(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { ">ranks", "ranks", 0 },
						       { "platform", "platform", 0 },
						       { "kernel", "kernel", 0 },
						       { ">paper: default", "paper_default_mb_s",
							 0 },
						       { ">tuned", "paper_tuned_mb_s", 0 },
						       { ">~default", "default_mb_s", 0 },
						       { ">tuned", "tuned_mb_s", 0 },
						       { 0 } };
	struct sheet sheet;
	int r = behzad_cells(behzad, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "figure6", "Figure 6: default and tuned rates in MB/s", columns);
	for (size_t i = 0; i < PAPER_CELLS; i++) {
		add_cell(&sheet, i);
		sheet_number(&sheet, paper_cells[i].initial);
		sheet_number(&sheet, paper_cells[i].tuned);
		sheet_number(&sheet, behzad->cells[i].initial.rate / REPRODUCE_MB);
		sheet_number(&sheet, behzad->cells[i].found.rate / REPRODUCE_MB);
	}
	reproduce_add_modelled(&behzad->output, &sheet);
	for (size_t i = 0; behzad->args->plots && r >= 0 && i < PAPER_CELLS; i++)
		if (!i || paper_cells[i].ranks != paper_cells[i - 1].ranks)
			r = plot_rates(behzad, paper_cells[i].ranks, err);
	return r;
}

static double gain_of(const struct behzad *behzad, size_t i)
{
	return behzad->cells[i].initial.total / behzad->cells[i].found.total;
}

/* Bars are colored by kernel, as in the paper. */
static int plot_gains(const struct behzad *behzad, struct err *err)
{
	struct chart chart;

	chart_init(&chart, "Figure 8: speedups by platform, scale and kernel (simulated platforms)",
		   "platform and ranks", "speedup over the default");
	chart.logarithmic = true;
	chart_level(&chart, 1, NULL);
	for (size_t g = 0; g < GROUPS; g++)
		chart_category(&chart, "%s %" PRIu64, paper_cells[KERNELS * g].platform,
			       paper_cells[KERNELS * g].ranks);
	for (size_t k = 0; k < 2 * KERNELS; k++) {
		bool is_paper = k < KERNELS;
		AUTO_FREE char *name =
			xprintf("%s%s", is_paper ? "paper: " : "", paper_cells[k % KERNELS].kernel);
		size_t series = chart_series(&chart, CHART_BARS, name);

		for (size_t i = k % KERNELS; i < PAPER_CELLS; i += KERNELS)
			chart_value(&chart, series,
				    is_paper ? paper_cells[i].speedup : gain_of(behzad, i));
	}
	return save_chart(&chart, behzad, "figure8", err);
}

int behzad_figure8(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { ">ranks", "ranks", 0 },
						       { "platform", "platform", 0 },
						       { "kernel", "kernel", 0 },
						       { ">paper", "paper_gain", 2 },
						       { ">~search", "gain", 2 },
						       { ">optimum", "best_gain", 2 },
						       { 0 } };
	struct sheet sheet;
	int r = behzad_cells(behzad, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "figure8", "Figure 8: speedups of tuned settings", columns);
	for (size_t i = 0; i < PAPER_CELLS; i++) {
		add_cell(&sheet, i);
		sheet_number(&sheet, paper_cells[i].speedup);
		sheet_number(&sheet, gain_of(behzad, i));
		sheet_number(&sheet, behzad->cells[i].initial.total / behzad->cells[i].best.total);
	}
	reproduce_add_modelled(&behzad->output, &sheet);
	return behzad->args->plots ? plot_gains(behzad, err) : 0;
}

/* Rates of a group in MB/s: of the defaults, of the tuned settings, or of all runs of the searches.
 */
enum raw { RAW_DEFAULT, RAW_TUNED, RAW_ALL, RAWS };
static const char *const raw_names[] = { "default", "tuned", "all runs" };

struct raw_rates {
	double values[KERNELS * BEHZAD_RUNS];
	size_t count;
};

static void collect_rates(struct raw_rates *rates, const struct behzad *behzad, size_t group,
			  enum raw raw)
{
	rates->count = 0;
	for (size_t k = 0; k < KERNELS; k++) {
		const struct cell *cell = &behzad->cells[KERNELS * group + k];

		if (raw == RAW_DEFAULT)
			rates->values[rates->count++] = cell->initial.rate / REPRODUCE_MB;
		else if (raw == RAW_TUNED)
			rates->values[rates->count++] = cell->found.rate / REPRODUCE_MB;
		else
			for (size_t i = 0; i < cell->tried_count; i++)
				rates->values[rates->count++] = cell->tried[i] / REPRODUCE_MB;
	}
}

static struct chart_box box_of(const struct raw_rates *rates)
{
	double at[5];

	for (int q = 0; q < 5; q++)
		at[q] = metrics_quantile(rates->values, rates->count, q / 4.0);
	return (struct chart_box){ at[0], at[1], at[2], at[3], at[4] };
}

/* The published rates of a group; the paper does not print those of all runs. */
static struct chart_box paper_box(size_t group, enum raw raw)
{
	struct raw_rates rates = { .count = KERNELS };

	if (raw == RAW_ALL)
		return (struct chart_box){ NAN, NAN, NAN, NAN, NAN };
	for (size_t k = 0; k < KERNELS; k++) {
		const struct paper_cell *paper = &paper_cells[KERNELS * group + k];

		rates.values[k] = raw == RAW_DEFAULT ? paper->initial : paper->tuned;
	}
	return box_of(&rates);
}

static int plot_boxes(const struct behzad *behzad, struct err *err)
{
	struct raw_rates rates;
	struct chart chart;

	chart_init(&chart, "Figure 13: rates by platform and scale (simulated platforms)",
		   "platform and ranks", "MB/s");
	chart.logarithmic = true;
	for (size_t g = 0; g < GROUPS; g++)
		chart_category(&chart, "%s %" PRIu64, paper_cells[KERNELS * g].platform,
			       paper_cells[KERNELS * g].ranks);
	for (int raw = 0; raw < RAWS; raw++) {
		size_t series = chart_series(&chart, CHART_BOXES, raw_names[raw]);

		for (size_t g = 0; g < GROUPS; g++) {
			struct chart_box box;

			collect_rates(&rates, behzad, g, (enum raw)raw);
			box = box_of(&rates);
			chart_box(&chart, series, &box);
		}
	}
	for (int raw = 0; raw < RAW_ALL; raw++) {
		AUTO_FREE char *name = xprintf("paper: %s", raw_names[raw]);
		size_t series = chart_series(&chart, CHART_BOXES, name);

		for (size_t g = 0; g < GROUPS; g++) {
			struct chart_box box = paper_box(g, (enum raw)raw);

			chart_box(&chart, series, &box);
		}
	}
	return save_chart(&chart, behzad, "figure13", err);
}

static void add_box(struct sheet *sheet, const struct behzad *behzad, size_t group, enum raw raw)
{
	struct chart_box ours, paper = paper_box(group, raw);
	struct raw_rates rates;

	collect_rates(&rates, behzad, group, raw);
	ours = box_of(&rates);
	sheet_number(sheet, (double)paper_cells[KERNELS * group].ranks);
	sheet_text(sheet, "%s", paper_cells[KERNELS * group].platform);
	sheet_text(sheet, "%s", raw_names[raw]);
	sheet_number(sheet, (double)rates.count);
	sheet_number(sheet, ours.low);
	sheet_number(sheet, ours.lower);
	sheet_number(sheet, ours.middle);
	sheet_number(sheet, ours.upper);
	sheet_number(sheet, ours.high);
	sheet_number(sheet, paper.low);
	sheet_number(sheet, paper.middle);
	sheet_number(sheet, paper.high);
}

int behzad_figure13(struct behzad *behzad, struct err *err)
{
	static const struct sheet_column columns[] = { { ">ranks", "ranks", 0 },
						       { "platform", "platform", 0 },
						       { "rates of", "what", 0 },
						       { ">values", "values", 0 },
						       { ">~least", "least", 0 },
						       { ">25 %", "q25", 0 },
						       { ">50 %", "q50", 0 },
						       { ">75 %", "q75", 0 },
						       { ">most", "most", 0 },
						       { ">paper: least", "paper_least", 0 },
						       { ">50 %", "paper_q50", 0 },
						       { ">most", "paper_most", 0 },
						       { 0 } };
	struct sheet sheet;
	int r = behzad_cells(behzad, err);

	if (r < 0)
		return r;
	sheet_init(&sheet, "figure13", "Figure 13: rates by platform and scale in MB/s", columns);
	for (size_t g = 0; g < GROUPS; g++)
		for (int raw = 0; raw < RAWS; raw++)
			add_box(&sheet, behzad, g, (enum raw)raw);
	sheet_note(&sheet,
		   "default and tuned: one value per kernel; all runs: every run of the three "
		   "searches.");
	reproduce_add_modelled(&behzad->output, &sheet);
	return behzad->args->plots ? plot_boxes(behzad, err) : 0;
}
