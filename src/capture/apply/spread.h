/* SPDX-License-Identifier: BSD-3-Clause
 *
 * New files over several directories, from the run's parameters (spread_directories): the file is
 * made in the directory whose turn it is (capture/apply/weighted_rotation.h), and a symbolic link stands where the
 * program makes it. Then the program's own open follows the link. Guest.
 *
 * The file is there before the link is, so whatever the directory refuses (no room, no permission,
 * flags that its file system does not know) leaves the plain open. Who makes the link first has
 * made the file: O_EXCL is then fulfilled. A file that the program removes, or replaces by a
 * rename, is removed together with its link; a link is ours if it points into one of the
 * directories and ends in a mark and a random number. A program that copies a link (cp -a, mv to
 * another file system) gets one to a second name of the file, so that the file stays until both
 * are removed. What is done to links without us, or in a run without the parameter, leaves the file
 * behind; so may processes that replace the same name at the same moment. Files in directories that
 * all may write to, as in /tmp, are left alone: others may not follow links there.
 */
#ifndef SLUICE_CAPTURE_APPLY_SPREAD_H
#define SLUICE_CAPTURE_APPLY_SPREAD_H

#include <fcntl.h>

#include "capture/record/frame.h"
#include "capture/libraries/info.h"
#include "capture/apply/rules.h"

struct layout;
struct layout_desk;

/* Between a file's name and its number; the number has SPREAD_DIGITS hexadecimal digits. */
#define SPREAD_MARK ".sluice."
#define SPREAD_DIGITS 16

/* What stood behind a name that is being removed; or what a copied link would point to. */
struct spread_removal {
	char *target; /* a page of its own; NULL: nothing of ours */
	int link;     /* descriptor of the link that is being removed, or -1; set with target */
};

#pragma GCC visibility push(hidden)

/*
 * Makes the file and its link, if there is a rule for the path, which is on the desk. True: there
 * is something to tell, and spread_end() is to be called after the open.
 */
bool spread_begin(struct layout *layout, struct layout_desk *desk);

/* fd is what the open gave. Fills what is to be recorded. */
void spread_end(struct layout *layout, int fd, struct layout_desk *desk);

void spread_removes_slow(struct spread_removal *removal, int directory, const char *path);
void spread_replaces_slow(struct spread_removal *removal, int directory, const char *path,
			  int to_directory, const char *to);
void spread_copies_slow(struct spread_removal *removal, const char *target);
void spread_removed_slow(struct spread_removal *removal, int result);
void spread_copied_slow(struct spread_removal *removal, int result);

#pragma GCC visibility pop

/* Before a name is removed; before `to` is replaced by path. They keep errno. */
static inline void spread_removes(struct spread_removal *removal, int directory, const char *path)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_removes_slow(removal, directory, path);
}

static inline void spread_replaces(struct spread_removal *removal, int directory, const char *path,
				   int to_directory, const char *to)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_replaces_slow(removal, directory, path, to_directory, to);
}

/* Before a link to `target` is made; removal->target is then to be used, if there is one. */
static inline void spread_copies(struct spread_removal *removal, const char *target)
{
	removal->target = NULL;
	if (unlikely(rules_places & RULES_SPREAD))
		spread_copies_slow(removal, target);
}

/* After it. Keeps errno. */
static inline void spread_removed(struct spread_removal *removal, int result)
{
	if (unlikely(removal->target))
		spread_removed_slow(removal, result);
}

/* After a link was made, or not: then its file has no second name. Keeps errno. */
static inline void spread_copied(struct spread_removal *removal, int result)
{
	if (unlikely(removal->target))
		spread_copied_slow(removal, result);
}

/* For rows of interfaces/. */
#define SPREAD_REMOVES(directory, path) \
	struct spread_removal removal;  \
	spread_removes(&removal, directory, path)

#define SPREAD_REPLACES(directory, path, to_directory, to) \
	struct spread_removal removal;                     \
	spread_replaces(&removal, directory, path, to_directory, to)

#define SPREAD_COPIES(target)          \
	struct spread_removal removal; \
	spread_copies(&removal, target)

#endif
