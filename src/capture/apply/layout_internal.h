/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by layout.c, the file systems (layout_lustre.c, layout_ceph.c, layout_beegfs.c) and
 * spread.c, which implement the layout of new files together. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H
#define SLUICE_CAPTURE_APPLY_LAYOUT_INTERNAL_H

#include "capture/apply/layout.h"
#include "capture/libraries/info.h"
#include "contract/backlog.h"

/* Names and texts of one file, in mapped memory, because they are too large for a small stack. */
struct layout_workspace {
	char path[RULES_PATH_BYTES]; /* as passed to the kernel */
	char full[RULES_PATH_BYTES]; /* normalized by rules_path() */
	char target[RULES_PATH_BYTES];
	struct info_text requested, effective; /* the texts of the record */
	struct backlog_view view;
};

/*
 * A file system on which files can have layouts: a row of the table in layout.c. Hooks that are
 * NULL are not called. None of them lets an error reach the program; `create` and `set` note one
 * in layout->refusal.
 */
struct layout_system {
	uint32_t magic;	    /* of statfs() */
	const char *name;   /* as people call it */
	const char *spread; /* the list of destinations that it knows, or NULL */
	/* Is the directory really on it? Asked if other file systems have the same magic. */
	bool (*is_on)(const char *directory);
	void (*load)(void); /* at the start of the process */
	/* Before the open: creates the file with its layout, if it does not exist. */
	void (*create)(struct layout *layout, struct layout_workspace *space);
	/* After a successful open: sets the layout of a file that is still empty. */
	void (*set)(struct layout *layout, int fd, struct layout_workspace *space);
	/* Adds all parts of the layout that can be requested, by the names of the rules, to
	 * space->effective, and the destination from `spread` to space->requested. */
	void (*get)(const struct layout *layout, int fd, struct layout_workspace *space);
	/* Before the program sets this attribute: if it is the layout, undoes `set`. True: it is.
	 */
	bool (*yield)(int fd, const char *attribute, struct layout_workspace *space);
};

#pragma GCC visibility push(hidden)

extern const struct layout_system layout_lustre, layout_ceph, layout_ceph_fuse, layout_beegfs;

/* Is liblustreapi running in this thread? It opens files, too. */
bool lustre_is_within(void);

/* Releases what the `create` of Lustre has left for its `get`; NULL is allowed. */
void lustre_request_free(struct lustre_request *request);

/*
 * Questions to the file system go through libc, as those of the program do, because some file
 * systems are preloaded libraries. They return -errno on failure and leave errno as it is.
 */
long layout_get_attribute(int fd, const char *name, void *value, size_t bytes);
long layout_set_attribute(int fd, const char *name, const void *value, size_t bytes);
long layout_get_path_attribute(const char *path, const char *name, void *value, size_t bytes);
void layout_commit(int fd); /* waits until the server has stored the attributes */
long layout_control(int fd, unsigned long request, void *argument);

/* The word of contract/outcomes.h for an error of the file system, -errno. */
const char *layout_refusal_of(long error);

/* The name of an open file; false if it has none that fits. */
bool layout_descriptor_path(int fd, char to[RULES_PATH_BYTES]);

/* The rule of this name for a file, or NULL; its value, if that is a number. */
const struct parameters_line *layout_rule(const char *full, const char *name);
bool layout_number(const char *full, const char *name, uint64_t *number);

/*
 * Before a `create` makes a file that the program's open then finds: reads the umask. False: the
 * file must not be made. After it was made: the open need not be exclusive.
 */
bool layout_may_make(struct layout *layout);
void layout_made(struct layout *layout);

/* Adds KEY=NUMBER. */
void layout_put_number(struct info_text *text, const char *key, uint64_t number);

#pragma GCC visibility pop

#endif
