/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When which members were busy: one row per member, or per group of consecutive members.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "observe/window/bins.h"
#include "observe/window/view.h"

struct heatmap {
	struct view view;
	struct bins bins;
	struct bin_sums sums;
	uint32_t *lane_of; /* per process */
	bool others;	   /* some calls have no lane */
};

static void add_item(void *arg, const struct item *item)
{
	struct heatmap *map = arg;
	struct window_sum sum = { 0 };

	if (item->process == PROCESS_OTHERS) {
		map->others = true;
		return;
	}
	window_sum_add(&sum, item, item->pick & PICK_FULL);
	bins_add(&map->bins, &map->sums, map->lane_of[item->process], &sum, &item->span,
		 item->inside);
}

/* Numbers the members in their order: ranks, or processes. Returns how many there are. */
static size_t number_members(struct heatmap *map)
{
	const struct window_index *index = map->view.index;
	size_t count = index->trace.head.process_count;

	map->lane_of = xcalloc(count + 1, sizeof(*map->lane_of));
	for (uint32_t i = 0; i < count; i++) {
		int32_t rank = ranks_of_process(&index->ranks, i);

		map->lane_of[i] = !index->ranks.count ? i : rank < 0 ? 0 : (uint32_t)rank;
	}
	return index->ranks.count ? index->ranks.count : count;
}

static void make_lanes(struct heatmap *map, struct window_heatmap *result, size_t limit)
{
	const struct window_index *index = map->view.index;
	const struct trace_head *head = &index->trace.head;
	size_t members = number_members(map);
	size_t count = limit < members ? limit : members;

	result->lane_count = count;
	result->lanes = xcalloc(count + 1, sizeof(*result->lanes));
	for (size_t i = 0; i < count; i++)
		result->lanes[i].first_member = -1;
	for (uint32_t i = 0; i < head->process_count && count; i++) {
		size_t number = map->lane_of[i] * count / members;
		struct window_lane *lane = &result->lanes[number];
		int32_t member = index->member_of[i];

		map->lane_of[i] = (uint32_t)number;
		if (member < 0)
			continue;
		if (lane->first_member < 0 || member < lane->first_member) {
			lane->first_member = member;
			lane->name = head->processes[i].program;
			lane->host = head->processes[i].host;
		}
		if (member > lane->last_member)
			lane->last_member = member;
	}
}

static uint64_t value_of(const struct window_sum *cell, enum window_measure of)
{
	switch (of) {
	case WINDOW_TIME:
		return cell->time_ns > 0 ? (uint64_t)cell->time_ns : 0;
	case WINDOW_BYTES:
		return cell->bytes[0] + cell->bytes[1];
	case WINDOW_CALLS:
		break;
	}
	return cell->calls;
}

static void finish_lanes(const struct heatmap *map, struct window_heatmap *result,
			 enum window_measure of)
{
	size_t bins = map->bins.count;
	AUTO_FREE struct window_sum *cells = xcalloc(bins + 1, sizeof(*cells));

	result->bin_ns = map->bins.bin_ns;
	result->bin_count = bins;
	result->values = xcalloc(result->lane_count * bins + 1, sizeof(*result->values));
	for (size_t lane = 0; lane < result->lane_count; lane++) {
		bins_finish(&map->bins, &map->sums, lane, cells);
		for (size_t i = 0; i < bins; i++)
			result->values[lane * bins + i] = value_of(&cells[i], of);
	}
}

static size_t at_most(size_t value)
{
	return value < WINDOW_HEATMAP_MAX ? value : WINDOW_HEATMAP_MAX;
}

int window_heatmap(struct window_index *index, const struct window_filter *filter, size_t bins,
		   size_t lanes, enum window_measure of, struct window_heatmap *result,
		   struct err *err)
{
	struct window_heatmap made = { 0 };
	struct heatmap map = { 0 };
	int r = view_init(&map.view, index, filter, err);

	if (r < 0)
		return r;
	make_lanes(&map, &made, at_most(lanes ? lanes : 1));
	map.bins = bins_divide(&map.view.frame, at_most(bins));
	bin_sums_init(&map.sums, &map.bins, made.lane_count);
	r = view_visit(&map.view, true, add_item, &map, err);
	if (r >= 0) {
		made.frame = map.view.frame;
		made.frame.folded |= map.others;
		finish_lanes(&map, &made, of);
		*result = made;
	} else {
		window_heatmap_release(&made);
	}
	bin_sums_release(&map.sums);
	free(map.lane_of);
	view_release(&map.view);
	return r < 0 ? r : 0;
}

void window_heatmap_release(struct window_heatmap *result)
{
	free(result->lanes);
	free(result->values);
	*result = (struct window_heatmap){ 0 };
}
