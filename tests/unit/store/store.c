/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-31.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/catalog.h"
#include "store_sample.h"

static void check_refused(const struct sample *sample, int code, const char *words)
{
	struct store *store = NULL;
	struct err err = { 0 };

	CHECK_INT(store_open(&store, sample->path, &err), -code);
	CHECK(!store);
	CHECK_WORDS(err.text, words);
	CHECK_WORDS(err.text, sample->path);
}

static void rows_are_there_after_reopening(void)
{
	struct sample sample;
	struct store *store;
	int64_t id;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_TEXT(store_path(store), sample.path);
	id = catalog_thing(store, THING_NODE, 0, "n1", NULL);
	CHECK(id > 0);
	store_close(store);
	store = sample_open(&sample);
	CHECK_INT(catalog_thing(store, THING_NODE, 0, "n1", NULL), id);
	store_close(store);
	sample_remove(&sample);
}

static int count_attribute(void *arg, int64_t id, const char *domain, const char *name,
			   const char *type)
{
	(void)id, (void)domain, (void)name, (void)type;
	++*(int *)arg;
	return 0;
}

static void a_rolled_back_row_is_gone(void)
{
	struct sample sample;
	struct store *store;
	int count = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(store_begin(store, NULL), 0);
	CHECK(catalog_attribute(store, "POSIX", "x", "bytes", NULL) > 0);
	CHECK_INT(store_end(store, 0, NULL), 0);
	CHECK_INT(catalog_attributes(store, count_attribute, &count, NULL), 0);
	CHECK_INT(count, 0);
	store_close(store);
	sample_remove(&sample);
}

static void a_later_version_is_refused(void)
{
	struct sample sample;

	sample_make(&sample);
	store_close(sample_open(&sample));
	sample_execute(&sample, "PRAGMA user_version = 999");
	check_refused(&sample, EPROTO, "store version 999");
	sample_remove(&sample);
}

