/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An index of a trace with nonsense in it answers every query.
 */
#include "observe/window/index.h"

#include <errno.h>

#include "base/clock.h"
#include "trace_sample.h"

static char *write_trace(struct activity *list, size_t count)
{
	char *path = sample_path(".sluice");
	void *w = sample_create(&trace_container, path);
	struct err err = { 0 };

	qsort(list, count, sizeof(*list), activity_compare);
	REQUIRE(trace_container.add_activities(w, list, count, &err) == 0);
	REQUIRE(trace_container.finish(w, &sample_end, &sample_clock, &err) == 0);
	return path;
}

/* Parents that are missing, in a cycle, or very deep; times that no run has. */
static struct activity *make_nonsense(size_t count)
{
	struct activity *list = sample_many(count);

	for (size_t i = 0; i < count; i++) {
		struct activity *a = &list[i];

		a->link &= ID_MASK;
		a->link2 &= ID_MASK;
		if (sample_random() % 3 == 0)
			a->parent = a->id;
		if (sample_random() % 3 == 0 && i)
			a->parent = list[sample_random() % i].id;
		if (sample_random() % 50 == 0)
			a->start_ns = sample_random() % 2 ? ACTIVITY_TIME_MAX - (int64_t)i
							  : (int64_t)i - ACTIVITY_TIME_MAX;
		if (sample_random() % 50 == 0)
			a->duration_ns = (INT64_C(1) << 48) * (sample_random() % 2 ? 1 : -1);
	}
	return list;
}

static void ask_everything(struct window_index *index, const struct window_filter *f)
{
	const struct window_limits limits = { 300, 2, 3, 1 };
	struct window_activities page = { 0 };
	struct window_heatmap map = { 0 };
	struct window_causes causes = { 0 };
	struct window_offsets offsets = { 0 };
	struct window_result result = { 0 };
	struct err err = { 0 };

	CHECK_INT(window_query(index, f, &limits, &result, &err), 0);
	CHECK(result.files.count <= 3 && result.functions.count <= 2 && result.members.count <= 1);
	CHECK(result.files.total >= result.files.count);
	window_result_release(&result);
	CHECK_INT(window_heatmap(index, f, 50, 4, WINDOW_BYTES, &map, &err), 0);
	window_heatmap_release(&map);
	CHECK_INT(window_causes(index, f, 10, &causes, &err), 0);
	window_causes_release(&causes);
	CHECK_INT(window_activities(index, f, 20, 5, &page, &err), 0);
	for (size_t i = 0; i < page.count && i < 2; i++) {
		struct window_activity one;

		if (window_activity(index, page.list[i].process, page.list[i].id, &one, &err) == 0)
			window_activity_release(&one);
	}
	window_activities_release(&page);
	if (f->file) {
		CHECK_INT(window_offsets(index, f, 50, &offsets, &err), 0);
		window_offsets_release(&offsets);
	}
	if (err.code)
		printf("%s\n", err.text);
}

static void nonsense_has_figures(void)
{
	for (int run = 0; run < 4; run++) {
		AUTO_FREE struct activity *list = make_nonsense(3000);
		AUTO_FREE char *path = write_trace(list, 3000);
		const struct index_tuning tuning = { .chapter = run % 2 ? 1000 : 100,
						     .rows = 1,
						     .chapter_rows = run < 2 ? 4000 : 20 };
		struct window_index *index = NULL;
		struct err err = { 0 };

		REQUIRE(index_open(&index, path, &tuning, &err) == 0);
		CHECK_INT(window_index_wait(index, &err), 0);
		for (int i = 0; i < 12; i++) {
			struct window_filter f = { .level = (enum window_level)(i % 3),
						   .file = i % 4 ? NULL : "/data/dir1/file-4",
						   .errors = i % 5 == 0,
						   .min_ns = i % 6 ? 0 : sample_value() };

			if (i % 2) {
				f.from_ns = sample_value();
				f.to_ns = sample_value();
			}
			ask_everything(index, &f);
		}
		window_index_close(index);
	}
}

/* Calls that are very deeply nested do not make the index slow, nor exhaust the stack. */
static void deep_chains_are_shortened(void)
{
	enum { DEPTH = 20000 };
	AUTO_FREE struct activity *list = xcalloc(DEPTH, sizeof(*list));
	const struct index_tuning tuning = { .chapter = 5000, .rows = 1, .chapter_rows = 10 };
	struct window_filter f = { .level = WINDOW_ALL };
	struct window_index *index = NULL;
	struct err err = { 0 };
	AUTO_FREE char *path = NULL;

	for (size_t i = 0; i < DEPTH; i++)
		list[i] = (struct activity){ .start_ns = (int64_t)i,
					     .duration_ns = (int64_t)(2 * (DEPTH - i)),
					     .id = id_make(1, i + 1),
					     .parent = i ? id_make(1, i) : 0,
					     .call = 2,
					     .handle = -1,
					     .file = 1,
					     .result = 1,
					     .present = PRESENT(RESULT) };
	path = write_trace(list, DEPTH);
	REQUIRE(index_open(&index, path, &tuning, &err) == 0);
	CHECK_INT(window_index_wait(index, &err), 0);
	for (uint32_t i = 0; i < nodes_count(&index->nodes); i++)
		CHECK(nodes_at(&index->nodes, i)->depth <= NODES_DEPTH_MAX);
	ask_everything(index, &f);
	window_index_close(index);
}

