/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/objective.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/tally/file_class.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

#define STARTED_MAX 65536
#define BATCH 1024
#define LIBRARIES (1u << LAYER_MPI | 1u << LAYER_HDF5 | 1u << LAYER_NETCDF | 1u << LAYER_PNETCDF)

static bool is_within(const char *path, const char *directory)
{
	size_t n = directory ? strlen(directory) : 0;

	return n && strncmp(path, directory, n) == 0 && (path[n] == '/' || !path[n]);
}

bool objective_may_be_data(const char *path, const char *directory)
{
	static const char *const places[] = { "/proc/", "/sys/", "/dev/", NULL };
	static const char *const code[] = { ".so", ".py", ".pyc", NULL };

	if (!*path || !names_is_file(path) || is_within(path, directory) || file_is_of_mpi(path))
		return false;
	for (const char *const *p = places; *p; p++)
		if (text_starts_with(path, *p) && !text_starts_with(path, "/dev/shm/"))
			return false;
	for (const char *const *c = code; *c; c++)
		if (text_ends_with(path, *c))
			return false;
	return !strstr(path, ".so.");
}

static bool is_data_file(const struct summary_row *row)
{
	return row->tally->bytes_written || row->layers & LIBRARIES ||
	       row->tally->bytes_read >= OBJECTIVE_READ_BYTES;
}

/* Chooses the data files; with `all`, any file that can be one. Returns their number. */
static size_t choose_files(struct objective *o, const struct summary_row *rows, size_t count,
			   const bool *asked, const char *directory, bool all)
{
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++) {
		size_t file = (size_t)(rows[i].key - sums_file_key(0));

		if (rows[i].is_network || file >= o->head->file_count || !asked[file] ||
		    !objective_may_be_data(rows[i].name, directory) ||
		    (!all && !is_data_file(&rows[i])))
			continue;
		o->is_data[file] = true;
		o->is_written[file] = rows[i].tally->bytes_written > 0;
		o->read_bytes += (double)rows[i].tally->bytes_read;
		o->write_bytes += (double)rows[i].tally->bytes_written;
		chosen++;
	}
	return chosen;
}

void objective_mark_named(bool *asked, const struct trace_head *head,
			  const struct activity *activity)
{
	if (activity->parent)
		return;
	if (activity->file < head->file_count)
		asked[activity->file] = true;
	if (activity->file2 < head->file_count)
		asked[activity->file2] = true;
}

void objective_init(struct objective *objective, const struct summary *summary, const bool *asked,
		    const char *directory)
{
	struct objective *o = objective;
	const struct ranks *ranks = &summary->ranks;
	AUTO_FREE struct summary_row *rows = NULL;
	size_t count;

	*o = (struct objective){
		.head = summary->head,
		.summary = summary,
		.ranks = (uint32_t)(ranks->world ? ranks->world : ranks->count),
		.nodes = (uint32_t)(ranks->hosts ? ranks->hosts : 1),
		.count = ranks->count ? ranks->count : summary->head->process_count,
	};
	o->is_data = xcalloc(o->head->file_count + 1, sizeof(*o->is_data));
	o->is_written = xcalloc(o->head->file_count + 1, sizeof(*o->is_written));
	o->list = xcalloc(o->count + 1, sizeof(*o->list));
	recent_init(&o->started, STARTED_MAX, sizeof(unsigned));
	rows = summary_rows(summary, SUMMARY_FILES, &count);
	if (!choose_files(o, rows, count, asked, directory, false))
		choose_files(o, rows, count, asked, directory, true);
}

void objective_release(struct objective *objective)
{
	usage_release(&objective->usage);
	recent_release(&objective->started);
	nest_release(&objective->nest);
	free(objective->is_data);
	free(objective->is_written);
	free(objective->list);
	*objective = (struct objective){ 0 };
}

/* NULL: the process is not a rank, but a launcher or a script around the ranks. */
static struct objective_rank *find_rank(struct objective *o, uint32_t process)
{
	int32_t rank = ranks_of_process(&o->summary->ranks, process);

	if (!o->summary->ranks.count)
		return process < o->count ? &o->list[process] : NULL;
	return rank < 0 ? NULL : &o->list[rank];
}

