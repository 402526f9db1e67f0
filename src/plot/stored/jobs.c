/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs in the snapshots of probe data: histograms of nodes, memory and run time.
 * Papers: WAN-15.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "learn/math/vector.h"
#include "plot/stored/histogram.h"
#include "plot/stored/probe_source.h"
#include "plot/stored/stored.h"
#include "predict/forecast/states/description.h"

#define HEIGHT 150.0

/* Draws the values above 0; reorders them. */
static void put_quantity(struct plot *plot, const char *name, const char *unit_title,
			 enum scale_unit unit, double *values, size_t count)
{
	struct panel_plan plan = { .title = name, .height = HEIGHT, .x_title = unit_title };
	double shares[HISTOGRAM_BINS];
	struct panel panel;
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > 0)
			values[known++] = values[i];
	if (!known)
		return;
	vector_sort(values, known);
	scale_init_logarithmic(&plan.x, unit, values[0] / 1.05, values[known - 1] * 1.05);
	histogram_panel(&plot->figure, &panel, &plan, values, known, shares);
	for (size_t i = 0; i < HISTOGRAM_BINS; i++)
		buf_printf(&plot->csv, "%s,%.9g,%.9g,%.9g\n", name,
			   histogram_edge(&plan.x, (double)i / HISTOGRAM_BINS),
			   histogram_edge(&plan.x, (double)(i + 1) / HISTOGRAM_BINS), shares[i]);
}

static int draw_jobs(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct description_jobs jobs = { 0 };
	struct forecast_data data = { 0 };
	int r = probe_source_open(&data, source, -INFINITY, err);

	if (r >= 0) {
		description_jobs_init(&jobs, forecast_data_rows(&data));
		if (!jobs.count)
			r = err_set(err, ENODATA,
				    "no jobs; 'sluice forecast probe' records those that the "
				    "scheduler lists");
	}
	if (r >= 0) {
		probe_source_start(&data, &plot_jobs,
				   "Histograms of the nodes, the memory and the run time of jobs.",
				   plot);
		figure_text(&plot->figure, "%zu jobs, each as in the last snapshot that has it",
			    jobs.count);
		buf_puts(&plot->csv, "quantity,from,to,share\n");
		put_quantity(plot, "nodes", "nodes of a job", SCALE_NUMBER, jobs.nodes, jobs.count);
		put_quantity(plot, "memory", "memory of a job", SCALE_BYTES, jobs.memory_bytes,
			     jobs.count);
		put_quantity(plot, "run time", "run time of a job", SCALE_SECONDS, jobs.seconds,
			     jobs.count);
	}
	description_jobs_release(&jobs);
	forecast_data_close(&data);
	return r;
}

const struct plot_kind plot_jobs = {
	.name = "jobs",
	.title = "Jobs beside the probes",
	.help = "histograms of the nodes, memory and run time of recorded jobs",
	.subject = PLOT_PROBES,
	.draw = draw_jobs,
};
