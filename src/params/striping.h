/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stripes of existing files on Lustre, CephFS and BeeGFS, as the file system tells them.
 */
#ifndef SLUICE_PARAMS_STRIPING_H
#define SLUICE_PARAMS_STRIPING_H

#include <stdbool.h>
#include <stdint.h>

#include "params/tunable.h"

struct striping {
	enum filesystem filesystem;
	/*
	 * Objects that hold the data, each of which may be on another target. CephFS adds objects
	 * as a file grows, so this is their number at the present size.
	 */
	uint64_t count;
	uint64_t unit; /* bytes */
	/*
	 * CephFS: units go to set_count objects in turn until these hold set_bytes, then to the
	 * next ones. 0: to all objects in turn.
	 */
	uint64_t set_count, set_bytes;
	/* CephFS, by striping_read(): objects are named after the inode, and each has up to
	 * object_bytes; stripe_count of them have units in turn. */
	uint64_t inode, object_bytes, stripe_count;
	char pool[64]; /* "": the name is longer */
};

/* False: the path is not a file with stripes, or they cannot be read. */
bool striping_read(struct striping *striping, const char *path);

/* The stripes of new files in the directory. False: it is not on CephFS, the only file system for
 * which they are known without creating a file. */
bool striping_inherited(struct striping *striping, const char *directory);

#endif
