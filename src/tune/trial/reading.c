/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "observe/tally/losses.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/objective.h"

void reading_release(struct reading *reading)
{
	free(reading->effective);
	free(reading->gap);
	output_sources_release(&reading->outputs);
	access_profile_release(&reading->profile);
	lockstep_release(&reading->lockstep);
	*reading = (struct reading){ 0 };
}

/* Adds the data files that the run wrote, except the runner's own. */
static void add_written_files(const struct objective *o, const char *directory,
			      struct cleanup *cleanup)
{
	size_t n = strlen(directory);

	for (size_t i = 1; i < o->head->file_count; i++) {
		const char *path = o->head->files[i];

		if (o->is_data[i] && o->is_written[i] &&
		    !(strncmp(path, directory, n) == 0 && path[n] == '/'))
			cleanup_add_file(cleanup, path);
	}
}

static void fill_reading(struct reading *reading, const struct objective *o)
{
	const struct run_end *end = &o->head->end;
	struct buf effective = { 0 };

	usage_effective(&o->usage, &effective);
	*reading = (struct reading){
		.run_s = end->complete ? (double)end->duration_ns / NS_PER_S : 0,
		.io_s = o->io_s,
		.read_s = o->read_s,
		.write_s = o->write_s,
		.read_bytes = o->read_bytes,
		.write_bytes = o->write_bytes,
		.calls = o->calls,
		.ranks = o->ranks,
		.nodes = o->nodes,
		.uses = o->usage.uses,
		.middleware = o->usage.middleware,
		.effective = effective.len ? buf_take(&effective) : NULL,
	};
	buf_release(&effective);
}

/* Calls and processes that were not recorded may have written more. */
static char *describe_gap(const struct trace_head *head)
{
	struct losses losses = losses_sum(head);

	if (losses.unrecorded_processes)
		return xprintf("%" PRIu64 " processes of the program were not recorded",
			       losses.unrecorded_processes);
	if (losses.records)
		return xprintf("%" PRIu64 " calls of the program were not recorded",
			       losses.records);
	return NULL;
}

/* A reading under way. */
struct reader {
	struct reading *reading;
	const char *directory;
	struct cleanup *cleanup;
	struct access_profiler profiler;
	struct lockstep_reader lockstep;
	struct outputs outputs;
};

static void begin_activities(void *arg, const struct objective *o, const bool *asked)
{
	struct reader *reader = arg;

	access_profiler_init(&reader->profiler, o->head);
	lockstep_reader_init(&reader->lockstep, o->head);
	outputs_init(&reader->outputs, o->head, asked, o->summary->ways);
}

static void add_activity(void *arg, const struct objective *o, const struct activity *activity)
{
	struct reader *reader = arg;

	access_profiler_add(&reader->profiler, activity);
	lockstep_reader_add(&reader->lockstep, activity);
	outputs_add(&reader->outputs, activity);
	(void)o;
}

static void end_activities(void *arg, const struct objective *o, bool is_complete)
{
	struct reader *reader = arg;
	struct access_profile profile;
	struct lockstep lockstep;

	access_profiler_end(&reader->profiler, &profile);
	lockstep_reader_end(&reader->lockstep, &lockstep);
	if (is_complete) {
		add_written_files(o, reader->directory, reader->cleanup);
		fill_reading(reader->reading, o);
		reader->reading->profile = profile;
		reader->reading->lockstep = lockstep;
		reader->reading->gap = describe_gap(o->head);
		outputs_list(&reader->outputs, reader->directory, &reader->reading->outputs);
	} else {
		access_profile_release(&profile);
		lockstep_release(&lockstep);
	}
	outputs_release(&reader->outputs);
}

int reading_from_trace(struct reading *reading, const char *trace, const char *directory,
		       struct cleanup *cleanup, struct err *err)
{
	struct reader reader = { .reading = reading, .directory = directory, .cleanup = cleanup };
	struct objective_visitor visitor = { .begin = begin_activities,
					     .add = add_activity,
					     .end = end_activities,
					     .arg = &reader };

	return objective_read(trace, directory, &visitor, err);
}
