/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/reading.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "observe/tally/losses.h"
#include "observe/tally/names.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/objective.h"

void reading_release(struct reading *reading)
{
	free(reading->effective);
	free(reading->gap);
	output_sources_release(&reading->outputs);
	access_profile_release(&reading->profile);
	*reading = (struct reading){ 0 };
}

/* An open() that may create its file. Libraries end in such a call, too. */
static bool may_create_file(const struct trace_head *head, const struct activity *a)
{
	return a->layer == LAYER_POSIX && !a->error && a->result >= 0 &&
	       a->file < head->file_count && a->call < head->call_count &&
	       head->calls[a->call].class == CLASS_OPEN && a->present & PRESENT(FLAGS) &&
	       a->flags & O_CREAT;
}

/* A call that removes or renames: so a file of this name existed. */
static bool removes_name(const struct trace_head *head, const struct activity *a)
{
	static const char *const calls[] = { "unlink", "unlinkat", "remove",
					     "rename", "renameat", "renameat2" };

	if (a->error || a->result < 0 || a->file >= head->file_count || a->call >= head->call_count)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(head->calls[a->call].name, calls[i]) == 0)
			return true;
	return false;
}

/* What the trace shows about a file's name. */
enum name_history {
	NAME_UNKNOWN,
	NAME_MADE, /* the run may have created it */
	NAME_OLD,  /* it existed before: the program replaced the file */
};

static void note_name(unsigned char *names, const struct trace_head *head, const struct activity *a)
{
	if (may_create_file(head, a) && names[a->file] == NAME_UNKNOWN)
		names[a->file] = NAME_MADE;
	else if (removes_name(head, a) && names[a->file] == NAME_UNKNOWN)
		names[a->file] = NAME_OLD;
}

/* Adds the data files that the run wrote, and other files that it wrote or created. */
static void add_created_files(const struct objective *o, const unsigned char *names,
			      const char *directory, struct cleanup *cleanup)
{
	size_t n = strlen(directory);

	for (size_t i = 1; i < o->head->file_count; i++) {
		const char *path = o->head->files[i];
		const struct tally *tally =
			map_get(&o->summary->all.files, sums_file_key((file_id)i));

		if (strncmp(path, directory, n) == 0 && path[n] == '/')
			continue;
		if (names[i] == NAME_OLD)
			cleanup_keep(cleanup, path);
		if (o->is_data[i] && o->is_written[i])
			cleanup_add_file(cleanup, path, true);
		else if (names_is_file(path) &&
			 (names[i] == NAME_MADE || (tally && tally->bytes_written)))
			cleanup_add_file(cleanup, path, false);
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
	unsigned char *names; /* enum name_history, per file */
	struct access_profiler profiler;
	struct outputs outputs;
};

static void begin_activities(void *arg, const struct objective *o, const bool *asked)
{
	struct reader *reader = arg;

	reader->names = xcalloc(o->head->file_count + 1, sizeof(*reader->names));
	access_profiler_init(&reader->profiler, o->head);
	outputs_init(&reader->outputs, o->head, asked, o->summary->ways);
}

static void add_activity(void *arg, const struct objective *o, const struct activity *activity)
{
	struct reader *reader = arg;

	access_profiler_add(&reader->profiler, activity);
	outputs_add(&reader->outputs, activity);
	cleanup_note_call(reader->cleanup, o->head, activity);
	note_name(reader->names, o->head, activity);
}

static void end_activities(void *arg, const struct objective *o, bool is_complete)
{
	struct reader *reader = arg;
	struct access_profile profile;

	access_profiler_end(&reader->profiler, &profile);
	if (is_complete) {
		add_created_files(o, reader->names, reader->directory, reader->cleanup);
		fill_reading(reader->reading, o);
		reader->reading->profile = profile;
		reader->reading->gap = describe_gap(o->head);
		outputs_list(&reader->outputs, reader->directory, &reader->reading->outputs);
	} else {
		access_profile_release(&profile);
	}
	outputs_release(&reader->outputs);
	free(reader->names);
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
