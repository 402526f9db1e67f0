/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The health of a node: its statistics during a run with the anomalies that were found, what is
 * usual on it, and its load as the prober has seen it.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/stats/window.h"
#include "observe/window/window.h"
#include "site/anomaly.h"
#include "site/site.h"
#include "store/durations.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/open.h"
#include "web/probe_view.h"
#include "web/run_cache.h"

#define BINS_DEFAULT 300
#define BINS_MAX 2000
#define STATISTICS_MAX 500
#define ANOMALIES_MAX 500
#define GRADES_MAX 500
#define EXPECTED_MAX 1000
#define DAY_S 86400.0

/* --- statistics of a run --- */

struct run_window {
	int64_t from_ns, to_ns, end_ns;
	size_t bins;
	const char *host; /* whose statistics are shown; "": the run has none */
};

/* A run whose trace is incomplete has no length; its samples have. */
static int64_t run_length(const struct trace_head *head)
{
	int64_t end = head->end.duration_ns;

	for (size_t i = 0; i < head->sample_count; i++)
		if (head->samples[i].time_ns > end)
			end = head->samples[i].time_ns;
	return end > 0 ? end : 1;
}

static bool read_window(struct web_call *call, const struct trace_head *head, struct run_window *w)
{
	const char *host = call_text(call, "host", NULL);
	int64_t bins;

	w->end_ns = run_length(head);
	if (!call_number(call, "bins", 1, BINS_MAX, BINS_DEFAULT, &bins) ||
	    !call_number(call, "from_ns", 0, INT64_MAX / 2, 0, &w->from_ns) ||
	    !call_number(call, "to_ns", 0, INT64_MAX / 2, w->end_ns, &w->to_ns))
		return false;
	if (w->to_ns > w->end_ns)
		w->to_ns = w->end_ns;
	if (w->from_ns >= w->to_ns)
		w->from_ns = w->to_ns - 1;
	w->bins = (size_t)bins;
	w->host = head->statistic_count ? text_or_empty(head->statistics[0].host) : "";
	if (host)
		w->host = host;
	return true;
}

static void put_hosts(struct json *json, const struct trace_head *head)
{
	json_open(json, "hosts", '[');
	for (size_t i = 0; i < head->statistic_count; i++) {
		const char *host = text_or_empty(head->statistics[i].host);
		bool is_new = true;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = strcmp(text_or_empty(head->statistics[k].host), host) != 0;
		if (is_new)
			json_text(json, NULL, host);
	}
	json_close(json);
}

static void put_statistic(struct json *json, const struct trace_head *head,
			  const struct run_window *w, const struct window_figure *figure)
{
	const struct statistic_info *statistic = figure->statistic;
	AUTO_FREE double *values = xcalloc(w->bins, sizeof(*values));

	window_course(head, statistic->number, w->from_ns, w->to_ns, w->bins, values);
	json_open(json, NULL, '{');
	json_text(json, "name", statistic->name);
	json_text(json, "unit", statistic->unit);
	json_bool(json, "is_rate", strcmp(text_or_empty(statistic->reduction), "sum") == 0);
	json_double(json, "mean", figure->mean);
	json_double(json, "least", figure->minimum);
	json_double(json, "most", figure->maximum);
	json_double(json, "total", figure->total);
	json_open(json, "values", '[');
	for (size_t i = 0; i < w->bins; i++)
		json_double(json, NULL, values[i]);
	json_close(json);
	json_close(json);
}

static void put_statistics(struct json *json, const struct trace_head *head,
			   const struct run_window *w)
{
	AUTO_FREE struct window_figure *figures = window_new(head, w->from_ns, w->to_ns);
	size_t shown = 0;

	json_open(json, "statistics", '[');
	for (size_t i = 0; figures && i < head->statistic_count && shown < STATISTICS_MAX; i++) {
		if (!(figures[i].covered_ns > 0) ||
		    strcmp(text_or_empty(figures[i].statistic->host), w->host) != 0)
			continue;
		put_statistic(json, head, w, &figures[i]);
		shown++;
	}
	json_close(json);
}

static void put_anomalies(struct json *json, const struct trace_head *head)
{
	size_t count = 0;

	json_open(json, "anomalies", '[');
	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];

		if (strcmp(text_or_empty(note->kind), NOTE_ANOMALY) != 0 ||
		    count++ >= ANOMALIES_MAX)
			continue;
		json_open(json, NULL, '{');
		json_number(json, "time_ns", note->time_ns);
		json_number(json, "process", note->process);
		json_text(json, "host", text_or_empty(note->host));
		json_text(json, "source", text_or_empty(note->source));
		json_text(json, "name", text_or_empty(note->name));
		json_text(json, "value", text_or_empty(note->value));
		json_close(json);
	}
	json_close(json);
	json_count(json, "anomaly_count", count);
}

/* --- expected and observed durations of a run --- */

