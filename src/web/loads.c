/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who loads the storage now: what the nodes of the site report, and the job queue.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "site/anomaly.h"
#include "site/site.h"
#include "web/call.h"
#include "web/handlers.h"
#include "web/probe_view.h"

#define QUEUE_S 3600.0 /* the job queue is asked every few minutes */
#define LOADS_MAX 100
#define JOBS_MAX 200

static int put_load(void *arg, const struct load *load)
{
	struct json *json = arg;

	json_open(json, NULL, '{');
	json_text(json, "user", load->owner);
	json_text(json, "job", load->job);
	json_double(json, "bytes_read", load->bytes_read);
	json_double(json, "bytes_written", load->bytes_written);
	json_double(json, "operations", load->operations);
	json_double(json, "byte_share", load->byte_share);
	json_double(json, "operation_share", load->operation_share);
	json_close(json);
	return 0;
}

/* The load that the nodes of the site report; the rows of this user, or of all for operators. */
static void put_loads(struct web_call *call, struct json *json)
{
	const char *database = config_text(call->config, SETTING_SITE_DATABASE);
	struct site_db *site = NULL;
	struct err err = { 0 };
	int r = *database ? site_open_existing(&site, database, &err) : 0;

	json_open(json, "loads", '[');
	if (site)
		r = load_rank(site, (int64_t)time(NULL) * NS_PER_S, call_text(call, "target", NULL),
			      LOADS_MAX, put_load, json, &err);
	json_close(json);
	json_bool(json, "has_site", *database);
	json_text(json, "loads_problem", r < 0 ? err.text : NULL);
	site_close(site);
}

static void put_job(struct json *json, const struct job *job)
{
	json_open(json, NULL, '{');
	json_text(json, "job", job->id);
	json_text(json, "name", job->name);
	json_text(json, "owner", job->owner);
	json_text(json, "queue", job->queue);
	json_double(json, "nodes", job->nodes);
	json_double(json, "memory_bytes", job->memory_bytes);
	json_double(json, "used_s", job->used_s);
	json_double(json, "allocated_s", job->allocated_s);
	json_close(json);
}

static int compare_jobs(const void *a, const void *b)
{
	const struct job *x = *(const struct job *const *)a, *y = *(const struct job *const *)b;
	double m = isnan(x->nodes) ? 0 : x->nodes, n = isnan(y->nodes) ? 0 : y->nodes;

	return m != n ? (m < n) - (m > n) : strcmp(x->id, y->id);
}

/* The last snapshot of the job queue, those with the most nodes first. */
static void put_jobs(struct json *json, const struct probe_view *view)
{
	const struct chronicle *rows = forecast_data_rows(&view->data);
	const struct jobs *jobs =
		rows->snapshot_count ? &rows->snapshots[rows->snapshot_count - 1] : NULL;
	size_t count = jobs ? jobs->count : 0;
	AUTO_FREE const struct job **order = xcalloc(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = &jobs->rows[i];
	qsort(order, count, sizeof(*order), compare_jobs);
	probe_view_put_time(json, "jobs_ns", jobs ? jobs->time_s : NAN);
	json_count(json, "job_count", count);
	json_open(json, "jobs", '[');
	for (size_t i = 0; i < count && i < JOBS_MAX; i++)
		put_job(json, order[i]);
	json_close(json);
}

/* The database of the site may be far away, so nobody waits for it. */
void handle_load(struct web_call *call)
{
	struct probe_view view;
	struct reply reply;
	bool is_open;

	pthread_mutex_lock(call->heavy);
	is_open = probe_view_open(call, QUEUE_S, 0, &view);
	if (is_open) {
		reply_start(&reply, "sluice.load/1");
		json_text(&reply.json, "system", view.system ? view.system->name : NULL);
		put_jobs(&reply.json, &view);
		probe_view_close(&view);
	}
	pthread_mutex_unlock(call->heavy);
	if (!is_open)
		return;
	put_loads(call, &reply.json);
	reply_end(&reply, call);
}
