/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads qstat -f as text. A job is a line "Job Id: ID" and lines "    ATTRIBUTE = VALUE"; an empty
 * line ends it. PBS breaks long lines anywhere with a newline and a tab, which are not part of the
 * value. Slurm's qstat prints a tab before every attribute and does not break lines; it is
 * recognized by the tab after "Job Id:".
 */
#include "predict/forecast/jobs/pbs.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

int pbs_attribute(const char *name, size_t n)
{
	static const char *const names[] = {
#define PBS_NAME(id, name) [PBS_##id] = name,
		PBS_ATTRIBUTES(PBS_NAME)
#undef PBS_NAME
	};

	for (int i = 0; i < PBS_COUNT; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return i;
	return -ENOENT;
}

void pbs_job_release(struct pbs_job *job)
{
	free(job->id);
	for (int i = 0; i < PBS_COUNT; i++)
		free(job->of[i]);
	*job = (struct pbs_job){ 0 };
}

/* Counts nodes: 6 for "4:ppn=8+2:gpus=1", 2 for "n1+n2:ppn=4". A part is a number or a name. */
static double count_requested_nodes(const char *text)
{
	double sum = 0;

	while (*text) {
		size_t n = strcspn(text, "+"), digits = strspn(text, "0123456789");

		if (digits && (digits == n || text[digits] == ':'))
			sum += strtod(text, NULL);
		else if (n)
			sum++;
		text += n + (text[n] == '+');
	}
	return sum > 0 ? sum : NAN;
}

/* Counts hosts: 2 for "n1/0*2+n1/1+n2/0". The entries of a host are adjacent. */
static double count_hosts(const char *text)
{
	const char *last = "";
	double hosts = 0;

	while (*text) {
		size_t n = strcspn(text, "+"), name = strcspn(text, "/+");

		if (strncmp(last, text, name) != 0 || (last[name] && !strchr("/+", last[name])))
			hosts++;
		last = text;
		text += n + (text[n] == '+');
	}
	return hosts > 0 ? hosts : NAN;
}

static double find_node_count(const struct pbs_job *job)
{
	double count = jobs_parse_bytes(jobs_span(job->of[PBS_NODE_COUNT]), 1);

	if (isnan(count) && job->of[PBS_NODES])
		count = count_requested_nodes(job->of[PBS_NODES]);
	if (isnan(count) && job->of[PBS_SELECT])
		count = count_requested_nodes(job->of[PBS_SELECT]);
	if (isnan(count) && job->of[PBS_EXEC_HOST])
		count = count_hosts(job->of[PBS_EXEC_HOST]);
	return count;
}

static double used_or_granted_bytes(const struct pbs_job *job, enum pbs_attribute used,
				    enum pbs_attribute granted)
{
	double bytes = jobs_parse_bytes(jobs_span(job->of[used]), 1);

	return isnan(bytes) ? jobs_parse_bytes(jobs_span(job->of[granted]), 1) : bytes;
}

static double find_used_s(const struct pbs_job *job, double now_s)
{
	double used = jobs_parse_seconds(jobs_span(job->of[PBS_USED_TIME])), started;

	if (!isnan(used) || !(now_s > 0))
		return used;
	started = jobs_parse_clock(jobs_span(job->of[job->is_slurm ? PBS_MODIFIED : PBS_STARTED]));
	return now_s > started ? now_s - started : isnan(started) ? NAN : 0;
}

void pbs_job_append(const struct pbs_job *from, struct jobs *found,
		    const uint8_t key[OWNER_KEY_BYTES])
{
	struct job *job;

	if (from->of[PBS_STATE] && strcmp(from->of[PBS_STATE], "R") != 0)
		return;
	job = jobs_add(found);
	job_field_set(&job->id, jobs_span(from->id));
	job_field_set(&job->name, jobs_span(from->of[PBS_NAME]));
	job_field_set(&job->queue, jobs_span(from->of[PBS_QUEUE]));
	job_owner_set(job, jobs_span(from->of[PBS_OWNER]), key);
	job->nodes = find_node_count(from);
	job->memory_bytes = used_or_granted_bytes(from, PBS_USED_MEMORY, PBS_GRANTED_MEMORY);
	job->virtual_bytes = used_or_granted_bytes(from, PBS_USED_VIRTUAL, PBS_GRANTED_VIRTUAL);
	job->used_s = find_used_s(from, found->time_s);
	job->allocated_s = jobs_parse_seconds(jobs_span(from->of[PBS_GRANTED_TIME]));
}

struct reading {
	const char *name, *text, *end;
	unsigned line, next_line; /* number of the current line, and of the one before `text` */
	void (*each)(const struct pbs_job *job, void *arg);
	void *arg;
	struct pbs_job job;
	bool in_job, was_empty; /* was_empty: the previous line was empty */
};

/* Reads the next line and its continuations. Returns false at the end. */
static bool read_line(struct reading *reading, struct buf *line)
{
	buf_clear(line);
	if (reading->text >= reading->end)
		return false;
	reading->line = ++reading->next_line;
	for (;;) {
		size_t left = (size_t)(reading->end - reading->text);
		const char *newline = memchr(reading->text, '\n', left);
		size_t n = newline ? (size_t)(newline - reading->text) : left;

		buf_add(line, reading->text, n);
		reading->text += n + (newline != NULL);
		if (!reading->in_job || reading->job.is_slurm || reading->text >= reading->end ||
		    *reading->text != '\t' || !line->len)
			break;
		reading->text++;
		reading->next_line++;
	}
	while (line->len && isspace((unsigned char)line->data[line->len - 1]))
		line->data[--line->len] = 0;
	return true;
}

static void finish_job(struct reading *reading)
{
	if (reading->in_job)
		reading->each(&reading->job, reading->arg);
	pbs_job_release(&reading->job);
	reading->in_job = false;
}

static void start_job(struct reading *reading, const char *rest)
{
	finish_job(reading);
	reading->in_job = true;
	reading->job.is_slurm = *rest == '\t';
	job_field_set(&reading->job.id, jobs_span(rest));
}

/*
 * If an attribute occurs twice, one of them is forged: with Slurm the first, through a job name
 * with line breaks; with PBS the last, through the environment of the job.
 */
static void set_attribute(struct reading *reading, const char *line)
{
	const char *equals = strstr(line, " = ");
	int i = equals ? pbs_attribute(line, (size_t)(equals - line)) : -ENOENT;

	if (i < 0 || (reading->job.of[i] && !reading->job.is_slurm))
		return;
	job_field_set(&reading->job.of[i], jobs_span(equals + 3));
}

static int parse_line(struct reading *reading, const char *line, struct err *err)
{
	static const char head[] = "Job Id:";
	size_t blanks = strspn(line, " \t");
	bool was_empty = reading->was_empty;

	reading->was_empty = !line[blanks];
	if (reading->was_empty)
		return 0;
	if ((was_empty || !reading->in_job || !reading->job.is_slurm) &&
	    strncmp(line, head, sizeof(head) - 1) == 0)
		start_job(reading, line + sizeof(head) - 1);
	else if (!reading->in_job)
		return err_set(err, EINVAL,
			       "%s:%u: expected \"Job Id:\" at the start of a job, as 'qstat -f' "
			       "prints it",
			       reading->name, reading->line);
	else if (blanks || !reading->job.is_slurm)
		set_attribute(reading, line + blanks);
	return 0;
}

int pbs_for_each(const char *name, const char *text, size_t bytes,
		 void (*each)(const struct pbs_job *job, void *arg), void *arg, struct err *err)
{
	struct reading reading = { .name = name,
				   .text = text,
				   .end = text + bytes,
				   .each = each,
				   .arg = arg,
				   .was_empty = true };
	AUTO_BUF struct buf line = { 0 };
	int r = 0;

	while (r >= 0 && read_line(&reading, &line))
		r = parse_line(&reading, buf_text(&line), err);
	if (r >= 0)
		finish_job(&reading);
	pbs_job_release(&reading.job);
	return r;
}

struct collection {
	struct jobs found;
	const uint8_t *key;
};

static void append_job(const struct pbs_job *job, void *arg)
{
	struct collection *collection = arg;

	pbs_job_append(job, &collection->found, collection->key);
}

static int pbs_read(struct jobs *jobs, const char *name, const char *text, size_t bytes,
		    const uint8_t key[OWNER_KEY_BYTES], struct err *err)
{
	struct collection collection = { .found.time_s = jobs->time_s, .key = key };
	int r = pbs_for_each(name, text, bytes, append_job, &collection, err);

	return jobs_finish_reading(jobs, &collection.found, r);
}

const struct jobs_reader jobs_reader_pbs = {
	.name = "pbs",
	.help = "PBS, TORQUE: qstat -f",
	.command = "qstat -f",
	.read = pbs_read,
};
