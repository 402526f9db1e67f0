/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens files and directories whose content Sluice trusts: settings, plug-ins, stores, models, and
 * everything through which the processes of a run meet. On a machine that users share, another user
 * may have created a file of the expected name. So each of them is opened here, without following
 * symbolic links, and checked after it was opened: kind, owner and mode. What lies in a trusted
 * directory is opened relative to its descriptor.
 *
 * A refusal is -EPERM; its message names the file, the reason and the remedy.
 */
#ifndef SLUICE_BASE_TRUSTED_H
#define SLUICE_BASE_TRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

enum trusted_rule {
	/*
	 * What a site or a user provides: owned by the effective user, by root, or by the owner of
	 * the running program, who could change its code as well. Not writable by group or others.
	 * The last component of the path may be a symbolic link of one of these users.
	 */
	TRUSTED_PROVIDED,
	/*
	 * What Sluice creates: owned by the effective user, no access for group or others. Never a
	 * symbolic link.
	 */
	TRUSTED_PRIVATE,
};

/* Modes of what Sluice creates, whatever the umask is. */
#define TRUSTED_FILE_MODE 0600
#define TRUSTED_DIRECTORY_MODE 0700

/*
 * Opens a directory, or a regular file with the flags of open(2); `at` is as in openat(2). Never
 * blocks on a pipe. Returns a descriptor or -errno.
 */
int trusted_open_directory(int at, const char *path, enum trusted_rule rule, struct err *err);
int trusted_open_file(int at, const char *path, int flags, enum trusted_rule rule, struct err *err);

/* Creates a private file that must not exist, not even as a dangling link, and opens it to write.
 */
int trusted_create_file(int at, const char *path, struct err *err);

/* Creates a private directory and its parents, and opens it. It may exist if it is private. */
int trusted_make_directory(const char *path, struct err *err);

/* Does file_read_all() with a provided file. */
int trusted_read_file(struct buf *buf, const char *path, size_t max_bytes, struct err *err);

/*
 * Checks a provided file that others open by its path, such as a library: neither the file nor any
 * directory above it may be one that another user can replace.
 */
int trusted_check_path(const char *path, struct err *err);

/* May nobody but the effective user and root create names in the directory? */
bool trusted_is_own_directory(const char *path);

#endif
