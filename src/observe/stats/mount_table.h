/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mount points of the node, to tell on which file system a file is by its path alone: asking
 * the file system could block if it hangs. Directories that are mounted onto themselves, as the
 * sandbox of a service does it, are no mount points. Belongs to one thread.
 */
#ifndef SLUICE_OBSERVE_STATS_MOUNT_TABLE_H
#define SLUICE_OBSERVE_STATS_MOUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct mount_point {
	char *path;
	bool is_shared; /* other nodes may have the same file system */
};

struct mount_table {
	struct mount_point *points; /* sorted by length, the longest first */
	size_t count, cap;
};

/* Reads mount points from the text of a mountinfo file; replaces those of the table. */
void mount_table_parse(struct mount_table *table, const char *mountinfo);

/* Reads those of this process. Without them, the table has "/" only. */
void mount_table_load(struct mount_table *table);
void mount_table_release(struct mount_table *table);

/* The mount point of an absolute path; "other" for anything else. Valid until the table changes. */
const char *mount_table_find(const struct mount_table *table, const char *path);

/* Is the file system of a mount point of a type that nodes share, such as NFS or Lustre? */
bool mount_table_is_shared(const struct mount_table *table, const char *point);

#endif
