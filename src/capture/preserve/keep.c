/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/preserve/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>

#include "capture/preserve/copy.h"
#include "capture/record/kernel.h"

#define NS_PER_SECOND INT64_C(1000000000)

static char journal_directory[JOURNAL_RECORD_BYTES];
static char options_text[JOURNAL_RECORD_BYTES];
static struct journal_options options;
static uint64_t journal_device_number; /* 0: unknown */
static uint64_t host;
static int64_t begun_ns; /* when the tuning began, by the clock of the journal's file system */

/* Puts a directory before a name; returns the place for the name. */
static char *put_directory(char *to, const char *directory)
{
	size_t n = strlen(directory);

	memcpy(to, directory, n);
	to[n] = '/';
	return to + n + 1;
}

static int64_t nanoseconds(struct timespec time)
{
	return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

void keep_open(const char *directory)
{
	static struct utsname system; /* not on the stack, which may be small */
	static struct stat st;
	size_t n = strnlen(directory, JOURNAL_RECORD_BYTES - JOURNAL_NAME_BYTES);
	char *name;
	long got;

	memcpy(journal_directory, directory, n);
	name = put_directory(options_text, journal_directory);
	memcpy(name, JOURNAL_OPTIONS, sizeof(JOURNAL_OPTIONS));
	if (kernel_call(SYS_newfstatat, AT_FDCWD, options_text, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		journal_device_number = st.st_dev;
		begun_ns = nanoseconds(st.st_mtim);
	}
	host = kernel_call(SYS_uname, &system) == 0 ? journal_hash(system.nodename) : 0;
	got = kernel_call(SYS_readlinkat, AT_FDCWD, options_text, options_text,
			  sizeof(options_text) - 1);
	options_text[got > 0 ? got : 0] = 0;
	if (!journal_read_options(options_text, &options))
		options = (struct journal_options){ .claims = "" };
}

bool keep_permits(void)
{
	return options.permit;
}

static bool is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return strncmp(path, directory, n) == 0 && (!path[n] || path[n] == '/');
}

bool keep_is_exempt(const char *path)
{
	return is_below(path, "/proc") || is_below(path, "/sys") ||
	       (is_below(path, "/dev") && !is_below(path, "/dev/shm")) ||
	       is_below(path, journal_directory);
}

void keep_find_host(struct keep *keep)
{
	keep->is_foreign = host != options.host && keep->target.device != journal_device_number;
}

bool keep_is_young(const struct keep *keep)
{
	struct statx st;

	if (kernel_call(SYS_statx, AT_FDCWD, keep->target.path, AT_SYMLINK_NOFOLLOW, STATX_BTIME,
			&st) != 0)
		return false;
	if (!(st.stx_mask & STATX_BTIME))
		return nanoseconds(keep->target.st.st_ctim) > begun_ns;
	return st.stx_btime.tv_sec * NS_PER_SECOND + st.stx_btime.tv_nsec > begun_ns;
}

static const char *hash_entry(struct keep *keep, const char *prefix, int n)
{
	journal_hash_name(put_directory(keep->journal, journal_directory), prefix,
			  journal_hash(keep->target.path), n);
	return keep->journal;
}

static const char *file_entry(struct keep *keep, const char *prefix)
{
	const struct stat *st = &keep->target.st;

	journal_file_name(put_directory(keep->journal, journal_directory), prefix,
			  journal_device(st->st_dev, journal_device_number), st->st_ino);
	return keep->journal;
}

static bool entry_exists(const char *entry)
{
	struct stat st;

	return kernel_call(SYS_newfstatat, AT_FDCWD, entry, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static const char *path_entry(struct keep *keep)
{
	if (!keep->is_foreign)
		return hash_entry(keep, JOURNAL_PATH, -1);
	journal_hash_name(put_directory(keep->journal, journal_directory), JOURNAL_NODE,
			  journal_hash_on(host, keep->target.path), -1);
	return keep->journal;
}

int keep_find_path(struct keep *keep)
{
	long n = kernel_call(SYS_readlinkat, AT_FDCWD, path_entry(keep), keep->record,
			     sizeof(keep->record));

	return n > 0 ? keep->record[0] : 0;
}

bool keep_is_below_new(struct keep *keep)
{
	char *path = keep->target.path;
	bool is_new = false;

	for (char *slash = path + strlen(path); !is_new && slash > path; slash--) {
		if (*slash != '/')
			continue;
		*slash = 0;
		is_new = keep_find_path(keep) == JOURNAL_ABSENT;
		*slash = '/';
	}
	return is_new;
}

bool keep_has_file(struct keep *keep)
{
	return entry_exists(file_entry(keep, JOURNAL_LINK)) ||
	       entry_exists(file_entry(keep, JOURNAL_CHANGED));
}

/* The refusal that an error number stands for. */
static int refusal_of(long error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return JOURNAL_NO_SPACE;
	case EACCES:
	case EPERM:
		return JOURNAL_NO_ACCESS;
	case EFBIG:
		return JOURNAL_TOO_LARGE;
	default:
		return JOURNAL_FAILED;
	}
}

/* Makes a record of the target. */
static long put_record(struct keep *keep, enum journal_kind kind, const char *entry)
{
	const struct stat *st = &keep->target.st;
	struct journal_record record = { .kind = kind, .path = keep->target.path };

	if (keep->target.exists) {
		record.device = journal_device(st->st_dev, journal_device_number);
		record.inode = st->st_ino;
		record.mode = st->st_mode;
		record.uid = st->st_uid;
		record.gid = st->st_gid;
		record.size = (uint64_t)st->st_size;
		record.atime_ns = nanoseconds(st->st_atim);
		record.mtime_ns = nanoseconds(st->st_mtim);
	}
	if (!journal_write_record(keep->record, &record))
		return -ENAMETOOLONG;
	return kernel_call(SYS_symlinkat, keep->record, AT_FDCWD, entry);
}

int keep_claim(struct keep *keep)
{
	long n;

	journal_hash_name(put_directory(keep->claim, options.claims), "",
			  journal_hash(keep->target.path), -1);
	if (kernel_call(SYS_symlinkat, journal_directory, AT_FDCWD, keep->claim) != -EEXIST)
		return 0;
	n = kernel_call(SYS_readlinkat, AT_FDCWD, keep->claim, keep->record,
			sizeof(keep->record) - 1);
	if (n <= 0)
		return 0;
	keep->record[n] = 0;
	return strcmp(keep->record, journal_directory) == 0 ? 0 : JOURNAL_CLAIMED;
}

int keep_path(struct keep *keep, enum journal_kind kind)
{
	long result = put_record(keep, kind, path_entry(keep));

	return result == 0 || result == -EEXIST ? 0 : refusal_of(result);
}

int keep_link(struct keep *keep)
{
	long result = kernel_call(SYS_linkat, AT_FDCWD, keep->target.path, AT_FDCWD,
				  file_entry(keep, JOURNAL_LINK), 0);

	return result == 0 || result == -EEXIST ? 0 : refusal_of(result);
}

/* Waits until no other process copies into the journal. Returns the lock, to be closed. */
static long lock_copies(void)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, journal_directory,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		while (kernel_call(SYS_flock, fd, LOCK_EX) == -EINTR)
			;
	return fd;
}

/* Makes the copy under a temporary name and links it to its entry, so that an entry is complete. */
static long publish_copy(struct keep *keep, const char *source, uint64_t limit, const char *entry)
{
	char *draft = keep->claim;
	long result;

	journal_hash_name(put_directory(draft, journal_directory), JOURNAL_DRAFT,
			  (uint64_t)kernel_call(SYS_gettid) << 32 ^
				  (uint64_t)keep->target.st.st_ino ^ (uintptr_t)keep,
			  -1);
	kernel_call(SYS_unlinkat, AT_FDCWD, draft, 0);
	result = copy_file(source, draft, limit, keep->buffer, sizeof(keep->buffer));
	if (result == 0)
		result = kernel_call(SYS_linkat, AT_FDCWD, draft, AT_FDCWD, entry, 0);
	/* Some file systems have no hard links. */
	if (result == -EPERM || result == -EOPNOTSUPP)
		result = kernel_call(SYS_renameat2, AT_FDCWD, draft, AT_FDCWD, entry,
				     RENAME_NOREPLACE);
	kernel_call(SYS_unlinkat, AT_FDCWD, draft, 0);
	return result == -EEXIST ? 0 : result;
}

int keep_content(struct keep *keep)
{
	long lock, result = 0;

	if (entry_exists(file_entry(keep, JOURNAL_CHANGED)))
		return 0;
	lock = lock_copies();
	if (!entry_exists(file_entry(keep, JOURNAL_DATA)))
		result = publish_copy(keep, keep->target.path, options.limit, keep->journal);
	if (lock >= 0)
		kernel_call(SYS_close, lock);
	if (result == 0)
		result = put_record(keep, JOURNAL_WRITTEN, file_entry(keep, JOURNAL_CHANGED));
	return result == 0 || result == -EEXIST ? 0 : refusal_of(result);
}

/* Reserves the next number for a version of the path; -1: there are too many. */
static int reserve_version(struct keep *keep)
{
	for (int n = 0; n < JOURNAL_VERSIONS; n++) {
		long result = put_record(keep, JOURNAL_LOST, hash_entry(keep, JOURNAL_VERSION, n));

		if (result == 0)
			return n;
		if (result != -EEXIST)
			return -1;
	}
	return -1;
}

void keep_version(struct keep *keep, enum journal_kind kind)
{
	int n = reserve_version(keep);
	const char *content;
	long result = -1;

	if (n < 0)
		return;
	content = hash_entry(keep, JOURNAL_CONTENT, n);
	if (kind != JOURNAL_TRUNCATED)
		result = kernel_call(SYS_linkat, AT_FDCWD, keep->target.path, AT_FDCWD, content, 0);
	if (result != 0)
		result = publish_copy(keep, keep->target.path, KEEP_VERSION_BYTES, content);
	if (result != 0 && result != -ENOENT)
		return;
	/* Its content is complete now; or another process was faster and has kept it. */
	hash_entry(keep, JOURNAL_VERSION, n);
	kernel_call(SYS_unlinkat, AT_FDCWD, keep->journal, 0);
	if (result == 0)
		put_record(keep, kind, keep->journal);
}

void keep_refusal(struct keep *keep, int kind)
{
	put_record(keep, (enum journal_kind)kind, hash_entry(keep, JOURNAL_REFUSED, -1));
}
