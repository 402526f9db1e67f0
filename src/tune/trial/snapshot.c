/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "tune/trial/cleanup.h"
#include "tune/trial/entries.h"
#include "tune/trial/lock.h"
#include "tune/trial/restore.h"

#define NAME_PREFIX ".sluice-tune-"
#define LOCK_SUFFIX ".lock"
#define REFUSALS_SHOWN 3
/* Of the lock while a trial runs; child_run() sets it back. */
#define MODE_RUNNING 0700
/* The guardian of a killed tuner takes this long to terminate its processes. */
#define RECOVER_WAIT_S 30.0
#define RECOVER_PAUSE_S 0.1

/* Creates the journal's directory: here, or else where temporary files go. */
static char *make_journal(const char *base, struct err *err)
{
	const char *temporary = getenv("TMPDIR");
	AUTO_FREE char *here = getcwd(NULL, 0);
	const char *const bases[] = { base ? base : here, temporary, "/tmp" };

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		AUTO_FREE char *pattern = bases[i] && *bases[i] == '/'
						  ? place_join(bases[i], NAME_PREFIX "XXXXXX")
						  : NULL;

		if (pattern && mkdtemp(pattern))
			return realpath(pattern, NULL);
	}
	err_set(err, errno, "cannot create a directory in %s: %s", here ? here : ".",
		strerror(errno));
	return NULL;
}

static char *state_directory(const char *state, const char *name, struct err *err)
{
	char *path = place_join(state, name);

	if (place_make_dir(path, 0700, err) >= 0)
		return path;
	free(path);
	return NULL;
}

/* Enters the journal in the state directory and locks it. */
static int enter_journal(struct snapshot *s, struct err *err)
{
	AUTO_FREE char *journals = state_directory(s->state, "journals", err);
	const char *name = path_base_name(s->journal) + strlen(NAME_PREFIX);

	if (!journals)
		return -err->code;
	s->record = place_join(journals, name);
	s->locked = xprintf("%s" LOCK_SUFFIX, s->record);
	s->lock = lock_take(s->locked, "a tuning", err);
	if (s->lock < 0)
		return s->lock;
	if (symlink(s->journal, s->record) != 0)
		return err_set(err, errno, "%s: %s", s->record, strerror(errno));
	return 0;
}

static int write_options(const struct snapshot *s, const struct snapshot_options *o,
			 struct err *err)
{
	AUTO_FREE char *name = place_join(s->journal, JOURNAL_OPTIONS);
	AUTO_FREE char *claims =
		s->state ? state_directory(s->state, "claims", err) : xstrdup(s->journal);
	AUTO_FREE char *full = claims ? realpath(claims, NULL) : NULL;
	struct journal_options options = { .limit = o->limit, .permit = o->permit, .claims = full };
	char text[JOURNAL_RECORD_BYTES];
	struct utsname system;

	options.host = uname(&system) == 0 ? journal_hash(system.nodename) : 0;
	if (!full || !journal_write_options(text, &options) || symlink(text, name) != 0)
		return err_set(err, errno, "%s: %s", name, strerror(errno));
	return 0;
}

/* The birth of the journal by the clock of its file system, which may be a server's. */
static int64_t journal_birth_ns(const char *journal)
{
	struct statx st;

	if (statx(AT_FDCWD, journal, 0, STATX_BTIME, &st) != 0 || !(st.stx_mask & STATX_BTIME))
		return 0;
	return st.stx_btime.tv_sec * NS_PER_S + st.stx_btime.tv_nsec;
}

static void snapshot_release(struct snapshot *s)
{
	if (s->lock >= 0)
		close(s->lock);
	free(s->journal);
	free(s->state);
	free(s->record);
	free(s->locked);
	*s = (struct snapshot){ .lock = -1 };
}

int snapshot_open(struct snapshot *s, const struct snapshot_options *options, struct err *err)
{
	int r = 0;

	*s = (struct snapshot){ .lock = -1 };
	s->journal = make_journal(options->base, err);
	if (!s->journal)
		return -err->code;
	s->since_ns = journal_birth_ns(s->journal);
	s->state = options->state ? xstrdup(options->state) : NULL;
	if (s->state)
		r = enter_journal(s, err);
	if (r >= 0)
		r = write_options(s, options, err);
	if (r < 0) {
		file_remove_tree(s->journal);
		if (s->record)
			unlink(s->record);
		snapshot_release(s);
	}
	return r;
}

