/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What layout.c, layout_lustre.c and layout_ceph.c share: one file system each, and what asks them.
 * Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H
#define SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H

#include "capture/apply/layout.h"
#include "capture/libraries/info.h"

#define MAGIC_LUSTRE 0x0BD00BD0u
#define MAGIC_CEPH 0x00C36400u

/* Names and texts of one file, in pages of their own: they are more than a small stack holds. */
struct layout_desk {
	char path[RULES_PATH_BYTES]; /* as the kernel takes it */
	char full[RULES_PATH_BYTES]; /* from rules_path() */
	char target[RULES_PATH_BYTES];
	struct info_text requested, effective; /* what is to be recorded */
};

#pragma GCC visibility push(hidden)

/* Lustre: before the open, after it, and what is in effect. path is as the kernel takes it. */
void lustre_load(void);
bool lustre_is_within(void); /* is liblustreapi at work in this thread? It opens files, too. */
void lustre_begin(struct layout *layout, const char *path, const char *full);
void lustre_end(struct layout *layout, int fd);
void lustre_tell(const struct layout *layout, int fd, const char *full, struct info_text *requested,
		 struct info_text *effective);

/* CephFS. */
void ceph_begin(struct layout *layout, const char *full);
void ceph_end(const struct layout *layout, int fd, const char *full);
void ceph_tell(const struct layout *layout, int fd, const char *full, struct info_text *requested,
	       struct info_text *effective);

/* The digits of a number; where they end. */
char *number_put(char *to, unsigned number);

/* The rule of a name for a file, and its value where that is a number. */
const struct parameters_line *layout_rule(const char *full, const char *name);
bool layout_number(const char *full, const char *name, uint64_t *number);

#pragma GCC visibility pop

#endif
