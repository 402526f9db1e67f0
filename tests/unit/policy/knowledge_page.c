/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/knowledge_page.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "check.h"

#define READ_MODE 2
#define WRITE_MODE 4
#define LOOKUPS 1000000

static char directory[] = "knowledge-test-XXXXXX";
static char path[64], other[64];
static struct err err;

static struct knowledge *read_back(struct buf *text)
{
	buf_clear(text);
	REQUIRE(file_read_all(text, path, KNOWLEDGE_BYTES_MAX, &err) >= 0);
	REQUIRE(knowledge_is_valid((const struct knowledge *)text->data, text->len));
	return (struct knowledge *)text->data;
}

static const char *suggested(const struct knowledge *k, const char *program, const char *file,
			     const char *from, int mode)
{
	const struct knowledge_hints *e = knowledge_suggest(k, program, file, from, mode);

	return e ? e->hints : "none";
}

static void add_hints(struct knowledge_page *page, const char *program, const char *filesystem,
		      const char *extension, char mode, const char *hints, double gain)
{
	knowledge_page_add_hints(page, &(struct knowledge_advice){ program, filesystem, extension,
								   mode, hints, gain, 2 });
}

static void add_samples(struct knowledge_page *page)
{
	add_hints(page, "model", "", "nc", 'w', "a=1", 1.5);
	add_hints(page, "model", "/scratch", "nc", 'w', "a=2", 2);
	add_hints(page, "model", "/scratch/fast", "nc", 'w', "a=3", 2);
	add_hints(page, "model", "", "*", 'r', "b=1", 1.2);
}

static void the_most_specific_entry_is_found(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	const struct knowledge *k;
	struct stat st;

	add_samples(&page);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0644);
	k = read_back(&text);
	CHECK(k->digest == page.digest);
	CHECK_TEXT(suggested(k, "model", "/scratch/x/out.nc.0003", "/", WRITE_MODE), "a=2");
	CHECK_TEXT(suggested(k, "model", "/scratch/fast/out.nc", "/", WRITE_MODE), "a=3");
	CHECK_TEXT(suggested(k, "model", "/scratchy/out.nc", "/", WRITE_MODE), "a=1");
	CHECK_TEXT(suggested(k, "model", "out.nc", "/scratch/x", WRITE_MODE), "a=2");
	/* Ranks on several nodes do not look at the directory. */
	CHECK_TEXT(suggested(k, "model", "/scratch/out.nc", NULL, WRITE_MODE), "a=1");
	CHECK_TEXT(suggested(k, "model", "/scratch/in", "/", READ_MODE), "b=1");
	CHECK_TEXT(suggested(k, "model", "out.dat", "/", WRITE_MODE), "none");
	CHECK_TEXT(suggested(k, "mode", "out.nc", "/", WRITE_MODE), "none");
	knowledge_page_release(&page);
}

/* Hints that were seen on one file system are not for files on others. */
static void hints_of_one_file_system_stay_there(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	const struct knowledge *k;

	knowledge_page_add_hints(&page,
				 &(struct knowledge_advice){ "one", "", "nc", 'w', "a=1", 1.5, 1 });
	add_hints(&page, "one", "/scratch", "nc", 'w', "a=1", 1.5);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	k = read_back(&text);
	CHECK_TEXT(suggested(k, "one", "/scratch/out.nc", "/", WRITE_MODE), "a=1");
	CHECK_TEXT(suggested(k, "one", "/home/out.nc", "/", WRITE_MODE), "none");
	CHECK_TEXT(suggested(k, "one", "/home/out.nc", NULL, WRITE_MODE), "a=1");
	knowledge_page_release(&page);
}

