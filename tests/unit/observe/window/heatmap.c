/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A heat map has the bins of window_query() for each member.
 */
#include "observe/window/window.h"

#include "window_sample.h"

static struct window_heatmap draw(struct window_index *index, const struct window_filter *f,
				  size_t bins, size_t lanes, enum window_measure of)
{
	struct window_heatmap map = { 0 };
	struct err err = { 0 };

	if (window_heatmap(index, f, bins, lanes, of, &map, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return map;
}

/* The bins of all members of a lane, added up. */
static uint64_t expect(struct window_index *index, const struct window_filter *filter,
		       const struct window_lane *lane, size_t bins, size_t bin,
		       enum window_measure of)
{
	const struct window_limits limits = { .bins = bins };
	struct window_filter f = *filter;
	uint64_t sum = 0;

	f.has_member = true;
	for (f.member = lane->first_member; f.member <= lane->last_member; f.member++) {
		struct window_result r;
		struct err err = { 0 };

		REQUIRE(window_query(index, &f, &limits, &r, &err) == 0);
		REQUIRE(bin < r.bin_count);
		sum += of == WINDOW_TIME    ? (uint64_t)r.bins[bin].time_ns
		       : of == WINDOW_BYTES ? r.bins[bin].bytes[0] + r.bins[bin].bytes[1]
					    : r.bins[bin].calls;
		window_result_release(&r);
	}
	return sum;
}

static void check_map(struct window_index *index, const struct window_filter *f, size_t members,
		      size_t lanes)
{
	for (int of = WINDOW_TIME; of <= WINDOW_CALLS; of++) {
		struct window_heatmap map = draw(index, f, 9, lanes, (enum window_measure)of);
		int32_t next = 0;

		CHECK_INT(map.lane_count, lanes < members ? lanes : members);
		CHECK(!map.frame.folded);
		for (size_t i = 0; i < map.lane_count; i++) {
			CHECK_INT(map.lanes[i].first_member, next);
			CHECK(map.lanes[i].last_member >= next && map.lanes[i].host);
			next = map.lanes[i].last_member + 1;
			for (size_t bin = 0; bin < map.bin_count; bin++)
				CHECK_INT(map.values[i * map.bin_count + bin],
					  expect(index, f, &map.lanes[i], 9, bin,
						 (enum window_measure)of));
		}
		CHECK_INT(next, members);
		window_heatmap_release(&map);
	}
}

static void every_member_has_its_bins(void)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		struct made m = make_run(8, parallel, 60);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		const struct index_tuning tuning = { .chapter = 50 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_STORAGE };

		check_map(index, &f, parallel ? 7 : 8, 100);
		check_map(index, &f, parallel ? 7 : 8, 3);
		f.from_ns = m.end_ns / 3;
		f.to_ns = m.end_ns / 2;
		check_map(index, &f, parallel ? 7 : 8, 100);
		window_index_close(index);
		free(m.list);
	}
}

static void strange_sizes_are_limited(void)
{
	struct made m = make_run(3, false, 50);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	struct window_index *index = index_whole_run(path, NULL);
	struct window_filter f = { 0 };
	struct window_heatmap map = draw(index, &f, SIZE_MAX, SIZE_MAX, WINDOW_CALLS);

	CHECK(map.bin_count <= WINDOW_HEATMAP_MAX && map.bin_count > 1);
	CHECK_INT(map.lane_count, 3);
	window_heatmap_release(&map);
	map = draw(index, &f, 0, 0, WINDOW_CALLS);
	CHECK_INT(map.bin_count, 0);
	CHECK_INT(map.lane_count, 1);
	window_heatmap_release(&map);
	map = draw(index, &f, 7, 0, WINDOW_CALLS);
	CHECK_INT(map.lanes[0].last_member, 2);
	window_heatmap_release(&map);
	f.from_ns = 10;
	f.to_ns = 5;
	map = draw(index, &f, 10, 10, WINDOW_CALLS);
	CHECK_INT(map.bin_count, 0);
	window_heatmap_release(&map);
	window_index_close(index);
	free(m.list);
}

TESTS(TEST(every_member_has_its_bins), TEST(strange_sizes_are_limited))
