/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/preserve/preserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/preserve/keep.h"
#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

uint32_t preserve_is_on;

void preserve_join(void)
{
	const char *journal = getenv(JOURNAL_VARIABLE), *disable = getenv("SLUICE_DISABLE");

	if (disable && disable[0] && strcmp(disable, "0") != 0)
		return;
	/* A forked child has its parent's journal. If the journal is gone, nothing is permitted. */
	if (!preserve_is_on && journal && journal[0] == '/' && !sandbox_is_sealed()) {
		keep_open(journal);
		preserve_is_on = 1;
	}
}

/* One call: its memory, with signals blocked, because a handler may longjmp. */
struct session {
	struct keep *keep; /* NULL: there is no memory */
	struct signals_held held;
	int saved; /* errno */
};

static struct session session_begin(void)
{
	struct session session = { .saved = errno };

	session.held = signals_hold();
	session.keep = kernel_map_private(sizeof(*session.keep));
	return session;
}

static bool session_end(struct session *session, bool is_allowed)
{
	if (session->keep)
		kernel_call(SYS_munmap, session->keep, sizeof(*session->keep));
	signals_release(session->held);
	errno = session->saved;
	return is_allowed;
}

/* Records a refusal. True if the call is made nevertheless: never on a file of another tuning. */
static bool refuse(struct keep *keep, int kind)
{
	keep_refusal(keep, kind);
	return kind != JOURNAL_CLAIMED && keep_permits();
}

static enum journal_kind kind_of(const struct target *target)
{
	if (!target->exists)
		return JOURNAL_ABSENT;
	if (S_ISREG(target->st.st_mode))
		return JOURNAL_FILE;
	return S_ISDIR(target->st.st_mode) ? JOURNAL_FOLDER : JOURNAL_OTHER;
}

/* On another host: what the trial has created there may change, and what is there may not. */
static bool keep_foreign_name(struct keep *keep)
{
	int refusal = JOURNAL_OTHER_HOST;

	/* Files that the batch system made for the trial are new, too. */
	if (!keep->target.exists || keep_is_young(keep))
		refusal = keep_path(keep, JOURNAL_ABSENT);
	return !refusal || refuse(keep, refusal);
}

/* Keeps the state of the target's path unless the journal has it. */
static bool keep_name(struct keep *keep)
{
	enum journal_kind kind = kind_of(&keep->target);
	int refusal;

	if (keep_find_path(keep))
		return true;
	if (keep->is_foreign)
		return keep_foreign_name(keep);
	/* Before anything else: the state of a file that another tuning changes must not be kept.
	 */
	refusal = keep_claim(keep);
	/* It came with a directory of the trial that was renamed. */
	if (keep_is_below_new(keep))
		kind = JOURNAL_ABSENT;
	/* Without hard links, as on another file system, the content is copied. */
	if (!refusal && (kind == JOURNAL_FILE || kind == JOURNAL_OTHER) && keep_link(keep) != 0)
		refusal = keep_content(keep);
	if (!refusal)
		refusal = keep_path(keep, kind);
	return !refusal || refuse(keep, refusal);
}

/* Is the file the trial's own? It is, if the journal has its path but not the file. */
static bool is_own(struct keep *keep)
{
	return S_ISREG(keep->target.st.st_mode) && !keep_has_file(keep) &&
	       (keep_find_path(keep) || keep_is_below_new(keep));
}

/* Keeps a version of the trial's own file that is about to lose its last name. */
static void keep_lost_version(struct keep *keep, enum journal_kind kind)
{
	if (keep->target.exists && !keep->is_foreign && keep->target.st.st_size &&
	    keep->target.st.st_nlink == 1 && is_own(keep))
		keep_version(keep, kind);
}

/* May the user write to the file? If not, the call fails by itself. */
static bool is_writable(const struct keep *keep)
{
	const char *path = keep->target.path;
	long result = kernel_call(SYS_faccessat2, AT_FDCWD, path, W_OK, AT_EACCESS);

	if (result == -ENOSYS)
		result = kernel_call(SYS_faccessat, AT_FDCWD, path, W_OK);
	return result == 0;
}

/* The content of an existing file changes. */
static bool keep_written(struct keep *keep, bool truncates)
{
	int refusal;

	if (!S_ISREG(keep->target.st.st_mode) || !is_writable(keep))
		return true;
	if (keep->is_foreign)
		return keep_name(keep);
	if (is_own(keep)) {
		if (truncates && keep->target.st.st_size)
			keep_version(keep, JOURNAL_TRUNCATED);
		return keep_name(keep);
	}
	if (!keep_name(keep))
		return false;
	refusal = keep_content(keep);
	return !refusal || refuse(keep, refusal);
}

/* Finds the target. True: the call is allowed, whatever *is_found says. */
static bool find(struct keep *keep, int directory, const char *path, bool follow, bool *is_found)
{
	enum target_result result =
		keep ? target_find(&keep->target, directory, path, follow) : TARGET_FAILED;

	*is_found = result == TARGET_FOUND && !keep_is_exempt(keep->target.path);
	if (*is_found)
		keep_find_host(keep);
	return result != TARGET_FAILED || keep_permits();
}