int snapshot_exempt(const struct snapshot *s, const char *path, struct err *err)
{
	struct journal_record record = { .kind = JOURNAL_ABSENT, .path = path };
	char name[JOURNAL_NAME_BYTES], text[JOURNAL_RECORD_BYTES];
	AUTO_FREE char *entry = NULL;

	journal_hash_name(name, JOURNAL_PATH, journal_hash(path), -1);
	entry = place_join(s->journal, name);
	if (!journal_write_record(text, &record) || symlink(text, entry) != 0)
		return err_set(err, errno, "%s: %s", entry, strerror(errno));
	return 0;
}

void snapshot_begin_trial(const struct snapshot *s)
{
	if (s->lock >= 0)
		fchmod(s->lock, MODE_RUNNING);
}

static const char advice[] = "; run the trials in copies of a directory (--workdir DIR), or name a "
			     "command that restores "
			     "the files before each trial (--restore CMD)";

static const char *refusal_reason(enum journal_kind kind)
{
	switch (kind) {
	case JOURNAL_TOO_LARGE:
		return "it is larger than tune.copy_limit, and its file system cannot clone files";
	case JOURNAL_NO_SPACE:
		return "there is no space for a copy";
	case JOURNAL_NO_ACCESS:
		return "it can neither be linked nor read";
	case JOURNAL_CLAIMED:
		return "another tuning that is running changes it";
	case JOURNAL_RENAMED_FOLDER:
		return "the program renames this directory";
	case JOURNAL_OTHER_HOST:
		return "it is on another host, and not on the file system of the working "
		       "directory";
	default:
		return "it could not be copied";
	}
}

static bool is_refusal(enum journal_kind kind, bool permit)
{
	return strchr(permit ? "C" : "LSACDFH", (int)kind) != NULL;
}