/* Many activities that start at the same time lie in several chapters. */
static void equal_starts_are_counted_once(void)
{
	enum { COUNT = 1000 };
	AUTO_FREE struct activity *list = xcalloc(COUNT, sizeof(*list));
	const struct index_tuning tuning = { .chapter = 64 };
	struct window_index *index = NULL;
	struct err err = { 0 };
	AUTO_FREE char *path = NULL;

	for (size_t i = 0; i < COUNT; i++) {
		list[i] = sample_strided(i);
		list[i].start_ns = (int64_t)(i / 300);
		list[i].process = 2; /* a rank */
	}
	path = write_trace(list, COUNT);
	REQUIRE(index_open(&index, path, &tuning, &err) == 0);
	CHECK_INT(window_index_wait(index, &err), 0);
	for (int64_t from = 0; from < 4; from++) {
		for (int64_t to = from + 1; to < 5; to++) {
			struct window_filter f = { .from_ns = from, .to_ns = to };
			const struct window_limits limits = { .bins = 4 };
			int64_t calls = (to < 4 ? to * 300 : COUNT) - from * 300;
			struct window_activities page;
			struct window_result r;

			CHECK_INT(window_query(index, &f, &limits, &r, &err), 0);
			CHECK_INT(r.total.calls, calls);
			window_result_release(&r);
			CHECK_INT(window_activities(index, &f, COUNT, 0, &page, &err), 0);
			CHECK_INT(page.count, calls);
			for (size_t i = 0; i < page.count; i++)
				CHECK_INT(page.list[i].id, list[(size_t)from * 300 + i].id);
			window_activities_release(&page);
		}
	}
	window_index_close(index);
}

static void first_answer_is_not_empty(void)
{
	AUTO_FREE struct activity *list = sample_many(2000);
	AUTO_FREE char *path = write_trace(list, 2000);
	const struct index_tuning tuning = { .chapter = 100, .pause_after = 1000 };
	const struct window_limits limits = { 0 };
	struct window_filter f = { .level = WINDOW_ALL };
	struct window_index *index = NULL;
	struct window_result r;
	struct err err = { 0 };

	REQUIRE(index_open(&index, path, &tuning, &err) == 0);
	window_index_wait_first(index, 3600 * NS_PER_S);
	REQUIRE(window_query(index, &f, &limits, &r, &err) == 0);
	CHECK(r.total.calls > 0);
	CHECK(r.frame.covered > 0 && r.frame.covered < 1);
	window_result_release(&r);
	window_index_close(index);
	unlink(path);
}

static void changed_trace_is_an_error(void)
{
	AUTO_FREE struct activity *list = sample_many(2000);
	AUTO_FREE char *path = write_trace(list, 2000), *other = write_trace(list, 3);
	AUTO_FREE char *kept = xprintf("%s.kept", path);
	const struct window_limits limits = { .bins = 4 };
	struct window_filter f = { 0 };
	struct window_index *index = NULL;
	struct window_result r;
	struct err err = { 0 };

	REQUIRE(window_index_open(&index, path, &err) == 0);
	CHECK_INT(window_index_wait(index, &err), 0);
	/* The index keeps the file that it has read, whatever has its name now. */
	REQUIRE(link(path, kept) == 0 && rename(other, path) == 0);
	CHECK_INT(window_query(index, &f, &limits, &r, &err), 0);
	CHECK(r.total.calls > 3);
	window_result_release(&r);
	window_index_close(index);

	REQUIRE(window_index_open(&index, kept, &err) == 0);
	CHECK_INT(window_index_wait(index, &err), 0);
	REQUIRE(truncate(kept, 1000) == 0);
	CHECK_INT(window_query(index, &f, &limits, &r, &err), -ESTALE);
	CHECK_WORDS(err.text, "trace|again");
	window_index_close(index);
	unlink(path);
	unlink(kept);
}

TESTS(TEST(nonsense_has_figures), TEST(deep_chains_are_shortened),
      TEST(equal_starts_are_counted_once), TEST(first_answer_is_not_empty),
      TEST(changed_trace_is_an_error))