/* What the plug-in "histogram" reports of a call, as "LAYER CALL/FIELD". */
static const struct {
	const char *field, *key;
} grade_fields[] = {
	{ "very slow", "very_slow" }, { "slow", "slow" },
	{ "normal", "normal" },	      { "fast", "fast" },
	{ "very fast", "very_fast" }, { "size class from bytes", "from_bytes" },
	{ "median ns", "median_ns" }, { "very slow above ns", "very_slow_ns" },
};
enum { GRADE_FIELDS = sizeof(grade_fields) / sizeof(grade_fields[0]) };

struct grade {
	const char *host, *group;
	size_t group_length;
	double values[GRADE_FIELDS]; /* NAN: the note is missing */
};

static int find_grade_field(const char *name)
{
	for (int i = 0; i < GRADE_FIELDS; i++)
		if (strcmp(grade_fields[i].field, name) == 0)
			return i;
	return -1;
}

/* The grade of the note's call, which is the last one: the notes of a call follow each other. */
static struct grade *find_grade(struct grade *grades, size_t *count, const struct note *note,
				size_t length)
{
	struct grade *last = *count ? &grades[*count - 1] : NULL;
	const char *host = text_or_empty(note->host);

	if (last && last->group_length == length && strncmp(last->group, note->name, length) == 0 &&
	    strcmp(last->host, host) == 0)
		return last;
	if (*count == GRADES_MAX)
		return NULL;
	last = &grades[(*count)++];
	*last = (struct grade){ .host = host, .group = note->name, .group_length = length };
	for (int i = 0; i < GRADE_FIELDS; i++)
		last->values[i] = NAN;
	return last;
}

static void put_grade(struct json *json, const struct grade *grade)
{
	AUTO_FREE char *call = xstrndup(grade->group, grade->group_length);

	json_open(json, NULL, '{');
	json_text(json, "host", grade->host);
	json_text(json, "call", call);
	for (int i = 0; i < GRADE_FIELDS; i++)
		json_double(json, grade_fields[i].key, grade->values[i]);
	json_close(json);
}

static void put_grades(struct json *json, const struct trace_head *head)
{
	AUTO_FREE struct grade *grades = xcalloc(GRADES_MAX, sizeof(*grades));
	size_t count = 0;

	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];
		const char *slash = note->name ? strrchr(note->name, '/') : NULL;
		int field = slash ? find_grade_field(slash + 1) : -1;
		struct grade *grade;

		if (field < 0 || strcmp(text_or_empty(note->kind), NOTE_REPORT) != 0 ||
		    strcmp(text_or_empty(note->source), "histogram") != 0)
			continue;
		grade = find_grade(grades, &count, note, (size_t)(slash - note->name));
		if (grade)
			grade->values[field] = strtod(text_or_empty(note->value), NULL);
	}
	json_open(json, "grades", '[');
	for (size_t i = 0; i < count; i++)
		put_grade(json, &grades[i]);
	json_close(json);
}

static void answer_statistics(struct web_call *call, const struct trace_head *head)
{
	struct run_window window;
	struct reply reply;

	if (!read_window(call, head, &window))
		return;
	reply_start(&reply, "sluice.statistics/1");
	json_number(&reply.json, "first_ns", 0);
	json_number(&reply.json, "last_ns", window.end_ns);
	json_number(&reply.json, "from_ns", window.from_ns);
	json_number(&reply.json, "to_ns", window.to_ns);
	json_double(&reply.json, "bin_ns",
		    (double)(window.to_ns - window.from_ns) / (double)window.bins);
	json_text(&reply.json, "host", window.host);
	put_hosts(&reply.json, head);
	put_statistics(&reply.json, head, &window);
	put_anomalies(&reply.json, head);
	put_grades(&reply.json, head);
	reply_end(&reply, call);
}

void handle_run_statistics(struct web_call *call)
{
	struct open_run *run = open_named_run(call, call->words[0]);
	struct window_index *index;
	struct err err = { 0 };

	if (!run)
		return;
	index = open_run_index(run, &err);
	if (index)
		answer_statistics(call, window_index_head(index));
	else
		call_fail(call, 500, "%s", err.text);
	run_cache_put(call->cache, run);
}

/* --- the node without a run --- */

static const char *const node_titles[NODE_VALUES] = {
#define X(word, name, help) [word] = help,
	NODE_VALUE_LIST(X)
#undef X
};

static const char *value_unit(int value)
{
	switch (value) {
	case NODE_LOAD:
		return "tasks";
	case NODE_CPU:
	case NODE_IOWAIT:
		return "share";
	default:
		return "bytes";
	}
}

