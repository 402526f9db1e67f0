/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Draws Figures 4 to 12 of Wan et al.
 * Papers: WAN-29, WAN-30, WAN-32.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/place.h"
#include "chart/chart.h"
#include "lab/reproduce/wan.h"
#include "learn/judge/metrics.h"

#define TAIL_SPAN_S 125.0
#define SPLIT_SPAN_S 5.0
#define CURVE_POINTS 400
#define PAPER_MEAN_ACCURACY 0.75 /* of Figure 11 */

static int save_chart(struct chart *chart, const char *directory, const char *name,
		      const char *system, struct err *err)
{
	AUTO_FREE char *file = xprintf("wan-%s-%s.svg", name, system);
	AUTO_FREE char *path = place_join(directory, file);
	int r = chart_write(chart, path, err);

	chart_release(chart);
	return r;
}

static void init_chart(struct chart *chart, const struct wan *wan, const char *title, const char *x,
		       const char *y)
{
	AUTO_FREE char *full = xprintf("%s (%s, generated)", title, wan->paper->title);

	chart_init(chart, full, x, y);
}

static void add_histogram(struct chart *chart, const char *name, const double *seconds,
			  size_t count, double span_s, double scale)
{
	size_t series = chart_series(chart, CHART_BARS, name);
	struct wan_modes modes;

	wan_modes(&modes, seconds, count, span_s);
	for (size_t i = 0; i < WAN_BINS; i++)
		if (modes.share[i] > 0)
			chart_bin(chart, series, (double)i * modes.width_s,
				  ((double)i + 1) * modes.width_s,
				  modes.share[i] * (scale > 0 ? scale : 1 / modes.width_s));
}

static int plot_times(const struct wan *wan, const char *directory, size_t size, const char *name,
		      const char *title, double span_s, struct err *err)
{
	size_t count;
	AUTO_FREE double *sorted = wan_seconds(wan, size, &count);
	struct chart chart;

	init_chart(&chart, wan, title, "seconds", "share of writes per bin");
	chart_axis(&chart, 0, span_s);
	add_histogram(&chart, "", sorted, count, span_s, 1);
	return save_chart(&chart, directory, name, wan->paper->name, err);
}

/* Uses a logarithmic scale; the tail would be invisible on a linear one. */
static int plot_tail(const struct wan *wan, const char *directory, struct err *err)
{
	size_t count;
	AUTO_FREE double *sorted = wan_seconds(wan, WAN_1G, &count);
	struct chart chart;

	init_chart(&chart, wan, "Figure 4: the tail of 1 GB writes", "seconds", "writes per bin");
	chart.logarithmic = true;
	chart.base = 0.5;
	chart_axis(&chart, 0, TAIL_SPAN_S);
	add_histogram(&chart, "", sorted, count, TAIL_SPAN_S, (double)count);
	return save_chart(&chart, directory, "figure4-tail", wan->paper->name, err);
}

static void add_component(struct chart *chart, const struct mixture *mixture, int component,
			  const char *name, double span_s)
{
	size_t series = chart_series(chart, CHART_LINES, name);
	struct mixture one = *mixture;

	/* Draws one component alone: the other one gets no weight. */
	for (int c = 0; component >= 0 && c < 2; c++)
		one.components[c].weight = c == component ? one.components[c].weight : 0;
	for (int i = 1; i < CURVE_POINTS; i++) {
		double t = span_s * i / CURVE_POINTS;

		chart_point(chart, series, t, mixture_density(&one, t));
	}
}

