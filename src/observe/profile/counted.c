/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/counted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/mem.h"
#include "observe/profile/profile.h"
#include "observe/tally/traffic.h"
#include "trace/facts.h"
#include "trace/usage.h"

static uint64_t count_at(const struct usage *u, unsigned value)
{
	return u->value[value] > 0 ? (uint64_t)u->value[value] : 0;
}

/* Values of writes follow those of reads in the list of values. */
static uint64_t count_of_way(const struct usage *u, unsigned value, int way)
{
	return count_at(u, value + (way == WRITING));
}

static unsigned class_of_size(int64_t bytes)
{
	unsigned class = 0;

	while (bytes > usage_size_limits[class])
		class ++;
	return class;
}

/* The middle of a class on a logarithmic scale. */
static uint64_t middle_of_class(unsigned class)
{
	uint64_t low = class ? (uint64_t)usage_size_limits[class - 1] : 1;
	uint64_t high = class < USAGE_SIZES - 1 ? (uint64_t)usage_size_limits[class] : 4 * low;
	uint64_t middle = low;

	while (middle <= high / middle * low)
		middle *= 2;
	return middle;
}

/* The log does not separate the frequent sizes of reads and writes: the larger class has them. */
static void add_frequent_sizes(struct cell *cell, const struct usage *u,
			       uint64_t left[2][USAGE_SIZES])
{
	unsigned used[2] = { 0 };

	for (unsigned i = 0; i < USAGE_COMMON; i++) {
		uint64_t bytes = count_at(u, USAGE_SIZE + i),
			 count = count_at(u, USAGE_COUNT_1 + i);
		unsigned class = class_of_size((int64_t)bytes);
		int way = left[WRITING][class] > left[READING][class] ? WRITING : READING;

		count = MIN(count, left[way][class]);
		if (!count)
			continue;
		left[way][class] -= count;
		cell->sizes[way][cell_bin(bytes)] += count;
		cell->common[way][used[way]++] = (struct cell_size){ bytes, count };
	}
}

static void add_sizes(struct cell *cell, const struct usage *u)
{
	uint64_t left[2][USAGE_SIZES], known[2] = { 0 };

	for (unsigned class = 0; class < USAGE_SIZES; class ++) {
		left[READING][class] = count_at(u, USAGE_READ_SIZES + class);
		left[WRITING][class] = count_at(u, USAGE_WRITE_SIZES + class);
		known[READING] += left[READING][class];
		known[WRITING] += left[WRITING][class];
	}
	add_frequent_sizes(cell, u, left);
	for (int way = READING; way <= WRITING; way++) {
		uint64_t accesses = count_of_way(u, USAGE_READS, way);

		for (unsigned class = 0; class < USAGE_SIZES; class ++)
			cell->sizes[way][cell_bin(middle_of_class(class))] += left[way][class];
		/* STDIO has no classes of sizes. */
		if (!known[way] && accesses)
			cell->sizes[way][cell_bin(count_of_way(u, USAGE_BYTES_READ, way) /
						  accesses)] += accesses;
	}
}

/*
 * Accesses after a gap, in the direction `way`. The log does not separate the gaps of reads and
 * writes, so each way has its part of them.
 */
static void add_gaps(struct survey *survey, const struct usage *u, int way, uint64_t after_gap,
		     double part)
{
	uint64_t size = count_at(u, USAGE_SIZE), short_ones = 0, strided;

	for (unsigned i = 0; i < USAGE_COMMON && after_gap; i++) {
		uint64_t gap = count_at(u, USAGE_GAP + i);
		double count = (double)count_at(u, USAGE_GAP_COUNT + i) * part;

		if (!gap)
			continue;
		strided = MIN((uint64_t)count, after_gap);
		survey_add_strides(survey, way, gap + size, strided);
		if (gap <= SURVEY_SHORT_SEEK_BYTES)
			short_ones += strided;
		after_gap -= strided;
	}
	survey->short_seeks[way] += short_ones;
}

