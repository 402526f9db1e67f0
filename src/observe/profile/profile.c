/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/profile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/profile/counted.h"
#include "observe/profile/merged_head.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"

#define CELLS_DEFAULT 32768
#define NODES_DEFAULT 16384

/* Returned for processes that belong to no member; differs from CELL_OTHERS. */
#define NO_MEMBER (-2)

/* The number of the rank or, in a run without ranks, the process. */
static int32_t member_of(const struct profile *p, uint32_t process)
{
	const struct ranks *ranks = &p->summary.ranks;
	int32_t rank;

	if (!ranks->count)
		return (int32_t)process;
	rank = ranks_of_process(ranks, process);
	return rank < 0 ? NO_MEMBER : ranks->list[rank].number;
}

static struct survey *get_survey(void *arg, const struct activity *a, file_id file)
{
	struct profile *p = arg;
	int32_t member = member_of(p, a->process);

	return member == NO_MEMBER ? NULL
				   : &cell_table_get(&p->cells, a->layer, file, member)->survey;
}

/* A rank inherits nothing from its launcher, so that ranks do not depend on each other. */
static int32_t get_parent(void *arg, uint32_t process)
{
	const struct profile *p = arg;
	const struct ranks *ranks = &p->summary.ranks;
	int32_t parent = process < p->head->process_count ? p->head->processes[process].parent : -1;

	return parent >= 0 && ranks_of_process(ranks, process) ==
				       ranks_of_process(ranks, (uint32_t)parent)
		       ? parent
		       : -1;
}

static const struct surveyor_ops surveyor_ops = { get_survey, get_parent };

static int64_t count_members(const struct profile *p)
{
	const struct ranks *ranks = &p->summary.ranks;
	int64_t members = (int64_t)(ranks->count ? ranks->world : p->head->process_count);

	if (ranks->count && ranks->list[ranks->count - 1].number >= members)
		members = ranks->list[ranks->count - 1].number + (int64_t)1;
	return members;
}

/* Initializes all but the summary. */
static void init_parts(struct profile *profile, const struct trace_head *head,
		       const struct profile_limits *limits)
{
	profile->head = head;
	profile->parts = 1;
	profile->processes = head->process_count;
	profile->cells.limit = limits && limits->cells ? limits->cells : CELLS_DEFAULT;
	call_tree_init(&profile->tree, limits && limits->nodes ? limits->nodes : NODES_DEFAULT);
	timeline_init(&profile->timeline, head->end.duration_ns, count_members(profile));
	facts_init(&profile->facts, head);
	marks_init(&profile->marks, head);
	surveyor_init(&profile->surveyor, &surveyor_ops, profile);
	profile->channels = xcalloc(head->file_count + 1, sizeof(*profile->channels));
	for (size_t i = 1; i < head->file_count; i++)
		profile->channels[i] = !names_is_file(head->files[i]);
}

void profile_init(struct profile *profile, const struct trace_head *head,
		  const struct profile_limits *limits)
{
	*profile = (struct profile){ 0 };
	summary_init(&profile->summary, head);
	init_parts(profile, head, limits);
	counted_add(profile);
}

void profile_init_share(struct profile *profile, const struct trace_head *head,
			const struct profile_limits *limits)
{
	*profile = (struct profile){ 0 };
	summary_init_share(&profile->summary, head);
	init_parts(profile, head, limits);
}

void profile_release(struct profile *profile)
{
	summary_release(&profile->summary);
	cell_table_release(&profile->cells);
	call_tree_release(&profile->tree);
	timeline_release(&profile->timeline);
	facts_release(&profile->facts);
	marks_release(&profile->marks);
	nest_release(&profile->nest);
	surveyor_release(&profile->surveyor);
	free(profile->channels);
	merged_head_free(profile->own);
	*profile = (struct profile){ 0 };
}

static void add_to_chain(struct profile *p, const struct summary_call *call)
{
	const struct activity *a = call->activity;
	uint32_t parent = call->depth ? call->enclosing[call->depth - 1].node : 0;
	uint32_t number = 0;
	struct call_node *node;

	/* Below a call without a node, nothing has one. */
	if (call->depth && !parent)
		p->tree.lost++;
	else
		number = call_tree_get(&p->tree, parent, a->call, a->layer, a->file);
	nest_mark(&p->nest, number);
	if (!number)
		return;
	node = &p->tree.nodes[number];
	node->calls++;
	node->errors += call->share.error;
	node->bytes[READING] += call->share.bytes_read;
	node->bytes[WRITING] += call->share.bytes_written;
	node->time_ns += call->share.time_ns;
}

