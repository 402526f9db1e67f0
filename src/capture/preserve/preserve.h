/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preserves the user's files during a trial of `sluice tune`: before a call changes a name or a
 * file for the first time, its state is entered in the journal of the tuning (contract/journal.h).
 * Guest.
 *
 * These functions run before the real call. If they return false, the state cannot be preserved,
 * and the wrapper returns the error EROFS instead of making the call: in a trial no file is changed
 * that cannot be restored. A call that would fail anyway is let through. In a run without a journal
 * a wrapper tests one variable.
 *
 * What the program opens only for reading is not looked at. Not seen are changes by programs that
 * run without this library or with SLUICE_DISABLE, by system call instructions of a program's own,
 * by io_uring, by the file actions of posix_spawn(), and changes of extended attributes.
 *
 * Unlike other guest code, this waits: for copies, and for the copies of other processes.
 */
#ifndef SLUICE_CAPTURE_PRESERVE_PRESERVE_H
#define SLUICE_CAPTURE_PRESERVE_PRESERVE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Not 0: the run has a journal. */
extern uint32_t preserve_is_on;

/* At the start of the process: reads the directory of the journal from the environment. */
void preserve_join(void);

/* A file is opened with these flags of open(). */
bool preserve_open(int directory, const char *path, int flags);

/* A file is truncated: by its name, and by a descriptor. */
bool preserve_truncate(const char *path);
bool preserve_shorten(int fd, off_t length);

/* A name is removed; path becomes to; `to` becomes a second name of path. flags are those of
 * renameat2() and linkat(). */
bool preserve_remove(int directory, const char *path);
bool preserve_rename(int directory, const char *path, int to_directory, const char *to,
		     unsigned flags);
bool preserve_link(int directory, const char *path, int to_directory, const char *to, int flags);

/* A name is created for something else than a regular file: a directory, a link, a pipe. */
bool preserve_make(int directory, const char *path);

/* The mode, the owner or the times change: of a path, and of an open file. flags may be
 * AT_SYMLINK_NOFOLLOW. */
bool preserve_change(int directory, const char *path, int flags);
bool preserve_change_open(int fd);

/* A call has just created the path under a name that it chose itself. */
void preserve_made(const char *path);

#pragma GCC visibility pop

/* For rows of interfaces/, in FIRST: `call` is one of the functions above with its arguments. */
#define PRESERVE(call, failure)                                    \
	if (__builtin_expect(preserve_is_on != 0, 0) && !(call)) { \
		errno = EROFS;                                     \
		return failure;                                    \
	}

/* The same in LAST, for a call that returns a pointer or descriptor `made`. */
#define PRESERVE_MADE(made, path)                               \
	if (__builtin_expect(preserve_is_on != 0, 0) && (made)) \
		preserve_made(path);

#endif
