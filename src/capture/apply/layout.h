/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of new files on Lustre, CephFS and BeeGFS, from the run's parameters (PLACE_LAYOUT),
 * for files that open(), creat() or fopen() create. Files of MPI-IO and HDF5 get their striping in
 * this way, too, if their drivers do not support it. Guest.
 *
 * layout.c has a table of the file systems (struct layout_system), from which the type that
 * statfs() returns selects a row. On Lustre and BeeGFS the file is created before the real open, by
 * liblustreapi, which is loaded at process start if there are rules, or by an ioctl. On CephFS the
 * attribute of the empty file is set after the open. If a rule lists several weighted targets or
 * pools, each new file is assigned one of them (capture/apply/weighted_rotation.h). If it lists
 * several directories, on any file system, the file is created in one of them
 * (capture/apply/spread.h) and gets no other layout. On other file systems, and on any failure, the
 * file is opened as the program asked, with the same result, errno and permissions.
 *
 * A program that sets a layout keeps it: files that exist are not changed, nor are those for which
 * it sets striping hints of MPI-IO that have priority. If it sets the attribute of CephFS itself,
 * the layout of the directory is restored first.
 */
#ifndef SLUICE_CAPTURE_APPLY_LAYOUT_H
#define SLUICE_CAPTURE_APPLY_LAYOUT_H

#include <fcntl.h>
#include <sys/types.h>

#include "capture/apply/rules.h"
#include "capture/apply/weighted_rotation.h"
#include "capture/record/frame.h"

struct backlog_file;
struct layout_system;
struct lustre_request;

/* An open that may create a file. Small, because the stack of a signal handler may be small. */
struct layout {
	int flags; /* flags for the real open */
	/* Its file system if there are rules for it, or a row of its own for a file in another
	 * directory; else NULL, and the rest is not valid. */
	const struct layout_system *system;
	int directory; /* directory that a relative path starts from, or AT_FDCWD */
	const char *path;
	mode_t mode, mask;   /* the program's argument, and the umask of the process */
	const char *refusal; /* why the layout is not set, a word of contract/outcomes.h, or NULL */
	bool is_absent;	     /* the file did not exist */
	bool is_made;	     /* the guest has created it and sets its permissions after the open */
	bool is_linked;	     /* it is in another directory: capture/apply/spread.h */
	bool is_common;	     /* its directory is writable by all users and sticky, as /tmp */
	uint64_t turn;	     /* turn in the list of destinations, or WEIGHTED_ROTATION_NONE */
	uint64_t number;     /* the number in the name of the file in the other directory */
	struct backlog_file *placed;	/* its entry in the backlog; NULL: none */
	struct lustre_request *request; /* mapped until the end; NULL on other file systems */
};

#pragma GCC visibility push(hidden)

/* At the start of the process: loads liblustreapi if there are rules. */
void layout_load(void);

void layout_begin_slow(struct layout *layout);
void layout_end_slow(struct layout *layout, int fd);

/* Does the name not exist, not even as a link? */
bool layout_is_absent(const struct layout *layout);

/* Do rules set the layout of new files in the directory of this path, which is absolute? */
bool layout_is_supported(const char *path);

/*
 * During an MPI_File_open of this thread, files do not get the layout that this hint stands for,
 * because the program sets it. NULL: end of the call.
 */
void layout_keep_hint(const char *hint);

/* Is this hint of MPI-IO also a rule for layouts, with or without another name? */
bool layout_is_hint(const char *hint);

void layout_yield_slow(int fd, const char *path, const char *attribute);

#pragma GCC visibility pop

static inline bool layout_is_wanted(void)
{
	return rules_has(PLACE_LAYOUT);
}

/* Before the open, which has to use layout->flags. Keeps errno. */
static inline void layout_begin(struct layout *layout, int directory, const char *path, int flags,
				mode_t mode)
{
	*layout = (struct layout){ .flags = flags,
				   .directory = directory,
				   .path = path,
				   .mode = mode,
				   .turn = WEIGHTED_ROTATION_NONE };
	if (unlikely(layout_is_wanted()) && flags & O_CREAT)
		layout_begin_slow(layout);
}

/* For rows of interfaces/, which all call their path `path`. */
#define LAYOUT_OPENS(directory, flags, mode) \
	struct layout layout;                \
	layout_begin(&layout, directory, path, flags, mode)

/* After the open; fd is its result. Keeps errno. */
static inline void layout_end(struct layout *layout, int fd)
{
	if (unlikely(layout->system))
		layout_end_slow(layout, fd);
}

/*
 * Before the program sets an attribute of the open file, or of the path if fd is -1. If it is the
 * layout, the file first loses the one that it got here. Keeps errno.
 */
static inline void layout_yield(int fd, const char *path, const char *attribute)
{
	if (unlikely(layout_is_wanted()))
		layout_yield_slow(fd, path, attribute);
}

#endif
