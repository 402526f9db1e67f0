/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The history of a tuning: the cost of each run in order, the best so far, and the baseline.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "plot/stored/course.h"
#include "plot/stored/stored.h"
#include "tune/loop/history.h"

#define HEIGHT 320.0
#define RIGHT 90.0
#define FAILED_COLOR 3

static const struct {
	enum history_phase phase;
	const char *name;
	unsigned color;
} phases[] = {
	{ PHASE_DEFAULT, "baseline", 6 },   { PHASE_DRIFT, "baseline again", 6 },
	{ PHASE_SEARCH, "search", 0 },	    { PHASE_SIMPLIFY, "simplification", 5 },
	{ PHASE_PROOF, "confirmation", 2 }, { PHASE_UNRECORDED, "without recording", 1 },
	{ PHASE_PARTIAL, "ablation", 4 },
};
enum { PHASE_ROWS = sizeof(phases) / sizeof(*phases) };

static bool is_of_phase(const struct course_run *run, int row)
{
	return strcmp(run->phase, history_phase_name(phases[row].phase)) == 0;
}

static void put_keys(const struct course *course, struct plot *plot)
{
	struct figure_key keys[PHASE_ROWS + 2];
	size_t count = 0;
	bool failed = false;

	for (int row = 0; row < PHASE_ROWS; row++)
		for (size_t i = 0; i < course->count; i++)
			if (phases[row].phase != PHASE_DRIFT &&
			    is_of_phase(&course->runs[i], row)) {
				keys[count++] = (struct figure_key){ phases[row].color,
								     phases[row].name, false };
				break;
			}
	for (size_t i = 0; i < course->count; i++)
		failed = failed || isnan(course->runs[i].cost);
	if (failed)
		keys[count++] =
			(struct figure_key){ FAILED_COLOR, "failed or aborted (top)", false };
	keys[count++] = (struct figure_key){ 7, "best so far", true };
	figure_legend(&plot->figure, keys, count);
}

static void find_range(const struct course *course, double *low, double *high)
{
	*low = INFINITY;
	*high = 0;
	for (size_t i = 0; i < course->count; i++) {
		double seconds = course_seconds(course, course->runs[i].cost);

		if (seconds > 0 && isfinite(seconds)) {
			*low = fmin(*low, seconds);
			*high = fmax(*high, seconds);
		}
	}
}

/* A dot per run; failed runs are at the upper edge. */
static void put_runs(const struct course *course, struct panel *panel)
{
	AUTO_FREE double *x = xcalloc(course->count + 1, sizeof(*x));
	AUTO_FREE double *y = xcalloc(course->count + 1, sizeof(*y));

	for (int row = -1; row < PHASE_ROWS; row++) {
		size_t count = 0;

		for (size_t i = 0; i < course->count; i++) {
			const struct course_run *run = &course->runs[i];
			bool has_failed = !isfinite(run->cost);

			if (row < 0 ? !has_failed : has_failed || !is_of_phase(run, row))
				continue;
			x[count] = (double)run->number;
			y[count++] = has_failed ? panel->y.high : course_seconds(course, run->cost);
		}
		panel_dots(panel, row < 0 ? FAILED_COLOR : phases[row].color, "big", x, y, count);
	}
}

/* The best of the baseline and the search; later runs only confirm it. */
static void put_best(const struct course *course, struct panel *panel)
{
	AUTO_FREE double *x = xcalloc(2 * course->count + 1, sizeof(*x));
	AUTO_FREE double *y = xcalloc(2 * course->count + 1, sizeof(*y));
	double best = NAN;
	size_t count = 0;

	for (size_t i = 0; i < course->count; i++) {
		const struct course_run *run = &course->runs[i];

		if (!is_of_phase(run, 0) && !is_of_phase(run, 1) && !is_of_phase(run, 2))
			continue;
		if (count) {
			x[count] = (double)run->number;
			y[count++] = best;
		}
		best = isnan(best) ? course_seconds(course, run->cost)
				   : fmin(best, course_seconds(course, run->cost));
		x[count] = (double)run->number;
		y[count++] = best;
	}
	panel_line(panel, 7, "thin", x, y, count);
}

static void put_rows(const struct course *course, struct plot *plot)
{
	buf_puts(&plot->csv, "run,phase,state,point,cost\n");
	for (size_t i = 0; i < course->count; i++) {
		const struct course_run *run = &course->runs[i];

		buf_printf(&plot->csv, "%" PRId64 ",%s,%s,", run->number, run->phase, run->state);
		if (run->point != HISTORY_NO_POINT)
			buf_printf(&plot->csv, "%" PRIu64, run->point);
		if (isfinite(run->cost))
			buf_printf(&plot->csv, ",%.9g\n", run->cost);
		else
			buf_puts(&plot->csv, ",\n");
	}
}

static void put_history(const struct course *course, struct plot *plot)
{
	struct panel_plan plan = { .title = course_cost_title(course),
				   .height = HEIGHT,
				   .x_title = "run",
				   .right = RIGHT };
	double low, high;
	struct panel panel;

	find_range(course, &low, &high);
	scale_init(&plan.x, SCALE_COUNT, 0, (double)course->runs[course->count - 1].number + 1);
	scale_init_logarithmic(&plan.y, SCALE_SECONDS, low / 1.1, high * 1.15);
	figure_panel(&plot->figure, &panel, &plan);
	panel_level(&panel, course_seconds(course, course_baseline(course)), "baseline");
	put_best(course, &panel);
	put_runs(course, &panel);
}

static int draw_tuning(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct course course;
	int r = course_open(&course, source, err);

	if (r >= 0) {
		course_start(&course, &plot_tuning,
			     "The cost of each run of a tuning in order, colored by phase, with "
			     "the best cost so far and the baseline.",
			     plot);
		put_keys(&course, plot);
		put_history(&course, plot);
		put_rows(&course, plot);
	}
	course_release(&course);
	return r;
}

const struct plot_kind plot_tuning = {
	.name = "tuning",
	.title = "History of a tuning",
	.help = "cost of each run of a tuning, and the best so far",
	.subject = PLOT_TUNING,
	.draw = draw_tuning,
};
