/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adds up the profiles of several parts.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/profile/merged_head.h"
#include "observe/profile/profile.h"

void profile_init_merged(struct profile *profile, const struct profile_limits *limits)
{
	struct merged_head *own = merged_head_new();

	profile_init(profile, &own->head, limits);
	profile->own = own;
	profile->parts = 0;
}

static void shift_samples(struct cell *cell, const struct merged_map *map)
{
	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < CELL_SAMPLES; i++) {
			struct cell_sample *sample = &cell->samples[way][i];

			if (!sample->call.id)
				break;
			sample->start_ns += map->shift_ns;
			sample->call.process += map->process_base;
		}
	}
}

static void merge_cell(struct profile *p, const struct cell *from, const struct merged_map *map,
		       int32_t member_base)
{
	int32_t member = from->member == CELL_OTHERS ? CELL_OTHERS : from->member + member_base;
	struct cell *to = cell_table_get(&p->cells, from->layer, map->files[from->file], member);
	struct cell shifted = *from; /* the regions stay with their owner */

	shifted.survey.first_ns += map->shift_ns;
	shifted.survey.last_ns += map->shift_ns;
	shift_samples(&shifted, map);
	cell_merge(to, &shifted);
}

/* In a fixed order, because regions and common sizes depend on it. */
static void merge_cells(struct profile *p, const struct cell_table *other,
			const struct merged_map *map, int32_t member_base)
{
	size_t count;
	AUTO_FREE const struct cell **list = cell_table_list(other, &count);

	for (size_t i = 0; i < count; i++)
		merge_cell(p, list[i], map, member_base);
	p->cells.folded_members += other->folded_members;
	p->cells.folded_files += other->folded_files;
}

static void add_part(struct profile *p, const struct profile *other)
{
	bool is_first = !p->parts;
	struct merged_map map = merged_head_add(p->own, other->head, (uint32_t)p->processes);
	struct renumbering to = { map.calls, map.files, map.shift_ns, merged_head_host, p->own };
	int32_t member_base = other->summary.ranks.count ? 0 : (int32_t)map.process_base;

	if (is_first) {
		timeline_release(&p->timeline);
		timeline_init(&p->timeline, other->head->end.duration_ns, other->timeline.members);
	}
	summary_merge(&p->summary, &other->summary, &to, map.process_base);
	merge_cells(p, &other->cells, &map, member_base);
	call_tree_merge(&p->tree, &other->tree, map.calls, map.files);
	timeline_merge(&p->timeline, &other->timeline, &map, member_base);
	facts_merge(&p->facts, &other->facts, map.files);
	marks_merge(&p->marks, &other->marks, map.files, map.shift_ns, member_base);
	p->parts += other->parts;
	p->processes += other->processes;
	merged_map_release(&map);
}

/* Numbers that stay as they are. */
static struct merged_map map_same(const struct trace_head *head)
{
	struct merged_map map = { .calls = xcalloc(head->call_count + 1, sizeof(*map.calls)),
				  .files = xcalloc(head->file_count + 1, sizeof(*map.files)) };

	for (size_t i = 0; i < head->call_count; i++)
		map.calls[i] = (uint16_t)i;
	for (size_t i = 0; i < head->file_count; i++)
		map.files[i] = (file_id)i;
	return map;
}

void profile_join(struct profile *profile, const struct profile *other)
{
	struct merged_map map = map_same(profile->head);
	struct renumbering to = { .calls = map.calls, .files = map.files };

	summary_join(&profile->summary, &other->summary, &to);
	merge_cells(profile, &other->cells, &map, 0);
	call_tree_merge(&profile->tree, &other->tree, map.calls, map.files);
	timeline_merge(&profile->timeline, &other->timeline, &map, 0);
	facts_merge(&profile->facts, &other->facts, map.files);
	marks_merge(&profile->marks, &other->marks, map.files, 0, 0);
	merged_map_release(&map);
}

/* Makes a profile that owns its head, so that others can be added. */
static void own_head(struct profile *profile)
{
	struct profile_limits limits = { profile->cells.limit, profile->tree.limit };
	struct profile whole;

	profile_init_merged(&whole, &limits);
	add_part(&whole, profile);
	profile_release(profile);
	*profile = whole;
}

int profile_merge(struct profile *profile, const struct profile *other, struct err *err)
{
	if (profile->parts && !profile->summary.ranks.count != !other->summary.ranks.count)
		return err_set(err, ENOTSUP,
			       "a run with MPI ranks cannot be combined with one without ranks");
	if (!profile->own)
		own_head(profile);
	add_part(profile, other);
	return 0;
}
