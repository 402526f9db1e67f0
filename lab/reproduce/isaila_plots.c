/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws Figures 4 to 11 of Isaila et al. The whiskers of boxes end at the 5 % and 95 % quantiles.
 * Papers: HYB-57.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/place.h"
#include "chart/chart.h"
#include "lab/reproduce/isaila.h"

static int save_chart(struct chart *chart, const char *directory, const char *name,
		      const char *contention, struct err *err)
{
	AUTO_FREE char *file = xprintf("%s-%s.svg", name, contention);
	AUTO_FREE char *path = place_join(directory, file);
	int r = chart_write(chart, path, err);

	chart_release(chart);
	return r;
}

/* Names the machine in the title. */
static void extend_title(struct chart *chart, const char *contention)
{
	char *title = xprintf("%s (simulated Vesta, contention: %s)", chart->title, contention);

	free(chart->title);
	chart->title = title;
}

static struct chart_box make_box(const double quantiles[OUTCOME_QUANTILES])
{
	return (struct chart_box){ quantiles[0], quantiles[1], quantiles[2], quantiles[3],
				   quantiles[4] };
}

static void add_outcome(struct chart *chart, size_t series, const struct outcome *outcome,
			const struct contest *contest)
{
	struct standing standing;
	struct chart_box box;

	standing_init(&standing, outcome, contest);
	box = make_box(standing.quantiles);
	chart_box(chart, series, &box);
}

static void init_speedup_chart(struct chart *chart, const char *title, const char *x)
{
	chart_init(chart, title, x, "speedup over the default");
	chart->logarithmic = true;
	chart_level(chart, 1, NULL);
}

static void plot_figure4(const struct evaluation *evaluation, struct chart *chart)
{
	chart_init(chart, "Figure 4: 544 writers on 512 nodes, 16 MiB each", "round",
		   "throughput in MB/s");
	for (uint64_t run = 0; run < 2; run++) {
		size_t series = chart_series(chart, CHART_LINES, run ? "run 2" : "run 1");
		double rates[ISAILA_ROUNDS];

		isaila_rounds(evaluation->replica, run, rates);
		for (size_t i = 0; i < ISAILA_ROUNDS; i++)
			chart_value(chart, series, rates[i]);
		chart_level(chart, isaila_mean(rates, ISAILA_ROUNDS),
			    run ? "mean of run 2" : "mean of run 1");
	}
	for (int i = 1; i <= ISAILA_ROUNDS; i++)
		chart_category(chart, "%d", i);
}

static void plot_ways(const struct evaluation *evaluation, struct chart *chart, const char *title,
		      const char *y, double (*ratio)(const struct replica *, uint64_t, size_t))
{
	chart_init(chart, title, "aggregators per pset / buffer in MiB", y);
	for (uint64_t nodes = 128; nodes <= 512; nodes *= 2) {
		AUTO_FREE char *name = xprintf("%" PRIu64 " nodes", nodes);
		size_t series = chart_series(chart, CHART_BARS, name);

		for (size_t way = 0; way < ISAILA_WAYS; way++)
			chart_value(chart, series, ratio(evaluation->replica, nodes, way));
	}
	for (size_t way = 0; way < ISAILA_WAYS; way++)
		chart_category(chart, "%" PRIu64 " / %" PRIu64,
			       isaila_aggregators[way / ISAILA_LEVELS],
			       isaila_buffers[way % ISAILA_LEVELS]);
	chart_level(chart, 1, NULL);
}

static void plot_figure5(const struct evaluation *evaluation, struct chart *chart)
{
	plot_ways(evaluation, chart, "Figure 5: later rounds compared with the first",
		  "ratio of throughput", isaila_first_ratio);
}

static void plot_figure6(const struct evaluation *evaluation, struct chart *chart)
{
	plot_ways(evaluation, chart,
		  "Figure 6: placement by topology compared with uniform placement",
		  "ratio of throughput", isaila_topology_ratio);
}

static void add_instances(const struct contest *contest, struct chart *chart)
{
	for (size_t i = 0; i < contest->instance_count; i++)
		chart_category(chart, "%" PRIu64 " x %" PRIu64, contest->instances[i].nodes,
			       contest->instances[i].rank_bytes >> 20);
}

static void plot_figure7(const struct evaluation *evaluation, struct chart *chart)
{
	const struct contest *contest = &evaluation->contest;
	size_t series;

	init_speedup_chart(chart, "Figure 7: all settings of each instance",
			   "nodes x MiB per rank");
	series = chart_series(chart, CHART_BOXES, "");
	add_instances(contest, chart);
	for (size_t i = 0; i < contest->instance_count; i++) {
		double quantiles[OUTCOME_QUANTILES];
		struct chart_box box;

		headroom_quantiles(contest, i, quantiles);
		box = make_box(quantiles);
		chart_box(chart, series, &box);
	}
}

