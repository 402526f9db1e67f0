/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of activities, and single activities with what caused them.
 */
#include "observe/window/window.h"

#include <errno.h>

#include "window_sample.h"

static struct window_activities list(struct window_index *index, const struct window_filter *f,
				     size_t limit, uint64_t offset)
{
	struct window_activities page = { 0 };
	struct err err = { 0 };

	if (window_activities(index, f, limit, offset, &page, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return page;
}

/* The next activity from `from` on that a plain pass selects. */
static size_t next_selected(const struct made *m, const struct counted *all,
			    const struct window_filter *f, size_t from)
{
	bool whole = !f->from_ns && !f->to_ns;

	for (; from < m->count; from++) {
		const struct counted *c = &all[from];

		if (is_selected(m, c, f, false) &&
		    (whole || (c->a.start_ns >= f->from_ns && c->a.start_ns < f->to_ns)))
			break;
	}
	return from;
}

static void check_pages(struct window_index *index, const struct made *m, const struct counted *all,
			const struct window_filter *f, size_t limit)
{
	size_t at = 0, total = 0;

	for (size_t i = 0; i < m->count; i++, total++) {
		i = next_selected(m, all, f, i);
		if (i == m->count)
			break;
	}
	for (uint64_t offset = 0; offset <= total; offset += limit) {
		struct window_activities page = list(index, f, limit, offset);

		CHECK_INT(page.total, total);
		CHECK(!page.total_is_low);
		CHECK_INT(page.count, total - offset < limit ? total - offset : limit);
		for (size_t i = 0; i < page.count; i++, at++) {
			at = next_selected(m, all, f, at);
			REQUIRE(at < m->count);
			CHECK(page.list[i].id == m->list[at].id &&
			      page.list[i].process == m->list[at].process);
		}
		window_activities_release(&page);
	}
}

static void pages_have_all_activities_in_order(void)
{
	for (int parallel = 0; parallel < 2; parallel++) {
		struct made m = make_run(3, parallel, 200);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		AUTO_FREE struct counted *all = count_all(&m);
		const struct index_tuning tuning = { .chapter = 70 };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_ALL };

		check_pages(index, &m, all, &f, 301);
		f = (struct window_filter){ .level = WINDOW_STORAGE,
					    .from_ns = m.end_ns / 5,
					    .to_ns = m.end_ns / 2 };
		check_pages(index, &m, all, &f, 50);
		f.errors = true;
		f.level = WINDOW_ALL;
		check_pages(index, &m, all, &f, 7);
		f.errors = false;
		f.min_ns = 1000;
		check_pages(index, &m, all, &f, 10);
		f = (struct window_filter){ .function = "pread",
					    .file = "/data/4",
					    .level = WINDOW_ALL };
		check_pages(index, &m, all, &f, 3);
		f = (struct window_filter){ .has_member = true, .member = 1 };
		check_pages(index, &m, all, &f, 200);
		window_index_close(index);
		free(m.list);
	}
}

/* Whether the index keeps all long activities of a chapter, some or hardly any. */
static void long_activities_are_found(void)
{
	for (size_t tops = 1; tops <= 25; tops *= 5) {
		struct made m = make_run(2, true, 40);
		AUTO_FREE char *path = write_run(&m, &trace_container);
		AUTO_FREE struct counted *all = count_all(&m);
		const struct index_tuning tuning = { .chapter = 70, .chapter_tops = tops };
		struct window_index *index = index_whole_run(path, &tuning);
		struct window_filter f = { .level = WINDOW_ALL };

		for (f.min_ns = 1; f.min_ns < 30000; f.min_ns *= 10)
			check_pages(index, &m, all, &f, 100);
		f = (struct window_filter){ .level = WINDOW_ALL,
					    .from_ns = m.end_ns / 5,
					    .to_ns = m.end_ns / 2,
					    .min_ns = 300,
					    .function = "pwrite" };
		check_pages(index, &m, all, &f, 10);
		window_index_close(index);
		free(m.list);
	}
}

static void folded_chapters_are_read(void)
{
	struct made m = make_run(6, false, 100);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = 100, .rows = 1, .chapter_rows = 10 };
	struct window_index *index = index_whole_run(path, &tuning);
	struct window_filter f = { .level = WINDOW_ALL, .file = "/data/4" };

	CHECK(index->chapters[1]->folded);
	check_pages(index, &m, all, &f, 20);
	f = (struct window_filter){ .level = WINDOW_STORAGE, .has_member = true, .member = 4 };
	check_pages(index, &m, all, &f, 100);
	window_index_close(index);
	free(m.list);
}