static void a_database_of_another_application_is_not_changed(void)
{
	struct sample sample;
	struct stat before, after;

	sample_make(&sample);
	free(sample.path);
	sample.path = xprintf("%s/other.db", sample.directory);
	sample_execute(&sample, "CREATE TABLE theirs (x)");
	REQUIRE(stat(sample.path, &before) == 0);
	check_refused(&sample, EBADMSG, "set store.path");
	REQUIRE(stat(sample.path, &after) == 0);
	CHECK(before.st_size == after.st_size && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	sample_remove(&sample);
}

static void a_file_that_is_not_a_database_is_refused(void)
{
	struct sample sample;
	FILE *f;

	sample_make(&sample);
	free(sample.path);
	sample.path = xprintf("%s/text", sample.directory);
	f = fopen(sample.path, "w");
	REQUIRE(f);
	for (int i = 0; i < 1000; i++)
		fputs("this is not a database\n", f);
	fclose(f);
	check_refused(&sample, EBADMSG, "set store.path");
	sample_remove(&sample);
}

/* All pages but the first are overwritten: the store opens, but its rows cannot be read. */
static void damage_is_reported_with_advice(void)
{
	struct sample sample;
	struct store *store = NULL;
	struct err err = { 0 };
	char junk[4096];
	struct stat st;
	int fd;

	sample_make(&sample);
	store_close(sample_open(&sample));
	fd = open(sample.path, O_WRONLY);
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	memset(junk, 0x5a, sizeof(junk));
	for (off_t at = sizeof(junk); at < st.st_size; at += (off_t)sizeof(junk))
		REQUIRE(pwrite(fd, junk, sizeof(junk), at) == (ssize_t)sizeof(junk));
	close(fd);
	if (store_open(&store, sample.path, &err) >= 0)
		CHECK(catalog_thing(store, THING_NODE, 0, "n1", &err) < 0);
	CHECK(strstr(err.text, sample.path) && strstr(err.text, "store.path"));
	CHECK_INT(err.code, EBADMSG);
	store_close(store);
	sample_remove(&sample);
}

#define UNPRIVILEGED 65534

/* Runs a test in a child without privileges and returns its exit code. */
static int run_unprivileged(void (*act)(const struct sample *), const struct sample *sample)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		check_failures = 0;
		if (geteuid() == 0 && (setegid(UNPRIVILEGED) || seteuid(UNPRIVILEGED)))
			_exit(99);
		act(sample);
		fflush(stdout);
		_exit(check_failures != 0);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void use_read_only_store(const struct sample *sample)
{
	struct store *store = sample_open(sample);
	struct err err = { 0 };

	/* Known names can be registered again; new names are refused. */
	CHECK(catalog_thing(store, THING_NODE, 0, "n1", NULL) > 0);
	CHECK_INT(catalog_thing(store, THING_NODE, 0, "n2", &err), -EACCES);
	CHECK(strstr(err.text, "writable"));
	store_close(store);
}

static void a_read_only_store_can_be_read(void)
{
	struct sample sample;
	AUTO_FREE char *folder = NULL;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK(catalog_thing(store, THING_NODE, 0, "n1", NULL) > 0);
	store_close(store);
	folder = xprintf("%s/folder", sample.directory);
	REQUIRE(chmod(sample.path, 0444) == 0 && chmod(folder, 0555) == 0 &&
		chmod(sample.directory, 0755) == 0 && chmod(check_directory(), 0755) == 0);
	CHECK_INT(run_unprivileged(use_read_only_store, &sample), 0);
	REQUIRE(chmod(folder, 0755) == 0);
	sample_remove(&sample);
}

static void give_to(const struct sample *sample, uid_t user)
{
	AUTO_FREE char *folder = xprintf("%s/folder", sample->directory);

	REQUIRE(chown(sample->path, user, (gid_t)-1) == 0 && chown(folder, user, (gid_t)-1) == 0);
}

static void refuse_to_open(const struct sample *sample)
{
	struct store *store = NULL;
	struct err err = { 0 };

	CHECK_INT(store_open(&store, sample->path, &err), -EPERM);
	CHECK(strstr(err.text, sample->directory));
	CHECK(!store);
}

static void a_store_that_others_may_have_written_is_refused(void)
{
	struct sample sample;
	AUTO_FREE char *folder = NULL;
	struct stat st;

	sample_make(&sample);
	folder = xprintf("%s/folder", sample.directory);
	store_close(sample_open(&sample));
	CHECK(stat(sample.path, &st) == 0 && (st.st_mode & 07777) == 0600);
	REQUIRE(chmod(sample.path, 0660) == 0);
	refuse_to_open(&sample);
	REQUIRE(chmod(sample.path, 0600) == 0 && chmod(folder, 01777) == 0);
	refuse_to_open(&sample); /* a journal could be planted */
	REQUIRE(chmod(folder, 0700) == 0);
	store_close(sample_open(&sample));
	if (geteuid() == 0) {
		REQUIRE(chown(sample.path, UNPRIVILEGED, (gid_t)-1) == 0);
		refuse_to_open(&sample);
	}
	sample_remove(&sample);
}

static void fill_disk(const struct sample *sample)
{
	struct rlimit limit = { 256 << 10, 256 << 10 };
	struct store *store = sample_open(sample);
	struct err err = { 0 };
	int64_t id = 1;
	char name[600];

	/* A limit of the file size makes writes fail as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	memset(name, 'x', sizeof(name));
	for (int i = 0; i < 5000 && id > 0; i++) {
		snprintf(name + 500, 99, "%d", i);
		id = catalog_thing(store, THING_NODE, 0, name, &err);
	}
	CHECK(id < 0);
	CHECK(strstr(err.text, sample->path));
	store_close(store);
}

static void a_full_disk_is_reported_and_old_rows_stay(void)
{
	struct sample sample;
	struct store *store;
	int64_t id;

	sample_make(&sample);
	store = sample_open(&sample);
	id = catalog_thing(store, THING_NODE, 0, "n1", NULL);
	store_close(store);
	REQUIRE(chmod(sample.directory, 0755) == 0 && chmod(check_directory(), 0755) == 0);
	give_to(&sample, geteuid() ? geteuid() : UNPRIVILEGED);
	CHECK_INT(run_unprivileged(fill_disk, &sample), 0);
	give_to(&sample, geteuid());
	store = sample_open(&sample);
	CHECK_INT(catalog_thing(store, THING_NODE, 0, "n1", NULL), id);
	CHECK(catalog_thing(store, THING_NODE, 0, "n2", NULL) > 0);
	store_close(store);
	sample_remove(&sample);
}

static void opening_an_existing_store_creates_none(void)
{
	struct sample sample;
	struct store *store = NULL;
	struct err err = { 0 };

	sample_make(&sample);
	CHECK_INT(store_open_existing(&store, sample.path, &err), -ENOENT);
	CHECK(access(sample.path, F_OK) != 0);
	store_close(sample_open(&sample));
	CHECK_INT(store_open_existing(&store, sample.path, &err), 0);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(rows_are_there_after_reopening), TEST(a_rolled_back_row_is_gone),
      TEST(a_later_version_is_refused), TEST(a_database_of_another_application_is_not_changed),
      TEST(a_file_that_is_not_a_database_is_refused), TEST(damage_is_reported_with_advice),
      TEST(a_read_only_store_can_be_read), TEST(a_store_that_others_may_have_written_is_refused),
      TEST(a_full_disk_is_reported_and_old_rows_stay), TEST(opening_an_existing_store_creates_none))
