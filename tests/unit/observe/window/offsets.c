/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transfers of a file in a window, all of them or a sample.
 */
#include "observe/window/window.h"

#include <errno.h>

#include "window_sample.h"

static struct window_offsets find(struct window_index *index, const struct window_filter *f,
				  size_t limit)
{
	struct window_offsets offsets = { 0 };
	struct err err = { 0 };

	if (window_offsets(index, f, limit, &offsets, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	return offsets;
}

/* The next transfer from `from` on that a plain pass finds. */
static size_t next_transfer(const struct made *m, const struct counted *all,
			    const struct window_filter *f, size_t from)
{
	for (; from < m->count; from++) {
		const struct counted *c = &all[from];

		if (is_selected(m, c, f, true) && c->share.transfer && !c->share.is_copy &&
		    c->a.present & PRESENT(OFFSET) && c->a.start_ns >= f->from_ns &&
		    c->a.start_ns < f->to_ns)
			break;
	}
	return from;
}

static bool is_access(const struct window_access *x, const struct counted *c)
{
	uint64_t bytes = c->share.bytes_read + c->share.bytes_written;

	return x->start_ns == c->a.start_ns && x->duration_ns == c->a.duration_ns &&
	       x->offset == c->a.offset && x->bytes == bytes &&
	       x->way == (calls[c->a.call].class == CLASS_READ ? READING : WRITING);
}

static void few_chapters_give_all_transfers(void)
{
	struct made m = make_run(3, true, 2000);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = m.count / 5 };
	struct window_index *index = index_whole_run(path, &tuning);
	struct window_filter f = { .file = "/data/3", .to_ns = m.end_ns + 1 };

	for (int i = 0; i < 5; i++) {
		struct window_offsets offsets;
		size_t at = 0;

		f.from_ns = m.end_ns / 10 * i;
		f.level = (enum window_level)(i % 3);
		offsets = find(index, &f, 0);
		CHECK(offsets.count > 0 && !offsets.sampled);
		for (size_t k = 0; k < offsets.count; k++) {
			at = next_transfer(&m, all, &f, at);
			REQUIRE(at < m.count);
			CHECK(is_access(&offsets.list[k], &all[at]));
			at++;
		}
		CHECK_INT(next_transfer(&m, all, &f, at), m.count);
		window_offsets_release(&offsets);
	}
	window_index_close(index);
	free(m.list);
}

static void many_transfers_are_sampled(void)
{
	struct made m = make_run(3, false, 4000);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	AUTO_FREE struct counted *all = count_all(&m);
	const struct index_tuning tuning = { .chapter = 1500 };
	struct window_index *index = index_whole_run(path, &tuning);
	struct window_filter f = { .file = "/data/3", .level = WINDOW_ALL, .to_ns = m.end_ns + 1 };
	struct window_offsets offsets = find(index, &f, 0), few = find(index, &f, 20);
	size_t at = 0, missing = 0;

	REQUIRE(index->chapter_count > WINDOW_READ_CHAPTERS);
	CHECK(offsets.sampled && offsets.count > 20);
	for (size_t k = 0; k < offsets.count; k++, at++) {
		for (at = next_transfer(&m, all, &f, at);
		     at < m.count && !is_access(&offsets.list[k], &all[at]);
		     at = next_transfer(&m, all, &f, at + 1))
			missing++;
		REQUIRE(at < m.count);
	}
	CHECK(missing > 0);
	CHECK(few.sampled && few.count <= 20 && few.count > 10);
	window_offsets_release(&offsets);
	window_offsets_release(&few);
	window_index_close(index);
	free(m.list);
}

static void file_must_be_named(void)
{
	struct made m = make_run(2, false, 50);
	AUTO_FREE char *path = write_run(&m, &trace_container);
	struct window_index *index = index_whole_run(path, NULL);
	struct window_filter f = { 0 };
	struct window_offsets offsets;
	struct err err = { 0 };

	CHECK_INT(window_offsets(index, &f, 0, &offsets, &err), -EINVAL);
	f.file = "/missing";
	offsets = find(index, &f, 10);
	CHECK_INT(offsets.count, 0);
	window_offsets_release(&offsets);
	window_index_close(index);
	free(m.list);
}

TESTS(TEST(few_chapters_give_all_transfers), TEST(many_transfers_are_sampled),
      TEST(file_must_be_named))