static void plot_figure8(const struct evaluation *evaluation, struct chart *chart)
{
	static const enum study_method methods[] = { STUDY_RANDOM, STUDY_ML, STUDY_HYBRID,
						     STUDY_DOMAINS };
	const struct contest *contest = &evaluation->contest;

	init_speedup_chart(chart, "Figure 8: mean speedup of each instance",
			   "nodes x MiB per rank");
	add_instances(contest, chart);
	for (size_t m = 0; m < sizeof(methods) / sizeof(*methods); m++) {
		size_t series = chart_series(chart, CHART_BARS, study_method_titles[methods[m]]);

		for (size_t i = 0; i < contest->instance_count; i++)
			chart_value(chart, series,
				    outcome_mean(&evaluation->comparison.of[methods[m]], i));
	}
}

static void plot_figure9(const struct evaluation *evaluation, struct chart *chart)
{
	static const enum study_method methods[] = { STUDY_RANDOM,	 STUDY_ML,
						     STUDY_ML_LOG,	 STUDY_HYBRID,
						     STUDY_HYBRID_KEEP,	 STUDY_DOMAINS,
						     STUDY_DOMAINS_KEEP, STUDY_OPTIMAL };
	size_t series;

	init_speedup_chart(chart, "Figure 9: chosen settings of all repetitions", "method");
	series = chart_series(chart, CHART_BOXES, "");
	for (size_t m = 0; m < sizeof(methods) / sizeof(*methods); m++) {
		chart_category(chart, "%s", study_method_titles[methods[m]]);
		add_outcome(chart, series, &evaluation->comparison.of[methods[m]],
			    &evaluation->contest);
	}
}

static void plot_figure10(const struct evaluation *evaluation, struct chart *chart)
{
	size_t series;

	init_speedup_chart(chart, "Figure 10: fewer runs for ml, fewer benchmarks for hybrid",
			   "training data");
	series = chart_series(chart, CHART_BOXES, "");
	for (size_t i = 0; i < EVALUATION_ML_SIZES; i++) {
		chart_category(chart, "ml, %zu runs", evaluation->ml_sizes[i].rows);
		add_outcome(chart, series, &evaluation->ml_sizes[i].ml, &evaluation->contest);
	}
	for (size_t i = 0; i < ROUNDS_RULES * EVALUATION_HYBRID_SIZES; i++) {
		const struct size_result *result =
			&evaluation->hybrid_sizes[i % EVALUATION_HYBRID_SIZES];
		size_t rule = i / EVALUATION_HYBRID_SIZES;

		chart_category(chart, "%s, %.0f %%", study_method_names[STUDY_HYBRID + rule],
			       100 * result->share);
		add_outcome(chart, series, &result->hybrid[rule], &evaluation->contest);
	}
}

static void plot_figure11(const struct evaluation *evaluation, struct chart *chart)
{
	const struct contest *contest = &evaluation->contest;
	size_t hybrid[ROUNDS_RULES], ml;

	init_speedup_chart(chart, "Figure 11: noise in the training data", "sigma");
	for (int k = 0; k < ROUNDS_RULES; k++)
		hybrid[k] = chart_series(chart, CHART_BOXES, study_method_titles[STUDY_HYBRID + k]);
	ml = chart_series(chart, CHART_BOXES, "ml");
	chart_category(chart, "none");
	for (int k = 0; k < ROUNDS_RULES; k++)
		add_outcome(chart, hybrid[k], &evaluation->comparison.of[STUDY_HYBRID + k],
			    contest);
	add_outcome(chart, ml, &evaluation->comparison.of[STUDY_ML], contest);
	for (size_t i = 0; i < NOISE_LEVELS; i++) {
		chart_category(chart, "%g", evaluation->noise[i].sigma);
		for (int k = 0; k < ROUNDS_RULES; k++)
			add_outcome(chart, hybrid[k], &evaluation->noise[i].hybrid[k], contest);
		add_outcome(chart, ml, &evaluation->noise[i].ml, contest);
	}
}

static const struct plot {
	const char *name;
	void (*draw)(const struct evaluation *evaluation, struct chart *chart);
} plots[] = {
	{ "figure4", plot_figure4 },   { "figure5", plot_figure5 },   { "figure6", plot_figure6 },
	{ "figure7", plot_figure7 },   { "figure8", plot_figure8 },   { "figure9", plot_figure9 },
	{ "figure10", plot_figure10 }, { "figure11", plot_figure11 }, { 0 },
};

int isaila_plots(const struct evaluation *evaluation, const char *directory, const char *contention,
		 struct err *err)
{
	int r = 0;

	for (const struct plot *plot = plots; plot->name && r >= 0; plot++) {
		struct chart chart;

		plot->draw(evaluation, &chart);
		extend_title(&chart, contention);
		r = save_chart(&chart, directory, plot->name, contention, err);
	}
	return r;
}
