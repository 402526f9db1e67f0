/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole files: read one into memory, and write one so that it appears complete or not at all.
 */
#ifndef SLUICE_BASE_FILE_H
#define SLUICE_BASE_FILE_H

#include <stddef.h>

struct buf;
struct err;

/*
 * Appends the content of the file to buf. Fails with -EFBIG if the file has more than max_bytes (0:
 * no limit); buf may then hold a part of the file. The message names the file.
 */
int file_read_all(struct buf *buf, const char *path, size_t max_bytes, struct err *err);

/*
 * A file that is being written under a temporary name in the directory of its final one. The caller
 * opens and fills `temporary` as it likes, closes it, and then commits or discards the draft. Both
 * release it.
 */
struct file_draft {
	char *path;	 /* the final name */
	char *temporary; /* "PATH.PID.tmp" */
};

void file_draft_init(struct file_draft *draft, const char *path);

/*
 * Waits until the temporary file is on disk and renames it to its final name, which replaces an
 * older file. On failure the temporary file is removed and an older file stays as it was.
 */
int file_draft_commit(struct file_draft *draft, struct err *err);

/* Removes the temporary file, if there is one. Accepts a zeroed draft. */
void file_draft_discard(struct file_draft *draft);

/*
 * Writes the bytes as a draft and commits it. A device, pipe or symbolic link, such as /dev/stdout,
 * is written in place, because a rename would replace it.
 */
int file_write_all(const char *path, const void *bytes, size_t n, struct err *err);

/* The part of a path after its last slash; points into path. */
const char *path_base_name(const char *path);

#endif
