/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "tune/loop/history.h"
#include "tune/program/launch.h"
#include "web/call.h"

#define LOG_LINES 40

void web_study_init(struct web_study *study, const struct config *config,
		    const struct study *stored)
{
	*study = (struct web_study){ .study = *stored };
	study->study.command = xstrdup(stored->command);
	study->study.plan = xstrdup(stored->plan);
	study->study.digest = xstrdup(stored->digest);
	study->study.state = xstrdup(stored->state);
	study->study.conditions = xstrdup(stored->conditions);
	study->has_plan = tuning_plan_read(&study->plan, stored->plan, NULL) >= 0;
	tuning_status_read(&study->status, config, stored);
}

void web_study_release(struct web_study *study)
{
	free((char *)(uintptr_t)study->study.command);
	free((char *)(uintptr_t)study->study.plan);
	free((char *)(uintptr_t)study->study.digest);
	free((char *)(uintptr_t)study->study.state);
	free((char *)(uintptr_t)study->study.conditions);
	tuning_plan_release(&study->plan);
	*study = (struct web_study){ 0 };
}

const char *web_study_program(const struct web_study *study, unsigned *ranks)
{
	const struct tuning_plan *plan = &study->plan;
	struct launch launch;

	*ranks = (unsigned)plan->on_ranks;
	if (!plan->argv)
		return plan->kernel ? plan->kernel : study->study.command;
	launch_parse(&launch, plan->argv);
	*ranks = launch.ranks;
	return launch.name ? launch.name : study->study.command;
}

struct found_study {
	struct web_study *study;
	const struct config *config;
};

static int keep_study(void *arg, const struct study *stored)
{
	struct found_study *found = arg;

	web_study_init(found->study, found->config, stored);
	return 1;
}

int web_study_read(struct web_study *study, const struct config *config, struct store *store,
		   int64_t id, struct err *err)
{
	struct found_study found = { study, config };

	return study_get(store, id, keep_study, &found, err);
}

bool open_named_study(struct web_call *call, struct store **store, struct web_study *study)
{
	const char *path = config_text(call->config, SETTING_STORE_PATH);
	struct err err = { 0 };
	uint64_t id;
	int r;

	if (unit_parse_count(call->words[0], &id) < 0 || !id || id > INT64_MAX) {
		call_fail(call, 404, "\"%s\" is not the id of a tuning", call->words[0]);
		return false;
	}
	r = store_open_existing(store, path, &err);
	if (r == -ENOENT)
		r = err_set(&err, ENOENT, "unknown tuning %s; there is none yet", call->words[0]);
	else if (r >= 0)
		r = web_study_read(study, call->config, *store, (int64_t)id, &err);
	if (r >= 0)
		return true;
	store_close(*store);
	call_fail(call, r == -ENOENT ? 404 : 500, "%s", err.text);
	return false;
}

/* --- JSON --- */

/* The point of a run without parameters; false if the space has none that sets nothing. */
static bool default_point(const struct space *space, size_t *point)
{
	struct param_set set = { 0 };
	bool is_nothing;

	space_default(space, point);
	space_settle(space, point);
	space_set(space, point, &set);
	is_nothing = !set.count;
	param_set_release(&set);
	return is_nothing;
}

static bool sets_nothing(const char *parameters, struct buf *line)
{
	struct param_set set = { 0 };
	bool is_nothing = false;

	if (param_set_read_text(&set, "run", parameters, strlen(parameters), NULL, NULL, NULL) <
	    0) {
		buf_puts(line, parameters);
	} else {
		is_nothing = !set.count;
		param_set_line(&set, line);
	}
	param_set_release(&set);
	return is_nothing;
}

/* The index of the value of each dimension; null: the dimension has no effect at this point. */
static void put_values(struct json *json, const struct space *space, const struct study_run *run,
		       bool is_baseline)
{
	size_t point[SPACE_DIMENSIONS] = { 0 };
	uint64_t points = space_points(space);
	bool is_known = is_baseline;

	if (is_baseline) {
		is_known = default_point(space, point);
	} else if (run->point != HISTORY_NO_POINT && (!points || run->point < points)) {
		space_point(space, run->point, point);
		space_settle(space, point);
		is_known = true;
	}
	if (!is_known || !space->count) {
		json_text(json, "values", NULL);
		return;
	}
	json_open(json, "values", '[');
	for (size_t i = 0; i < space->count; i++) {
		if (space_is_active(space, point, i))
			json_count(json, NULL, point[i]);
		else
			json_text(json, NULL, NULL);
	}
	json_close(json);
}

void put_study_run(struct json *json, const struct web_study *study, const struct study_run *run)
{
	AUTO_BUF struct buf line = { 0 };
	bool is_baseline = sets_nothing(run->parameters, &line);

	json_open(json, NULL, '{');
	json_number(json, "number", run->number);
	json_text(json, "phase", run->phase);
	json_text(json, "state", run->state);
	json_bool(json, "baseline", is_baseline);
	json_double(json, "cost", run->cost);
	json_double(json, "run_s", run->run_s);
	json_double(json, "io_s", run->io_s);
	json_double(json, "read_bytes", run->read_bytes);
	json_double(json, "write_bytes", run->write_bytes);
	json_double(json, "foreign", run->foreign);
	json_text(json, "parameters", buf_text(&line));
	put_values(json, &study->plan.space, run, is_baseline);
	json_text(json, "effective", *run->effective ? run->effective : NULL);
	json_text(json, "compared", *run->compared ? run->compared : NULL);
	json_text(json, "reason", *run->reason ? run->reason : NULL);
	json_number(json, "begun_ns", run->begun_ns);
	json_close(json);
}

void put_study_status(struct json *json, const struct config *config, const struct web_study *study)
{
	const struct tuning_status *status = &study->status;
	bool is_running = status->state == TUNING_RUNNING;
	AUTO_FREE char *path = tuning_log_path(config, study->study.id);
	AUTO_FREE char *log = child_last_lines(path, LOG_LINES);

	json_text(json, "state", tuning_state_name(status->state));
	json_open(json, "process", '{');
	json_text(json, "host", is_running ? status->host : NULL);
	if (is_running)
		json_number(json, "pid", status->pid);
	else
		json_text(json, "pid", NULL);
	json_close(json);
	json_bool(json, "can_stop", is_running && status->is_here);
	json_bool(json, "can_resume", status->state == TUNING_INTERRUPTED);
	json_text(json, "log", *log ? log : NULL);
}
