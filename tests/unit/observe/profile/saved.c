/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/profile/saved.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "observe/profile/profile_parts.h"
#include "profile_sample.h"

enum { DAMAGES = 80 };

static const char *path(const char *name)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s/%s", check_directory(), name);
	return text;
}

/* The bytes of a saved profile, which say everything that it contains. */
static void read_saved(struct buf *bytes, const char *name)
{
	struct trace trace;
	struct err err = { 0 };

	REQUIRE(trace_open(&trace, path(name), NULL, &err) >= 0);
	REQUIRE(trace.format->read_profile(trace.reader, bytes, &err) >= 0);
	trace_close(&trace);
}

static void a_saved_profile_is_the_same(void)
{
	AUTO_BUF struct buf first = { 0 };
	AUTO_BUF struct buf second = { 0 };
	struct profile original, loaded;
	struct trace trace;
	struct err err = { 0 };

	profile_both(&original, NULL);
	REQUIRE(saved_write(&original, path("a"), &err) >= 0);
	REQUIRE(trace_open(&trace, path("a"), NULL, &err) >= 0);
	REQUIRE(saved_read(&loaded, &trace, &err) == 1);
	CHECK_INT(loaded.summary.all.io.bytes_written, original.summary.all.io.bytes_written);
	CHECK_INT(loaded.cells.map.count, original.cells.map.count);
	CHECK_INT(loaded.tree.count, original.tree.count);
	REQUIRE(saved_write(&loaded, path("b"), &err) >= 0);
	profile_release(&loaded);
	trace_close(&trace);
	read_saved(&first, "a");
	read_saved(&second, "b");
	CHECK(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
	profile_release(&original);
}

static void saved_parts_add_up(void)
{
	struct profile one, first, second, whole;
	struct err err = { 0 };
	char *paths[] = { xstrdup(path("left")), xstrdup(path("right")) };

	profile_both(&one, NULL);
	profile_parts(&first, &second, NULL);
	REQUIRE(saved_write(&first, paths[0], &err) >= 0);
	REQUIRE(saved_write(&second, paths[1], &err) >= 0);
	REQUIRE(profile_load_parts(&whole, paths, 2, 2, NULL, NULL, &err) >= 0);
	CHECK_INT(whole.parts, 2);
	CHECK_INT(whole.summary.ranks.count, RANKS);
	CHECK(memcmp(&whole.summary.all.io, &one.summary.all.io, sizeof(struct tally)) == 0);
	CHECK_INT(whole.cells.map.count, one.cells.map.count);
	profile_release(&whole);
	paths[1] = (free(paths[1]), xstrdup(paths[0]));
	CHECK(profile_load_parts(&whole, paths, 2, 2, NULL, NULL, &err) < 0);
	profile_release(&one);
	profile_release(&first);
	profile_release(&second);
	free(paths[0]);
	free(paths[1]);
}

/* Writes the bytes as the profile of a trace with the facts of the sample. */
static void write_bytes(const struct profile *profile, const struct buf *bytes, const char *name)
{
	const struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	const struct trace_head *head = profile->head;
	struct err err = { 0 };
	void *writer;

	REQUIRE(trace_container.create(&writer, path(name), &head->run, &clock, head->calls,
				       head->call_count, &err) >= 0);
	for (size_t i = 0; i < head->process_count; i++)
		trace_container.add_process(writer, &head->processes[i], &err);
	for (size_t i = 1; i < head->file_count; i++)
		trace_container.add_file(writer, (file_id)i, head->files[i], &err);
	trace_container.add_profile(writer, bytes->data, bytes->len, &err);
	REQUIRE(trace_container.finish(writer, &head->end, &clock, &err) >= 0);
}

/* Whatever the bytes are, a profile is read or refused, and what is read can be merged. */
static void damaged_bytes_do_no_harm(void)
{
	AUTO_BUF struct buf bytes = { 0 };
	struct profile original;
	struct err err = { 0 };
	uint64_t noise = 1;
	int read = 0;

	profile_both(&original, NULL);
	REQUIRE(saved_write(&original, path("c"), &err) >= 0);
	read_saved(&bytes, "c");
	for (int i = 0; i < DAMAGES; i++) {
		struct profile loaded;
		struct trace trace;
		size_t at;
		char old;
		int r;

		noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407;
		at = (size_t)(noise >> 33) % bytes.len;
		old = bytes.data[at];
		bytes.data[at] = (char)(noise >> 20);
		write_bytes(&original, &bytes, "d");
		REQUIRE(trace_open(&trace, path("d"), NULL, &err) >= 0);
		r = saved_read(&loaded, &trace, &err);
		if (r > 0) {
			profile_merge(&loaded, &original, &err);
			profile_release(&loaded);
			read++;
		}
		trace_close(&trace);
		bytes.data[at] = old;
	}
	CHECK(read > 0 && read < DAMAGES);
	profile_release(&original);
}

static void a_trace_is_not_a_saved_profile(void)
{
	struct profile original, none;
	AUTO_BUF struct buf empty = { 0 };
	struct trace trace;
	struct err err = { 0 };

	profile_both(&original, NULL);
	write_bytes(&original, &empty, "e");
	REQUIRE(trace_open(&trace, path("e"), NULL, &err) >= 0);
	CHECK_INT(saved_read(&none, &trace, &err), 0);
	trace_close(&trace);
	profile_release(&original);
}

/* Writes the sample several times, one after the other, as a trace. */
static void write_trace(const char *name)
{
	const struct run_clock clock = { .source = (char *)"monotonic", .num = 1, .den = 1 };
	const struct run_end end = { .duration_ns = 8 * RUN_NS, .complete = true };
	struct profile profile;
	struct err err = { 0 };
	void *writer;

	profile_both(&profile, NULL);
	REQUIRE(trace_container.create(&writer, path(name), &both.head.run, &clock, calls, CALLS,
				       &err) >= 0);
	for (int i = 0; i < RANKS; i++)
		trace_container.add_process(writer, &both.processes[i], &err);
	for (file_id i = 1; i < 6; i++)
		trace_container.add_file(writer, i, both_files[i], &err);
	for (int round = 0; round < 8; round++) {
		for (size_t i = 0; i < both.count; i++) {
			both.list[i].start_ns += round ? RUN_NS : 0;
			both.list[i].id += round ? 1000 : 0;
			both.list[i].parent += round && both.list[i].parent ? 1000 : 0;
		}
		trace_container.add_activities(writer, both.list, both.count, &err);
	}
	REQUIRE(trace_container.finish(writer, &end, &clock, &err) >= 0);
	profile_release(&profile);
}

static void save_read(const char *name, const char *output, unsigned threads, struct sums *all)
{
	struct profile profile;
	struct trace trace;
	struct err err = { 0 };

	REQUIRE(trace_open(&trace, path(name), NULL, &err) >= 0);
	REQUIRE(profile_load(&profile, &trace, threads, NULL, NULL, &err) >= 0);
	REQUIRE(saved_write(&profile, path(output), &err) >= 0);
	*all = profile.summary.all;
	profile_release(&profile);
	trace_close(&trace);
}

/* A job with so many ranks that only their distribution is known. */
static void profile_many(struct profile *many)
{
	static struct process_info processes[SUMMARY_RANKS_MAX];
	static struct trace_head head = { .calls = calls,
					  .call_count = CALLS,
					  .files = both_files,
					  .file_count = 6,
					  .processes = processes,
					  .process_count = SUMMARY_RANKS_MAX,
					  .end = { .duration_ns = RUN_NS } };
	struct profile few;
	struct err err = { 0 };

	for (int i = 0; i < SUMMARY_RANKS_MAX; i++)
		processes[i] = (struct process_info){ .index = (uint32_t)i,
						      .parent = -1,
						      .rank = RANKS + 2 * i,
						      .ranks = RANKS + 2 * SUMMARY_RANKS_MAX,
						      .host = i % 2 ? "odd" : "even" };
	profile_both(&few, NULL);
	profile_init(many, &head, NULL);
	REQUIRE(profile_merge(many, &few, &err) >= 0);
	REQUIRE(many->summary.spreads != NULL);
	profile_release(&few);
}

static void profiles_of_many_ranks_can_be_saved(void)
{
	const struct measure *written = &sums_measures[SUMS_WRITTEN];
	AUTO_BUF struct buf first = { 0 };
	AUTO_BUF struct buf second = { 0 };
	struct profile many, loaded, more;
	struct spread expected;
	struct trace trace;
	struct err err = { 0 };

	profile_many(&many);
	expected = summary_rank_spread(&many.summary, written);
	REQUIRE(saved_write(&many, path("many"), &err) >= 0);
	profile_release(&many);
	REQUIRE(trace_open(&trace, path("many"), NULL, &err) >= 0);
	REQUIRE(saved_read(&loaded, &trace, &err) == 1);
	CHECK(!loaded.summary.of_rank);
	CHECK_INT(loaded.summary.ranks.count, RANKS + SUMMARY_RANKS_MAX);
	CHECK_INT(loaded.summary.ranks.world, RANKS + 2 * SUMMARY_RANKS_MAX);
	CHECK_INT(loaded.summary.ranks.list[RANKS + 7].number, RANKS + 14);
	CHECK_TEXT(loaded.summary.ranks.list[0].host, "n0");
	CHECK_TEXT(loaded.summary.ranks.list[RANKS + 7].host, "odd");
	CHECK_INT(ranks_of_process(&loaded.summary.ranks, 3), RANKS + 3);
	CHECK(memcmp(&expected, &loaded.summary.spreads->ranks[SUMS_WRITTEN], sizeof(expected)) ==
	      0);
	REQUIRE(saved_write(&loaded, path("again"), &err) >= 0);
	read_saved(&first, "many");
	read_saved(&second, "again");
	CHECK(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);

	profile_parts(&more, &many, NULL);
	CHECK(profile_merge(&more, &loaded, &err) >= 0);
	CHECK_INT(more.summary.ranks.count, RANKS + SUMMARY_RANKS_MAX);
	CHECK_INT(more.processes, 2 + RANKS + SUMMARY_RANKS_MAX);
	expected = summary_rank_spread(&more.summary, written);
	CHECK_INT(expected.sum, more.summary.all.io.bytes_written);
	profile_release(&many);
	profile_release(&more);
	profile_release(&loaded);
	trace_close(&trace);
}

static void several_threads_give_the_same_profile(void)
{
	AUTO_BUF struct buf one = { 0 };
	AUTO_BUF struct buf several = { 0 };
	struct sums of_one, of_several;

	write_trace("trace");
	save_read("trace", "one", 1, &of_one);
	save_read("trace", "several", 3, &of_several);
	CHECK(of_one.io.calls > 4096);
	CHECK(memcmp(&of_one.io, &of_several.io, sizeof(struct tally)) == 0);
	CHECK(memcmp(of_one.layers, of_several.layers, sizeof(of_one.layers)) == 0);
	CHECK_INT(of_one.busy_ns, of_several.busy_ns);
	CHECK_INT(of_one.busy_from_ns, of_several.busy_from_ns);
	CHECK_INT(of_one.busy_until_ns, of_several.busy_until_ns);
	read_saved(&one, "one");
	read_saved(&several, "several");
	CHECK(one.len == several.len && memcmp(one.data, several.data, one.len) == 0);
}

TESTS(TEST(several_threads_give_the_same_profile), TEST(a_saved_profile_is_the_same),
      TEST(profiles_of_many_ranks_can_be_saved), TEST(saved_parts_add_up),
      TEST(damaged_bytes_do_no_harm), TEST(a_trace_is_not_a_saved_profile))
