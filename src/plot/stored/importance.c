/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The importance of parameters in a tuning: the share of the variance of all trials that each
 * explains (tune/loop/importance.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/vector.h"
#include "plot/stored/course.h"
#include "plot/stored/stored.h"
#include "tune/loop/history.h"
#include "tune/loop/importance.h"

#define ROW_HEIGHT 26.0
#define LEFT 200.0
#define RIGHT 250.0

/* The trials of a tuning: distinct points and the median cost of their runs. */
struct trials {
	uint64_t *numbers;
	size_t *points;
	double *costs;
	size_t count, width;
};

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t list_numbers(const struct course *course, uint64_t *numbers)
{
	size_t count = 0, distinct = 0;

	for (size_t i = 0; i < course->count; i++)
		if (course->runs[i].point != HISTORY_NO_POINT)
			numbers[count++] = course->runs[i].point;
	qsort(numbers, count, sizeof(*numbers), compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[distinct++] = numbers[i];
	return distinct;
}

/* INFINITY if no run of the point is good. */
static double point_cost(const struct course *course, uint64_t number, double *scratch)
{
	size_t count = 0;

	for (size_t i = 0; i < course->count; i++)
		if (course->runs[i].point == number && course->runs[i].cost > 0 &&
		    isfinite(course->runs[i].cost))
			scratch[count++] = course->runs[i].cost;
	return count ? vector_median(scratch, count) : INFINITY;
}

static void gather_trials(struct trials *trials, const struct course *course)
{
	const struct space *space = &course->plan.space;
	AUTO_FREE double *scratch = xcalloc(course->count + 1, sizeof(*scratch));

	trials->width = space->count;
	trials->numbers = xcalloc(course->count + 1, sizeof(*trials->numbers));
	trials->count = list_numbers(course, trials->numbers);
	trials->points = xcalloc((trials->count + 1) * (space->count + 1), sizeof(*trials->points));
	trials->costs = xcalloc(trials->count + 1, sizeof(*trials->costs));
	for (size_t i = 0; i < trials->count; i++) {
		space_point(space, trials->numbers[i], trials->points + i * space->count);
		space_settle(space, trials->points + i * space->count);
		trials->costs[i] = point_cost(course, trials->numbers[i], scratch);
	}
}

static void release_trials(struct trials *trials)
{
	free(trials->numbers);
	free(trials->points);
	free(trials->costs);
}

static void put_bar(struct panel *panel, size_t row, unsigned color, double share, const char *name,
		    const char *remark)
{
	panel_rect(panel, style_fill(color), 0, fmax(share, 0), (double)row + 0.18,
		   (double)row + 0.82, NULL);
	panel_row_name(panel, (double)row + 0.5, name);
	panel_right_name(panel, (double)row + 0.5, remark);
}

static int compare_shares(const void *a, const void *b, void *arg)
{
	const struct importance *importance = arg;
	double x = importance->parts[*(const size_t *)a].share;
	double y = importance->parts[*(const size_t *)b].share;

	return (x < y) - (x > y);
}

static void put_dimension(struct plot *plot, struct panel *panel, const struct space *space,
			  const struct importance *importance, size_t dimension, size_t row)
{
	const struct space_dimension *d = &space->dimensions[dimension];
	const struct importance_part *part = &importance->parts[dimension];
	const char *best = d->values[part->best] ? d->values[part->best] : "unset";
	AUTO_FREE char *remark =
		xprintf("%.0f %%; best %s; worst × %.2f", 100 * part->share, best, part->factor);

	put_bar(panel, row, 0, part->share, d->tunable->name, remark);
	buf_put_csv_cell(&plot->csv, d->tunable->name);
	buf_printf(&plot->csv, ",%.6g,", part->share);
	buf_put_csv_cell(&plot->csv, best);
	buf_printf(&plot->csv, ",%.6g\n", part->factor);
}

static void put_shares(struct plot *plot, const struct space *space,
		       const struct importance *importance)
{
	AUTO_FREE size_t *order = xcalloc(importance->count + 1, sizeof(*order));
	AUTO_FREE char *together = xprintf("%.0f %%", 100 * importance->together);
	AUTO_FREE char *unexplained = xprintf("%.0f %%", 100 * importance->unexplained);
	size_t count = importance->count;
	struct panel_plan plan = { .title = "share of the variance of the trials' costs",
				   .height = ROW_HEIGHT * (double)(count + 2),
				   .no_y = true,
				   .y_down = true,
				   .left = LEFT,
				   .right = RIGHT };
	struct panel panel;
	double most = fmax(importance->together, importance->unexplained);

	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		most = fmax(most, importance->parts[i].share);
	}
	qsort_r(order, count, sizeof(*order), compare_shares, (void *)importance);
	scale_init(&plan.x, SCALE_SHARE, 0, most);
	scale_round(&plan.x, 5);
	scale_init(&plan.y, SCALE_NUMBER, 0, (double)(count + 2));
	figure_panel(&plot->figure, &panel, &plan);
	buf_puts(&plot->csv, "parameter,share,best,factor\n");
	for (size_t i = 0; i < count; i++)
		put_dimension(plot, &panel, space, importance, order[i], i);
	put_bar(&panel, count, 2, importance->together, "(combinations)", together);
	put_bar(&panel, count + 1, 6, importance->unexplained, "(noise)", unexplained);
	buf_printf(&plot->csv, "(combinations),%.6g,,\n(noise),%.6g,,\n", importance->together,
		   importance->unexplained);
}

static int draw_course(const struct course *course, struct plot *plot, struct err *err)
{
	struct importance importance = { 0 };
	struct trials trials = { 0 };
	int r;

	if (!course->plan.space.count)
		return err_set(err, ENODATA, "the search space of tuning %lld cannot be read",
			       (long long)course->id);
	gather_trials(&trials, course);
	r = importance_init(&importance, &course->plan.space, trials.points, trials.costs,
			    trials.count, err);
	if (r >= 0) {
		course_start(course, &plot_importance,
			     "A bar per parameter: the share of the variance of the costs of all "
			     "trials that it explains alone.",
			     plot);
		put_shares(plot, &course->plan.space, &importance);
		figure_text(&plot->figure, "%zu trials; costs are medians over repeated runs.",
			    trials.count);
	}
	importance_release(&importance);
	release_trials(&trials);
	return r;
}

static int draw_importance(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct course course;
	int r = course_open(&course, source, err);

	if (r >= 0)
		r = draw_course(&course, plot, err);
	course_release(&course);
	return r;
}

const struct plot_kind plot_importance = {
	.name = "importance",
	.title = "Importance of parameters",
	.help = "share of the variance of a tuning's trials that each parameter explains",
	.subject = PLOT_TUNING,
	.draw = draw_importance,
};
