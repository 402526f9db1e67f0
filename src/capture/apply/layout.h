/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a new file is to lie: stripes of Lustre and layouts of CephFS, from the run's parameters
 * (PLACE_LAYOUT), for files that are made by open(), creat() or fopen(). That is also how striping
 * reaches files below MPI-IO and HDF5 whose drivers know nothing of it. Guest.
 *
 * On Lustre the file is made before the real open, by liblustreapi, which is loaded when the
 * process starts if there are rules; on CephFS the attributes are set on the empty file after it.
 * Of several targets or pools with weights each new file gets its own
 * (capture/apply/weighted_rotation.h); of several directories, on any file system, too
 * (capture/apply/spread.h): such a file gets no other layout. Elsewhere, and on any trouble, it is
 * the plain open: same result, same errno, same permissions.
 */
#ifndef SLUICE_CAPTURE_APPLY_LAYOUT_H
#define SLUICE_CAPTURE_APPLY_LAYOUT_H

#include <fcntl.h>
#include <sys/types.h>

#include "capture/apply/rules.h"
#include "capture/apply/weighted_rotation.h"
#include "capture/record/frame.h"

#define LAYOUT_ANY 1u

/* A file being opened that may be made. Small: a signal handler's stack may be, too. */
struct layout {
	int flags;	/* what to open it with */
	uint32_t magic; /* of its file system, where rules are for it; LAYOUT_ANY where it is put
			 * elsewhere on any; else 0, and no more is known */
	int directory;	/* that the path starts from, or AT_FDCWD */
	const char *path;
	mode_t mode, mask; /* as the program wants it, and the process's mask */
	bool is_made;	   /* by us: the permissions are put right after the open */
	bool is_linked;	   /* it lies elsewhere: capture/apply/spread.h */
	bool is_common;	   /* all may make files in its directory, as in /tmp */
	uint64_t turn;	 /* of the list that it is spread by (capture/apply/weighted_rotation.h), or
			    WEIGHTED_ROTATION_NONE */
	uint64_t number; /* of the file that lies elsewhere */
};

#pragma GCC visibility push(hidden)

/* At the start of the process. */
void layout_load(void);

void layout_begin_slow(struct layout *layout);
void layout_end_slow(struct layout *layout, int fd);

/* Is there nothing by that name, not even a link? */
bool layout_is_absent(const struct layout *layout);

#pragma GCC visibility pop

static inline bool layout_is_wanted(void)
{
	return rules_has(PLACE_LAYOUT);
}

/* Before the open: layout->flags are to be used instead of flags. Keeps errno. */
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

/* For rows of interfaces/, whose path is always called so. */
#define LAYOUT_OPENS(directory, flags, mode) \
	struct layout layout;                \
	layout_begin(&layout, directory, path, flags, mode)

/* After it; fd is its result. Keeps errno. */
static inline void layout_end(struct layout *layout, int fd)
{
	if (unlikely(layout->magic))
		layout_end_slow(layout, fd);
}

#endif
