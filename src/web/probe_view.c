/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/probe_view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/probes.h"
#include "web/call.h"

#define TIME_MAX_NS (INT64_C(1) << 62)
#define NO_DATA                                                                       \
	"no probe data yet: collect it with 'sluice forecast probe' or load it with " \
	"'sluice forecast import'"
/* A window is chosen for this many samples, so that uneven data fits as well. */
#define WANTED_SAMPLES (PROBE_VIEW_SAMPLES / 2.0)

static int keep_system(void *arg, const struct probe_system *found)
{
	struct probe_view *view = arg;
	struct probe_view_system *system;

	if (isnan(found->from_s) || isnan(found->to_s))
		return 0;
	view->systems = xgrow(view->systems, &view->system_cap, view->system_count + 1,
			      sizeof(*view->systems));
	system = &view->systems[view->system_count++];
	*system = (struct probe_view_system){ .targets = found->targets,
					      .rows = found->rows,
					      .from_s = found->from_s,
					      .to_s = found->to_s };
	snprintf(system->name, sizeof(system->name), "%s", found->name);
	return 0;
}

static int list_systems(const struct web_call *call, struct probe_view *view, struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(call->config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = probes_systems(store, keep_system, view, err);
	store_close(store);
	return r;
}

static const struct probe_view_system *find_system(const struct probe_view *view, const char *name)
{
	for (size_t i = 0; i < view->system_count; i++)
		if (strcmp(view->systems[i].name, name) == 0)
			return &view->systems[i];
	return NULL;
}

static void choose_system(const struct web_call *call, struct probe_view *view)
{
	AUTO_FREE char *own = forecast_system_name(config_text(call->config, SETTING_PROBE_SYSTEM));

	view->system = find_system(view, own);
	if (view->system)
		return;
	view->system = &view->systems[0];
	for (size_t i = 1; i < view->system_count; i++)
		if (view->systems[i].to_s > view->system->to_s)
			view->system = &view->systems[i];
}

static int64_t to_ns(double seconds)
{
	return (int64_t)(fmin(fmax(seconds, 0), (double)TIME_MAX_NS / NS_PER_S) * NS_PER_S);
}

/* Sets the window; without parameters the last span_s, or less if there are many samples. */
static bool choose_window(struct web_call *call, double span_s, struct probe_view *view)
{
	const struct probe_view_system *system = view->system;
	double length = fmax(system->to_s - system->from_s, 1);
	int64_t from, to;

	span_s = fmin(span_s, fmax(60, WANTED_SAMPLES * length / fmax((double)system->rows, 1)));
	if (!call_number(call, "to_ns", 0, TIME_MAX_NS, to_ns(ceil(system->to_s)), &to) ||
	    !call_number(call, "from_ns", 0, TIME_MAX_NS,
			 to_ns(floor(fmax(system->from_s, (double)to / NS_PER_S - span_s))), &from))
		return false;
	if (from > to - NS_PER_S)
		from = to - NS_PER_S;
	view->from_s = (double)from / NS_PER_S;
	view->to_s = (double)to / NS_PER_S;
	return true;
}

static bool load_window(struct web_call *call, double before_s, struct probe_view *view)
{
	struct forecast_query query;
	struct err err = { 0 };
	int r;

	forecast_query_init(&query, call->config);
	query.system = view->system->name;
	query.is_default_system = false;
	query.from_s = view->from_s - before_s;
	query.to_s = nextafter(view->to_s, INFINITY);
	query.most_samples = PROBE_VIEW_SAMPLES;
	r = forecast_data_open(&view->data, &query, &err);
	if (r >= 0)
		return true;
	call_fail(call, r == -E2BIG ? 400 : 500, "%s", err.text);
	return false;
}

static bool open_view(struct web_call *call, double span_s, double before_s,
		      struct probe_view *view)
{
	const char *name = call_text(call, "system", NULL);
	struct err err = { 0 };

	if (list_systems(call, view, &err) < 0) {
		call_fail(call, 500, "%s", err.text);
		return false;
	}
	if (!view->system_count) {
		view->problem = xstrdup(NO_DATA);
		return true;
	}
	choose_system(call, view);
	if (name)
		view->system = find_system(view, name);
	if (!view->system) {
		call_fail(call, 404,
			  "no probe data of system \"%s\"; 'sluice forecast systems' "
			  "lists those of the store",
			  name);
		return false;
	}
	return choose_window(call, span_s, view) && load_window(call, before_s, view);
}

bool probe_view_open(struct web_call *call, double span_s, double before_s, struct probe_view *view)
{
	*view = (struct probe_view){ .now_s = (double)time(NULL) };
	if (open_view(call, span_s, before_s, view))
		return true;
	probe_view_close(view);
	return false;
}

void probe_view_close(struct probe_view *view)
{
	forecast_data_close(&view->data);
	free(view->systems);
	free(view->problem);
	*view = (struct probe_view){ 0 };
}

void probe_view_put_time(struct json *json, const char *key, double time_s)
{
	if (isfinite(time_s))
		json_number(json, key, to_ns(time_s));
	else
		json_text(json, key, NULL);
}

static void put_system(struct json *json, const struct probe_view_system *system)
{
	json_open(json, NULL, '{');
	json_text(json, "name", system->name);
	json_bool(json, "modelled", forecast_is_modelled(system->name));
	json_count(json, "targets", system->targets);
	json_count(json, "samples", system->rows);
	probe_view_put_time(json, "first_ns", system->from_s);
	probe_view_put_time(json, "last_ns", system->to_s);
	json_close(json);
}

void probe_view_put(struct json *json, const struct probe_view *view)
{
	json_text(json, "problem", view->problem);
	json_text(json, "system", view->system ? view->system->name : NULL);
	json_bool(json, "modelled", view->system && forecast_is_modelled(view->system->name));
	json_open(json, "systems", '[');
	for (size_t i = 0; i < view->system_count; i++)
		put_system(json, &view->systems[i]);
	json_close(json);
	probe_view_put_time(json, "now_ns", view->now_s);
	probe_view_put_time(json, "first_ns", view->system ? view->system->from_s : NAN);
	probe_view_put_time(json, "last_ns", view->system ? view->system->to_s : NAN);
	probe_view_put_time(json, "from_ns", view->system ? view->from_s : NAN);
	probe_view_put_time(json, "to_ns", view->system ? view->to_s : NAN);
}
