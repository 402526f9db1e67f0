/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads squeue --json: an object with an array "jobs". Since Slurm 23.02, a number can be an object
 * with "set", "infinite" and "number", and a state can be an array of words. The output has no used
 * time; it is computed from the start time and the suspension times.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/text.h"

/* Slurm writes 2^32 - 2 for "not set" and 2^32 - 1 for "infinite". */
#define SLURM_NO_VALUE 4294967293.0
#define BYTES_PER_MB 1048576

static double get_number(const json_t *job, const char *key)
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

static struct jobs_span get_text(const json_t *job, const char *key)
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

/* The allocated memory, or the request per node or per CPU. */
static double get_memory_bytes(const json_t *job)
{
	double bytes = jobs_parse_tres_memory(get_text(job, "tres_alloc_str"));

	if (isnan(bytes))
		bytes = get_number(job, "memory_per_node") * get_number(job, "node_count") *
			BYTES_PER_MB;
	if (isnan(bytes))
		bytes = get_number(job, "memory_per_cpu") * get_number(job, "cpus") * BYTES_PER_MB;
	return bytes;
}

/* A suspended job was resumed at suspend_time, and ran for pre_sus_time before that. */
static double compute_used_s(const json_t *job, double now_s)
{
	double resumed = get_number(job, "suspend_time"), before = get_number(job, "pre_sus_time");
	double since = get_number(job, "start_time"), used;

	if (resumed > 0 && before >= 0)
		since = resumed - before;
	if (!(now_s > 0) || !(since > 0))
		return NAN;
	used = now_s - since;
	return used > 0 ? used : 0;
}

static void append_job(struct jobs *found, const json_t *entry, const uint8_t key[OWNER_KEY_BYTES])
{
	struct job *job = jobs_add(found);
	double id = get_number(entry, "job_id");
	char number[32] = "";

	if (!isnan(id))
		snprintf(number, sizeof(number), "%.0f", id);
	job_field_set(&job->id, jobs_span(number));
	job_field_set(&job->queue, get_text(entry, "partition"));
	job_field_set(&job->name, get_text(entry, "name"));
	job_owner_set(job, get_text(entry, "user_name"), key);
	job->nodes = get_number(entry, "node_count");
	job->memory_bytes = get_memory_bytes(entry);
	job->used_s = compute_used_s(entry, found->time_s);
	job->allocated_s = 60 * get_number(entry, "time_limit");
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
		return err_set(err, EINVAL, "%s:%d: %s; expected the output of squeue --json", name,
			       error.line, error.text);
	list = json_object_get(root, "jobs");
	if (!json_is_array(list)) {
		json_decref(root);
		return err_set(err, EINVAL, "%s:1: missing array \"jobs\"", name);
	}
	updated = get_number(root, "last_update");
	if (!(found.time_s > 0) && updated > 0)
		found.time_s = updated;
	json_array_foreach(list, i, entry) if (is_running(entry)) append_job(&found, entry, key);
	json_decref(root);
	return jobs_finish_reading(jobs, &found, 0);
}

const struct jobs_reader jobs_reader_slurm_json = {
	.name = "slurm-json",
	.help = "Slurm: squeue --json",
	.command = "squeue --json",
	.read = slurm_json_read,
};