static void add_order(struct survey *survey, const struct usage *u, int way)
{
	uint64_t accesses = count_of_way(u, USAGE_READS, way);
	uint64_t forward = MIN(count_of_way(u, USAGE_FORWARD_READS, way), accesses);
	uint64_t consecutive = MIN(count_of_way(u, USAGE_CONSECUTIVE_READS, way), forward);
	uint64_t first = MIN(accesses - forward, MAX(count_at(u, USAGE_OPENS), 1));
	uint64_t all = count_at(u, USAGE_READS) + count_at(u, USAGE_WRITES);

	/* Only POSIX counters tell the order. */
	if (!count_at(u, USAGE_ALIGNMENT_BYTES) || !accesses)
		return;
	survey->sequential[way] = consecutive + first;
	add_gaps(survey, u, way, forward - consecutive, (double)accesses / (double)all);
	survey->long_seeks[way] = accesses - survey->sequential[way] -
				  MIN(survey->short_seeks[way], accesses - survey->sequential[way]);
}

static void add_alignment(struct survey *survey, const struct usage *u, int way)
{
	uint64_t accesses = count_of_way(u, USAGE_READS, way);
	uint64_t all = count_at(u, USAGE_READS) + count_at(u, USAGE_WRITES);
	uint64_t unaligned = MIN(count_at(u, USAGE_UNALIGNED), all);
	uint64_t alignment = count_at(u, USAGE_ALIGNMENT_BYTES);

	if (all && alignment)
		survey_add_aligned(
			survey, way, alignment,
			(uint64_t)((double)(all - unaligned) / (double)all * (double)accesses));
}

static void add_survey(struct survey *survey, const struct usage *u)
{
	for (int way = READING; way <= WRITING; way++) {
		survey->accesses[way] = count_of_way(u, USAGE_READS, way);
		survey->bytes[way] = count_of_way(u, USAGE_BYTES_READ, way);
		survey->transfer_ns[way] = (int64_t)count_of_way(u, USAGE_READ_NS, way);
		survey->regions[way].unplaced = survey->bytes[way] > 0;
		add_order(survey, u, way);
		add_alignment(survey, u, way);
	}
	survey->seeks = count_at(u, USAGE_SEEKS);
	survey->open_ns = (int64_t)count_at(u, USAGE_METADATA_NS);
	survey->first_ns = (int64_t)count_at(u, USAGE_FIRST_NS);
	survey->last_ns = (int64_t)count_at(u, USAGE_LAST_NS);
}

static void add_calls(struct cell *cell, const struct usage *u)
{
	static const struct {
		uint8_t value, class;
		bool is_metadata;
	} kinds[] = {
		{ USAGE_OPENS, CLASS_OPEN, true },  { USAGE_STATS, CLASS_STAT, true },
		{ USAGE_SEEKS, CLASS_SEEK, true },  { USAGE_OTHERS, CLASS_META, true },
		{ USAGE_SYNCS, CLASS_SYNC, false }, { USAGE_MAPS, CLASS_MAP, false },
		{ USAGE_READS, CLASS_READ, false }, { USAGE_WRITES, CLASS_WRITE, false },
	};
	uint64_t metadata = count_at(u, USAGE_OPENS) + count_at(u, USAGE_STATS) +
			    count_at(u, USAGE_SEEKS) + count_at(u, USAGE_OTHERS);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t calls = count_at(u, kinds[i].value);

		cell->calls[kinds[i].class] = calls;
		cell->survey.calls += calls;
		if (kinds[i].is_metadata && metadata)
			cell->time_ns[kinds[i].class] =
				(int64_t)((double)u->value[USAGE_METADATA_NS] * (double)calls /
					  (double)metadata);
	}
	cell->time_ns[CLASS_READ] = u->value[USAGE_READ_NS];
	cell->time_ns[u->value[USAGE_WRITES] ? CLASS_WRITE : CLASS_SYNC] = u->value[USAGE_WRITE_NS];
}