static void strange_pages_are_empty(void)
{
	struct made m = make_run(2, false, 50);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	struct window_index *index = index_whole_run(path, NULL);
	struct window_filter f = { 0 };
	struct window_activities page = list(index, &f, 10, UINT64_MAX);

	CHECK_INT(page.count, 0);
	CHECK(page.total > 0);
	window_activities_release(&page);
	page = list(index, &f, 0, 0);
	CHECK_INT(page.count, 0);
	window_activities_release(&page);
	f.min_ns = INT64_MAX;
	page = list(index, &f, 10, 0);
	CHECK_INT(page.total, 0);
	window_activities_release(&page);
	window_index_close(index);
	free(m.list);
}

static const struct activity *find_made(const struct made *m, uint32_t process, uint64_t id)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->list[i].process == process && m->list[i].id == id)
			return &m->list[i];
	}
	return NULL;
}

static void check_activity(struct window_index *index, const struct made *m,
			   const struct activity *a)
{
	struct window_activity found = { 0 };
	const struct activity *outer = a;
	struct err err = { 0 };
	size_t children = 0;

	if (window_activity(index, a->process, a->id, &found, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	CHECK(activity_equal(&found.self, a));
	for (size_t i = found.ancestor_count; i-- > 0;) {
		outer = find_made(m, a->process, outer->parent);
		REQUIRE(outer);
		CHECK(activity_equal(&found.ancestors[i], outer));
	}
	CHECK_INT(outer->parent, 0);
	for (size_t i = 0; i < m->count; i++) {
		if (m->list[i].parent != a->id || m->list[i].process != a->process)
			continue;
		REQUIRE(children < found.child_count);
		CHECK(activity_equal(&found.children[children++], &m->list[i]));
	}
	CHECK_INT(children, found.child_count);
	CHECK_INT(found.has_opener, a->link != 0);
	if (a->link)
		CHECK(activity_equal(&found.opener, find_made(m, a->process, a->link)));
	window_activity_release(&found);
}

static void activity_has_its_chain(void)
{
	struct made m = make_run(3, false, 150);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	const struct index_tuning tunings[] = { { .chapter = 90 },
						/* Its chapters do not know their threads. */
						{ .chapter = 300, .rows = 1, .chapter_rows = 4 } };
	struct err err = { 0 };

	for (int k = 0; k < 2; k++) {
		struct window_index *index = index_whole_run(path, &tunings[k]);
		struct window_activity found;

		CHECK_INT(index->chapters[0]->has_threads, k == 0);
		for (size_t i = 0; i < m.count; i += 7)
			check_activity(index, &m, &m.list[i]);
		CHECK_INT(window_activity(index, 0, 12345678, &found, &err), -ENOENT);
		CHECK_INT(window_activity(index, UINT32_MAX, 1, &found, &err), -ENOENT);
		CHECK_WORDS(err.text, "activity");
		window_index_close(index);
	}
	free(m.list);
}

TESTS(TEST(pages_have_all_activities_in_order), TEST(long_activities_are_found),
      TEST(folded_chapters_are_read), TEST(strange_pages_are_empty), TEST(activity_has_its_chain))
