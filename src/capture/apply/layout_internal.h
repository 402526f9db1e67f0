/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by layout.c, layout_lustre.c, layout_ceph.c and spread.c, which implement the layout of
 * new files together. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H
#define SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H

#include "capture/apply/layout.h"
#include "capture/libraries/info.h"

#define MAGIC_LUSTRE 0x0BD00BD0u
#define MAGIC_CEPH 0x00C36400u

/* Names and texts of one file, in mapped memory, because they are too large for a small stack. */
struct layout_workspace {
	char path[RULES_PATH_BYTES]; /* as passed to the kernel */
	char full[RULES_PATH_BYTES]; /* normalized by rules_path() */
	char target[RULES_PATH_BYTES];
	struct info_text requested, effective; /* the texts of the record */
};

#pragma GCC visibility push(hidden)

/* Lustre: before the open, after it, and the effective layout. path is as passed to the kernel. */
void lustre_load(void);
bool lustre_is_within(void); /* is liblustreapi running in this thread? It opens files, too. */
void lustre_begin(struct layout *layout, const char *path, const char *full);
void lustre_end(struct layout *layout, int fd);
void lustre_report(const struct layout *layout, int fd, const char *full,
		   struct info_text *requested, struct info_text *effective);

/* CephFS: the same. */
void ceph_begin(struct layout *layout, const char *full);
void ceph_end(const struct layout *layout, int fd, const char *full);
void ceph_report(const struct layout *layout, int fd, const char *full, struct info_text *requested,
		 struct info_text *effective);

/*
 * Questions to the file system go through libc, as those of the program do, because some file
 * systems are preloaded libraries. They return -errno on failure and leave errno as it is.
 */
long layout_get_attribute(int fd, const char *name, void *value, size_t bytes);
long layout_set_attribute(int fd, const char *name, const void *value, size_t bytes);

/* The rule of this name for a file, or NULL; its value, if that is a number. */
const struct parameters_line *layout_rule(const char *full, const char *name);
bool layout_number(const char *full, const char *name, uint64_t *number);

#pragma GCC visibility pop

#endif