/* What is mounted below a file system that has entries is another file system. */
static void file_systems_within_others_are_told_apart(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 }, bare = { 0 };
	char deep[KNOWLEDGE_NAME_BYTES + 8] = "/d/";
	const struct knowledge *k;

	add_hints(&page, "one", "/", "nc", 'w', "a=1", 1.5);
	add_hints(&page, "one", "/a/b", "nc", 'w', "a=2", 1.5);
	add_hints(&page, "one", "/d", "nc", 'w', "a=3", 1.5);
	add_hints(&bare, "one", "/", "nc", 'w', "a=1", 1.5);
	add_hints(&bare, "one", "/a/b", "nc", 'w', "a=2", 1.5);
	add_hints(&bare, "one", "/d", "nc", 'w', "a=3", 1.5);
	memset(deep + 3, 'x', sizeof(deep) - 4);
	for (const char *const *p = (const char *const[]){ "/", "/a", "/a/b", "/d", deep, NULL };
	     *p; p++)
		knowledge_page_add_mount(&page, *p);
	CHECK_INT(knowledge_page_publish(&bare, path, &err), 0);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	/* Other mount points of a node do not make it differ from other nodes. */
	CHECK(page.digest == bare.digest);
	k = read_back(&text);
	CHECK_TEXT(suggested(k, "one", "/x/out.nc", "/", WRITE_MODE), "a=1");
	CHECK_TEXT(suggested(k, "one", "/a/out.nc", "/", WRITE_MODE), "none");
	CHECK_TEXT(suggested(k, "one", "/a/b/out.nc", "/", WRITE_MODE), "a=2");
	CHECK_TEXT(suggested(k, "one", "out.nc", "/a/b", WRITE_MODE), "a=2");
	/* A mount point that is too long for the page hides the one that it is below. */
	CHECK_TEXT(suggested(k, "one", "/d/out.nc", "/", WRITE_MODE), "none");
	CHECK_TEXT(suggested(k, "one", "/e/out.nc", "/", WRITE_MODE), "a=1");
	/* So do too many. */
	for (int i = 0; i < 2 * KNOWLEDGE_OTHERS; i++) {
		snprintf(deep, sizeof(deep), "/m%d", i);
		knowledge_page_add_mount(&page, deep);
	}
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	k = read_back(&text);
	CHECK_TEXT(suggested(k, "one", "/x/out.nc", "/", WRITE_MODE), "none");
	CHECK_TEXT(suggested(k, "one", "/a/b/out.nc", "/", WRITE_MODE), "a=2");
	knowledge_page_release(&page);
	knowledge_page_release(&bare);
}

static void the_same_entries_give_the_same_page(void)
{
	struct knowledge_page page = { 0 }, again = { 0 };
	struct stat before, after;

	add_samples(&page);
	add_samples(&again);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	CHECK_INT(stat(path, &before), 0);
	CHECK_INT(knowledge_page_publish(&again, path, &err), 0);
	CHECK_INT(stat(path, &after), 0);
	CHECK(page.digest == again.digest && before.st_ino == after.st_ino);
	add_hints(&again, "other", "", "*", 'w', "a=1", 1.5);
	CHECK_INT(knowledge_page_publish(&again, path, &err), 0);
	CHECK_INT(stat(path, &after), 0);
	CHECK(page.digest != again.digest && before.st_ino != after.st_ino);
	knowledge_page_release(&page);
	knowledge_page_release(&again);
}

/* Every flipped byte of the header is found, and one of an entry when the entry is looked up. */
static void damage_is_found(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	struct knowledge *k;
	struct knowledge_hints *e;

	add_samples(&page);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	knowledge_page_release(&page);
	k = read_back(&text);
	for (size_t i = 0; i < sizeof(*k); i++) {
		text.data[i] ^= 0x40;
		CHECK(!knowledge_is_valid(k, text.len));
		text.data[i] ^= 0x40;
	}
	CHECK(!knowledge_is_valid(k, text.len - 1) && !knowledge_is_valid(k, text.len + 512));
	e = (struct knowledge_hints *)knowledge_suggest(k, "model", "a.nc", "/", WRITE_MODE);
	REQUIRE(e);
	memset(e->hints, 'x', sizeof(e->hints));
	CHECK_TEXT(suggested(k, "model", "a.nc", "/", WRITE_MODE), "none");
	CHECK_INT(knowledge_page_copy(path, other, &err), 0);
	CHECK_INT(truncate(other, 100), 0);
	CHECK_INT(knowledge_page_copy(other, path, &err), -EBADMSG);
	CHECK_TEXT(suggested(read_back(&text), "model", "a.nc", "/", WRITE_MODE), "a=1");
}

