/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a path of the program refers to: its absolute path without symbolic links, and its status.
 * Guest.
 */
#ifndef SLUICE_CAPTURE_PRESERVE_TARGET_H
#define SLUICE_CAPTURE_PRESERVE_TARGET_H

#include <stdbool.h>
#include <sys/stat.h>

#define TARGET_PATH_BYTES 4096

struct target {
	bool exists;
	struct stat st; /* if it exists */
	dev_t device;	/* of the file, or of the directory in which it does not exist */
	char path[TARGET_PATH_BYTES];
	char link[TARGET_PATH_BYTES]; /* for target_find() only */
};

enum target_result {
	TARGET_FOUND,
	TARGET_IMPOSSIBLE, /* a call with this path fails */
	TARGET_FAILED,	   /* it is unknown */
};

#pragma GCC visibility push(hidden)

/* Finds what the path refers to. If follow is set, a symbolic link stands for its target, even if
 * the target does not exist. */
enum target_result target_find(struct target *target, int directory, const char *path, bool follow);

/* The same for an open file. */
enum target_result target_find_open(struct target *target, int fd);

#pragma GCC visibility pop

#endif