static void add_to_timeline(struct profile *p, const struct summary_call *call, int32_t member)
{
	const struct activity *a = call->activity;
	const struct call_context *at = &call->context;
	const struct timeline_bin what = {
		.calls = 1,
		.bytes = { call->share.bytes_read, call->share.bytes_written },
		.time_ns = a->duration_ns,
	};
	struct timeline_span span;

	if (call->share.is_process || at->in_process || (at->in_layer && at->in_io))
		return;
	span = timeline_find(&p->timeline, a->start_ns, a->duration_ns);
	if (!at->in_layer)
		timeline_add(&p->timeline, &span, p->timeline.layers[a->layer], &what);
	if (at->in_io || !names_layer_is_io(a->layer))
		return;
	timeline_add(&p->timeline, &span, p->timeline.io, &what);
	timeline_add_member(&p->timeline, &span, member, &what);
}

/*
 * A call inside another one of the same layer and file is part of that call. Sockets, pipes and
 * calls inside calls that start processes have no cells.
 */
static bool is_covered(const struct profile *p, const struct summary_call *call)
{
	const struct activity *a = call->activity;

	for (size_t i = 0; i < call->depth; i++) {
		const struct nest_call *outer = &call->enclosing[i];

		if (p->head->calls[outer->call].class == CLASS_PROCESS ||
		    (outer->layer == a->layer && outer->file == a->file))
			return true;
	}
	return !names_layer_is_io(a->layer) || p->channels[a->file];
}

static void add_transfer(struct profile *p, const struct summary_call *call, file_id file, int way,
			 int32_t member)
{
	const struct activity *a = call->activity;
	uint64_t bytes = way == READING ? call->share.bytes_read : call->share.bytes_written;
	struct cell *cell = cell_table_get(&p->cells, a->layer, file, member);
	struct raster_access access = {
		.file = file,
		.layer = a->layer,
		.way = way,
		.member = member,
		.start_ns = a->start_ns,
		.duration_ns = a->duration_ns,
		.offset = a->offset,
		.bytes = bytes,
	};

	cell_add_transfer(cell, a, way, bytes);
	if (a->present & PRESENT(OFFSET) && !call->share.is_copy)
		rasters_add(&p->timeline.rasters, &access,
			    cell->survey.bytes[READING] + cell->survey.bytes[WRITING],
			    &cell->raster);
}

static bool may_create(const struct activity *a, const struct call_info *info)
{
	return info->class == CLASS_OPEN &&
	       ((a->layer == LAYER_POSIX && a->present & PRESENT(FLAGS) && a->flags & O_CREAT) ||
		strstr(info->name, "creat"));
}

static void add_to_cell(struct profile *p, const struct summary_call *call, int32_t member)
{
	const struct activity *a = call->activity;
	const struct call_info *info = &p->head->calls[a->call];
	unsigned ways = p->summary.ways[a->call];
	file_id source = call->share.is_copy ? a->file2 : a->file;

	if (a->file) {
		struct cell *cell = cell_table_get(&p->cells, a->layer, a->file, member);

		cell->calls[info->class]++;
		cell->time_ns[info->class] += a->duration_ns;
		cell->errors += a->error != 0;
		if (info->class == CLASS_OPEN)
			cell->creates += may_create(a, info);
	}
	if (!call->share.transfer)
		return;
	if (ways & 1u << WRITING && a->file)
		add_transfer(p, call, a->file, WRITING, member);
	if (ways & 1u << READING && source)
		add_transfer(p, call, source, READING, member);
}

/* In the place of its file, an activity of the program has its name, so that chains show it. */
static const struct activity *name_as_file(const struct activity *activity, struct activity *copy)
{
	if (activity->layer != LAYER_APPLICATION)
		return activity;
	*copy = *activity;
	copy->file = activity->name;
	return copy;
}

int64_t profile_add(struct profile *profile, const struct activity *added)
{
	struct profile *p = profile;
	struct activity copy;
	const struct activity *activity = name_as_file(added, &copy);
	struct summary_call call = { .activity = activity };
	bool covered;
	int32_t member;

	if (!summary_in_range(&p->summary, activity))
		return 0;
	facts_add(&p->facts, p->head, activity);
	call.depth = nest_enter(&p->nest, activity, &call.enclosing);
	covered = is_covered(p, &call);
	member = member_of(p, activity->process);
	if (summary_add_nested(&p->summary, &call) && member != NO_MEMBER) {
		add_to_chain(p, &call);
		add_to_timeline(p, &call, member);
		marks_add(&p->marks, &call, member);
		if (!covered)
			add_to_cell(p, &call, member);
	}
	if (activity->layer != LAYER_APPLICATION)
		surveyor_add(&p->surveyor, activity, &p->head->calls[activity->call], covered);
	return call.is_busy ? activity->start_ns + activity->duration_ns : 0;
}

const char *profile_file(const struct profile *profile, file_id file)
{
	return file < profile->head->file_count ? profile->head->files[file] : "";
}

enum file_class profile_file_class(const struct profile *profile, file_id file)
{
	return file < profile->head->file_count ? summary_file_class(&profile->summary, file)
						: FILE_USER;
}
