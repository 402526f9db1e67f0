/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads scontrol show job: NAME=VALUE pairs separated by blanks, with a job on one line (-o) or on
 * several. A job starts at a line that starts with "JobId=". Only the name of a job may contain any
 * bytes; it ends before the fields UserId and GroupId.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/text.h"

static const char first[] = "JobId=";

/* Finds the value of the first such field after `from`; .at is NULL if there is none. */
static struct jobs_span find_field(const char *from, const char *end, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = from; p + n < end; p++) {
		const char *value = p + n + 1, *stop = value;

		if (*p != *key || (p > from && !isspace((unsigned char)p[-1])) ||
		    memcmp(p, key, n) != 0 || p[n] != '=')
			continue;
		while (stop < end && !isspace((unsigned char)*stop))
			stop++;
		return (struct jobs_span){ value, (size_t)(stop - value) };
	}
	return (struct jobs_span){ 0 };
}

/* Finds the value of UserId, such as "ann(1000)", that is followed by GroupId. */
static struct jobs_span find_user(const char *from, const char *end)
{
	static const char group[] = "GroupId=";

	for (;;) {
		struct jobs_span user = find_field(from, end, "UserId");
		const char *behind = user.at ? user.at + user.n : end;

		if (!user.at)
			return user;
		while (behind < end && isspace((unsigned char)*behind))
			behind++;
		if (user.n && user.at[user.n - 1] == ')' &&
		    (size_t)(end - behind) >= sizeof(group) - 1 &&
		    memcmp(behind, group, sizeof(group) - 1) == 0)
			return user;
		from = user.at;
	}
}

static bool span_equals(struct jobs_span text, const char *word)
{
	return text.n == strlen(word) && memcmp(text.at, word, text.n) == 0;
}

/* The allocated memory; newer versions of Slurm also print the request. */
static double find_memory_bytes(const char *from, const char *end)
{
	static const char *const keys[] = { "AllocTRES", "TRES", "ReqTRES" };
	double bytes = NAN;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && isnan(bytes); i++) {
		struct jobs_span tres = find_field(from, end, keys[i]);

		if (tres.at)
			bytes = jobs_parse_tres_memory(tres);
	}
	return bytes;
}

/* Parses "3", or the minimum of "3-5", which is printed until nodes are allocated. */
static double find_nodes(const char *from, const char *end)
{
	struct jobs_span nodes = find_field(from, end, "NumNodes");
	const char *dash = nodes.at ? memchr(nodes.at, '-', nodes.n) : NULL;

	if (dash)
		nodes.n = (size_t)(dash - nodes.at);
	return nodes.at ? jobs_parse_bytes(nodes, 1) : NAN;
}

static double find_seconds(const char *from, const char *end, const char *key)
{
	struct jobs_span text = find_field(from, end, key);

	return text.at ? jobs_parse_seconds(text) : NAN;
}

static void append_job(struct jobs *found, const char *at, const char *end,
		       const uint8_t key[OWNER_KEY_BYTES])
{
	struct jobs_span name = find_field(at, end, "JobName"), user,
			 id = find_field(at, end, "JobId");
	const char *rest = name.at ? name.at : at, *bracket;
	struct job *job;

	user = find_user(rest, end);
	if (user.at) {
		if (name.at)
			name.n = (size_t)(user.at - strlen("UserId=") - name.at);
		rest = user.at;
		bracket = memchr(user.at, '(', user.n);
		user.n = bracket ? (size_t)(bracket - user.at) : user.n;
	}
	if (!span_equals(find_field(rest, end, "JobState"), "RUNNING"))
		return;
	job = jobs_add(found);
	job_field_set(&job->id, id);
	job_field_set(&job->queue, find_field(rest, end, "Partition"));
	job_field_set(&job->name, name);
	job_owner_set(job, user, key);
	job->nodes = find_nodes(rest, end);
	job->memory_bytes = find_memory_bytes(rest, end);
	job->used_s = find_seconds(rest, end, "RunTime");
	job->allocated_s = find_seconds(rest, end, "TimeLimit");
}

static bool starts_job(const char *at, const char *end)
{
	return (size_t)(end - at) >= sizeof(first) - 1 && memcmp(at, first, sizeof(first) - 1) == 0;
}

/* The next line that starts a job, or the end. */
static const char *find_next_job(const char *at, const char *end)
{
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (!newline)
			return end;
		at = newline + 1;
		if (starts_job(at, end))
			return at;
	}
	return end;
}

static int scontrol_read(struct jobs *jobs, const char *name, const char *text, size_t bytes,
			 const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	static const char none[] = "No jobs in the system";
	struct jobs found = { .time_s = jobs->time_s };
	const char *at = text, *end = text + bytes;

	while (at < end && isspace((unsigned char)*at))
		at++;
	if ((size_t)(end - at) >= sizeof(none) - 1 && memcmp(at, none, sizeof(none) - 1) == 0)
		return 0;
	if (at < end && !starts_job(at, end))
		return err_set(err, EINVAL,
			       "%s:%u: expected \"JobId=\" at the start of a job, as 'scontrol "
			       "show job' prints it",
			       name, jobs_line_number(text, at));
	while (at < end) {
		const char *next = find_next_job(at, end);

		append_job(&found, at, next, key);
		at = next;
	}
	return jobs_finish_reading(jobs, &found, 0);
}

const struct jobs_reader jobs_reader_scontrol = {
	.name = "scontrol",
	.help = "Slurm: scontrol show job, with -o or without",
	.command = "scontrol show job -o",
	.read = scontrol_read,
};