void counted_add_usage(struct cell *cell, const struct usage *usage)
{
	struct cell *made = xcalloc(1, sizeof(*made));

	add_calls(made, usage);
	add_survey(&made->survey, usage);
	add_sizes(made, usage);
	made->collective[READING] = count_at(usage, USAGE_COLLECTIVE_READS);
	made->collective[WRITING] = count_at(usage, USAGE_COLLECTIVE_WRITES);
	cell_merge(cell, made);
	survey_release(&made->survey);
	free(made);
}

static void add_flow(struct profile *p, const struct flow *flow, unsigned layer, bool is_io)
{
	const struct process_info *process = &p->head->processes[flow->process];
	const struct timeline_bin what = {
		.bytes = { (uint64_t)flow->bytes_read, (uint64_t)flow->bytes_written },
	};
	struct timeline_span span = timeline_find(&p->timeline, flow->start_ns, flow->period_ns);

	timeline_add(&p->timeline, &span, p->timeline.layers[layer], &what);
	if (!is_io)
		return;
	timeline_add(&p->timeline, &span, p->timeline.io, &what);
	if (!process_is_group(process))
		timeline_add_member(&p->timeline, &span, MAX(process->rank, 0), &what);
}

/* The bytes of POSIX are mostly those of MPI-IO, so only one of the two is what was requested. */
static void add_flows(struct profile *p)
{
	unsigned above = LAYER_POSIX;

	for (size_t i = 0; i < p->head->flow_count; i++)
		if (layer_by_name(p->head->flows[i].layer) == LAYER_MPI)
			above = LAYER_MPI;
	for (size_t i = 0; i < p->head->flow_count; i++) {
		unsigned layer = (unsigned)layer_by_name(p->head->flows[i].layer);

		add_flow(p, &p->head->flows[i], layer, layer == above || layer == LAYER_STDIO);
	}
}

/* Counts of all ranks together are of no member. */
static int32_t member_of(const struct process_info *process)
{
	if (process_is_group(process))
		return CELL_OTHERS;
	return process->rank >= 0 ? process->rank : (int32_t)process->index;
}

static void add_facts(struct profile *p, const struct usage *u, int32_t ranks)
{
	struct group_facts group = {
		.ranks = ranks,
		.slowest_rank = u->value[USAGE_SLOWEST_RANK],
		.time_ns = u->value[USAGE_READ_NS] + u->value[USAGE_WRITE_NS] +
			   u->value[USAGE_METADATA_NS],
		.slowest_ns = u->value[USAGE_SLOWEST_NS],
		.bytes = count_at(u, USAGE_BYTES_READ) + count_at(u, USAGE_BYTES_WRITTEN),
		.slowest_bytes = count_at(u, USAGE_SLOWEST_BYTES),
	};
	struct file_facts *facts;

	if (!u->file || (!u->value[USAGE_STRIPE_COUNT] && !group.bytes))
		return;
	facts = facts_put(&p->facts, u->file);
	if (u->value[USAGE_STRIPE_COUNT])
		facts->layout.stripes = count_at(u, USAGE_STRIPE_COUNT);
	if (ranks && group.bytes && group.slowest_rank >= 0 &&
	    group.slowest_ns > facts->group.slowest_ns)
		facts->group = group;
}

void counted_add(struct profile *profile)
{
	const struct trace_head *head = profile->head;

	for (size_t i = 0; i < head->usage_count; i++) {
		const struct usage *u = &head->usages[i];
		const struct process_info *process = &head->processes[u->process];
		struct cell *cell =
			cell_table_get(&profile->cells, (unsigned)layer_by_name(u->layer), u->file,
				       member_of(process));

		counted_add_usage(cell, u);
		if (process_is_group(process))
			cell->group = process->ranks;
		add_facts(profile, u, process_is_group(process) ? process->ranks : 0);
	}
	add_flows(profile);
}