/* The process that runs the other tuning. */
static char *find_claimant(const struct snapshot *s, const char *path)
{
	char name[JOURNAL_NAME_BYTES], target[JOURNAL_RECORD_BYTES];
	AUTO_FREE char *claim = NULL, *locked = NULL, *holder = NULL;
	ssize_t n;

	if (!s->state)
		return xstrdup("");
	journal_hash_name(name, "", journal_hash(path), -1);
	claim = xprintf("%s/claims/%s", s->state, name);
	n = readlink(claim, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	locked = xprintf("%s/journals/%s" LOCK_SUFFIX, s->state,
			 n > 0 ? path_base_name(target) + strlen(NAME_PREFIX) : "");
	holder = lock_holder(locked);
	return xprintf(" (%s)", holder);
}

char *snapshot_refusal(const struct snapshot *s, bool permit)
{
	struct entries entries;
	struct buf text = { 0 };
	bool is_claimed = false;
	size_t count = 0;

	if (entries_read(&entries, s->journal, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < entries.count; i++) {
		const struct journal_record *record = &entries.list[i].record;
		AUTO_FREE char *who = record->kind == JOURNAL_CLAIMED
					      ? find_claimant(s, record->path)
					      : xstrdup("");

		if (is_refusal(record->kind, permit) && ++count <= REFUSALS_SHOWN)
			buf_printf(&text, "%s%s: %s%s", count > 1 ? "; " : "", record->path,
				   refusal_reason(record->kind), who);
		is_claimed = is_claimed || record->kind == JOURNAL_CLAIMED;
	}
	if (count > REFUSALS_SHOWN)
		buf_printf(&text, "; and %zu more", count - REFUSALS_SHOWN);
	buf_puts(&text, is_claimed ? "; wait for it or stop it" : advice);
	entries_release(&entries);
	if (count)
		return buf_take(&text);
	buf_release(&text);
	return NULL;
}

bool snapshot_has_copied(struct snapshot *s)
{
	struct entries entries;
	size_t before = s->written;

	if (entries_read(&entries, s->journal, NULL) < 0)
		return false;
	s->written = 0;
	for (size_t i = 0; i < entries.count; i++)
		s->written += entries.list[i].record.kind == JOURNAL_WRITTEN;
	entries_release(&entries);
	return s->written > before;
}

/* Removes the entries that concern one trial only. */
static void forget_trial(const char *journal)
{
	static const char prefixes[] = "vcxt"; /* the first letters */
	DIR *dir = opendir(journal);
	struct dirent *item;

	while (dir && (item = readdir(dir))) {
		AUTO_FREE char *path = place_join(journal, item->d_name);

		if (strchr(prefixes, item->d_name[0]) && item->d_name[1] == '-')
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

static int restore_until(const struct snapshot *s, int64_t until_ns, struct entries *entries,
			 struct err *err)
{
	struct restore_options options = { .journal = s->journal,
					   .since_ns = s->since_ns,
					   .until_ns = until_ns,
					   .settled_ns = s->settled_ns };
	int r = entries_read(entries, s->journal, err);

	return r < 0 ? r : restore_files(&options, entries, err);
}

int snapshot_restore(struct snapshot *s, struct err *err)
{
	struct entries entries = { 0 };
	int r = restore_until(s, 0, &entries, err);

	entries_release(&entries);
	forget_trial(s->journal);
	s->settled_ns = clock_realtime_ns();
	return r;
}

static void drop_claims(const struct snapshot *s, const struct entries *entries)
{
	for (size_t i = 0; s->state && i < entries->count; i++) {
		char name[JOURNAL_NAME_BYTES], target[JOURNAL_RECORD_BYTES];
		AUTO_FREE char *claim = NULL;
		ssize_t n;

		journal_hash_name(name, "", journal_hash(entries->list[i].record.path), -1);
		claim = xprintf("%s/claims/%s", s->state, name);
		n = readlink(claim, target, sizeof(target) - 1);
		if (n > 0 && (size_t)n == strlen(s->journal) &&
		    strncmp(target, s->journal, (size_t)n) == 0)
			unlink(claim);
	}
}

/* Restores everything and removes the journal, unless that fails. */
static int finish(struct snapshot *s, int64_t until_ns, struct err *err)
{
	struct entries entries = { 0 };
	struct err why = { 0 };
	int r = restore_until(s, until_ns, &entries, &why);

	if (r >= 0) {
		drop_claims(s, &entries);
		file_remove_tree(s->journal);
		if (s->record)
			unlink(s->record);
		if (s->locked)
			unlink(s->locked);
	} else {
		err_set(err, why.code, "%s; its original is in %s", why.text, s->journal);
	}
	entries_release(&entries);
	snapshot_release(s);
	return r;
}

int snapshot_close(struct snapshot *s, struct err *err)
{
	return s->journal ? finish(s, 0, err) : 0;
}

/* Waits until no process of a killed tuning is left. */
static int wait_for_lock(const char *path)
{
	double until = clock_now_s() + RECOVER_WAIT_S;
	int fd;

	while ((fd = lock_take_over(path)) == -EBUSY && !lock_is_of_living(path) &&
	       clock_now_s() < until)
		clock_sleep_s(RECOVER_PAUSE_S);
	return fd;
}

static int recover_journal(const char *state, const char *record, struct err *err)
{
	AUTO_FREE char *locked = xprintf("%s" LOCK_SUFFIX, record);
	char target[JOURNAL_RECORD_BYTES];
	ssize_t n = readlink(record, target, sizeof(target) - 1);
	struct snapshot s = { .lock = wait_for_lock(locked) };
	struct stat st;
	int64_t until_ns;
	int r;

	if (n <= 0 || s.lock < 0 || fstat(s.lock, &st) != 0) {
		if (s.lock >= 0)
			close(s.lock);
		return 0;
	}
	target[n] = 0;
	s.journal = xstrdup(target);
	s.state = xstrdup(state);
	s.record = xstrdup(record);
	s.locked = xstrdup(locked);
	s.since_ns = journal_birth_ns(s.journal);
	if (access(s.journal, F_OK) != 0) {
		unlink(s.record);
		unlink(s.locked);
		snapshot_release(&s);
		return 0;
	}
	until_ns = (st.st_mode & 0777) == MODE_RUNNING
			   ? 0
			   : st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	r = finish(&s, until_ns, err);
	return r < 0 ? r : 1;
}

/* Removes the claims of journals that somebody has removed together with their directory. */
static void drop_stale_claims(const char *state)
{
	AUTO_FREE char *claims = place_join(state, "claims");
	DIR *dir = opendir(claims);
	struct dirent *item;

	while (dir && (item = readdir(dir))) {
		AUTO_FREE char *claim = place_join(claims, item->d_name);

		if (item->d_name[0] != '.' && access(claim, F_OK) != 0 && errno == ENOENT)
			unlink(claim);
	}
	if (dir)
		closedir(dir);
}

int snapshot_recover(const char *state, struct err *err)
{
	AUTO_FREE char *journals = place_join(state, "journals");
	DIR *dir = opendir(journals);
	struct dirent *item;
	int count = 0;

	while (dir && count >= 0 && (item = readdir(dir))) {
		AUTO_FREE char *record = place_join(journals, item->d_name);
		int r = item->d_type == DT_LNK ? recover_journal(state, record, err) : 0;

		count = r < 0 ? r : count + r;
	}
	if (dir)
		closedir(dir);
	drop_stale_claims(state);
	return count;
}
