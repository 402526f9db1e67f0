/* SPDX-License-Identifier: BSD-3-Clause
 *
 * squeue --json: an object with an array "jobs". A number is a number or, from Slurm 23.02 on, an
 * object of "set", "infinite" and "number"; a state a word or an array of words. There is no used
 * time: it is computed from when the job was started, and from how long it was suspended.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/text.h"

/* 32 bits of ones less one and less two: Slurm's own for "infinite" and "not set". */
#define SLURM_NO_VALUE 4294967293.0

static double number_of(const json_t *job, const char *key)
{
	const json_t *value = json_object_get(job, key);

	if (json_is_object(value)) {
		if (json_is_true(json_object_get(value, "infinite")) ||
		    json_is_false(json_object_get(value, "set")))
			return NAN;
		value = json_object_get(value, "number");
	}
	if (!json_is_number(value) || json_number_value(value) >= SLURM_NO_VALUE ||
	    json_number_value(value) < 0)
		return NAN;
	return json_number_value(value);
}

static struct jobs_span text_of(const json_t *job, const char *key)
{
	return jobs_span(json_string_value(json_object_get(job, key)));
}

static bool is_running(const json_t *job)
{
	json_t *state = json_object_get(job, "job_state");

	if (json_is_array(state))
		state = json_array_get(state, 0);
	return json_is_string(state) && strcmp(json_string_value(state), "RUNNING") == 0;
}

/* What it has; else what it was granted per node or per processor. */
static double memory_of(const json_t *job)
{
	double bytes = jobs_tres_memory(text_of(job, "tres_alloc_str"));

	if (isnan(bytes))
		bytes = number_of(job, "memory_per_node") * number_of(job, "node_count") * 1048576;
	if (isnan(bytes))
		bytes = number_of(job, "memory_per_cpu") * number_of(job, "cpus") * 1048576;
	return bytes;
}

/* A job that was suspended is resumed at suspend_time, and had run for pre_sus_time before. */
static double used_seconds(const json_t *job, double now_s)
{
	double resumed = number_of(job, "suspend_time"), before = number_of(job, "pre_sus_time");
	double since = number_of(job, "start_time"), used;

	if (resumed > 0 && before >= 0)
		since = resumed - before;
	if (!(now_s > 0) || !(since > 0))
		return NAN;
	used = now_s - since;
	return used > 0 ? used : 0;
}

static void job_add(struct jobs *found, const json_t *entry, const uint8_t key[OWNER_KEY_BYTES])
{
	struct job *job = jobs_add(found);
	double id = number_of(entry, "job_id");
	char number[32] = "";

	if (!isnan(id))
		snprintf(number, sizeof(number), "%.0f", id);
	jobs_put(&job->id, jobs_span(number));
	jobs_put(&job->queue, text_of(entry, "partition"));
	jobs_put(&job->name, text_of(entry, "name"));
	jobs_own(job, text_of(entry, "user_name"), key);
	job->nodes = number_of(entry, "node_count");
	job->memory_bytes = memory_of(entry);
	job->used_s = used_seconds(entry, found->time_s);
	job->allocated_s = 60 * number_of(entry, "time_limit");
}

static int slurm_json_read(struct jobs *jobs, const char *name, const char *text, size_t bytes,
			   const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	struct jobs found = { .time_s = jobs->time_s };
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_DECODE_INT_AS_REAL, &error), *list, *entry;
	double updated;
	size_t i;

	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s: is this what squeue --json prints?", name,
			       error.line, error.text);
	list = json_object_get(root, "jobs");
	if (!json_is_array(list)) {
		json_decref(root);
		return err_set(err, EINVAL, "%s:1: there is no array \"jobs\"", name);
	}
	updated = number_of(root, "last_update");
	if (!(found.time_s > 0) && updated > 0)
		found.time_s = updated;
	json_array_foreach(list, i, entry) if (is_running(entry)) job_add(&found, entry, key);
	json_decref(root);
	return jobs_settle(jobs, &found, 0);
}

const struct jobs_reader jobs_reader_slurm_json = {
	.name = "slurm-json",
	.help = "Slurm: squeue --json",
	.command = "squeue --json",
	.read = slurm_json_read,
};
