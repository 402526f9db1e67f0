/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "tune/trial/entries.h"

/* The time of a file system may lag behind by a tick of the clock. */
#define TICK_NS (NS_PER_S / 10)

struct restorer {
	const struct restore_options *options;
	uint64_t device; /* of the journal */
	struct err *err;
	int failure; /* the first one */
};

static void report_failure(struct restorer *r, const char *path, const char *what)
{
	if (r->failure)
		return;
	r->failure = err_set(r->err, errno, "%s: cannot be %s: %s", path, what, strerror(errno));
}

static int64_t to_ns(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
	struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	if (t.tv_nsec < 0) {
		t.tv_sec--;
		t.tv_nsec += NS_PER_S;
	}
	return t;
}

static int64_t stamp_ns(const struct statx_timestamp *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* Can a trial have created it? In doubt, without a birth time, the answer is what the caller
 * assumes. */
static bool is_from_trial(const struct restorer *r, const char *path, bool in_doubt)
{
	const struct restore_options *o = r->options;
	int64_t last_ns = o->until_ns ? o->until_ns + TICK_NS : INT64_MAX;
	unsigned wanted = STATX_TYPE | STATX_MTIME | STATX_BTIME;
	struct statx st, journal;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, wanted, &st) != 0 ||
	    statx(AT_FDCWD, o->journal, 0, 0, &journal) != 0)
		return in_doubt;
	if (!S_ISDIR(st.stx_mode) && stamp_ns(&st.stx_mtime) > last_ns)
		return false;
	/* Another file system may be on a server with another clock. */
	if (!(st.stx_mask & STATX_BTIME) || st.stx_dev_major != journal.stx_dev_major ||
	    st.stx_dev_minor != journal.stx_dev_minor)
		return in_doubt;
	return stamp_ns(&st.stx_btime) > o->since_ns && stamp_ns(&st.stx_btime) <= last_ns;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_link(const struct restorer *r, uint64_t device, uint64_t inode)
{
	char name[JOURNAL_NAME_BYTES];
	AUTO_FREE char *link = NULL;
	struct stat kept;

	journal_file_name(name, JOURNAL_LINK, device, inode);
	link = place_join(r->options->journal, name);
	return lstat(link, &kept) == 0 && kept.st_ino == inode;
}

/* Is it another name of a file of the user, which the trial has moved here? Older journals have the
 * number of every device. */
static bool is_kept_file(const struct restorer *r, const struct stat *st)
{
	return has_link(r, journal_device(st->st_dev, r->device), st->st_ino) ||
	       has_link(r, st->st_dev, st->st_ino);
}

static void remove_new(struct restorer *r, const char *path, bool in_doubt);

/* Removes what a renamed directory of the trial has brought along. */
static void empty_directory(struct restorer *r, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *item;

	while (dir && (item = readdir(dir))) {
		AUTO_FREE char *child = place_join(path, item->d_name);

		if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
			remove_new(r, child, false);
	}
	if (dir)
		closedir(dir);
}

static void remove_new(struct restorer *r, const char *path, bool in_doubt)
{
	struct stat st;

	if (lstat(path, &st) != 0 || (!is_kept_file(r, &st) && !is_from_trial(r, path, in_doubt)))
		return;
	if (S_ISDIR(st.st_mode))
		empty_directory(r, path);
	/* A directory that holds a file of somebody else stays. */
	if (S_ISDIR(st.st_mode) ? rmdir(path) != 0 && errno != ENOTEMPTY && errno != EEXIST
				: unlink(path) != 0)
		report_failure(r, path, "removed");
}

/* Removes what trials created; entries are sorted, so that this is the content of directories
 * first. */
static void remove_created(struct restorer *r, const struct entries *entries)
{
	for (size_t i = entries->count; i-- > 0;)
		if (entries->list[i].record.kind == JOURNAL_ABSENT)
			remove_new(r, entries->list[i].record.path, true);
}

static void restore_directory(struct restorer *r, const struct journal_record *record)
{
	mode_t mode = record->mode & 07777;
	struct stat st;

	if (lstat(record->path, &st) == 0 && !S_ISDIR(st.st_mode))
		unlink(record->path);
	if (mkdir(record->path, 0700) != 0 && errno != EEXIST) {
		report_failure(r, record->path, "created again");
		return;
	}
	if (stat(record->path, &st) == 0 && (st.st_mode & 07777) != mode &&
	    chmod(record->path, mode) != 0)
		report_failure(r, record->path, "restored");
}

/* Also of older journals. */
static bool is_device(const struct restorer *r, uint64_t device,
		      const struct journal_record *record)
{
	return record->device == device || record->device == journal_device(device, r->device);
}

static bool is_file(const struct restorer *r, const char *path, const struct journal_record *record,
		    struct stat *st)
{
	return lstat(path, st) == 0 && is_device(r, st->st_dev, record) &&
	       st->st_ino == record->inode;
}

/* Copies all bytes of a range. */
static int copy_range(int from, int to, off_t at, off_t end)
{
	static char buffer[1 << 18];

	while (at < end) {
		off_t in = at, out = at;
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - at), 0);

		if (n <= 0) {
			size_t most = end - at < (off_t)sizeof(buffer) ? (size_t)(end - at)
								       : sizeof(buffer);

			n = pread(from, buffer, most, at);
			if (n > 0)
				n = pwrite(to, buffer, (size_t)n, at);
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
	}
	return 0;
}