static bool find_open(struct keep *keep, int fd)
{
	if (!keep || target_find_open(&keep->target, fd) != TARGET_FOUND ||
	    keep_is_exempt(keep->target.path))
		return false;
	keep_find_host(keep);
	return true;
}

bool preserve_open(int directory, const char *path, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC, is_found, is_allowed;
	struct session session;

	if ((!writes && !(flags & O_CREAT)) || flags & O_PATH || flags & O_DIRECTORY)
		return true;
	session = session_begin();
	is_allowed = find(session.keep, directory, path, !(flags & O_NOFOLLOW), &is_found);
	if (!is_found || (session.keep->target.exists && flags & O_CREAT && flags & O_EXCL))
		return session_end(&session, is_allowed);
	if (!session.keep->target.exists)
		is_allowed = !(flags & O_CREAT) || keep_name(session.keep);
	else if (writes)
		is_allowed = keep_written(session.keep, flags & O_TRUNC);
	return session_end(&session, is_allowed);
}

bool preserve_truncate(const char *path)
{
	return preserve_open(AT_FDCWD, path, O_WRONLY | O_TRUNC);
}

bool preserve_shorten(int fd, off_t length)
{
	struct session session = session_begin();
	struct keep *keep = session.keep;

	/* The content of the user's file was kept when it was opened for writing. */
	if (find_open(keep, fd) && !keep->is_foreign && keep->target.st.st_size > length &&
	    is_own(keep))
		keep_version(keep, JOURNAL_TRUNCATED);
	return session_end(&session, true);
}

bool preserve_remove(int directory, const char *path)
{
	struct session session = session_begin();
	bool is_found, is_allowed = find(session.keep, directory, path, false, &is_found);

	if (is_found && session.keep->target.exists) {
		keep_lost_version(session.keep, JOURNAL_REMOVED);
		is_allowed = keep_name(session.keep);
	}
	return session_end(&session, is_allowed);
}

/* The name that goes away. A directory of the user cannot be kept: what is in it moves, too. */
static bool keep_source(struct keep *keep)
{
	if (S_ISDIR(keep->target.st.st_mode) && keep_find_path(keep) != JOURNAL_ABSENT &&
	    !keep_is_below_new(keep))
		return refuse(keep, JOURNAL_RENAMED_FOLDER);
	return keep_name(keep);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool preserve_rename(int directory, const char *path, int to_directory, const char *to,
		     unsigned flags)
{
	bool exchanges = flags & (unsigned)RENAME_EXCHANGE, is_found;
	struct session session = session_begin();
	struct keep *keep = session.keep;
	bool is_allowed = find(keep, directory, path, false, &is_found);
	struct stat from;

	if (!is_found || !keep->target.exists)
		return session_end(&session, is_allowed);
	from = keep->target.st;
	is_allowed = keep_source(keep) && find(keep, to_directory, to, false, &is_found);
	if (is_allowed && is_found &&
	    !(keep->target.exists && is_same_file(&keep->target.st, &from))) {
		if (!exchanges)
			keep_lost_version(keep, JOURNAL_REPLACED);
		is_allowed = exchanges && keep->target.exists ? keep_source(keep) : keep_name(keep);
	}
	return session_end(&session, is_allowed);
}

bool preserve_link(int directory, const char *path, int to_directory, const char *to, int flags)
{
	struct session session = session_begin();
	struct keep *keep = session.keep;
	bool is_found;
	bool is_allowed =
		find(keep, directory, path, flags & AT_SYMLINK_FOLLOW ? true : false, &is_found);

	/* The new name of the user's file must be known as such. */
	if (is_found && keep->target.exists)
		is_allowed = keep_name(keep);
	is_allowed = is_allowed && find(keep, to_directory, to, false, &is_found);
	if (is_allowed && is_found && !keep->target.exists)
		is_allowed = keep_name(keep);
	return session_end(&session, is_allowed);
}

bool preserve_make(int directory, const char *path)
{
	struct session session = session_begin();
	bool is_found, is_allowed = find(session.keep, directory, path, false, &is_found);

	if (is_found && !session.keep->target.exists)
		is_allowed = keep_name(session.keep);
	return session_end(&session, is_allowed);
}

bool preserve_change(int directory, const char *path, int flags)
{
	struct session session = session_begin();
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW), is_found;
	bool is_allowed = find(session.keep, directory, path, follow, &is_found);

	if (is_found && session.keep->target.exists)
		is_allowed = keep_name(session.keep);
	return session_end(&session, is_allowed);
}

bool preserve_change_open(int fd)
{
	struct session session = session_begin();
	struct keep *keep = session.keep;
	bool is_allowed = true;

	if (find_open(keep, fd))
		is_allowed = keep_name(keep);
	return session_end(&session, is_allowed);
}

void preserve_made(const char *path)
{
	struct session session = session_begin();
	bool is_found;

	if (find(session.keep, AT_FDCWD, path, false, &is_found) && is_found) {
		session.keep->target.exists = false;
		keep_name(session.keep);
	}
	session_end(&session, true);
}
