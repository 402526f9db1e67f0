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

static uint64_t value_of(const struct window_sum *sum, enum window_measure of)
{
	return of == WINDOW_TIME    ? (uint64_t)sum->time_ns
	       : of == WINDOW_BYTES ? sum->bytes[0] + sum->bytes[1]
				    : sum->calls;
}

/*
 * The bins of all members of a lane equal those of queries for each of them. Of windows that are
 * not read from the trace, only the number of calls is compared, of all bins together.
 */
static void check_lane(struct window_index *index, const struct window_filter *filter,
		       const struct window_heatmap *map, size_t lane, enum window_measure of,
		       bool exactly)
{
	const struct window_limits limits = { .bins = map->bin_count };
	AUTO_FREE double *sums = xcalloc(map->bin_count, sizeof(*sums));
	struct window_filter f = *filter;
	double found = 0, wanted = 0;

	f.has_member = true;
	for (f.member = map->lanes[lane].first_member; f.member <= map->lanes[lane].last_member;
	     f.member++) {
		struct window_result r;
		struct err err = { 0 };

		REQUIRE(window_query(index, &f, &limits, &r, &err) == 0);
		REQUIRE(r.bin_count == map->bin_count);
		for (size_t bin = 0; bin < r.bin_count; bin++)
			sums[bin] += (double)value_of(&r.bins[bin], of);
		window_result_release(&r);
	}
	for (size_t bin = 0; bin < map->bin_count; bin++) {
		double value = (double)map->values[lane * map->bin_count + bin];

		if (exactly)
			CHECK_NEAR(value, sums[bin], 8);
		found += value;
		wanted += sums[bin];
	}
	CHECK(of != WINDOW_CALLS || found == wanted);
}

static void check_map(struct window_index *index, const struct window_filter *f, size_t members,
		      size_t lanes, bool exactly)
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
			check_lane(index, f, &map, i, (enum window_measure)of, exactly);
		}
		CHECK_INT(next, members);
		window_heatmap_release(&map);
	}
}

static void every_member_has_its_bins(void)
{
	for (int i = 0; i < 4; i++) {
		bool parallel = i & 1, exactly = i & 2;
		size_t members = parallel ? 7 : 8;
		struct made m = make_run(8, parallel, 60);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		const struct index_tuning tuning = { .chapter = exactly ? 1000 : 50 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_STORAGE };

		check_map(index, &f, members, 100, exactly);
		check_map(index, &f, members, 3, exactly);
		f.from_ns = m.end_ns / 3;
		f.to_ns = m.end_ns / 2;
		check_map(index, &f, members, 100, exactly);
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