/* The mean of a value per part of the window. */
static void put_node_value(struct json *json, const struct probe_view *view, int value, size_t bins)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	AUTO_FREE double *sums = xcalloc(bins, sizeof(*sums));
	AUTO_FREE size_t *counts = xcalloc(bins, sizeof(*counts));

	for (size_t i = 0; i < rows->node_count; i++) {
		double place = (rows->nodes[i].time_s - view->from_s) / (view->to_s - view->from_s);
		double number = rows->nodes[i].values[value];
		size_t bin;

		if (!(place >= 0 && place <= 1) || isnan(number))
			continue;
		bin = place < 1 ? (size_t)(place * (double)bins) : bins - 1;
		sums[bin] += number;
		counts[bin]++;
	}
	json_open(json, NULL, '{');
	json_text(json, "name", node_value_names[value]);
	json_text(json, "title", node_titles[value]);
	json_text(json, "unit", value_unit(value));
	json_open(json, "values", '[');
	for (size_t i = 0; i < bins; i++)
		json_double(json, NULL, counts[i] ? sums[i] / (double)counts[i] : NAN);
	json_close(json);
	json_close(json);
}

struct expected {
	struct json *json;
	size_t count;
};

static int put_expected(void *arg, const char *host, const char *layer, const char *name,
			unsigned size_class, const struct durations *durations)
{
	struct expected *expected = arg;
	struct json *json = expected->json;

	(void)host;
	if (expected->count++ >= EXPECTED_MAX)
		return 0;
	json_open(json, NULL, '{');
	json_text(json, "layer", layer);
	json_text(json, "call", name);
	json_count(json, "from_bytes", durations_class_bytes(size_class));
	json_count(json, "calls", durations->calls);
	json_number(json, "low_ns", durations_quantile(durations, 0.1));
	json_number(json, "median_ns", durations_quantile(durations, 0.5));
	json_number(json, "high_ns", durations_quantile(durations, 0.9));
	json_number(json, "extreme_ns", durations_quantile(durations, 0.99));
	json_close(json);
	return 0;
}

/* How long calls usually take on the host, by the runs of the user. */
static void put_expectations(struct web_call *call, struct json *json, const char *host)
{
	struct expected expected = { .json = json };
	struct store *store = NULL;
	struct err err = { 0 };
	int r = store_open_existing(&store, config_text(call->config, SETTING_STORE_PATH), &err);

	json_open(json, "expected", '[');
	if (r >= 0)
		r = durations_list(store, host, put_expected, &expected, &err);
	json_close(json);
	json_count(json, "expected_count", expected.count);
	json_text(json, "expected_problem", r < 0 && r != -ENOENT ? err.text : NULL);
	store_close(store);
}

static int put_site_anomaly(void *arg, const struct anomaly *anomaly)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "node", anomaly->node);
	json_text(json, "subject", anomaly->subject);
	json_text(json, "target", anomaly->target);
	json_text(json, "job", anomaly->job);
	json_number(json, "started_ns", anomaly->started_ns);
	json_text(json, "cause", anomaly->cause);
	json_text(json, "detail", anomaly->detail);
	json_double(json, "value", anomaly->value);
	json_close(json);
	return 0;
}

/* Anomalies that last now, as far as the database of the site shows them to the user. */
static void put_site(struct web_call *call, struct json *json)
{
	const char *database = config_text(call->config, SETTING_SITE_DATABASE);
	struct site_db *site = NULL;
	struct err err = { 0 };
	int r = *database ? site_open_existing(&site, database, &err) : 0;

	json_open(json, "anomalies", '[');
	if (site)
		r = anomaly_list(site, put_site_anomaly, json, &err);
	json_close(json);
	json_bool(json, "has_site", *database);
	json_text(json, "site_problem", r < 0 ? err.text : NULL);
	site_close(site);
}

static void put_node(struct json *json, const struct probe_view *view, size_t bins)
{
	probe_view_put(json, view);
	json_double(json, "bin_ns", (view->to_s - view->from_s) * NS_PER_S / (double)bins);
	json_count(json, "samples", forecast_data_rows(&view->data)->node_count);
	json_open(json, "values", '[');
	for (int i = 0; i < NODE_VALUES; i++)
		put_node_value(json, view, i, bins);
	json_close(json);
}

void handle_node(struct web_call *call)
{
	char host[256] = "";
	struct probe_view view;
	struct reply reply;
	int64_t bins;
	bool is_open;

	gethostname(host, sizeof(host) - 1);
	if (!call_number(call, "bins", 1, BINS_MAX, BINS_DEFAULT, &bins))
		return;
	pthread_mutex_lock(call->heavy);
	is_open = probe_view_open(call, DAY_S, 0, &view);
	if (is_open) {
		reply_start(&reply, "sluice.node/1");
		json_text(&reply.json, "host", host);
		put_node(&reply.json, &view, (size_t)bins);
		put_expectations(call, &reply.json, host);
		probe_view_close(&view);
	}
	pthread_mutex_unlock(call->heavy);
	if (!is_open)
		return;
	put_site(call, &reply.json);
	reply_end(&reply, call);
}