/* Waits have no file, and library transfers do not always have one: they are about data. */
static bool is_counted(const struct objective *o, uint16_t number, uint8_t layer, file_id file)
{
	const struct call_info *call = &o->head->calls[number];

	if (!names_layer_is_io(layer) || call->class == CLASS_PROCESS)
		return false;
	if (file)
		return o->is_data[file];
	return call->class == CLASS_WAIT || call->class == CLASS_START ||
	       (LIBRARIES & 1u << layer && (o->summary->ways[number] || call->class == CLASS_SYNC));
}

/* The calls that enclose a call. */
struct place {
	bool in_startup; /* the startup of a library */
	bool in_counted; /* a counted call, which determines the direction */
};

static struct place find_place(const struct objective *o, const struct nest_call *enclosing,
			       size_t depth)
{
	struct place place = { 0 };

	for (size_t i = 0; i < depth; i++) {
		const struct nest_call *outer = &enclosing[i];

		place.in_startup |= o->head->calls[outer->call].class == CLASS_PROCESS;
		place.in_counted |= is_counted(o, outer->call, outer->layer, outer->file);
	}
	return place;
}

/* A wait has the direction of the operation it completes; if that is unknown, all directions of the
 * operations that the rank has started. */
static unsigned wait_ways(struct objective *o, const struct activity *a,
			  const struct objective_rank *rank)
{
	struct call_ref start = traffic_start(&o->started, o->head, a);
	unsigned ways = rank->started;

	if (start.id) {
		ways = *(unsigned *)recent_find(&o->started, start);
		recent_drop(&o->started, start);
	}
	return ways;
}

static unsigned call_ways(struct objective *o, const struct activity *a,
			  struct objective_rank *rank)
{
	const struct call_info *call = &o->head->calls[a->call];
	unsigned ways = o->summary->ways[a->call];

	if (call->class == CLASS_WAIT)
		return wait_ways(o, a, rank);
	if (call->class == CLASS_START && ways) {
		rank->started |= ways;
		*(unsigned *)recent_put(&o->started, (struct call_ref){ a->process, a->id }) = ways;
	}
	/* It submits operations that are recorded after it. */
	if (call->class == CLASS_START && !ways)
		return rank->started ? rank->started : 1u << READING | 1u << WRITING;
	return ways ? ways : 1u << (o->is_written[a->file] ? WRITING : READING);
}

static void add_interval(struct objective_busy *busy, const struct activity *a)
{
	int64_t end = a->start_ns + a->duration_ns;
	int64_t from = a->start_ns > busy->until_ns ? a->start_ns : busy->until_ns;

	if (end <= from)
		return;
	busy->ns += end - from;
	busy->until_ns = end;
}

void objective_add(struct objective *objective, const struct activity *activity)
{
	struct objective *o = objective;
	const struct activity *a = activity;
	const struct nest_call *enclosing;
	struct objective_rank *rank = find_rank(o, a->process);
	struct place place;
	unsigned ways;
	size_t depth;

	if (!rank || a->call >= o->head->call_count || a->file >= o->head->file_count ||
	    a->file2 >= o->head->file_count || a->layer >= LAYER_COUNT)
		return;
	depth = nest_enter(&o->nest, a, &enclosing);
	place = find_place(o, enclosing, depth);
	if (place.in_startup)
		return;
	usage_add(&o->usage, o->head, o->summary->ways, a, enclosing, depth);
	if (!is_counted(o, a->call, a->layer, a->file) &&
	    !(a->file2 && is_counted(o, a->call, a->layer, a->file2)))
		return;
	o->calls++;
	add_interval(&rank->busy[OBJECTIVE_ALL], a);
	ways = call_ways(o, a, rank);
	if (!place.in_counted && ways & 1u << READING)
		add_interval(&rank->busy[OBJECTIVE_READ], a);
	if (!place.in_counted && ways & 1u << WRITING)
		add_interval(&rank->busy[OBJECTIVE_WRITE], a);
}

