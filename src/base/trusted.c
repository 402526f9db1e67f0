/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define OTHERS_ANY (S_IRWXG | S_IRWXO)

/* Whoever owns the running program can act as its user anyway. */
static uid_t installer(void)
{
	struct stat st;

	return stat("/proc/self/exe", &st) == 0 ? st.st_uid : geteuid();
}

static bool is_trusted_owner(uid_t owner, enum trusted_rule rule)
{
	if (owner == geteuid())
		return true;
	return rule == TRUSTED_PROVIDED && (owner == 0 || owner == installer());
}

static int refuse_owner(const char *path, const char *what, uid_t owner, enum trusted_rule rule,
			struct err *err)
{
	const struct passwd *entry = getpwuid(owner);
	AUTO_FREE char *name =
		entry ? xstrdup(entry->pw_name) : xprintf("number %u", (unsigned)owner);

	return err_set(err, EPERM, "%s: refused because %s belongs to user %s; %s", path, what,
		       name,
		       rule == TRUSTED_PRIVATE
			       ? "it must belong to you: remove it or use another directory"
			       : "it must belong to you or to root: use one of your own");
}

static int refuse_mode(const char *path, mode_t mode, mode_t unwanted, struct err *err)
{
	bool writable = mode & OTHERS_WRITE;
	const char *who = mode & unwanted & S_IRWXO ? "other users" : "its group";

	return err_set(err, EPERM, "%s: refused because it is %s by %s; run 'chmod %s %s'", path,
		       writable ? "writable" : "accessible", who,
		       unwanted == OTHERS_WRITE ? "go-w" : "go-rwx", path);
}

static int check_status(const struct stat *st, const char *path, enum trusted_rule rule,
			struct err *err)
{
	mode_t unwanted = rule == TRUSTED_PRIVATE ? OTHERS_ANY : OTHERS_WRITE;

	if (!is_trusted_owner(st->st_uid, rule))
		return refuse_owner(path, "it", st->st_uid, rule, err);
	if (st->st_mode & unwanted)
		return refuse_mode(path, st->st_mode, unwanted, err);
	return 0;
}

/* Returns 1 if the path is a link that may be followed, 0 if it is not a link. */
static int check_link(int at, const char *path, enum trusted_rule rule, struct err *err)
{
	struct stat st;

	if (fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(st.st_mode))
		return 0;
	if (rule == TRUSTED_PRIVATE)
		return err_set(err, EPERM,
			       "%s: refused because it is a symbolic link; remove the link", path);
	if (!is_trusted_owner(st.st_uid, rule))
		return refuse_owner(path, "the symbolic link", st.st_uid, rule, err);
	return 1;
}

static int check_kind(const struct stat *st, const char *path, mode_t type, struct err *err)
{
	if ((st->st_mode & S_IFMT) == type)
		return 0;
	if (type == S_IFREG && file_check_status(st, path, err) < 0)
		return -EINVAL;
	return err_set(err, type == S_IFDIR ? ENOTDIR : EINVAL, "%s: is not a %s", path,
		       type == S_IFDIR ? "directory" : "regular file");
}

static int open_checked(int at, const char *path, int flags, mode_t type, enum trusted_rule rule,
			struct err *err)
{
	int link = check_link(at, path, rule, err), r, fd;
	struct stat st;

	if (link < 0)
		return link;
	fd = openat(at, path, flags | (link ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		r = err_set(err, errno, "%s: %s", path, strerror(errno));
	} else {
		r = check_kind(&st, path, type, err);
		if (r >= 0)
			r = check_status(&st, path, rule, err);
	}
	if (r >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return r;
}

int trusted_open_directory(int at, const char *path, enum trusted_rule rule, struct err *err)
{
	return open_checked(at, path, O_RDONLY | O_DIRECTORY, S_IFDIR, rule, err);
}

int trusted_open_file(int at, const char *path, int flags, enum trusted_rule rule, struct err *err)
{
	return open_checked(at, path, flags, S_IFREG, rule, err);
}

int trusted_create_file(int at, const char *path, struct err *err)
{
	int fd = openat(at, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			TRUSTED_FILE_MODE);

	return fd >= 0 ? fd : err_set(err, errno, "%s: cannot create: %s", path, strerror(errno));
}

int trusted_make_directory(const char *path, struct err *err)
{
	int r = place_make_parent(path, TRUSTED_DIRECTORY_MODE, err);

	if (r >= 0 && mkdir(path, TRUSTED_DIRECTORY_MODE) != 0 && errno != EEXIST)
		r = err_set(err, errno, "cannot create directory %s: %s", path, strerror(errno));
	return r < 0 ? r : trusted_open_directory(AT_FDCWD, path, TRUSTED_PRIVATE, err);
}

int trusted_read_file(struct buf *buf, const char *path, size_t max_bytes, struct err *err)
{
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDONLY, TRUSTED_PROVIDED, err);

	return fd < 0 ? fd : file_read_open(buf, fd, path, max_bytes, err);
}

/* In a directory with the sticky bit, users can rename and remove only files of their own. */
static int check_ancestor(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (st.st_mode & S_ISVTX)
		st.st_mode &= ~(mode_t)OTHERS_WRITE;
	return check_status(&st, path, TRUSTED_PROVIDED, err);
}

int trusted_check_path(const char *path, struct err *err)
{
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDONLY, TRUSTED_PROVIDED, err);
	AUTO_FREE char *real = fd < 0 ? NULL : realpath(path, NULL);
	int r = 0;

	if (fd < 0)
		return fd;
	if (!real)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	for (char *slash; r >= 0 && (slash = strrchr(real, '/'));) {
		slash[slash == real] = 0;
		r = check_ancestor(real, err);
		if (slash == real)
			break;
	}
	return r;
}

bool trusted_is_own_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & OTHERS_WRITE);
}