static int plot_mixture(const struct wan *wan, const char *directory, struct err *err)
{
	const struct mixture *mixture = states_mixture(&wan->judged.states, 0, WAN_1G);
	double span_s = wan->paper->span_s;
	size_t count;
	AUTO_FREE double *sorted = wan_seconds(wan, WAN_1G, &count);
	struct chart chart;

	init_chart(&chart, wan, "Figure 6: two log-normal states of 1 GB writes", "seconds",
		   "density");
	chart_axis(&chart, 0, span_s);
	add_histogram(&chart, "writes", sorted, count, span_s, 0);
	if (mixture) {
		add_component(&chart, mixture, 0, "idle", span_s);
		add_component(&chart, mixture, 1, "busy", span_s);
	}
	return save_chart(&chart, directory, "figure6", wan->paper->name, err);
}

static struct chart_box make_box(const struct judgment *judgment, size_t size, size_t method)
{
	struct judgment_sum sum;

	judgment_sum(judgment, size, method, offsetof(struct judgment_cell, accuracy), 0, &sum);
	return (struct chart_box){ sum.least, sum.quartile, sum.median, sum.upper_quartile,
				   sum.most };
}

static int plot_accuracies(const struct wan *wan, const char *directory, struct err *err)
{
	struct chart chart;

	init_chart(&chart, wan, "Figure 7: accuracy of the targets, minimum to maximum", "",
		   "accuracy");
	for (size_t m = 0; m < JUDGMENT_METHODS; m++)
		if (wan->judged.methods[m])
			chart_category(&chart, "%s", judgment_method(m));
	for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
		size_t series = chart_series(&chart, CHART_BOXES, wan_sizes[size]);

		for (size_t m = 0; m < JUDGMENT_METHODS; m++) {
			struct chart_box box = make_box(&wan->judged, size, m);

			if (wan->judged.methods[m])
				chart_box(&chart, series, &box);
		}
	}
	chart_level(&chart, wan->paper->bound, "paper, SVM, 1 GB: most targets are above");
	return save_chart(&chart, directory, "figure7", wan->paper->name, err);
}

static int plot_days(const struct wan *titan, const char *directory, struct err *err)
{
	struct chart chart;

	init_chart(&chart, titan, "Figure 11: SVM, days for training and testing", "days",
		   "accuracy");
	for (size_t i = 0; i < WAN_SPLITS; i++) {
		double days = titan->days * wan_train_shares[i];

		chart_category(&chart, "%g/%g", days, titan->days - days);
	}
	for (size_t size = WAN_64M; size < WAN_SIZES; size++) {
		size_t series = chart_series(&chart, CHART_BOXES, wan_sizes[size]);

		for (size_t i = 0; i < WAN_SPLITS; i++) {
			struct chart_box box = make_box(&titan->splits[i], size, WAN_SVM);

			chart_box(&chart, series, &box);
		}
	}
	chart_level(&chart, PAPER_MEAN_ACCURACY, "paper, mean for 1 GB");
	return save_chart(&chart, directory, "figure11", titan->paper->name, err);
}

static void add_predicted(struct chart *chart, const struct steps *steps, bool busy,
			  const char *name)
{
	size_t all = steps->points * steps->targets, count = 0;
	AUTO_FREE double *seconds = xcalloc(all + 1, sizeof(*seconds));

	for (size_t i = 0; i < all; i++)
		if ((steps->forecasts[i].busy > 0.5) == busy)
			seconds[count++] = steps->seconds[i];
	add_histogram(chart, name, seconds, count, SPLIT_SPAN_S, (double)count);
}

static int plot_split(const struct wan *titan, const char *directory, struct err *err)
{
	struct chart chart;

	init_chart(&chart, titan, "Figure 8: 1 GB writes by the state that the SVM predicts",
		   "seconds", "writes per bin");
	chart_axis(&chart, 1, SPLIT_SPAN_S);
	add_predicted(&chart, &titan->steps, false, "predicted idle");
	add_predicted(&chart, &titan->steps, true, "predicted busy");
	return save_chart(&chart, directory, "figure8", titan->paper->name, err);
}

