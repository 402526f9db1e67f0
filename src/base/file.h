/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole files: open one from outside, read one into memory, and write one so that it appears
 * complete or not at all.
 */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

struct buf;
struct err;
struct stat;

/*
 * Opens a file that somebody else may have made, for reading. Only regular files and /dev/null are
 * accepted: a FIFO would block, a device may do anything when it is read. Never blocks. Returns the
 * descriptor, or -errno (-EISDIR, -EINVAL for other kinds) with a message that names the file.
 */
int file_open(const char *path, struct err *err);

/* The check of file_open() alone: fails if the file is neither regular nor /dev/null. */
int file_check_status(const struct stat *st, const char *path, struct err *err);

/* Like file_open(), but returns a stream; NULL on failure. */
FILE *file_open_stream(const char *path, struct err *err);

/*
 * Appends the content of the file, which is opened by file_open(), to buf. Fails with -EFBIG if the
 * file has more than max_bytes (0: no limit); buf may then hold a part of the file. The message
 * names the file.
 */
int file_read_all(struct buf *buf, const char *path, size_t max_bytes, struct err *err);

/* The same for standard input, which may be a pipe. */
int file_read_input(struct buf *buf, size_t max_bytes, struct err *err);

/* Does the same with an open file; the message calls it `name`. */
int file_read_open(struct buf *buf, int fd, const char *name, size_t max_bytes, struct err *err);

/*
 * A file that is being written under a temporary name in the directory of its final one. The caller
 * creates `temporary` exclusively, fills it as it likes, closes it, and then commits or discards
 * the draft. Both release it.
 */
struct file_draft {
	char *path;	 /* the final name */
	char *temporary; /* "PATH.PID-RANDOM.tmp" */
};

void file_draft_init(struct file_draft *draft, const char *path);

/*
 * Waits until the temporary file is on disk and renames it to its final name, which replaces an
 * older file. On failure the temporary file is removed and an older file stays as it was.
 */
int file_draft_commit(struct file_draft *draft, struct err *err);

/* The same, but fails with -EEXIST if something has the final name already. */
int file_draft_commit_new(struct file_draft *draft, struct err *err);

/* Removes the temporary file, if there is one. Accepts a zeroed draft. */
void file_draft_discard(struct file_draft *draft);

/*
 * Writes the bytes as a draft and commits it. A device, a pipe, and a symbolic link of the user or
 * of root, such as /dev/stdout, are written in place, because a rename would replace them.
 */
int file_write_all(const char *path, const void *bytes, size_t n, struct err *err);

/*
 * Writes the bytes to a new file. Fails with -EEXIST if the name is taken, even by a link. On
 * failure nothing is left behind.
 */
int file_write_new(const char *path, const void *bytes, size_t n, struct err *err);

/* Writes all bytes to an open file. Returns -errno; a part may have been written. */
int file_write_fd(int fd, const void *bytes, size_t n);

/* Renames a file or directory. Fails with -EEXIST if something has the new name already. */
int file_rename_new(const char *from, const char *to);

/* Removes a directory and everything in it. Does not follow links. */
void file_remove_tree(const char *directory);

/* The part of a path after its last slash; points into path. */
const char *path_base_name(const char *path);

#endif
