/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The probe data that a request asks for: a system of the user's store, and a window of time. The
 * window is limited so that an answer reads at most PROBE_VIEW_SAMPLES. Callers hold the lock of
 * struct web_call, heavy.
 */
#ifndef SLUICE_WEB_PROBE_VIEW_H
#define SLUICE_WEB_PROBE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/service/forecast_data.h"

struct json;
struct web_call;

#define PROBE_VIEW_SAMPLES 4000000 /* 13 to 26 bytes each */

struct probe_view_system {
	char name[CHRONICLE_NAME];
	uint64_t targets, rows;
	double from_s, to_s;
};

struct probe_view {
	struct probe_view_system *systems;
	size_t system_count, system_cap;
	const struct probe_view_system *system; /* the chosen one; NULL: there is no probe data */
	struct forecast_data data;		/* of the window and what comes before it */
	double from_s, to_s;			/* the window, seconds since 1970 */
	double now_s;
	char *problem; /* why there is no probe data, and what to do; NULL: there is some */
};

/*
 * Opens the data of the parameters `system`, `from_ns` and `to_ns`. Without them: the system of the
 * settings, or else the one that was probed last, and its last span_s seconds. before_s: seconds
 * before the window that are loaded as well. Returns false if the request was answered; otherwise
 * the caller closes the view.
 */
bool probe_view_open(struct web_call *call, double span_s, double before_s,
		     struct probe_view *view);
void probe_view_close(struct probe_view *view);

/* Writes seconds since 1970 as nanoseconds, in which the API counts times; null: not finite. */
void probe_view_put_time(struct json *json, const char *key, double time_s);

/* Writes what all answers about probe data have: system, systems, window, problem. */
void probe_view_put(struct json *json, const struct probe_view *view);

#endif