static void add_roc(struct chart *chart, const struct judgment_case *judged, size_t method)
{
	const struct judgment_cell *cell = &judged->cells[method];
	AUTO_FREE struct metrics_roc *points = NULL;
	size_t count = 0, series;

	if (cell->is_known)
		count = metrics_roc_points(judged->labels, cell->score, judged->test, &points);
	if (!count)
		return;
	series = chart_series(chart, CHART_LINES, judgment_method(method));
	for (size_t i = 0; i < count; i++)
		chart_point(chart, series, points[i].false_share, points[i].true_share);
}

static int plot_roc(const struct wan *wan, const char *directory, size_t which, struct err *err)
{
	const struct judgment_case *judged = wan_roc(wan, which);
	bool is_titan = wan->paper == &wan_papers[WAN_TITAN];
	AUTO_FREE char *name = xprintf("figure%d-%zu", is_titan ? 9 : 10, which + 1);
	AUTO_FREE char *title = NULL;
	struct chart chart;

	if (!judged)
		return 0;
	title = xprintf("Figure %d: ROC curve of %s, 1 GB", is_titan ? 9 : 10,
			wan->few.targets[judged->target]);
	init_chart(&chart, wan, title, "false positive rate (idle predicted as busy)",
		   "true positive rate");
	chart_axis(&chart, 0, 1);
	for (size_t m = 0; m < JUDGMENT_PERSISTENCE; m++)
		add_roc(&chart, judged, m);
	return save_chart(&chart, directory, name, wan->paper->name, err);
}

static int plot_run(const struct wan *titan, const char *directory, size_t metric, const char *name,
		    struct err *err)
{
	static const struct {
		enum placement_rule rule;
		const char *name;
	} lines[] = { { PLACEMENT_EQUAL, "equal shares" },
		      { PLACEMENT_CLASSES, "two shares (rule of the paper)" },
		      { PLACEMENT_EXPECTED, "by expected time" },
		      { PLACEMENT_HEDGED, "hedged" } };
	AUTO_FREE char *title =
		xprintf("Figure 12: throughput of each step (%s)", placement_metrics[metric]);
	struct chart chart;

	init_chart(&chart, titan, title, "step", "GB/s");
	chart_axis(&chart, 0, (double)titan->run.count);
	for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++) {
		size_t series = chart_series(&chart, CHART_LINES, lines[k].name);

		for (size_t i = 0; i < titan->run.count; i++)
			chart_point(&chart, series, (double)i + 1,
				    (double)titan->steps.targets /
					    titan->run.seconds[i][lines[k].rule][metric]);
	}
	return save_chart(&chart, directory, name, titan->paper->name, err);
}

static int plot_system(const struct wan *wan, const char *directory, struct err *err)
{
	int r = plot_times(wan, directory, WAN_1G, "figure4", "Figure 4: 1 GB writes",
			   wan->paper->span_s, err);

	if (r >= 0)
		r = plot_tail(wan, directory, err);
	if (r >= 0)
		r = plot_times(wan, directory, WAN_PROBE, "figure5", "Figure 5: 1 MB probes",
			       wan->paper->probe_span_s, err);
	if (r >= 0)
		r = plot_mixture(wan, directory, err);
	if (r >= 0)
		r = plot_accuracies(wan, directory, err);
	for (size_t i = 0; i < WAN_ROCS && r >= 0; i++)
		r = plot_roc(wan, directory, i, err);
	return r;
}

int wan_plots(const struct wan systems[WAN_SYSTEMS], const char *directory, struct err *err)
{
	const struct wan *titan = &systems[WAN_TITAN];
	int r = 0;

	for (size_t k = 0; k < WAN_SYSTEMS && r >= 0; k++)
		r = plot_system(&systems[k], directory, err);
	if (r >= 0)
		r = plot_split(titan, directory, err);
	if (r >= 0)
		r = plot_days(titan, directory, err);
	if (r >= 0)
		r = plot_run(titan, directory, 0, "figure12", err);
	return r < 0 ? r : plot_run(titan, directory, 2, "figure12-slowest", err);
}