/* Makes the content the same, with the same holes. -1 with errno on failure. */
static int copy_content(int from, int to)
{
	struct stat st;
	off_t at = 0, end;

	if (ioctl(to, FICLONE, from) == 0)
		return fstat(from, &st) == 0 ? ftruncate(to, st.st_size) : -1;
	if (fstat(from, &st) != 0 || ftruncate(to, 0) != 0 || ftruncate(to, st.st_size) != 0)
		return -1;
	while (at < st.st_size) {
		off_t start = lseek(from, at, SEEK_DATA);

		if (start < 0 && errno == ENXIO)
			break;
		start = start < 0 ? at : start;
		end = lseek(from, start, SEEK_HOLE);
		end = end > start ? end : st.st_size;
		if (copy_range(from, to, start, end) < 0)
			return -1;
		at = end;
	}
	return 0;
}

static int copy_to(const char *from, const char *to, int flags)
{
	AUTO_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_CLOSE int out =
		in < 0 ? -1 : open(to, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

	return in < 0 || out < 0 ? -1 : copy_content(in, out);
}

/* Makes another name of the kept file, or a copy of the content if no link could be made. */
static int make_again(const struct restorer *r, const struct entry *entry, const char *draft)
{
	char name[JOURNAL_NAME_BYTES];
	AUTO_FREE char *data = NULL;
	char target[JOURNAL_RECORD_BYTES];
	ssize_t n;

	if (entry->kept)
		return link(entry->kept, draft);
	journal_file_name(name, JOURNAL_DATA, entry->record.device, entry->record.inode);
	data = place_join(r->options->journal, name);
	n = readlink(data, target, sizeof(target) - 1);
	if (n < 0)
		return copy_to(data, draft, O_CREAT | O_EXCL);
	target[n] = 0;
	return symlink(target, draft);
}

/* Makes the path name the original file again. */
static void restore_name(struct restorer *r, const struct entry *entry)
{
	const char *path = entry->record.path;
	AUTO_FREE char *draft = entry->kept ? place_join(r->options->journal, JOURNAL_DRAFT "name")
					    : xprintf("%s.sluice-restored", path);
	struct stat st;

	/* If there is no link, the file may be a copy that was made before. */
	if (is_file(r, path, &entry->record, &st) ||
	    (!entry->kept && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	     (uint64_t)st.st_size == entry->record.size &&
	     to_ns(st.st_mtim) == entry->record.mtime_ns))
		return;
	if (is_directory(path))
		remove_new(r, path, true);
	unlink(draft);
	if (make_again(r, entry, draft) != 0 || rename(draft, path) != 0)
		report_failure(r, path, "restored");
}

/* Is the file unchanged since the last restoration? A program can set mtime, but not ctime. */
static bool is_settled(const struct restorer *r, const struct journal_record *record,
		       const struct stat *st)
{
	return (uint64_t)st->st_size == record->size && to_ns(st->st_mtim) == record->mtime_ns &&
	       to_ns(st->st_ctim) < r->options->settled_ns;
}

/* Restores the content of a file that was opened for writing. */
static void restore_content(struct restorer *r, const struct entry *entry)
{
	const struct journal_record *record = &entry->record;
	char name[JOURNAL_NAME_BYTES];
	AUTO_FREE char *link = NULL;
	const char *path;
	struct stat st;

	journal_file_name(name, JOURNAL_LINK, record->device, record->inode);
	link = place_join(r->options->journal, name);
	path = place_exists(link) ? link : record->path;
	if (!is_file(r, path, record, &st) || !S_ISREG(st.st_mode) || is_settled(r, record, &st))
		return;
	if (!(st.st_mode & S_IWUSR))
		chmod(path, (st.st_mode | S_IWUSR) & 07777);
	if (!entry->kept || copy_to(entry->kept, path, 0) != 0)
		report_failure(r, record->path, "restored");
}

/* Restores owner, mode and times. */
static void restore_status(struct restorer *r, const struct journal_record *record)
{
	struct timespec times[2] = { from_ns(record->atime_ns), from_ns(record->mtime_ns) };
	const char *path = record->path;
	struct stat st;

	if (lstat(path, &st) != 0 || (st.st_mode & S_IFMT) != (record->mode & S_IFMT))
		return;
	if ((st.st_uid != record->uid || st.st_gid != record->gid) &&
	    lchown(path, (uid_t)record->uid, (gid_t)record->gid) != 0)
		report_failure(r, path, "given back to its owner");
	if (!S_ISLNK(st.st_mode) && st.st_mode != record->mode &&
	    chmod(path, record->mode & 07777) != 0)
		report_failure(r, path, "restored");
	if (to_ns(st.st_atim) != record->atime_ns || to_ns(st.st_mtim) != record->mtime_ns)
		utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

int restore_files(const struct restore_options *options, const struct entries *entries,
		  struct err *err)
{
	struct restorer r = { .options = options, .err = err };
	const struct entry *end;
	struct stat st;

	if (!entries->count)
		return 0;
	r.device = stat(options->journal, &st) == 0 ? st.st_dev : 0;
	end = entries->list + entries->count;
	remove_created(&r, entries);
	for (const struct entry *e = entries->list; e < end; e++)
		if (e->record.kind == JOURNAL_FOLDER)
			restore_directory(&r, &e->record);
	for (const struct entry *e = entries->list; e < end; e++)
		if (e->record.kind == JOURNAL_FILE || e->record.kind == JOURNAL_OTHER)
			restore_name(&r, e);
	for (const struct entry *e = entries->list; e < end; e++)
		if (e->record.kind == JOURNAL_WRITTEN)
			restore_content(&r, e);
	for (const struct entry *e = entries->list; e < end; e++)
		if (e->record.kind == JOURNAL_FILE || e->record.kind == JOURNAL_OTHER)
			restore_status(&r, &e->record);
	return r.failure;
}
