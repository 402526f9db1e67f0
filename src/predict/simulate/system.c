/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads a description and generates a campaign. share/machines/titan.ini explains the numbers.
 * Papers: WAN-12, WAN-40.
 */
#include "predict/simulate/system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "predict/describe.h"
#include "predict/simulate/system_internal.h"

#define DAY_S 86400.0
#define FIRST_JOB 3901500u /* first job id, as in the paper's sample */
#define LEAD_STEPS 720	   /* states start six hours before the campaign */

#define FIELD(name) offsetof(struct system, name)
#define ROW(section, key, kind, min, max, field)              \
	{                                                     \
		section, key, kind, 1, min, max, FIELD(field) \
	}
#define NUMBER(section, key, min, max) ROW(section, #key, DESCRIBE_NUMBER, min, max, key)
#define SECONDS(section, key, min, max) ROW(section, #key, DESCRIBE_SECONDS, min, max, key##_s)
#define SIZE(section, i)                                                                \
	ROW(section, "idle", DESCRIBE_SECONDS, 1e-6, 1e6, times[i].idle_s),             \
		ROW(section, "idle_sigma", DESCRIBE_NUMBER, 0, 3, times[i].idle_sigma), \
		ROW(section, "busy", DESCRIBE_SECONDS, 1e-6, 1e6, times[i].busy_s),     \
		ROW(section, "busy_sigma", DESCRIBE_NUMBER, 0, 3, times[i].busy_sigma), \
		ROW(section, "exposure", DESCRIBE_NUMBER, 0, 1, times[i].exposure)

