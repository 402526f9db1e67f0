/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads qstat -f -F json: {"timestamp": 1520708288, "Jobs": {"ID": {"Job_Name": ...,
 * "resources_used": {"mem": "8412kb", ...}, ...}, ...}}. "Jobs" may be missing if there are none.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "predict/forecast/jobs/pbs.h"

/* Converts numbers to text, because qstat writes a name such as 17 as a number. */
static void set_attribute(struct pbs_job *job, const char *name, const json_t *value)
{
	int i = pbs_attribute(name, strlen(name));
	AUTO_FREE char *number = NULL;

	if (i < 0)
		return;
	if (json_is_number(value))
		number = xprintf("%.15g", json_number_value(value));
	if (number || json_is_string(value))
		job_field_set(&job->of[i], jobs_span(number ? number : json_string_value(value)));
}

static void set_attributes(struct pbs_job *job, const char *name, json_t *value)
{
	const char *key;
	json_t *inner;

	if (!json_is_object(value)) {
		set_attribute(job, name, value);
		return;
	}
	json_object_foreach(value, key, inner)
	{
		AUTO_FREE char *full = xprintf("%s.%s", name, key);

		set_attribute(job, full, inner);
	}
}

static void append_jobs(json_t *list, struct jobs *found, const uint8_t key[OWNER_KEY_BYTES])
{
	const char *id, *name;
	json_t *entry, *value;

	json_object_foreach(list, id, entry)
	{
		struct pbs_job job = { .id = xstrdup(id) };

		json_object_foreach(entry, name, value)
		{
			set_attributes(&job, name, value);
		}
		if (json_is_object(entry))
			pbs_job_append(&job, found, key);
		pbs_job_release(&job);
	}
}

static int pbs_json_read(struct jobs *jobs, const char *name, const char *text, size_t bytes,
			 const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	struct jobs found = { .time_s = jobs->time_s };
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_DECODE_INT_AS_REAL, &error), *list;

	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s; expected the output of qstat -f -F json",
			       name, error.line, error.text);
	list = json_object_get(root, "Jobs");
	if (!json_is_object(root) || (list && !json_is_object(list))) {
		json_decref(root);
		return err_set(err, EINVAL, "%s:1: expected \"Jobs\" to be an object of jobs by id",
			       name);
	}
	if (!(found.time_s > 0) && json_is_number(json_object_get(root, "timestamp")))
		found.time_s = json_number_value(json_object_get(root, "timestamp"));
	append_jobs(list, &found, key);
	json_decref(root);
	return jobs_finish_reading(jobs, &found, 0);
}

const struct jobs_reader jobs_reader_pbs_json = {
	.name = "pbs-json",
	.help = "OpenPBS: qstat -f -F json",
	.command = "qstat -f -F json",
	.read = pbs_json_read,
};
