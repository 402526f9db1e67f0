/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of the run that a guest maps: the control page, its spool and its counters. Guest.
 *
 * A process inherits the name of the run's directory in its environment, and may outlive the run.
 * Another user could then create a directory of that name, with a control page that makes the guest
 * load a library. So the directory is trusted only if it belongs to the effective user and nobody
 * else has access to it, and files are opened relative to it. Symbolic links are never followed.
 */
#ifndef SLUICE_CAPTURE_RECORD_FILES_H
#define SLUICE_CAPTURE_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Identifies a file or directory as long as it exists. */
struct file_id {
	uint64_t device, inode; /* inode 0: unknown */
};

/*
 * Opens the directory of the run. If *id is known, the directory has to be that one; otherwise *id
 * is set. Returns a descriptor, or -errno.
 */
long directory_open(const char *path, struct file_id *id);

/*
 * The same for the directory that the processes of all users share: it belongs to this user or to
 * root, and users cannot remove files of each other.
 */
long directory_open_shared(const char *path, struct file_id *id, uint32_t owner);

/* Maps a file of the directory that has at least this size, shared. NULL on failure. */
void *file_map(long directory, const char *name, size_t bytes);

/* Creates a file of this size in the directory and maps it, shared. NULL on failure, with an error
 * number. */
void *file_create(long directory, const char *name, size_t bytes, struct file_id *id, int *error);

/* Opens a file of this user in the directory; with an id, only that file. Returns a descriptor or
 * -errno. */
long file_reopen(long directory, const char *name, const struct file_id *id);

/* Enlarges the file with this id, and maps the new part. NULL on failure, with an error number. */
void *file_extend(long directory, const char *name, const struct file_id *id, uint64_t offset,
		  size_t bytes, int *error);

/*
 * Reads a small file into text, always terminated; a directory of AT_FDCWD means that the name is a
 * path. Returns the number of bytes, 0 on failure.
 */
size_t file_read(long directory, const char *name, char *text, size_t size);

/* May code be loaded from this file? It must belong to the effective user or to root, and nobody
 * else may write to it. */
bool file_is_trusted_code(const char *path);

#pragma GCC visibility pop

#endif
