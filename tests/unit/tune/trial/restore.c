/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Restoring files from a journal, and the journals of tunings that were killed. The guest, which
 * makes the entries, is tested by unit/capture/preserve/preserve.c and tests/run/tune_preserve.sh.
 */
#include "tune/trial/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "check.h"
#include "tune/trial/entries.h"
#include "tune/trial/lock.h"
#include "tune/trial/snapshot.h"

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	REQUIRE(f);
	fputs(text, f);
	fclose(f);
}

static char *file_text(const char *path)
{
	char text[64] = "";
	FILE *f = fopen(path, "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return xstrdup(text);
}

static void put_entry(const struct snapshot *s, const char *name, enum journal_kind kind,
		      const char *path, const struct stat *st)
{
	struct journal_record record = { .kind = kind, .path = path };
	char text[JOURNAL_RECORD_BYTES];
	AUTO_FREE char *entry = place_join(s->journal, name);

	if (st) {
		record.device = st->st_dev;
		record.inode = st->st_ino;
		record.mode = st->st_mode;
		record.uid = st->st_uid;
		record.gid = st->st_gid;
		record.size = (uint64_t)st->st_size;
		record.mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
	}
	REQUIRE(journal_write_record(text, &record) && symlink(text, entry) == 0);
}

/* Enters a file as the guest did in older versions before it was opened for writing: with the
 * number of its device. */
static void enter_file(const struct snapshot *s, const char *path, const char *text)
{
	char name[JOURNAL_NAME_BYTES];
	AUTO_FREE char *link_path = NULL, *data = NULL;
	struct stat st;

	REQUIRE(stat(path, &st) == 0);
	journal_file_name(name, JOURNAL_LINK, st.st_dev, st.st_ino);
	link_path = place_join(s->journal, name);
	REQUIRE(link(path, link_path) == 0);
	journal_file_name(name, JOURNAL_DATA, st.st_dev, st.st_ino);
	data = place_join(s->journal, name);
	put_file(data, text);
	journal_file_name(name, JOURNAL_CHANGED, st.st_dev, st.st_ino);
	put_entry(s, name, JOURNAL_WRITTEN, path, &st);
	journal_hash_name(name, JOURNAL_PATH, journal_hash(path), -1);
	put_entry(s, name, JOURNAL_FILE, path, &st);
}

static void enter_absent(const struct snapshot *s, const char *path)
{
	char name[JOURNAL_NAME_BYTES];

	journal_hash_name(name, JOURNAL_PATH, journal_hash(path), -1);
	put_entry(s, name, JOURNAL_ABSENT, path, NULL);
}

static struct snapshot open_snapshot(const char *state)
{
	struct snapshot_options options = { .base = check_directory(), .state = state };
	struct snapshot s;
	struct err err = { 0 };

	CHECK_INT(snapshot_open(&s, &options, &err), 0);
	REQUIRE(s.journal);
	return s;
}

/* What a difficult program does to `data`: it moves it, changes it there, and writes a new one. */
static void change_files(const char *data, const char *moved)
{
	REQUIRE(rename(data, moved) == 0);
	put_file(moved, "changed");
	REQUIRE(chmod(moved, 0644) == 0);
	put_file(data, "new");
}

static void check_restored(const char *data, const char *moved)
{
	AUTO_FREE char *text = file_text(data);
	struct stat st;

	CHECK_TEXT(text, "original");
	CHECK(!place_exists(moved));
	REQUIRE(stat(data, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(st.st_nlink, 1);
	CHECK_INT(st.st_mtim.tv_sec, 1000);
}

static void make_data(const char *data)
{
	const struct timespec times[2] = { { 1000, 1 }, { 1000, 1 } };

	put_file(data, "original");
	REQUIRE(chmod(data, 0600) == 0 && utimensat(AT_FDCWD, data, times, 0) == 0);
}

static void moved_and_changed_file_is_restored_each_time(void)
{
	AUTO_FREE char *data = check_path("data"), *moved = check_path("data.bak");
	struct err err = { 0 };
	struct snapshot s;

	make_data(data);
	s = open_snapshot(NULL);
	enter_file(&s, data, "original");
	enter_absent(&s, moved);
	for (int i = 0; i < 2; i++) {
		change_files(data, moved);
		CHECK_INT(snapshot_restore(&s, &err), 0);
	}
	change_files(data, moved);
	CHECK_INT(snapshot_close(&s, &err), 0);
	check_restored(data, moved);
}

static void older_file_under_a_new_name_is_not_removed(void)
{
	AUTO_FREE char *old = check_path("old"), *here = check_path("here");
	struct err err = { 0 };
	struct snapshot s;
	struct statx st;

	put_file(old, "mine");
	REQUIRE(statx(AT_FDCWD, old, 0, STATX_BTIME, &st) == 0);
	usleep(20000); /* the clock of file systems advances in ticks */
	s = open_snapshot(NULL);
	enter_absent(&s, here);
	REQUIRE(rename(old, here) == 0);
	CHECK_INT(snapshot_close(&s, &err), 0);
	/* Without birth times, the journal alone decides. */
	CHECK(place_exists(here) || !(st.stx_mask & STATX_BTIME));
	unlink(here);
}

static void killed_tuning_is_recovered_once(void)
{
	AUTO_FREE char *data = check_path("data"), *moved = check_path("data.bak");
	AUTO_FREE char *state = check_path("state");
	struct err err = { 0 };
	struct snapshot s;

	make_data(data);
	s = open_snapshot(state);
	enter_file(&s, data, "original");
	enter_absent(&s, moved);
	snapshot_begin_trial(&s);
	change_files(data, moved);
	CHECK_INT(snapshot_recover(state, &err), 0); /* it is alive */
	close(s.lock);				     /* as if it was killed */
	CHECK_INT(snapshot_recover(state, &err), 1);
	check_restored(data, moved);
	CHECK(!place_exists(s.journal));
	CHECK_INT(snapshot_recover(state, &err), 0);
	free(s.journal);
	free(s.state);
	free(s.record);
	free(s.locked);
}

static void lock_names_its_holder(void)
{
	AUTO_FREE char *path = check_path("lock"), *pid = xprintf("%d", (int)getpid());
	struct err err = { 0 };
	int fd = lock_take(path, "a tuning", &err);

	CHECK(fd >= 0);
	CHECK_INT(lock_take(path, "a tuning", &err), -EBUSY);
	CHECK_WORDS(err.text, pid);
	CHECK(lock_is_of_living(path));
	close(fd);
	fd = lock_take(path, "a tuning", &err);
	CHECK(fd >= 0);
	close(fd);
}

TESTS(TEST(moved_and_changed_file_is_restored_each_time),
      TEST(older_file_under_a_new_name_is_not_removed), TEST(killed_tuning_is_recovered_once),
      TEST(lock_names_its_holder))