/* More entries than slots: the page keeps its size, and what it has can be found. */
static void a_full_page_is_bounded(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	char name[32], much[KNOWLEDGE_TEXT_BYTES + 1];
	const struct knowledge *k;
	unsigned found = 0, durations = 0;

	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = 0;
	add_hints(&page, "model", "", "nc", 'w', much, 1);
	CHECK_INT(page.left_out, 1);
	for (unsigned i = 0; i < 2 * KNOWLEDGE_HINT_SLOTS; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		add_hints(&page, name, "", "*", 'w', "a=1", 1);
	}
	for (unsigned i = 0; i < 2 * KNOWLEDGE_DURATION_SLOTS; i++) {
		struct knowledge_duration d = {
			knowledge_duration_key("*", "", "other", "POSIX", "read", i), i + 1, 10, 20
		};

		knowledge_page_add_duration(&page, "", &d);
	}
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	k = read_back(&text);
	CHECK_INT(text.len, KNOWLEDGE_BYTES_MAX);
	for (unsigned i = 0; i < 2 * KNOWLEDGE_HINT_SLOTS; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		found += knowledge_find_hints(k, name, "", "*", 'w') != NULL;
	}
	for (unsigned i = 0; i < 2 * KNOWLEDGE_DURATION_SLOTS; i++)
		durations +=
			knowledge_find_duration(k, knowledge_duration_key("*", "", "other", "POSIX",
									  "read", i)) != NULL;
	CHECK(found > KNOWLEDGE_HINT_SLOTS / 2 && durations > KNOWLEDGE_DURATION_SLOTS / 2);
	CHECK_INT(1 + 2 * KNOWLEDGE_HINT_SLOTS + 2 * KNOWLEDGE_DURATION_SLOTS - found - durations,
		  page.left_out);
	knowledge_page_release(&page);
}

static void a_duration_is_found_by_its_file_system(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	const struct knowledge *k;
	const char *on;
	char mount[32];

	for (unsigned i = 0; i <= KNOWLEDGE_MOUNTS; i++) {
		struct knowledge_duration d = { .calls = i + 1, .median_ns = 10, .slow_ns = 20 };

		snprintf(mount, sizeof(mount), "/fs%u", i);
		d.key = knowledge_duration_key("*", mount, "other", "POSIX", "read", 1);
		knowledge_page_add_duration(&page, mount, &d);
	}
	CHECK_INT(page.left_out, 1);
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	k = read_back(&text);
	on = knowledge_filesystem(k, "/fs3/a/b");
	CHECK_TEXT(on, "/fs3");
	CHECK_INT(knowledge_find_duration(
			  k, knowledge_duration_key("*", on, "other", "POSIX", "read", 1))
			  ->calls,
		  4);
	CHECK_TEXT(knowledge_filesystem(k, "/fs99"), "");
	CHECK(!knowledge_find_duration(
		k, knowledge_duration_key("*", "", "other", "POSIX", "read", 1)));
	knowledge_page_release(&page);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Prints how long a lookup takes; a machine under load must not fail the test. */
static void lookups_are_measured(void)
{
	AUTO_BUF struct buf text = { 0 };
	struct knowledge_page page = { 0 };
	const struct knowledge *k;
	unsigned found = 0;
	double begin;
	char name[32];

	for (unsigned i = 0; i < KNOWLEDGE_HINT_SLOTS / 2; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		add_hints(&page, name, "", "nc", 'w', "cb_buffer_size=16777216", 2);
	}
	CHECK_INT(knowledge_page_publish(&page, path, &err), 0);
	k = read_back(&text);
	begin = seconds_now();
	for (unsigned i = 0; i < LOOKUPS; i++)
		found += knowledge_suggest(k, "program1000", i & 1 ? "a.nc" : "b.nc", "/scratch",
					   WRITE_MODE) != NULL;
	CHECK_INT(found, LOOKUPS);
	printf("%.0f ns per lookup among %u programs\n", (seconds_now() - begin) / LOOKUPS * 1e9,
	       KNOWLEDGE_HINT_SLOTS / 2);
	knowledge_page_release(&page);
}

static void begin(void)
{
	REQUIRE(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/" KNOWLEDGE_NAME, directory);
	snprintf(other, sizeof(other), "%s/other", directory);
}

static void end(void)
{
	unlink(path);
	unlink(other);
	REQUIRE(rmdir(directory) == 0);
}

TESTS(TEST(begin), TEST(the_most_specific_entry_is_found),
      TEST(hints_of_one_file_system_stay_there), TEST(file_systems_within_others_are_told_apart),
      TEST(the_same_entries_give_the_same_page), TEST(damage_is_found),
      TEST(a_full_page_is_bounded), TEST(a_duration_is_found_by_its_file_system),
      TEST(lookups_are_measured), TEST(end))
