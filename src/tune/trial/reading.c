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

#define BATCH 1024

void reading_release(struct reading *reading)
{
	free(reading->effective);
	free(reading->gap);
	output_sources_release(&reading->outputs);
	access_profile_release(&reading->profile);
	*reading = (struct reading){ 0 };
}

/* First pass: finds out which files are data files. */
static int summarize(struct summary *summary, bool *asked, struct trace *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			summary_add(summary, &batch[i]);
			objective_mark_named(asked, &trace->head, &batch[i]);
		}
	return (int)n;
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

/* Second pass over the same trace: the head of the first pass is still valid. */
static int read_activities(struct objective *objective, struct access_profiler *profiler,
			   struct outputs *outputs, struct trace *trace, unsigned char *names,
			   struct cleanup *cleanup, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			objective_add(objective, &batch[i]);
			access_profiler_add(profiler, &batch[i]);
			outputs_add(outputs, &batch[i]);
			cleanup_note_call(cleanup, objective->head, &batch[i]);
			note_name(names, objective->head, &batch[i]);
		}
	}
	if (n >= 0)
		objective_end(objective);
	return (int)n;
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

static int read_second_pass(struct reading *reading, const struct summary *summary,
			    const bool *asked, const char *path, const char *directory,
			    struct cleanup *cleanup, struct err *err)
{
	AUTO_FREE unsigned char *names = xcalloc(summary->head->file_count + 1, sizeof(*names));
	struct access_profiler profiler;
	struct access_profile profile;
	struct objective objective;
	struct outputs outputs;
	struct trace trace;
	int r = trace_open(&trace, path, NULL, err);

	if (r < 0)
		return r;
	objective_init(&objective, summary, asked, directory);
	access_profiler_init(&profiler, summary->head);
	outputs_init(&outputs, summary->head, asked, summary->ways);
	r = read_activities(&objective, &profiler, &outputs, &trace, names, cleanup, err);
	access_profiler_end(&profiler, &profile);
	if (r >= 0) {
		add_created_files(&objective, names, directory, cleanup);
		fill_reading(reading, &objective);
		reading->profile = profile;
		reading->gap = describe_gap(summary->head);
		outputs_list(&outputs, directory, &reading->outputs);
	} else {
		access_profile_release(&profile);
	}
	outputs_release(&outputs);
	objective_release(&objective);
	trace_close(&trace);
	return r;
}

int reading_from_trace(struct reading *reading, const char *trace, const char *directory,
		       struct cleanup *cleanup, struct err *err)
{
	AUTO_FREE bool *asked = NULL;
	struct summary summary;
	struct trace first;
	int r = trace_open(&first, trace, NULL, err);

	if (r < 0)
		return r;
	asked = xcalloc(first.head.file_count + 1, sizeof(*asked));
	summary_init(&summary, &first.head);
	r = summarize(&summary, asked, &first, err);
	/* Calls that were only counted do not show who named the file; assume the program did. */
	for (size_t i = 0; i < first.head.aggregate_count; i++)
		if (first.head.aggregates[i].file < first.head.file_count)
			asked[first.head.aggregates[i].file] = true;
	if (r >= 0)
		r = read_second_pass(reading, &summary, asked, trace, directory, cleanup, err);
	summary_release(&summary);
	trace_close(&first);
	return r;
}