static const struct describe_row rows[] = {
	NUMBER("system", nodes, 1, 1e7),
	NUMBER("system", days, 0.01, 1000),
	NUMBER("jobs", per_day, 1, 1e5),
	NUMBER("jobs", night, 0, 1),
	NUMBER("jobs", peak_hour, 0, 24),
	NUMBER("jobs", users, 1, 1e6),
	NUMBER("jobs", memory_rank, -1, 1),
	NUMBER("jobs", hours_rank, -1, 1),
	NUMBER("jobs", killed, 0, 1),
	NUMBER("jobs", least_used, 0.01, 1),
	SECONDS("jobs", quantum, 1, 86400),
	NUMBER("jobs", debug_share, 0, 1),
	NUMBER("jobs", debug_nodes, 0, 1e7),
	NUMBER("jobs", debug_hours, 0, 1000),
	NUMBER("jobs", backfill, 0, 1e6),
	NUMBER("jobs", warm_days, 0, 100),
	NUMBER("jobs", virtual_ratio, 1, 1000),
	ROW("jobs", "virtual_node", DESCRIBE_BYTES, 0, 1e12, virtual_bytes),
	NUMBER("pressure", power, 0, 2),
	NUMBER("pressure", writers_large, 0, 1),
	NUMBER("pressure", writers_small, 0, 1),
	NUMBER("pressure", large_nodes, 0, 1e7),
	NUMBER("pressure", running, 0, 100),
	NUMBER("pressure", fresh, 0, 100),
	NUMBER("pressure", burst, 0, 100),
	SECONDS("states", idle, 1, 1e7),
	SECONDS("states", short, 1, 1e7),
	SECONDS("states", long, 1, 1e7),
	NUMBER("states", long_share, 0, 1),
	NUMBER("states", dwell_sigma, 0, 3),
	NUMBER("states", coupling, 0, 10),
	NUMBER("states", hazard_sigma, 0, 3),
	NUMBER("states", dwell_pressure, 0, 3),
	NUMBER("states", path_share, 0, 0.9),
	SECONDS("states", path, 1, 1e7),
	SIZE("1M", 0),
	SIZE("64M", 1),
	SIZE("256M", 2),
	SIZE("1G", 3),
	ROW("times", "shift", DESCRIBE_NUMBER, 0, 1, shift),
	ROW("times", "tail", DESCRIBE_NUMBER, 0, 1, tail_share),
	ROW("times", "tail_busy", DESCRIBE_NUMBER, 0, 100, tail_busy),
	ROW("times", "tail_power", DESCRIBE_NUMBER, 0.1, 100, tail_power),
	ROW("times", "longest", DESCRIBE_SECONDS, 1e-3, 1e6, longest_s),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const uint64_t sizes[SYSTEM_SIZES] = { 1 << 20, 64 << 20, 256 << 20, 1 << 30 };

static void set_text(struct describe *d, char *to, size_t cap, const char *key, const char *text)
{
	if (*to)
		describe_complain(d, "%s is given twice", key);
	else if (!*text || strlen(text) >= cap)
		describe_complain(d, "%s must have 1 to %zu bytes", key, cap - 1);
	else
		memcpy(to, text, strlen(text) + 1);
}

/* Parses "0:1 0.5:64 1:17920": increasing shares from 0 to 1, nondecreasing values. */
static void set_quantiles(struct describe *d, struct quantiles *q, const char *key,
			  const char *text)
{
	struct quantiles read = { 0 };
	int used;

	if (q->count) {
		describe_complain(d, "%s is given twice", key);
		return;
	}
	for (; *text; text += used) {
		size_t i = read.count;

		used = 0;
		if (i == QUANTILES_MAX ||
		    sscanf(text, " %lf:%lf %n", &read.share[i], &read.value[i], &used) != 2 ||
		    !used || !(read.value[i] > 0 && read.value[i] < 1e15) ||
		    !(i ? read.share[i] > read.share[i - 1] && read.value[i] >= read.value[i - 1]
			: read.share[i] == 0)) {
			describe_complain(d,
					  "%s must be a list of at most %d increasing SHARE:VALUE "
					  "pairs, with shares from 0 to 1",
					  key, QUANTILES_MAX);
			return;
		}
		read.count++;
	}
	if (read.count < 2 || read.share[read.count - 1] != 1)
		describe_complain(d, "%s: the last share must be 1", key);
	else
		*q = read;
}

/* "atlas1-:144 atlas2-:144" */
static void set_targets(struct describe *d, struct system *system, const char *text)
{
	int used;

	if (system->name_count)
		describe_complain(d, "targets is given twice");
	for (; *text; text += used) {
		size_t i = system->name_count;

		used = 0;
		if (i == SYSTEM_NAMES ||
		    sscanf(text, " %40[^: ]:%5zu %n", system->prefixes[i], &system->counts[i],
			   &used) != 2 ||
		    !used || !system->counts[i] || system->counts[i] > 99999) {
			describe_complain(d,
					  "targets must be a list of at most %d PREFIX:COUNT pairs",
					  SYSTEM_NAMES);
			return;
		}
		system->name_count++;
	}
}

static bool set_system_key(struct describe *d, struct system *system, const char *key,
			   const char *text)
{
	if (strcmp(key, "name") == 0)
		set_text(d, system->name, sizeof(system->name), key, text);
	else if (strcmp(key, "title") == 0)
		set_text(d, system->title, sizeof(system->title), key, text);
	else if (strcmp(key, "targets") == 0)
		set_targets(d, system, text);
	else
		return false;
	return true;
}

static bool take_key(struct describe *d, const char *section, const char *key, const char *text)
{
	struct system *system = d->into;

	if (strcmp(section, "system") == 0)
		return set_system_key(d, system, key, text);
	if (strcmp(section, "jobs") != 0)
		return false;
	if (strcmp(key, "nodes") == 0)
		set_quantiles(d, &system->job_nodes, key, text);
	else if (strcmp(key, "memory_gb") == 0)
		set_quantiles(d, &system->job_memory, key, text);
	else if (strcmp(key, "hours") == 0)
		set_quantiles(d, &system->job_hours, key, text);
	else if (strcmp(key, "batch") == 0)
		set_text(d, system->queues[0], sizeof(system->queues[0]), key, text);
	else if (strcmp(key, "debug") == 0)
		set_text(d, system->queues[1], sizeof(system->queues[1]), key, text);
	else
		return false;
	return true;
}

static const char *find_missing(const struct system *system)
{
	return !*system->name		   ? "[system] name"
	       : !*system->title	   ? "[system] title"
	       : !system->name_count	   ? "[system] targets"
	       : !system->job_nodes.count  ? "[jobs] nodes"
	       : !system->job_memory.count ? "[jobs] memory_gb"
	       : !system->job_hours.count  ? "[jobs] hours"
	       : !*system->queues[0]	   ? "[jobs] batch"
	       : !*system->queues[1]	   ? "[jobs] debug"
					   : NULL;
}

static int check_system(struct describe *d, const struct system *system)
{
	const struct quantiles *nodes = &system->job_nodes;
	int r = describe_complete(d, 1);

	if (r < 0)
		return r;
	if (find_missing(system))
		return err_set(&d->err, EINVAL, "%s: %s is missing", d->name, find_missing(system));
	if (nodes->value[0] < 1 || nodes->value[nodes->count - 1] > system->nodes)
		return err_set(&d->err, EINVAL, "%s: [jobs] nodes must be from 1 to [system] nodes",
			       d->name);
	return 0;
}

int system_parse(struct system **out, const char *name, const char *text, size_t bytes,
		 struct err *err)
{
	struct system *system = xcalloc(1, sizeof(*system));
	struct describe d = {
		.name = name, .into = system, .rows = rows, .row_count = ROWS, .take = take_key
	};

	d.sections = "system, jobs, pressure, states, 1M, 64M, 256M, 1G and times";
	if (describe_read(&d, text, bytes) < 0 || check_system(&d, system) < 0) {
		system_close(system);
		return err_set(err, d.err.code, "%s", d.err.text);
	}
	*out = system;
	return 0;
}

int system_open(struct system **system, const char *name, struct err *err)
{
	static const struct describe_folder folder = { "machines", "SLUICE_MACHINES", "system",
						       "titan, cori" };
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *path = NULL;
	int r = describe_load(&folder, name, &path, &text, err);

	return r < 0 ? r : system_parse(system, path, buf_text(&text), text.len, err);
}

void system_close(struct system *system)
{
	free(system);
}

double system_days(const struct system *system)
{
	return system->days;
}

size_t system_targets(const struct system *system)
{
	size_t count = 0;

	for (size_t i = 0; i < system->name_count; i++)
		count += system->counts[i];
	return count;
}

struct campaign {
	const struct system *system;
	struct generated *generated;
	struct sampling sampling;
	uint64_t seed;
	const double *pressure;
	size_t steps;
};

static void name_targets(struct chronicle *chronicle, const struct system *system, size_t most)
{
	for (size_t i = 0; i < system->name_count; i++)
		for (size_t k = 0; k < system->counts[i] && chronicle->target_count < most; k++) {
			char name[CHRONICLE_NAME];

			snprintf(name, sizeof(name), "%.40s%zu", system->prefixes[i], k);
			chronicle_add_target(chronicle, name);
		}
}

static void replace_text(char **text, char *with)
{
	free(*text);
	*text = with;
}

static void snapshot_job(struct jobs *jobs, const struct system *system,
			 const struct system_job *job, size_t number, double at_s)
{
	struct job *row = jobs_add(jobs);
	struct random random;

	random_stream(&random, FIRST_JOB, job->user); /* an arbitrary hash */
	replace_text(&row->id, xprintf("%zu", FIRST_JOB + number));
	replace_text(&row->name, xprintf("run%u", job->user));
	replace_text(&row->queue, xstrdup(system->queues[job->queue]));
	replace_text(&row->owner, xprintf("%016lx", random_u64(&random)));
	row->nodes = job->nodes;
	row->memory_bytes = job->memory_bytes;
	row->virtual_bytes = job->virtual_bytes;
	row->used_s = floor(at_s - job->start_s);
	row->allocated_s = job->requested_s;
}

/* Jobs are ordered by start, so `running` keeps only those that have not ended yet. */
static void take_snapshots(struct generated *generated, const struct system *system, double start_s,
			   double every_s, size_t count)
{
	AUTO_FREE size_t *running = xcalloc(generated->job_count + 1, sizeof(*running));
	size_t next = 0, live = 0;

	for (size_t k = 0; k < count; k++) {
		double at_s = (double)k * every_s;
		struct jobs jobs = { .time_s = start_s + at_s };
		size_t kept = 0;

		while (next < generated->job_count && generated->jobs[next].start_s <= at_s)
			running[live++] = next++;
		for (size_t i = 0; i < live; i++) {
			if (generated->jobs[running[i]].end_s <= at_s)
				continue;
			snapshot_job(&jobs, system, &generated->jobs[running[i]], running[i], at_s);
			running[kept++] = running[i];
		}
		live = kept;
		chronicle_add_jobs(&generated->chronicle, &jobs);
	}
}

static void make_target(void *arg, size_t target, unsigned worker)
{
	const struct campaign *c = arg;
	struct generated *generated = c->generated;
	struct toggles toggles = { 0 };

	(void)worker;
	system_states(c->system, c->seed, target, c->pressure, LEAD_STEPS, c->steps, &toggles);
	system_times(c->system, c->seed, target, &toggles, &c->sampling,
		     chronicle_series(&generated->chronicle, target, 0),
		     generated->busy + target * CHRONICLE_SIZES);
	toggles_release(&toggles);
}

/* Seconds from the start to the next busiest hour of a day. */
static double seconds_to_peak(const struct system *system, double start_s)
{
	return fmod(system->peak_hour * 3600 - fmod(start_s, DAY_S) + DAY_S, DAY_S);
}

static double value_or(double value, double otherwise)
{
	return value > 0 ? value : otherwise;
}

static int check_request(const struct system *system, const struct system_request *request,
			 double seconds, const double *every_s, struct err *err)
{
	if (request->targets > system_targets(system))
		return err_set(err, EINVAL, "%s has only %zu targets", system->title,
			       system_targets(system));
	if (!(seconds <= 1000 * DAY_S) || !(every_s[0] >= 1) || !(every_s[1] >= 1) ||
	    !(every_s[2] >= 1) || !isfinite(request->start_s))
		return err_set(err, EINVAL,
			       "a campaign must last at most 1000 days, with at least 1 second "
			       "between samples");
	return 0;
}

int system_generate(struct generated *out, const struct system *system,
		    const struct system_request *request, struct err *err)
{
	double seconds = DAY_S * value_or(request->days, system->days);
	const double every_s[] = { value_or(request->probe_every_s, 30),
				   value_or(request->truth_every_s, 300),
				   value_or(request->jobs_every_s, 300) };
	double start_s = value_or(request->start_s, SYSTEM_START_S);
	struct generated made = { 0 };
	struct campaign c = { .system = system,
			      .generated = &made,
			      .seed = request->seed,
			      .sampling = { .start_s = start_s,
					    .every_s = { every_s[0], every_s[1] },
					    .rounds = { (size_t)ceil(seconds / every_s[0]),
							(size_t)ceil(seconds / every_s[1]) } } };
	AUTO_FREE char *name = xprintf(CHRONICLE_MODELLED "%s", system->name);
	double *pressure;
	int r = check_request(system, request, seconds, every_s, err);

	if (r < 0)
		return r;
	chronicle_init(&made.chronicle, name, sizes, SYSTEM_SIZES);
	name_targets(&made.chronicle, system,
		     request->targets ? request->targets : system_targets(system));
	made.busy = xcalloc(made.chronicle.target_count * CHRONICLE_SIZES, sizeof(*made.busy));
	made.jobs = system_jobs(system, request->seed, seconds, seconds_to_peak(system, start_s),
				&made.job_count);
	take_snapshots(&made, system, start_s, every_s[2], (size_t)ceil(seconds / every_s[2]));
	c.steps = (size_t)ceil(seconds / SYSTEM_STEP_S);
	pressure = system_pressure(system, made.jobs, made.job_count, LEAD_STEPS, c.steps);
	c.pressure = pressure;
	parallel_for(request->threads ? request->threads : 1, made.chronicle.target_count,
		     make_target, &c);
	memmove(pressure, pressure + LEAD_STEPS, c.steps * sizeof(*pressure));
	made.pressure = pressure;
	made.pressure_count = c.steps;
	*out = made;
	return 0;
}

void generated_release(struct generated *generated)
{
	for (size_t i = 0; i < generated->chronicle.target_count * CHRONICLE_SIZES; i++)
		free(generated->busy[i]);
	free(generated->busy);
	free(generated->jobs);
	free(generated->pressure);
	chronicle_release(&generated->chronicle);
	*generated = (struct generated){ 0 };
}