/* Adds calls that were counted, not recorded. Of nested layers only the lowest is added. */
static void add_counted(struct objective *o, const struct aggregate *row)
{
	struct objective_rank *rank = find_rank(o, row->process);
	bool written = row->group == GROUP_WRITE ||
		       (row->group != GROUP_READ && row->file < o->head->file_count &&
			o->is_written[row->file]);

	if (!rank || row->file >= o->head->file_count || !o->is_data[row->file] ||
	    (row->layer != LAYER_POSIX && row->layer != LAYER_STDIO))
		return;
	o->calls += row->calls;
	rank->busy[OBJECTIVE_ALL].ns += row->duration_ns;
	rank->busy[written ? OBJECTIVE_WRITE : OBJECTIVE_READ].ns += row->duration_ns;
}

static double slowest_rank_s(const struct objective *o, int which)
{
	int64_t most = 0;

	for (size_t i = 0; i < o->count; i++)
		if (o->list[i].busy[which].ns > most)
			most = o->list[i].busy[which].ns;
	return (double)most / NS_PER_S;
}

void objective_end(struct objective *objective)
{
	for (size_t i = 0; i < objective->head->aggregate_count; i++)
		add_counted(objective, &objective->head->aggregates[i]);
	objective->io_s = slowest_rank_s(objective, OBJECTIVE_ALL);
	objective->read_s = slowest_rank_s(objective, OBJECTIVE_READ);
	objective->write_s = slowest_rank_s(objective, OBJECTIVE_WRITE);
}

/* One of the two passes over a trace. */
struct pass {
	struct trace trace;
	struct summary *summary;     /* of the first pass */
	bool *asked;		     /* likewise */
	struct objective *objective; /* of the second pass; NULL: this is the first one */
	const struct objective_visitor *visitor;
};

static void pass_add(struct pass *pass, const struct activity *activity)
{
	const struct objective_visitor *visitor = pass->visitor;

	if (!pass->objective) {
		summary_add(pass->summary, activity);
		objective_mark_named(pass->asked, &pass->trace.head, activity);
		return;
	}
	objective_add(pass->objective, activity);
	if (visitor->add)
		visitor->add(visitor->arg, pass->objective, activity);
}

static int pass_run(struct pass *pass, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	ssize_t n;

	while ((n = trace_next(&pass->trace, batch, BATCH, err)) > 0)
		for (ssize_t i = 0; i < n; i++)
			pass_add(pass, &batch[i]);
	return (int)n;
}

/* The head of the first pass stays valid: it is the same trace. */
static int read_second_pass(const struct pass *first, const char *path, const char *directory,
			    struct err *err)
{
	const struct objective_visitor *visitor = first->visitor;
	struct objective objective;
	struct pass second = { .objective = &objective, .visitor = visitor };
	int r = trace_open(&second.trace, path, NULL, err);

	if (r < 0)
		return r;
	objective_init(&objective, first->summary, first->asked, directory);
	if (visitor->begin)
		visitor->begin(visitor->arg, &objective, first->asked);
	r = pass_run(&second, err);
	if (r >= 0)
		objective_end(&objective);
	visitor->end(visitor->arg, &objective, r >= 0);
	objective_release(&objective);
	trace_close(&second.trace);
	return r;
}

/* Calls that were only counted do not show who named the file; assume the program did. */
static void mark_counted(bool *asked, const struct trace_head *head)
{
	for (size_t i = 0; i < head->aggregate_count; i++)
		if (head->aggregates[i].file < head->file_count)
			asked[head->aggregates[i].file] = true;
}

int objective_read(const char *trace, const char *directory,
		   const struct objective_visitor *visitor, struct err *err)
{
	AUTO_FREE bool *asked = NULL;
	struct summary summary;
	struct pass first = { .summary = &summary, .visitor = visitor };
	int r = trace_open(&first.trace, trace, NULL, err);

	if (r < 0)
		return r;
	if (!visitor->accepts || visitor->accepts(visitor->arg, &first.trace.head)) {
		first.asked = asked = xcalloc(first.trace.head.file_count + 1, sizeof(*asked));
		summary_init(&summary, &first.trace.head);
		r = pass_run(&first, err);
		mark_counted(asked, &first.trace.head);
		if (r >= 0)
			r = read_second_pass(&first, trace, directory, err);
		summary_release(&summary);
	}
	trace_close(&first.trace);
	return r;
}
