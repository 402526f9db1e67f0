/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/stored/course.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "learn/math/vector.h"
#include "store/studies.h"
#include "tune/loop/history.h"

static int keep_study(void *arg, const struct study *study)
{
	struct course *course = arg;
	struct tuning_plan plan = { 0 };

	free(course->command);
	course->id = study->id;
	course->command = xstrdup(study->command);
	course->gain = study->gain;
	course->gain_low = study->gain_low;
	course->gain_high = study->gain_high;
	tuning_plan_release(&course->plan);
	/* Runs are drawn even if this version cannot read the plan. */
	if (tuning_plan_read(&plan, study->plan, NULL) < 0)
		plan = (struct tuning_plan){ 0 };
	course->plan = plan;
	return 0;
}

static int keep_run(void *arg, const struct study_run *run)
{
	struct course *course = arg;

	course->runs = xgrow(course->runs, &course->cap, course->count + 1, sizeof(*course->runs));
	course->runs[course->count++] = (struct course_run){ .number = run->number,
							     .phase = xstrdup(run->phase),
							     .state = xstrdup(run->state),
							     .point = run->point,
							     .cost = run->cost };
	return 0;
}

static int read_course(struct course *course, struct store *store, const char *name,
		       struct err *err)
{
	uint64_t id;
	int r;

	if (name && (unit_parse_count(name, &id) < 0 || id > INT64_MAX))
		return err_set(err, EINVAL,
			       "\"%s\" is not the number of a tuning; 'sluice kb tunings' lists "
			       "them",
			       name);
	r = name ? study_get(store, (int64_t)id, keep_study, course, err)
		 : study_list(store, keep_study, course, err);
	if (r >= 0 && !course->command)
		return err_set(err, ENODATA,
			       "no tuning yet; start one with 'sluice tune -- COMMAND'");
	return r < 0 ? r : study_runs(store, course->id, keep_run, course, err);
}

int course_open(struct course *course, const struct plot_source *source, struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(source->config, SETTING_STORE_PATH), err);

	*course = (struct course){ .gain = NAN };
	if (r == -ENOENT)
		return err_set(err, ENODATA,
			       "no tuning yet; start one with 'sluice tune -- COMMAND'");
	if (r >= 0)
		r = read_course(course, store, source->name, err);
	if (r >= 0 && !course->count)
		r = err_set(err, ENODATA, "tuning %" PRId64 " has no runs yet", course->id);
	store_close(store);
	return r;
}

void course_release(struct course *course)
{
	for (size_t i = 0; i < course->count; i++) {
		free(course->runs[i].phase);
		free(course->runs[i].state);
	}
	free(course->runs);
	free(course->command);
	tuning_plan_release(&course->plan);
	*course = (struct course){ 0 };
}

void course_start(const struct course *course, const struct plot_kind *kind, const char *about,
		  struct plot *plot)
{
	figure_init(&plot->figure, kind->title, about);
	figure_text(&plot->figure, "tuning %" PRId64 ": %s", course->id, course->command);
	if (course->plan.on)
		figure_text(&plot->figure, "%zu simulated runs", course->count);
	else if (!isnan(course->gain))
		figure_text(&plot->figure,
			    "%zu runs; confirmed: %.2f times faster (95 %% interval %.2f to %.2f)",
			    course->count, course->gain, course->gain_low, course->gain_high);
	else
		figure_text(&plot->figure, "%zu runs; no gain was confirmed", course->count);
}

double course_seconds(const struct course *course, double cost)
{
	bool per_byte = course->plan.objective == COST_READ || course->plan.objective == COST_WRITE;

	return per_byte ? cost * 0x1p30 : cost;
}

const char *course_cost_title(const struct course *course)
{
	static const char *const titles[COST_KINDS] = { [COST_IO] = "I/O time",
							[COST_RUN] = "run time",
							[COST_READ] = "time per GiB read",
							[COST_WRITE] = "time per GiB written" };

	return titles[course->plan.objective];
}

double course_baseline(const struct course *course)
{
	AUTO_FREE double *costs = xcalloc(course->count + 1, sizeof(*costs));
	size_t count = 0;

	for (size_t i = 0; i < course->count; i++) {
		const struct course_run *run = &course->runs[i];

		if (strcmp(run->phase, history_phase_name(PHASE_DEFAULT)) == 0 && run->cost > 0)
			costs[count++] = run->cost;
	}
	return count ? vector_median(costs, count) : NAN;
}
